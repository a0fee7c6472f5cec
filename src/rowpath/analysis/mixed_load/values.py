"""Every metric of groups by set: what figures, claims and published rows are made of."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from rowpath.analysis.mixed_load.stages import CLIENT, SERVER, StageRun
from rowpath.analysis.statistics.intervals import Interval, student
from rowpath.journal.mixed_load_records import ClientGroupRecord, RateTryRecord
from rowpath.journal.reader import Records
from rowpath.journal.records import PathRecord
from rowpath.model import histogram
from rowpath.model.workload import PhaseName

Where = tuple[str, str, str, str, str]  # path id, stage, group (empty: all of them), workload, phase
PERCENTILES = {"p50": 50.0, "p99": 99.0, "p999": 99.9, "most": 100.0}
NOWHERE = "none"


@dataclass(frozen=True)
class GroupValues:
    """A metric of one group (or of all) in one stage on one path, by set."""

    path: PathRecord
    stage: str
    client_group: str
    workload: str
    phase: str
    metric: str
    values: dict[int, float] = field(default_factory=dict)

    @property
    def where(self) -> tuple[str, str, str]:
        """(path id, workload, phase)."""
        return self.path.path_id, self.workload, self.phase

    @property
    def coordinates(self) -> dict[str, str]:
        """What a claim may select it by."""
        own = {"stage": self.stage, "client_group": self.client_group, "workload": self.workload, "phase": self.phase}
        return self.path.coordinates | {"name": self.path.name} | own


def withheld(runs: list[StageRun]) -> set[tuple[str, str, str]]:
    """(path id, stage, group) of open loops below their rate in some set: their latency percentiles are withheld."""
    return {
        (run.record.path_id, run.record.stage, group.client_group)
        for run in runs
        for group in run.groups.values()
        if not group.reached
    }


def reference(run: StageRun, runs: list[StageRun]) -> StageRun | None:
    """The stage of the same set and path with the same groups at work and nothing else; None without one."""
    return next(
        (
            other
            for other in runs
            if other.key[:2] == run.key[:2] and other is not run and other.pure and run.same_work(other)
        ),
        None,
    )


def group_values(journal: Records, runs: list[StageRun]) -> tuple[GroupValues, ...]:
    """Every metric of groups that was measured; stages that were cut count where there are no whole ones."""
    found: dict[tuple[Where, str], GroupValues] = {}
    whole = {(*run.key[1:], name) for run in runs for name, record in run.groups.items() if not record.cut}

    def keep(where: Where, metric: str, number: int, value: float | None) -> None:
        path = journal.paths.get(where[0])
        if path is not None and value is not None:
            found.setdefault((where, metric), GroupValues(path, *where[1:], metric)).values[number] = value

    missed = withheld(runs)
    for run in runs:
        number, path_id, stage = run.key
        for name, record in run.groups.items():
            if record.cut and (path_id, stage, name) in whole:
                continue
            where = (path_id, stage, name, *record.where[1:])
            reached = (path_id, stage, name) not in missed
            for metric, value in _of_group(record, reached).items():
                keep(where, metric, number, value)
            for metric, value in _in_backups(run, runs, name).items():
                keep(where, metric, number, value)
        for metric, value in _of_stage(run).items():
            keep((path_id, stage, "", NOWHERE, NOWHERE), metric, number, value)
        made = [backup for backup in run.backups if backup.ok]
        for backup in made:
            lasted = [each.ended_ns - each.begun_ns for each in made if each.client_group == backup.client_group]
            sizes = [each.kept_bytes for each in made if each.client_group == backup.client_group and each.kept_bytes]
            where = path_id, stage, backup.client_group, NOWHERE, NOWHERE
            keep(where, "backup_time", number, sum(lasted) / len(lasted))
            keep(where, "backup_size", number, sum(sizes) / len(sizes) if sizes else None)
        for kill in run.kills:
            keep((path_id, stage, "", NOWHERE, NOWHERE), "recovery_time", number, kill.recovery_ns)
    for (path_id, group), by_set in tries(journal).items():
        phase = next(
            (at.phase for run in runs for at in run.workers if (run.key[1], at.client_group) == (path_id, group)), ""
        )
        workload, name = PhaseName.of(phase)
        for number, tried in by_set.items():
            highest = max((each.rate_per_s for each in tried if each.held), default=None)
            keep((path_id, "", group, workload or NOWHERE, name or NOWHERE), "highest_rate", number, highest)
    return tuple(found.values())


def tries(journal: Records) -> dict[tuple[str, str], dict[int, list[RateTryRecord]]]:
    """Rates tried by (path id, group) and set, in order."""
    found: dict[tuple[str, str], dict[int, list[RateTryRecord]]] = {}
    for record in journal.all(RateTryRecord):
        found.setdefault((record.path_id, record.client_group), {}).setdefault(record.set, []).append(record)
    return found


def interval(positive: Iterable[float], confidence: float) -> Interval | None:
    """The interval of values by set, computed on logarithms."""
    return student([math.log(value) for value in positive if value > 0], confidence)


def of_stages(every: Iterable[GroupValues], metric: str) -> dict[tuple[str, str], Mapping[int, float]]:
    """A metric's values by set of all groups together, by (path id, stage)."""
    return {
        (each.path.path_id, each.stage): each.values
        for each in every
        if each.metric == metric and not each.client_group
    }


def _of_group(record: ClientGroupRecord, reached: bool) -> dict[str, float | None]:
    found: dict[str, float | None] = {
        "group_rate" if record.pacing == "closed" else "paced_rate": record.rate_per_s,
        "group_failed": record.failed,
        "longest_stall": record.longest_stall_ns,
    }
    if record.cpu_ns is not None and record.operations:
        found["client_cpu"] = record.cpu_ns / (record.operations + record.failed)
    kinds = {"service": record.service} | ({"latency": record.latency} if reached and record.latency else {})
    for kind, kept in kinds.items():
        counts = histogram.decode(kept)
        for name, percent in PERCENTILES.items():
            found[f"{kind}_{name}"] = histogram.percentile(counts, percent)
    if reached and record.lateness:
        found["lateness_p99"] = histogram.percentile(histogram.decode(record.lateness), 99)
    return found


def _in_backups(run: StageRun, runs: list[StageRun], group: str) -> dict[str, float | None]:
    # A backup may outlive clients that were killed in the middle of it; in open loop the rate is the requested one.
    if run.kills or (group in run.groups and run.groups[group].pacing != "closed"):
        return {}
    inside = [backup.inside[group] for backup in run.backups if backup.ok and group in backup.inside]
    elapsed = sum(each.ns for each in inside)
    if not elapsed:
        return {}
    rate = sum(each.operations for each in inside) * 1e9 / elapsed
    against = reference(run, runs)
    outside = against.groups[group].rate_per_s if against is not None and group in against.groups else None
    return {"group_rate_in_backup": rate, "backup_effect": rate / outside if outside else None}


def _of_stage(run: StageRun) -> dict[str, float | None]:
    found: dict[str, float | None] = {}
    carried = run.traffic()
    if carried is not None:
        found["traffic"] = carried[0] * 1e9 / carried[1]
        within = run.traffic((backup.begun_ns, backup.ended_ns) for backup in run.backups if backup.ok)
        found["traffic_in_backup"] = within[0] * 1e9 / within[1] if within else None
    done = sum(each.operations + each.failed for second in run.seconds for each in second.client_groups.values())
    if done:
        found["traffic_each"] = carried[0] / done if carried is not None else None
        for metric, process in (("client_cpu", CLIENT), ("server_cpu", SERVER)):
            used = run.used(process, "cpu_ns")
            found[metric] = used / done if used is not None else None
    return found
