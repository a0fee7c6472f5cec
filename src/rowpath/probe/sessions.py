"""What every connection of a probe executes first, so that it only reads and gives way to others."""

from __future__ import annotations

from rowpath.engines import ENGINES

RECOMMENDED = "a read-only role is safer: docs/probe.md has its SQL"


def before(engine: str, version: str, timeout_s: float, max_rows: int | None) -> tuple[str, ...]:
    """The statements, in order; `version`: what the server reports of itself."""
    statements = ENGINES[engine].probe.session_statements(version, max(1, round(timeout_s * 1000)))
    return statements + row_limit(engine, max_rows)


def row_limit(engine: str, max_rows: int | None) -> tuple[str, ...]:
    """The statement that limits the rows of every result, where the engine has one; the query's own LIMIT wins."""
    statement = ENGINES[engine].probe.row_limit_statement
    return (statement.format(rows=max_rows),) if max_rows is not None and statement else ()


def pooler_query(engine: str, server_pid: int | None) -> str:
    """A query that has a row when another process serves the session than the one that answered the connection."""
    return ENGINES[engine].probe.pooler_query.format(server_pid=int(server_pid)) if server_pid else ""
