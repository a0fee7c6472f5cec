"""What blocks, starts and full sets take, and how many of them a budget affords."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from rowpath.execution.set_phase import LONG_OPERATION_NS
from rowpath.own_database.budget import Budget, warm_s
from rowpath.probe.tries import Tried
from rowpath.probe.worker_pool import WorkerPool
from rowpath.runners.manifest import language

TRIES_SHARE = 0.6  # of the search's time, at most, until every candidate had its short try
FURTHER_SHARE = 0.07  # of the budget is for further settings at least: of quick languages many fit into it
LATEST = 2.0  # times the budget: full sets that are needed may last as long, others end with the budget
FULL_SETS = 6  # independent workers that a claim needs
LEAST_BLOCKS, MOST_BLOCKS = 2, 15  # of a path in one full set
LONG_BLOCK_S = 0.1  # blocks that are longer average by themselves: one of each path in a set does
BATCH_S = 0.15  # of a full set beside starts and blocks: processes end, what was measured is written
COMPILERS_S = 0.3  # until a runtime's compilers have come to rest
BLOCK_MS, LEAD_IN_MS = 10.0, 2.0
BLOCK_NS = 10_000_000


@dataclass(frozen=True)
class FullSetsBudget:
    """What the last step can afford: how many of the best candidates, sets, and rounds of blocks in each set."""

    finalists: int
    sets: int
    rounds: int


def affordable(costs_s: Sequence[float], seconds: float) -> int:
    """How many of these, in their order, fit into that time; at least one."""
    spent = 0.0
    for number, cost in enumerate(costs_s):
        spent += cost
        if spent > seconds:
            return max(1, number)
    return len(costs_s)


def blocks_of_round(costs_s: Sequence[float], seconds: float, least: int, most: int) -> int:
    """How many blocks each candidate of a halving round gets: what fits into the time, within `least` and `most`."""
    total_s = sum(costs_s)
    return max(least, min(most, int(seconds / total_s) if total_s > 0 else most))


def least_blocks(block_s: Sequence[float]) -> int:
    """The fewest blocks of each path in one full set; `block_s`: each path's block with the rest after it."""
    return 1 if sum(block_s) > LONG_BLOCK_S * len(block_s) else LEAST_BLOCKS


def set_s(block_s: Sequence[float], start_s: Sequence[float], blocks: int, room: int) -> float:
    """One full set of these candidates, in batches of at most `room`; the first of them takes part in every batch.

    `block_s`: of each one's block with the rest after it; one more is spent on warming up. `start_s`: of each one's
    start.
    """
    if not block_s:
        return 0.0
    each_s = [start + block * (blocks + 1) for start, block in zip(start_s, block_s, strict=True)]
    count = max(1, math.ceil((len(each_s) - 1) / max(1, room - 1)))
    return sum(each_s) + (count - 1) * each_s[0] + count * BATCH_S


def least_full_sets_s(block_s: Sequence[float], start_s: Sequence[float], room: int) -> float:
    """What six sets of these candidates should have at least; the arguments are those of `set_s`."""
    return FULL_SETS * set_s(block_s, start_s, least_blocks(block_s), room)


def plan_full_sets(
    block_s: Sequence[float], start_s: Sequence[float], left_s: float, late_s: float, needed: int, room: int
) -> FullSetsBudget:
    """The last step for candidates, the first `needed` of which must take part; `late_s`: what those may take at most.

    `block_s`, `start_s`, `room`: those of `set_s`.

    Fewer candidates before fewer rounds before fewer sets: six sets can distinguish two paths, fewer claim nothing.
    """
    count = len(block_s)
    while count > max(1, needed) and least_full_sets_s(block_s[:count], start_s[:count], room) > left_s:
        count -= 1

    def needed_s(rounds: int) -> float:
        return set_s(block_s[:count], start_s[:count], rounds, room)

    round_s = needed_s(1) - needed_s(0)
    rounds = int((left_s / FULL_SETS - needed_s(0)) / round_s) if round_s > 0 else MOST_BLOCKS
    rounds = max(least_blocks(block_s[:count]), min(MOST_BLOCKS, rounds))
    sets = int(max(left_s, late_s) / needed_s(rounds)) if needed_s(rounds) > 0 else FULL_SETS
    return FullSetsBudget(count, max(1, min(FULL_SETS, sets)), rounds)


def block_s(budget: Budget, tried: Tried, lead_in_ms: float = 0.0) -> float:
    """One block, with the rest after it."""
    execution_ns = max(1.0, tried.execution_ns)
    lead_in_ns = language(tried.planned.adapter.language).lead_in_ns(int(lead_in_ms * 1e6))
    executions = math.ceil(BLOCK_NS / execution_ns) + math.ceil(lead_in_ns / execution_ns)
    return budget.wall_s(tried.planned.path, tried.execution_ns / 1e9, executions)


def of_full_set(budget: Budget, worker_pool: WorkerPool, tried: Sequence[Tried]) -> tuple[list[float], list[float]]:
    """The seconds of each path in a full set: its block with lead-in and rest, and its start with warming up."""
    blocks_s = [block_s(budget, one, 0.0 if one.execution_ns > LONG_OPERATION_NS else LEAD_IN_MS) for one in tried]
    starts_s = []
    for one in tried:  # process, connection, and what warming up takes beyond a block, which every set has in front
        compiles = language(one.planned.adapter.language).probe_warm_s[0] > 0
        beyond_s = max(0.0, warm_s(one.planned) - block_s(budget, one)) + (COMPILERS_S if compiles else 0.0)
        starts_s.append(worker_pool.start_s(one.planned) + one.start_s + beyond_s)
    return blocks_s, starts_s
