"""Columnar files, no database at all: one file per table in one folder, read only, written in the Python drivers' own
environment, for the controller has no columnar library.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import msgspec
from typing_extensions import override

from rowpath.engines import load_through_runner
from rowpath.engines.base import LoadingCost, Place
from rowpath.engines.files.delimited import FileEngine, TextFolder
from rowpath.engines.probe_facts import ProbeFacts
from rowpath.errors import RowpathError
from rowpath.machine import private_directories, processes
from rowpath.model.availability import Availability
from rowpath.model.path import AccessPath
from rowpath.model.workload import Table
from rowpath.runners import manifest
from rowpath.workloads import load_progress
from rowpath.workloads.codec import write_rows
from rowpath.workloads.generators import kept_file, rows

BATCH_ROWS = 65_536  # of a row group or record batch
WRITING_TIMEOUT_S = 600.0


class ColumnarFiles(FileEngine):
    """The kind of engine: a folder of TABLE.NAME, exactly typed; `name` and `compression` are the writer's words."""

    def __init__(
        self, name: str, order: int, title: str, compression: str, loading: LoadingCost, *suffixes: str
    ) -> None:
        self.name = name
        self.order = order
        self.title = title
        self.compression = compression
        self.loading = loading
        self.probe = ProbeFacts(files=dict.fromkeys(suffixes, ""), table_suffix=name, syntax=None)

    @override
    def availability(self) -> Availability:
        return load_through_runner.availability(self.name, self.title)

    @override
    def instance(self, deployment: str, durability: str, place: Place) -> ColumnarFolder:
        return ColumnarFolder(self, place)

    @override
    def supports(self, logical_type: str) -> str:
        if logical_type == "interval":
            return f"{self.title} have no interval that every reader knows"
        return ""


class ColumnarFolder(TextFolder):
    """One folder of columnar files."""

    def __init__(self, engine: ColumnarFiles, place: Place) -> None:
        super().__init__(place)
        self._engine = engine

    @override
    def load(self, tables: dict[str, Table]) -> None:
        """Write TABLE.NAME of each table, synced. Errors: EnvironmentMissing, RowpathError."""
        for name, table in tables.items():
            file = self._folder / f"{name}.{self._engine.name}"
            with load_progress.reported(f"{self._engine.name} {name}", table.rows):
                self._write(file, table)
        private_directories.sync(self._folder)

    @override
    def options(self, path: AccessPath) -> dict[str, Any]:
        return {"path": str(self._folder)}

    @override
    def facts(self) -> dict[str, str]:
        """Format, compression, size of a row group or record batch, and who wrote it."""
        engine, writer = self._engine, load_through_runner.loader(self._engine.name)
        return {
            "format": engine.title,
            "compression": engine.compression,
            "batch_rows": str(BATCH_ROWS),
            "written by": f"{writer.driver} {writer.versions[0]}",
        }

    def _write(self, file: Path, table: Table) -> None:
        writer = load_through_runner.loader(self._engine.name)
        manifest.build([(writer, writer.versions[0])])
        runner = manifest.command(writer, writer.versions[0], AccessPath.of({}))
        with tempfile.TemporaryDirectory(prefix="rowpath-load-", dir=self._folder) as folder:
            kept = kept_file(table)
            source = kept or Path(folder) / "rows"
            request = {
                "format": self._engine.name,
                "delimited": kept is not None,
                "rows": str(source),
                "count": table.rows if kept else write_rows(source, rows(table), table.columns),
                "columns": msgspec.to_builtins(table.columns),
                "file": str(file),
                "compression": self._engine.compression,
                "batch_rows": BATCH_ROWS,
            }
            done = processes.run(
                [runner.arguments[0], "-m", "tools.write_columns"],
                text=json.dumps(request),
                timeout_s=WRITING_TIMEOUT_S,
                environment=runner.environment,
            )
        if done.returncode:
            last = " ".join(done.stderr.strip().splitlines()[-1:])
            raise RowpathError(f"{file.name} could not be written: {last}", "rowpath doctor")
