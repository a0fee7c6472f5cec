"""1: the overhead per operation of each runner, by its least block of the null operation, is below its budget."""

from __future__ import annotations

from rowpath.checks.selftest.bench import Bench, Verdict
from rowpath.workloads.workload_file import load_workload

BUDGET_NS = {"c": 60.0, "csharp": 150.0, "java": 90.0, "python": 350.0}


def check(bench: Bench, *, full: bool) -> list[Verdict]:
    """One verdict per language."""
    verdicts = []
    for name in bench.languages():
        planned = bench.path(name, "null", "null.nothing")
        work = bench.workshop.engine_work(load_workload("null"), "null").phases["null.nothing"]
        invocation = bench.invocation(planned, bench.instance("null", "none"))
        invocation.prepare(work)
        for _ in range(150):
            invocation.sample(work, "warm", duration_ns=10_000_000)
        least = min(
            reply.ns / reply.operations
            for reply in (
                invocation.sample(work, "steady", lead_in_ns=1_000_000, duration_ns=10_000_000).reply
                for _ in range(500 if full else 100)
            )
        )
        budget = BUDGET_NS[name]
        figure = f"{least:.0f} ns per operation"
        verdicts.append(Verdict(least <= budget, f"null operation, {name}", figure, f"at most {budget:.0f} ns"))
        invocation.close()
    return verdicts
