"""The server of an engine written in Java: a JVM of its own on 127.0.0.1, one random password, stopped by pid."""

from __future__ import annotations

import secrets
import signal
import socket
import time
from pathlib import Path
from typing import Any

from typing_extensions import override

from rowpath.engines import backup as backups
from rowpath.engines.base import Backup, Instance, Place, Settled
from rowpath.engines.jvm.base import DATABASE, ServerCommand, jvm_command
from rowpath.engines.jvm.dialect import JvmDialect
from rowpath.engines.jvm.embedded import connected, embedded, load_database
from rowpath.engines.load_through_runner import run
from rowpath.engines.server import PrivateServer
from rowpath.errors import TimedOut
from rowpath.machine import jvm, private_directories, processes
from rowpath.model.path import AccessPath
from rowpath.model.workload import Table
from rowpath.runners.manifest import language

PING_TIMEOUT_S = 20.0
HANG_UP_S = 0.2


class JvmServer(PrivateServer):
    """The server of an engine written in Java."""

    stop_steps: processes.Steps = ((signal.SIGTERM, 10.0), *processes.AT_ONCE)
    start_timeout_s = 60.0
    has_socket = False
    port_taken_words = ("Address already in use",)

    def __init__(self, engine: JvmDialect, durability: str, place: Place) -> None:
        super().__init__(f"{engine.title}'s server", durability, place)
        self.version = engine.version()
        self.helper_threads = _helper_threads()
        self._engine = engine
        self._login = {"user": engine.user, "password": secrets.token_urlsafe(24)}

    @override
    def check(self) -> bool:
        if not self.pids():
            return False
        ping = self._engine.ping(self._port)
        return self._pinged(ping) if ping else self._greeted()

    @override
    def load(self, tables: dict[str, Table]) -> None:
        """Remake these tables and fill them, embedded: the server steps aside when it has the database open."""
        database = self._files() / DATABASE
        opened = bool(self.pids()) and (database / self._engine.lock_file).exists()
        if opened:
            self.stop()
        load_database(self._engine, database, tables, self.durability, self._login)
        private_directories.give_all(database, self._user)
        if opened:
            self.start()

    def adopt(self, database: Path) -> None:
        """Serve a copy of that database directory, which is not open elsewhere; the server restarts for it.

        For engines whose databases know no users. Errors: RowpathError, EnvironmentMissing.
        """
        self.stop()
        if self._home is None:
            self._make()
        private_directories.copy(database, self._files() / DATABASE, self._user)
        self.start()

    @override
    def options(self, path: AccessPath) -> dict[str, Any]:
        """Where it listens and its only login."""
        return {"host": "127.0.0.1", "port": self._port, "database": DATABASE} | self._login

    @override
    def settle(self, path: AccessPath) -> Settled:
        """A checkpoint through a connection of our own, and sync; the bytes that the server wrote for it."""
        statements = self._engine.settle_statements()

        def checkpoint() -> int:
            with connected(self._engine, {"deployment": "server", **self.options(path)}) as runner:
                ns = run(runner, statements)
            started_ns = time.monotonic_ns()
            private_directories.sync(self._files())
            return ns + time.monotonic_ns() - started_ns

        return self._settled(checkpoint, f"{'; '.join(statements)} and syncfs")

    @override
    def size_bytes(self) -> int:
        """Bytes of the database, its log included."""
        return private_directories.size_bytes(self._files() / DATABASE)

    @override
    def facts(self) -> dict[str, str]:
        """The version and what the JVM was started with."""
        return {
            "version": self.version,
            "jvm": " ".join([*_jvm_options(), *self._command().properties]),
            "set once": "; ".join(self._engine.once(self.durability)) or "nothing",
            **self._engine.server_settings(self.durability),
            "user": self._user or "ourselves",
            "data_directory": str(self._files()),
        }

    @override
    def secrets(self) -> list[str]:
        return [self._login["password"]]

    def backup(self, way: str, path: AccessPath, folder: Path) -> Backup:
        """The engine's statement, into a folder that the server may write. Errors: EnvironmentMissing."""
        return self._engine.backup(way, backups.place_in(folder, self._user))

    def restored(self, backup: Backup, folder: Path) -> Instance:
        """A server of its own over it, with the same login: some databases hold theirs. Errors: RowpathError."""
        place = Place(folder, folder, self._place.server_cpus, version=self._place.version)
        server = JvmServer(self._engine, self.durability, place)
        server._login = self._login
        with backups.restoring(backup, server):
            server._home = server._make_home()
            database = server._home / DATABASE
            self._engine.restore(backup.kept, database)
            private_directories.give_all(database, self._user)
            server.start()
            with connected(self._engine, {"deployment": "server", **server.options(AccessPath.of({}))}):
                pass
        return backups.passing(server)

    @override
    def _make(self) -> None:
        home = self._make_home()
        # Before anyone can connect: an engine whose database keeps its users makes it without a password.
        statements = self._engine.set_password(self._login["password"])
        if statements:
            with embedded(self._engine, home / DATABASE) as runner:
                run(runner, statements)
            private_directories.give_all(home / DATABASE, self._user)
        self._home = home

    def _make_home(self) -> Path:
        home = private_directories.home(self._place.directory / f"{self._engine.name}-server", self._user)
        for name, text in self._engine.server_files(self._login["password"]).items():
            private_directories.write_private(home / name, text, self._user)
        return home

    def _command(self) -> ServerCommand:
        return self._engine.server_command(self._files(), self._port, self.durability)

    @override
    def _started(self) -> bool:
        command = self._command()
        options = (*_jvm_options(), f"-Djava.io.tmpdir={self._files()}", *command.properties)
        return self._launched([*jvm_command(command.jars, *options), *command.arguments], {"LC_ALL": "C.UTF-8"})

    @override
    def _ready(self) -> bool:
        return self._command().ready in self._logged() and self.check()

    def _pinged(self, ping: list[str]) -> bool:
        command = jvm_command(self._command().jars, "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData")
        try:
            return processes.run([*command, *ping], timeout_s=PING_TIMEOUT_S).returncode == 0
        except TimedOut:
            return False

    def _greeted(self) -> bool:
        try:
            with socket.create_connection(("127.0.0.1", self._port), PING_TIMEOUT_S) as connection:
                connection.sendall(self._engine.greeting)
                greeting = connection.recv(1)
        except (ConnectionRefusedError, TimeoutError):
            return False
        except ConnectionResetError:
            greeting = b""
        # One that hangs up answers too, unless it does so because it is dying.
        return bool(greeting) or (self._process is not None and not processes.wait(self._process, HANG_UP_S))


def _helper_threads() -> tuple[str, ...]:
    return language(jvm.LANGUAGE).helper_threads


def _jvm_options() -> tuple[str, ...]:
    return jvm.OPTIONS
