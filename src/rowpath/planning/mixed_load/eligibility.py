"""What a path cannot take part in where groups of clients are at work at once, and why, in words."""

from __future__ import annotations

from collections.abc import Iterator

from rowpath.model.experiment import Experiment
from rowpath.model.mixed_load import StageTable
from rowpath.model.path import AccessPath
from rowpath.planning.plan import Plan, PlannedPath
from rowpath.runners.manifest import Adapter, language


def only_alone(adapter: Adapter, path: AccessPath, experiment: Experiment) -> str:
    """Why a path has no place in an experiment of groups at all; empty when it has one, or there are no groups."""
    if not experiment.client_groups:
        return ""
    if not language(adapter.language).client_groups:
        return f"the runner of {language(adapter.language).title} does not support client groups"
    if path.pipelined:
        return "the clients of a group send no pipelines: each operation has a begin and an end of its own"
    several = adapter.phases == ("null",) or len(adapter.coordinates.get("clients", ())) > 1
    if not several:
        return f"{adapter.driver} has only one connection, and each client of a group needs its own"
    return ""


def stages_left_out(plan: Plan) -> Iterator[tuple[str, str, str]]:
    """(paths' names, the stages that they cannot run, why), as far as it is known before anything is started."""
    found: dict[tuple[str, str], list[str]] = {}
    for planned in plan.paths:
        reasons: dict[str, list[str]] = {}
        for stage in plan.experiment.stages:
            if (plan.extended or not stage.extended) and (why := why_left_out(plan.experiment, stage, planned)):
                reasons.setdefault(why, []).append(f"'{stage.name}'")
        for why, left in reasons.items():
            found.setdefault((", ".join(left), why), []).append(planned.name)
    for (stages, why), names in found.items():
        yield "every path" if len(names) == len(plan.paths) > 1 else ", ".join(names), stages, why


def why_left_out(experiment: Experiment, stage: StageTable, planned: PlannedPath) -> str:
    """Why the path cannot run that stage; empty when it can."""
    for group in (group for group in experiment.client_groups if group.name in stage.client_groups):
        if group.action and planned.path.backup == "none":
            return (
                "no backup method is available"
                if "backup" in planned.path.as_dict()
                else "its selection names no backup method (backup = '*')"
            )
        if group.phase and group.phase not in planned.phases:
            return f"{group.phase} is not served"
    return ""
