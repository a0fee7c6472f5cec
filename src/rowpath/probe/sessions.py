"""What every connection of a probe executes first, so that it only reads and gives way; the engine says how."""

from __future__ import annotations

from rowpath.engines import ENGINES
from rowpath.probe.target import Target

RECOMMENDED = "a read-only role is safer: docs/probe.md has its SQL"


def before(target: Target, version: str, timeout_s: float) -> tuple[str, ...]:
    """The statements, in order; `version`: what the server says of itself."""
    return ENGINES[target.engine].probe.session_statements(version, max(1, round(timeout_s * 1000)))


def privileged_query(engine: str) -> str:
    """A query that has a row when the login may do everything; empty where none can tell."""
    return ENGINES[engine].probe.privileged_query


def privileged_note(target: Target) -> str:
    """The warning about such a login."""
    return f"{target.user} is a superuser of this server; {RECOMMENDED}"


def pooler_query(engine: str, server_pid: int | None) -> str:
    """A query that has a row when another process serves the session than the one that answered the connection."""
    return ENGINES[engine].probe.pooler_query.format(server_pid=int(server_pid)) if server_pid else ""


def notes(target: Target) -> tuple[str, ...]:
    """What cannot be promised for this engine."""
    note = ENGINES[target.engine].probe.session_note
    return (note,) if note and target.deployment == "server" else ()
