"""What `rowpath probe` must know of an engine: its URLs, logins, sessions, files on disk and signs of its SQL."""

from __future__ import annotations

import fcntl
import getpass
import re
import stat
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

POSTGRESQL_PORT, MYSQL_PORT = 5432, 3306
LOCAL = ("", "localhost")
ESCAPES = {"b": "\b", "t": "\t", "n": "\n", "r": "\r", "s": " ", "\\": "\\", '"': '"', "'": "'"}  # of .my.cnf
SOCKET_KEYS = ("socket", "unix_socket", "host")
LOCK_TIMEOUT_S = 1
UNKNOWN_SESSION = "an unknown driver may ignore a read-only session: only your role protects the data"


@dataclass(frozen=True)
class Syntax:
    """Where the words of its SQL begin and end."""

    name_quote: str = '"'
    nested_comments: bool = False
    dollar_quotes: bool = False  # $tag$ … $tag$
    escape_strings: bool = False  # E'…' takes backslashes
    backslashes: bool = False  # every string does; # begins a comment, -- does so only before a blank
    brackets: bool = False  # [name]
    unknown: bool = False  # a driver of the user's own: what could mean two things is refused
    first_words: tuple[str, ...] = ()  # with which a query may begin besides SELECT, WITH, VALUES, TABLE


class FileLock(NamedTuple):
    """Bytes of a file on which a lock of that kind can be taken while no process writes."""

    file: Path
    kind: int  # of fcntl: F_RDLCK, F_WRLCK
    begin: int = 0
    length: int = 0  # 0: to the end


@dataclass(frozen=True)
class FileLayout:
    """How a database of an embedded engine lies on disk."""

    suffixes: tuple[str, ...] = ("",)  # appended to its name: of the main file, then of those beside it
    signature: tuple[int, bytes] = (0, b"")  # an offset in the main file and the bytes there; empty: its name says it
    directory_mark: str = ""  # it is a directory with this file
    not_copied: str = ""  # suffix of files in that directory that are left out
    open_mark: str = ""  # suffix of a file that is there while a program has the database open
    exclusive: bool = False  # one process at a time can open it, also for reading
    shared_read_only: bool = False  # several processes can open it if all of them only read
    # Of the main file and every file, what shows that a process writes; by default each file, whole.
    locks: Callable[[Path, tuple[Path, ...]], list[FileLock]] = lambda _main, every: [
        FileLock(file, fcntl.F_RDLCK) for file in every
    ]
    written_when_read: Callable[[Path], str] = lambda _main: ""  # why reading would change it; empty: it does not


@dataclass(frozen=True)
class ServerClock:
    """How a server says what an execution took it."""

    name: str  # of the statement, as people know it
    statement: str  # with {sql}: executes the query and delivers a text
    read_ms: Callable[[str], ServerTimes]  # what that text says


class ServerTimes(NamedTuple):
    """What a server needed for a query, in ms; `planning_ms` is 0 where it is not said apart."""

    planning_ms: float
    execution_ms: float


@dataclass(frozen=True)
class TlsFacts:
    """How its client programs take certificates; keys are `mode`, `ca`, `cert`, `key`."""

    strongest: str = "tls=verify-full"  # what a URL says for the fullest check
    options: Mapping[str, str] = field(
        default_factory=lambda: {"ca": "tls-ca", "cert": "tls-cert", "key": "tls-key"}
    )  # → a URL's option, as messages name it
    variables: Mapping[str, str] = field(default_factory=dict)  # → of the environment
    files: Mapping[str, str] = field(default_factory=dict)  # → below the user's directory, where no option names one
    checks_with_ca: str = ""  # the coordinate `tls` that becomes verify-ca where there are authorities


@dataclass(frozen=True)
class ProbeFacts:
    """Without `schemes` and `files`, no URL of `rowpath probe` names the engine."""

    schemes: tuple[str, ...] = ()  # of URLs
    port: int = 0  # of a server, where the URL names none; 0: it has no server
    url_options: tuple[str, ...] = ()  # what of a URL's options has a meaning
    server_programs: tuple[str, ...] = ()  # names of its server's processes, poolers before it included
    protocol: str = ""  # its server's, as URLs of drivers for several engines name it
    complete_login: Callable[[Login, Mapping[str, str]], Login] | None = None  # by the rules of its client programs
    tls: TlsFacts = TlsFacts()
    layout: FileLayout | None = None  # of an embedded database
    files: Mapping[str, str] = field(
        default_factory=dict
    )  # suffix of single files that are read as a table → delimiter of their values
    table_suffix: str = ""  # under which its adapters look for such a file
    driver_flag: str = ""  # the option that names the driver of an engine that is reached by the user's own
    syntax: Syntax | None = Syntax()  # None: it has no query language
    row_limit: str = ""  # with {rows}, after a query; empty: not known
    row_limit_statement: str = ""  # with {rows}: a session's own limit, instead
    session_statements: Callable[[str, int], tuple[str, ...]] = lambda _version, _timeout_ms: ()
    # (the server's own text of its version, ms) → what keeps a session from writing and from waiting
    prepared_settings: Mapping[str, tuple[str, ...]] = field(
        default_factory=dict
    )  # a session's setting of prepared statements with parameters → its values, the default first: a coordinate
    cast_literals: bool = False  # a parameter written into the SQL is cast to its type
    binary_literal: str = "X'{}'"  # with hexadecimal digits
    text_parameters: bool = False  # decimals, times and UUIDs are parameters as text: it has no types for them
    described_by_rows: bool = False  # a query's types are those of the rows that it delivers
    unbound_is_null: bool = False  # a placeholder without a parameter is NULL, not an error
    privileged_query: str = ""  # has a row when the login may do everything
    pooler_query: str = ""  # with {server_pid}: has a row when another process serves the session
    server_clock: ServerClock | None = None
    empty_query: str = ""  # a round trip in which a server does next to nothing
    session_note: str = ""  # what sessions cannot be kept from


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
        password=environment.get("PGPASSWORD") or None if given.password is None else given.password,
    )
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
    own = settings.get("password") if settings.get("user", user) == user else None
    known = (given.password, environment.get("MYSQL_PWD"), own)
    return replace(
        given,
        host=host,
        socket=socket if not host else "",
        port=port or port_of(environment.get("MYSQL_TCP_PORT", "")) or MYSQL_PORT,
        user=user,
        password=next((password for password in known if password is not None), None),
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
    return re.sub(r"\\(.?)", lambda escape: ESCAPES.get(escape[1], escape[0]), text)
