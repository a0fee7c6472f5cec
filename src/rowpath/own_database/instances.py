"""Databases that are not ours: a server to connect to, a copy of a database's files, a file in place."""

from __future__ import annotations

import fcntl
import os
import shutil
import struct
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from typing_extensions import override

from rowpath import text
from rowpath.engines import ENGINES
from rowpath.engines.base import BY_URL, Instance, Settled
from rowpath.engines.probe_facts import FileLayout
from rowpath.errors import EnvironmentMissing, InternalError, UsageError
from rowpath.machine import disk_space, processes
from rowpath.model.path import AccessPath
from rowpath.model.workload import Table
from rowpath.own_database.target import Target
from rowpath.runners.manifest import language

CONFIRMED_FROM_BYTES = 1_000_000_000
_LOCK = struct.Struct("@hhqqi4x")  # struct flock of 64-bit Linux
TABLE = "data"  # what a single file is called as a table


@dataclass(frozen=True)
class Files:
    """A database's files: `main` is what is opened, `all` what is copied with it."""

    engine: str
    main: Path
    all: tuple[Path, ...]

    @property
    def size_bytes(self) -> int:
        """The size of all files together."""
        return sum(file.stat().st_size for file in self.all)

    def state(self) -> tuple[tuple[str, int, int], ...]:
        """Names, sizes and times of change: the same before and after when no process wrote in between."""
        return tuple((str(f), f.stat().st_size, f.stat().st_mtime_ns) for f in self.all if not f.name.endswith("-shm"))


def files_of(engine: str, main: Path) -> Files:
    """What belongs to the database called `main`: its log and journal beside it, or the whole directory."""
    layout = _layout(engine)
    if layout.directory_mark:
        main = main.resolve()
        if not (main / layout.directory_mark).is_file():
            what = f"{main} is not a database of {engine}: it has no {layout.directory_mark}"
            raise UsageError(what, f"{engine}:///DIRECTORY")
        inside = (file for file in main.rglob("*") if file.is_file())
        return Files(engine, main, tuple(sorted(file for file in inside if file.suffix != layout.not_copied)))
    main = main.resolve() if layout.suffixes[0] == "" else main.parent.resolve() / main.name
    named = [main.with_name(main.name + suffix) for suffix in layout.suffixes]
    return Files(engine, main, tuple(file for file in named if file.is_file()))


def refuse_locked(files: Files) -> None:
    """Errors: UsageError when another process has locked the database; the lock stays."""
    if locked := lock_on(files):
        file, holder = locked
        who = f"process {holder}" if holder > 0 else "another process"
        what = f"{file} is locked by {who}, which may be writing to it"
        raise UsageError(what, f"end that process, or wait for it: {who}")
    mark = _layout(files.engine).open_mark
    if mark and (lock := files.main.with_name(files.main.name + mark)).exists():
        raise UsageError(f"{lock} shows that the database is open", "end the program that has it open")


def lock_on(files: Files) -> tuple[Path, int] | None:
    """A locked file and the process that holds the lock (below 1: unknown which); None when no other does.

    It is asked for without being taken.
    """
    for lock in _layout(files.engine).locks(files.main, files.all):
        with lock.file.open("rb") as stream:
            query = _LOCK.pack(lock.kind, os.SEEK_SET, lock.begin, lock.length, 0)
            held, _, _, _, pid = _LOCK.unpack(fcntl.fcntl(stream, fcntl.F_GETLK, query))
        if held != fcntl.F_UNLCK:
            return lock.file, int(pid)
    return None


def allow_size(files: Files, allow_large: bool, ask: Callable[[str], bool]) -> None:
    """Errors: UsageError when more than a gigabyte is to be copied without consent."""
    size = text.size(files.size_bytes)
    if files.size_bytes <= CONFIRMED_FROM_BYTES or allow_large or ask(f"Copy {files.main} ({size})?"):
        return
    what = f"{files.main} must be copied first ({size})"
    raise UsageError(what, "confirm with --yes; --in-place copies nothing (SQLite, DuckDB)")


def copy_files(files: Files, to: Path) -> Path:
    """A copy of all its files under the new folder `to`; what to open there.

    Errors: UsageError when a process wrote to it during the copy, EnvironmentMissing when there is no room.
    """
    refuse_locked(files)
    to.mkdir(mode=0o700, parents=True)
    free = shutil.disk_usage(to).free
    if files.size_bytes > free * 0.95:
        what = f"a copy of {files.main} takes {text.size(files.size_bytes)}, and the disk of {to} has {text.size(free)}"
        raise EnvironmentMissing(what, "free disk space, or choose another disk with -o DIR")
    before = files.state()
    parent = files.main.parent
    try:
        for file in files.all:
            place = to / file.relative_to(parent)
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, place)
    except OSError as error:
        if disk_space.is_full(error):
            raise disk_space.error(to) from error
        raise EnvironmentMissing(f"cannot copy {files.main}: {error.strerror}", f"ls -l {files.main.parent}") from error
    refuse_locked(files)
    if files_of(files.engine, files.main).state() != before:
        what = f"{files.main} changed while it was copied"
        raise UsageError(what, "stop the program that writes to it, then try again")
    return to / files.main.name


def why_not_in_place(files: Files) -> str:
    """Why the database cannot be opened where it is without a chance of changing anything; empty when it can."""
    if reason := _layout(files.engine).written_when_read(files.main):
        return reason
    others = [file.name for file in files.all if file != files.main and file.stat().st_size]
    return f"data in {others[0]} is not in the main file yet" if others else ""


def _layout(engine: str) -> FileLayout:
    return ENGINES[engine].probe.layout or FileLayout()


class ProbedInstance(Instance):
    """What all have in common: nothing of another's database is started, loaded, settled or counted."""

    version = BY_URL

    def __init__(self, target: Target, folder: Path | None = None) -> None:
        self.deployment = target.deployment
        self.target = target
        self.folder = folder  # what we made for it; goes with it

    @override
    def stop(self) -> None:
        """Copies and links are removed, never a file of the user's."""
        if self.folder:
            shutil.rmtree(self.folder, ignore_errors=True)

    @override
    def load(self, tables: dict[str, Table]) -> None:
        """Refused: a probe changes nothing."""
        raise InternalError("a probed database was to be filled", "report this")

    @override
    def settle(self, path: AccessPath) -> Settled:
        return Settled(0, None, "nothing: a probe only reads")

    @override
    def facts(self) -> dict[str, str]:
        """The server's URL without any secret."""
        return {"url": self.target.shown}

    @override
    def secrets(self) -> list[str]:
        return self.target.secrets()


class ProbedServer(ProbedInstance):
    """A server that others run."""

    given_by = "the command line"
    pooled = False  # a pooler is in front of it: connections begin without settings of ours

    @override
    def others_pids(self) -> list[int]:
        return processes.serving(self.target.host, ENGINES[self.target.engine].probe.server_programs)

    @override
    def options(self, path: AccessPath) -> dict[str, Any]:
        """The server's address and the login; with a driver of the user's own, what that driver understands."""
        target = self.target
        if target.driver_file is not None:
            login = {"user": target.user, "password": target.password}
            return {"driver_file": str(target.driver_file), **target.options, **login}
        # In a URL the port follows a colon as well.
        bracketed = ":" in target.host and language(path.language).ipv6_brackets
        host = f"[{target.host}]" if bracketed else target.host
        options = {"host": host, "port": target.port, "database": target.database, "given": "yes"}
        options |= target.encryption.files
        options |= {"user": target.user, "password": target.password} if target.user else {}
        if target.startup:  # for drivers that connect again for each query
            options |= {"startup_options": target.startup}
        options |= {"startup": "plain"} if self.pooled else {}
        if target.socket:
            options |= {"socket": target.socket, "socket_dir": target.socket}
        return options


class ProbedDatabase(ProbedInstance):
    """A database in the client's own process: a copy that all paths share, several copies, or the files in place.

    `original` is where it is opened, or what further copies are made of.
    """

    def __init__(self, target: Target, original: Path, folder: Path, *, in_place: bool) -> None:
        super().__init__(target, folder)
        self._original = original
        self._copies = folder
        self._in_place = in_place
        layout = ENGINES[target.engine].probe.layout
        self._exclusive = layout is not None and layout.exclusive

    @override
    def options(self, path: AccessPath) -> dict[str, Any]:
        """The file or directory to open now: where only one process may open one, a copy that none has open."""
        target = self.target
        options = {"path": str(self._free_copy() if self._exclusive else self._original)}
        options |= {"read_only": "yes"} if target.read_only(self._in_place) else {}
        return options | ({"user": target.user, "password": target.password} if target.user else {})

    @override
    def size_bytes(self) -> int:
        """Bytes of the database, its log included."""
        return files_of(self.target.engine, self._original).size_bytes

    @override
    def facts(self) -> dict[str, str]:
        """The file, and whether it or a copy is opened."""
        return super().facts() | {"opened": "in place, read only" if self._in_place else "a copy"}

    def _free_copy(self) -> Path:
        """One of the copies so far, or a further one when all are open: as many as are ever open at once."""
        engine, number = self.target.engine, 0
        while (folder := self._copies / str(number)).exists():
            copied = folder / self._original.name
            if lock_on(files_of(engine, copied)) is None:
                return copied
            number += 1
        return copy_files(files_of(engine, self._original), folder)


class ProbedFile(ProbedInstance):
    """A delimited, Parquet or Arrow file, only ever read; a link gives it the name of a table."""

    def __init__(self, target: Target, folder: Path) -> None:
        super().__init__(target, folder)
        assert target.path is not None
        self._file = target.path
        self._facts = ENGINES[target.engine].probe
        folder.mkdir(mode=0o700, parents=True)
        (folder / f"{TABLE}.{self._facts.table_suffix}").symlink_to(self._file.absolute())

    @override
    def options(self, path: AccessPath) -> dict[str, Any]:
        """The folder with the link, and how its text is written."""
        usual = self._facts.files.get(self._file.suffix.lower(), "")
        return {"path": str(self.folder)} | ({"delimiter": usual} if usual else {}) | self.target.options

    @override
    def size_bytes(self) -> int:
        """Bytes of the file."""
        return self._file.stat().st_size
