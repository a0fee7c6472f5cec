"""What a block and a start of a tried path take, in the search and in full sets."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rowpath.execution.set_runner import LONG_OPERATION_NS
from rowpath.probe.budget import COMPILERS_S, Budget, warm_s
from rowpath.probe.full_sets import LEAD_IN_MS
from rowpath.probe.tried import Tried
from rowpath.probe.worker_pool import WorkerPool
from rowpath.runners.manifest import language

BLOCK_NS = 10_000_000


def block_s(budget: Budget, tried: Tried, lead_in_ms: float = 0.0) -> float:
    """One block, with the rest after it."""
    execution_ns = max(1.0, tried.execution_ns)
    lead_in_ns = language(tried.planned.adapter.language).lead_in_ns(int(lead_in_ms * 1e6))
    executions = math.ceil(BLOCK_NS / execution_ns) + math.ceil(lead_in_ns / execution_ns)
    return budget.wall_s(tried.planned.path, tried.execution_ns / 1e9, executions)


def of_full_set(budget: Budget, worker_pool: WorkerPool, tried: Sequence[Tried]) -> tuple[list[float], list[float]]:
    """The seconds of each path in a full set: its block with lead-in and rest, and its start with warming up."""
    blocks_s = [block_s(budget, each, 0.0 if each.execution_ns > LONG_OPERATION_NS else LEAD_IN_MS) for each in tried]
    return blocks_s, [_start_s(budget, worker_pool, each) for each in tried]


def _start_s(budget: Budget, worker_pool: WorkerPool, tried: Tried) -> float:
    """Process, connection, and what warming up takes beyond a block, which every set has in front."""
    beyond_s = max(0.0, warm_s(tried.planned) - block_s(budget, tried))
    if language(tried.planned.adapter.language).probe_warm_s[0]:
        beyond_s += COMPILERS_S
    return worker_pool.start_s(tried.planned) + tried.start_s + beyond_s
