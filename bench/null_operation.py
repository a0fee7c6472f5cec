"""What the loop and the clock cost by themselves, per operation: the least of 500 blocks, as known-answer test 1."""

from __future__ import annotations

from collections.abc import Iterator

from bench.figure import Figure
from rowpath.checks.selftest import null_operation
from rowpath.checks.selftest.bench import Bench


def measure(bench: Bench) -> Iterator[Figure]:
    """One figure per language."""
    for verdict in null_operation.check(bench, full=True):
        yield Figure(verdict.what, verdict.figure, verdict.bar, verdict.passed)
