"""The nouns of Rowpath, frozen and typed, with no I/O. docs/glossary.md says what each word means."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from rowpath.analysis.growth_model import CostModel, Sweep
from rowpath.analysis.mixed_load.model import GroupsReport
from rowpath.analysis.retrieval_model import BlockSizes, Retrieval
from rowpath.analysis.scaling_model import Scaling
from rowpath.model.base import Frozen as Frozen  # noqa: PLC0414
from rowpath.model.base import Regime as Regime  # noqa: PLC0414
from rowpath.model.base import Status as Status  # noqa: PLC0414
from rowpath.model.probe import Probe

SCHEMA_VERSION = 1
CODEC_VERSION = 1

LogicalType = Literal[
    "integer",
    "decimal",
    "float32",
    "float64",
    "boolean",
    "char",
    "varchar",
    "text",
    "json",
    "binary",
    "date",
    "time",
    "timestamp",
    "timestamptz",
    "interval",
    "uuid",
    "array",
]

PhaseKind = Literal["query", "execute", "load", "connect", "null"]

# The coordinates every path has; an adapter may add its own (fetch size, prepare threshold, …).
COORDINATES = (
    "engine",
    "engine_version",
    "deployment",
    "language",
    "driver",
    "version",
    "statement",
    "fetch",
    "result",
    "format",
    "transport",
    "tls",
    "link",
    "placement",
    "clients",
    "ranges",
    "threads",
    "durability",
    "storage",
    "processes",
    "backup",
    "profile",
    "decode",
)


# Coordinates that part comparisons unless it is asked otherwise; durability always does.
TOGETHER = ("fetch", "threads", "tls", "link", "clients", "placement")


class Column(Frozen, frozen=True):
    """One column by its declared logical type; `bits` holds an integer's width (16, 32, 64).

    An `array` holds integers of that width. A `time` has whole seconds.
    """

    name: str
    type: LogicalType
    length: int = 0
    precision: int = 0
    scale: int = 0
    bits: int = 32
    nullable: bool = False


class Table(Frozen, frozen=True):
    """A table and how its rows are made; `rows` is the number loaded (0: created empty)."""

    columns: tuple[Column, ...]
    rows: int
    generator: str
    seed: int = 42
    primary_key: tuple[str, ...] = ()
    indexes: tuple[tuple[str, ...], ...] = ()  # the columns of each further index
    identity: str = ""  # column that the engine numbers itself on insert (tab1.c1)
    ascii: bool = False  # every text in it is ASCII: an engine that can choose takes a character set of one byte


class Parameters(Frozen, frozen=True):
    """Where the parameters of a phase come from: a key sequence of CODEC's, or the rows of a table."""

    generator: Literal["uniform", "halves", "stride", "sequence", "rows", "ranges"]
    count: int
    n: int = 0
    k: int = 0
    seed: int = 42
    columns: tuple[str, ...] = ()  # the columns that the placeholders take, in order
    table: str = ""
    key: str = ""  # `ranges`: the column whose values are parted, one range (low, high] for each client


class Phase(Frozen, frozen=True):
    """One operation of a workload with its contract.

    `sql` uses `?` placeholders, `{create:TABLE}` and `{drop:TABLE}` for the engine's own DDL, `{columns:TABLE}` for the
    table's column names, `{result}` for those of `only`; `dialects` overrides it per engine. `truth` names how the
    controller knows the result: `whole-table`, `first-rows` (`rows_per_operation` of them), `by-key`, `range`
    (`range_rows` rows in the table's order from the parameter's row on), `aggregate`
    (result columns are called `count`, `sum_X`, `min_X`, `max_X`), `one` (one row of the integer 1), `none`.
    """

    name: str
    kind: PhaseKind
    sql: str = ""
    dialects: dict[str, str] = {}
    table: str = ""
    scan: bool = False  # the result is the whole table in any order: a file can deliver it too
    stamps: bool = False  # also stamp execute and first row of every operation
    way: Literal["", "transaction", "bulk"] = ""  # kind `load`: executed one by one in one transaction, or the bulk way
    columns: tuple[Column, ...] = ()  # of the result; empty: those of `table`
    # What the operation is to an interface that reaches records without SQL: `read` takes the records of one key,
    # `insert` stores one record, `create` makes the empty table; `aggregate` is what a file's reader can compute by
    # the names of the result's columns. A `scan` needs no word here.
    access: Literal["", "read", "insert", "create", "aggregate"] = ""
    # Its operations are parts of one retrieval, done by so many clients at once: parameters `ranges` over `key`.
    union: bool = False
    only: tuple[str, ...] = ()  # of the table's columns those whose names fit one of these patterns (`u1_*`)
    parameters: Parameters | None = None
    rows_per_operation: int = 1
    transaction: Literal["autocommit", "transaction"] = "autocommit"
    range_rows: int = 0  # truth `range`, or `aggregate` with parameters: so many rows, from the parameter's one on
    engines: tuple[str, ...] = ()  # whose statement this is; empty: everybody's
    truth: Literal["whole-table", "first-rows", "by-key", "range", "aggregate", "one", "none"] = "none"
    writes: bool = False
    operations: int = 0  # a write phase is run whole: this many operations
    reset: tuple[str, ...] = ()  # statements that make the starting state anew, outside the clock
    # Each operation adds one to this integer column of the row of `table` named by its parameters (the primary key), so
    # that the table itself says how often each was done.
    counted: str = ""
    after: str = ""  # a write phase's proof: the table whose digest is checked once it has ended


class Workload(Frozen, frozen=True):
    """Schema, data and phases."""

    name: str
    title: str
    tables: dict[str, Table]
    phases: tuple[Phase, ...]
    conformance_only: bool = False
    scale: float = 0.0  # the numbers of the file are those of scale 1; this one runs when none is given; 0: no scale

    def phase(self, name: str) -> Phase:
        """The phase of that name; KeyError when there is none."""
        for phase in self.phases:
            if phase.name == name:
                return phase
        raise KeyError(name)


class Path(msgspec.Struct, frozen=True):
    """One access path: a point in the space of coordinates, every value a string, `none` where it does not apply."""

    coordinates: tuple[tuple[str, str], ...]
    label: str = ""  # tells two names of the same path apart (A/A)

    @classmethod
    def of(cls, coordinates: dict[str, str], label: str = "") -> Path:
        """The path with these coordinates, in canonical order."""
        known = {name: position for position, name in enumerate(COORDINATES)}
        ordered = sorted(coordinates.items(), key=lambda item: (known.get(item[0], len(known)), item[0]))
        return cls(tuple(ordered), label)

    @property
    def id(self) -> str:
        """The canonical text of the path: `engine=sqlite,deployment=embedded,…`."""
        text = ",".join(f"{key}={value}" for key, value in self.coordinates)
        return f"{text},label={self.label}" if self.label else text

    def get(self, key: str) -> str:
        """The value of a coordinate, `none` when the path has no such coordinate."""
        for name, value in self.coordinates:
            if name == key:
                return value
        return "none"

    def as_dict(self) -> dict[str, str]:
        """The coordinates as a mapping, the label included when there is one."""
        return dict(self.coordinates) | ({"label": self.label} if self.label else {})


class Dropped(Frozen, frozen=True):
    """A path that will not run, and why; `remedy` is the command that would enable it."""

    path: Path
    reason: str
    remedy: str = ""
    status: Status = "unsupported"


class Result(Frozen, frozen=True):
    """One record of the long form: one path × workload × phase × regime × metric (× stretch × group of clients)."""

    workload: str
    phase: str
    regime: str  # cold | steady | none (exact and structural metrics)
    metric: str
    unit: str
    path: dict[str, str]
    name: str  # the path's short name in this run
    median: float | None = None
    mean: float | None = None
    low: float | None = None  # 95 % interval
    high: float | None = None
    min: float | None = None
    best_of_five: float | None = None
    sets: int = 0
    blocks: int = 0
    status: Status = "ok"
    reason: str = ""
    digest: str = ""
    means: str = ""  # how the figure was obtained
    stretch: str = ""  # of groups at work at once
    group: str = ""  # of clients; empty: all of the stretch together


class RankedPath(Frozen, frozen=True):
    """A path's place in a comparison; ratios are cost relative to the fastest (1.0) with their interval."""

    name: str
    path_id: str
    rank: int  # tied paths share one
    group: int
    cost_ns: float | None
    ratio: float | None
    ratio_low: float | None
    ratio_high: float | None
    ratio_mean: float | None  # by means over undisturbed blocks
    rate_per_s: float | None
    differs: bool  # from the one ranked directly before it (Holm over the family)
    status: Status
    reason: str = ""
    provisional: bool = False
    through_anchor: bool = False


class Ranking(Frozen, frozen=True):
    """The paths ranked together for one workload phase and regime, fastest first; unranked ones at the end."""

    workload: str
    phase: str
    regime: str
    comparison: str  # what they have in common, in words ("placement=same, durability=full, rows")
    rows: tuple[RankedPath, ...]
    floor_ns: float | None = None
    sets: int = 0
    notes: tuple[str, ...] = ()


class Finding(Frozen, frozen=True):
    """A statement with its evidence, its cause and the next command."""

    id: str
    severity: Literal["note", "warning", "error"]
    text: str
    evidence: str
    cause: str = ""
    next_command: str = ""
    paths: tuple[str, ...] = ()


class ClaimCheck(Frozen, frozen=True):
    """A published claim against what was measured here."""

    id: str
    claim: str
    outcome: Literal["holds", "does not hold", "can't be told"]
    figure: str


class Published(Frozen, frozen=True):
    """A published figure beside the measured one, both relative to the same reference row of their column."""

    column: str
    row: str
    value: float
    unit: str
    ratio: float | None
    measured_name: str = ""
    measured_value: float | None = None
    measured_ratio: float | None = None
    note: str = ""


class AcrossLink(Frozen, frozen=True):
    """A path over an emulated link beside the same path without it; times in ns per operation.

    Predicted: the time without the link + round trips × what the link adds to each.
    """

    workload: str
    phase: str
    regime: Regime
    name: str
    link: str
    added_ns: float  # by the link to a round trip, as measured
    round_trips: float  # per operation, opening a connection included
    without_ns: float
    predicted_ns: float
    measured_ns: float
    ratio: float  # measured ÷ predicted, over the sets that have both
    low: float | None  # its interval
    high: float | None


class Analysis(Frozen, frozen=True):
    """Everything the reports show, derived from a run directory alone."""

    run: dict[str, Any]  # the manifest: experiment, options, versions, environment, seed
    names: dict[str, str]  # path id → short name
    results: tuple[Result, ...]
    rankings: tuple[Ranking, ...]
    findings: tuple[Finding, ...]
    verdict: tuple[str, ...]
    claims: tuple[ClaimCheck, ...] = ()
    published: tuple[Published, ...] = ()
    dropped: tuple[Dropped, ...] = ()
    trust: dict[str, Any] = {}  # order of blocks, digests, disturbed, noise, floors, means
    lines_of_code: dict[str, int] = {}
    cost_models: tuple[CostModel, ...] = ()
    sweeps: tuple[Sweep, ...] = ()
    scalings: tuple[Scaling, ...] = ()
    retrievals: tuple[Retrieval, ...] = ()
    block_sizes: tuple[BlockSizes, ...] = ()
    across_links: tuple[AcrossLink, ...] = ()
    probe: Probe | None = None
    groups: GroupsReport | None = None  # of an experiment whose groups are at work at once
