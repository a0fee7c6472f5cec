"""What `rowpath probe` must know of an engine: its URLs, logins, sessions, files on disk and signs of its SQL."""

from __future__ import annotations

import fcntl
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from rowpath.engines.login import Login

TLS_KEYS = ("sslmode", "ssl-mode", "tls")
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
class ProbeFacts:
    """Without `schemes` and `files`, no URL of `rowpath probe` names the engine."""

    schemes: tuple[str, ...] = ()  # of URLs
    port: int = 0  # of a server, where the URL names none; 0: it has no server
    url_options: tuple[str, ...] = ()  # what of a URL's options has a meaning
    server_programs: tuple[str, ...] = ()  # names of its server's processes, poolers before it included
    protocol: str = ""  # its server's, as URLs of drivers for several engines name it
    complete_login: Callable[[Login, Mapping[str, str]], Login] | None = None  # by the rules of its client programs
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
