"""The last step of a probe: full sets of the best candidates, measured as every run measures."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import msgspec

from rowpath.engines.base import Instance
from rowpath.execution.instances import EngineInstances
from rowpath.execution.prepared_phases import PhaseCache, PreparedPhase, PreparedWorkload
from rowpath.execution.schedule import Schedule
from rowpath.execution.worker import Worker
from rowpath.model.experiment import Experiment, Measure
from rowpath.model.path import AccessPath
from rowpath.model.workload import Workload
from rowpath.planning.instance_key import Key
from rowpath.planning.plan import Plan, PlannedPath
from rowpath.probe.budget import LEAST_BLOCKS, LEAST_WARM_S, Budget
from rowpath.probe.candidates import NAME, form
from rowpath.probe.row_consistency import RowConsistency
from rowpath.probe.throttled_worker import PHASE, WORKLOAD, ThrottledWorker
from rowpath.workloads.expected import Expected

BLOCK_MS, LEAD_IN_MS = 10.0, 1.0
LATENESS = 1.5  # a set may take the budget beyond its end, by this factor of what is left


class OnePhase(PhaseCache):
    """The query, ready; a floor gets it as the scan that it drains."""

    def __init__(
        self, directory: Path, workload: Workload, work: PreparedPhase, floor_work: PreparedPhase, same: RowConsistency
    ) -> None:
        super().__init__(directory)
        self._of_paths = PreparedWorkload(workload, cast(Expected, same), {NAME: work}, {})
        self._of_floors = PreparedWorkload(workload, cast(Expected, RowConsistency()), {NAME: floor_work}, {})

    def path_work(self, workload: Workload, path: AccessPath, instance: Instance) -> PreparedWorkload:
        """The one work there is."""
        return self._of_floors if form(path) == "drain" else self._of_paths


class OneInstance(EngineInstances):
    """A engine_instances of the one database that is probed: nothing is started, loaded or stopped."""

    def __init__(self, directory: Path, phase_cache: PhaseCache, instance: Instance) -> None:
        super().__init__(directory, phase_cache, lambda _secret: None)
        self._one = instance

    def __getitem__(self, key: Key) -> Instance:
        return self._one

    def __contains__(self, key: Key) -> bool:
        return True

    def way_to(self, path: AccessPath) -> dict[str, Any]:
        """Nothing in between."""
        return {}

    def restart(self, key: Key, environment: dict[str, str] | None = None) -> None:
        """Never: it is not ours."""


class FullSets(Schedule):
    """Full sets on a database that is not ours. `start`: a new runner process for a path."""

    def __init__(
        self,
        plan: Plan,
        *place: Any,
        timeout_s: float,
        phase_cache: OnePhase,
        instance: Instance,
        start: Callable[[PlannedPath, Callable[[str], None]], ThrottledWorker],
    ) -> None:
        super().__init__(plan, *place, timeout_s=timeout_s)
        self.phase_cache = phase_cache
        self.engine_instances = OneInstance(self.directory.work, phase_cache, instance)
        self._new = start

    def run_sets(self, sets: int, budget: Budget) -> int:
        """So many sets of every group, or as many as the budget holds; how many were complete.

        Sets that take longer than was planned get fewer rounds: sets are what claims are made of.
        """
        longest_s = 0.0
        for number in range(sets):
            if number and longest_s > budget.left_s * LATENESS:
                return number
            if number:
                self._fit(budget.left_s / (longest_s * (sets - number)))
            began_s = time.monotonic()
            for group_number, group in enumerate(self.plan.batches):
                self._set(number, group_number, group)
            longest_s = time.monotonic() - began_s
        return sets

    def _fit(self, share: float) -> None:
        measure = self.plan.experiment.measure
        rounds = max(LEAST_BLOCKS, min(measure.rounds, int(measure.rounds * share)))
        warm_s = max(LEAST_WARM_S, min(measure.warm_cap_s, measure.warm_cap_s * share))
        shorter = msgspec.structs.replace(measure, rounds=rounds, warm_cap_s=warm_s)
        experiment = msgspec.structs.replace(self.plan.experiment, measure=shorter)
        self.plan = replace(self.plan, experiment=experiment)

    def one_by_one(self, set_number: int, group: int, planned: PlannedPath) -> None:
        """One cold execution of one path, alone, in a group of that set of its own."""
        self._set(set_number, group, (planned,))

    def _worker(self, planned: PlannedPath) -> Worker:
        return self._new(planned, self.log_of(planned))

    def _renew(self, members: list[PlannedPath], first: bool) -> None:
        """Nothing is ours to make anew."""


def experiment_of(title: str, rounds: int, sets: int, warm_s: float, regimes: tuple[Any, ...]) -> Experiment:
    """How a probe measures, as an experiment without a file."""
    measure = Measure(
        sets=sets,
        max_sets=sets,
        rounds=rounds,
        block_ms=BLOCK_MS,
        lead_in_ms=LEAD_IN_MS,
        regimes=regimes,
        warm_cap_s=warm_s,
    )
    return Experiment(1, "probe", title, (NAME,), (), measure=measure)


def plan_of(
    experiment: Experiment,
    work: PreparedPhase,
    paths: tuple[PlannedPath, ...],
    *,
    dropped: tuple[Any, ...] = (),
    groups: tuple[tuple[PlannedPath, ...], ...] = (),
    anchors: tuple[str, ...] = (),
    seed: int,
    filters: Mapping[str, tuple[str, ...]] | None = None,
) -> Plan:
    """The plan of a probe: its workload has the query as its only phase."""
    workload = Workload(WORKLOAD, "A query of yours", {}, (work.phase,))
    assert work.phase.name == PHASE
    return Plan(
        experiment, {WORKLOAD: workload}, paths, dropped, groups, anchors, seed, dict(filters or {}), extended=False
    )
