"""Warming up what is explained."""

from __future__ import annotations

from rowpath.engines import ENGINES
from rowpath.execution.in_turn import helpers_cpu_ns
from rowpath.execution.prepared_phases import PreparedPhase
from rowpath.execution.warm_up import wait_for_compilers
from rowpath.execution.worker import Worker
from rowpath.runners.manifest import language

WARM_LEAST_S = 0.5


def warm_up(worker: Worker, work: PreparedPhase) -> None:
    """Until the language's runtime has compiled what it will."""
    least_s = max(WARM_LEAST_S, *language(worker.planned.adapter.language).warm_least_s)
    if not worker.alone:
        least_s = max(least_s, ENGINES[worker.planned.path.engine].server_warm_s)
    worker.sample(work, "warm", duration_ns=int(least_s * 1e9))
    wait_for_compilers(lambda: helpers_cpu_ns([worker]))
