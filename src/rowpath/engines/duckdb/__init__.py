"""DuckDB: a database file in the client's own process, made by its Python driver; each path works on its own copy."""

from __future__ import annotations

import contextlib
import importlib
import shutil
from pathlib import Path
from typing import Any

from rowpath.engines import backup as backups
from rowpath.engines import load_through_runner
from rowpath.engines.base import Backup, Instance, Place
from rowpath.engines.duckdb import backup as duckdb_backup
from rowpath.engines.embedded import Copies
from rowpath.machine import private_directories
from rowpath.model.availability import Availability
from rowpath.model.path import AccessPath
from rowpath.model.workload import Column, Table
from rowpath.runners.manifest import Adapter, adapter_of
from rowpath.runners.process import Runner

TYPES = {
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
}
INTEGERS = {16: "SMALLINT", 32: "INTEGER", 64: "BIGINT"}


class DuckDb:
    """The kind of engine: DuckDB, always embedded. Durability full: each commit syncs its log; none: fsync_mode=NONE.

    A connection says so itself: the setting `fsync_mode` is the process's, not the file's.
    """

    name = "duckdb"
    deployments: tuple[str, ...] = ("embedded",)
    durabilities: tuple[str, ...] = ("full", "none")
    server_warm_s = 0.0

    def availability(self) -> Availability:
        """What the Python side says of its DuckDB adapter, which makes and loads the databases."""
        python: Any = importlib.import_module("rowpath.runners.toolchains.python")
        found: Availability = python.availability(_driver(), self.version())
        return Availability(found.ok, f"DuckDB {self.version()}", found.reason, found.remedy)

    def version(self) -> str:
        """Of the pinned Python driver, which carries the engine."""
        return _driver().versions[0]

    def instance(self, deployment: str, durability: str, place: Place) -> File:
        """A database file, not yet made."""
        return File(self, deployment, durability, place)

    def create(self, name: str, table: Table) -> str:
        """CREATE TABLE in its dialect; an identity column takes its numbers from a sequence made with it."""
        lines = [self._column(name, column, table) for column in table.columns]
        if table.primary_key:
            lines.append(f"PRIMARY KEY ({', '.join(table.primary_key)})")
        made = f"CREATE TABLE {name} ({', '.join(lines)})"
        if not table.identity:
            return made
        return f"CREATE OR REPLACE SEQUENCE {name}_{table.identity} START {table.rows + 1}; {made}"

    def drop(self, name: str) -> str:
        """DROP TABLE in its dialect."""
        return f"DROP TABLE IF EXISTS {name}"

    def supports(self, logical_type: str) -> str:
        """Empty: it has every logical type."""
        return ""

    def imported(self, name: str, table: Table, file: Path, folder: Path) -> list[str]:
        """COPY from the file; nothing in it is quoted."""
        quoted = str(file).replace("'", "''")
        told = r"FORMAT csv, AUTO_DETECT false, HEADER false, DELIMITER '|', QUOTE '', ESCAPE '', NULLSTR '\N'"
        return [f"COPY {name} FROM '{quoted}' ({told})"]

    def settle_statements(self) -> list[str]:
        """What the runner executes on its own connection: the log goes into the file."""
        return ["CHECKPOINT"]

    def backup_ways(self, deployment: str) -> tuple[str, ...]:
        """Its copy into another database."""
        return (duckdb_backup.WAY,)

    def backup_availability(self, way: str) -> Availability:
        """Whether it can run here: it needs no program."""
        return self.availability() if way == duckdb_backup.WAY else backups.unknown("DuckDB", way)

    def slow_query(self) -> str:
        """A query that runs for minutes and needs no table."""
        return "SELECT count(*) FROM range(10000000) AS a, range(10000000) AS b WHERE a.range * b.range % 7 = 3"

    def _column(self, table_name: str, column: Column, table: Table) -> str:
        values = {"length": column.length, "precision": column.precision, "scale": column.scale}
        if column.type in ("integer", "array"):
            spelt = INTEGERS[column.bits] + ("[]" if column.type == "array" else "")
        else:
            spelt = TYPES[column.type].format(**values)
        null = "" if column.nullable else " NOT NULL"
        numbered = f" DEFAULT nextval('{table_name}_{column.name}')" if column.name == table.identity else ""
        return f"{column.name} {spelt}{null}{numbered}"


class File(Copies):
    """One loaded database file and the copies of it that paths work on."""

    def __init__(self, engine: DuckDb, deployment: str, durability: str, place: Place) -> None:
        folder = place.directory / "duckdb"
        super().__init__(deployment, durability, engine.version(), folder, "loaded.duckdb", "rowpath.duckdb")
        self._engine = engine

    def check(self) -> bool:
        """Whether the database was made and everything in its log is in the file."""
        return self._database.is_file() and not self._database.with_name(f"{self._database.name}.wal").exists()

    def load(self, tables: dict[str, Table]) -> None:
        """Make these tables anew and fill them; the database ends checkpointed, closed and synced."""
        with self._opened() as runner:
            load_through_runner.make_tables(runner, self._engine, tables, self._folder)
            load_through_runner.run(runner, self._engine.settle_statements())
        private_directories.sync(self._database)

    def backup(self, way: str, path: AccessPath, folder: Path) -> Backup:
        """Statements of the path's own client. Errors: EnvironmentMissing."""
        backups.require(self._engine.backup_availability(way))
        return duckdb_backup.backup(self._copy(path), folder)

    def restored(self, backup: Backup, folder: Path) -> Instance:
        """A copy of the file that it kept, opened once. Errors: RowpathError."""
        instance = File(self._engine, self.deployment, self.durability, Place(folder, folder, ()))
        with backups.restoring(backup, instance):
            shutil.copyfile(backup.kept, instance.restored_copy())
            with instance._opened():
                pass
        return backups.passing(instance)

    def facts(self) -> dict[str, str]:
        """The version; what a driver uses the file with, its runner tells."""
        return {"version": self.version}

    def _opened(self) -> contextlib.AbstractContextManager[Runner]:
        options = {
            "engine": self._engine.name,
            "deployment": self.deployment,
            "durability": "none",
            "statement": "bound",
            "threads": "1",
            "path": str(self._database),
        }
        return load_through_runner.connected("python", "duckdb", self.version, options)


def _driver() -> Adapter:
    return adapter_of("python", "duckdb")


ENGINE = DuckDb()
