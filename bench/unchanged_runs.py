"""`tour` several times, nothing changed between: of all pairs of these runs, how many `compare` says differ.

ROWPATH_BENCH_FILTERS='language=c,python engine=sqlite,null' keeps some paths.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator
from pathlib import Path

from bench.figure import Figure
from rowpath.analysis.comparison.compare import compare
from rowpath.checks.selftest.bench import Bench
from rowpath.cli.plan import plan_for
from rowpath.execution.run import run_plan
from rowpath.execution.run_options import RunOptions
from rowpath.model.progress import Silent

RUNS = 5
QUIET_BAR = 0.9
TIMEOUT_S = 120.0


def measure(bench: Bench) -> Iterator[Figure]:
    """Pairs in which some path is called faster or slower; rows called so, of all."""
    words = [word.split("=", 1) for word in os.environ.get("ROWPATH_BENCH_FILTERS", "").split()]
    filters = {name: tuple(values.split(",")) for name, values in words}
    runs = [run(bench.directory / f"tour-{number}", filters) for number in range(RUNS)]
    compared = [compare([base], [head], ()) for base, head in itertools.combinations(runs, 2)]
    called = [sum(row.changed for row in comparison.rows) for comparison in compared]
    same = called.count(0)
    yield Figure(
        "two unchanged runs of tour: pairs in which no path is called faster or slower",
        f"{same} of {len(called)}",
        f"at least {QUIET_BAR:.0%}",
        same >= QUIET_BAR * len(called),
    )
    rows = sum(len(comparison.rows) for comparison in compared)
    yield Figure("two unchanged runs of tour: figures called so", f"{sum(called)} of {rows}", "", None)


def run(directory: Path, filters: dict[str, tuple[str, ...]]) -> Path:
    """One whole run of the experiment as it ships, its seed of the day."""
    run_plan(plan_for("tour", filters), RunOptions(timeout_s=TIMEOUT_S), directory=directory, progress=Silent())
    return directory
