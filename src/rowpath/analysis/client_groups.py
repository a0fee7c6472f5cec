"""Client groups in the journal: each stage as one path went through it in one set, and every metric by set."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from rowpath.analysis.statistics.intervals import Interval, student
from rowpath.journal import mixed_load_records as records
from rowpath.journal.reader import Records
from rowpath.journal.record_base import InStage
from rowpath.journal.records import PathRecord
from rowpath.model import histogram
from rowpath.model.base import Frozen
from rowpath.model.grouping import grouped
from rowpath.model.workload import PhaseName

REACHED = 0.99  # of the operations due
WITHIN = 0.9  # of a second: a backup's begin and end are noticed a few hundredths of a second late
PERCENTILES = {"p50": 50.0, "p99": 99.0, "p999": 99.9, "most": 100.0}
NOWHERE = "none"
SAME = ("client_group", "phase", "clients", "pacing", "dispatch", "population")  # of a group at work and of its totals
Metrics = dict[str, float | None]
Where = tuple[str, str, str, str, str]  # path id, stage, group (empty: all of them), workload, phase


class OfPath(Frozen, frozen=True):
    """Base of what one path did."""

    name: str
    path_id: str


class OfStage(OfPath, frozen=True):
    """Base of what one path did in one stage."""

    stage: str


class OfGroup(OfStage, frozen=True):
    """Base of what one group of a path did in one stage."""

    client_group: str


@dataclass
class StageRun:
    """One stage of one path in one set."""

    record: records.StageRecord
    groups: dict[str, records.ClientGroupRecord] = field(default_factory=dict)
    seconds: list[records.SecondRecord] = field(default_factory=list)
    backups: list[records.BackupRecord] = field(default_factory=list)
    kills: list[records.KillRecord] = field(default_factory=list)

    @property
    def key(self) -> tuple[int, str, str]:
        """(set, path id, stage)."""
        return _key(self.record)

    @property
    def workers(self) -> list[records.AtWork]:
        """Its groups that have an operation."""
        return [group for group in self.record.client_groups if not group.action]

    @property
    def pure(self) -> bool:
        """Neither a backup nor a kill was in it, and it was not cut."""
        acted = any(group.action for group in self.record.client_groups)
        return not (acted or self.kills or any(group.cut for group in self.groups.values()))

    @property
    def operations(self) -> int:
        """Successful ones of all groups."""
        return sum(group.operations for group in self.groups.values())

    @property
    def work(self) -> set[tuple[str, str, int, str, float, str, int]]:
        """The groups at work, with their clients, pacing and dispatch."""
        return {
            (one.client_group, one.phase, one.clients, one.pacing, one.rate_per_s or 0.0, one.dispatch, one.population)
            for one in self.workers
        }

    def used(self, process: str, what: str) -> float | None:
        """Sum over the seconds of what a process used; None where it is not known."""
        used = [getattr(second.processes.get(process), what, None) for second in self.seconds]
        known = [value for value in used if value is not None]
        return sum(known) if known else None

    def traffic(self, *, in_backup: bool = False) -> tuple[float, float] | None:
        """(bytes of the connections, ns) over the seconds, or over those of which WITHIN lies in a whole backup."""
        carried, elapsed = 0.0, 0.0
        for second in self.seconds:
            if second.connections is not None and (not in_backup or self._in_backup(second)):
                carried += second.connections.sent_bytes + second.connections.received_bytes
                elapsed += second.ns
        return (carried, elapsed) if elapsed else None

    def _in_backup(self, second: records.SecondRecord) -> bool:
        begun_ns = second.at_ns - second.ns
        spans = (
            (max(begun_ns, backup.begun_ns), min(second.at_ns, backup.ended_ns)) for backup in self.backups if backup.ok
        )
        return any(end - begin >= WITHIN * second.ns for begin, end in spans)


def stage_runs(journal: Records) -> list[StageRun]:
    """Every stage, by path, then as the journal has it; a group without totals (cut short) takes its seconds'."""
    totals = grouped(journal.all(records.ClientGroupRecord), _key)
    seconds = grouped(journal.all(records.SecondRecord), _key)
    backups = grouped(journal.all(records.BackupRecord), _key)
    kills = grouped(journal.all(records.KillRecord), _key)
    runs = []
    for key, record in {_key(record): record for record in journal.all(records.StageRecord)}.items():
        run = StageRun(record, {}, seconds.get(key, []), backups.get(key, []), kills.get(key, []))
        names = {worker.client_group for worker in run.workers}
        run.groups |= {total.client_group: total for total in totals.get(key, ()) if total.client_group in names}
        for worker in run.workers:
            name = worker.client_group
            if name not in run.groups and any(name in second.client_groups for second in run.seconds):
                run.groups[name] = _of_seconds(run, worker)
        runs.append(run)
    places = {path_id: place for place, path_id in enumerate(journal.paths)}
    return sorted(runs, key=lambda run: places.get(run.record.path_id, 0))


def _key(record: InStage) -> tuple[int, str, str]:
    return record.set, record.path_id, record.stage


def _of_seconds(run: StageRun, worker: records.AtWork) -> records.ClientGroupRecord:
    """Only counts: percentiles of seconds cannot be joined."""
    seconds = [second for second in run.seconds if worker.client_group in second.client_groups]
    parts = [second.client_groups[worker.client_group] for second in seconds]
    begun = min(second.at_ns - second.ns for second in seconds)
    ended = max(second.at_ns for second in seconds)
    sums = {name: sum(getattr(part, name) for part in parts) for name in ("operations", "failed", "rows", "arrivals")}
    due = (worker.rate_per_s or 0.0) * (ended - begun) / 1e9
    return records.ClientGroupRecord(
        **{name: getattr(run.record, name) for name in ("set", "path_id", "stage")},
        **{name: getattr(worker, name) for name in SAME},
        requested_per_s=worker.rate_per_s,
        begun_ns=begun,
        ended_ns=ended,
        **sums,
        reached=sums["operations"] >= REACHED * due - 4 * math.sqrt(due),
        longest_stall_ns=max(part.under_way_ns for part in parts),
        cut=True,
    )


def withheld(runs: Iterable[StageRun]) -> set[tuple[str, str, str]]:
    """(path id, stage, group) of open loops below their rate in some set: their latency percentiles are withheld."""
    return {
        (run.record.path_id, run.record.stage, group.client_group)
        for run in runs
        for group in run.groups.values()
        if not group.reached
    }


def reference(run: StageRun, runs: Iterable[StageRun]) -> StageRun | None:
    """The stage of the same set and path with the same groups at work and nothing else; None without one."""
    others = (other for other in runs if other.key[:2] == run.key[:2] and other is not run)
    return next((other for other in others if other.pure and other.work == run.work), None)


def tries(journal: Records) -> dict[tuple[str, str], dict[int, list[records.RateTryRecord]]]:
    """Rates tried by (path id, group) and set, in order."""
    by_group = grouped(journal.all(records.RateTryRecord), lambda record: (record.path_id, record.client_group))
    return {group: grouped(tried, lambda record: record.set) for group, tried in by_group.items()}


def interval(values: Iterable[float], confidence: float) -> Interval | None:
    """The interval of values by set, computed on the logarithms of those above 0."""
    return student([math.log(value) for value in values if value > 0], confidence)


def ratios(values: Iterable[float], confidence: float) -> tuple[float | None, float | None, float | None]:
    """The mean of values by set (of their logarithms) and its interval's ends."""
    known = interval(values, confidence)
    return known.ratios if known else (None, None, None)


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
    def at_work(self) -> tuple[str, str, str]:
        """(path id, stage, group)."""
        return self.path.path_id, self.stage, self.client_group

    @property
    def coordinates(self) -> dict[str, str]:
        """What a claim may select it by."""
        own = {"stage": self.stage, "client_group": self.client_group, "workload": self.workload, "phase": self.phase}
        return self.path.coordinates | {"name": self.path.name} | own


def group_values(journal: Records, runs: list[StageRun]) -> tuple[GroupValues, ...]:
    """Every metric of groups that was measured; stages that were cut count where there are no whole ones."""
    kept: dict[tuple[Where, str], GroupValues] = {}
    for where, number, metrics in _measured(journal, runs):
        path = journal.paths.get(where[0])
        for metric, value in metrics.items():
            if path is not None and value is not None:
                kept.setdefault((where, metric), GroupValues(path, *where[1:], metric)).values[number] = value
    return tuple(kept.values())


def of_metric(values: Iterable[GroupValues], metric: str) -> dict[tuple[str, str, str], Mapping[int, float]]:
    """A metric's values by set, by (path id, stage, group); the group is empty of all together."""
    return {one.at_work: one.values for one in values if one.metric == metric}


def _measured(journal: Records, runs: list[StageRun]) -> Iterator[tuple[Where, int, Metrics]]:
    """Where, in which set, and what: of each group, of a stage's groups together, of its actions, of searches."""
    whole = {(*run.key[1:], name) for run in runs for name, record in run.groups.items() if not record.cut}
    missed = withheld(runs)
    for run in runs:
        number, path_id, stage = run.key
        for name, record in run.groups.items():
            if record.cut and (path_id, stage, name) in whole:
                continue
            metrics = _of_group(record, (path_id, stage, name) not in missed) | _in_backups(run, runs, name)
            yield (path_id, stage, name, *record.where[1:]), number, metrics
        yield (path_id, stage, "", NOWHERE, NOWHERE), number, _of_stage(run)
        made = grouped((backup for backup in run.backups if backup.ok), lambda backup: backup.client_group)
        for name, backups in made.items():
            lasted = statistics.fmean(backup.ended_ns - backup.begun_ns for backup in backups)
            sizes = [backup.kept_bytes for backup in backups if backup.kept_bytes]
            metrics = {"backup_time": lasted, "backup_size": statistics.fmean(sizes) if sizes else None}
            yield (path_id, stage, name, NOWHERE, NOWHERE), number, metrics
        for kill in run.kills:
            yield (path_id, stage, "", NOWHERE, NOWHERE), number, {"recovery_time": kill.recovery_ns}
    phases = {(run.key[1], worker.client_group): worker.phase for run in reversed(runs) for worker in run.workers}
    for (path_id, group), by_set in tries(journal).items():
        workload, phase = PhaseName.of(phases.get((path_id, group), ""))
        for number, tried in by_set.items():
            highest = max((record.rate_per_s for record in tried if record.held), default=None)
            yield (path_id, "", group, workload or NOWHERE, phase or NOWHERE), number, {"highest_rate": highest}


def each_ns(sum_ns: int, of: Iterable[records.ClientGroupRecord]) -> float | None:
    """A part of an operation's time over the successful ones; None where there is no such part."""
    return sum_ns / max(1, sum(record.operations for record in of)) if sum_ns else None


def _of_group(record: records.ClientGroupRecord, reached: bool) -> Metrics:
    metrics: Metrics = {
        "group_rate" if record.pacing == "closed" else "paced_rate": record.rate_per_s,
        "group_failed": record.failed,
        "longest_stall": record.longest_stall_ns,
        "event_loop_blocked": record.blocked_ns or None,
        "group_borrow": each_ns(record.borrow_ns, [record]),
        "group_return": each_ns(record.return_ns, [record]),
    }
    if record.cpu_ns is not None and record.operations:
        metrics["client_cpu"] = record.cpu_ns / (record.operations + record.failed)
    kinds = {"service": record.service} | ({"latency": record.latency} if reached and record.latency else {})
    for kind, kept in kinds.items():
        counts = histogram.decode(kept)
        for name, percent in PERCENTILES.items():
            metrics[f"{kind}_{name}"] = histogram.percentile(counts, percent)
    if reached and record.lateness:
        metrics["lateness_p99"] = histogram.percentile(histogram.decode(record.lateness), 99)
    return metrics


def _in_backups(run: StageRun, runs: list[StageRun], group: str) -> Metrics:
    # A backup may outlive clients that were killed in the middle of it; in open loop the rate is the requested one.
    if run.kills or run.groups[group].pacing != "closed":
        return {}
    inside = [backup.inside[group] for backup in run.backups if backup.ok and group in backup.inside]
    elapsed = sum(part.ns for part in inside)
    if not elapsed:
        return {}
    rate = sum(part.operations for part in inside) * 1e9 / elapsed
    against = reference(run, runs)
    outside = against.groups[group].rate_per_s if against is not None and group in against.groups else None
    return {"group_rate_in_backup": rate, "backup_effect": rate / outside if outside else None}


def _of_stage(run: StageRun) -> Metrics:
    metrics: Metrics = {}
    carried = run.traffic()
    if carried is not None:
        metrics["traffic"] = carried[0] * 1e9 / carried[1]
        within = run.traffic(in_backup=True)
        metrics["traffic_in_backup"] = within[0] * 1e9 / within[1] if within else None
    done = sum(part.operations + part.failed for second in run.seconds for part in second.client_groups.values())
    if done:
        metrics["traffic_each"] = carried[0] / done if carried is not None else None
        for process in ("client", "pooler", "server"):
            used = run.used(process, "cpu_ns")
            metrics[f"{process}_cpu"] = used / done if used is not None else None
    return metrics
