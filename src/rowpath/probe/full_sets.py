"""The last step of a probe: full sets of the best candidates, measured as every run measures."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Literal, cast

import msgspec
from typing_extensions import override

from rowpath.engines.base import Instance
from rowpath.execution.prepared_phases import PreparedPhase, PreparedWorkload
from rowpath.execution.run_context import Instances, RunContext
from rowpath.execution.set_runner import SetRunner
from rowpath.execution.worker import Worker
from rowpath.model.experiment import Experiment, Measure
from rowpath.model.path import AccessPath, Dropped
from rowpath.model.workload import Workload
from rowpath.own_database.budget import MOST_WARM_S, Budget
from rowpath.own_database.candidates import NAME
from rowpath.own_database.throttled_worker import WORKLOAD, RowConsistency
from rowpath.planning.instance_key import Key
from rowpath.planning.plan import Plan, PlannedPath
from rowpath.probe.costs import BLOCK_MS, LATEST, LEAD_IN_MS, LEAST_BLOCKS, FullSetsBudget
from rowpath.workloads.expected import Expected


class OnePhase:
    """The query, ready; a floor gets it as the scan that it drains."""

    def __init__(
        self, workload: Workload, work: PreparedPhase, floor_work: PreparedPhase, consistency: RowConsistency
    ) -> None:
        self._of_paths = PreparedWorkload(workload, cast(Expected, consistency), {NAME: work}, {})
        self._of_floors = PreparedWorkload(workload, cast(Expected, RowConsistency()), {NAME: floor_work}, {})

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
    def way_to(self, path: AccessPath) -> dict[str, Any]:
        return {}


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
            for batch_number, batch in enumerate(plan.batches):
                self._set(number, batch_number, batch)
            longest_s = time.monotonic() - began_s
        return sets

    def one_by_one(self, set_number: int, batch_number: int, planned: PlannedPath) -> None:
        """One cold execution of only one path, in a batch of its own of that set."""
        self._set(set_number, batch_number, (planned,))

    def _set(self, set_number: int, batch_number: int, batch: tuple[PlannedPath, ...]) -> None:
        context = self._context
        members = [planned for planned in batch if context.runnable(planned)]
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
