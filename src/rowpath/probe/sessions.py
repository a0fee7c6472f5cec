"""What every connection of a probe is told first, so that it only reads and gives way; per engine."""

from __future__ import annotations

from rowpath.probe.target import Target

LOCK_TIMEOUT_S = 1
IDLE_TIMEOUT_S = 60  # of a transaction that no one goes on with: ours never rest
NAME = "rowpath"
RECOMMENDED = "a read-only role is safer: docs/probe.md has its SQL"
_GRANTEE = "CONCAT('''', REPLACE(CURRENT_USER(), '@', '''@'''), '''')"
PRIVILEGED = {
    "postgresql": "SELECT rolname::text FROM pg_catalog.pg_roles WHERE rolname = current_user AND rolsuper",
    "mysql": "SELECT privilege_type FROM information_schema.user_privileges"
    f" WHERE grantee = {_GRANTEE} AND privilege_type = 'SUPER'",
}
PRIVILEGED["mariadb"] = PRIVILEGED["mysql"]
LEFT_OPEN = {
    "derby": "Derby's sessions have no read-only mode and no timeouts in SQL: only your role protects the data",
    "h2": "H2's sessions have no read-only mode in SQL: only your role protects the data; H2 also returns the"
    " last result of a query again while no table changes, so the figures show only its delivery",
    "jdbc": "an unknown driver may ignore a read-only session: only your role protects the data",
    "odbc": "an unknown driver may ignore a read-only session: only your role protects the data",
}


def before(target: Target, version: str, timeout_s: float) -> tuple[str, ...]:
    """The statements, in order; `version`: what the server says of itself."""
    timeout_ms = max(1, round(timeout_s * 1000))
    if target.engine == "postgresql":
        return (
            "SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY",
            f"SET application_name = '{NAME}'",
            f"SET statement_timeout = {timeout_ms}",
            f"SET lock_timeout = {LOCK_TIMEOUT_S * 1000}",
            f"SET idle_in_transaction_session_timeout = {IDLE_TIMEOUT_S * 1000}",
        )
    if target.engine in ("mysql", "mariadb"):
        mariadb = "mariadb" in version.lower()
        limit = f"max_statement_time = {timeout_ms / 1000}" if mariadb else f"max_execution_time = {timeout_ms}"
        return (
            "SET SESSION TRANSACTION READ ONLY",
            f"SET SESSION {limit}",
            f"SET SESSION lock_wait_timeout = {LOCK_TIMEOUT_S}",
            f"SET SESSION innodb_lock_wait_timeout = {LOCK_TIMEOUT_S}",
        )
    if target.engine == "h2":
        return f"SET QUERY_TIMEOUT {timeout_ms}", f"SET LOCK_TIMEOUT {LOCK_TIMEOUT_S * 1000}"
    return ("PRAGMA query_only = ON",) if target.engine == "sqlite" else ()


def privileged_query(engine: str) -> str:
    """A query that has a row when the login may do everything; empty where no one can tell."""
    return PRIVILEGED.get(engine, "")


def privileged_note(target: Target) -> str:
    """What is said of such a login."""
    return f"{target.user} is a superuser of this server;  {RECOMMENDED}"


def pooler_query(engine: str, server_pid: int | None) -> str:
    """A query that has a row when another process serves the session than the one that answered the connection."""
    if engine != "postgresql" or not server_pid:
        return ""
    return f"SELECT 'pooled' WHERE pg_backend_pid() <> {int(server_pid)}"


def notes(target: Target) -> tuple[str, ...]:
    """What cannot be promised for this engine."""
    if target.deployment != "server" or target.engine not in LEFT_OPEN:
        return ()
    return (LEFT_OPEN[target.engine],)
