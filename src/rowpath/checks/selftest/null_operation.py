"""1: the overhead per operation of each runner, by its least block of the null operation, is below its budget."""

from __future__ import annotations

import math

from rowpath.checks.selftest.bench import Bench, Verdict
from rowpath.runners.manifest import language

MOST_BLOCKS = {False: 250, True: 650}  # the first of them warm up


def check(bench: Bench, *, full: bool) -> list[Verdict]:
    """One verdict per language."""
    verdicts = []
    for name in bench.languages():
        if not (budget := language(name).null_operation_ns):
            continue
        verdicts.append(verdict(bench, name, "null", budget, full=full))
    return verdicts


def verdict(bench: Bench, language_name: str, driver: str, budget_ns: float, *, full: bool) -> Verdict:
    """The verdict on one language's adapter that does nothing."""
    worker, work = bench.null_worker(language_name, driver=driver)
    least = math.inf
    for _ in range(MOST_BLOCKS[full]):
        reply = worker.sample(work, "steady", lead_in_ns=1_000_000, duration_ns=10_000_000).reply
        least = min(least, reply.ns / reply.operations)
        if not full and least <= budget_ns:  # further blocks could only be less
            break
    worker.close()
    what = f"null operation, {language_name}" + ("" if driver == "null" else f" {driver}")
    return Verdict(least <= budget_ns, what, f"{least:.0f} ns per operation", f"at most {budget_ns:.0f} ns")
