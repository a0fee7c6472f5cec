"""Who logs in and where: what a URL leaves open, from the environment, PostgreSQL's and MySQL's own files."""

from __future__ import annotations

import getpass
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

PASSWORD_VARIABLE = "ROWPATH_PROBE_PASSWORD"
PORTS = {"postgresql": 5432, "mysql": 3306, "mariadb": 3306, "derby": 1527, "h2": 9092}
LOCAL = ("", "localhost")
ESCAPES = {"b": "\b", "t": "\t", "n": "\n", "r": "\r", "s": " ", "\\": "\\", '"': '"', "'": "'"}


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
        """The same with its host, which is a path, as the socket."""
        return replace(self, host="", socket=self.host)


def complete(engine: str, given: Login, environment: Mapping[str, str]) -> Login:
    """The login with everything that the URL left open, by the rules of the engine's own client programs."""
    if given.password is None and environment.get(PASSWORD_VARIABLE):
        given = replace(given, password=environment[PASSWORD_VARIABLE])
    if engine == "postgresql":
        return _postgresql(given, environment)
    if engine in ("mysql", "mariadb"):
        return _mysql(engine, given, environment)
    return replace(given, host=given.host or "localhost", port=given.port or PORTS[engine])


def _postgresql(given: Login, environment: Mapping[str, str]) -> Login:
    if not given.host and not given.socket:
        given = replace(given, host=environment.get("PGHOST", "localhost"))
        if given.host.startswith("/"):
            given = given.moved_to_socket()
    user = given.user or environment.get("PGUSER", "") or getpass.getuser()
    login = replace(
        given,
        port=given.port or _port(environment.get("PGPORT", "")) or PORTS["postgresql"],
        user=user,
        database=given.database or environment.get("PGDATABASE", "") or user,
    )
    if login.password is None and environment.get("PGPASSWORD"):
        return replace(login, password=environment["PGPASSWORD"])
    if login.password is not None:
        return login
    file = Path(environment.get("PGPASSFILE") or _home(environment) / ".pgpass")
    return _from_pgpass(login, file)


def _from_pgpass(login: Login, file: Path) -> Login:
    text, notes = _private_text(file, 0o077)
    for line in text.splitlines():
        fields = _fields(line)
        if line.startswith("#") or len(fields) != 5:
            continue
        wanted = (login.host or "localhost", str(login.port), login.database, login.user)
        socket_too = login.socket and fields[0] == login.socket
        matches = [said in ("*", is_there) for said, is_there in zip(fields, wanted, strict=False)]
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


def _mysql(engine: str, given: Login, environment: Mapping[str, str]) -> Login:
    groups = ("client", "client-mariadb") if engine == "mariadb" else ("client",)
    said, notes = _option_file(_home(environment) / ".my.cnf", groups)
    host, socket, port = given.host, given.socket, given.port
    if not host and not socket:
        host, socket = said.get("host", environment.get("MYSQL_HOST", "")), said.get("socket", "")
        port = port or _port(said.get("port", ""))
        if host in LOCAL and not socket:
            socket = environment.get("MYSQL_UNIX_PORT", "")
    # To these drivers `localhost` would mean a socket of their own choice.
    host = "" if socket and host in LOCAL else "127.0.0.1" if host in LOCAL else host
    user = given.user or said.get("user", "") or getpass.getuser()
    password = given.password
    if password is None:
        password = environment.get("MYSQL_PWD")
    if password is None and said.get("user", user) == user:
        password = said.get("password")
    return replace(
        given,
        host=host,
        socket=socket if not host else "",
        port=port or _port(environment.get("MYSQL_TCP_PORT", "")) or PORTS[engine],
        user=user,
        password=password,
        notes=given.notes + notes,
    )


def _option_file(file: Path, groups: tuple[str, ...]) -> tuple[dict[str, str], tuple[str, ...]]:
    """What the groups of an option file say; a file that everybody may write to is passed over, as by MySQL."""
    text, notes = _private_text(file, 0o002)
    said: dict[str, str] = {}
    group = ""
    for line in map(str.strip, text.splitlines()):
        if line.startswith("[") and line.endswith("]"):
            group = line[1:-1].strip()
        elif group in groups and line and line[0] not in "#;!":
            key, _, value = line.partition("=")
            said[key.strip().replace("-", "_")] = _value(value.strip())
    return said, notes


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


def _private_text(file: Path, forbidden: int) -> tuple[str, tuple[str, ...]]:
    """The text of a file that holds passwords, and a note when it is passed over; empty when there is none."""
    try:
        mode = stat.S_IMODE(file.stat().st_mode)
        if mode & forbidden:
            return "", (f"{file} is ignored: other users can access it (mode {mode:o}); chmod 600 {file}",)
        return file.read_text(encoding="utf-8", errors="surrogateescape"), ()
    except FileNotFoundError:
        return "", ()
    except OSError as error:
        return "", (f"{file} is ignored: {error.strerror}",)


def _home(environment: Mapping[str, str]) -> Path:
    return Path(environment.get("HOME") or Path.home())


def _port(text: str) -> int:
    return int(text) if text.isdigit() and 0 < int(text) < 65536 else 0
