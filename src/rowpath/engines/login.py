"""Who logs in where: from URLs, the environment and the files of client programs."""

from __future__ import annotations

import getpass
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

POSTGRESQL_PORT, MYSQL_PORT = 5432, 3306
LOCAL = ("", "localhost")
ESCAPES = {"b": "\b", "t": "\t", "n": "\n", "r": "\r", "s": " ", "\\": "\\", '"': '"', "'": "'"}  # of .my.cnf


@dataclass(frozen=True)
class Login:
    """Where a server is and who logs in; empty is what is not known yet. A password of None was not given."""

    host: str
    port: int
    user: str
    password: str | None = field(repr=False)
    database: str
    socket: str
    notes: tuple[str, ...] = ()

    def moved_to_socket(self) -> Login:
        """The login with its host, which is a path, as the socket."""
        return replace(self, host="", socket=self.host)


def private_text(file: Path, forbidden: int) -> tuple[str, tuple[str, ...]]:
    """The text of a file that holds passwords, and a note when it is ignored; empty when there is none.

    `forbidden`: bits of its mode that make it one that others may use.
    """
    try:
        mode = stat.S_IMODE(file.stat().st_mode)
        if mode & forbidden:
            return "", (f"{file} is ignored: other users can access it (mode {mode:o}); chmod 600 {file}",)
        return file.read_text(encoding="utf-8", errors="surrogateescape"), ()
    except FileNotFoundError:
        return "", ()
    except OSError as error:
        return "", (f"{file} is ignored: {error.strerror}",)


def home(environment: Mapping[str, str]) -> Path:
    """The user's directory."""
    return Path(environment.get("HOME") or Path.home())


def port_of(text: str) -> int:
    """0 where the text is no port."""
    return int(text) if text.isdigit() and 0 < int(text) < 65536 else 0


def complete_postgresql(given: Login, environment: Mapping[str, str]) -> Login:
    """The login with what the URL left open, by libpq's rules: its variables, then .pgpass."""
    if not given.host and not given.socket:
        given = replace(given, host=environment.get("PGHOST", "localhost"))
        if given.host.startswith("/"):
            given = given.moved_to_socket()
    user = given.user or environment.get("PGUSER", "") or getpass.getuser()
    login = replace(
        given,
        port=given.port or port_of(environment.get("PGPORT", "")) or POSTGRESQL_PORT,
        user=user,
        database=given.database or environment.get("PGDATABASE", "") or user,
    )
    if login.password is None and environment.get("PGPASSWORD"):
        return replace(login, password=environment["PGPASSWORD"])
    if login.password is not None:
        return login
    text, notes = private_text(Path(environment.get("PGPASSFILE") or home(environment) / ".pgpass"), 0o077)
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


def complete_mysql(groups: tuple[str, ...], given: Login, environment: Mapping[str, str]) -> Login:
    """The login with what the URL left open, from these groups of ~/.my.cnf and the environment."""
    settings, notes = _option_file(home(environment) / ".my.cnf", groups)
    host, socket, port = given.host, given.socket, given.port
    if not host and not socket:
        host, socket = settings.get("host", environment.get("MYSQL_HOST", "")), settings.get("socket", "")
        port = port or port_of(settings.get("port", ""))
        if host in LOCAL and not socket:
            socket = environment.get("MYSQL_UNIX_PORT", "")
    # To these drivers `localhost` would mean a socket of their own choice.
    host = "" if socket and host in LOCAL else "127.0.0.1" if host in LOCAL else host
    user = given.user or settings.get("user", "") or getpass.getuser()
    password = given.password
    if password is None:
        password = environment.get("MYSQL_PWD")
    if password is None and settings.get("user", user) == user:
        password = settings.get("password")
    return replace(
        given,
        host=host,
        socket=socket if not host else "",
        port=port or port_of(environment.get("MYSQL_TCP_PORT", "")) or MYSQL_PORT,
        user=user,
        password=password,
        notes=given.notes + notes,
    )


def _option_file(file: Path, groups: tuple[str, ...]) -> tuple[dict[str, str], tuple[str, ...]]:
    """The settings in these groups of an option file; one that every user may write to is ignored, as by MySQL."""
    text, notes = private_text(file, 0o002)
    settings: dict[str, str] = {}
    group = ""
    for line in map(str.strip, text.splitlines()):
        if line.startswith("[") and line.endswith("]"):
            group = line[1:-1].strip()
        elif group in groups and line and line[0] not in "#;!":
            key, _, value = line.partition("=")
            settings[key.strip().replace("-", "_")] = _value(value.strip())
    return settings, notes


def _value(text: str) -> str:
    """A value of an option file: quoted or up to a comment, with MySQL's escapes."""
    if text[:1] in ("'", '"') and text[0] in text[1:]:
        text = text[1 : text.rindex(text[0])]
    else:
        text = text.partition(" #")[0].rstrip()
    out, signs = "", iter(text)
    for sign in signs:
        if sign != "\\":
            out += sign
            continue
        following = next(signs, "")
        out += ESCAPES.get(following, "\\" + following)
    return out
