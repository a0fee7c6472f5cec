"""The same path under two names, and a true difference of 3 %: known-answer test 8, its bars and its own figures."""

from __future__ import annotations

from collections.abc import Iterator

from bench.figure import Figure
from rowpath.checks.selftest import inference
from rowpath.checks.selftest.bench import Bench


def measure(bench: Bench) -> Iterator[Figure]:
    """A/A comparisons that differ, that are ranked apart, their precision, and how often 3 % is seen."""
    for verdict in inference.a_a(bench, full=False):
        yield Figure(f"A/A: {verdict.what}", verdict.figure, verdict.bar, verdict.passed)
