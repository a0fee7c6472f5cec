"""SQLite: a database file in the client's own process; each path works on its own copy of the loaded file."""

from __future__ import annotations

import contextlib
import fcntl
import shutil
import sqlite3
import sys
from collections.abc import Sequence
from datetime import date, datetime, time
from decimal import Decimal
from pathlib import Path

from typing_extensions import override

from rowpath.engines import backup as backups
from rowpath.engines.base import Backup, LoadingCost, Place
from rowpath.engines.embedded import EmbeddedDatabase
from rowpath.engines.probe_facts import FileLayout, FileLock, ProbeFacts, Syntax
from rowpath.errors import RowpathError
from rowpath.machine import private_directories
from rowpath.model.availability import Availability
from rowpath.model.path import AccessPath
from rowpath.model.workload import Table
from rowpath.workloads import load_progress
from rowpath.workloads.generators import delimited_value, rows

PENDING_BYTE = 0x4000_0000  # from here on SQLite's own locks: pending, reserved, then those of readers
BACKUP_PROGRAM = Path(__file__).with_name("backup_script.py")
KEPT_AS_TEXT = (Decimal, date, datetime, time)
WAL_LOCKS = 120  # in the -shm file: writer, checkpointer, recovery, readers


def _locks(main: Path, _every: tuple[Path, ...]) -> list[FileLock]:
    """The locks that show that it writes."""
    shared = main.with_name(f"{main.name}-shm")
    writing = [FileLock(main, fcntl.F_RDLCK, PENDING_BYTE + at, 1) for at in (0, 1)]
    return writing + [FileLock(shared, fcntl.F_RDLCK, WAL_LOCKS, 3)] * shared.is_file()


def _written_when_read(main: Path) -> str:
    with main.open("rb") as stream:
        header = stream.read(20)
    wal = header[18:20] == b"\x02\x02"
    return "SQLite's write-ahead log has its readers write to the -shm file" if wal else ""


def _primary_key_query(parts: Sequence[str]) -> str:
    """Of a table by the parts of its name: a schema may come first. WITHOUT ROWID or not, `pk` counts from 1."""
    arguments = ", ".join("'{}'".format(part.replace("'", "''")) for part in (parts[-1], *parts[-2:-1]))
    return f"SELECT name FROM pragma_table_info({arguments}) WHERE pk > 0 ORDER BY pk"


class Sqlite(backups.BackupWays):
    """The kind of engine: SQLite, always embedded. Durability full: WAL, synchronous=FULL; none: synchronous=OFF."""

    name = "sqlite"
    title = "SQLite"
    ways: tuple[str, ...] = ("vacuum-into", "api")
    order = 10
    deployments: tuple[str, ...] = ("embedded",)
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
    settles_with: tuple[str, ...] = ("PRAGMA wal_checkpoint(TRUNCATE)",)  # the log goes back into the main file
    identity_words = ""  # it is the row id
    identity_is_key = True
    slow_query = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1e12) SELECT count(*) FROM n"
    loading = LoadingCost(0, 1.05, 13e6)
    probe = ProbeFacts(
        schemes=("sqlite",),
        layout=FileLayout(
            ("", "-wal", "-shm", "-journal"),
            signature=(0, b"SQLite format 3\0"),  # Database File Format, https://sqlite.org/fileformat2.html
            locks=_locks,
            written_when_read=_written_when_read,
        ),
        syntax=Syntax(brackets=True),
        row_limit="LIMIT {rows}",
        text_parameters=True,
        described_by_rows=True,
        unbound_is_null=True,
        primary_key_query=_primary_key_query,
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


class SqliteFile(EmbeddedDatabase[Sqlite]):
    """One loaded database file and the copies of it that paths work on."""

    loaded_name = "loaded.sqlite"
    copy_name = "rowpath.sqlite"

    @override
    def check(self) -> bool:
        """Whether the loaded file is sound."""
        return not _faults(self._database)

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
                natural = (
                    [delimited_value(value) if isinstance(value, KEPT_AS_TEXT) else value for value in row]
                    for row in load_progress.counted(f"sqlite {name}", rows(table), table.rows)
                )
                connection.executemany(f"INSERT INTO {name} VALUES ({marks})", natural)
                for statement in self._engine.filled(name, table):
                    connection.execute(statement)
            connection.execute("COMMIT")
            connection.execute("ANALYZE")
            connection.execute(f"PRAGMA journal_mode={'WAL' if self.durability == 'full' else 'DELETE'}")
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        if not self.check():
            raise RowpathError(f"{self._database} is damaged after loading", "check the disk, then run again")
        private_directories.sync(self._database)

    def backup(self, way: str, path: AccessPath, folder: Path) -> Backup:
        """A statement of the path's own client, or a process beside it. Errors: EnvironmentMissing."""
        self._engine.backup_availability(way).require()
        database = self._copy(path)
        kept = backups.place_in(folder) / database.name
        if way == "vacuum-into":
            return Backup(way, kept, f"VACUUM INTO {backups.literal(kept)}")
        return Backup(way, kept, command=(sys.executable, "-I", str(BACKUP_PROGRAM), str(database), str(kept)))

    @override
    def _restore(self, kept: Path, database: Path) -> None:
        try:
            faults = _faults(shutil.copyfile(kept, database))
        except sqlite3.Error as error:
            raise RowpathError(str(error)) from error
        if faults:
            raise RowpathError("; ".join(faults[:3]))

    @override
    def facts(self) -> dict[str, str]:
        """How the file was made; a driver's settings are in its runner's facts."""
        with _opened(self._database) as connection:
            pragmas = ("page_size", "journal_mode", "encoding", "auto_vacuum")
            own = {name: str(connection.execute(f"PRAGMA {name}").fetchone()[0]) for name in pragmas}
        return super().facts() | own


def _opened(file: Path) -> contextlib.closing[sqlite3.Connection]:
    """A connection in autocommit, closed at the end (sqlite3's own context manager only commits)."""
    return contextlib.closing(sqlite3.connect(file, isolation_level=None))


def _faults(file: Path) -> list[str]:
    """What SQLite's own check finds wrong in a database file."""
    with _opened(file) as connection:
        return [line for (line,) in connection.execute("PRAGMA integrity_check") if line != "ok"]


ENGINE = Sqlite()
