"""The experiment `tour` twice: whether its ratios come again.

For every pair of paths ranked together in a phase (steady): the log ratio of each run, and the interval of their
difference. It should contain 0, and be narrow. Of each run beside: how much of it was disturbed, and by whom.
"""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Iterator
from pathlib import Path

from bench.figure import Figure
from rowpath.analysis.analyse import analyse
from rowpath.analysis.cells import Cells
from rowpath.analysis.core_users import shares
from rowpath.analysis.rankings import half_width, paths_to_repeat
from rowpath.analysis.statistics.intervals import CONFIDENCE, Interval, difference
from rowpath.checks.selftest.bench import Bench
from rowpath.cli.plan import plan_for
from rowpath.execution.run import run_plan
from rowpath.execution.run_options import RunOptions
from rowpath.journal import reader
from rowpath.journal.records import SampleRecord
from rowpath.model.progress import Silent

AGREE_BAR = 0.9
DISTURBED_BAR = 0.1
HALF_WIDTH_BAR = 0.03
TIMEOUT_S = 120.0
Pair = tuple[str, str, str, str]  # workload, phase, path id, path id


def measure(bench: Bench) -> Iterator[Figure]:
    """How many pairs agree, and how precisely that can be said."""
    directories = [run(bench.directory / f"tour-{number}") for number in (1, 2)]
    for number, directory in enumerate(directories, 1):
        yield from quietness(f"tour {number}", directory)
    first, second = map(ratios, directories)
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


def quietness(name: str, directory: Path) -> Iterator[Figure]:
    """How many blocks were disturbed, what Rowpath's own processes took, and which figures contradict each other."""
    analysis = analyse(directory)
    samples = reader.read(directory).all(SampleRecord)
    disturbed = sum(bool(sample.disturbed) for sample in samples) / len(samples)
    yield Figure(
        f"{name}: blocks disturbed", f"{disturbed:.1%}", f"at most {DISTURBED_BAR:.0%}", disturbed <= DISTURBED_BAR
    )
    ours = sum(share.share for share in shares(samples) if share.kind == "ours")
    yield Figure(f"{name}: time that Rowpath's own processes took", f"{ours:.2%}", "0.00%", ours < 5e-5)
    slower = sum(finding.id == "steady-slower-than-cold" for finding in analysis.findings)
    yield Figure(f"{name}: paths slower warmed up than cold", str(slower), "none", not slower)
    widths = [
        width
        for ranking in analysis.rankings
        if ranking.regime == "steady"
        for row in ranking.rows
        if row.rank and row.ratio_low != row.ratio_high and (width := half_width(row)) is not None
    ]
    middle = statistics.median(widths) if widths else float("inf")
    yield Figure(
        f"{name}: median half-width of a ratio",
        f"{middle:.1%}",
        f"at most {HALF_WIDTH_BAR:.0%}",
        middle <= HALF_WIDTH_BAR,
    )


def run(directory: Path) -> Path:
    """One whole run of the experiment as it ships, its seed of the day."""
    plan = plan_for("tour", {})
    run_plan(
        plan, RunOptions(timeout_s=TIMEOUT_S), directory=directory, progress=Silent(), paths_to_repeat=paths_to_repeat
    )
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
