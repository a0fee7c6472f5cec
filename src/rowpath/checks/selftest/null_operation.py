"""1: the overhead per operation of each runner, by its least block of the null operation, is below its budget."""

from __future__ import annotations

from rowpath.checks.selftest.bench import Bench, Verdict
from rowpath.runners.manifest import language
from rowpath.workloads.workload_file import load_workload


def check(bench: Bench, *, full: bool) -> list[Verdict]:
    """One verdict per language."""
    verdicts = []
    for name in bench.languages():
        if not (budget := language(name).null_operation_ns):
            continue
        planned = bench.path(name, "null", "null.nothing")
        work = bench.phase_cache.prepared_workload(load_workload("null"), "null").phases["null.nothing"]
        worker = bench.worker(planned, bench.instance("null", "none"))
        worker.prepare(work)
        for _ in range(150):
            worker.sample(work, "warm", duration_ns=10_000_000)
        least = min(
            reply.ns / reply.operations
            for reply in (
                worker.sample(work, "steady", lead_in_ns=1_000_000, duration_ns=10_000_000).reply
                for _ in range(500 if full else 100)
            )
        )
        figure = f"{least:.0f} ns per operation"
        verdicts.append(Verdict(least <= budget, f"null operation, {name}", figure, f"at most {budget:.0f} ns"))
        worker.close()
    return verdicts
