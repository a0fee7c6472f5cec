"""Reading `samples.jsonl` back, line by line; docs/journal.md is the format."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from rowpath.errors import InternalError, UsageError
from rowpath.journal.record_base import InSet, InStage
from rowpath.journal.records import (
    AnyRecord,
    DroppedRecord,
    EndRecord,
    FactsRecord,
    LinkRecord,
    NoteRecord,
    PathRecord,
    ProbeRecord,
    ResumedRecord,
    RunRecord,
    SetRecord,
    SyncCostRecord,
    WorkerRecord,
)
from rowpath.model.workload import SCHEMA_VERSION

if TYPE_CHECKING:
    pass

FILE = "samples.jsonl"


@dataclass
class Records:
    """A run's records, those of restarted sets already forgotten; every list in the order of the file."""

    run: RunRecord
    paths: dict[str, PathRecord] = field(default_factory=dict)
    dropped: list[DroppedRecord] = field(default_factory=list)
    sets: dict[tuple[int, int], SetRecord] = field(default_factory=dict)  # by (set, group)
    in_sets: list[InSet] = field(default_factory=list)
    in_stages: list[InStage] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    probe: list[ProbeRecord] = field(default_factory=list)
    sync_cost: SyncCostRecord | None = None
    links: dict[tuple[str, str], LinkRecord] = field(default_factory=dict)  # by link and placement, the last measured
    outcome: str = ""  # empty: killed, or still under way
    resumed: int = 0
    skipped_lines: int = 0  # complete lines that are no record of this format
    open_groups: dict[int, int] = field(default_factory=dict)  # by set: the group whose records follow
    _by_kind: dict[type[Any], list[Any]] = field(default_factory=dict)  # made once the file was read

    def all(self, kind: type[Any]) -> list[Any]:
        """The records of one type, in order."""
        if not self._by_kind:
            for record in (*self.in_sets, *self.in_stages):
                self._by_kind.setdefault(type(record), []).append(record)
        return self._by_kind.get(kind, [])


def read(run_directory: Path) -> Records:
    """The journal of a run directory; UsageError when there is none, InternalError when another version wrote it."""
    file = run_directory / FILE
    journal: Records | None = None
    skipped = 0
    try:
        for record in _records(file):
            if record is None:
                skipped += 1
            elif isinstance(record, RunRecord):
                _check_version(file, record)
                journal = journal or Records(record)
            elif journal is not None:
                _take(journal, record)
    except OSError as error:
        raise UsageError(
            f"cannot read {file}: {error.strerror}", "rowpath show DIR, where DIR is what a run left"
        ) from error
    if journal is None:
        raise UsageError(f"{file} holds no run", "rowpath show DIR, where DIR is what a run left")
    journal.skipped_lines = skipped
    _number_through(journal)
    return journal


def _records(file: Path) -> Iterator[AnyRecord | None]:
    with file.open("rb") as stream:
        for line in stream:
            if not line.strip():
                continue
            try:
                # A null says what an absent field says: not known.
                known = {
                    key: value
                    for key, value in msgspec.json.decode(line, type=dict[str, Any]).items()
                    if value is not None
                }
                yield msgspec.convert(known, type=AnyRecord)
            except (msgspec.DecodeError, UnicodeDecodeError):
                # The run was killed inside its last write; elsewhere a broken line is counted and shown.
                if line.endswith(b"\n"):
                    yield None


def _check_version(file: Path, record: RunRecord) -> None:
    if record.schema_version != SCHEMA_VERSION:
        raise InternalError(
            f"{file} has schema version {record.schema_version}; this Rowpath reads version {SCHEMA_VERSION}",
            "read it with the Rowpath that wrote it",
        )


def _take(journal: Records, record: Any) -> None:
    if isinstance(record, FactsRecord):
        for worker in reversed(journal.in_sets):
            if isinstance(worker, WorkerRecord) and worker.path_id == record.path_id:
                worker.facts = record.facts
                break
    elif isinstance(record, InSet):
        record.phase = record.phase.removeprefix(f"{record.workload}.")
        record.group = record.group if record.group is not None else journal.open_groups.get(record.set, 0)
        journal.in_sets.append(record)
    elif isinstance(record, InStage):
        record.set_group = journal.open_groups.get(record.set, 0)
        journal.in_stages.append(record)
    elif isinstance(record, PathRecord):
        journal.paths[record.path_id] = record
    elif isinstance(record, DroppedRecord):
        journal.dropped.append(record)
    elif isinstance(record, SetRecord):
        if (record.set, record.group) in journal.sets:
            _forget(journal, record)
        journal.sets[record.set, record.group] = record
        journal.open_groups[record.set] = record.group
    elif isinstance(record, SyncCostRecord):
        journal.sync_cost = record
    elif isinstance(record, LinkRecord):
        journal.links[record.link, record.placement] = record
    elif isinstance(record, NoteRecord):
        journal.notes.append(record.text)
    elif isinstance(record, ProbeRecord):
        journal.probe.append(record)
    elif isinstance(record, ResumedRecord):
        journal.resumed += 1
        journal.outcome = ""
    elif isinstance(record, EndRecord):
        journal.outcome = record.outcome


def _forget(journal: Records, restarted: SetRecord) -> None:
    key = restarted.set, restarted.group
    journal.in_sets = [record for record in journal.in_sets if (record.set, record.group) != key]
    journal.in_stages = [each for each in journal.in_stages if (each.set, each.set_group) != key]


def _number_through(journal: Records) -> None:
    """Give every set of every group a number of its own: an anchor stands once in the sets of several groups."""
    groups = 1 + max((group for _number, group in journal.sets), default=0)
    for record in journal.in_sets:
        if record.set >= 0:
            record.set = record.set * groups + (record.group or 0)
    journal.sets = {(number * groups + group, group): record for (number, group), record in journal.sets.items()}


@dataclass
class Done:
    """What a resumed run has behind it."""

    sets: set[tuple[int, int]] = field(default_factory=set)  # (group, set)
    proven: set[str] = field(default_factory=set)  # path ids
    bad: dict[str, dict[str, str]] = field(default_factory=dict)  # path id → phase → status


def _what_is_done(samples: Path) -> tuple[dict[str, Any], Done, bool]:
    head: dict[str, Any] = {}
    done = Done()
    complete = False
    with samples.open("rb") as lines:
        for line in lines:
            try:
                record = json.loads(line)
            except ValueError:
                continue
            kind = record.get("record")
            if kind == "run":
                head = record
            elif kind == "set-end":
                done.sets.add((record["group"], record["set"]))
            elif kind == "proven":
                done.proven.add(record["path_id"])
                done.bad[record["path_id"]] = record["bad"]
            elif kind == "end":
                complete = record["outcome"] == "complete"
    if not head:
        raise UsageError(f"{samples} has no head: the run was killed before it began", "start it anew with rowpath run")
    return head, done, complete
