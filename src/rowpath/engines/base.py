"""What an engine must offer; each is the `ENGINE` of a module or package beside this one, or one of its `FAMILY`.

An engine names no driver and no language. Where a database can only be made or filled through a driver,
`load_through_runner.loader` finds the adapter that has `loads = [NAME]` in its entry of a manifest.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol, TypeVar, runtime_checkable

from typing_extensions import override

from rowpath.engines.probe_facts import ProbeFacts
from rowpath.model.availability import Availability
from rowpath.model.core_user import CoreUser
from rowpath.model.path import AccessPath
from rowpath.model.workload import Dialect, Table


@dataclass
class Settled:
    """What bringing an engine to rest took: time and bytes written, outside every clock (deferred cost)."""

    ns: int
    bytes_written: int | None = None
    method: str = ""


CONNECTIONS = 400


@dataclass
class Place:
    """What an instance gets: where it may write (`socket_directory` is short enough for a socket), which CPUs."""

    directory: Path
    socket_directory: Path
    server_cpus: tuple[int, ...]
    port: int = 0  # of a server on `listen`; 0: any free one
    environment: dict[str, str] = field(
        default_factory=dict
    )  # added for the server process (LD_PRELOAD of the sync counter)
    version: str = ""  # of `Versioned.versions`; empty: the first
    storage: str = ""  # of `Stored.storages`, of files `Compresses.compressions`; empty: the first
    listen: str = "127.0.0.1"  # the one address of this machine that a server listens on
    clients: tuple[str, ...] = ()  # addresses of other hosts that may log in, beside this machine
    connections: int = CONNECTIONS  # that a private server must take at once


class Instance(Protocol):
    """One running engine of a run: private, on the address of its place only, stopped by pid on every exit path.

    The methods that have a body here suit an instance without processes, secrets or anything that it defers.
    """

    deployment: str
    version: str = "none"
    flush_statements: tuple[str, ...] = ()  # what a runner executes so that `commits` holds all that it did, itself
    # too; empty where the engine counts no commits
    helper_threads: tuple[str, ...] = ()  # how names of its threads begin that work beside requests: a JVM's compilers

    def start(self) -> None:
        """Start it and wait until `check` holds; a clear EnvironmentMissing or RowpathError otherwise."""
        return

    def check(self) -> bool:
        """Whether it answers."""
        return True

    def stop(self) -> None:
        """Stop every process of it, by pid; harmless when stopped already."""
        return

    def pids(self) -> list[int]:
        """Every server process now alive (empty when embedded)."""
        return []

    def others_pids(self) -> list[int]:
        """Processes here of a server that is not ours: they work for the path, and are never pinned."""
        return []

    def load(self, tables: dict[str, Table]) -> None:
        """Create and fill these tables from the controller's generators, then settle."""
        return

    def options(self, path: AccessPath) -> dict[str, Any]:
        """What `open` gets beside the coordinates; for an embedded engine `path` is this path's own copy."""
        return {}

    def own_copy(self, path: AccessPath) -> None:
        """Give an embedded path its own byte-identical copy of the loaded database (no-op for a server)."""
        return

    def settle(self, path: AccessPath) -> Settled:
        """Checkpoint and sync; for embedded engines whose runner must do it, see `settle_statements`."""
        return Settled(0, 0, "nothing to settle")

    def commits(self) -> int | None:
        """The server's own counter of committed transactions; None where it has none."""
        return None

    def size_bytes(self) -> int:
        """Bytes on disk."""
        return 0

    def facts(self) -> dict[str, str]:
        """Effective settings, build and version."""
        return {}

    def secrets(self) -> list[str]:
        """Everything that must never reach a log, journal or report."""
        return []


@dataclass(frozen=True)
class LoadingCost:
    """What loading was seen to take: bytes on disk (whatever is loaded, and per byte of text), speed."""

    fixed_bytes: float = 0.0
    bytes_per_byte: float = 3.0
    text_bytes_per_s: float = 3e6


@dataclass(frozen=True)
class Wire:
    """How clients talk to an engine's server: what a tape, which replaces the server, must know."""

    protocol: str  # one of `tape.format.PROTOCOLS`
    chunk_bytes: int = 0  # what the server hands to the kernel at once; 0: a whole reply
    socket_name: str = ""  # of its unix socket, with {port}; empty: it has none
    socket_folder: bool = False  # a login names the socket's folder (`socket_dir`), not the socket (`socket`)
    url_query: str = ""  # of a URL for a server without TLS
    password_variable: str = ""  # the environment variable from which its programs read a password
    needs_password: bool = False  # drivers refuse to log in without one

    def socket(self, folder: Path, port: int) -> Path | None:
        """The server's unix socket in a folder of its own; None: it has none."""
        return folder / self.socket_name.format(port=port) if self.socket_name else None

    def named_socket(self, named: str, port: int) -> Path:
        """The unix socket that a login names, by itself or by its folder."""
        return Path(named) / self.socket_name.format(port=port) if self.socket_folder else Path(named)

    def socket_options(self, socket: Path | None) -> dict[str, Any]:
        """What `open` gets to reach a socket."""
        if socket is None:
            return {}
        return {"socket_dir": str(socket.parent)} if self.socket_folder else {"socket": str(socket)}


class Engine(Dialect, Protocol):
    """The kind of engine: what it is called, where it runs, how it spells types.

    The methods that have a body here suit an engine without SQL.
    """

    deployments: tuple[str, ...]
    durabilities: tuple[str, ...] = ("full", "none")  # the first is the default
    order: int = 90  # its place in lists: by this number, then by name
    framed: bool = False  # both sides send frames that answer nothing: turns on the wire are no round trips
    is_floor: bool = False  # no engine at all: its paths cost what every path costs
    server_warm_s: float = 0.0  # the least time to warm a fresh server up through each of its paths (a JVM compiles)
    listens: bool = False  # its server can listen on an address that other hosts reach (`Place.listen`)
    loading: LoadingCost = LoadingCost()  # as seen at scales 0.1 and 1 on two slow cores
    downloads: Mapping[str, Fetchable] = {}  # by name: what comes on request only, beside the engine itself
    probe: ProbeFacts = ProbeFacts()
    versions_apart: tuple[str, ...] = ()  # beside another version their paths are ranked by themselves
    versions_served: tuple[str, ...] = ()  # those that have a server; empty: all, if any
    stands_in: str = ""  # what is measured of a program that stands in for an engine; empty: a real engine
    wire: Wire | None = None  # of its server; None: no tape can hold its conversations
    segments: Literal["", "bytes", "records"] = ""  # in which parts of a table are counted; empty: by ranges of a key
    counts_payload: bool = False  # embedded: the bytes that a scan reads are at least those of the values
    settles_with: tuple[str, ...] = ()  # SQL that a runner itself executes to settle an embedded database (checkpoint)
    slow_query: str = ""  # a SELECT without any of the run's tables that would run for minutes; empty: there is no SQL

    def availability(self) -> Availability:
        """Whether it can run here; quick, without starting it."""

    def version(self) -> str:
        """The coordinate `engine_version`, known without starting anything; `none` where there is no such thing."""
        return "none"

    def instance(self, deployment: str, durability: str, place: Place) -> Instance:
        """A new instance, not yet started."""

    @override
    def create(self, name: str, table: Table) -> str:
        """CREATE TABLE in its dialect; empty where there is no SQL."""
        return ""

    @override
    def drop(self, name: str) -> str:
        """DROP TABLE in its dialect (may fail when the table does not exist); empty where there is no SQL."""
        return ""

    def filled(self, name: str, table: Table) -> list[str]:
        """What follows when a table was filled: its indexes, where its numbering goes on, statistics."""
        return []

    def supports(self, logical_type: str) -> str:
        """Empty when the engine has the logical type, else the reason why not (for the `types` workload)."""
        return ""

    def settle_statements(self) -> list[str]:
        """SQL that whoever is connected executes to settle the database: an embedded runner, any client of a server."""
        return list(self.settles_with)

    def settings(self, durability: str) -> dict[str, tuple[str, ...]]:
        """What a connection must read back at that durability: the first word of a setting, in any of its spellings."""
        return {}

    def connect_lines(self, options: dict[str, Any], folder: Path) -> tuple[str, ...]:
        """How a person connects to its server: commands to copy, or the URL and the file with its login.

        `options`: what the instance hands to a runner. Passwords go into private files in `folder`, never into a line.
        """
        return ()


E = TypeVar("E", bound=Engine)


@runtime_checkable
class Versioned(Protocol):
    """An engine of several versions, distinguished by the coordinate `engine_version`."""

    def versions(self) -> tuple[str, ...]:
        """The versions, the default first, known without starting anything; `Place.version` takes one of them."""

    def tls_version(self) -> str:
        """The first version that can speak TLS; empty when none can."""

    def availability_of(self, version: str, tls: str) -> Availability:
        """Whether that version can run here and serve a path with that coordinate `tls`; quick, starts nothing."""


@runtime_checkable
class Stored(Protocol):
    """An engine that keeps its tables in one of several ways, distinguished by the coordinate `storage`."""

    durabilities: tuple[str, ...]
    storages: tuple[str, ...]  # the first is the default; `Place.storage` takes one of them

    def durabilities_of(self, storage: str) -> tuple[str, ...]:
        """Those of `durabilities` that this storage has, its default first."""
        return self.durabilities


@runtime_checkable
class Compresses(Protocol):
    """An engine whose connections or files can be compressed, distinguished by the coordinate `compression`."""

    compressions: tuple[str, ...]  # the first is what a path has that names none; of files `Place.storage` takes one
    no_compressions: dict[str, str]  # what a user may look for here, and why it is not there


@runtime_checkable
class Imports(Protocol):
    """An engine that reads a delimited text file itself, faster than any driver brings it rows."""

    def imported(self, name: str, table: Table, file: Path, folder: Path) -> list[str]:
        """Statements that fill the empty table from a file of numbers, dates and plain texts without quotes, no NULL.

        `folder` may hold what they need until then.
        """


@runtime_checkable
class Movable(Protocol):
    """An engine whose databases are directories that know no users: a copy of one is a database."""

    def movable_versions(self) -> tuple[str, ...]:
        """The versions that can make or open such a database."""


@runtime_checkable
class CountsStatements(Protocol):
    """An instance whose server counts the statements that it executes, by kind."""

    def statement_counts(self) -> dict[str, int]:
        """Since its start: `prepare`, `execute` (of prepared ones), `query` (statements that came as text)."""


@runtime_checkable
class Fetchable(Protocol):
    """An engine with programs on request only (`rowpath engine fetch NAME`): large, or not ours to redistribute."""

    @property
    def licence(self) -> str:
        """Such as "GPL-2.0"."""

    @property
    def size_text(self) -> str:
        """The size of the download, such as "134 MB"."""

    def fetch(self) -> str:
        """Fetch its programs, pinned by checksum, whole or not at all; what was fetched and where it is.

        Harmless when they are there. Errors: EnvironmentMissing.
        """

    def fetched(self) -> bool:
        """Whether they are there."""


@dataclass(frozen=True)
class Backup:
    """How one backup is made: by a statement on a connection of the path's own, or by a program."""

    way: str
    kept: Path  # what it leaves: a file or a directory that is not there before
    statement: str = ""
    before: tuple[str, ...] = ()  # statements on the same connection right before and after it, outside its span
    afterwards: tuple[str, ...] = ()
    command: tuple[str, ...] = ()  # a program that the controller starts, on the server's cores
    environment: dict[str, str] = field(default_factory=dict)  # added for it: secrets go here, never into arguments


@runtime_checkable
class BacksUp(Protocol):
    """An engine whose databases can be backed up while clients work on them."""

    def backup_ways(self, deployment: str) -> tuple[str, ...]:
        """The values of the coordinate `backup`, the default first; empty when it has none there."""

    def backup_availability(self, way: str) -> Availability:
        """Whether the program that this way needs is here; quick."""


@runtime_checkable
class BackedUp(Protocol):
    """An instance of such an engine."""

    def backup(self, way: str, path: AccessPath, folder: Path) -> Backup:
        """How the path's database is backed up into an existing folder. Errors: EnvironmentMissing."""

    def restored(self, backup: Backup, folder: Path) -> Instance:
        """A started instance of its own over what the backup kept, in an existing folder; the original stays as it is.

        Embedded: `options` of any path lead to the restored copy. Errors: RowpathError (it cannot be restored).
        """


BY_URL = "by-url"  # the `engine_version` of a server that is another's, named by a URL


@runtime_checkable
class ReachedByUrl(Protocol):
    """An engine with a server that not every path may reach."""

    def unreachable(self, path: AccessPath) -> tuple[str, str]:
        """Why it cannot be reached the way that this path goes, and what would help; empty when it can."""


@runtime_checkable
class External(Protocol):
    """An instance on another's server, which is never started or restarted and whose resources are unknown."""

    given_by: str  # the environment variable that names it


@dataclass(frozen=True)
class FarSpent:
    """What the processes of a server on another host did while a sample was taken, as read there."""

    cpu_ns: int
    helpers_cpu_ns: int
    core_users: tuple[CoreUser, ...] = ()  # who else had the server's cores


@runtime_checkable
class Far(Protocol):
    """An instance whose processes are on another host than the client: its host reads and pins them."""

    start_ns: int  # what its last start took there

    def take_cores(self) -> None:
        """Bring its processes to their measured cores, and read them."""

    def leave_cores(self) -> FarSpent | None:
        """Read them again, and move them away; None when they were not there."""

    def memory_bytes(self) -> int | None:
        """Memory that is its processes' own now."""

    def written_bytes(self) -> int | None:
        """Bytes that its processes have handed to the disk so far."""


def versions(engine: Engine, deployment: str = "") -> tuple[str, ...]:
    """The values that `engine_version` takes for this engine, the default first; in this deployment, or in any."""
    if deployment == "server" and engine.versions_served:
        return engine.versions_served
    return engine.versions() if isinstance(engine, Versioned) else (engine.version(),)
