"""Who logs in to PostgreSQL where, as libpq completes it: from the environment and .pgpass."""

from __future__ import annotations

import getpass
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from rowpath.engines.login import Login, home, port_of, private_text

PORT = 5432


def complete(given: Login, environment: Mapping[str, str]) -> Login:
    """The login with what the URL left open, by libpq's rules: its variables, then .pgpass."""
    if not given.host and not given.socket:
        given = replace(given, host=environment.get("PGHOST", "localhost"))
        if given.host.startswith("/"):
            given = given.moved_to_socket()
    user = given.user or environment.get("PGUSER", "") or getpass.getuser()
    login = replace(
        given,
        port=given.port or port_of(environment.get("PGPORT", "")) or PORT,
        user=user,
        database=given.database or environment.get("PGDATABASE", "") or user,
    )
    if login.password is None and environment.get("PGPASSWORD"):
        return replace(login, password=environment["PGPASSWORD"])
    if login.password is not None:
        return login
    file = Path(environment.get("PGPASSFILE") or home(environment) / ".pgpass")
    return _from_pgpass(login, file)


def _from_pgpass(login: Login, file: Path) -> Login:
    text, notes = private_text(file, 0o077)
    for line in text.splitlines():
        fields = _fields(line)
        if line.startswith("#") or len(fields) != 5:
            continue
        wanted = (login.host or "localhost", str(login.port), login.database, login.user)
        socket_too = login.socket and fields[0] == login.socket
        matches = [pattern in ("*", is_there) for pattern, is_there in zip(fields, wanted, strict=False)]
        if all(matches[1:]) and (matches[0] or socket_too):
            return replace(login, password=fields[4], notes=login.notes + notes)
    return replace(login, notes=login.notes + notes)


def _fields(line: str) -> list[str]:
    """The fields of a line of .pgpass: between colons, where a backslash takes a colon or backslash as it is."""
    fields, escaped = [""], False
    for sign in line:
        if escaped or sign not in ":\\":
            fields[-1] += sign
            escaped = False
        elif sign == "\\":
            escaped = True
        else:
            fields.append("")
    return fields
