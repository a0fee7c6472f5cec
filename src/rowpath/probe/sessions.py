"""What every connection of a probe executes first, so that it only reads and gives way to others."""

from __future__ import annotations

from rowpath.engines import ENGINES
from rowpath.model.path import AccessPath

RECOMMENDED = "a read-only role is safer: docs/probe.md has its SQL"


AT_THE_SERVER = "give the URL of the server itself; docs/probe.md has what works through a pooler"
POOLER_WORDS = "unsupported startup parameter"  # PgBouncer's own, where it does not ignore what drivers send
# How a pooler shares connections → what that means for statement modes through it.
POOLING = {
    "session": "pools by session, as far as two connections show: every statement mode works through it",
    "transaction": "pools by transaction: statement=prepared fails through it unless it keeps prepared statements "
    "itself; statement=bound, statement=text and cursors in a transaction work",
    "statement": "pools by statement: statement=prepared, transactions and cursors fail through it; statement=bound "
    "and statement=text work",
}


def before(engine: str, version: str, timeout_s: float, max_rows: int | None) -> tuple[str, ...]:
    """The statements, in order; `version`: what the server reports of itself."""
    statements = ENGINES[engine].probe.session_statements(version, max(1, round(timeout_s * 1000)))
    return statements + row_limit(engine, max_rows)


def of_path(path: AccessPath) -> tuple[str, ...]:
    """The statements that make the coordinates of a path true that are settings of its session."""
    settings = ENGINES[path.engine].probe.prepared_settings
    return tuple(
        f"SET {key} = {path.get(key)}" for key, values in settings.items() if path.get(key) not in ("none", values[0])
    )


def row_limit(engine: str, max_rows: int | None) -> tuple[str, ...]:
    """The statement that limits the rows of every result, where the engine has one; the query's own LIMIT wins."""
    statement = ENGINES[engine].probe.row_limit_statement
    return (statement.format(rows=max_rows),) if max_rows is not None and statement else ()


def pooler_query(engine: str, server_pid: int | None) -> str:
    """A query that has a row when another process serves the session than the one that answered the connection."""
    return ENGINES[engine].probe.pooler_query.format(server_pid=int(server_pid)) if server_pid else ""
