"""The parameters of a user's query: read from options, from a CSV file or from a query's rows; written for runners."""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, time
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any
from uuid import UUID

import msgspec

from rowpath.engines import ENGINES
from rowpath.engines.sql_dialect import SqlDialect
from rowpath.errors import UsageError
from rowpath.model.workload import Column
from rowpath.probe.options import ProbeOptions
from rowpath.probe.placeholders import Placeholders, placeholders
from rowpath.toml_file import suggest
from rowpath.workloads.codec import plain_decimal, write_rows

Row = tuple[Any, ...]

MOST_ROWS = 1000  # of parameters: all of them are proven on every path
NULL = r"\N"  # as in delimited files
FORM = "--param TYPE:VALUE, as in --param bigint:42"
TYPES: dict[str, dict[str, Any]] = {
    "smallint": {"type": "integer", "bits": 16},
    "integer": {"type": "integer", "bits": 32},
    "int": {"type": "integer", "bits": 32},
    "bigint": {"type": "integer", "bits": 64},
    "numeric": {"type": "decimal"},
    "decimal": {"type": "decimal"},
    "real": {"type": "float32"},
    "double": {"type": "float64"},
    **{name: {"type": name} for name in ("boolean", "char", "varchar", "text", "json", "binary", "uuid")},
    **{name: {"type": name} for name in ("date", "time", "timestamp", "timestamptz")},
}
_BOOLEANS = {"true": True, "t": True, "1": True, "false": False, "f": False, "0": False}


def _decimal(text: str) -> Decimal:
    value = Decimal(text)
    if not value.is_finite():
        raise ValueError(text)
    return value


def _instant(aware: bool) -> Callable[[str], datetime]:
    def read(text: str) -> datetime:
        value = datetime.fromisoformat(text)
        if (value.tzinfo is not None) != aware:
            raise ValueError(text)
        return value

    return read


_READ: dict[str, Callable[[str], Any]] = {
    "integer": int,
    "decimal": _decimal,
    "float32": float,
    "float64": float,
    "boolean": lambda text: _BOOLEANS[text.lower()],
    "binary": lambda text: bytes.fromhex(text.removeprefix("\\x")),
    "uuid": UUID,
    "date": date.fromisoformat,
    "time": time.fromisoformat,
    "timestamp": _instant(False),
    "timestamptz": _instant(True),
}


@dataclass(frozen=True)
class ParameterRows:
    """Rows of parameters as the user gave them. `count`: all of them, of which `rows` are the first MOST_ROWS."""

    columns: tuple[Column, ...]
    rows: list[Row]
    count: int
    names: tuple[str, ...]  # of the columns; empty texts where the user gave none


@dataclass(frozen=True)
class KeyedQuery:
    """A query with parameters: one execution takes one row, a value for each placeholder in its order."""

    placeholders: Placeholders
    columns: tuple[Column, ...]
    rows: list[Row]
    count: int  # of the rows that the user gave

    def write(self, file: Path) -> None:
        """Make the parameter file."""
        file.parent.mkdir(parents=True, exist_ok=True)
        write_rows(file, self.rows, self.columns)

    def first(self, rows: int) -> KeyedQuery:
        """The query with only the first rows of its parameters."""
        return replace(self, rows=self.rows[:rows])

    def spelt(self, placeholder: str, percent: str = "%%") -> str:
        """The query with placeholders of that form: `?`, `$1`, or `%s`, with which a % is written as `percent`."""
        count = len(self.columns)
        if placeholder == "%s":
            return "%s".join(piece.replace("%", percent) for piece in self.placeholders.pieces)
        return self.placeholders.filled(
            [f"${number}" if placeholder == "$1" else "?" for number in range(1, count + 1)]
        )

    def with_literals(self, engine: str, row: Row) -> str:
        """The query with the values of a row written into it, as that engine spells them."""
        return self.placeholders.filled(
            [literal(engine, value, column) for value, column in zip(row, self.columns, strict=True)]
        )


def wanted(options: ProbeOptions) -> bool:
    """Whether the query has parameters."""
    return bool(options.params or options.params_file or options.params_query)


def keyed(sql: str, engine: str, parameter_rows: ParameterRows) -> KeyedQuery:
    """The query with its parameters in the order of its placeholders. Errors: UsageError unless they fit."""
    found = placeholders(sql, engine)
    order = found.order(parameter_rows.names)
    columns = tuple(parameter_rows.columns[at] for at in order)
    return KeyedQuery(
        found, columns, [tuple(row[at] for at in order) for row in parameter_rows.rows], parameter_rows.count
    )


def rows_by_options(options: ProbeOptions) -> ParameterRows:
    """The rows of `--param` or `--params`. Errors: UsageError."""
    if options.params_file is not None:
        return _of_csv(options.params_file)
    parts = [each.partition(":") for each in options.params]
    for each, (_, colon, _) in zip(options.params, parts, strict=True):
        if not colon:
            raise UsageError(f"invalid --param '{each}': no type", FORM)
    return _parameter_rows([("", kind) for kind, _, _ in parts], [[value for _, _, value in parts]], "--param")


def _of_csv(file: Path) -> ParameterRows:
    try:
        with file.open(encoding="utf-8-sig", newline="") as stream:
            lines = [line for line in csv.reader(stream) if line]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise UsageError(f"cannot read {file}: {error}", "--params FILE.csv, in UTF-8") from error
    if len(lines) < 2:
        raise UsageError(f"{file} has no row of parameters", "a header line with name:type, then a line for each row")
    header = [(name.strip(), kind.strip()) for name, _, kind in (each.rpartition(":") for each in lines[0])]
    for number, line in enumerate(lines, 1):
        if len(line) != len(header):
            raise UsageError(f"{file}: row {number} has {len(line)} values, not {len(header)}", "correct the file")
    return _parameter_rows(header, lines[1:], str(file))


def _parameter_rows(header: Sequence[tuple[str, str]], lines: Sequence[Sequence[str]], where: str) -> ParameterRows:
    columns = []
    for number, (name, kind) in enumerate(header, 1):
        if kind not in TYPES:
            raise UsageError(f"{where}: unknown type '{kind}'", suggest(kind, tuple(TYPES)))
        columns.append(Column(name=name or f"p{number}", **TYPES[kind]))
    rows = []
    for line in lines[:MOST_ROWS]:
        pairs = zip(line, columns, header, strict=True)
        rows.append(tuple(_value(text, column, kind) for text, column, (_, kind) in pairs))
    return ParameterRows(sized(columns, rows), rows, len(lines), tuple(name for name, _ in header))


def _value(text: str, column: Column, kind: str) -> Any:
    if text == NULL:
        return None
    try:
        value = _READ.get(column.type, str)(text)
    except (ValueError, KeyError, InvalidOperation) as error:
        raise UsageError(f"invalid parameter: '{text}' is not of type {kind}", FORM) from error
    if column.type == "integer" and not -(1 << column.bits - 1) <= value < 1 << column.bits - 1:
        raise UsageError(f"invalid parameter: {text} is out of range for {kind}", "--param bigint:… or numeric:…")
    return value


def sized(columns: Sequence[Column], rows: Sequence[Row]) -> tuple[Column, ...]:
    """The columns as wide as their values need."""
    found = []
    for at, column in enumerate(columns):
        values = [row[at] for row in rows if row[at] is not None]
        sizes: dict[str, Any] = {"nullable": len(values) < len(rows)}
        if column.type == "decimal":
            whole, fraction = zip(*map(_digits, values), strict=True) if values else ((1,), (0,))
            sizes |= {"precision": max(whole) + max(fraction), "scale": max(fraction)}
        elif column.type in ("char", "varchar", "binary"):
            sizes["length"] = max([1, *map(len, values)])
        found.append(msgspec.structs.replace(column, **sizes))
    return tuple(found)


def _digits(value: int | Decimal) -> tuple[int, int]:
    whole, _, fraction = plain_decimal(value).removeprefix("-").partition(".")
    return len(whole), len(fraction)


def literal(engine: str, value: Any, column: Column) -> str:
    """A value as it stands inside the SQL of that engine; cast to the column's type where the engine's facts say so."""
    dialect = ENGINES[engine]
    facts = dialect.probe
    if value is None:
        text = "NULL"
    elif isinstance(value, bool):
        text = str(value).upper()
    elif isinstance(value, float) and math.isfinite(value):
        text = repr(value)
    elif isinstance(value, int | Decimal):
        text = plain_decimal(value)
    elif isinstance(value, bytes):
        text = facts.binary_literal.format(value.hex())
    else:
        text = str(value).replace("'", "''")
        text = "'" + (text.replace("\\", "\\\\") if facts.syntax and facts.syntax.backslashes else text) + "'"
    return (
        f"CAST({text} AS {dialect.spelt(column)})" if facts.cast_literals and isinstance(dialect, SqlDialect) else text
    )
