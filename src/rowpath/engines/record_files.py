"""Engines without SQL: a directory of record files in the client's own process, reached by key or by number.

Berkeley DB (durability full: a transactional environment, synced at each commit; none: plain files), LMDB (one
memory-mapped file; full: each commit is synced; none: the environment is opened with MDB_NOSYNC), a file for each
record with no library at all, and the files of a COBOL program: INDEXED by key, SEQUENTIAL where there is none.
"""

from __future__ import annotations

import ctypes
import platform

from typing_extensions import override

from rowpath.engines import load_through_runner
from rowpath.engines.base import Place
from rowpath.engines.embedded import EmbeddedDatabase
from rowpath.machine import private_directories
from rowpath.model.workload import Table

# C has no type of its own for these: every program would lay them out in another way.
NO_C_TYPE = ("interval", "array")


class RecordEngine(load_through_runner.DriverMade):
    """The kind of engine: always embedded; its words (`create`, `drop`) are those of its adapter."""

    deployments: tuple[str, ...] = ("embedded",)
    settles_with: tuple[str, ...] = ("SYNC",)  # the runner itself writes everything into the files

    def __init__(self, name: str, order: int, title: str, library: str = "", version_function: str = "") -> None:
        """`library`: its file's name; `version_function` in it writes the version to `(int *, int *, int *)`."""
        self.name = name
        self.order = order
        self.title = title
        self._library = library
        self._version_function = version_function

    @override
    def version(self) -> str:
        """The library's own version; `none` when it is not here."""
        parts = [ctypes.c_int() for _ in range(3)]
        try:
            getattr(ctypes.CDLL(self._library), self._version_function)(*map(ctypes.byref, parts))
        except (OSError, AttributeError):
            return "none"
        return ".".join(str(part.value) for part in parts)

    @override
    def instance(self, deployment: str, durability: str, place: Place) -> RecordFiles:
        return RecordFiles(self, durability, place)

    @override
    def create(self, name: str, table: Table) -> str:
        """Make the empty table: its records by key, or by number where it has none."""
        return f"CREATE {name} {'KEYED' if table.primary_key else 'NUMBERED'}"

    @override
    def drop(self, name: str) -> str:
        """Remove the table; fails when it does not exist."""
        return f"DROP {name}"

    @override
    def supports(self, logical_type: str) -> str:
        return f"C has no type of its own for {logical_type}" if logical_type in NO_C_TYPE else ""

    def fillings(self, tables: dict[str, Table]) -> list[tuple[dict[str, str], dict[str, Table]]]:
        """The coordinates of each pass that fills the files, and the tables that it fills."""
        return [({}, tables)]


class RecordFiles(EmbeddedDatabase[RecordEngine]):
    """One loaded directory of files and the copies of it that paths work on."""

    copy_name = "records"

    @override
    def start(self) -> None:
        """Make the private folders. Errors: EnvironmentMissing when they cannot be written."""
        super().start()
        private_directories.home(self._database, None)

    @override
    def check(self) -> bool:
        """Whether files were made."""
        return any(self._database.iterdir())

    @override
    def load(self, tables: dict[str, Table]) -> None:
        """Remake these tables and fill them; the files end closed and synced. Errors: RowpathError."""
        options = {"engine": self._engine.name, "deployment": self.deployment, "path": str(self._database)}
        for coordinates, filled in self._engine.fillings(tables):
            with load_through_runner.connected(options | {"durability": "none"} | coordinates) as runner:
                load_through_runner.make_tables(runner, self._engine, filled, self._folder, by_sample=True)
                load_through_runner.run(runner, self._engine.settle_statements())
        private_directories.sync(self._database)


class FilePerRecord(RecordEngine):
    """The kind of engine: a directory for each table. It has no durability: no write waits for the disk."""

    durabilities: tuple[str, ...] = ("none",)

    @override
    def version(self) -> str:
        """The kernel's: its file system is the engine."""
        return platform.release()


class Cobol(RecordEngine):
    """The kind of engine: GnuCOBOL's files. It has no durability: a WRITE stays with the runtime until CLOSE."""

    durabilities: tuple[str, ...] = ("none",)
    settles_with = ("CLOSE",)  # the runner itself closes its files

    @override
    def fillings(self, tables: dict[str, Table]) -> list[tuple[dict[str, str], dict[str, Table]]]:
        """All tables INDEXED; those without a key SEQUENTIAL too."""
        scanned = {name: table for name, table in tables.items() if not table.primary_key}
        return [({"organization": "indexed"}, tables), ({"organization": "sequential"}, scanned)]


FAMILY = (
    RecordEngine("berkeleydb", 40, "Berkeley DB", "libdb-5.3.so", "db_version"),
    RecordEngine("lmdb", 41, "LMDB", "liblmdb.so.0", "mdb_version"),
    FilePerRecord("file-per-record", 43, "a file for each record"),
    Cobol("cobol", 42, "files of GnuCOBOL", "libcob.so.4", "set_libcob_version"),
)
