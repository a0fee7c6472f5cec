"""How long a user waits for `rowpath list paths`: best of five, from the clone, a new process each time."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

from bench.figure import Figure
from rowpath.checks.selftest.bench import Bench

BAR_S = 0.4
PROGRAM = Path(__file__).parents[1] / "rowpath"


def measure(bench: Bench) -> Iterator[Figure]:
    """Wall time of the whole command."""
    times = []
    for _ in range(5):
        started_ns = time.perf_counter_ns()
        subprocess.run([PROGRAM, "list", "paths"], stdout=subprocess.DEVNULL, check=True)
        times.append((time.perf_counter_ns() - started_ns) / 1e9)
    yield Figure("rowpath list paths", f"{min(times):.2f} s", f"at most {BAR_S} s", min(times) <= BAR_S)
