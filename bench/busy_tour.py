"""C paths of `tour` beside a spinning program on each core in turn: the quiet order, or a refusal; no wrong claim.

A wrong claim: two paths that both runs hold apart, in opposite orders.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from pathlib import Path

from bench.figure import Figure
from bench.tour_twice import ratios
from rowpath.analysis.analyse import analyse
from rowpath.checks.selftest.bench import Bench
from rowpath.cli.plan import plan_for
from rowpath.execution.run import run_plan
from rowpath.execution.run_options import RunOptions
from rowpath.machine import cpus, processes
from rowpath.model.progress import Silent

RUNS = 20
FILTERS = {"language": ("c",), "engine": ("sqlite", "postgresql", "null")}
HOG = "while True: pass"


def measure(bench: Bench) -> Iterator[Figure]:
    """How many of the runs were refused in part, and how many said something wrong."""
    quiet = ratios(run(bench.directory / "quiet"))
    refused = wrong = 0
    for number in range(RUNS):
        core = cpus.usable()[-1 - number % len(cpus.usable())]
        hog = processes.start([sys.executable, "-c", HOG], cpus=(core,))
        try:
            directory = run(bench.directory / f"busy-{number}")
        finally:
            processes.stop(hog, processes.AT_ONCE)
        analysis = analyse(directory)
        refused += bool(analysis.refusal)
        ranked = {
            (ranking.workload, ranking.phase, row.path_id)
            for ranking in analysis.rankings
            for row in ranking.rows
            if row.rank and ranking.regime == "steady"
        }
        wrong += any(
            math.copysign(1, interval.mean) != math.copysign(1, quiet[pair].mean)
            for pair, interval in ratios(directory).items()
            if pair in quiet and interval.apart and quiet[pair].apart
            if {(*pair[:2], pair[2]), (*pair[:2], pair[3])} <= ranked
        )
    yield Figure("tour beside a spinning program: runs with a wrong claim", f"{wrong} of {RUNS}", "none", not wrong)
    yield Figure("tour beside a spinning program: runs that refused", f"{refused} of {RUNS}", "", None)


def run(directory: Path) -> Path:
    """One run of the C paths; it waits for nobody."""
    plan = plan_for("tour", FILTERS)
    run_plan(plan, RunOptions(timeout_s=120.0, wait_for_quiet_s=0.0), directory=directory, progress=Silent())
    return directory
