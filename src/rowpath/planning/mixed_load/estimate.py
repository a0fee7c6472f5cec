"""How long an experiment of groups would take, and what it consists of, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rowpath.planning.mixed_load.eligibility import why_left_out
from rowpath.planning.mixed_load.lead_in import lead_in_s

if TYPE_CHECKING:
    from rowpath.model.mixed_load import StretchTable
    from rowpath.planning.plan import Plan, PlannedPath

BESIDE_S = 1.0  # per stretch and path: clients made ready, totals fetched, a little for what is checked afterwards
BACKUP_S = 4.0  # one of a small database; how large it is nobody knows before
RESTORE_S = 5.0
RESTORE_ROW_S = 1e-5  # a restored backup is checked, then read row by row
RECOVER_S = 5.0  # a killed engine started again, and its ledger read; HSQLDB's lock alone takes ten
MOVE_S = 20.0  # a database made or copied, and every table read at both ends


def stretches_of(plan: Plan, planned: PlannedPath) -> tuple[StretchTable, ...]:
    """Those that the path would run, as far as is known before it is proven."""
    return tuple(
        stretch
        for stretch in plan.experiment.stretches
        if (plan.extended or not stretch.extended) and not why_left_out(plan.experiment, stretch, planned)
    )


def stretches_s(plan: Plan, planned: PlannedPath) -> float:
    """One set of a path, roughly, its start left out: warming up, every stretch, restoring backups."""
    verbs = {group.name: max(1, group.times) for group in plan.experiment.groups if group.verb}
    rows = sum(table.rows for each in plan.workloads.values() for table in each.tables.values())
    total = plan.experiment.measure.warm_cap_s
    for stretch in stretches_of(plan, planned):
        backups = sum(verbs.get(name, 0) for name in stretch.groups)
        ends_early = stretch.until in verbs
        total += min(stretch.seconds, 2 + BACKUP_S * backups) if ends_early else stretch.kill_s or stretch.seconds
        total += (
            BESIDE_S
            + lead_in_s(planned, plan.experiment.measure.warm_cap_s)[1]
            + (RESTORE_S + RESTORE_ROW_S * rows) * backups
        )
        if stretch.kill_s:
            total += RECOVER_S + plan.experiment.measure.warm_cap_s  # new clients are warmed up again
    return total


def rate_sweep_s(plan: Plan) -> float:
    """The rate sweep of one path, at most."""
    sweep = plan.experiment.rate_sweep
    return plan.experiment.measure.warm_cap_s + sweep.tries * (sweep.seconds + BESIDE_S) if sweep else 0.0


def moves_s(plan: Plan) -> float:
    """Databases moved before the first set."""
    engines = {planned.path.get("engine") for planned in plan.paths}
    return MOVE_S * sum(move.engine in engines for move in plan.experiment.moves)


def described(plan: Plan) -> str:
    """`4 sets of 5 stretches (reads 5 s, with a backup until backup), then a rate sweep of readers`."""
    measure = plan.experiment.measure
    stretches = [each for each in plan.experiment.stretches if plan.extended or not each.extended]
    shown = ", ".join(
        f"{each.name} until {each.until} is done"
        if each.until
        else f"{each.name} {each.seconds:g} s" + (f", the engine killed after {each.kill_s:g} s" if each.kill_s else "")
        for each in stretches
    )
    sweep = plan.experiment.rate_sweep
    words = f"{_counted(measure.sets, 'set')} of {_counted(len(stretches), 'stretch', 'stretches')} ({shown})"
    return words + (f", then a rate sweep of {sweep.group} (p99 ≤ {sweep.p99_ms:g} ms)" if sweep else "")


def _counted(count: int, one: str, many: str = "") -> str:
    return f"{count} {one if count == 1 else many or one + 's'}"
