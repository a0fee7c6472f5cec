"""DuckDB: a database file in the client's own process, made by a driver; each path works on its own copy."""

from __future__ import annotations

import contextlib
import shutil
from pathlib import Path

from typing_extensions import override

from rowpath.engines import backup as backups
from rowpath.engines import load_through_runner
from rowpath.engines.base import Backup, LoadingCost, Place, Stored
from rowpath.engines.embedded import EmbeddedDatabase
from rowpath.engines.probe_facts import FileLayout, ProbeFacts, Syntax
from rowpath.machine import private_directories
from rowpath.model.path import AccessPath
from rowpath.model.workload import Table
from rowpath.runners.process import Runner

LATEST = "latest"  # the format of the loader's own build


class DuckDb(load_through_runner.DriverMade, backups.BackupWays, Stored):
    """The kind of engine: DuckDB, always embedded. Durability full: each commit syncs its log; none: fsync_mode=NONE.

    Each connection sets it: `fsync_mode` is a setting of the process, not of the file.

    Storage: the version of the file's format (DuckDB's `storage_compatibility_version`). A driver with an older build
    of DuckDB reads no newer one.
    """

    name = "duckdb"
    title = "DuckDB"
    ways = ("copy",)
    order = 14
    deployments: tuple[str, ...] = ("embedded",)
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

    @override
    def instance(self, deployment: str, durability: str, place: Place) -> DuckdbFile:
        return DuckdbFile(self, durability, place)

    @override
    def create(self, name: str, table: Table) -> str:
        """CREATE TABLE in its dialect; an identity column takes its numbers from a sequence made with it."""
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
        with self._opened() as runner:
            load_through_runner.make_tables(runner, self._engine, tables, self._folder)
            load_through_runner.run(runner, self._engine.settle_statements())
        private_directories.sync(self._database)

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
        with self._opened():
            pass

    def _opened(self) -> contextlib.AbstractContextManager[Runner]:
        options = {
            "engine": self._engine.name,
            "deployment": self.deployment,
            "durability": "none",
            "statement": "bound",
            "threads": "1",
            "storage": self._place.storage or LATEST,
            "path": str(self._database),
        }
        return load_through_runner.connected(options, self.version)


ENGINE = DuckDb()
