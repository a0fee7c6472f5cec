"""The runner protocol's messages, from which the JSON Schema is generated; runners/PROTOCOL.md explains them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal

import msgspec

from rowpath.model.base import described
from rowpath.model.workload import ColumnSpec

PROTOCOL = (3, 0)
CODEC = 2
REQUIREMENTS = ("touch", "digest")
REQUEST_LIMIT_BYTES, REPLY_LIMIT_BYTES = 16 << 20, 1 << 20
VERIFIED_ROWS = 200_000  # of those delivered, this many are in the digest

ErrorKind = Literal["connect", "sql", "unsupported", "verify", "timeout", "internal"]


class Message(msgspec.Struct):
    """Base of all messages: unknown fields are ignored."""


class ErrorBody(Message):
    kind: ErrorKind
    code: str = ""
    text: str = ""


class PhaseSpec(Message):
    name: str
    kind: str
    sql: str = ""
    table: str = ""
    scan: bool = False
    columns: Sequence[ColumnSpec] = ()
    parameter_columns: Sequence[ColumnSpec] = ()
    transaction: str = "autocommit"
    stamps: bool = False
    rows_per_operation: int = 1
    way: str = ""
    access: str = ""
    table_columns: Sequence[ColumnSpec] = ()
    key_columns: Sequence[str] = ()


class ParameterSlice(Message):
    file: str
    first: int
    count: int


class Request(Message, tag_field="type"):
    """Base of the controller's requests, by `type`; the reply is due within the deadline."""

    id: int
    deadline_ms: int


class Hello(Request, tag="hello"):
    protocol: tuple[int, int]
    codec: int
    requires: list[str]
    adapter: str


class Open(Request, tag="open"):
    options: dict[str, Any]


class Prepare(Request, tag="prepare"):
    phase: PhaseSpec
    parameters: ParameterSlice | None = None


class Sample(Request, tag="sample"):
    phase: str
    regime: str
    lead_in_ns: int
    duration_ns: int
    operations: int = 0
    first: int = -1


class Verify(Request, tag="verify"):
    phase: str
    first: int
    count: int
    max_rows: int = VERIFIED_ROWS
    keep: str = ""


class GroupSpec(Message):
    """One client group of a `client-groups` request; offsets are bytes in the shared counters."""

    name: str
    phase: str
    first_client: int
    clients: int
    pacing: str
    control: int
    slots: int
    slot_bytes: int
    rate_per_s: float = 0.0
    seed: int = 0
    operations: int = 0
    pause_ns: int = 0
    spin_ns: int = 0
    acknowledged: int = 0
    dispatch: str = "own"
    population: int = 0


class ClientGroups(Request, tag="client-groups"):
    shared_counters: str
    client_groups: list[GroupSpec]


class ClientGroupsEnd(Request, tag="client-groups-end"):
    pass


class RunStatements(Request, tag="run"):
    statements: list[str]
    ignore_errors: bool = False
    every_client: bool = False


class Load(Request, tag="load"):
    phase: str
    first: int
    count: int


class Interrupt(Request, tag="interrupt"):
    kind: str
    sql: str
    after_ms: int
    most_ms: int


class Describe(Request, tag="describe"):
    sql: str


class Facts(Request, tag="facts"):
    pass


class Close(Request, tag="close"):
    pass


class Bye(Request, tag="bye"):
    pass


class Reply(Message):
    id: int
    error: ErrorBody | None = None


def foreign_texts(reply: Reply) -> Iterator[ErrorBody | InterruptReply]:
    """What holds, as `text`, a driver's words in a reply that is no error."""
    if isinstance(reply, SampleReply) and reply.failure is not None:
        yield reply.failure
    elif isinstance(reply, ClientGroupsEndReply):
        yield from (failure for group in reply.client_groups for failure in group.failures)
    elif isinstance(reply, InterruptReply):
        yield reply


def body(reply: Reply) -> dict[str, Any]:
    """A reply without the fields that every reply has."""
    return {key: value for key, value in msgspec.to_builtins(reply).items() if key not in Reply.__struct_fields__}


class HelloReply(Reply, kw_only=True):
    protocol: tuple[int, int]
    codec: int
    language: str
    runner: str
    adapter: str
    pid: int
    loop_tid: int
    clock_read_ns: float


class OpenReply(Reply, kw_only=True):
    connect_ns: int
    server_pid: int | None = None
    delivers: dict[str, Any] = {}


class PrepareReply(Reply, kw_only=True):
    prepare_ns: int
    parameters: int = 0


class ClientSample(Message):
    """What one of several clients did in a sample."""

    first: int
    operations: int
    failed: int
    lead_in_operations: int
    rows: int
    ns: int
    cpu_ns: int
    min_ns: int
    max_ns: int


class SampleReply(Reply, kw_only=True):
    ns: int
    operations: int
    failed: int
    failure: ErrorBody | None = None
    rows: int
    values: int
    touch: str
    first: int
    lead_in_operations: int
    window_ns: int
    window_cpu_ns: int
    cpu_ns: int
    min_ns: int
    max_ns: int
    execute_ns: int = 0
    first_row_ns: int = 0
    connect_ns: int = 0
    borrow_ns: int = 0
    return_ns: int = 0
    collector_ns: int = 0
    collections: int = 0
    bytes: int = 0
    clients: list[ClientSample] = []


class ColumnDigest(msgspec.Struct, frozen=True, omit_defaults=True):
    """One column of the rows that were delivered: docs/codec.md explains each."""

    digest: str
    order: str = ""
    finest_ns: int = 0
    bounds: bool = False
    foreign: int = 0
    reason: str = ""


class VerifyReply(Reply, kw_only=True):
    digest: str
    rows: int
    touch: str
    operations: int
    order: str = ""
    columns: list[ColumnDigest] = []
    delivered: list[str] = []
    converted: list[str] = []


class ClientGroupsReply(Reply, kw_only=True):
    clients: int


class CountedFailure(ErrorBody):
    """This many operations failed in this way; the text is the first one's."""

    count: int = 0


class GroupClient(Message):
    """What one client of a group did: which parameter rows were its own, and how far it came."""

    first: int
    rows_of_its_own: int
    operations: int
    failed: int


class GroupTotal(Message):
    """What one group did from its begin to its end."""

    name: str
    operations: int
    failed: int
    rows: int
    values: int
    touch: str
    begun_ns: int
    ended_ns: int
    cpu_ns: int
    failures: list[CountedFailure] = []
    clients: list[GroupClient] = []


class ClientGroupsEndReply(Reply, kw_only=True):
    client_groups: list[GroupTotal]


class RunReply(Reply, kw_only=True):
    ns: list[int] = []
    clients: int = 1


class LoadReply(Reply, kw_only=True):
    rows: int
    ns: int


class InterruptReply(Reply, kw_only=True):
    honoured: bool
    took_ns: int = 0
    usable: bool = False
    text: str = ""


class DescribedColumn(ColumnSpec, frozen=True):
    """A column of a query's result as the engine declares it."""

    engine_type: str = ""


class DescribeReply(Reply, kw_only=True):
    columns: list[DescribedColumn] = []


class FactsReply(Reply, kw_only=True):
    driver_version: str = ""
    engine_version: str = ""
    build: str = ""
    libraries: dict[str, str] = {}
    settings: dict[str, str] = {}
    runtime: str = ""


class CloseReply(Reply, kw_only=True):
    close_ns: int = 0


REPLIES: dict[type, type] = {
    Hello: HelloReply,
    Open: OpenReply,
    Prepare: PrepareReply,
    Sample: SampleReply,
    Verify: VerifyReply,
    ClientGroups: ClientGroupsReply,
    ClientGroupsEnd: ClientGroupsEndReply,
    RunStatements: RunReply,
    Load: LoadReply,
    Interrupt: InterruptReply,
    Describe: DescribeReply,
    Facts: FactsReply,
    Close: CloseReply,
    Bye: Reply,
}


def schema() -> dict[str, Any]:
    """The JSON Schema of all requests and replies."""
    types = [*REPLIES, *dict.fromkeys(REPLIES.values())]
    schemas, components = msgspec.json.schema_components(types, ref_template="#/$defs/{name}")
    return described(
        {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "title": f"Rowpath runner protocol {'.'.join(map(str, PROTOCOL))}",
            "anyOf": list(schemas),
            "$defs": components,
        }
    )
