"""One private server of the MySQL family: made, started, loaded, brought to rest, backed up, stopped by pid."""

from __future__ import annotations

import shutil
import signal
import socket
import time
from pathlib import Path
from typing import Any

from typing_extensions import override

from rowpath.engines import backup as backups
from rowpath.engines.base import Backup, Place, Settled
from rowpath.engines.mariadb import programs, settings, template_directory
from rowpath.engines.mariadb.dialect import PHYSICAL, MariadbDialect
from rowpath.engines.mariadb.programs import Console
from rowpath.engines.mariadb.settings import COUNTED, DATABASE, ROLE, SUPERUSER, script
from rowpath.engines.server import PrivateServer
from rowpath.errors import RowpathError, TimedOut
from rowpath.machine import certificates, private_directories, processes
from rowpath.model.path import AccessPath
from rowpath.model.workload import Table

LOAD_TIMEOUT_S = 3600.0
SETTLE_TIMEOUT_S = 600.0
PING_TIMEOUT_S = 20.0
END_OF_DUMP = b"-- Dump completed"
DIRTY = "Innodb_buffer_pool_pages_dirty"
# A checkpoint in settings, for servers that have no statement for it: no page may stay changed, none need be saved up.
WRITE_PAGES = (
    "SET GLOBAL innodb_io_capacity_max = 20000; SET GLOBAL innodb_io_capacity = 20000;"
    " SET GLOBAL innodb_max_dirty_pages_pct = 0;"
)
USUAL_PAGES = (
    "SET GLOBAL innodb_max_dirty_pages_pct = DEFAULT; SET GLOBAL innodb_io_capacity = DEFAULT;"
    " SET GLOBAL innodb_io_capacity_max = DEFAULT;"
)


class MariadbServer(PrivateServer[MariadbDialect]):
    """A server of the MySQL family, run with the programs of `engine`."""

    database = DATABASE
    data_name = "data"
    stop_steps: processes.Steps = ((signal.SIGTERM, 30.0), *processes.AT_ONCE)
    start_timeout_s = 90.0
    port_taken_words = ("Bind on TCP/IP port", "Do you already have another mysqld server running on port")

    def __init__(self, engine: MariadbDialect, durability: str, place: Place) -> None:
        super().__init__(engine, durability, place, SUPERUSER, ROLE)
        self._title = f"{engine.title}'s server"
        self.version = place.version or engine.version()
        self.storage = place.storage or engine.storages[0]
        self._tls = self.version.endswith(settings.TLS_SUFFIX)
        # MySQL's InnoDB counts transactions of the server's own dictionary among the others.
        self._counts = self.storage == "innodb" and engine.flavour == "mariadb"
        # Its counters are always up to date: this statement only shows that it counts (itself too).
        self.flush_statements = (COUNTED,) if self._counts else ()
        self._programs = engine.programs()
        self._fresh = True  # nothing was loaded yet
        self._console: Console | None = None

    @override
    def check(self) -> bool:
        if not self.pids():
            return False
        try:
            return self._ask("SELECT 1;", PING_TIMEOUT_S) == [["1"]]
        except RowpathError:
            return False

    @override
    def stop(self) -> None:
        if self._console is not None:
            self._console.close()
            self._console = None
        super().stop()

    def forget_data(self) -> None:
        """Remove the data of a stopped server; what others are copied from stays."""
        shutil.rmtree(self._data(), ignore_errors=True)

    @override
    def load(self, tables: dict[str, Table]) -> None:
        """Remake these tables and fill them from the generators, then settle.

        The first time, the server goes on with a copy of what it loaded (or another instance of the run did): the
        embedded library can begin with the same bytes.
        """
        run = self._place.directory.parent
        wanted = template_directory.content(self._engine, self.storage, self.durability, tables, run)
        known = template_directory.find(wanted) if self._fresh else None
        if known is None:
            self._load_files(tables, self._fill)
            self._settle()
        if self._fresh and "embedded" in self._engine.deployments:
            if known is None:
                self._ask("SET GLOBAL innodb_fast_shutdown = 0;")  # nothing is left to tidy up after a start
            self.stop()
            if known is None:
                template = self._files() / "template"
                private_directories.copy(self._data(), template, None)
                template_directory.keep(wanted, template)
            else:
                private_directories.copy(known, self._data(), self._user)
            self.start()
        self._fresh = False

    @override
    def options(self, path: AccessPath) -> dict[str, Any]:
        """Where it listens, the runners' own login, and what their tables are kept as."""
        return super().options(path) | {"socket": str(self._socket()), "storage": self.storage}

    @override
    def settle(self, path: AccessPath) -> Settled:
        """Close all tables, write InnoDB's changed pages, sync the file system; the bytes written for it."""
        return self._settled(self._settle, "closing of tables, InnoDB's changed pages, syncfs")

    @override
    def commits(self) -> int | None:
        """InnoDB's own counters of committed transactions, reading ones too; None where they would not be exact."""
        if not self._counts:
            return None
        names = ", ".join(f"'{name}'" for name in settings.COMMITS)
        counts = self._ask(f"SELECT count FROM information_schema.innodb_metrics WHERE name IN ({names});")
        return sum(int(count) for (count,) in counts)

    def statement_counts(self) -> dict[str, int]:
        """What others than the console executed since the start: `prepare`, `execute`, `query` (text).

        The end of a connection counts as one `query`; SQL's own PREPARE and EXECUTE count with the protocol's.
        """
        names = ("Com_stmt_execute", "Com_stmt_fetch", "Com_stmt_prepare", "Questions")
        wanted = ", ".join(f"'{name}'" for name in names)
        rows = self._ask(
            f"SHOW SESSION STATUS WHERE Variable_name IN ({wanted});\n"
            f"SHOW GLOBAL STATUS WHERE Variable_name IN ({wanted});"
        )
        ourselves, everybody = dict(rows[: len(names)]), dict(rows[len(names) :])
        executed, fetched, prepared, questions = (int(everybody[name]) - int(ourselves[name]) for name in names)
        # The second query is the console's as well.
        return {"prepare": prepared, "execute": executed, "query": questions - executed - fetched - 1}

    @override
    def facts(self) -> dict[str, str]:
        options = settings.settings(self._engine.flavour, self.storage, self.durability)
        names = [name.replace("-", "_") for name in options]
        wanted = ", ".join(f"'{name}'" for name in (*names, *settings.SHOWN))
        key = settings.TLS_KEY[self._engine.flavour]
        certificate = {"certificate": certificates.what(key)} if self._tls else {}
        return dict(self._ask(f"SHOW GLOBAL VARIABLES WHERE Variable_name IN ({wanted});")) | {
            "text": "compared by its code points; utf8mb4_bin, and latin1_bin for tables of ASCII",
            "durability": settings.meaning(self.storage, self.durability),
            "program": str(self._programs.server),
            "user": self._user or "ourselves",
            "data_directory": str(self._data()),
            **certificate,
        }

    def backup(self, way: str, path: AccessPath, folder: Path) -> Backup:
        """One of the family's programs, as the superuser over the socket. Errors: EnvironmentMissing."""
        self._engine.backup_availability(way).require()
        place = backups.place_in(folder)
        if way == PHYSICAL:
            kept = place / "data"
            options = ["--backup", f"--datadir={self._data()}", f"--target-dir={kept}"]
        else:
            kept = place / f"{DATABASE}.sql"
            # Without transactions only a lock on all tables holds them still.
            still = "--single-transaction" if self.storage == "innodb" else "--lock-tables"
            options = [still, f"--result-file={kept}", DATABASE]
        return Backup(way, kept, command=(str(programs.find(way)), f"--defaults-file={self._login()}", *options))

    @override
    def _restore(self, backup: Backup) -> None:
        """Take the files and apply their log, or read the dump into a server."""
        if backup.way == PHYSICAL:
            self._make_home()
            data, program = self._data(), programs.find(PHYSICAL) or PHYSICAL
            private_directories.copy(backup.kept, data, None)
            backups.run([program, "--no-defaults", "--prepare", f"--target-dir={data}"])
            private_directories.give_all(data, self._user)
            private_directories.sync(data)
            self.start()
            return
        with backup.kept.open("rb") as dump:
            dump.seek(max(0, backup.kept.stat().st_size - 200))
            if END_OF_DUMP not in dump.read():
                raise RowpathError("the dump is incomplete: its last line is missing")
        self.start()
        login = f"--defaults-file={self._login()}"
        backups.run([self._programs.client, login, f"--database={DATABASE}"], source=backup.kept)

    def _make_home(self) -> None:
        self._home = private_directories.home(self._place.directory / self._engine.name, self._user)

    @override
    def _make(self) -> None:
        self._make_home()
        template_directory.refuse_two(self._data())
        version = self.version.removesuffix(settings.TLS_SUFFIX)
        template_directory.make_empty(self._engine, version, self._data(), self._user)

    @override
    def _started(self) -> bool:
        template_directory.refuse_two(self._data())
        home = self._files()
        logins, login = home / "logins.sql", self._login()
        first = settings.first_statements(self.storage, self.durability)
        # Runners log in from this machine (over the socket and over TCP: two hosts to a server that resolves no names)
        # and from the run's other hosts.
        admitted = tuple(dict.fromkeys(("localhost", self._place.listen, *self._place.clients)))
        private_directories.write_private(
            logins, script(first + settings.logins(self._passwords, admitted)), self._user
        )
        private_directories.write_private(login, settings.option_file(self._passwords[SUPERUSER], self._socket()))
        try:
            environment = {"LC_ALL": "C", "TZ": "UTC", "TMPDIR": str(home)}
            if not self._launched(self._command(logins), environment, self._data()):
                return False
        finally:
            logins.unlink(missing_ok=True)
        self._console = Console(self._programs.client, login)
        self._ask("SELECT 1;")
        return True

    def _command(self, logins: Path) -> list[str | Path]:
        encryption, flavour, listen = ["--skip-ssl"], self._engine.flavour, self._place.listen
        if self._tls:
            certificate, key = certificates.make(self._files(), self._user, settings.TLS_KEY[flavour], listen)
            protocol = settings.TLS_PROTOCOL[flavour]
            encryption = ["--ssl", f"--ssl-cert={certificate}", f"--ssl-key={key}", f"--tls-version={protocol}"]
        return [
            self._programs.server,
            "--no-defaults",
            *self._programs.arguments,
            f"--datadir={self._data()}",
            f"--socket={self._socket()}",
            f"--port={self._port}",
            f"--init-file={logins}",
            *settings.arguments(flavour, self.storage, self.durability),
            f"--bind-address={listen}",
            f"--max-connections={self._place.connections}",
            *settings.SERVER_ONLY[flavour],
            *encryption,
        ]

    @override
    def _reason(self) -> str:
        return settings.reason_in(self._logged())

    @override
    def _ready(self) -> bool:
        """Whether a connection gets the server's first words; those come once it has read the logins."""
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(1.0)
            try:
                connection.connect(str(self._socket()))
                return len(connection.recv(5)) == 5
            except OSError:
                return False

    def _fill(self, name: str, table: Table, file: Path) -> None:
        statements = [f"USE {DATABASE}", self._engine.drop(name), self._engine.create(name, table)]
        if table.rows:
            statements.append(self._engine.fill(name, table, file))
        self._ask(script(statements + self._engine.filled(name, table)), LOAD_TIMEOUT_S)

    def _settle(self) -> None:
        self._ask(script(self._engine.settle_statements()) + WRITE_PAGES, SETTLE_TIMEOUT_S)
        deadline = time.monotonic() + SETTLE_TIMEOUT_S
        while self._ask(f"SHOW GLOBAL STATUS LIKE '{DIRTY}';") != [[DIRTY, "0"]]:
            if time.monotonic() > deadline:
                raise TimedOut(f"InnoDB's changed pages were not written within {SETTLE_TIMEOUT_S:g} s", "run again")
            time.sleep(0.02)
        self._ask(USUAL_PAGES)
        private_directories.sync(self._files())

    def _ask(self, statements: str, timeout_s: float = 60.0) -> list[list[str]]:
        """The answer to a superuser's statements."""
        if self._console is None:
            raise RowpathError(f"{self._title} does not run", "call start first")
        return self._console.ask(statements, timeout_s)

    def _socket(self) -> Path:
        if self._sockets is None:
            raise RowpathError(f"{self._title} does not run", "call start first")
        return self._sockets / "mysql.sock"

    def _login(self) -> Path:
        return self._files() / "login.cnf"
