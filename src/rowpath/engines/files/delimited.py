"""Delimited text files, no database at all: TABLE.tbl in one folder, read only, shared by all paths."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path
from typing import Any

from rowpath.engines.base import Place, Settled
from rowpath.machine import private_directories
from rowpath.model.availability import Availability
from rowpath.model.path import AccessPath
from rowpath.model.workload import Table
from rowpath.workloads import load_progress
from rowpath.workloads.generators import kept_file, write_delimited

DELIMITER = "|"


class File:
    """The kind of engine: a folder of delimited text files."""

    name = "file"
    deployments = ("file",)
    durabilities = ("none",)
    server_warm_s = 0.0

    def availability(self) -> Availability:
        """Always."""
        return Availability(True, "delimited text files")

    def version(self) -> str:
        """None."""
        return "none"

    def instance(self, deployment: str, durability: str, place: Place) -> Folder:
        """A folder of files, not yet made."""
        return Folder(deployment, place)

    def create(self, name: str, table: Table) -> str:
        """Nothing: a file has no SQL."""
        return ""

    def drop(self, name: str) -> str:
        """Nothing: a file has no SQL."""
        return ""

    def supports(self, logical_type: str) -> str:
        """Empty: every logical type can be written."""
        return ""

    def settle_statements(self) -> list[str]:
        """None."""
        return []


class Folder:
    """One folder of delimited text files."""

    flush_statements: tuple[str, ...] = ()
    version = "none"

    def __init__(self, deployment: str, place: Place) -> None:
        self.deployment = deployment
        self._folder = place.directory / "file"

    def start(self) -> None:
        """Make the private folder. Errors: EnvironmentMissing when it cannot be written."""
        private_directories.home(self._folder, None)

    def check(self) -> bool:
        """Whether the folder is there."""
        return self._folder.is_dir()

    def stop(self) -> None:
        """Nothing runs."""

    def pids(self) -> list[int]:
        """None."""
        return []

    def load(self, tables: dict[str, Table]) -> None:
        """Write TABLE.tbl of each table, synced; one that is kept in the cache is linked, or copied."""
        for name, table in tables.items():
            file = self._folder / f"{name}.tbl"
            file.unlink(missing_ok=True)
            with load_progress.reported(f"file {name}", table.rows):
                if kept := kept_file(table):
                    _link(kept, file)
                else:
                    write_delimited(file, table)
            with file.open("rb") as handle:
                os.fsync(handle.fileno())

    def options(self, path: AccessPath) -> dict[str, Any]:
        """The folder and the delimiter."""
        return {"path": str(self._folder), "delimiter": DELIMITER}

    def own_copy(self, path: AccessPath) -> None:
        """Nothing: paths only read, and may share."""

    def settle(self, path: AccessPath) -> Settled:
        """Nothing is ever left behind."""
        started_ns = time.monotonic_ns()
        return Settled(time.monotonic_ns() - started_ns, 0, "read only")

    def commits(self) -> int | None:
        """None: there are no transactions."""
        return None

    def size_bytes(self) -> int:
        """Bytes of all files."""
        return private_directories.size_bytes(self._folder)

    def facts(self) -> dict[str, str]:
        """The format."""
        return {"format": "delimited text", "delimiter": DELIMITER, "encoding": "UTF-8"}

    def secrets(self) -> list[str]:
        """None."""
        return []


def _link(kept: Path, file: Path) -> None:
    try:
        file.hardlink_to(kept)
    except OSError:  # another file system, or one that links nothing
        shutil.copyfile(kept, file)


ENGINE = File()
