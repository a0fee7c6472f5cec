"""A table as every output form shows it: headings, rows of finished text, and what may be left out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import compress
from typing import Any

import msgspec

from rowpath import text as fmt


class Heading(msgspec.Struct, frozen=True):
    """A column; where there is no room those of the highest `weight` go first (0: never)."""

    title: str
    number: bool = False
    weight: int = 0
    code: bool = False


class Row(msgspec.Struct, frozen=True):
    """One row of finished text; `reason`: why figures are missing or doubtful."""

    cells: tuple[str, ...]
    status: str = "ok"
    reason: str = ""
    tier: int = -1


class Grid(msgspec.Struct, frozen=True):
    """A table with its caption; `note` stands below it."""

    caption: str
    columns: tuple[Heading, ...]
    rows: tuple[Row, ...]
    note: str = ""

    @property
    def grouped(self) -> bool:
        """Whether its rows belong to groups that a line should separate."""
        return len({row.tier for row in self.rows}) > 1


Line = tuple[tuple[Heading, ...], Row]  # a row with the columns that its cells stand in
Cell = tuple[Heading, str]


def word(title: str, text: str, weight: int = 0, *, code: bool = False) -> Cell:
    """A cell of words, control characters taken out."""
    return Heading(title, weight=weight, code=code), fmt.clean(text)


def ratio(title: str, value: float | None, low: float | None, high: float | None, weight: int = 1) -> Iterator[Cell]:
    """A ratio with its interval, which has the weight."""
    yield figure(title, fmt.ratio(value))
    yield figure("interval", fmt.interval(low, high), weight)


def words(**texts: str) -> Iterator[Cell]:
    """Cells of words, each under its name."""
    return (word(title, text) for title, text in texts.items())


def figure(title: str, text: str, weight: int = 0) -> Cell:
    """A cell with a figure that is formatted already."""
    return Heading(title, number=True, weight=weight), text


def line(*cells: Cell, status: str = "ok", reason: str = "") -> Line:
    """A row, cell by cell with its column."""
    columns, texts = zip(*cells, strict=True)
    return columns, Row(texts, status, reason)


def of_lines(caption: str, lines: Iterable[Line], note: str = "") -> Grid:
    """A grid of rows that all have the same columns; without rows it has no columns either."""
    listed = list(lines)
    return Grid(caption, listed[0][0] if listed else (), tuple(row for _columns, row in listed), note)


def without_empty(grid: Grid) -> Grid:
    """The grid without the columns that hold nothing, those that are always shown excepted."""
    kept = [
        not column.weight or any(row.cells[position] not in {"", fmt.MISSING} for row in grid.rows)
        for position, column in enumerate(grid.columns)
    ]
    rows = (msgspec.structs.replace(row, cells=tuple(compress(row.cells, kept))) for row in grid.rows)
    return msgspec.structs.replace(grid, columns=tuple(compress(grid.columns, kept)), rows=tuple(rows))


def plain(value: Any, name: str = "") -> str:
    """Any value of a record as text; the end of its name tells its unit."""
    if value is None or value == "":
        return fmt.MISSING
    if isinstance(value, str) and name.endswith("_kib") and value.isdecimal():
        value = int(value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        return _number(float(value), name, exact=isinstance(value, int))
    if isinstance(value, Mapping):
        return ", ".join(f"{key}={plain(item, str(key))}" for key, item in value.items())
    if isinstance(value, Iterable) and not isinstance(value, str | bytes):
        return ", ".join(plain(item) for item in value)
    return fmt.clean(str(value))


def _number(value: float, name: str, *, exact: bool) -> str:
    name = name.removesuffix("_per_operation")
    for ending, scale in (("_ns", 1.0), ("_us", 1e3), ("_ms", 1e6), ("_s", 1e9)):
        if (name.endswith(ending) and not name.endswith("_per_s")) or name == ending[1:]:
            return fmt.duration(value * scale)
    for ending, scale in (("_bytes", 1), ("_kib", 1024)):
        if name.endswith(ending):
            return fmt.size(value * scale)
    if name.endswith("_per_s"):
        return fmt.rate(value)
    if name in {"share", "confidence"} or name.endswith("_share"):
        return fmt.share(value)
    return str(int(value)) if exact else fmt.count(value)


def heading(name: str) -> str:
    """A field's name as a heading, without the unit that its values carry."""
    if name == "ns":
        return "time"
    name = name.replace("_ns_per_operation", "_per_operation")
    for ending in ("_ns", "_us", "_ms", "_bytes", "_kib", "_per_s"):
        name = name.removesuffix(ending)
    return name.removesuffix("_s").replace("_", " ")


def flat(values: Mapping[str, Any], before: str = "") -> list[tuple[str, str]]:
    """Nested mappings as lines of name and text: `engines · sqlite`."""
    lines: list[tuple[str, str]] = []
    for key, value in values.items():
        name = f"{before} · {heading(str(key))}" if before else heading(str(key))
        lines += flat(value, name) if isinstance(value, Mapping) else [(name, plain(value, str(key)))]
    return lines


def of_mapping(caption: str, values: Mapping[str, Any], titles: tuple[str, str]) -> Grid:
    """A grid of two columns; what is empty is left out."""
    rows = tuple(Row((name, text)) for name, text in flat(values) if text)
    return Grid(caption, (Heading(titles[0]), Heading(titles[1])), rows)


def of_records(caption: str, records: Iterable[Mapping[str, Any]]) -> Grid:
    """A grid with a column for each field that occurs, in order of first appearance."""
    listed = list(records)
    names = list(dict.fromkeys(key for record in listed for key in record))
    items = [item for record in listed for item in record.items()]
    texts = {name for name, value in items if isinstance(value, bool) or not isinstance(value, int | float)}
    columns = tuple(Heading(heading(name), name not in texts, code=name in ("digest", "expected")) for name in names)
    rows = tuple(Row(tuple(plain(record.get(name), name) for name in names)) for record in listed)
    return Grid(caption, columns, rows)


def of_anything(caption: str, value: Any) -> Grid:
    """The grid that shows a value of unknown shape best."""
    if isinstance(value, Mapping):
        if value and all(isinstance(item, Mapping) for item in value.values()):
            return of_records(caption, [{"name": key} | dict(item) for key, item in value.items()])
        return of_mapping(caption, value, ("what", "value"))
    if isinstance(value, list | tuple) and value and all(isinstance(item, Mapping) for item in value):
        return of_records(caption, value)
    items = value if isinstance(value, list | tuple) else [value]
    return Grid(caption, (Heading(""),), tuple(Row((plain(item),)) for item in items))
