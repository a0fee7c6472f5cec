"""The experiment `tour` twice: whether its ratios come again.

For every pair of paths ranked together in a phase (steady): the log ratio of each run, and the interval of their
difference. It should contain 0, and be narrow.
"""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Iterator
from pathlib import Path

from bench.figure import Figure
from rowpath.analysis.cells import Cells
from rowpath.analysis.statistics.intervals import CONFIDENCE, Interval, difference
from rowpath.analysis.wide_intervals import paths_to_repeat
from rowpath.checks.selftest.bench import Bench
from rowpath.cli.plan import plan_for
from rowpath.execution.run import run_plan
from rowpath.journal import reader
from rowpath.model.progress import Silent

AGREE_BAR = 0.9
HALF_WIDTH_BAR = 0.03
TIMEOUT_S = 120.0
Pair = tuple[str, str, str, str]  # workload, phase, path id, path id


def measure(bench: Bench) -> Iterator[Figure]:
    """How many pairs agree, and how precisely that can be said."""
    first, second = (ratios(run(bench.directory / f"tour-{number}")) for number in (1, 2))
    both = {pair: difference(first[pair], second[pair]) for pair in first.keys() & second.keys()}
    agreeing = sum(interval.low <= 0 <= interval.high for interval in both.values())
    share = agreeing / len(both) if both else 0.0
    yield Figure(
        "tour twice: pairs whose ratios agree",
        f"{agreeing} of {len(both)} ({share:.0%})",
        f"at least {AGREE_BAR:.0%}",
        share >= AGREE_BAR,
    )
    half_width = statistics.median(interval.half_width for interval in both.values()) if both else float("inf")
    yield Figure(
        "tour twice: median half-width of the difference",
        f"{half_width:.1%}",
        f"at most {HALF_WIDTH_BAR:.0%}",
        half_width <= HALF_WIDTH_BAR,
    )


def run(directory: Path) -> Path:
    """One whole run of the experiment as it ships, its seed of the day."""
    plan = plan_for("tour", {})
    run_plan(plan, directory=directory, progress=Silent(), timeout_s=TIMEOUT_S, paths_to_repeat=paths_to_repeat)
    return directory


def ratios(directory: Path) -> dict[Pair, Interval]:
    """ln(cost a / cost b) of every pair of paths of one comparison, by the product's own statistics."""
    cells = Cells(reader.read(directory), CONFIDENCE)
    found: dict[Pair, Interval] = {}
    for workload, phase, regime in cells.phases():
        if regime != "steady":
            continue
        here = sorted(
            (cell for key, cell in cells.cells.items() if key[1:] == (workload, phase, regime)),
            key=lambda cell: cell.path.path_id,
        )
        for a, b in itertools.combinations(here, 2):
            interval = cells.interval(a, b)
            if a.path.comparison == b.path.comparison and interval is not None:
                found[workload, phase, a.path.path_id, b.path.path_id] = interval
    return found
