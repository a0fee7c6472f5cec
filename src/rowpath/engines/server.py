"""What private servers have in common: a folder, sockets, a port of one address, processes stopped by pid."""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
import shutil
import signal
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Generic

from typing_extensions import override

from rowpath.engines import backup as backups
from rowpath.engines.base import Backup, E, Instance, Place, Settled
from rowpath.errors import EnvironmentMissing, RowpathError, UsageError
from rowpath.machine import private_directories, processes
from rowpath.machine.counters import disk
from rowpath.machine.directories import cache_dir, unwritable_cache
from rowpath.model.path import AccessPath
from rowpath.model.workload import Table
from rowpath.workloads import load_progress
from rowpath.workloads.generators import delimited_file

PORT_TRIES = 5
LOOK_EACH_S = 0.02


class PrivateServer(Instance, Generic[E]):
    """A private server; `_title` names it in errors. Its kind makes its files and starts its process on a port.

    `users`: who can log in, each with a random password; the runners are the last of them.
    """

    deployment = "server"
    database = ""  # of the runners; empty: there is none
    data_name = ""  # its data in its folder; empty: it keeps nothing on disk
    _title: str
    stop_steps: processes.Steps
    start_timeout_s: float
    has_socket: bool = True  # a unix socket beside its port
    becomes_user: bool = False  # its program takes the server's user itself, who may not reach what it starts from
    death_signal: signal.Signals = signal.SIGKILL
    port_taken_words: tuple[str, ...] = ()  # one of these is in the log of a server whose port was taken

    def __init__(self, engine: E, durability: str, place: Place, *users: str) -> None:
        self.durability = durability
        self._engine = engine
        self._place = place
        self._user = private_directories.server_user()
        self._home: Path | None = None
        self._sockets: Path | None = None
        self._port = 0
        self._process: processes.Process | None = None
        self._passwords = {user: secrets.token_urlsafe(24) for user in users}
        self._log_begin = 0  # where in the log the last start begins

    @override
    def start(self) -> None:
        """Start it (making its files first) and wait until it answers. Errors: EnvironmentMissing, UsageError.

        On the port that its place names, else the one it had, else any that is free.
        """
        self.stop()
        if self._home is None:
            self._make()
        if self.has_socket:
            self._sockets = private_directories.socket_home(self._place.socket_directory, self._user)
        port = self._place.port or self._port
        for _ in range(PORT_TRIES):
            self._port = port or private_directories.free_port(self._place.listen)
            if not private_directories.port_taken(self._port, self._place.listen) and self._started():
                return
            if self._place.port:
                raise UsageError(
                    f"port {port} of {self._place.listen} is in use",
                    f"free it (ss -ltnp 'sport = :{port}') or set no port",
                )
            port = 0
        raise EnvironmentMissing(f"{self._title} found no free port in {PORT_TRIES} tries", "ss -ltn")

    @override
    def stop(self) -> None:
        """Stop it by pid; harmless when stopped already. Its data stays for another start."""
        if self._process is not None:
            processes.stop(self._process, self.stop_steps)
            self._process = None
        if self._sockets is not None and self._sockets != self._place.socket_directory:
            shutil.rmtree(self._sockets, ignore_errors=True)
        self._sockets = None

    @override
    def pids(self) -> list[int]:
        return [self._process.pid] if self._process is not None and self._process.poll() is None else []

    @override
    def options(self, path: AccessPath) -> dict[str, Any]:
        """Where it listens, and the runners' own login."""
        user, password = list(self._passwords.items())[-1]
        where = {"host": self._place.listen if self._engine.listens else "127.0.0.1", "port": self._port}
        return where | {"user": user, "password": password, "database": self.database}

    @override
    def size_bytes(self) -> int:
        """Bytes of its data on disk, its logs of changes included."""
        return private_directories.size_bytes(self._data()) if self.data_name else 0

    @override
    def secrets(self) -> list[str]:
        return list(self._passwords.values())

    def restored(self, backup: Backup, folder: Path) -> Instance:
        """A server of its own over what the backup kept, with the same logins. Errors: RowpathError."""
        place = Place(folder, folder, self._place.server_cpus, version=self._place.version, storage=self._place.storage)
        server = type(self)(self._engine, self.durability, place)
        server._passwords = self._passwords
        return backups.restored(backup, server, lambda: server._restore(backup))

    def home(self) -> Path | None:
        """The folder with everything of it but its socket; None before its first start."""
        return self._home

    def _restore(self, backup: Backup) -> None:
        """Make its files from what the backup kept, and start it."""
        raise NotImplementedError

    def _make(self) -> None:
        """Make its files and set `_home`."""
        raise NotImplementedError

    def _started(self) -> bool:
        """Start it on `_port`; False when another process has taken it. Errors: EnvironmentMissing."""
        raise NotImplementedError

    def _ready(self) -> bool:
        """Whether the process that was just started can be used."""
        return self.check()

    def _reason(self) -> str:
        """Why the process that was just started ended."""
        return self._logged()[-500:]

    def _launched(
        self, command: Sequence[str | Path], environment: Mapping[str, str], directory: Path | None = None
    ) -> bool:
        """Start the server's process and wait until it is ready; False when another process has taken its port.

        Errors: EnvironmentMissing when it ends for another reason, or is not ready in time.
        """
        with self._log().open("ab") as output:
            self._log_begin = output.tell()
            self._process = processes.start(
                command,
                environment={**environment, **self._place.environment},
                cpus=self._place.server_cpus,
                user=None if self.becomes_user else self._user,
                directory=directory or self._files(),
                stdout=output,
                stderr=output,
                death_signal=self.death_signal,
            )
        deadline = time.monotonic() + self.start_timeout_s
        failure = f"did not answer within {self.start_timeout_s:g} s"
        while time.monotonic() < deadline:
            if self._ready():
                return True
            if processes.wait(self._process, LOOK_EACH_S):
                if any(words in self._logged() for words in self.port_taken_words):
                    return False
                failure = f"did not start: {self._reason()}"
                break
        self.stop()
        raise EnvironmentMissing(f"{self._title} {failure}", f"read {self._log()}")

    def _load_files(self, tables: dict[str, Table], load: Callable[[str, Table, Path], None]) -> None:
        """Have `load` fill these tables, each from a delimited file."""
        with tempfile.TemporaryDirectory(prefix="rowpath-load-", dir=self._files()) as folder:
            for name, table in tables.items():
                with (
                    load_progress.reported(f"{self._engine.name} {name}", table.rows),
                    delimited_file(Path(folder), name, table) as file,
                ):
                    load(name, table, file)

    def _log(self) -> Path:
        return self._files() / "server.log"

    def _logged(self) -> str:
        """What the server wrote since its last start."""
        return self._log().read_bytes()[self._log_begin :].decode(errors="replace").strip()

    def _files(self) -> Path:
        if self._home is None:
            raise RowpathError(f"{self._title} has not been started", "call start first")
        return self._home

    def _data(self) -> Path:
        return self._files() / self.data_name

    def _settled(self, work: Callable[[], int | None], method: str) -> Settled:
        """How long `work` took (or the ns that it returns), and the bytes that the server wrote during it."""
        pids = self.pids()
        before = disk.written_bytes(pids)
        started_ns = time.monotonic_ns()
        own_ns = work()
        ns = time.monotonic_ns() - started_ns if own_ns is None else own_ns
        after = disk.written_bytes(pids)
        if before is None or after is None:
            return Settled(ns, None, f"{method}; /proc/PID/io cannot be read")
        return Settled(ns, after - before, f"{method}; /proc/PID/io of the server")


def copy_empty_directory(name: str, settings: object, data: Path, user: str | None, make: Callable[[], None]) -> None:
    """Have an empty data directory at `data`, the user's own; `make` makes one there when the cache has none.

    A server takes seconds to make one: it is made once for the cache, then copied. `name` and `settings` say what it
    depends on beside the user.
    """
    marks = hashlib.blake2s(repr((settings, user, os.geteuid())).encode(), digest_size=6).hexdigest()
    kept = cache_dir() / f"{name}-empty-{marks}"
    if kept.is_dir():
        private_directories.copy(kept, data, user)
        return
    shutil.rmtree(data, ignore_errors=True)
    make()
    try:
        cache_dir().mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=f"{kept.name}.", dir=cache_dir()) as scratch:
            private_directories.copy(data, Path(scratch) / "data", None)
            with contextlib.suppress(OSError):  # another process was first
                (Path(scratch) / "data").rename(kept)
    except OSError as error:
        raise unwritable_cache(cache_dir(), error) from error
