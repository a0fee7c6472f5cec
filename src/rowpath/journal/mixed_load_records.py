"""The journal's records of client groups at work at once; docs/journal.md is the format."""

from __future__ import annotations

from typing import Literal

import msgspec

from rowpath.journal.record_base import InStage, OperationFailure
from rowpath.model.workload import PhaseName


class HostShare(msgspec.Struct):
    """What one host did of a client group in a stage."""

    host: str
    clients: int
    operations: int = 0
    failed: int = 0
    lost: str = ""  # why the host is lost; its counts are those of the last look


class HostStart(msgspec.Struct):
    """How one host began a client group; the host's clock less the controller's before and after the stage."""

    host: str
    client_group: str
    lead_ns: int = 0  # left when the host knew the instant; negative: it was over
    late_ns: int | None = None  # from the instant to the first client at work, by the host's clock; None: none was
    offset_ns: int = 0
    bound_ns: int = 0
    offset_after_ns: int | None = None  # None: the host was lost
    bound_after_ns: int | None = None


class AtWork(msgspec.Struct):
    """One client group of a stage, and what was requested of it."""

    client_group: str
    phase: str = ""
    action: str = ""
    clients: int = 1
    pacing: Literal["closed", "fixed", "poisson"] = "closed"
    rate_per_s: float | None = None
    dispatch: Literal["own", "shared"] = "own"
    population: int = 0
    process: str | int | None = None
    hosts: dict[str, int] = {}  # clients by host; empty: this machine


class StageRecord(InStage, tag="stage"):
    """A stage begins."""

    at_ns: int = 0
    seconds: float = 0.0
    client_groups: list[AtWork] = []


class HostsStartRecord(InStage, tag="hosts-start"):
    """How the hosts of a stage began together."""

    starts: list[HostStart] = []


class GroupSecond(msgspec.Struct):
    """What a group did in one interval; durations are latencies where operations are due, else service times."""

    operations: int = 0
    failed: int = 0
    rows: int = 0
    arrivals: int = 0
    mean_ns: float | None = None
    p50_ns: int | None = None
    p99_ns: int | None = None
    most_ns: int | None = None
    under_way_ns: int = 0


class ProcessSecond(msgspec.Struct):
    """What a process used in one interval; memory (its own, of files, shared) is what it held at its end."""

    cpu_ns: float | None = None
    memory_bytes: float | None = None
    file_bytes: float | None = None
    shared_bytes: float | None = None
    read_bytes: float | None = None
    written_bytes: float | None = None


class ConnectionsSecond(msgspec.Struct):
    """What our connections carried in one interval, payload only."""

    sent_bytes: float = 0
    received_bytes: float = 0


class SecondRecord(InStage, tag="second"):
    """One interval of a stage, usually a second."""

    at_ns: int = 0  # its end
    ns: int = 0
    client_groups: dict[str, GroupSecond] = {}
    processes: dict[str, ProcessSecond] = {}
    connections: ConnectionsSecond | None = None


class CountedFailure(OperationFailure):
    """Operations that failed in one way; the text is the first one's."""

    count: int = 0


class ClientGroupRecord(InStage, tag="client-group"):
    """The totals of one client group in one stage."""

    client_group: str = ""
    phase: str = ""  # workload.phase
    clients: int = 1
    pacing: Literal["closed", "fixed", "poisson"] = "closed"
    requested_per_s: float | None = None  # open loop
    dispatch: Literal["own", "shared"] = "own"
    population: int = 0
    begun_ns: int = 0
    ended_ns: int = 0
    operations: int = 0
    failed: int = 0
    failures: list[CountedFailure] = []
    rows: int = 0
    values: int | None = None  # None: the runner was lost
    touch_ok: bool | None = None
    service: dict[str, int] = {}
    latency: dict[str, int] = {}
    lateness: dict[str, int] = {}
    arrivals: int = 0
    not_begun: int = 0
    reached: bool = True
    cpu_ns: float | None = None
    longest_stall_ns: int = 0
    blocked_ns: int = 0  # the longest time an event loop of its clients was blocked; 0: none is watched
    borrow_ns: int = 0  # of successful operations, from a pool; 0: there is none
    return_ns: int = 0
    cut: bool = False
    hosts: list[HostShare] = []  # empty: this machine

    @property
    def where(self) -> tuple[str, str, str]:
        """(path id, workload, phase)."""
        return self.path_id, *PhaseName.of(self.phase)

    @property
    def rate_per_s(self) -> float | None:
        """Successful operations per second of its own time; None when it did nothing."""
        elapsed = self.ended_ns - self.begun_ns
        return self.operations * 1e9 / elapsed if self.operations and elapsed > 0 else None


class Inside(msgspec.Struct):
    """What a group did within a backup's span."""

    ns: int = 0
    operations: int = 0


class BackupCheck(msgspec.Struct):
    """What the restored backup held."""

    tables: int = 0  # loaded ones, the ledger included
    rows: int = 0
    writes: int = 0  # acknowledged when the backup began
    lost: int = 0
    doubled: int = 0


class BackupRecord(InStage, tag="backup"):
    """One backup, and what became of restoring it."""

    client_group: str = ""
    number: int = 0
    way: str = ""
    begun_ns: int = 0
    ended_ns: int = 0
    ok: bool = False
    stopped: bool = False  # ended with its engine, killed on purpose, or with the run: neither made nor failed
    reason: str = ""
    kept_bytes: int | None = None
    inside: dict[str, Inside] = {}
    restored: bool | None = None
    checked: BackupCheck | None = None


class KillRecord(InStage, tag="kill"):
    """The engine's process killed in the middle of a stage."""

    at_ns: int = 0
    pids: list[int] = []
    recovery_ns: int | None = None
    reason: str = ""


class AcknowledgedRecord(InStage, tag="acknowledged"):
    """Whether the acknowledged writes were there."""

    when: Literal["end", "kill", "backup"] = "end"
    rows: int = 0  # read
    writes: int = 0  # acknowledged, and looked for
    lost: int = 0
    doubled: int = 0  # in the table more often than requested
    in_doubt: int = 0
    digest: str = ""  # of the whole table
    ok: bool = True
    reason: str = ""


class DirectoryCopyRecord(InStage, tag="directory-copy"):
    """A database directory copied, and what was found in the copy."""

    source: str = ""
    target: str = ""
    bytes: int = 0
    ns: int = 0
    digest: str = ""
    expected: str = ""
    ok: bool = False
    reason: str = ""


class RateTryRecord(InStage, tag="rate-try"):
    """One rate of a rate search."""

    client_group: str = ""
    rate_per_s: float = 0.0
    seconds: float = 0.0
    reached: bool = False
    p50_ns: int | None = None
    p99_ns: int | None = None
    p999_ns: int | None = None
    bound_ns: int = 0

    @property
    def held(self) -> bool:
        """Whether that rate was reached with its 99th percentile under the bound."""
        return self.reached and self.p99_ns is not None and self.p99_ns <= self.bound_ns


MIXED_LOAD_RECORDS = InStage.__subclasses__()
