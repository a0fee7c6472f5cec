"""A workload's SQL in an engine's dialect."""

from __future__ import annotations

import re
from collections.abc import Callable

import msgspec

from rowpath.model.workload import Dialect, Phase, Table, Workload, column_names, with_columns

_TEMPLATE = re.compile(r"\{(create|drop|columns):([^{}]+)\}")


def for_engine(workload: Workload, supports: Callable[[str], str]) -> tuple[Workload, dict[str, str]]:
    """The workload without columns of logical types that the engine lacks, and the reason per column left out.

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
