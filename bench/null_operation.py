"""What the loop and the clock cost by themselves, per operation: the least of 500 blocks, as known-answer test 1."""

from __future__ import annotations

from collections.abc import Iterator

from bench.figure import Figure
from rowpath.checks.selftest import known_costs
from rowpath.checks.selftest.bench import Bench

AWAITED_MOST_NS = 400


def measure(bench: Bench) -> Iterator[Figure]:
    """One figure per language, and what a promise makes of Node's."""
    awaited = known_costs.overhead(bench, "node", "null-promise", AWAITED_MOST_NS, full=True)
    for verdict in (*known_costs.null_operation(bench, full=True), awaited):
        yield Figure(verdict.what, verdict.figure, verdict.bar, verdict.passed)
