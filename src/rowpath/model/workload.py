"""The nouns of a workload: tables, columns, parameters and phases."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from typing import Literal, NamedTuple, Protocol

import msgspec

from rowpath.model.base import Frozen

CODEC_VERSION = 2

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
    "bits",
    "date",
    "time",
    "timetz",
    "timestamp",
    "timestamptz",
    "interval",
    "uuid",
    "array",
    "struct",
    "map",
    "rows",
    "any",
    "opaque",
]

Access = Literal[
    "",
    "read",
    "insert",
    "create",
    "aggregate",
    "film",
    "one",
    "user",
    "search",
    "page",
    "add",
    "change",
    "read_modify_write",
]
PhaseKind = Literal["query", "objects", "execute", "load", "connect", "null"]
_COLUMNS = re.compile(r"\{columns:([^{}]+)\}")


class PhaseName(NamedTuple):
    """A phase by the name of its workload and its own: `scan.read`."""

    workload: str
    phase: str

    @classmethod
    def of(cls, name: str) -> PhaseName:
        """The parts of `workload.phase`; the phase is empty when there is no dot."""
        workload, _, phase = name.partition(".")
        return cls(workload, phase)


class ColumnSpec(msgspec.Struct, frozen=True, omit_defaults=True):
    """A column as the runner protocol spells it; `bits` holds an integer's width (16, 32, 64, 128).

    `fields`: what an array's elements are, a structure's members, a map's key and value, the columns of nested rows.
    `unit_ns`: times are compared cut to it, or `rounded`; `bounds`: whether lower bounds of arrays are compared.
    """

    name: str
    type: str
    length: int = 0
    precision: int = 0
    scale: int = 0
    bits: int = 32
    nullable: bool = False
    fields: tuple[ColumnSpec, ...] = ()
    unit_ns: int = 1
    rounded: bool = False
    bounds: bool = True


class Column(ColumnSpec, Frozen, frozen=True):
    """One column by its declared logical type: an `array` without fields holds integers of `bits`.

    `any` holds values of several types; `opaque` ones in forms that differ from driver to driver: only NULL or not is
    compared.
    """

    type: LogicalType


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
    key: str = ""  # `ranges`: the column whose values are split, one range (low, high] for each client


class Phase(Frozen, frozen=True):
    """One operation of a workload with its contract.

    `sql` uses `?` placeholders, `{create:TABLE}` and `{drop:TABLE}` for the engine's own DDL, `{columns:TABLE}` for the
    table's column names, `{result}` for those of `only`; `dialects` overrides it per engine. `expected` names how the
    controller knows the result: `whole-table`, `first-rows` (`rows_per_operation` of them), `by-key`, `range`
    (`range_rows` rows in the table's order from the parameter's row on), `aggregate`
    (result columns are called `count`, `sum_X`, `min_X`, `max_X`), `objects` (`workloads.films`), `one` (one row of the
    integer 1), `none`.
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
    # the names of the result's columns. A `scan` needs no word here. Of kind `objects` it is the operation of a layer,
    # and what it delivers.
    access: Access = ""
    # Its operations are parts of one retrieval, done by this many clients at once: parameters `ranges` over `key`.
    union: bool = False
    only: tuple[str, ...] = ()  # of the table's columns those whose names fit one of these patterns (`u1_*`)
    parameters: Parameters | None = None
    rows_per_operation: int = 1
    transaction: Literal["autocommit", "transaction"] = "autocommit"
    range_rows: int = 0  # expected `range`, or `aggregate` with parameters: this many rows, from the parameter on
    engines: tuple[str, ...] = ()  # whose statement this is; empty: every engine's
    expected: Literal["whole-table", "first-rows", "by-key", "range", "aggregate", "objects", "one", "none"] = "none"
    writes: bool = False
    operations: int = 0  # a write phase is run whole: this many operations
    reset: tuple[str, ...] = ()  # statements that make the starting state again, outside the clock
    # Each operation adds one to this integer column of the row of `table` named by its parameters (the primary key), so
    # that the table itself says how often each was done.
    counted: str = ""
    after: str = ""  # what verifies a write phase: the table whose digest is checked once it has ended
    also_after: tuple[str, ...] = ()  # further tables that each operation writes to


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


def phase_of(workloads: Mapping[str, Workload], name: str) -> Phase:
    """The phase called `workload.phase`; KeyError when there is none."""
    workload, phase = PhaseName.of(name)
    return workloads[workload].phase(phase)


class Dialect(Protocol):
    """What an engine is called, and how it makes and drops a table."""

    name: str

    def create(self, name: str, table: Table) -> str:
        """CREATE TABLE in its dialect."""

    def drop(self, name: str) -> str:
        """DROP TABLE in its dialect (may fail when the table does not exist)."""


def result_columns(workload: Workload, phase: Phase) -> tuple[Column, ...]:
    """The columns of the phase's result: its own, else those of its table; empty when it delivers no rows."""
    if phase.columns or phase.kind in ("objects", "execute", "load", "null"):
        return phase.columns
    columns = workload.tables[phase.table].columns if phase.table else ()
    if not phase.only:
        return columns
    return tuple(column for column in columns if any(fnmatchcase(column.name, pattern) for pattern in phase.only))


def column_names(columns: Iterable[Column]) -> str:
    """The names as SQL lists them."""
    return ", ".join(column.name for column in columns)


def with_columns(workload: Workload, phase: Phase, sql: str) -> str:
    """`sql` with the names that `{columns:TABLE}` and `{result}` stand for."""
    if "{result}" in sql:
        sql = sql.replace("{result}", column_names(result_columns(workload, phase)))
    return _COLUMNS.sub(lambda match: column_names(workload.tables[match[1]].columns), sql)
