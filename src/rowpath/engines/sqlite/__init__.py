"""SQLite: a database file in the client's own process; each path works on its own copy of the loaded file."""

from __future__ import annotations

import contextlib
import fcntl
import shutil
import sqlite3
from datetime import date, datetime
from datetime import time as time_of_day
from decimal import Decimal
from pathlib import Path
from typing import Any

from typing_extensions import override

from rowpath.engines import backup as backups
from rowpath.engines import indexes
from rowpath.engines.base import Backup, Instance, LoadingCost, Place
from rowpath.engines.embedded import EmbeddedDatabase
from rowpath.engines.probe_facts import FileLayout, FileLock, ProbeFacts, Syntax
from rowpath.engines.sql_dialect import SqlDialect
from rowpath.engines.sqlite import backup as sqlite_backup
from rowpath.errors import RowpathError
from rowpath.machine import private_directories
from rowpath.model.availability import Availability
from rowpath.model.path import AccessPath
from rowpath.model.workload import Table
from rowpath.workloads import load_progress
from rowpath.workloads.generators import delimited_value, rows

PENDING_BYTE = 0x4000_0000  # from here on SQLite's own locks: pending, reserved, then those of readers
WAL_LOCKS = 120  # in the -shm file: writer, checkpointer, recovery, readers


def _locks(main: Path, _every: tuple[Path, ...]) -> list[FileLock]:
    """Where it shows that it writes."""
    shared = main.with_name(f"{main.name}-shm")
    writing = [FileLock(main, fcntl.F_RDLCK, PENDING_BYTE + at, 1) for at in (0, 1)]
    return writing + [FileLock(shared, fcntl.F_RDLCK, WAL_LOCKS, 3)] * shared.is_file()


def _written_when_read(main: Path) -> str:
    with main.open("rb") as stream:
        header = stream.read(20)
    wal = header[18:20] == b"\x02\x02"
    return "SQLite's write-ahead log has its readers write to the -shm file" if wal else ""


class Sqlite(SqlDialect):
    """The kind of engine: SQLite, always embedded. Durability full: WAL, synchronous=FULL; none: synchronous=OFF."""

    name = "sqlite"
    title = "SQLite"
    order = 10
    deployments = ("embedded",)
    integers = dict.fromkeys((16, 32, 64), "INTEGER")
    # DECIMAL and TIMESTAMP would get NUMERIC affinity, which turns them into floating point: they are kept as text.
    types = {
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
    identity_words = ""  # it is the row id
    identity_is_key = True
    loading = LoadingCost(0, 1.05, 13e6)
    probe = ProbeFacts(
        schemes=("sqlite",),
        layout=FileLayout(("", "-wal", "-shm", "-journal"), locks=_locks, written_when_read=_written_when_read),
        syntax=Syntax(brackets=True),
        row_limit="LIMIT {rows}",
        session_statements=lambda _version, _timeout_ms: ("PRAGMA query_only = ON",),
    )

    @override
    def availability(self) -> Availability:
        """Always: the controller's own module loads it."""
        return Availability(True, f"SQLite {sqlite3.sqlite_version} (loads the data; each driver brings its own)")

    @override
    def version(self) -> str:
        """The version of the system's library, as the controller's own module has it."""
        return sqlite3.sqlite_version

    @override
    def instance(self, deployment: str, durability: str, place: Place) -> SqliteFile:
        return SqliteFile(self, durability, place)

    @override
    def settings(self, durability: str) -> dict[str, tuple[str, ...]]:
        return {"synchronous": ("0", "OFF")} if durability == "none" else {}

    @override
    def settle_statements(self) -> list[str]:
        """The log goes back into the main file."""
        return ["PRAGMA wal_checkpoint(TRUNCATE)"]

    def backup_ways(self, deployment: str) -> tuple[str, ...]:
        """A statement, and the backup API."""
        return sqlite_backup.WAYS

    def backup_availability(self, way: str) -> Availability:
        """Always: the controller's own Python calls the API."""
        return self.availability() if way in sqlite_backup.WAYS else backups.unknown("SQLite", way)

    @override
    def slow_query(self) -> str:
        """Minutes of counting up in a recursion."""
        return "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1e12) SELECT count(*) FROM n"


class SqliteFile(EmbeddedDatabase):
    """One loaded database file and the copies of it that paths work on."""

    def __init__(self, engine: Sqlite, durability: str, place: Place) -> None:
        super().__init__(engine, durability, place, "loaded.sqlite", "rowpath.sqlite")
        self._engine = engine

    @override
    def check(self) -> bool:
        """Whether the loaded file is sound."""
        with _opened(self._database) as connection:
            return bool(connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)])

    @override
    def load(self, tables: dict[str, Table]) -> None:
        """Remake these tables and fill them from the generators; the file ends checkpointed, sound and synced."""
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
        instance = SqliteFile(self._engine, self.durability, Place(folder, folder, ()))
        with backups.restoring(backup, instance):
            sqlite_backup.check(shutil.copyfile(backup.kept, instance.restored_copy()))
        return backups.passing(instance)

    @override
    def facts(self) -> dict[str, str]:
        """How the file was made; what a driver uses it with, its runner tells."""
        with _opened(self._database) as connection:
            pragmas = ("page_size", "journal_mode", "encoding", "auto_vacuum")
            found = {name: str(connection.execute(f"PRAGMA {name}").fetchone()[0]) for name in pragmas}
        return super().facts() | found


def _opened(file: Path) -> contextlib.closing[sqlite3.Connection]:
    """A connection in autocommit, closed at the end (sqlite3's own context manager only commits)."""
    return contextlib.closing(sqlite3.connect(file, isolation_level=None))


def _natural(row: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(
        delimited_value(value) if isinstance(value, Decimal | date | datetime | time_of_day) else value for value in row
    )


ENGINE = Sqlite()
