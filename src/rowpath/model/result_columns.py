"""The columns of a phase's result, and its SQL with columns named."""

from __future__ import annotations

import re
from collections.abc import Iterable
from fnmatch import fnmatchcase

from rowpath.model.workload import Column, Phase, Workload

_COLUMNS = re.compile(r"\{columns:([^{}]+)\}")


def result_columns(workload: Workload, phase: Phase) -> tuple[Column, ...]:
    """The columns of the phase's result: its own, else those of its table; empty when it delivers no rows."""
    if phase.columns or phase.kind in ("execute", "load", "null"):
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
