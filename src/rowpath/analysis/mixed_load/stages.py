"""The journal's stages: each as one path went through it in one set, with what its groups did."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field

from rowpath.journal.mixed_load_records import (
    AtWork,
    BackupRecord,
    ClientGroupRecord,
    GroupSecond,
    KillRecord,
    SecondRecord,
    StageRecord,
)
from rowpath.journal.reader import Records
from rowpath.journal.record_base import InStage

CLIENT, SERVER = "client", "server"
REACHED = 0.99  # of the operations due
WITHIN = 0.9  # of a second: a backup's begin and end are noticed a few hundredths of a second late


@dataclass
class StageRun:
    """One stage of one path in one set."""

    record: StageRecord
    groups: dict[str, ClientGroupRecord] = field(default_factory=dict)
    seconds: list[SecondRecord] = field(default_factory=list)
    backups: list[BackupRecord] = field(default_factory=list)
    kills: list[KillRecord] = field(default_factory=list)

    @property
    def key(self) -> tuple[int, str, str]:
        """(set, path id, stage)."""
        return _key(self.record)

    @property
    def workers(self) -> list[AtWork]:
        """Its groups that have an operation."""
        return [group for group in self.record.client_groups if not group.action]

    @property
    def pure(self) -> bool:
        """Neither a backup nor a kill was in it, and it was not cut."""
        return not (
            any(group.action for group in self.record.client_groups)
            or self.kills
            or any(group.cut for group in self.groups.values())
        )

    @property
    def operations(self) -> int:
        """Successful ones of all groups."""
        return sum(group.operations for group in self.groups.values())

    def same_work(self, other: StageRun) -> bool:
        """Whether the same groups, with as many clients and the same pacing, were at work in both."""
        return _work(self.workers) == _work(other.workers)

    def used(self, process: str, what: str) -> float | None:
        """Sum over the seconds of what a process used; None where it is not known."""
        known = [
            value
            for second in self.seconds
            if process in second.processes and (value := getattr(second.processes[process], what)) is not None
        ]
        return sum(known) if known else None

    def traffic(self, within: Iterable[tuple[int, int]] | None = None) -> tuple[float, float] | None:
        """(bytes of the connections, ns) over the seconds, or over those of which WITHIN lies in one of the spans."""
        spans = None if within is None else list(within)
        known = [
            second
            for second in self.seconds
            if second.connections is not None
            and (spans is None or any(_overlap_ns(second, *span) >= WITHIN * second.ns for span in spans))
        ]
        elapsed = sum(second.ns for second in known)
        if not elapsed:
            return None
        carried = (second.connections for second in known)
        return sum(each.sent_bytes + each.received_bytes for each in carried if each is not None), elapsed


def stage_runs(journal: Records) -> list[StageRun]:
    """Every stage, by path, then as the journal has it; a group without totals (cut short) takes its seconds'."""
    runs = {_key(record): StageRun(record) for record in journal.all(StageRecord)}
    records: list[InStage] = [each for kind in _KINDS for each in journal.all(kind)]
    for record in records:
        run = runs.get(_key(record))
        if run is None:
            continue
        match record:
            case ClientGroupRecord(client_group=name):
                if name in {worker.client_group for worker in run.workers}:
                    run.groups[name] = record
            case SecondRecord():
                run.seconds.append(record)
            case BackupRecord():
                run.backups.append(record)
            case KillRecord():
                run.kills.append(record)
    for run in runs.values():
        for worker in run.workers:
            name = worker.client_group
            if name not in run.groups and any(name in second.client_groups for second in run.seconds):
                run.groups[name] = _of_seconds(run, worker)
    places = {path_id: place for place, path_id in enumerate(journal.paths)}
    return sorted(runs.values(), key=lambda run: places.get(run.record.path_id, 0))


_KINDS = (ClientGroupRecord, SecondRecord, BackupRecord, KillRecord)


def _overlap_ns(second: SecondRecord, begun_ns: int, ended_ns: int) -> int:
    return min(second.at_ns, ended_ns) - max(second.at_ns - second.ns, begun_ns)


def _key(record: InStage) -> tuple[int, str, str]:
    return record.set, record.path_id, record.stage


def _work(workers: list[AtWork]) -> set[tuple[str, str, int, str, float]]:
    return {(each.client_group, each.phase, each.clients, each.pacing, each.rate_per_s or 0.0) for each in workers}


def _of_seconds(run: StageRun, worker: AtWork) -> ClientGroupRecord:
    """Only counts: percentiles of seconds cannot be joined."""
    seconds: list[tuple[SecondRecord, GroupSecond]] = [
        (second, second.client_groups[worker.client_group])
        for second in run.seconds
        if worker.client_group in second.client_groups
    ]
    begun = min(second.at_ns - second.ns for second, _group in seconds)
    ended = max(second.at_ns for second, _group in seconds)
    sums = {
        name: sum(getattr(group, name) for _second, group in seconds)
        for name in ("operations", "failed", "rows", "arrivals")
    }
    due = (worker.rate_per_s or 0.0) * (ended - begun) / 1e9
    return ClientGroupRecord(
        set=run.record.set,
        path_id=run.record.path_id,
        stage=run.record.stage,
        client_group=worker.client_group,
        phase=worker.phase,
        clients=worker.clients,
        pacing=worker.pacing,
        requested_per_s=worker.rate_per_s,
        begun_ns=begun,
        ended_ns=ended,
        **sums,
        reached=sums["operations"] >= REACHED * due - 4 * math.sqrt(due),
        longest_stall_ns=max(group.under_way_ns for _second, group in seconds),
        cut=True,
    )
