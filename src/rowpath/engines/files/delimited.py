"""Delimited text files, no database at all: TABLE.tbl in one folder, read only, shared by all paths."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any, Literal

from typing_extensions import override

from rowpath.engines.base import Engine, Instance, LoadingCost, Place, Settled
from rowpath.engines.probe_facts import ProbeFacts
from rowpath.machine import private_directories
from rowpath.model.availability import Availability
from rowpath.model.path import AccessPath
from rowpath.model.workload import Table
from rowpath.workloads import load_progress
from rowpath.workloads.generators import kept_file, write_delimited

DELIMITER = "|"


class FileEngine(Engine):
    """The kind of engine: a folder of files, one per table."""

    deployments = ("file",)
    durabilities = ("none",)
    segments: Literal["", "bytes", "records"] = "records"


class DelimitedText(FileEngine):
    """The kind of engine: a folder of delimited text files."""

    name = "file"
    order = 70
    segments = "bytes"
    counts_payload = True
    loading = LoadingCost(0, 1.0, 500e6)
    probe = ProbeFacts(
        url_options=("delimiter",), files={".tbl": DELIMITER, ".csv": ","}, table_suffix="tbl", syntax=None
    )

    @override
    def availability(self) -> Availability:
        return Availability(True, "delimited text files")

    @override
    def instance(self, deployment: str, durability: str, place: Place) -> TextFolder:
        return TextFolder(place)


class TextFolder(Instance):
    """One folder of delimited text files."""

    deployment = "file"

    def __init__(self, place: Place) -> None:
        self._folder = place.directory / "file"

    @override
    def start(self) -> None:
        """Make the private folder. Errors: EnvironmentMissing when it cannot be written."""
        private_directories.home(self._folder, None)

    @override
    def check(self) -> bool:
        """Whether the folder is there."""
        return self._folder.is_dir()

    @override
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
        private_directories.sync(self._folder)

    @override
    def options(self, path: AccessPath) -> dict[str, Any]:
        return {"path": str(self._folder), "delimiter": DELIMITER}

    @override
    def settle(self, path: AccessPath) -> Settled:
        return Settled(0, 0, "read only")

    @override
    def size_bytes(self) -> int:
        return private_directories.size_bytes(self._folder)

    @override
    def facts(self) -> dict[str, str]:
        return {"format": "delimited text", "delimiter": DELIMITER, "encoding": "UTF-8"}


def _link(kept: Path, file: Path) -> None:
    try:
        file.hardlink_to(kept)
    except OSError:  # another file system, or one that links nothing
        shutil.copyfile(kept, file)


ENGINE = DelimitedText()
