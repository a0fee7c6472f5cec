"""Derby's network server: a JVM of its own on 127.0.0.1, one user with a random password, stopped by pid."""

from __future__ import annotations

import importlib
import secrets
import signal
import time
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any

from rowpath import launch
from rowpath.collect import disk
from rowpath.engines import homes
from rowpath.engines.base import Place, Settled
from rowpath.engines.derby_embedded import connected, load_database, run
from rowpath.errors import EnvironmentMissing, RowpathError, TimedOut, UsageError
from rowpath.model import Path, Table

if TYPE_CHECKING:
    from rowpath.engines.derby import Derby

USER = "APP"  # whose default schema is that of the embedded database, which has no users
DATABASE = "rowpath"
START_TIMEOUT_S = 60.0
PING_TIMEOUT_S = 20.0
READY = b"ready to accept connections"
PORT_TRIES = 5
STOP_STEPS: launch.Steps = ((signal.SIGTERM, 10.0), (signal.SIGKILL, 5.0))
JARS = ("derbynet", "derby", "derbytools", "derbyshared")
CONTROL = "org.apache.derby.drda.NetworkServerControl"


class Server:
    """An instance of Derby's network server as `engines.base.Instance` promises."""

    flush_statements: tuple[str, ...] = ()

    def __init__(self, engine: Derby, deployment: str, durability: str, place: Place) -> None:
        self.deployment = deployment
        self.durability = durability
        self.version = engine.version()
        self._engine = engine
        self._place = place
        self._user = homes.server_user()
        self._password = secrets.token_urlsafe(24)
        self._home: FilePath | None = None
        self._class_path = ""
        self._port = 0
        self._process: launch.Process | None = None

    def start(self) -> None:
        """Start it and wait until it answers a ping. Errors: EnvironmentMissing, UsageError (the port asked for)."""
        self.stop()
        if self._home is None:
            self._make()
        for _ in range(PORT_TRIES):
            self._port = self._place.port or self._port or homes.free_port()
            if self._started():
                return
            if self._place.port:
                raise UsageError(
                    f"port {self._port} of 127.0.0.1 is taken",
                    f"free it (ss -ltnp 'sport = :{self._port}') or name none",
                )
            self._port = 0
        raise EnvironmentMissing(f"Derby's server found no free port in {PORT_TRIES} tries", "ss -ltn")

    def check(self) -> bool:
        """Whether it answers a ping."""
        if not self.pids():
            return False
        options = ["-XX:TieredStopAtLevel=1", "-XX:-UsePerfData", "-cp", self._class_path, CONTROL]
        ping = ["ping", "-h", "127.0.0.1", "-p", str(self._port)]
        try:
            return launch.run([_java().java_command(), *options, *ping], timeout_s=PING_TIMEOUT_S).returncode == 0
        except TimedOut:
            return False

    def stop(self) -> None:
        """Stop it by pid; harmless when stopped already. Its data stays for another start."""
        if self._process is not None:
            launch.stop(self._process, STOP_STEPS)
            self._process = None

    def pids(self) -> list[int]:
        """The JVM while it is alive."""
        return [self._process.pid] if self._process is not None and self._process.poll() is None else []

    def load(self, tables: dict[str, Table]) -> None:
        """Make these tables anew and fill them, embedded: the server steps aside when it has the database open."""
        database = self._files() / DATABASE
        opened = bool(self.pids()) and (database / "db.lck").exists()
        if opened:
            self.stop()
        load_database(self._engine, database, tables)
        for file in (database, *database.rglob("*")):
            homes.give(file, self._user)
        if opened:
            self.start()

    def options(self, path: Path) -> dict[str, Any]:
        """Where it listens and its only login."""
        login = {"user": USER, "password": self._password}
        return {"host": "127.0.0.1", "port": self._port, "database": DATABASE} | login

    def own_copy(self, path: Path) -> None:
        """Nothing: all paths share the server."""

    def settle(self, path: Path) -> Settled:
        """A checkpoint through a connection of our own, and sync; bytes that the server wrote meanwhile."""
        before = disk.written_bytes(self.pids())
        with connected(self._engine, {"deployment": "server", **self.options(path)}) as runner:
            ns = run(runner, self._engine.settle_statements())
        started_ns = time.monotonic_ns()
        homes.sync(self._files())
        ns += time.monotonic_ns() - started_ns
        after = disk.written_bytes(self.pids())
        written = None if before is None or after is None else after - before
        return Settled(ns, written, "SYSCS_CHECKPOINT_DATABASE and syncfs; /proc/PID/io of the server")

    def commits(self) -> int | None:
        """None: Derby counts no transactions."""
        return None

    def size_bytes(self) -> int:
        """Bytes of the database, its log included."""
        return homes.size_bytes(self._files() / DATABASE)

    def facts(self) -> dict[str, str]:
        """The version and what the JVM was started with."""
        durability = "test" if self.durability == "none" else "full"
        return {
            "version": self.version,
            "jvm": " ".join(_java().JVM_OPTIONS),
            "derby.system.durability": durability,
            "user": self._user or "ourselves",
            "data_directory": str(self._files()),
        }

    def secrets(self) -> list[str]:
        """The password."""
        return [self._password]

    def _make(self) -> None:
        home = homes.home(self._place.directory / "derby-server", self._user)
        java = _java()
        self._class_path = java.class_path(JARS)
        lines = [
            "derby.connection.requireAuthentication=true",
            "derby.authentication.provider=BUILTIN",
            f"derby.user.{USER}={self._password}",
        ]
        homes.write_private(home / "derby.properties", "\n".join(lines) + "\n", self._user)
        self._home = home

    def _started(self) -> bool:
        """Start the JVM; False when its port is taken."""
        if homes.port_taken(self._port):
            return False
        home = self._files()
        properties = [f"-Dderby.system.home={home}", f"-Dderby.stream.error.file={home / 'derby.log'}"]
        if self.durability == "none":
            properties.append("-Dderby.system.durability=test")
        listen = ["start", "-h", "127.0.0.1", "-p", str(self._port), "-noSecurityManager"]
        log = home / "server.log"
        with log.open("ab") as said:
            begin = said.tell()
            self._process = launch.start(
                [_java().java_command(), *_java().JVM_OPTIONS, *properties, "-cp", self._class_path, CONTROL, *listen],
                environment={"LC_ALL": "C.UTF-8", **self._place.environment},
                cpus=self._place.server_cpus,
                user=self._user,
                directory=home,
                stdout=said,
                stderr=said,
            )
        deadline = time.monotonic() + START_TIMEOUT_S
        while time.monotonic() < deadline:
            if READY in log.read_bytes()[begin:] and self.check():
                return True
            if launch.wait(self._process, 0.05):
                text = log.read_bytes()[begin:].decode(errors="replace").strip()
                if homes.port_taken(self._port):
                    return False
                raise EnvironmentMissing(f"Derby's server did not start: {text[-500:]}", f"read {log}")
        self.stop()
        raise EnvironmentMissing(f"Derby's server did not answer within {START_TIMEOUT_S:g} s", f"read {log}")

    def _files(self) -> FilePath:
        if self._home is None:
            raise RowpathError("Derby's server has not been started", "call start first")
        return self._home


def _java() -> Any:
    return importlib.import_module("rowpath.languages.java")
