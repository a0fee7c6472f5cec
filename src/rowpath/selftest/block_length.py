"""Each runner's figure from 10 ms blocks lies within 2 % of its own from 500 ms blocks: the lead-in is long enough."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from rowpath.invocation import Invocation, Work
from rowpath.protocol import SampleReply
from rowpath.selftest.bench import Bench, Verdict
from rowpath.statistics.intervals import student
from rowpath.workloads import load_workload

CHOICES = {"c": "sqlite", "csharp": "mono-data-sqlite", "python": "sqlite3", "java": "sqlite-jdbc"}
TOLERANCE = 0.02


@dataclass
class Total:
    """Time and operations of many blocks."""

    ns: int = 0
    operations: int = 0

    def add(self, reply: SampleReply) -> None:
        """One more block."""
        self.ns += reply.ns
        self.operations += reply.operations

    @property
    def each_ns(self) -> float:
        """Time of an operation."""
        return self.ns / self.operations


def check(bench: Bench, *, full: bool) -> list[Verdict]:
    """Keyed reads of SQLite; short and long blocks alternate, other runners alive in between."""
    made = bench.workshop.engine_work(load_workload("keyed"), "sqlite")
    work = made.phases["keyed.read"]
    instance = bench.instance("sqlite", "embedded", "", "full")
    instance.load(made.loaded_tables())
    invocations = {}
    for name in bench.languages():
        planned = bench.path(name, CHOICES[name], work.name)
        instance.own_copy(planned.path)
        invocations[name] = bench.invocation(planned, instance)
        invocations[name].prepare(work)
        invocations[name].sample(work, "warm", duration_ns=1_000_000_000)
    log_ratios: dict[str, list[float]] = {name: [] for name in invocations}
    for done in range(60 if full else 30):
        if done >= (30 if full else 10) and all(_narrow(values) for values in log_ratios.values()):
            break
        # A round's time over its operations: a collector that comes every few blocks belongs to both figures.
        short, long = ({name: Total() for name in invocations} for _ in range(2))
        # The long block stands in the middle of the short ones, so that a machine that drifts slows both alike.
        for half in range(2):
            for _ in range(10):
                for name, invocation in invocations.items():
                    short[name].add(_block(invocation, work, 10_000_000))
            if half == 0:
                for name, invocation in invocations.items():
                    long[name].add(_block(invocation, work, 500_000_000))
        for name in invocations:
            log_ratios[name].append(math.log(short[name].each_ns / long[name].each_ns))
    return [judge(name, values) for name, values in log_ratios.items()]


def judge(name: str, log_ratios: Sequence[float]) -> Verdict:
    """Missed when the interval of short over long, one logarithm per round, lies wholly outside the tolerance.

    The mean alone would judge the neighbours: a busy machine alone spreads a round's ratio by a tenth.
    """
    interval = student(log_ratios)
    assert interval is not None
    reaches = interval.low <= math.log(1 + TOLERANCE) and interval.high >= math.log(1 - TOLERANCE)
    return Verdict(
        reaches,
        f"10 ms blocks against 500 ms blocks, {name}",
        f"{interval.ratio:.4f} [{math.exp(interval.low):.4f}, {math.exp(interval.high):.4f}]",
        f"interval reaches within {TOLERANCE:.0%} of 1",
    )


def _narrow(log_ratios: Sequence[float]) -> bool:
    interval = student(log_ratios)
    return interval is not None and interval.half_width <= TOLERANCE


def _block(invocation: Invocation, work: Work, duration_ns: int) -> SampleReply:
    return invocation.sample(work, "steady", lead_in_ns=1_000_000, duration_ns=duration_ns).reply
