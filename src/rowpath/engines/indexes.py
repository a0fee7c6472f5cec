"""Indexes beside a table's primary key, made once it is filled: the same words for every SQL engine."""

from __future__ import annotations

from rowpath.model.workload import Table


def statements(name: str, table: Table) -> list[str]:
    """CREATE INDEX for each of `Table.indexes`; they are called after the table and their columns."""
    return [f"CREATE INDEX {'_'.join((name, *columns))} ON {name} ({', '.join(columns)})" for columns in table.indexes]
