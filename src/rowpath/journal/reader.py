"""Reading `samples.jsonl` back, line by line; docs/journal.md is the format."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from operator import attrgetter
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from rowpath.errors import InternalError, UsageError
from rowpath.journal import FILE
from rowpath.journal import records as kinds
from rowpath.journal.record_base import InSet, InStage, Record
from rowpath.journal.records import RunRecord, WorkerRecord
from rowpath.model.experiment import Experiment
from rowpath.model.explanation import Explanation
from rowpath.model.workload import Workload
from rowpath.toml_file import unknown_keys

Kind = TypeVar("Kind", bound=Record)
# Which field of `Records` has all records of a type in a list, and which the last one under a key.
LISTED: dict[type[Record], str] = {
    kinds.DroppedRecord: "dropped",
    kinds.ClockRecord: "clocks",
    kinds.WayRecord: "ways",
    kinds.ProbeRecord: "probe",
    kinds.SizingRecord: "sizing",
}
KEYED: dict[type[Record], tuple[str, Callable[[Any], Any]]] = {
    kinds.PathRecord: ("paths", attrgetter("path_id")),
    kinds.SyncCostRecord: ("sync_costs", attrgetter("host")),
    kinds.LinkRecord: ("links", attrgetter("link", "placement")),
    kinds.HostRecord: ("hosts", attrgetter("name")),
}


@dataclass
class Done:
    """What a resumed run has behind it."""

    sets: set[tuple[int, int]] = field(default_factory=set)  # (batch, set)
    verified: set[str] = field(default_factory=set)  # path ids
    bad: dict[str, dict[str, str]] = field(default_factory=dict)  # path id → phase → status


@dataclass
class Records:
    """A run's records, those of restarted sets already forgotten; every list in the order of the file."""

    run: RunRecord = field(default_factory=RunRecord)
    paths: dict[str, kinds.PathRecord] = field(default_factory=dict)
    sources: dict[str, str] = field(default_factory=dict)  # text of adapters by file
    dropped: list[kinds.DroppedRecord] = field(default_factory=list)
    sets: dict[tuple[int, int], kinds.SetRecord] = field(default_factory=dict)  # by (set, batch)
    in_sets: list[InSet] = field(default_factory=list)
    in_stages: list[InStage] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    probe: list[kinds.ProbeRecord] = field(default_factory=list)
    sizing: list[kinds.SizingRecord] = field(default_factory=list)
    explanations: dict[tuple[str, str], Explanation] = field(default_factory=dict)  # by path's name and phase, the last
    sync_costs: dict[str, kinds.SyncCostRecord] = field(default_factory=dict)  # by host (empty: this machine), the last
    hosts: dict[str, kinds.HostRecord] = field(default_factory=dict)  # by name
    clocks: list[kinds.ClockRecord] = field(default_factory=list)
    ways: list[kinds.WayRecord] = field(default_factory=list)
    links: dict[tuple[str, str], kinds.LinkRecord] = field(default_factory=dict)  # by link and placement, the last
    done: Done = field(default_factory=Done)
    outcome: str = ""  # empty: killed, or still running
    resumed: int = 0
    skipped_lines: int = 0  # complete lines that are no record of this format
    _open_batches: dict[int, int] = field(default_factory=dict)  # by set: the batch whose records follow
    _by_kind: dict[type[Record], list[Any]] = field(default_factory=dict)
    _workers: dict[str, WorkerRecord] = field(default_factory=dict)  # the last of each path

    @property
    def of_own_database(self) -> bool:
        """Whether a user's database was probed or sized: no other run can repeat it, and no password was kept."""
        return bool(self.probe or self.sizing)

    def all(self, kind: type[Kind]) -> list[Kind]:
        """The records of one type, in order."""
        if not self._by_kind:
            for record in (*self.in_sets, *self.in_stages):
                self._by_kind.setdefault(type(record), []).append(record)
        return self._by_kind.get(kind, [])

    def take(self, record: Record) -> None:
        """Add a record as it is read or written; one of a set that names no batch gets that of the open one."""
        self._by_kind.clear()
        if isinstance(record, (InSet, InStage)):  # of every block, and a union takes longer
            if record.batch is None:
                record.batch = self._open_batches.get(record.set, 0)
            if isinstance(record, kinds.FactsRecord):
                if worker := self._workers.get(record.path_id):
                    worker.facts = record.facts
            elif isinstance(record, InSet):
                self.in_sets.append(record)
                if isinstance(record, WorkerRecord):
                    self._workers[record.path_id] = record
            else:
                self.in_stages.append(record)
        elif isinstance(record, kinds.SetRecord):
            if (record.set, record.batch) in self.sets:
                self._forget(record.set, record.batch)
            self.sets[record.set, record.batch] = record
            self._open_batches[record.set] = record.batch
        elif isinstance(record, kinds.SetEndRecord):
            self.done.sets.add((record.batch, record.set))
        elif isinstance(record, kinds.VerifiedRecord):
            self.done.verified.add(record.path_id)
            self.done.bad[record.path_id] = record.bad
        elif isinstance(record, RunRecord):
            self.run = record
        elif isinstance(record, kinds.SourceRecord):
            self.sources[record.file] = record.text
        elif isinstance(record, kinds.NoteRecord):
            self.notes.append(record.text)
        elif isinstance(record, kinds.ExplanationRecord):
            self.explanations[record.explanation.name, record.explanation.phase] = record.explanation
        elif isinstance(record, kinds.ResumedRecord):
            self.resumed += 1
            self.outcome = ""
        elif isinstance(record, kinds.EndRecord):
            self.outcome = record.outcome
        elif keyed := KEYED.get(type(record)):
            field_name, key = keyed
            getattr(self, field_name)[key(record)] = record
        elif field_name := LISTED.get(type(record), ""):
            getattr(self, field_name).append(record)

    def _forget(self, *key: int) -> None:
        self.in_sets = [record for record in self.in_sets if (record.set, record.batch) != key]
        self.in_stages = [record for record in self.in_stages if (record.set, record.batch) != key]
        self._workers = {record.path_id: record for record in self.in_sets if isinstance(record, WorkerRecord)}

    def numbered(self) -> Records:
        """The records with one number for each set of each batch: an anchor stands in sets of several batches."""
        batches = 1 + max((batch for _number, batch in self.sets), default=0)
        if batches == 1:
            return self

        def number(record: InSet) -> InSet:
            own = record.set * batches + (record.batch or 0)
            return msgspec.structs.replace(record, set=own) if record.set >= 0 else record

        sets = {(number * batches + batch, batch): record for (number, batch), record in self.sets.items()}
        return replace(self, in_sets=[number(record) for record in self.in_sets], sets=sets, _by_kind={})


def read(run_directory: Path) -> Records:
    """The journal of a run directory; UsageError when there is none, InternalError when another version wrote it."""
    return read_as_written(run_directory).numbered()


def read_as_written(run_directory: Path) -> Records:
    """The journal with the file's own numbers of sets: what a resumed run adds its records to."""
    file = run_directory / FILE
    records = Records()
    begun, hint = False, "rowpath show DIR, with the directory of a run"
    try:
        for record in _records(file):
            if record is None:
                records.skipped_lines += 1
            elif not (begun and isinstance(record, RunRecord)):  # one head for each file: the first one
                begun = True
                records.take(record)
    except OSError as error:
        raise UsageError(f"cannot read {file}: {error.strerror}", hint) from error
    if not begun:
        raise UsageError(f"{file} is not a run directory", hint)
    return records


def _records(file: Path) -> Iterator[Record | None]:
    """Every line's record; None of one that is none. A last line without an end was cut by a kill: left out."""
    decode = msgspec.json.Decoder(kinds.AnyRecord).decode
    begun = False
    with file.open("rb") as stream:
        for line in stream:
            if not line.strip():
                continue
            try:
                if begun:
                    yield decode(line)
                elif (head := msgspec.json.decode(line, type=dict[str, Any])).get("record") == "run":
                    begun = True
                    yield _run_record(file, head)
            except (msgspec.DecodeError, UnicodeDecodeError):
                if line.endswith(b"\n"):
                    yield None


def _run_record(file: Path, body: dict[str, Any]) -> RunRecord:
    """The head; what a later Rowpath of the same version added to experiments and workloads is left out."""
    again = "read it with the Rowpath that wrote it"
    if (version := body.get("schema_version", 0)) != kinds.SCHEMA_VERSION:
        raise InternalError(
            f"{file} has schema version {version}; this Rowpath reads version {kinds.SCHEMA_VERSION}", again
        )
    for key, kind in (("experiment", Experiment), ("workloads", dict[str, Workload])):
        for location, _key, _right in unknown_keys(body.get(key, {}), kind, ()):
            inner: Any = body[key]
            for step in location[:-1]:
                inner = inner[step]
            del inner[location[-1]]
    try:
        return msgspec.convert(body, RunRecord)
    except msgspec.ValidationError as error:
        raise InternalError(f"{file}: invalid head of a run: {error}", again) from error
