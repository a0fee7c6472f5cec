"""Each runner's figure from 10 ms blocks lies within 2 % of its own from 500 ms blocks: the lead-in is long enough."""

from __future__ import annotations

import math
import statistics

from rowpath.selftest.bench import Bench, Verdict
from rowpath.workloads import load_workload

CHOICES = {"c": "sqlite", "csharp": "mono-data-sqlite", "python": "sqlite3", "java": "sqlite-jdbc"}
TOLERANCE = 0.02


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
    short: dict[str, list[float]] = {name: [] for name in invocations}
    ratios: dict[str, list[float]] = {name: [] for name in invocations}
    for _ in range(20 if full else 7):
        for _ in range(10):
            for name, invocation in invocations.items():
                reply = invocation.sample(work, "steady", lead_in_ns=1_000_000, duration_ns=10_000_000).reply
                short[name].append(reply.ns / reply.operations)
        for name, invocation in invocations.items():
            reply = invocation.sample(work, "steady", lead_in_ns=1_000_000, duration_ns=500_000_000).reply
            ratios[name].append(math.log(statistics.median(short[name][-10:]) / (reply.ns / reply.operations)))
    verdicts = []
    for name, logs in ratios.items():
        ratio = math.exp(statistics.median(logs))
        verdicts.append(
            Verdict(
                abs(ratio - 1) <= TOLERANCE,
                f"10 ms blocks against 500 ms blocks, {name}",
                f"{ratio:.4f}",
                f"within {TOLERANCE:.0%} of 1",
            )
        )
    return verdicts
