"""The C null adapter with a cost that is known: tests 4 to 8 compare the collectors with it."""

from __future__ import annotations

from typing import Any

from rowpath.checks.selftest.bench import Bench, Verdict
from rowpath.execution.prepared_phases import PreparedPhase
from rowpath.execution.worker import Worker
from rowpath.workloads.workload_file import load_workload

PHASE = "null.nothing"


def missing(bench: Bench, what: str) -> list[Verdict]:
    """A skipped verdict where the adapter cannot be built; empty where it can."""
    if "c" in bench.languages():
        return []
    return [Verdict(None, what, "the null adapter needs a C compiler", "apt-get install gcc libc6-dev")]


def ready(
    bench: Bench, environment: dict[str, str] | None = None, path: str = "", **costs: int
) -> tuple[Worker, PreparedPhase]:
    """A connected null adapter whose operations cost that, prepared; `path`: the file that they write to."""
    work = bench.phase_cache.prepared_workload(load_workload("null"), "null").phases[PHASE]
    planned = bench.path("c", "null", PHASE, **{name: str(value) for name, value in costs.items()})
    where: dict[str, Any] = {"path": path} if path else {}
    worker = bench.worker(planned, bench.instance("null", "none"), environment, **where)
    worker.prepare(work)
    return worker, work


def exactly(what: str, value: float | None, truth: int, slack: int = 0) -> Verdict:
    """A count that must be right to the last one, or to `slack`; None was not counted, and is wrong."""
    passed = value is not None and abs(value - truth) <= slack
    bar = f"exactly {truth:,}" if not slack else f"{truth:,} ± {slack}"
    return Verdict(passed, what, f"{value:,.0f}" if value is not None else "not counted", bar)
