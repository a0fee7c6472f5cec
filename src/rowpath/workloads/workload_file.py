"""Workloads: TOML files → typed definitions, and their SQL in an engine's own dialect."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import gcd
from pathlib import Path

from rowpath.errors import UsageError
from rowpath.machine.directories import data_dir
from rowpath.model.workload import Parameters, Phase, Table, Workload, result_columns
from rowpath.toml_file import decode_file, nearest
from rowpath.workloads.generators import GENERATORS, parameter_table
from rowpath.workloads.sql import _TEMPLATE

AGGREGATES = ("count", "sum", "min", "max")
Fault = tuple[str, str]  # what is wrong, behind the name of what it is in, and the remedy


def names() -> list[str]:
    """The workloads that come with Rowpath."""
    return sorted(file.stem for file in (data_dir() / "workloads").glob("*.toml"))


def load_workload(name_or_path: str | Path) -> Workload:
    """A workload by name, or from a file when given a path or a name in `.toml`; UsageError for every mistake."""
    text = str(name_or_path)
    if isinstance(name_or_path, Path) or "/" in text or text.endswith(".toml"):
        return _read(Path(text))
    if text not in names():
        near = nearest(text, names())
        raise UsageError(f"unknown workload '{text}'", f"did you mean '{near}'?" if near else "rowpath list workloads")
    return _read(data_dir() / "workloads" / f"{text}.toml")


def _read(file: Path) -> Workload:
    workload: Workload = decode_file(file, Workload)
    for name, table in workload.tables.items():
        _refuse(f"{file}: table '{name}'", _table_faults(table))
    seen = set()
    for phase in workload.phases:
        if phase.name in seen:
            raise UsageError(f"{file}: duplicate phase '{phase.name}'", "give each phase its own name")
        seen.add(phase.name)
        _refuse(f"{file}: phase '{phase.name}'", _phase_faults(workload, phase))
    return workload


def _refuse(where: str, faults: Iterator[Fault]) -> None:
    for fault, remedy in faults:
        raise UsageError(f"{where}{fault}", remedy)


def _unknown(key: str, words: Iterable[str], right: tuple[str, ...], inside: str = "") -> Iterator[Fault]:
    for word in words:
        if word not in right:
            near = nearest(word, right)
            remedy = f"did you mean '{near}'?" if near else f"one of: {', '.join(right) or 'none'}"
            yield f"{inside}: unknown {key} '{word}'", remedy


def _table_faults(table: Table) -> Iterator[Fault]:
    yield from _unknown("generator", [table.generator], tuple(GENERATORS))
    columns = _names(table)
    yield from _unknown("columns", columns, GENERATORS[table.generator])
    yield from _unknown("key", (*table.primary_key, *filter(None, [table.identity])), columns)


def _phase_faults(workload: Workload, phase: Phase) -> Iterator[Fault]:
    """What is wrong with a phase, behind its name, and the remedy; each relies on those before it."""
    tables = tuple(workload.tables)
    yield from _unknown("table", filter(None, [phase.table]), tables)
    yield from _unknown("after", filter(None, [phase.after]), tables)
    for text in (phase.sql, *phase.dialects.values(), *phase.reset):
        yield from _unknown("SQL", (name for _action, name in _TEMPLATE.findall(text)), tables)
    if phase.kind in ("query", "execute", "load", "connect") and not phase.sql:
        yield " has no sql", f"a phase of kind '{phase.kind}' needs sql = …"
    if phase.expected in ("whole-table", "first-rows", "by-key", "range", "aggregate") and not phase.table:
        yield " has no table", f"expected = '{phase.expected}' needs table = …"
    if phase.expected == "first-rows" and phase.rows_per_operation > workload.tables[phase.table].rows:
        yield f" reads {phase.rows_per_operation} rows of a table that has fewer", "lower rows_per_operation"
    if phase.only and not result_columns(workload, phase):
        yield f": no column fits only = {list(phase.only)}", "name columns of its table"
    if phase.expected in ("by-key", "range") and phase.parameters is None:
        yield " has no parameters", f"expected = '{phase.expected}' needs parameters = {{…}}"
    ranged = phase.expected == "range" or (phase.expected == "aggregate" and phase.parameters is not None)
    if ranged and phase.range_rows < 1:
        yield " reads no rows", "set range_rows, for example range_rows = 1000"
    if phase.expected == "aggregate":
        yield from _aggregate_faults(_names(workload.tables[phase.table]), phase)
    if phase.writes and phase.operations < 1:
        yield " writes but has no operations", "set operations, for example operations = 1000"
    if phase.kind == "load":
        yield from _load_faults(phase)
    if phase.counted:
        yield from _counted_faults(workload.tables.get(phase.table), phase)
    if phase.union != (phase.parameters is not None and phase.parameters.generator == "ranges"):
        yield (
            ": union and parameters = { generator = 'ranges', … } belong together",
            "set both for one retrieval in parts, otherwise neither",
        )
    if phase.parameters is not None:
        yield from _parameter_faults(workload, phase, phase.parameters)


def _parameter_faults(workload: Workload, phase: Phase, parameters: Parameters) -> Iterator[Fault]:
    inside = ", parameters"
    name = parameter_table(workload, phase)
    if phase.union:
        if phase.kind != "query" or phase.expected != "whole-table":
            yield " does not read a whole table", "union needs kind = 'query', expected = 'whole-table'"
        yield from _unknown("key", [parameters.key], _integers(workload.tables.get(name)), inside)
    yield from _unknown("parameters", [name], tuple(workload.tables))
    yield from _unknown("parameters", parameters.columns, _names(workload.tables[name]))
    if parameters.count < 1:
        yield f"{inside}: count = {parameters.count}", "count is at least 1"
    if parameters.generator in ("uniform", "halves", "stride") and parameters.n < 1:
        yield f"{inside}: n = {parameters.n}", "n is the number of rows to choose from"
    if parameters.generator == "stride" and gcd(parameters.k, parameters.n) != 1:
        yield (
            f"{inside}: k = {parameters.k} and n = {parameters.n} have a common divisor",
            "choose k that shares no factor with n",
        )


def _load_faults(phase: Phase) -> Iterator[Fault]:
    if not phase.way or not phase.table or phase.parameters is None:
        yield " does not name what it loads", "kind = 'load' needs way, table and parameters = {…}"
    elif phase.parameters.count % phase.rows_per_operation:
        yield (
            f": {phase.parameters.count} parameters are not whole operations of {phase.rows_per_operation} rows",
            "make count a multiple of rows_per_operation",
        )


def _counted_faults(table: Table | None, phase: Phase) -> Iterator[Fault]:
    yield from _unknown("counted", [phase.counted], _integers(table))
    assert table is not None
    named = phase.parameters.columns if phase.parameters else ()
    if not (phase.writes and phase.kind == "execute" and phase.after == phase.table and named == table.primary_key):
        yield (
            ": the table cannot show what it counts",
            f"counted needs kind = 'execute', writes = true, after = '{phase.table}' and its primary key as parameters",
        )
    if not phase.reset:
        yield " adds to existing counts", "write reset = ['UPDATE … SET … = 0']"


def _aggregate_faults(columns: tuple[str, ...], phase: Phase) -> Iterator[Fault]:
    for column in phase.columns:
        function, _, of = column.name.partition("_")
        yield from _unknown("columns", [function], AGGREGATES)
        if function != "count":
            yield from _unknown("columns", [of], columns)


def _names(table: Table) -> tuple[str, ...]:
    return tuple(column.name for column in table.columns)


def _integers(table: Table | None) -> tuple[str, ...]:
    return tuple(column.name for column in table.columns if column.type == "integer") if table else ()
