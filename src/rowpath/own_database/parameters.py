"""The parameters of a user's query: its placeholders, and rows of values from options, a CSV file or a query."""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, time
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any
from uuid import UUID

import msgspec

from rowpath.engines import ENGINES
from rowpath.engines.probe_facts import Syntax
from rowpath.engines.sql_dialect import SqlDialect
from rowpath.errors import UsageError
from rowpath.model.workload import Column
from rowpath.own_database.tokens import DOLLAR, NAME, STRING, Piece, pieces_of, tokens_of
from rowpath.toml_file import suggest
from rowpath.workloads.codec import plain_decimal, write_rows

_FORMS = {
    "?1": re.compile(r"\?(\d+)"),
    "?": re.compile(r"\?()"),
    "$1": re.compile(r"\$(\d+)"),
    "%s": re.compile(r"(?<!%)%s\b()"),
    "%(name)s": re.compile(r"(?<!%)%\(([^()]+)\)s\b"),
    ":name": re.compile(r"(?<![:\w\])]):([^\W\d]\w*)"),
}  # a form of placeholders → one of them, with the parameter that it takes, if it says so
PERCENT_FORMS = ("%s", "%(name)s")  # Python's, with which %% is a %
NO_OPERAND = (STRING, NAME, DOLLAR, "number")  # kinds of tokens behind which no placeholder can stand
_QUOTED = re.compile(r"'[^']*'?|\"[^\"]*\"?")  # as runners see it
Row = tuple[Any, ...]
BACKSLASH = "\\"
_ESCAPED = re.compile(r"\\.", re.DOTALL)
JSON_OPERATORS = "PostgreSQL's operators ?, ?| and ?& are jsonb_exists, jsonb_exists_any and jsonb_exists_all"
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


@dataclass(frozen=True)
class Placeholders:
    """A query between its placeholders. `takes`: each one's number from 1, or its name. `form`: as written."""

    pieces: tuple[str, ...]
    takes: tuple[str, ...]
    form: str = ""

    @property
    def sql(self) -> str:
        """The query with `?` for each of them."""
        return "?".join(self.pieces)

    def filled(self, literals: Sequence[str]) -> str:
        """The query with a literal in place of each."""
        return "".join(text for pair in zip(self.pieces, (*literals, ""), strict=True) for text in pair)

    def order(self, names: Sequence[str]) -> list[int]:
        """Which of the given parameters each placeholder takes, from 0. Errors: UsageError unless all fit.

        Named ones take the parameter of their name where the parameters have names, else they count as they come.
        """
        distinct = tuple(dict.fromkeys(self.takes))
        if distinct and all(names) and set(distinct) <= set(names):
            return [names.index(name) for name in self.takes]
        numbers = [int(taken) if taken.isdigit() else distinct.index(taken) + 1 for taken in self.takes]
        needed = max(numbers, default=0)
        if needed != len(names) or 0 in numbers:
            what = f"the query takes {needed} parameter{'s' * (needed != 1)}, and {len(names)} are given"
            forms = f"placeholders are {', '.join(form for form in _FORMS if form != '?1')}"
            hint = "give one parameter for each placeholder, in order; docs/probe.md has the forms" if needed else forms
            raise UsageError(what, hint)
        return [number - 1 for number in numbers]


def placeholders(sql: str, engine: str) -> Placeholders:
    """The query's placeholders in the one form that it uses: `?`, `$1`, `%s`, `%(name)s` or `:name`.

    With `%s` and `%(name)s` a `%%` stands for `%`, as in Python's drivers. Errors: UsageError for several forms, or for
    a query whose placeholders the runners could not find again.
    """
    by_form = _by_form(sql, engine)
    if "?1" in by_form:
        raise UsageError("placeholders of the form ?1 are not supported", "write $1, $2, … or ?")
    if len(by_form) > 1:
        what = f"the query has placeholders of several forms: {' and '.join(by_form)}"
        raise UsageError(what, f"use one form; put a blank after a % or : that is an operator; {JSON_OPERATORS}")
    form, places = next(iter(by_form.items()), ("", []))
    taken = {begin: end for begin, end, _ in places}
    between: list[list[str]] = [[]]  # joined at the end: to append to a long text copies it
    position = 0
    syntax = ENGINES[engine].probe.syntax or Syntax()
    for piece in pieces_of(sql, syntax):
        if piece.begin < position:  # part of a placeholder
            continue
        if piece.begin in taken:
            between.append([])
            position = taken[piece.begin]
        else:
            between[-1].append(plainly_quoted(sql, piece, syntax))
            position = piece.end
    pieces = ["".join(texts) for texts in between]
    if form in PERCENT_FORMS:
        pieces = [piece.replace("%%", "%") for piece in pieces]
    # As a runner splits it: at every `?` outside of quotes.
    split = _QUOTED.sub(lambda quoted: "x" * len(quoted[0]), "?".join(pieces)).split("?")
    if [len(piece) for piece in split] != [len(piece) for piece in pieces]:
        what = "a ? that is no placeholder, or a quote within `…` or a hint, hides where the placeholders are"
        raise UsageError(what, f"remove it: a literal can be a parameter too, and {JSON_OPERATORS}")
    return Placeholders(tuple(pieces), tuple(take for _, _, take in places), form)


def plainly_quoted(sql: str, piece: Piece, syntax: Syntax) -> str:
    """A piece of the query in which runners find the end of a quoted text: no `\\'`, no `$$`; it means the same."""
    text = sql[piece.begin : piece.end]
    if piece.kind == DOLLAR:
        tag = text[: text.index("$", 1) + 1]
        inside = text.removeprefix(tag).removesuffix(tag).replace("'", "''")
        return f"E'{inside.replace(BACKSLASH, 2 * BACKSLASH)}'" if BACKSLASH in inside else f"'{inside}'"
    quote = text[-1]
    escapes = syntax.backslashes or (syntax.escape_strings and text[0] in "eE")
    if piece.kind not in (STRING, NAME) or quote not in "'\"" or not escapes:
        return text
    return _ESCAPED.sub(lambda pair: 2 * quote if pair[0] == BACKSLASH + quote else pair[0], text)


def refuse_unbound(sql: str, engine: str) -> None:
    """UsageError for placeholders without parameters, which no engine or not this one would refuse by itself."""
    by_form = _by_form(sql, engine)
    never = ("$1", "%(name)s")
    form = next((form for form in by_form if form in never or ENGINES[engine].probe.unbound_is_null), "")
    if form:
        what = f"the query has placeholders ({form}), and no parameters are given"
        raise UsageError(what, "--param TYPE:VALUE for each, or --params FILE.csv, or --params-from 'SELECT …'")


def _by_form(sql: str, engine: str) -> dict[str, list[tuple[int, int, str]]]:
    """The placeholders by form: begin, end, and the parameter that each takes."""
    by_form: dict[str, list[tuple[int, int, str]]] = {}
    before = Piece("", 0, 0)
    for piece in tokens_of(sql, ENGINES[engine].probe.syntax or Syntax()):
        behind_operand = before.kind in NO_OPERAND or before.token in (")", "]", "}")
        for form, pattern in _FORMS.items():
            if not form.startswith(piece.token) or not (match := pattern.match(sql, piece.begin)):
                continue
            if form == ":name" and behind_operand:  # between a key and its value, or within a slice
                break
            places = by_form.setdefault(form, [])
            places.append((piece.begin, match.end(), match[1] or str(len(places) + 1)))
            break
        before = piece
    return by_form


def _instant(aware: bool) -> Callable[[str], datetime]:
    def read(text: str) -> datetime:
        value = datetime.fromisoformat(text)
        if (value.tzinfo is not None) != aware:
            raise ValueError(text)
        return value

    return read


_READ: dict[str, Callable[[str], Any]] = {
    "integer": int,
    "decimal": Decimal,
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
        """The query with placeholders of that form: `?`, `$1`, or `%s` and `%(name)s`, with which a % is written as
        `percent`.
        """
        if placeholder in PERCENT_FORMS:
            names = self.placeholders.takes
            signs = [f"%({name})s" for name in names] if placeholder == "%(name)s" else ["%s"] * len(names)
            doubled = tuple(piece.replace("%", percent) for piece in self.placeholders.pieces)
            return replace(self.placeholders, pieces=doubled).filled(signs)
        if placeholder == "$1":
            return self.placeholders.filled([f"${number}" for number in range(1, len(self.columns) + 1)])
        return self.placeholders.sql

    def with_first_row(self, engine: str) -> str:
        """The query with its first row of parameters written into it."""
        return self.with_literals(engine, self.rows[0])

    def with_literals(self, engine: str, row: Row) -> str:
        """The query with the values of a row written into it, as that engine spells them."""
        values = zip(row, self.columns, strict=True)
        return self.placeholders.filled([literal(engine, value, column) for value, column in values])


def keyed(sql: str, engine: str, parameter_rows: ParameterRows) -> KeyedQuery:
    """The query with its parameters in the order of its placeholders. Errors: UsageError unless they fit."""
    query = placeholders(sql, engine)
    order = query.order(parameter_rows.names)
    rows = [tuple(row[at] for at in order) for row in parameter_rows.rows]
    return KeyedQuery(query, tuple(parameter_rows.columns[at] for at in order), rows, parameter_rows.count)


def rows_of_words(words: Sequence[str]) -> ParameterRows:
    """The one row that TYPE:VALUE of each parameter give. Errors: UsageError."""
    for word in words:
        if ":" not in word:
            raise UsageError(f"invalid --param '{word}': no type", FORM)
    parts = [word.partition(":") for word in words]
    return _parameter_rows([("", kind) for kind, _, _ in parts], [[value for _, _, value in parts]], "--param")


def rows_of_csv(file: Path) -> ParameterRows:
    """The rows of a CSV file whose header has name:type of each. Errors: UsageError."""
    try:
        with file.open(encoding="utf-8-sig", newline="") as stream:
            lines = [line for line in csv.reader(stream) if line]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise UsageError(f"cannot read {file}: {error}", "--params FILE.csv, in UTF-8") from error
    if len(lines) < 2:
        raise UsageError(f"{file} has no row of parameters", "a header line with name:type, then a line for each row")
    header = [(name.strip(), kind.strip()) for name, _, kind in (word.rpartition(":") for word in lines[0])]
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
    pairs = (zip(line, columns, header, strict=True) for line in lines[:MOST_ROWS])
    rows = [tuple(_value(text, column, kind) for text, column, (_, kind) in line) for line in pairs]
    return ParameterRows(sized(columns, rows), rows, len(lines), tuple(name for name, _ in header))


def _value(text: str, column: Column, kind: str) -> Any:
    if text == NULL:
        return None
    try:
        value = _READ.get(column.type, str)(text)
        if isinstance(value, Decimal) and not value.is_finite():
            raise ValueError(text)
    except (ValueError, KeyError, InvalidOperation) as error:
        raise UsageError(f"invalid parameter: '{text}' is not of type {kind}", FORM) from error
    if column.type == "integer" and not -(1 << column.bits - 1) <= value < 1 << column.bits - 1:
        raise UsageError(f"invalid parameter: {text} is out of range for {kind}", "--param bigint:… or numeric:…")
    return value


def sized(columns: Sequence[Column], rows: Sequence[Row]) -> tuple[Column, ...]:
    """The columns as wide as their values need."""
    wide = []
    for at, column in enumerate(columns):
        values = [row[at] for row in rows if row[at] is not None]
        sizes: dict[str, Any] = {"nullable": len(values) < len(rows)}
        if column.type == "decimal":
            parts = [plain_decimal(value).removeprefix("-").partition(".") for value in values]
            scale = max((len(fraction) for _, _, fraction in parts), default=0)
            sizes |= {"precision": max((len(whole) for whole, _, _ in parts), default=1) + scale, "scale": scale}
        elif column.type in ("char", "varchar", "binary"):
            sizes["length"] = max([1, *map(len, values)])
        wide.append(msgspec.structs.replace(column, **sizes))
    return tuple(wide)


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
    cast = facts.cast_literals and (value is None or column.type not in facts.untyped_literals)
    if cast and isinstance(dialect, SqlDialect):
        return f"CAST({text} AS {dialect.spelt(column)})"
    return text
