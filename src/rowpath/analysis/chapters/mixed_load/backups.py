"""Backups and acknowledged writes: their time, their effect on the groups at work, and whether all was there."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

from rowpath import text as fmt
from rowpath.analysis.chapters.mixed_load.deployments import ratio_bar
from rowpath.analysis.client_groups import OfPath, OfStage, interval, of_metric, ratios, reference
from rowpath.analysis.evidence import Evidence
from rowpath.analysis.wording import ratio_text
from rowpath.analysis.wording import words as in_words
from rowpath.drawing.grid import Grid, figure, line, of_lines, ratio, without_empty, word, words
from rowpath.drawing.picture import Picture, plain
from rowpath.journal.mixed_load_records import AcknowledgedRecord, KillRecord
from rowpath.model.grouping import grouped

COUNTS = ("writes", "rows", "lost", "doubled", "in_doubt")  # of a check of acknowledged writes


class BackupFigures(OfStage, frozen=True):
    """The backups of one path in one stage."""

    way: str
    made: int
    failed: int
    reasons: tuple[str, ...]  # why those failed, or could not be restored
    restored: int  # and found right
    seconds: float | None  # mean
    low: float | None
    high: float | None
    kept_bytes: int | None
    stopped: int = 0  # ended with their engine, killed on purpose, or with the run: neither made nor failed


class BackupEffect(OfPath, frozen=True):
    """A group's rate inside the backup's span ÷ its rate in the stage without one (same set), with its interval."""

    client_group: str
    stage: str
    against: str  # the stage without a backup
    inside_per_s: float
    outside_per_s: float
    ratio: float
    low: float | None
    high: float | None
    sets: int


class AcknowledgedCheck(OfPath, frozen=True):
    """Whether every acknowledged write was in the database: at the end, after a kill, in a backup."""

    when: Literal["end", "kill", "backup"]
    durability: str
    checks: int
    writes: int  # acknowledged, and looked for
    rows: int
    lost: int
    doubled: int  # in the database more often than requested
    in_doubt: int  # their clients got no result: they may be there or not
    recovery_s: float | None = None  # from the start of the killed engine to its first answer, mean


def backups(evidence: Evidence) -> Iterator[BackupFigures]:
    """The figures of backups by path, stage and way; a backup that could not be restored counts as failed."""
    every = (backup for run in evidence.stage_runs for backup in run.backups)
    by_way = grouped(every, lambda record: (record.path_id, record.stage, record.way))
    for (path_id, stage, way), records in by_way.items():
        by_set = grouped((record for record in records if record.ok), lambda record: record.set)
        lasted = (statistics.fmean((one.ended_ns - one.begun_ns) / 1e9 for one in made) for made in by_set.values())
        bad = [record for record in records if not (record.ok or record.stopped) or record.restored is False]
        sizes = [record.kept_bytes for record in records if record.kept_bytes]
        yield BackupFigures(
            evidence.name(path_id),
            path_id,
            stage,
            way,
            sum(record.ok for record in records),
            len(bad),
            tuple(dict.fromkeys(record.reason or "it could not be restored" for record in bad)),
            sum(record.restored is True for record in records),
            *ratios(lasted, evidence.cells.confidence),
            kept_bytes=round(statistics.fmean(sizes)) if sizes else None,
            stopped=sum(record.stopped for record in records),
        )


def effects(evidence: Evidence) -> Iterator[BackupEffect]:
    """The effects of backups by path, stage and group, where a stage has the same work and no backup."""
    inside = of_metric(evidence.group_values, "group_rate_in_backup")
    runs = {run.key: run for run in evidence.stage_runs}
    for effect in evidence.group_values:
        if effect.metric != "backup_effect":
            continue
        path_id, stage, group = effect.at_work
        change = interval(effect.values.values(), evidence.cells.confidence)
        references = (reference(runs[number, path_id, stage], evidence.stage_runs) for number in effect.values)
        others = [run for run in references if run is not None]
        names = {run.record.stage for run in others}
        if change is None or len(names) != 1:
            continue
        inside_per_s = statistics.geometric_mean(inside[effect.at_work][number] for number in effect.values)
        outside_per_s = statistics.geometric_mean(rate for run in others if (rate := run.groups[group].rate_per_s))
        where = effect.path.name, path_id, group, stage, names.pop()
        yield BackupEffect(*where, inside_per_s, outside_per_s, *change.ratios, change.sets)


def checks(evidence: Evidence) -> Iterator[AcknowledgedCheck]:
    """The checks of acknowledged writes by path and occasion."""
    occasions = grouped(evidence.journal.all(AcknowledgedRecord), lambda record: (record.path_id, record.when))
    for (path_id, when), records in occasions.items():
        kills: list[KillRecord] = evidence.journal.all(KillRecord) if when == "kill" else []
        recovered = [kill.recovery_ns for kill in kills if kill.path_id == path_id and kill.recovery_ns]
        yield AcknowledgedCheck(
            evidence.name(path_id),
            path_id,
            records[0].when,
            evidence.coordinate(path_id, "durability"),
            len(records),
            **{name: sum(getattr(record, name) for record in records) for name in COUNTS},
            recovery_s=statistics.fmean(recovered) / 1e9 if recovered else None,
        )


def effect_sentences(effects: Iterable[BackupEffect]) -> Iterator[str]:
    """One for each path and stage with a backup: what happened to each of its groups."""
    by_stage = grouped(effects, lambda effect: (effect.name, effect.stage))
    for (name, stage), alike in by_stage.items():
        several = sum(other == name for other, _stage in by_stage) > 1
        listed = (
            f"{effect.client_group} go from {fmt.rate(effect.outside_per_s)} to {fmt.rate(effect.inside_per_s)}, "
            f"{ratio_text(effect.ratio, effect.low, effect.high)}"
            for effect in alike
        )
        where = f" in '{stage}'" if several else ""
        yield f"During a backup of {name}{where}: {in_words(listed)}."


def backup_sentences(backups: Sequence[BackupFigures]) -> Iterator[str]:
    """How many backups were made, restored and stopped."""
    made, failed = sum(backup.made for backup in backups), sum(backup.failed for backup in backups)
    restored, stopped = sum(backup.restored for backup in backups), sum(backup.stopped for backup in backups)
    if made or failed or stopped:
        bad = f"; {failed} failed or could not be restored" if failed else ""
        bad += f"; {stopped} more were stopped: the engine was killed on purpose, or the run ended" if stopped else ""
        count = "1 backup was" if made == 1 else f"{made} backups were"
        yield f"{count} made, {restored} of them restored and verified{bad}."


def acknowledged_sentences(checks: Iterable[AcknowledgedCheck]) -> Iterator[str]:
    """One for each occasion and durability: how many acknowledged writes were lost."""
    occasions = {"end": "at the end", "kill": "after the engine was killed", "backup": "in restored backups"}
    for (when, durability), alike in grouped(checks, lambda check: (check.when, check.durability)).items():
        writes, lost = sum(check.writes for check in alike), sum(check.lost for check in alike)
        doubled, doubt = sum(check.doubled for check in alike), sum(check.in_doubt for check in alike)
        recovered = [check.recovery_s for check in alike if check.recovery_s is not None]
        outcome = f"{fmt.count(lost)} were lost" if lost else "none was lost"
        twice = f", {fmt.count(doubled)} were applied more than once" if doubled else ""
        unsure = f", {fmt.count(doubt)} more were in doubt" if doubt else ""
        back = f"; it replied again after up to {fmt.duration(max(recovered) * 1e9)}" if recovered else ""
        yield (
            f"Of {fmt.count(writes)} acknowledged writes checked {occasions[when]} (durability={durability}) "
            f"{outcome}{twice}{unsure}{back}."
        )


def backups_grid(backups: Sequence[BackupFigures]) -> Grid:
    """The backups: how many, how long, how large, and whether each could be restored."""
    lines = (
        line(
            word("path", backup.name),
            word("stage", backup.stage, 2),
            word("way", backup.way, 1),
            figure("made", fmt.count(backup.made)),
            figure("failed", fmt.count(backup.failed) if backup.failed else "", 1),
            figure("stopped", fmt.count(backup.stopped) if backup.stopped else "", 1),
            figure("restored and right", fmt.count(backup.restored)),
            figure("duration", fmt.duration(_ns(backup.seconds))),
            figure("interval", fmt.duration_interval(_ns(backup.low), _ns(backup.high)), 1),
            figure("size", fmt.size(backup.kept_bytes), 2),
            status="failed" if backup.failed else "ok",
        )
        for backup in backups
    )
    reasons = dict.fromkeys(fmt.clean(f"{backup.name}: {reason}") for backup in backups for reason in backup.reasons)
    note = ["Right: an engine started on the restored backup delivered every expected row."]
    if any(backup.stopped for backup in backups):
        note.append("Stopped: its engine was killed on purpose, or the run ended.")
    note += [f"{reason.rstrip('.')}." for reason in reasons]
    return without_empty(of_lines("Backups", lines, " ".join(note)))


def _ns(seconds: float | None) -> float | None:
    return None if seconds is None else seconds * 1e9


def backups_sentence(backups: Sequence[BackupFigures]) -> str:
    """How many backups were made, and how many of them restored."""
    made, restored = sum(backup.made for backup in backups), sum(backup.restored for backup in backups)
    return f"{restored} of {made} backups were restored and delivered every row." if made else ""


def effects_grid(effects: Iterable[BackupEffect]) -> Grid:
    """What each group's rate was inside the backup's span and without one."""
    lines = (
        line(
            *words(path=effect.name, group=effect.client_group),
            figure("inside", fmt.rate(effect.inside_per_s)),
            figure("without", fmt.rate(effect.outside_per_s)),
            *ratio("during ÷ without", effect.ratio, effect.low, effect.high),
            word("stage", effect.stage, 2),
            word("compared with", effect.against, 2),
            figure("sets", str(effect.sets), 1),
        )
        for effect in effects
    )
    return of_lines("Rates during a backup and without one", lines)


def effects_picture(effects: Iterable[BackupEffect]) -> Picture | None:
    """Each group's rate during a backup relative to without one."""
    return plain(
        "effects",
        "Rate during a backup ÷ without one",
        (
            ratio_bar(f"{effect.name}: {effect.client_group}", effect.ratio, effect.low, effect.high)
            for effect in sorted(effects, key=lambda effect: effect.ratio)
        ),
        fmt.ratio,
        "Rate while a backup runs ÷ rate without one, on a logarithmic axis: below 1 the backup slows the "
        "group. The line at a bar's end is its 95 % interval.",
    )


def effects_sentence(effects: Sequence[BackupEffect]) -> str:
    """Whose rate a backup changes most, among those that it is shown to change."""
    if not effects:
        return ""
    changed = [one for one in effects if one.high is not None and not (one.low or 0) <= 1 <= one.high]
    worst = min(changed or effects, key=lambda effect: effect.ratio)
    who = f"{fmt.clean(worst.client_group)} on {fmt.clean(worst.name)}"
    rate = f"{ratio_text(worst.ratio, worst.low, worst.high)} of the rate without one"
    if not changed:
        return f"No rate is shown to change during a backup; the lowest is {who}: {rate}."
    return f"A backup changes {who} most: {rate}."


def acknowledged_grid(checks: Iterable[AcknowledgedCheck]) -> Grid:
    """Whether every acknowledged write was in the database."""
    occasions = {"end": "at the end", "kill": "after a kill", "backup": "in a restored backup"}
    lines = (
        line(
            word("path", check.name),
            word("looked for", occasions[check.when]),
            word("durability", check.durability, 1),
            figure("checks", fmt.count(check.checks), 2),
            figure("acknowledged writes", fmt.count(check.writes)),
            figure("rows", fmt.count(check.rows), 3),
            figure("lost", fmt.count(check.lost)),
            figure("doubled", fmt.count(check.doubled), 1),
            figure("in doubt", fmt.count(check.in_doubt), 1),
            figure("recovery", fmt.duration(_ns(check.recovery_s)), 2),
            status="failed" if check.lost or check.doubled else "ok",
        )
        for check in checks
    )
    note = (
        "Acknowledged: the client received success. In doubt: the client received no result, so the row may be there "
        "or not. Recovery: from the start of the killed engine to its first answer."
    )
    return without_empty(of_lines("Acknowledged writes, checked in the database", lines, note))


def acknowledged_sentence(checks: Sequence[AcknowledgedCheck]) -> str:
    """Whether an acknowledged write was lost."""
    if not checks:
        return ""
    lost, writes = sum(check.lost for check in checks), sum(check.writes for check in checks)
    if lost:
        return f"{lost:,} of {writes:,} acknowledged writes were lost."
    return f"None of {writes:,} acknowledged writes was lost."
