"""A query of which no more than this many rows are read: the engine stops by itself, so that all paths read alike.

A driver that takes a whole result before it hands over the first row could not stop any other way.
"""

from __future__ import annotations

from rowpath.engines import ENGINES
from rowpath.errors import UsageError


def limited(sql: str, engine: str, max_rows: int | None) -> str:
    """The query as it is sent; UsageError where the engine's dialect is unknown or a file is read."""
    facts = ENGINES[engine].probe
    if max_rows is None or facts.row_limit_statement:
        return sql
    if not facts.row_limit:
        raise UsageError(f"--max-rows {max_rows}: not available for {engine}", "put the limit into the query")
    return f"SELECT * FROM (\n{sql}\n) AS limited {facts.row_limit.format(rows=max_rows)}"


def session_limit(engine: str, max_rows: int | None) -> tuple[str, ...]:
    """What a connection executes besides; a LIMIT of the query's own goes before it."""
    statement = ENGINES[engine].probe.row_limit_statement
    return (statement.format(rows=max_rows),) if max_rows is not None and statement else ()
