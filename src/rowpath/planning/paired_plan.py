"""A plan that measures two versions of some paths in the same sets."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from rowpath.errors import UsageError
from rowpath.model.experiment import Experiment, Selection
from rowpath.model.workload import Workload
from rowpath.planning.make_plan import SET_LIMIT, make_plan
from rowpath.planning.plan import Plan

MOST_PAIRS = SET_LIMIT // 2


@dataclass(frozen=True)
class Pair:
    """A path's coordinates on both sides, and where both are to be measured."""

    name: str
    base: dict[str, str]
    head: dict[str, str]
    phases: tuple[str, ...]


def paired_plan(experiment: Experiment, workloads: dict[str, Workload], pairs: Sequence[Pair], sets: int) -> Plan:
    """Both sides of every pair in one batch; UsageError where one cannot run here, or where they do not fit."""
    selections = tuple(
        Selection(select=dict(coordinates), name=f"{pair.name} {side}", phases=pair.phases)
        for pair in pairs
        for side, coordinates in (("base", pair.base), ("head", pair.head))
    )
    named = {phase for pair in pairs for phase in pair.phases}
    once_more = Experiment(
        schema_version=experiment.schema_version,
        name="compare",
        title="Base and head in the same sets",
        phases=tuple(phase for phase in experiment.phases if phase in named),
        paths=selections,
        workload_files=experiment.workload_files,
        measure=msgspec.structs.replace(experiment.measure, sets=sets, max_sets=sets),
        scale=experiment.scale,
    )
    plan = make_plan(once_more, workloads, {}, seed=time.time_ns() % 1_000_000_007)
    if plan.dropped:
        first = plan.dropped[0]
        raise UsageError(f"{first.path.driver} {first.path.version} cannot run here: {first.reason}", first.remedy)
    if len(plan.paths) < len(selections):
        raise UsageError("base and head are the same path to this machine", "rowpath compare BASE HEAD")
    if len(plan.batches) > 1:
        raise UsageError(f"{len(pairs)} pairs do not fit in one set", "rowpath compare BASE HEAD")
    return plan
