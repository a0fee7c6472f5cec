"""The server of an engine written in Java: a JVM of its own on 127.0.0.1, one random password, stopped by pid."""

from __future__ import annotations

import importlib
import secrets
import signal
import socket
import time
from pathlib import Path
from typing import Any

from rowpath.engines import backup as backups
from rowpath.engines.base import Backup, Instance, Place, Settled
from rowpath.engines.jvm.base import DATABASE, JvmDialect, jvm_command
from rowpath.engines.jvm.embedded import connected, embedded, load_database
from rowpath.engines.load_through_runner import run
from rowpath.errors import EnvironmentMissing, RowpathError, TimedOut, UsageError
from rowpath.machine import private_directories, processes
from rowpath.machine.counters import disk
from rowpath.model.path import AccessPath
from rowpath.model.workload import Table

START_TIMEOUT_S = 60.0
PING_TIMEOUT_S = 20.0
HANG_UP_S = 0.2
PORT_TRIES = 5
STOP_STEPS: processes.Steps = ((signal.SIGTERM, 10.0), (signal.SIGKILL, 5.0))


class Server:
    """An instance of such a server as `engines.base.Instance` promises."""

    flush_statements: tuple[str, ...] = ()

    def __init__(self, engine: JvmDialect, deployment: str, durability: str, place: Place) -> None:
        self.deployment = deployment
        self.durability = durability
        self.version = engine.version()
        self._engine = engine
        self._place = place
        self._user = private_directories.server_user()
        self._login = {"user": engine.user, "password": secrets.token_urlsafe(24)}
        self._home: Path | None = None
        self._port = 0
        self._process: processes.Process | None = None

    def start(self) -> None:
        """Start it and wait until it answers. Errors: EnvironmentMissing, UsageError (the port asked for)."""
        self.stop()
        if self._home is None:
            self._make()
        for _ in range(PORT_TRIES):
            self._port = self._place.port or self._port or private_directories.free_port()
            if self._started():
                return
            if self._place.port:
                raise UsageError(
                    f"port {self._port} of 127.0.0.1 is taken",
                    f"free it (ss -ltnp 'sport = :{self._port}') or name none",
                )
            self._port = 0
        raise EnvironmentMissing(f"{self._engine.title}'s server found no free port in {PORT_TRIES} tries", "ss -ltn")

    def check(self) -> bool:
        """Whether it answers."""
        if not self.pids():
            return False
        ping = self._engine.ping(self._port)
        return self._pinged(ping) if ping else self._greeted()

    def stop(self) -> None:
        """Stop it by pid; harmless when stopped already. Its data stays for another start."""
        if self._process is not None:
            processes.stop(self._process, STOP_STEPS)
            self._process = None

    def pids(self) -> list[int]:
        """The JVM while it is alive."""
        return [self._process.pid] if self._process is not None and self._process.poll() is None else []

    def load(self, tables: dict[str, Table]) -> None:
        """Make these tables anew and fill them, embedded: the server steps aside when it has the database open."""
        database = self._files() / DATABASE
        opened = bool(self.pids()) and (database / self._engine.lock_file).exists()
        if opened:
            self.stop()
        load_database(self._engine, database, tables, self.durability, self._login)
        private_directories.give_all(database, self._user)
        if opened:
            self.start()

    def adopt(self, database: Path) -> None:
        """Serve a copy of that database directory, which is not open elsewhere; the server steps aside meanwhile.

        For engines whose databases know no users. Errors: RowpathError, EnvironmentMissing.
        """
        self.stop()
        if self._home is None:
            self._make()
        private_directories.copy(database, self._files() / DATABASE, self._user)
        self.start()

    def options(self, path: AccessPath) -> dict[str, Any]:
        """Where it listens and its only login."""
        return {"host": "127.0.0.1", "port": self._port, "database": DATABASE} | self._login

    def own_copy(self, path: AccessPath) -> None:
        """Nothing: all paths share the server."""

    def settle(self, path: AccessPath) -> Settled:
        """A checkpoint through a connection of our own, and sync; bytes that the server wrote meanwhile."""
        before = disk.written_bytes(self.pids())
        statements = self._engine.settle_statements()
        with connected(self._engine, {"deployment": "server", **self.options(path)}) as runner:
            ns = run(runner, statements)
        started_ns = time.monotonic_ns()
        private_directories.sync(self._files())
        ns += time.monotonic_ns() - started_ns
        after = disk.written_bytes(self.pids())
        written = None if before is None or after is None else after - before
        return Settled(ns, written, f"{'; '.join(statements)} and syncfs; /proc/PID/io of the server")

    def commits(self) -> int | None:
        """None: none of these engines counts its transactions."""
        return None

    def size_bytes(self) -> int:
        """Bytes of the database, its log included."""
        return private_directories.size_bytes(self._files() / DATABASE)

    def facts(self) -> dict[str, str]:
        """The version and what the JVM was started with."""
        return {
            "version": self.version,
            "jvm": " ".join([*_java().JVM_OPTIONS, *self._command().properties]),
            "told": "; ".join(self._engine.once(self.durability)) or "nothing",
            **self._engine.server_settings(self.durability),
            "user": self._user or "ourselves",
            "data_directory": str(self._files()),
        }

    def secrets(self) -> list[str]:
        """The password."""
        return [self._login["password"]]

    def backup(self, way: str, path: AccessPath, folder: Path) -> Backup:
        """The engine's statement, into a folder that the server may write. Errors: EnvironmentMissing."""
        return self._engine.backup(way, backups.place_in(folder, self._user))

    def restored(self, backup: Backup, folder: Path) -> Instance:
        """A server of its own over it, with the same login: some databases hold theirs. Errors: RowpathError."""
        place = Place(folder, folder, self._place.server_cpus, version=self._place.version)
        server = Server(self._engine, self.deployment, self.durability, place)
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

    def home(self) -> Path | None:
        """The folder with everything of it, None before its first start."""
        return self._home

    def _make(self) -> None:
        home = self._make_home()
        # Before anybody can ask for it: an engine whose database knows its users makes it with no password at all.
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

    def _command(self) -> Any:
        return self._engine.server_command(self._files(), self._port, self.durability)

    def _started(self) -> bool:
        """Start the JVM; False when its port is taken."""
        if private_directories.port_taken(self._port):
            return False
        command, java = self._command(), _java()
        home = self._files()
        log = home / "server.log"
        with log.open("ab") as said:
            begin = said.tell()
            self._process = processes.start(
                [
                    *jvm_command(command.jars, *java.JVM_OPTIONS, f"-Djava.io.tmpdir={home}", *command.properties),
                    *command.arguments,
                ],
                environment={"LC_ALL": "C.UTF-8", **self._place.environment},
                cpus=self._place.server_cpus,
                user=self._user,
                directory=home,
                stdout=said,
                stderr=said,
            )
        title = f"{self._engine.title}'s server"
        deadline = time.monotonic() + START_TIMEOUT_S
        while time.monotonic() < deadline:
            if command.ready in log.read_bytes()[begin:] and self.check():
                return True
            if processes.wait(self._process, 0.05):
                text = log.read_bytes()[begin:].decode(errors="replace").strip()
                if private_directories.port_taken(self._port):
                    return False
                raise EnvironmentMissing(f"{title} did not start: {text[-500:]}", f"read {log}")
        self.stop()
        raise EnvironmentMissing(f"{title} did not answer within {START_TIMEOUT_S:g} s", f"read {log}")

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
                said = connection.recv(1)
        except (ConnectionRefusedError, TimeoutError):
            return False
        except ConnectionResetError:
            said = b""
        # One that hangs up answers too, unless it does so because it is dying.
        return bool(said) or (self._process is not None and not processes.wait(self._process, HANG_UP_S))

    def _files(self) -> Path:
        if self._home is None:
            raise RowpathError(f"{self._engine.title}'s server has not been started", "call start first")
        return self._home


def _java() -> Any:
    return importlib.import_module("rowpath.runners.toolchains.java")
