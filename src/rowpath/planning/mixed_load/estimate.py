"""How long groups work before they are measured, and how long an experiment of groups would take; its words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rowpath.engines import ENGINES
from rowpath.planning.mixed_load.eligibility import why_left_out
from rowpath.runners.manifest import language

if TYPE_CHECKING:
    from rowpath.model.mixed_load import StageTable
    from rowpath.planning.plan import Plan, PlannedPath

LEAD_IN_CAP_S = 1.5  # before each stage, where only its own groups are at work
BESIDE_S = 1.0  # per stage and path: clients made ready, totals fetched, a little for what is checked afterwards
BACKUP_S = 4.0  # one of a small database; how large it is no one knows before
RESTORE_S = 5.0
RESTORE_ROW_S = 1e-5  # a restored backup is checked, then read row by row
RECOVER_S = 5.0  # a killed engine started again, and its ledger read; only HSQLDB's lock takes ten
MOVE_S = 20.0  # a database made or copied, and every table read at both ends


def least_s(planned: PlannedPath, cap_s: float) -> float:
    """So long at least a path's groups are warmed up."""
    least = min(cap_s, language(planned.adapter.language).warm_least_s[0])
    return max(least, ENGINES[planned.path.engine].server_warm_s) if planned.path.served else least


def lead_in_s(planned: PlannedPath, cap_s: float) -> tuple[float, float]:
    """So long at least, and at most, the groups of a stage are at work before it: compilers look at them again."""
    cap_s = min(cap_s, LEAD_IN_CAP_S)
    return min(cap_s, language(planned.adapter.language).warm_least_s[1]), cap_s


def stages_of(plan: Plan, planned: PlannedPath) -> tuple[StageTable, ...]:
    """Those that the path would run, as far as is known before it is proven."""
    return tuple(
        stage
        for stage in plan.experiment.stages
        if (plan.extended or not stage.extended) and not why_left_out(plan.experiment, stage, planned)
    )


def stages_s(plan: Plan, planned: PlannedPath) -> float:
    """One set of a path, roughly, its start left out: warming up, every stage, restoring backups."""
    actions = {group.name: max(1, group.times) for group in plan.experiment.client_groups if group.action}
    rows = sum(table.rows for each in plan.workloads.values() for table in each.tables.values())
    total = plan.experiment.measure.warm_cap_s
    for stage in stages_of(plan, planned):
        backups = sum(actions.get(name, 0) for name in stage.client_groups)
        ends_early = stage.until in actions
        total += min(stage.seconds, 2 + BACKUP_S * backups) if ends_early else stage.kill_s or stage.seconds
        total += (
            BESIDE_S
            + lead_in_s(planned, plan.experiment.measure.warm_cap_s)[1]
            + (RESTORE_S + RESTORE_ROW_S * rows) * backups
        )
        if stage.kill_s:
            total += RECOVER_S + plan.experiment.measure.warm_cap_s  # new clients are warmed up again
    return total


def rate_search_s(plan: Plan) -> float:
    """The rate search of one path, at most."""
    sweep = plan.experiment.rate_search
    return plan.experiment.measure.warm_cap_s + sweep.tries * (sweep.seconds + BESIDE_S) if sweep else 0.0


def moves_s(plan: Plan) -> float:
    """Databases moved before the first set."""
    engines = {planned.path.engine for planned in plan.paths}
    return MOVE_S * sum(move.engine in engines for move in plan.experiment.directory_copies)


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
