"""A query of which no more than this many rows are read: the engine stops by itself, so that all paths read alike.

A driver that takes a whole result before it hands over the first row could not stop any other way.
"""

from __future__ import annotations

from rowpath.errors import UsageError

LIMITS = {
    "postgresql": "LIMIT {rows}",
    "sqlite": "LIMIT {rows}",
    "duckdb": "LIMIT {rows}",
    "h2": "LIMIT {rows}",
    "derby": "FETCH FIRST {rows} ROWS ONLY",
}
BY_SESSION = ("mysql", "mariadb")


def limited(sql: str, engine: str, max_rows: int | None) -> str:
    """The query as it is asked; UsageError where the engine's dialect is unknown or a file is read."""
    if max_rows is None or engine in BY_SESSION:
        return sql
    if engine not in LIMITS:
        raise UsageError(f"--max-rows {max_rows}: not available for {engine}", "put the limit into the query")
    return f"SELECT * FROM (\n{sql}\n) AS limited {LIMITS[engine].format(rows=max_rows)}"


def session_limit(engine: str, max_rows: int | None) -> tuple[str, ...]:
    """What a connection is told besides; a LIMIT of the query's own goes before it."""
    return (f"SET SESSION sql_select_limit = {max_rows}",) if max_rows is not None and engine in BY_SESSION else ()
