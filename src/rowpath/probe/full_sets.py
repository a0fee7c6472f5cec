"""The last step of a probe: full sets of the best candidates, what they take and how many a budget affords."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any, Literal, cast

import msgspec
from typing_extensions import override

from rowpath.engines.base import Instance
from rowpath.execution.prepared_phases import PreparedPhase, PreparedWorkload
from rowpath.execution.run_context import Instances, RunContext
from rowpath.execution.set_runner import LONG_OPERATION_NS, SetRunner
from rowpath.execution.worker import Worker
from rowpath.journal.records import LinkRecord
from rowpath.model.experiment import Experiment, Measure
from rowpath.model.path import AccessPath, Dropped
from rowpath.model.workload import Workload
from rowpath.own_database.candidates import NAME
from rowpath.own_database.throttled_worker import MOST_WARM_S, WORKLOAD, Budget, RowConsistency, warm_s
from rowpath.planning.plan import Key, Plan, PlannedPath
from rowpath.probe.tries import Tried
from rowpath.probe.worker_pool import WorkerPool
from rowpath.runners.manifest import language
from rowpath.workloads.expected import Expected

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
    return max(1, sum(spent_s <= seconds for spent_s in accumulate(costs_s)))


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

    def start_s(one: Tried) -> float:
        """Process, connection, and what warming up takes beyond a block, which every set has in front."""
        compiles = language(one.planned.adapter.language).probe_warm_s[0] > 0
        beyond_s = max(0.0, warm_s(one.planned) - block_s(budget, one)) + (COMPILERS_S if compiles else 0.0)
        return worker_pool.start_s(one.planned) + one.start_s + beyond_s

    return blocks_s, list(map(start_s, tried))


class OnePhase:
    """The query, ready; a floor gets it as the scan that it drains."""

    def __init__(self, workload: Workload, work: PreparedPhase, drain: PreparedPhase, rows: RowConsistency) -> None:
        self._of_paths = PreparedWorkload(workload, cast(Expected, rows), {NAME: work}, {})
        self._of_floors = PreparedWorkload(workload, cast(Expected, RowConsistency()), {NAME: drain}, {})

    def path_work(self, workload: Workload, path: AccessPath, instance: Instance) -> PreparedWorkload:
        """The query, whatever the workload."""
        return self._of_floors if path.fetch_form == "drain" else self._of_paths


class OneInstance(Instances):
    """The user's own database, under every key. Nothing here can start, load, restart or stop it."""

    def __init__(self, instance: Instance) -> None:
        self._instance = instance

    @override
    def __getitem__(self, key: Key) -> Instance:
        return self._instance

    @override
    def __contains__(self, key: Key) -> bool:
        return True

    @override
    def pids(self) -> list[int]:
        return []

    @override
    def way_to(self, path: AccessPath, clients: int = 0) -> dict[str, Any]:
        return {}

    @override
    def learn_link(self, record: LinkRecord) -> None:
        pass

    @override
    def pooler_pids(self, path: AccessPath) -> list[int]:
        return []

    @override
    def stop_pooler(self, path: AccessPath) -> None:
        pass


class FullSets:
    """Full sets on a database that is not ours: nothing of it is renewed between them."""

    def __init__(self, context: RunContext, start: Callable[[PlannedPath, Callable[[str], None]], Worker]) -> None:
        """`start`: a new runner process for a path, its lines written by the function given."""
        self._context = context
        self._start = start

    def run_sets(self, sets: int, budget: Budget) -> int:
        """Run up to this many sets of every batch, while they end before LATEST budgets; how many were complete.

        Sets that take longer than was planned get fewer rounds: sets are what claims are made of.
        """
        longest_s = 0.0
        for number in range(sets):
            if number and budget.spent_s + longest_s > LATEST * budget.total_s:
                return number
            plan = self._context.plan
            if number:
                measure, share = plan.experiment.measure, budget.left_s / (longest_s * (sets - number))
                rounds = max(min(LEAST_BLOCKS, measure.rounds), int(measure.rounds * min(1.0, share)))
                shorter = msgspec.structs.replace(measure, rounds=rounds)
                plan = replace(plan, experiment=msgspec.structs.replace(plan.experiment, measure=shorter))
                self._context = replace(self._context, plan=plan)
            began_s = time.monotonic()
            for batch_number in range(len(plan.batches)):
                self.run_batch(number, batch_number)
            longest_s = time.monotonic() - began_s
        return sets

    def run_batch(self, set_number: int, batch_number: int) -> None:
        """One batch of the plan in that set."""
        context = self._context
        members = [planned for planned in context.plan.batches[batch_number] if context.runnable(planned)]
        if members:
            runner = SetRunner(context, lambda planned: self._start(planned, context.log_of(planned)))
            runner.run(set_number, batch_number, members)


def plan_of(
    title: str,
    work: PreparedPhase,
    budget: FullSetsBudget,
    regime: Literal["cold", "steady"] = "steady",
    batches: tuple[tuple[PlannedPath, ...], ...] = (),
    *,
    dropped: tuple[Dropped, ...] = (),
    seed: int,
) -> Plan:
    """How a probe measures, as the plan of an experiment without a file: the query is the only phase."""
    measure = Measure(
        sets=budget.sets,
        max_sets=budget.sets,
        rounds=budget.rounds,
        block_ms=BLOCK_MS,
        lead_in_ms=LEAD_IN_MS,
        regimes=(regime,),
        warm_cap_s=MOST_WARM_S,
    )
    experiment = Experiment(1, WORKLOAD, title, (NAME,), (), measure=measure)
    workload = Workload(WORKLOAD, "Your query", {}, (work.phase,))
    paths = tuple({planned.path.id: planned for batch in batches for planned in batch}.values())
    anchors = (paths[0].path.id,) if len(batches) > 1 and regime == "steady" else ()
    return Plan(experiment, {WORKLOAD: workload}, paths, dropped, batches, anchors, seed, {}, extended=False)
