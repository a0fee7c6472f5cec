"""Workloads: TOML files → typed definitions, and their SQL in an engine's own dialect."""

from __future__ import annotations

import re
from collections.abc import Callable
from fnmatch import fnmatchcase
from math import gcd
from pathlib import Path as FilePath

import msgspec

from rowpath.engines.base import Engine
from rowpath.errors import UsageError
from rowpath.machine.directories import data_dir
from rowpath.model.workload import Column, Phase, Table, Workload
from rowpath.planning.experiment_file import decode_file
from rowpath.toml_file import nearest
from rowpath.workloads.generators import GENERATORS, parameter_table

_TEMPLATE = re.compile(r"\{(create|drop|columns):([^{}]+)\}")
AGGREGATES = ("count", "sum", "min", "max")


def names() -> list[str]:
    """The workloads that come with Rowpath."""
    return sorted(file.stem for file in (data_dir() / "workloads").glob("*.toml"))


def load_workload(name_or_path: str | FilePath) -> Workload:
    """A workload by name, or from a file when given a path or a name in `.toml`; UsageError for every mistake."""
    text = str(name_or_path)
    if isinstance(name_or_path, FilePath) or "/" in text or text.endswith(".toml"):
        return _read(FilePath(text))
    if text not in names():
        near = nearest(text, names())
        raise UsageError(
            f"there is no workload '{text}'", f"did you mean '{near}'?" if near else "rowpath list workloads"
        )
    return _read(data_dir() / "workloads" / f"{text}.toml")


def _read(file: FilePath) -> Workload:
    workload: Workload = decode_file(file, Workload)
    for name, table in workload.tables.items():
        _check_table(file, name, table)
    seen = set()
    for phase in workload.phases:
        if phase.name in seen:
            raise UsageError(f"{file}: phase '{phase.name}' is there twice", "give each phase a name of its own")
        seen.add(phase.name)
        _check_phase(file, workload, phase)
    return workload


def _known(file: FilePath, where: str, word: str, right: tuple[str, ...]) -> None:
    if word in right:
        return
    near = nearest(word, right)
    raise UsageError(
        f"{file}: {where} names '{word}', which is not there",
        f"did you mean '{near}'?" if near else f"there are: {', '.join(right) or 'none'}",
    )


def _check_table(file: FilePath, name: str, table: Table) -> None:
    where = f"table '{name}'"
    _known(file, f"{where}, generator", table.generator, tuple(GENERATORS))
    columns = tuple(column.name for column in table.columns)
    for column in columns:
        _known(file, f"{where}, columns", column, GENERATORS[table.generator])
    for key in (*table.primary_key, *([table.identity] if table.identity else [])):
        _known(file, f"{where}, key", key, columns)


def _check_phase(file: FilePath, workload: Workload, phase: Phase) -> None:
    where = f"phase '{phase.name}'"
    tables = tuple(workload.tables)
    for key, name in (("table", phase.table), ("after", phase.after)):
        if name:
            _known(file, f"{where}, {key}", name, tables)
    for text in (phase.sql, *phase.dialects.values(), *phase.reset):
        for _verb, name in _TEMPLATE.findall(text):
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
        raise UsageError(f"{file}: {where} is over no rows", "range_rows = 1000, or as many as each range has")
    if phase.truth == "aggregate":
        _check_aggregate(file, where, workload.tables[phase.table], phase)
    if phase.writes and phase.operations < 1:
        raise UsageError(
            f"{file}: {where} writes but has no operations", "write operations = 1000, or as many as it shall do"
        )
    if phase.kind == "load":
        _check_load(file, where, phase)
    if phase.counted:
        _check_counted(file, where, workload, phase)
    if phase.union != (phase.parameters is not None and phase.parameters.generator == "ranges"):
        raise UsageError(
            f"{file}: {where}: union and parameters = {{ generator = 'ranges', … }} go together",
            "one retrieval in parts has both, anything else neither",
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


def _check_load(file: FilePath, where: str, phase: Phase) -> None:
    if not phase.way or not phase.table or phase.parameters is None:
        raise UsageError(
            f"{file}: {where} does not say what it loads", "kind = 'load' needs way, table and parameters = {…}"
        )
    if phase.parameters.count % phase.rows_per_operation:
        raise UsageError(
            f"{file}: {where}: {phase.parameters.count} parameters are not whole operations of "
            f"{phase.rows_per_operation} rows",
            "make count a multiple of rows_per_operation",
        )


def _check_counted(file: FilePath, where: str, workload: Workload, phase: Phase) -> None:
    table = workload.tables.get(phase.table)
    integers = tuple(column.name for column in table.columns if column.type == "integer") if table else ()
    _known(file, f"{where}, counted", phase.counted, integers)
    assert table is not None
    named = phase.parameters.columns if phase.parameters else ()
    if not (phase.writes and phase.kind == "execute" and phase.after == phase.table and named == table.primary_key):
        raise UsageError(
            f"{file}: {where}: what it counts could not be told from the table",
            f"counted needs kind = 'execute', writes = true, after = '{phase.table}' and its primary key as parameters",
        )
    if not phase.reset:
        raise UsageError(f"{file}: {where} counts on from what is there", "write reset = ['UPDATE … SET … = 0']")


def _check_union(file: FilePath, where: str, workload: Workload, phase: Phase) -> None:
    assert phase.parameters is not None
    if phase.kind != "query" or phase.truth != "whole-table":
        raise UsageError(
            f"{file}: {where} is no retrieval of a whole table", "union needs kind = 'query', truth = 'whole-table'"
        )
    name = parameter_table(workload, phase)
    table = workload.tables.get(name)
    integers = tuple(column.name for column in table.columns if column.type == "integer") if table else ()
    _known(file, f"{where}, parameters, key", phase.parameters.key, integers)


def _check_aggregate(file: FilePath, where: str, table: Table, phase: Phase) -> None:
    columns = tuple(column.name for column in table.columns)
    for column in phase.columns:
        function, _, of = column.name.partition("_")
        _known(file, f"{where}, columns", function, AGGREGATES)
        if function != "count":
            _known(file, f"{where}, columns", of, columns)


def for_engine(workload: Workload, supports: Callable[[str], str]) -> tuple[Workload, dict[str, str]]:
    """The workload without the columns whose logical type the engine lacks, and the reason per column left out.

    Only a conformance workload is narrowed (its SQL lists columns by `{columns:T}`); any other comes back as it is.
    """
    if not workload.conformance_only:
        return workload, {}
    reasons: dict[str, str] = {}
    tables = {}
    for name, table in workload.tables.items():
        kept = []
        for column in table.columns:
            reason = supports(column.type)
            if reason:
                reasons[f"{name}.{column.name}"] = reason
            else:
                kept.append(column)
        tables[name] = msgspec.structs.replace(table, columns=tuple(kept))
    return msgspec.structs.replace(workload, tables=tables), reasons


def result_columns(workload: Workload, phase: Phase) -> tuple[Column, ...]:
    """The columns of the phase's result: its own, else those of its table; empty when it delivers no rows."""
    if phase.columns or phase.kind in ("execute", "load", "null"):
        return phase.columns
    columns = workload.tables[phase.table].columns if phase.table else ()
    if not phase.only:
        return columns
    return tuple(column for column in columns if any(fnmatchcase(column.name, pattern) for pattern in phase.only))


def _expand(workload: Workload, text: str, engine: Engine) -> str:
    def replacement(match: re.Match[str]) -> str:
        verb, name = match.groups()
        table = workload.tables[name]
        if verb == "create":
            return engine.create(name, table)
        return engine.drop(name) if verb == "drop" else ", ".join(column.name for column in table.columns)

    return _TEMPLATE.sub(replacement, text)


def sql_for(workload: Workload, phase: Phase, engine: Engine) -> str:
    """The phase's SQL in the engine's dialect, `?` placeholders; templates expanded."""
    names = ", ".join(column.name for column in result_columns(workload, phase))
    return _expand(workload, phase.dialects.get(engine.name, phase.sql).replace("{result}", names), engine)


def reset_for(workload: Workload, phase: Phase, engine: Engine) -> tuple[str, ...]:
    """The statements that make the phase's starting state anew; a DROP among them may fail, the others must not."""
    return tuple(_expand(workload, statement, engine) for statement in phase.reset)


def after_sql(workload: Workload, phase: Phase) -> str:
    """The query whose digest proves a write phase: every row and column of its `after` table."""
    columns = ", ".join(column.name for column in workload.tables[phase.after].columns)
    return f"SELECT {columns} FROM {phase.after}"
