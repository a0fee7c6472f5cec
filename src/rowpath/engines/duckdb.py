"""DuckDB: a database file in the client's own process, made by a driver, and the same behind a server of 1.5.5.

Embedded, each path works on its own copy. The server is a DuckDB that speaks the Quack protocol; its extension comes
as a wheel for 1.5.5 only.
"""

from __future__ import annotations

import contextlib
import http.client
import shutil
import signal
import time
from pathlib import Path
from typing import Any

from msgspec import structs
from typing_extensions import override

from rowpath.engines import backup as backups
from rowpath.engines import load_through_runner
from rowpath.engines.base import Backup, Instance, LoadingCost, Place, Settled, Stored
from rowpath.engines.embedded import EmbeddedDatabase
from rowpath.engines.probe_facts import FileLayout, ProbeFacts, Syntax
from rowpath.engines.server import PrivateServer
from rowpath.errors import EnvironmentMissing
from rowpath.machine import private_directories, processes
from rowpath.model.availability import Availability
from rowpath.model.path import AccessPath
from rowpath.model.workload import Table
from rowpath.runners import manifest
from rowpath.runners.process import Runner

LATEST = "latest"  # the format of the loader's own build
SERVED = "1.5.5"  # has a server, and no setting that spares a commit its sync
SERVER_FILE = "families/duckdb/quack.py"  # beside the manifest
READY = "quack: ready"
TOKEN = "token"
ANSWER_TIMEOUT_S = 20.0


class DuckDb(load_through_runner.DriverMade, backups.BackupWays, Stored):
    """The kind of engine: DuckDB. Durability full: each commit syncs its log; none: fsync_mode=NONE.

    Each connection sets it: `fsync_mode` is a setting of the process, not of the file.

    Storage: the version of the file's format (DuckDB's `storage_compatibility_version`). A driver with an older build
    of DuckDB reads no newer one.
    """

    name = "duckdb"
    title = "DuckDB"
    ways = ("copy",)
    order = 14
    deployments: tuple[str, ...] = ("embedded", "server")
    versions_apart = versions_served = (SERVED,)
    storages = (LATEST, "v1.5.0")
    types = {
        "decimal": "DECIMAL({precision},{scale})",
        "float32": "FLOAT",
        "float64": "DOUBLE",
        "boolean": "BOOLEAN",
        "char": "CHAR({length})",
        "varchar": "VARCHAR({length})",
        "text": "VARCHAR",
        "json": "JSON",
        "binary": "BLOB",
        "date": "DATE",
        "time": "TIME",
        "timestamp": "TIMESTAMP",
        "timestamptz": "TIMESTAMP WITH TIME ZONE",
        "interval": "INTERVAL",
        "uuid": "UUID",
        "array": "{integer}[]",
    }
    settles_with = ("CHECKPOINT",)  # the log goes into the file
    identity_words = "DEFAULT nextval('{table}_{column}')"
    slow_query = "SELECT count(*) FROM range(10000000) AS a, range(10000000) AS b WHERE a.range * b.range % 7 = 3"
    loading = LoadingCost(0, 0.6, 50e6)
    probe = ProbeFacts(
        schemes=("duckdb",),
        layout=FileLayout(("", ".wal"), signature=(8, b"DUCK"), shared_read_only=True),  # behind a checksum
        syntax=Syntax(nested_comments=True, dollar_quotes=True, escape_strings=True, first_words=("FROM",)),
        row_limit="LIMIT {rows}",
        cast_literals=True,
        binary_literal="from_hex('{}')",
    )

    def __init__(self, version: str = "", numbers: bool = True) -> None:
        self._version = version  # empty: the pinned one
        self._numbers = numbers  # whether a column's default numbers rows; no client can attach a server where it does

    @override
    def version(self) -> str:
        """The version of the loader's pinned driver, or the one with a server."""
        return self._version or super().version()

    def versions(self) -> tuple[str, ...]:
        """The pinned one, only embedded; the one with a server."""
        return super().version(), SERVED

    def tls_version(self) -> str:
        """Empty: a Quack server has no TLS of its own."""
        return ""

    def availability_of(self, version: str, tls: str) -> Availability:
        """Whether the driver that carries that version can run here."""
        return load_through_runner.availability(self.name, f"{self.title} {version}", version)

    @override
    def instance(self, deployment: str, durability: str, place: Place) -> Instance:
        """A database file, or a server over one, not yet made. Errors: EnvironmentMissing for another version's."""
        if deployment != "server":
            return DuckdbFile(DuckDb(place.version), durability, place)
        if place.version not in ("", SERVED):
            what = f"DuckDB {place.version} has no server here: the extension quack comes as a wheel for {SERVED}"
            raise EnvironmentMissing(what, f"engine_version={SERVED}")
        return QuackServer(DuckDb(SERVED, numbers=False), durability, place)

    @override
    def backup_ways(self, deployment: str) -> tuple[str, ...]:
        """Only embedded: what a client attaches beside a server is not the server's."""
        return self.ways if deployment == "embedded" else ()

    @override
    def connect_lines(self, options: dict[str, Any], folder: Path) -> tuple[str, ...]:
        """The statement that attaches it, and the file with a secret that has the token."""
        file, place = folder / "quack.sql", f"quack:{options['host']}:{options['port']}"
        private_directories.write_private(file, f"CREATE SECRET (TYPE quack, TOKEN '{options['password']}');\n")
        return f"LOAD quack; .read {file}", f"ATTACH '{place}' AS served;"

    def load(self, database: Path, tables: dict[str, Table], storage: str) -> None:
        """Remake these tables in that file, open nowhere else, and fill them; it ends checkpointed and closed."""
        with self.opened(database, storage) as runner:
            load_through_runner.make_tables(runner, self, tables, database.parent)
            load_through_runner.run(runner, self.settle_statements())
        private_directories.sync(database)

    def opened(self, database: Path, storage: str) -> contextlib.AbstractContextManager[Runner]:
        """A runner of our own with that file open in its process."""
        options = {
            "engine": self.name,
            "deployment": "embedded",
            "durability": "full" if self.version() == SERVED else "none",
            "statement": "bound",
            "threads": "1",
            "storage": storage or LATEST,
            "path": str(database),
        }
        return load_through_runner.connected(options, self.version())

    @override
    def create(self, name: str, table: Table) -> str:
        """CREATE TABLE in its dialect; an identity column takes its numbers from a sequence made with it."""
        if not self._numbers:
            table = structs.replace(table, identity="")
        made = super().create(name, table)
        if not table.identity:
            return made
        return f"CREATE OR REPLACE SEQUENCE {name}_{table.identity} START {table.rows + 1}; {made}"

    def imported(self, name: str, table: Table, file: Path, folder: Path) -> list[str]:
        """COPY from the file; nothing in it is quoted."""
        form = r"FORMAT csv, AUTO_DETECT false, HEADER false, DELIMITER '|', QUOTE '', ESCAPE '', NULLSTR '\N'"
        return [f"COPY {name} FROM {backups.literal(file)} ({form})"]


class DuckdbFile(EmbeddedDatabase[DuckDb]):
    """One loaded database file and the copies of it that paths work on."""

    loaded_name = "loaded.duckdb"
    copy_name = "rowpath.duckdb"

    @override
    def check(self) -> bool:
        """Whether the database was made and everything in its log is in the file."""
        return self._database.is_file() and not self._database.with_name(f"{self._database.name}.wal").exists()

    @override
    def load(self, tables: dict[str, Table]) -> None:
        """Remake these tables and fill them; the database ends checkpointed, closed and synced."""
        self._engine.load(self._database, tables, self._place.storage)

    def backup(self, way: str, path: AccessPath, folder: Path) -> Backup:
        """Copy it into another database, attached beside it, in one transaction. Errors: EnvironmentMissing."""
        self._engine.backup_availability(way).require()
        database = self._copy(path)
        kept = backups.place_in(folder) / database.name
        attached = f"kept_{kept.parent.name.rpartition('-')[2]}"  # several may be ready at once
        return Backup(
            way,
            kept,
            f"COPY FROM DATABASE {database.stem} TO {attached}",
            before=(f"ATTACH {backups.literal(kept)} AS {attached}",),
            afterwards=(f"CHECKPOINT {attached}", f"DETACH {attached}"),
        )

    @override
    def _restore(self, kept: Path, database: Path) -> None:
        shutil.copyfile(kept, database)
        with self._engine.opened(database, self._place.storage):
            pass


class QuackServer(PrivateServer[DuckDb]):
    """A DuckDB over one database file that serves it by the Quack protocol, in the environment of its client's driver.

    It knows a token and no users.
    """

    data_name = "data"
    _title = "DuckDB's server"
    stop_steps: processes.Steps = ((signal.SIGTERM, 10.0), *processes.AT_ONCE)
    start_timeout_s = 60.0
    has_socket = False
    becomes_user = True

    def __init__(self, engine: DuckDb, durability: str, place: Place) -> None:
        super().__init__(engine, durability, place, TOKEN)
        self.version = engine.version()

    @override
    def check(self) -> bool:
        """Whether it answers a request that needs no login."""
        if not self.pids():
            return False
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=ANSWER_TIMEOUT_S)
        try:
            connection.request("GET", "/")
            return connection.getresponse().status > 0
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()

    @override
    def load(self, tables: dict[str, Table]) -> None:
        """Remake these tables and fill them, embedded: the server steps aside."""
        self.stop()
        self._engine.load(self._database(), tables, self._place.storage)
        private_directories.give_all(self._data(), self._user)
        self.start()

    @override
    def settle(self, path: AccessPath) -> Settled:
        """A checkpoint through a connection of our own, and sync; the bytes that the server wrote for it."""
        options = {"engine": self._engine.name, "deployment": "server", "durability": self.durability}

        def checkpoint() -> int:
            with load_through_runner.connected(options | self.options(path), self.version) as runner:
                ns = load_through_runner.run(runner, self._engine.settle_statements())
            started_ns = time.monotonic_ns()
            private_directories.sync(self._files())
            return ns + time.monotonic_ns() - started_ns

        return self._settled(checkpoint, "CHECKPOINT and syncfs")

    @override
    def facts(self) -> dict[str, str]:
        """The version, and who runs it over what; a server's settings are in its client's facts."""
        return {
            "version": self.version,
            "user": self._user or "ourselves",
            "data_directory": str(self._data()),
        }

    @override
    def _make(self) -> None:
        home = private_directories.home(self._place.directory / "duckdb-server", self._user)
        private_directories.home(home / self.data_name, self._user)
        private_directories.write_private(home / TOKEN, self._passwords[TOKEN], self._user)
        self._home = home

    def _driver(self) -> manifest.Adapter:
        return load_through_runner.loader(self._engine.name, self.deployment)

    def _database(self) -> Path:
        return self._data() / "rowpath.duckdb"

    @override
    def _started(self) -> bool:
        driver = self._driver()
        manifest.build([(driver, self.version)])
        python = manifest.command(driver, self.version, AccessPath.of({})).arguments[0]
        program = manifest.source_file(driver, SERVER_FILE)
        command = (python, "-I", program, self._database(), str(self._port), self._files() / TOKEN)
        return self._launched((*command, *filter(None, [self._user])), {"LC_ALL": "C.UTF-8"})

    @override
    def _ready(self) -> bool:
        return READY in self._logged() and self.check()


ENGINE = DuckDb()
