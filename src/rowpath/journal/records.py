"""The records of a journal, written and read: one type for each kind of line."""

from __future__ import annotations

import functools
import operator
from typing import Any, ClassVar

import msgspec
from typing_extensions import override

from rowpath.journal.mixed_load_records import MIXED_LOAD_RECORDS
from rowpath.journal.record_base import InSet, InStage, OperationFailure, Record
from rowpath.model.core_user import CoreUser
from rowpath.model.experiment import Experiment
from rowpath.model.explanation import Explanation
from rowpath.model.path import WithCoordinates
from rowpath.model.probe import DigestGroup, ParameterTypes, Snippet, TriedPath
from rowpath.model.sizing import SizeBlock, SizingQuestion, SizingStop
from rowpath.model.workload import Phase, PhaseName, Workload
from rowpath.text import printable

SCHEMA_VERSION = 3


UNNAMED = Experiment(1, "", "", (), ())
# Of records without `language_title` and `language_baseline`: what these languages had for them.
TITLES = {"csharp": "C#"}
BASELINE = "c"


class RunRecord(Record, tag="run"):
    schema_version: int = SCHEMA_VERSION
    rowpath: str = ""
    started: str = ""
    command: list[str] = []
    experiment: Experiment = UNNAMED
    workloads: dict[str, Workload] = {}
    options: dict[str, Any] = {}
    seed: int = 0
    environment: dict[str, Any] = {}
    methods: dict[str, str] = {}  # by resource: how it is measured here, or why it is not

    def phase(self, workload: str, name: str) -> Phase | None:
        """A phase as its workload defines it; None when the journal does not say."""
        known = self.workloads.get(workload)
        return next((phase for phase in known.phases if phase.name == name), None) if known else None


class PathRecord(WithCoordinates, Record, tag="path"):
    path_id: str
    name: str
    coordinates: dict[str, str]
    comparison: str = ""
    lines_of_code: int = 0
    lines_of_code_closure: int = 0
    user_lines: dict[str, tuple[int, int]] = {}  # of a layer, by phase: the lines of the operation and of its mapping
    confounded: str = ""
    stands_in: str = ""  # what is measured of a program that stands in for an engine; empty: a real engine
    converted: str = ""
    shortest_operation_ns: float = 0  # shorter ones cannot be timed one by one at under 2 %; 0: not known
    lead_in_least_ns: int = 0  # requested instead of a shorter lead-in of the experiment
    durabilities: list[str] = []  # that its engine offers; empty: not known
    driver_digest: str = ""  # SHA-256 of a driver whose version is a file or folder; empty: a release
    source: str = ""  # the adapter's own file; empty: an external one
    server_stays: bool = False  # one server process works for all sets, unless the run restarts servers
    most_round_trips: int = 0  # that its manifest entry declares of at most one row; 0: what the statement mode means
    language_title: str = ""  # the language as people write it; empty: not known
    language_baseline: bool | None = None  # whether the verdict compares other languages with this one

    @property
    def language_as_written(self) -> str:
        """The language as people write it."""
        return self.language_title or TITLES.get(self.language, self.language.capitalize())

    @property
    def in_baseline(self) -> bool:
        """Whether the verdict compares other languages with the path's."""
        known = self.language_baseline
        return self.language == BASELINE if known is None else known

    @override
    def get(self, key: str) -> str:
        """A coordinate; `none` where it has none."""
        return self.coordinates.get(key, "none")


class SourceRecord(Record, tag="source"):
    """The text of an adapter's own file, as it was measured."""

    file: str
    text: str


class DroppedRecord(Record, tag="dropped"):
    coordinates: dict[str, str]
    name: str = ""
    reason: str = ""
    remedy: str = ""
    status: str = "unsupported"


class SetRecord(Record, tag="set"):
    set: int
    batch: int = 0
    path_ids: list[str] = []
    anchors: list[str] = []


class WorkerRecord(InSet, tag="worker"):
    foreign_fields: ClassVar[tuple[str, ...]] = ("facts",)

    pid: int = 0
    hello: dict[str, Any] = {}
    connect_ns: float | None = None
    facts: dict[str, Any] = {}
    started_ns: int = 0


class FactsRecord(InSet, tag="facts"):
    foreign_fields: ClassVar[tuple[str, ...]] = ("facts",)

    facts: dict[str, Any] = {}


class VerifiedRecord(Record, tag="verified"):
    """The verification pass of a path is done."""

    path_id: str = ""
    bad: dict[str, str] = {}  # phases that must not be measured, each with its status; empty name: the whole path


class SetEndRecord(Record, tag="set-end"):
    set: int = 0
    batch: int = 0


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
    failure: OperationFailure | None = None
    first: int = 0
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
    borrow_ns: int = 0  # sums over the block's successful operations: until a pool lent a connection,
    return_ns: int = 0  # and until it had it back
    collector_ns: int = 0
    collections: int = 0
    bytes: int = 0  # that a floor took
    clients: list[dict[str, int]] = []  # with several clients: what each of them did
    client_cpu_ns: float | None = None
    server_cpu_ns: float | None = None
    pooler_cpu_ns: float | None = None  # of the pooler between client and server, on the server's cores
    # Of client_cpu_ns: of a runtime's helper threads, on spare cores beside the window.
    client_helpers_cpu_ns: float = 0
    server_helpers_cpu_ns: float = 0
    wait_ns: float | None = None
    cpu_coverage: float | None = None  # share of the window that client and server CPU account for
    disturbed: str = ""
    core_users: list[CoreUser] = []  # who else had the measured cores, of a disturbed sample
    own_wait_ns: float = 0  # in which the path waited (timer, network, disk) and its core was idle
    touch: str = ""
    touch_ok: bool | None = None
    expected_touch: list[str] | None = None  # several where a block may begin anywhere

    @property
    def client_core_ns(self) -> float | None:
        """CPU time of the client on the measured cores."""
        return None if self.client_cpu_ns is None else self.client_cpu_ns - self.client_helpers_cpu_ns

    @property
    def server_core_ns(self) -> float | None:
        """CPU time of the server on the measured cores."""
        return None if self.server_cpu_ns is None else self.server_cpu_ns - self.server_helpers_cpu_ns

    @property
    def beside_client_ns(self) -> float:
        """CPU time of server and pooler, as far as it is known."""
        return (self.server_cpu_ns or 0.0) + (self.pooler_cpu_ns or 0.0)

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
    settled: bool | None = None  # ended on a level, compilers at rest; None: not known


class VerifyRecord(InSet, tag="verify"):
    digest: str = ""
    expected: str | None = None
    ok: bool | None = None
    rows: int = 0
    expected_rows: int | None = None  # of a retrieval in parts
    delivered: list[str] = []
    converted: list[str] = []


class PoolerRecord(InSet, tag="pooler"):
    """A path's pooler, and what two clients of the path met behind it; None where it could not be tried."""

    foreign_fields: ClassVar[tuple[str, ...]] = ("statement_text", "cancel_text")

    pooler: str = ""
    version: str = ""
    statement_stays: bool | None = None  # it goes on working while another client has its server connection
    statement_kind: str = ""  # of the error where it does not
    statement_code: str = ""
    statement_text: str = ""
    unprepared: str = ""  # the driver's setting with which it prepares nothing; empty: its manifest names none
    set_stays: bool | None = None  # for the client that executed it
    set_leaks: bool | None = None  # to the other client
    cancel_heard: bool | None = None
    cancel_text: str = ""


class MemoryRecord(InSet, tag="memory"):
    client_peak_bytes: float | None = None
    server_peak_bytes: float | None = None
    method: str | dict[str, str] = ""


class SettleRecord(InSet, tag="settle"):
    ns: int = 0
    bytes_written: int | None = None
    method: str = ""


class OperationShape(msgspec.Struct):
    """What one operation delivers, on average over a round of its phase's parameters."""

    rows: float
    values: float
    payload_bytes: float  # of the values only: a lower bound in any encoding


class CountedRecord(InSet, tag="counted"):
    """Counts of one untimed pass: totals over `operations`."""

    operations: int = 0
    round_trips: float | None = None
    statements: float | None = None  # executed, BEGIN and COMMIT too
    sql: tuple[str, ...] = ()  # of those, the texts of one operation
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
    no_delay: bool | None = None  # whether the client's connections have TCP_NODELAY
    shape: OperationShape | None = None  # of a query
    method: str | dict[str, str] = ""

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
    """What one sync costs on the disk of the run's directory on a host, measured once."""

    ns: float = 0
    syncs: int = 0
    method: str = ""
    host: str = ""  # empty: this machine


class LinkRecord(Record, tag="link"):
    """An emulated link as it was measured; times are of one round trip, `direct_ns` is without it.

    `round_trip_ns` is the median over blocks, `low_ns` and `high_ns` their 10th and 90th percentile. The rate is from
    client to server and `rate_back_bytes_per_s` from server to client, in bytes that the ends see.
    """

    link: str = ""
    placement: str = ""
    stated_ns: float = 0
    direct_ns: float = 0
    round_trip_ns: float = 0
    low_ns: float = 0
    high_ns: float = 0
    rate_bytes_per_s: float = 0
    rate_back_bytes_per_s: float = 0  # 0: not measured
    stated_bytes_per_s: float = 0  # 0: as fast as it can
    early_ns: int = 0  # so much earlier than stated it hands on each way, because waking up adds to it
    cpu: int = 0
    method: str = ""


class FailureRecord(InSet, tag="failure"):
    status: str = "failed"
    kind: str = ""
    code: str = ""
    text: str = ""

    @classmethod
    def of(
        cls, set_number: int, path_id: str, phase: str, kind: str, text: str, *, code: str = "", status: str = ""
    ) -> FailureRecord:
        """A failure in `workload.phase` (empty: of the whole path); without `status` unsupported or failed."""
        status = status or ("unsupported" if kind == "unsupported" else "failed")
        return cls(set_number, None, path_id, *PhaseName.of(phase), status, kind, code, printable(text))


class NoteRecord(Record, tag="note"):
    text: str = ""


class ProbeRecord(Record, tag="probe"):
    """One thing that a probe found beside its samples: one of the fields is there."""

    tried: TriedPath | None = None
    digest_group: DigestGroup | None = None
    caveat: str = ""  # what cannot be known
    not_compared: str = ""  # which columns of the result, by name and type
    snippet: Snippet | None = None
    parameter_types: ParameterTypes | None = None


class SizingRecord(Record, tag="sizing"):
    """One thing of a search for a number of connections: one of the fields is there."""

    question: SizingQuestion | None = None
    block: SizeBlock | None = None
    stopped: SizingStop | None = None
    caveat: str = ""  # what cannot be known


class ExplanationRecord(Record, tag="explanation"):
    explanation: Explanation


class ResumedRecord(Record, tag="resumed"):
    started: str = ""


class EndRecord(Record, tag="end"):
    outcome: str = ""


class HostRecord(Record, tag="host"):
    """One host as it was found before the run."""

    name: str = ""
    address: str = ""
    roles: list[str] = []
    measured_cpus: list[int] = []
    helper_cpus: list[int] = []  # of all that is not measured there
    mtu: int = 0  # of the interface, in bytes; 0: not known
    environment: dict[str, Any] = {}
    note: str = ""  # what shares cores with what is measured; empty: nothing
    methods: dict[str, str] = {}  # by resource, as those of a run


class ClockRecord(Record, tag="clock"):
    """A host's monotonic clock less the controller's; the truth lies within the bound."""

    host: str = ""
    when: str = ""  # before, after
    offset_ns: int = 0
    bound_ns: int = 0
    method: str = ""


class WayRoundTrip(msgspec.Struct):
    """Round trips with an answer of this many bytes: 10th percentile, median, 90th percentile."""

    bytes: int
    trips: int
    low_ns: int
    median_ns: int
    high_ns: int


class WayRecord(Record, tag="way"):
    """The way from a client's host to a server's: the floor of every path between them."""

    client: str = ""
    server: str = ""
    when: str = ""
    offset_ns: int = 0  # the server's clock less the client's
    bound_ns: int = 0
    round_trips: list[WayRoundTrip] = []
    to_server_bytes_per_s: float = 0
    from_server_bytes_per_s: float = 0
    method: str = ""


# Every type of a record: those that are the base of no other.
_KINDS = {*Record.__subclasses__(), *InSet.__subclasses__(), *MIXED_LOAD_RECORDS} - {InSet, InStage}
AnyRecord: Any = functools.reduce(operator.or_, _KINDS)
