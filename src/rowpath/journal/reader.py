"""Reading `samples.jsonl` back, line by line; docs/journal.md is the format."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from rowpath.errors import InternalError, UsageError
from rowpath.journal.mixed_load_records import AnyGroupsRecord
from rowpath.journal.record_base import InSet, InStretch, Record
from rowpath.model.workload import SCHEMA_VERSION

FILE = "samples.jsonl"


class RunRecord(Record, tag="run"):
    schema_version: int
    rowpath: str = ""
    started: str = ""
    command: list[str] = []
    experiment: dict[str, Any] = {}
    workloads: dict[str, Any] = {}
    options: dict[str, Any] = {}
    seed: int = 0
    environment: dict[str, Any] = {}
    means: dict[str, Any] = {}


class PathRecord(Record, tag="path"):
    path_id: str
    name: str
    coordinates: dict[str, str]
    comparison: str = ""
    lines_of_code: int = 0
    confounded: str = ""
    converted: str = ""


class DroppedRecord(Record, tag="dropped"):
    coordinates: dict[str, str]
    name: str = ""
    reason: str = ""
    remedy: str = ""
    status: str = "unsupported"


class SetRecord(Record, tag="set"):
    set: int
    group: int = 0
    path_ids: list[str] = []
    anchors: list[str] = []


class InvocationRecord(InSet, tag="invocation"):
    pid: int = 0
    hello: dict[str, Any] = {}
    connect_ns: float | None = None
    facts: dict[str, Any] = {}
    started_ns: int = 0


class FactsRecord(InSet, tag="facts"):
    facts: dict[str, Any] = {}


class ProvenRecord(Record, tag="proven"):
    path_id: str = ""


class SetEndRecord(Record, tag="set-end"):
    set: int = 0
    group: int = 0


class PrepareRecord(InSet, tag="prepare"):
    prepare_ns: float = 0
    cold: bool = False


class SampleRecord(InSet, tag="sample"):
    regime: str = "steady"
    round: int | None = None
    at_ns: int = 0
    ns: int = 0
    operations: int = 0
    failed: int = 0
    failure: dict[str, Any] | None = None
    rows: int = 0
    values: int = 0
    lead_in_operations: int = 0
    window_ns: int = 0
    window_cpu_ns: int = 0
    cpu_ns: int = 0
    min_ns: int = 0
    max_ns: int = 0
    execute_ns: int = 0
    first_row_ns: int = 0
    connect_ns: int = 0
    collector_ns: int = 0
    collections: int = 0
    bytes: int = 0  # that a floor took
    clients: list[dict[str, int]] = []  # with several clients: what each of them did
    client_cpu_ns: float | None = None
    server_cpu_ns: float | None = None
    wait_ns: float | None = None
    truth: float | None = None
    disturbed: str = ""
    touch: str = ""
    touch_ok: bool | None = None
    expected_touch: list[str] | None = None  # several where a block may begin anywhere

    @property
    def in_window(self) -> int:
        """Operations of the whole window: lead-in, block and failed ones."""
        return self.operations + self.lead_in_operations + self.failed


class WarmRecord(InSet, tag="warm"):
    operations: int = 0
    ns: int = 0
    shape: str = ""
    first_block_ns_per_operation: float | None = None
    last_block_ns_per_operation: float | None = None


class VerifyRecord(InSet, tag="verify"):
    digest: str = ""
    expected: str | None = None
    ok: bool | None = None
    rows: int = 0
    expected_rows: int | None = None  # of a retrieval in parts
    delivered: list[str] = []
    converted: list[str] = []


class MemoryRecord(InSet, tag="memory"):
    client_peak_bytes: float | None = None
    server_peak_bytes: float | None = None
    means: str | dict[str, Any] = ""


class SettleRecord(InSet, tag="settle"):
    ns: int = 0
    bytes_written: int | None = None
    means: str = ""


class ProofRecord(InSet, tag="proof"):
    """Counts of one untimed pass: totals over `operations`."""

    operations: int = 0
    round_trips: float | None = None
    connections: float | None = None  # opened
    greetings: float | None = None  # of those, on which the server spoke first
    bytes_sent: float | None = None
    bytes_received: float | None = None
    commits: float | None = None
    syncs: float | None = None
    texts_sent: float | None = None
    prepares: float | None = None
    executes: float | None = None
    system_calls: float | None = None
    payload_bytes: float | None = None
    means: str | dict[str, Any] = ""

    def each(self, name: str) -> float | None:
        """A count per operation; None when it is not known."""
        total: float | None = getattr(self, name)
        return None if total is None or self.operations <= 0 else total / self.operations


class NoiseRecord(InSet, tag="noise"):
    when: str = ""
    pressure_some_us: float | None = None
    steal_ticks: float | None = None
    spin_gap_max_ns: float | None = None
    spin_gap_share: float | None = None


class SyncCostRecord(Record, tag="sync-cost"):
    """What one sync costs on the disk of the run's directory, measured once."""

    ns: float = 0
    syncs: int = 0
    means: str = ""


class LinkRecord(Record, tag="link"):
    """An emulated link as it was measured; times are of one round trip, `direct_ns` is without it."""

    link: str = ""
    placement: str = ""
    stated_ns: float = 0
    direct_ns: float = 0
    round_trip_ns: float = 0
    low_ns: float = 0
    high_ns: float = 0
    rate_bytes_per_s: float = 0
    cpu: int = 0
    means: str = ""


class FailureRecord(InSet, tag="failure"):
    status: str = "failed"
    kind: str = ""
    code: str = ""
    text: str = ""


class NoteRecord(Record, tag="note"):
    text: str = ""


class ProbeRecord(Record, tag="probe"):
    what: str = ""  # `tried`, `group`, `limit`, `snippet`, `round`
    body: dict[str, Any] = {}


class ResumedRecord(Record, tag="resumed"):
    started: str = ""


class EndRecord(Record, tag="end"):
    outcome: str = ""


AnyRecord = (
    RunRecord
    | PathRecord
    | DroppedRecord
    | SetRecord
    | InvocationRecord
    | FactsRecord
    | ProvenRecord
    | SetEndRecord
    | PrepareRecord
    | SampleRecord
    | WarmRecord
    | VerifyRecord
    | MemoryRecord
    | SettleRecord
    | ProofRecord
    | NoiseRecord
    | SyncCostRecord
    | LinkRecord
    | FailureRecord
    | NoteRecord
    | ProbeRecord
    | ResumedRecord
    | EndRecord
    | AnyGroupsRecord
)


@dataclass
class Journal:
    """A run's records, those of restarted sets already forgotten; every list in the order of the file."""

    run: RunRecord
    paths: dict[str, PathRecord] = field(default_factory=dict)
    dropped: list[DroppedRecord] = field(default_factory=list)
    sets: dict[tuple[int, int], SetRecord] = field(default_factory=dict)  # by (set, group)
    in_sets: list[InSet] = field(default_factory=list)
    in_stretches: list[InStretch] = field(default_factory=list)
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
            for record in (*self.in_sets, *self.in_stretches):
                self._by_kind.setdefault(type(record), []).append(record)
        return self._by_kind.get(kind, [])


def read(run_directory: Path) -> Journal:
    """The journal of a run directory; UsageError when there is none, InternalError when another version wrote it."""
    file = run_directory / FILE
    journal: Journal | None = None
    skipped = 0
    try:
        for record in _records(file):
            if record is None:
                skipped += 1
            elif isinstance(record, RunRecord):
                _check_version(file, record)
                journal = journal or Journal(record)
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


def _take(journal: Journal, record: Any) -> None:
    if isinstance(record, FactsRecord):
        for invocation in reversed(journal.in_sets):
            if isinstance(invocation, InvocationRecord) and invocation.path_id == record.path_id:
                invocation.facts = record.facts
                break
    elif isinstance(record, InSet):
        record.phase = record.phase.removeprefix(f"{record.workload}.")
        record.group = record.group if record.group is not None else journal.open_groups.get(record.set, 0)
        journal.in_sets.append(record)
    elif isinstance(record, InStretch):
        record.set_group = journal.open_groups.get(record.set, 0)
        journal.in_stretches.append(record)
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


def _forget(journal: Journal, restarted: SetRecord) -> None:
    key = restarted.set, restarted.group
    journal.in_sets = [record for record in journal.in_sets if (record.set, record.group) != key]
    journal.in_stretches = [each for each in journal.in_stretches if (each.set, each.set_group) != key]


def _number_through(journal: Journal) -> None:
    """Give every set of every group a number of its own: an anchor stands once in the sets of several groups."""
    groups = 1 + max((group for _number, group in journal.sets), default=0)
    for record in journal.in_sets:
        if record.set >= 0:
            record.set = record.set * groups + (record.group or 0)
    journal.sets = {(number * groups + group, group): record for (number, group), record in journal.sets.items()}
