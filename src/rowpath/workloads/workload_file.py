"""Workloads: TOML files → typed definitions, at any scale, and their SQL in an engine's own dialect."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from math import gcd
from pathlib import Path

from msgspec.structs import replace

from rowpath.errors import UsageError
from rowpath.machine.directories import data_dir
from rowpath.model.workload import (
    Dialect,
    Parameters,
    Phase,
    Table,
    Workload,
    column_names,
    result_columns,
    with_columns,
)
from rowpath.toml_file import decode_file, nearest
from rowpath.workloads.generators import GENERATORS, parameter_table

_TEMPLATE = re.compile(r"\{(create|drop|columns):([^{}]+)\}")
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
        columns = _names(table)
        for key, words, right in (
            ("generator", (table.generator,), tuple(GENERATORS)),
            ("columns", columns, GENERATORS.get(table.generator, ())),
            ("key", (*table.primary_key, *filter(None, [table.identity])), columns),
        ):
            for fault, remedy in _unknown(key, words, right):
                raise UsageError(f"{file}: table '{name}'{fault}", remedy)
    seen = set()
    for phase in workload.phases:
        if phase.name in seen:
            raise UsageError(f"{file}: duplicate phase '{phase.name}'", "give each phase its own name")
        seen.add(phase.name)
        for fault, remedy in _phase_faults(workload, phase):
            raise UsageError(f"{file}: phase '{phase.name}'{fault}", remedy)
    return workload


def _unknown(key: str, words: Iterable[str], right: tuple[str, ...], inside: str = "") -> Iterator[Fault]:
    for word in words:
        if word not in right:
            near = nearest(word, right)
            remedy = f"did you mean '{near}'?" if near else f"one of: {', '.join(right) or 'none'}"
            yield f"{inside}: unknown {key} '{word}'", remedy


def _phase_faults(workload: Workload, phase: Phase) -> Iterator[Fault]:
    """What is wrong with a phase, behind its name, and the remedy; each relies on those before it."""
    tables = tuple(workload.tables)
    yield from _unknown("table", filter(None, [phase.table]), tables)
    yield from _unknown("after", (*filter(None, [phase.after]), *phase.also_after), tables)
    for text in (phase.sql, *phase.dialects.values(), *phase.reset):
        yield from _unknown("SQL", (name for _action, name in _TEMPLATE.findall(text)), tables)
    if phase.kind in ("query", "execute", "load", "connect") and not phase.sql:
        yield " has no sql", f"a phase of kind '{phase.kind}' needs sql = …"
    by_layer = phase.kind == "objects"
    if (by_layer and not phase.writes) != (phase.expected == "objects") or (by_layer and not phase.access):
        yield " does not name what it delivers", "kind = 'objects' needs access = …, and expected = 'objects' or writes"
    if phase.expected in ("whole-table", "first-rows", "by-key", "range", "aggregate", "objects") and not phase.table:
        yield " has no table", f"expected = '{phase.expected}' needs table = …"
    if phase.expected == "first-rows" and phase.rows_per_operation > workload.tables[phase.table].rows:
        yield f" reads {phase.rows_per_operation} rows of a table that has fewer", "lower rows_per_operation"
    if phase.only and not result_columns(workload, phase):
        yield f": no column fits only = {list(phase.only)}", "name columns of its table"
    if (by_layer or phase.expected in ("by-key", "range")) and phase.parameters is None:
        yield " has no parameters", "it needs parameters = {…}"
    ranged = phase.expected == "range" or (phase.expected == "aggregate" and phase.parameters is not None)
    if ranged and phase.range_rows < 1:
        yield " reads no rows", "set range_rows, for example range_rows = 1000"
    for column in phase.columns if phase.expected == "aggregate" else ():
        function, _, of = column.name.partition("_")
        yield from _unknown("columns", [function], ("count", "sum", "min", "max"))
        if function != "count":
            yield from _unknown("columns", [of], _names(workload.tables[phase.table]))
    if phase.writes and phase.operations < 1:
        yield " writes but has no operations", "set operations, for example operations = 1000"
    if phase.kind == "load":
        if not phase.way or not phase.table or phase.parameters is None:
            yield " does not name what it loads", "kind = 'load' needs way, table and parameters = {…}"
        elif phase.parameters.count % phase.rows_per_operation:
            yield (
                f": {phase.parameters.count} parameters are not whole operations of {phase.rows_per_operation} rows",
                "make count a multiple of rows_per_operation",
            )
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


def _names(table: Table) -> tuple[str, ...]:
    return tuple(column.name for column in table.columns)


def _integers(table: Table | None) -> tuple[str, ...]:
    return tuple(column.name for column in table.columns if column.type == "integer") if table else ()


def at_scale(workload: Workload, scale: float) -> Workload:
    """The workload with its rows, operations and parameters times `scale` (0: its own default), each at least 1.

    A workload without a scale comes back as it is. UsageError for a scale that is not positive.
    """
    if not workload.scale:
        return workload
    factor = scale or workload.scale
    if factor < 0:
        raise UsageError(f"--scale {scale:g}: a scale is a positive number", f"--scale {workload.scale:g}")
    tables = {name: replace(table, rows=_times(table.rows, factor)) for name, table in workload.tables.items()}
    phases = tuple(_scaled(phase, factor) for phase in workload.phases)
    return replace(workload, tables=tables, phases=phases, scale=factor)


def all_at_scale(workloads: Mapping[str, Workload], scale: float) -> dict[str, Workload]:
    """The workloads, those with a scale at this one (0: each at its own default). UsageError as `at_scale`."""
    return {name: at_scale(workload, scale) for name, workload in workloads.items()}


def _times(number: int, factor: float) -> int:
    return max(1, round(number * factor)) if number else 0


def _scaled(phase: Phase, factor: float) -> Phase:
    parameters, rows_per_operation = phase.parameters, phase.rows_per_operation
    if parameters is not None and parameters.generator != "ranges":
        n, k = _times(parameters.n, factor), parameters.k
        while parameters.generator == "stride" and gcd(k, n) != 1:
            k += 1
        parameters = replace(parameters, count=_times(parameters.count, factor), n=n, k=k)
    if phase.expected == "whole-table":
        rows_per_operation = _times(rows_per_operation, factor)
    return replace(
        phase,
        operations=_times(phase.operations, factor),
        rows_per_operation=rows_per_operation,
        parameters=parameters,
    )


def for_engine(workload: Workload, supports: Callable[[str], str]) -> tuple[Workload, dict[str, str]]:
    """The workload without columns of logical types that the engine lacks, and the reason per column left out.

    Only a conformance workload is narrowed (its SQL lists columns by `{columns:T}`); any other comes back as it is.
    """
    if not workload.conformance_only:
        return workload, {}
    reasons = {
        f"{name}.{column.name}": reason
        for name, table in workload.tables.items()
        for column in table.columns
        if (reason := supports(column.type))
    }
    tables = {}
    for name, table in workload.tables.items():
        kept = tuple(column for column in table.columns if f"{name}.{column.name}" not in reasons)
        tables[name] = replace(table, columns=kept)
    return replace(workload, tables=tables), reasons


def _expand(workload: Workload, text: str, engine: Dialect) -> str:
    def replacement(match: re.Match[str]) -> str:
        action, name = match.groups()
        table = workload.tables[name]
        if action == "create":
            return engine.create(name, table)
        return engine.drop(name) if action == "drop" else column_names(table.columns)

    return _TEMPLATE.sub(replacement, text)


def sql_for(workload: Workload, phase: Phase, engine: Dialect) -> str:
    """The phase's SQL in the engine's dialect, `?` placeholders; templates expanded."""
    return _expand(workload, with_columns(workload, phase, phase.dialects.get(engine.name, phase.sql)), engine)


def reset_for(workload: Workload, phase: Phase, engine: Dialect) -> tuple[str, ...]:
    """The statements that make the phase's starting state again; a DROP among them may fail, the others must not."""
    return tuple(_expand(workload, statement, engine) for statement in phase.reset)


def whole_sql(name: str, table: Table) -> str:
    """A query of every row and column of a table; its digest proves a write phase (`after`), a copy or a backup."""
    return f"SELECT {column_names(table.columns)} FROM {name}"
