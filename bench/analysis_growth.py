"""How the CPU time of an analysis, and of its page, grows with the journal: more paths, then more sets.

The growth is the ratio of times over the ratio of the journals' records: 1 is linear. Journals are made up.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

from tests.unit import growing_journal, journal_factory

from bench.figure import Figure
from rowpath.analysis.analyse import analyse
from rowpath.checks.selftest.bench import Bench
from rowpath.report import html

FEW, MANY = 75, 300  # paths
SHORT, LONG = 5, 20  # sets
BAR = 1.25  # sorting takes a little more than linear time
REPETITIONS = 3
Made = TypeVar("Made")


def measure(bench: Bench) -> Iterator[Figure]:
    """Two figures for each direction."""
    ends = {
        f"{FEW} to {MANY} paths, {LONG} sets": ((FEW, LONG), (MANY, LONG)),
        f"{SHORT} to {LONG} sets, {FEW} paths": ((FEW, SHORT), (FEW, LONG)),
    }
    costs = {size: _Costs(bench.directory, *size) for size in dict.fromkeys(sum(ends.values(), ()))}
    for name, (small, large) in ends.items():
        yield from _figures(name, costs[small], costs[large])


class _Costs:
    """The size of a made-up journal, and the CPU time that its analysis and its page take."""

    def __init__(self, directory: Path, paths: int, sets: int) -> None:
        made = growing_journal.records(paths, sets)
        self.records = len(made)
        run = journal_factory.write(directory / f"{paths}-{sets}", made)
        del made
        analysis, self.analysis_s = _least(lambda: analyse(run))
        _page, self.page_s = _least(lambda: html.page(analysis))


def _least(work: Callable[[], Made]) -> tuple[Made, float]:
    """What it makes, and the least CPU seconds of a few repetitions."""
    taken_s = []
    for _ in range(REPETITIONS):
        begun_ns = time.process_time_ns()
        made = work()
        taken_s.append((time.process_time_ns() - begun_ns) / 1e9)
    return made, min(taken_s)


def _figures(name: str, small: _Costs, large: _Costs) -> Iterator[Figure]:
    times = large.records / small.records
    both = {
        "analysis": (small.analysis_s, large.analysis_s),
        "page": (small.page_s, large.page_s),
    }
    for what, (few_s, many_s) in both.items():
        growth = many_s / few_s / times
        value = f"{growth:.2f} ({few_s:.2f} → {many_s:.2f} s of CPU for {times:.2f} times the records)"
        yield Figure(f"growth of the {what}, {name}", value, f"at most {BAR}", growth <= BAR)
