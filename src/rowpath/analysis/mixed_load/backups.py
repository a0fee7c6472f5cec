"""Backups and acknowledged writes from the journal: their time, their effect, and whether all was there."""

from __future__ import annotations

import statistics
from collections.abc import Iterator

from rowpath.analysis.evidence import Evidence
from rowpath.analysis.mixed_load import values
from rowpath.analysis.mixed_load.model import AcknowledgedCheck, BackupEffect, BackupFigures
from rowpath.analysis.mixed_load.stages import StageRun
from rowpath.analysis.mixed_load.values import interval
from rowpath.journal.mixed_load_records import AcknowledgedRecord, KillRecord
from rowpath.model.grouping import grouped


def backups(evidence: Evidence, runs: list[StageRun]) -> Iterator[BackupFigures]:
    """The figures of backups by path, stage and way; a backup that could not be restored counts as failed."""
    every = (backup for run in runs for backup in run.backups)
    found = grouped(every, lambda record: (record.path_id, record.stage, record.way))
    for (path_id, stage, way), records in found.items():
        by_set: dict[int, list[float]] = {}
        for record in records:
            if record.ok:
                by_set.setdefault(record.set, []).append((record.ended_ns - record.begun_ns) / 1e9)
        seconds = interval([statistics.fmean(lasted) for lasted in by_set.values()], evidence.cells.confidence)
        bad = [record for record in records if not (record.ok or record.stopped) or record.restored is False]
        sizes = [record.kept_bytes for record in records if record.kept_bytes]
        yield BackupFigures(
            name=evidence.name(path_id),
            path_id=path_id,
            stage=stage,
            way=way,
            made=sum(record.ok for record in records),
            failed=len(bad),
            reasons=tuple(dict.fromkeys(record.reason or "it could not be restored" for record in bad)),
            restored=sum(record.restored is True for record in records),
            seconds=seconds.ratio if seconds else None,
            low=seconds.ratio_low if seconds else None,
            high=seconds.ratio_high if seconds else None,
            kept_bytes=round(statistics.fmean(sizes)) if sizes else None,
            stopped=sum(record.stopped for record in records),
        )


def effects(evidence: Evidence, runs: list[StageRun]) -> Iterator[BackupEffect]:
    """The effects of backups by path, stage and group, where a stage has the same work and no backup."""
    inside = {
        (each.path.path_id, each.stage, each.client_group): each.values
        for each in evidence.group_values
        if each.metric == "group_rate_in_backup"
    }
    by_key = {run.key: run for run in runs}
    for each in (each for each in evidence.group_values if each.metric == "backup_effect"):
        ratio = interval(each.values.values(), evidence.cells.confidence)
        against = {
            number: values.reference(by_key[number, each.path.path_id, each.stage], runs) for number in each.values
        }
        names = {run.record.stage for run in against.values() if run is not None}
        outside = [run.groups[each.client_group].rate_per_s for run in against.values() if run is not None]
        if ratio is None or len(names) != 1:
            continue
        within = inside[each.path.path_id, each.stage, each.client_group]
        yield BackupEffect(
            name=each.path.name,
            path_id=each.path.path_id,
            client_group=each.client_group,
            stage=each.stage,
            against=names.pop(),
            inside_per_s=statistics.geometric_mean(within[number] for number in each.values),
            outside_per_s=statistics.geometric_mean(rate for rate in outside if rate),
            ratio=ratio.ratio,
            low=ratio.ratio_low,
            high=ratio.ratio_high,
            sets=ratio.sets,
        )


def checks(evidence: Evidence) -> Iterator[AcknowledgedCheck]:
    """The checks of acknowledged writes by path and occasion."""
    found = grouped(evidence.journal.all(AcknowledgedRecord), lambda record: (record.path_id, record.when))
    for (path_id, when), records in found.items():
        kills: list[KillRecord] = evidence.journal.all(KillRecord) if when == "kill" else []
        recovered = [kill.recovery_ns for kill in kills if kill.path_id == path_id and kill.recovery_ns]
        yield AcknowledgedCheck(
            name=evidence.name(path_id),
            path_id=path_id,
            when=records[0].when,
            durability=evidence.coordinate(path_id, "durability"),
            checks=len(records),
            writes=sum(record.writes for record in records),
            rows=sum(record.rows for record in records),
            lost=sum(record.lost for record in records),
            doubled=sum(record.doubled for record in records),
            in_doubt=sum(record.in_doubt for record in records),
            recovery_s=statistics.fmean(recovered) / 1e9 if recovered else None,
        )
