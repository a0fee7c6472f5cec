"""Each runner's figure from 10 ms blocks lies within 2 % of its own from 500 ms blocks: the lead-in is long enough."""

from __future__ import annotations

from dataclasses import dataclass

from rowpath.protocol import SampleReply
from rowpath.selftest.bench import Bench, Verdict
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
    # All of the time over all of the operations: a collector that comes every few blocks belongs to both figures.
    short, long = ({name: Total() for name in invocations} for _ in range(2))
    for _ in range(20 if full else 10):
        for _ in range(20):
            for name, invocation in invocations.items():
                short[name].add(invocation.sample(work, "steady", lead_in_ns=1_000_000, duration_ns=10_000_000).reply)
        for name, invocation in invocations.items():
            long[name].add(invocation.sample(work, "steady", lead_in_ns=1_000_000, duration_ns=500_000_000).reply)
    verdicts = []
    for name in invocations:
        ratio = short[name].each_ns / long[name].each_ns
        verdicts.append(
            Verdict(
                abs(ratio - 1) <= TOLERANCE,
                f"10 ms blocks against 500 ms blocks, {name}",
                f"{ratio:.4f}",
                f"within {TOLERANCE:.0%} of 1",
            )
        )
    return verdicts
