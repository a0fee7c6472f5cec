"""Workloads: TOML files → typed definitions, and their SQL in an engine's own dialect."""

from __future__ import annotations

from math import gcd
from pathlib import Path

from rowpath.errors import UsageError
from rowpath.machine.directories import data_dir
from rowpath.model.workload import Phase, Table, Workload
from rowpath.toml_file import decode_file, nearest
from rowpath.workloads.generators import GENERATORS, parameter_table
from rowpath.workloads.sql import _TEMPLATE, result_columns

AGGREGATES = ("count", "sum", "min", "max")


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
        _check_table(file, name, table)
    seen = set()
    for phase in workload.phases:
        if phase.name in seen:
            raise UsageError(f"{file}: duplicate phase '{phase.name}'", "give each phase its own name")
        seen.add(phase.name)
        _check_phase(file, workload, phase)
    return workload


def _known(file: Path, where: str, word: str, right: tuple[str, ...]) -> None:
    if word in right:
        return
    near, (what, _, key) = nearest(word, right), where.rpartition(", ")
    raise UsageError(
        f"{file}: {what}: unknown {key} '{word}'",
        f"did you mean '{near}'?" if near else f"one of: {', '.join(right) or 'none'}",
    )


def _check_table(file: Path, name: str, table: Table) -> None:
    where = f"table '{name}'"
    _known(file, f"{where}, generator", table.generator, tuple(GENERATORS))
    columns = tuple(column.name for column in table.columns)
    for column in columns:
        _known(file, f"{where}, columns", column, GENERATORS[table.generator])
    for key in (*table.primary_key, *([table.identity] if table.identity else [])):
        _known(file, f"{where}, key", key, columns)


def _check_phase(file: Path, workload: Workload, phase: Phase) -> None:
    where = f"phase '{phase.name}'"
    tables = tuple(workload.tables)
    for key, name in (("table", phase.table), ("after", phase.after)):
        if name:
            _known(file, f"{where}, {key}", name, tables)
    for text in (phase.sql, *phase.dialects.values(), *phase.reset):
        for _action, name in _TEMPLATE.findall(text):
            _known(file, f"{where}, SQL", name, tables)
    if phase.kind in ("query", "execute", "load", "connect") and not phase.sql:
        raise UsageError(f"{file}: {where} has no sql", f"a phase of kind '{phase.kind}' needs sql = …")
    if phase.truth in ("whole-table", "first-rows", "by-key", "range", "aggregate") and not phase.table:
        raise UsageError(f"{file}: {where} has no table", f"truth = '{phase.truth}' needs table = …")
    if phase.truth == "first-rows" and phase.rows_per_operation > workload.tables[phase.table].rows:
        raise UsageError(
            f"{file}: {where} reads {phase.rows_per_operation} rows of a table that has fewer",
            "lower rows_per_operation",
        )
    if phase.only and not result_columns(workload, phase):
        raise UsageError(f"{file}: {where}: no column fits only = {list(phase.only)}", "name columns of its table")
    if phase.truth in ("by-key", "range") and phase.parameters is None:
        raise UsageError(f"{file}: {where} has no parameters", f"truth = '{phase.truth}' needs parameters = {{…}}")
    ranged = phase.truth == "range" or (phase.truth == "aggregate" and phase.parameters is not None)
    if ranged and phase.range_rows < 1:
        raise UsageError(f"{file}: {where} reads no rows", "set range_rows, for example range_rows = 1000")
    if phase.truth == "aggregate":
        _check_aggregate(file, where, workload.tables[phase.table], phase)
    if phase.writes and phase.operations < 1:
        raise UsageError(
            f"{file}: {where} writes but has no operations", "set operations, for example operations = 1000"
        )
    if phase.kind == "load":
        _check_load(file, where, phase)
    if phase.counted:
        _check_counted(file, where, workload, phase)
    if phase.union != (phase.parameters is not None and phase.parameters.generator == "ranges"):
        raise UsageError(
            f"{file}: {where}: union and parameters = {{ generator = 'ranges', … }} belong together",
            "set both for one retrieval in parts, otherwise neither",
        )
    if phase.union:
        _check_union(file, where, workload, phase)
    if phase.parameters is None:
        return
    parameters = phase.parameters
    name = parameter_table(workload, phase)
    _known(file, f"{where}, parameters", name, tables)
    columns = tuple(column.name for column in workload.tables[name].columns)
    for column in parameters.columns:
        _known(file, f"{where}, parameters", column, columns)
    if parameters.count < 1:
        raise UsageError(f"{file}: {where}, parameters: count = {parameters.count}", "count is at least 1")
    if parameters.generator in ("uniform", "halves", "stride") and parameters.n < 1:
        raise UsageError(f"{file}: {where}, parameters: n = {parameters.n}", "n is the number of rows to choose from")
    if parameters.generator == "stride" and gcd(parameters.k, parameters.n) != 1:
        raise UsageError(
            f"{file}: {where}, parameters: k = {parameters.k} and n = {parameters.n} have a common divisor",
            "choose k that shares no factor with n",
        )


def _check_load(file: Path, where: str, phase: Phase) -> None:
    if not phase.way or not phase.table or phase.parameters is None:
        raise UsageError(
            f"{file}: {where} does not name what it loads", "kind = 'load' needs way, table and parameters = {…}"
        )
    if phase.parameters.count % phase.rows_per_operation:
        raise UsageError(
            f"{file}: {where}: {phase.parameters.count} parameters are not whole operations of "
            f"{phase.rows_per_operation} rows",
            "make count a multiple of rows_per_operation",
        )


def _check_counted(file: Path, where: str, workload: Workload, phase: Phase) -> None:
    table = workload.tables.get(phase.table)
    integers = tuple(column.name for column in table.columns if column.type == "integer") if table else ()
    _known(file, f"{where}, counted", phase.counted, integers)
    assert table is not None
    named = phase.parameters.columns if phase.parameters else ()
    if not (phase.writes and phase.kind == "execute" and phase.after == phase.table and named == table.primary_key):
        raise UsageError(
            f"{file}: {where}: the table cannot show what it counts",
            f"counted needs kind = 'execute', writes = true, after = '{phase.table}' and its primary key as parameters",
        )
    if not phase.reset:
        raise UsageError(f"{file}: {where} adds to existing counts", "write reset = ['UPDATE … SET … = 0']")


def _check_union(file: Path, where: str, workload: Workload, phase: Phase) -> None:
    assert phase.parameters is not None
    if phase.kind != "query" or phase.truth != "whole-table":
        raise UsageError(
            f"{file}: {where} does not read a whole table", "union needs kind = 'query', truth = 'whole-table'"
        )
    name = parameter_table(workload, phase)
    table = workload.tables.get(name)
    integers = tuple(column.name for column in table.columns if column.type == "integer") if table else ()
    _known(file, f"{where}, parameters, key", phase.parameters.key, integers)


def _check_aggregate(file: Path, where: str, table: Table, phase: Phase) -> None:
    columns = tuple(column.name for column in table.columns)
    for column in phase.columns:
        function, _, of = column.name.partition("_")
        _known(file, f"{where}, columns", function, AGGREGATES)
        if function != "count":
            _known(file, f"{where}, columns", of, columns)
