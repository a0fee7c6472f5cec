"""How long groups work before they are measured, and how long an experiment of groups would take; its words."""

from __future__ import annotations

from rowpath.engines import ENGINES
from rowpath.engines.base import Versioned
from rowpath.model.mixed_load import CopyEnd, StageTable
from rowpath.model.progress import Step, step_name
from rowpath.planning import rough
from rowpath.planning.mixed_load.eligibility import why_left_out
from rowpath.planning.plan import Plan, PlannedPath
from rowpath.runners.manifest import language

LEAD_IN_CAP_S = 1.5  # before each stage, where only its own groups are at work
RATE_SEARCH = "rate search"  # as its stage is called


def least_s(planned: PlannedPath, cap_s: float) -> float:
    """The shortest time in which a path's groups are warmed up."""
    least = min(cap_s, language(planned.adapter.language).warm_least_s[0])
    return max(least, ENGINES[planned.path.engine].server_warm_s) if planned.path.served else least


def lead_in_s(planned: PlannedPath, cap_s: float) -> tuple[float, float]:
    """The shortest and the longest lead-in of a stage: compilers optimize its groups again."""
    cap_s = min(cap_s, LEAD_IN_CAP_S)
    return min(cap_s, language(planned.adapter.language).warm_least_s[1]), cap_s


def stages_of(plan: Plan, planned: PlannedPath) -> tuple[StageTable, ...]:
    """The stages that the path would run, as far as is known before it is proven."""
    return tuple(
        stage
        for stage in plan.experiment.stages
        if (plan.extended or not stage.extended) and not why_left_out(plan.experiment, stage, planned)
    )


def stage_steps(plan: Plan, planned: PlannedPath, set_number: int) -> list[Step]:
    """One set of a path: its start, warming up, every stage, restoring backups."""
    measure = plan.experiment.measure
    actions = {group.name: max(1, group.times) for group in plan.experiment.client_groups if group.action}
    rows = _rows(plan)
    beside_s = rough.BESIDE_S + lead_in_s(planned, measure.warm_cap_s)[1]
    steps: list[Step] = []
    for stage in stages_of(plan, planned):
        backups = sum(actions.get(name, 0) for name in stage.client_groups)
        ends_early = stage.until in actions
        seconds = beside_s + plan.slowness * (rough.RESTORE_S + rough.RESTORE_ROW_S * rows) * backups
        backup_s = rough.BACKUP_BEGUN_S + plan.slowness * (rough.BACKUP_S + rough.BACKUP_ROW_S * rows) * backups
        seconds += min(stage.seconds, backup_s) if ends_early else stage.kill_s or stage.seconds
        if stage.kill_s:
            seconds += rough.RECOVER_S + measure.warm_cap_s  # new clients are warmed up again
        seconds += 0.0 if steps else _ready_s(plan, planned)
        steps.append(Step(set_number, step_name(planned.name, stage.name), seconds))
    return steps


def rate_search_steps(plan: Plan, planned: PlannedPath, set_number: int) -> list[Step]:
    """The rate search of one path, at most; none where the experiment has none."""
    search = plan.experiment.rate_search
    if search is None:
        return []
    seconds = _ready_s(plan, planned) + search.tries * (search.seconds + rough.BESIDE_S)
    return [Step(set_number, step_name(planned.name, RATE_SEARCH), seconds, announced=False)]


def _ready_s(plan: Plan, planned: PlannedPath) -> float:
    cap_s = plan.experiment.measure.warm_cap_s
    warm_s = max(cap_s, least_s(planned, cap_s)) + rough.REST_S
    return plan.slowness * (rough.SET_S + language(planned.adapter.language).start_s) + warm_s


def moves_s(plan: Plan) -> float:
    """Databases moved before the first set, those that can be."""
    engines = {planned.path.engine for planned in plan.paths}
    copies = [copy for copy in plan.experiment.directory_copies if copy.engine in engines]
    moved = [copy for copy in copies if _here(copy.engine, copy.source) and _here(copy.engine, copy.target)]
    return plan.slowness * (rough.MOVE_S + rough.MOVE_ROW_S * _rows(plan)) * len(moved)


def _here(engine_name: str, end: CopyEnd) -> bool:
    engine = ENGINES[engine_name]
    return not end.version or (isinstance(engine, Versioned) and engine.availability_of(end.version, "off").ok)


def _rows(plan: Plan) -> int:
    return sum(table.rows for each in plan.workloads.values() for table in each.tables.values())


def described(plan: Plan) -> str:
    """`4 sets of 5 stages (reads 5 s, with a backup until backup), then a rate search of readers`."""
    measure = plan.experiment.measure
    stages = [each for each in plan.experiment.stages if plan.extended or not each.extended]
    shown = ", ".join(
        f"{each.name} until {each.until} is done"
        if each.until
        else f"{each.name} {each.seconds:g} s" + (f", the engine killed after {each.kill_s:g} s" if each.kill_s else "")
        for each in stages
    )
    sweep = plan.experiment.rate_search
    words = f"{_counted(measure.sets, 'set')} of {_counted(len(stages), 'stage', 'stages')} ({shown})"
    return words + (f", then a rate search of {sweep.client_group} (p99 ≤ {sweep.p99_ms:g} ms)" if sweep else "")


def _counted(count: int, one: str, many: str = "") -> str:
    return f"{count} {one if count == 1 else many or one + 's'}"
