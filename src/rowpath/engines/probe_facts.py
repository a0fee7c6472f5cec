"""What `rowpath probe` must know of an engine: its URLs, logins, sessions, files on disk and signs of its SQL."""

from __future__ import annotations

import fcntl
import re
import stat
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

LOCAL = ("", "localhost")
SOCKET_KEYS = ("socket", "unix_socket")
LOCK_TIMEOUT_S = 1
UNKNOWN_SESSION = "an unknown driver may ignore a read-only session: only your role protects the data"


@dataclass(frozen=True)
class Syntax:
    """Where the words of its SQL begin and end."""

    name_quote: str = '"'
    fold: Callable[[str], str] = str  # what it makes of a name without quotes; `str`: it finds names in any case
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
    """How a server says what an execution took it. Nothing of it changes more than the session that asks."""

    name: str  # of the statement, as people know it
    statement: str  # with {sql}: executes it and delivers a text; with {output}: what makes it make the output too
    read_ms: Callable[[str], ServerTimes]  # what that text says
    prepare: str = ""  # with {types} and {sql}: makes the statement that `call` executes; empty: it explains none
    call: str = ""  # with {values}
    cursor: str = ""  # with {sql}: what the server executes for a result behind a cursor of SQL
    output: str = ""  # with {format}: TEXT or BINARY; empty: its times never have making the output in them
    output_since: int = 0  # the major version from which it knows `output`
    output_work: str = "making the output"  # what its times leave out without that
    parallel_step: str = ""  # the name of the step that has workers; none run where a driver fetches in parts


@dataclass(frozen=True)
class PooledTransaction:
    """A transaction that leaves nothing in a server process which a pooler hands to others next."""

    begin: Callable[[int], tuple[str, ...]]  # with ms that a statement may take
    local: str  # with {key} and {value}: a setting that ends with it
    made_local: Callable[[str], str]  # what sets something of a session → the same until the transaction ends
    savepoint: str
    release: str  # of the savepoint: fails where the driver has ended the transaction meanwhile
    roll_back: str  # to the savepoint, after a failure
    named: str  # a query with a row where something was prepared by name in it and the pooler does not keep it itself
    clean: str  # removes that
    refuse: str  # the same, and fails where there was any
    commit: str
    check: str  # a query that delivers `check_text` where it only reads
    check_text: str


@dataclass(frozen=True)
class ConnectionLimits:
    """Queries of one text column about the server's connections; the one that asks is not counted."""

    limits: str  # a row for each limit of this login: its name|limit|in use|reserve
    others: str  # a row: how many other sessions were active within the last minute, or may have been


class ServerTimes(NamedTuple):
    """What a server needed for a query, in ms; `planning_ms` is 0 where it is not said apart. `plan`: its steps."""

    planning_ms: float
    execution_ms: float
    plan: tuple[str, ...] = ()


@dataclass(frozen=True)
class UrlOptions:
    """What the options of its connection strings mean beside login, socket and TLS; names are in lower case.

    An option that is in none of these is refused: it could change which rows are read.
    """

    same: Mapping[str, str] = field(default_factory=dict)  # option → the one that it is another name of
    settings: frozenset[str] = frozenset()  # of a session, which every connection obeys
    alike: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # option → the values that all paths have anyhow
    settings_alike: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # the same, of a session's settings
    harmless: frozenset[str] = frozenset()  # they change no row, and are ignored
    refused: Mapping[str, str] = field(default_factory=dict)  # option → what to do instead
    one_name: str = ""  # the option that is one schema's name, not a list
    switches: Callable[[str], dict[str, str]] | None = None  # the option `options` → settings. Errors: UsageError
    statement: Callable[[str, str], str] = lambda _name, _value: ""  # setting, value → what sets it. Errors: UsageError
    startup: Callable[[Mapping[str, str]], str] = lambda _session: ""  # settings → the option `options` that has them
    attributes: Mapping[str, str] = field(default_factory=dict)  # which of several hosts → a query with a row if it is
    attribute_option: str = ""  # the option that says which
    attribute_words: Mapping[str, str] = field(default_factory=dict)  # its other words → those of `attributes`
    several_hosts: bool = False  # its clients take a list of them


@dataclass(frozen=True)
class KeyValues:
    """How its connection strings of `key=value` are known, and what they call what URLs have."""

    keys: frozenset[str] = frozenset()  # of its own client library, parted by blanks
    odbc_drivers: tuple[str, ...] = ()  # beginnings of the names of its ODBC drivers, in lower case
    odbc_keys: Mapping[str, str] = field(default_factory=dict)  # key in lower case → option of a URL
    jdbc: tuple[str, ...] = ()  # what follows `jdbc:` in URLs of its drivers


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
    saved: Callable[[Mapping[str, str]], Mapping[str, str]] = lambda _environment: {}  # options in the user's own file


@dataclass(frozen=True)
class ProbeFacts:
    """Without `schemes` and `files`, no URL of `rowpath probe` names the engine."""

    schemes: tuple[str, ...] = ()  # of URLs
    port: int = 0  # of a server, where the URL names none; 0: it has no server
    url_options: tuple[str, ...] = ()  # what of a URL's options has a meaning for where it is, TLS or a file's form
    options: UrlOptions = UrlOptions()  # what others mean
    key_values: KeyValues = KeyValues()
    server_programs: tuple[str, ...] = ()  # names of its server's processes, poolers before it included
    protocol: str = ""  # its server's, as URLs of drivers for several engines name it
    with_defaults: Callable[[Mapping[str, str], Mapping[str, str]], dict[str, str]] = lambda options, _environment: (
        dict(options)
    )  # options of a connection string with what its services and variables add
    local_name_is_socket: bool = False  # to its drivers `localhost` may mean a socket of their own choice
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
    untyped_literals: tuple[str, ...] = ()  # types that are not: a literal is what it is compared with, as in programs
    binary_literal: str = "X'{}'"  # with hexadecimal digits
    text_parameters: bool = False  # decimals, times and UUIDs are parameters as text: it has no types for them
    described_by_rows: bool = False  # a query's types are those of the rows that it delivers
    unbound_is_null: bool = False  # a placeholder without a parameter is NULL, not an error
    primary_key_query: Callable[[Sequence[str]], str] | None = None
    # parts of a table's name → a query of the columns of its primary key, in order
    privileged_query: str = ""  # has a row when the login may do everything
    pooler_query: str = ""  # with {server_pid}: has a row when another process serves the session
    pooled: PooledTransaction | None = None  # what a query behind a pooler runs in; None: it is not probed
    server_clock: ServerClock | None = None
    connection_limits: ConnectionLimits | None = None
    empty_query: str = ""  # a round trip in which a server does next to nothing
    session_note: str = ""  # for the user: what holds for every session, or what it cannot be kept from


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

    def noting(self, *notes: str) -> Login:
        """The login with more for the user to know."""
        return replace(self, notes=self.notes + notes)


def shown(value: str) -> str:
    """A value of a connection string as an error shows it; not where a slip may have made a password a part of it."""
    return f"'{value}'" if re.fullmatch(r"[\w.,:/+ -]{0,60}", value) else "(not shown)"


def is_socket(path: Path) -> bool:
    """Whether a server may listen there."""
    try:
        return stat.S_ISSOCK(path.stat().st_mode)
    except OSError:
        return False


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
