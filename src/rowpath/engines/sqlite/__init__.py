"""SQLite: a database file in the client's own process; each path works on its own copy of the loaded file."""

from __future__ import annotations

import contextlib
import shutil
import sqlite3
from datetime import date, datetime
from datetime import time as time_of_day
from decimal import Decimal
from pathlib import Path
from typing import Any

from rowpath.engines import backup as backups
from rowpath.engines import indexes
from rowpath.engines.base import Backup, Instance, Place
from rowpath.engines.embedded import Copies
from rowpath.engines.sqlite import backup as sqlite_backup
from rowpath.errors import RowpathError
from rowpath.machine import private_directories
from rowpath.model.availability import Availability
from rowpath.model.path import AccessPath
from rowpath.model.workload import Column, Table
from rowpath.workloads import load_progress
from rowpath.workloads.generators import delimited_value, rows

# DECIMAL and TIMESTAMP would get NUMERIC affinity, which turns them into floating point: they are kept as text.
TYPES = {
    "integer": "INTEGER",
    "decimal": "TEXT",
    "float32": "REAL",
    "float64": "REAL",
    "boolean": "INTEGER",
    "char": "CHAR({length})",
    "varchar": "VARCHAR({length})",
    "text": "TEXT",
    "json": "TEXT",
    "binary": "BLOB",
    "date": "TEXT",
    "time": "TEXT",
    "timestamp": "TEXT",
}


class Sqlite:
    """The kind of engine: SQLite, always embedded. Durability full: WAL, synchronous=FULL; none: synchronous=OFF."""

    name = "sqlite"
    deployments = ("embedded",)
    durabilities = ("full", "none")
    server_warm_s = 0.0

    def availability(self) -> Availability:
        """Always: the controller's own module loads it."""
        return Availability(True, f"SQLite {sqlite3.sqlite_version} (loads the data; each driver brings its own)")

    def version(self) -> str:
        """The version of the system's library, as the controller's own module has it."""
        return sqlite3.sqlite_version

    def instance(self, deployment: str, durability: str, place: Place) -> File:
        """A database file, not yet made."""
        return File(self, deployment, durability, place)

    def create(self, name: str, table: Table) -> str:
        """CREATE TABLE in its dialect; an identity column is the row id."""
        lines = [f"{column.name} {self._type(column)}" for column in table.columns]
        if table.primary_key:
            lines.append(f"PRIMARY KEY ({', '.join(table.primary_key)})")
        elif table.identity:
            lines.append(f"PRIMARY KEY ({table.identity})")
        return f"CREATE TABLE {name} ({', '.join(lines)})"

    def drop(self, name: str) -> str:
        """DROP TABLE in its dialect."""
        return f"DROP TABLE IF EXISTS {name}"

    def supports(self, logical_type: str) -> str:
        """Empty when the logical type can be kept exactly, else the reason."""
        return "" if logical_type in TYPES else f"SQLite has no type for {logical_type}"

    def settle_statements(self) -> list[str]:
        """What the runner executes on its own connection: the log goes back into the main file."""
        return ["PRAGMA wal_checkpoint(TRUNCATE)"]

    def backup_ways(self, deployment: str) -> tuple[str, ...]:
        """A statement, and the backup API."""
        return sqlite_backup.WAYS

    def backup_availability(self, way: str) -> Availability:
        """Always: the controller's own Python calls the API."""
        return self.availability() if way in sqlite_backup.WAYS else backups.unknown("SQLite", way)

    def slow_query(self) -> str:
        """Minutes of counting up in a recursion."""
        return "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1e12) SELECT count(*) FROM n"

    def _type(self, column: Column) -> str:
        return TYPES[column.type].format(length=column.length) + ("" if column.nullable else " NOT NULL")


class File(Copies):
    """One loaded database file and the copies of it that paths work on."""

    def __init__(self, engine: Sqlite, deployment: str, durability: str, place: Place) -> None:
        folder = place.directory / "sqlite"
        super().__init__(deployment, durability, sqlite3.sqlite_version, folder, "loaded.sqlite", "rowpath.sqlite")
        self._engine = engine

    def check(self) -> bool:
        """Whether the loaded file is sound."""
        with _opened(self._database) as connection:
            return bool(connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)])

    def load(self, tables: dict[str, Table]) -> None:
        """Make these tables anew and fill them from the generators; the file ends checkpointed, sound and synced."""
        with _opened(self._database) as connection:
            connection.execute("PRAGMA synchronous=OFF")
            connection.execute("BEGIN")
            for name, table in tables.items():
                connection.execute(self._engine.drop(name))
                connection.execute(self._engine.create(name, table))
                marks = ", ".join("?" * len(table.columns))
                made = load_progress.counted(f"sqlite {name}", rows(table), table.rows)
                connection.executemany(f"INSERT INTO {name} VALUES ({marks})", map(_natural, made))
                for statement in indexes.statements(name, table):
                    connection.execute(statement)
            connection.execute("COMMIT")
            connection.execute("ANALYZE")
            connection.execute(f"PRAGMA journal_mode={'WAL' if self.durability == 'full' else 'DELETE'}")
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        if not self.check():
            raise RowpathError(f"{self._database} is not sound after loading", "check the disk, then run again")
        private_directories.sync(self._database)

    def backup(self, way: str, path: AccessPath, folder: Path) -> Backup:
        """A statement of the path's own client, or a process beside it. Errors: EnvironmentMissing."""
        backups.require(self._engine.backup_availability(way))
        return sqlite_backup.backup(way, self._copy(path), folder)

    def restored(self, backup: Backup, folder: Path) -> Instance:
        """A copy of the file that it kept, checked by SQLite. Errors: RowpathError."""
        instance = File(self._engine, self.deployment, self.durability, Place(folder, folder, ()))
        with backups.restoring(backup, instance):
            sqlite_backup.check(shutil.copyfile(backup.kept, instance.restored_copy()))
        return backups.passing(instance)

    def facts(self) -> dict[str, str]:
        """How the file was made; what a driver uses it with, its runner tells."""
        with _opened(self._database) as connection:
            pragmas = ("page_size", "journal_mode", "encoding", "auto_vacuum")
            found = {name: str(connection.execute(f"PRAGMA {name}").fetchone()[0]) for name in pragmas}
        return {"version": self.version} | found


def _opened(file: Path) -> contextlib.closing[sqlite3.Connection]:
    """A connection in autocommit, closed at the end (sqlite3's own context manager only commits)."""
    return contextlib.closing(sqlite3.connect(file, isolation_level=None))


def _natural(row: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(
        delimited_value(value) if isinstance(value, Decimal | date | datetime | time_of_day) else value for value in row
    )


ENGINE = Sqlite()
