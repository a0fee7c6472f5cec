"""Columnar files, no database at all: one file per table in one folder, read only, written in the Python drivers' own
environment, for the controller has no columnar library.
"""

from __future__ import annotations

import importlib
import json
import os
import tempfile
from pathlib import Path
from typing import Any

import msgspec
from typing_extensions import override

from rowpath.engines.base import Place
from rowpath.engines.files.delimited import File, Folder
from rowpath.errors import RowpathError
from rowpath.machine import processes
from rowpath.model.availability import Availability
from rowpath.model.path import AccessPath
from rowpath.model.workload import Table
from rowpath.runners.manifest import Adapter, adapter_of
from rowpath.workloads import load_progress
from rowpath.workloads.codec import write_rows
from rowpath.workloads.generators import kept_file, rows

BATCH_ROWS = 65_536  # of a row group or record batch
WRITING_TIMEOUT_S = 600.0


class ColumnarFile(File):
    """The kind of engine: a folder of TABLE.SUFFIX, exactly typed; `format` and `compression` are pyarrow's words."""

    format: str
    compression: str
    title: str

    @override
    def availability(self) -> Availability:
        """What the Python side says of pyarrow, which writes the files."""
        writer = _writer()
        python: Any = importlib.import_module("rowpath.runners.toolchains.python")
        found: Availability = python.availability(writer, writer.versions[0])
        return Availability(found.ok, self.title, found.reason, found.remedy)

    @override
    def instance(self, deployment: str, durability: str, place: Place) -> ColumnarFolder:
        """A folder of files, not yet made."""
        return ColumnarFolder(self, deployment, place)

    @override
    def supports(self, logical_type: str) -> str:
        """Empty when the logical type can be written and every reader knows it, else the reason."""
        if logical_type == "interval":
            return f"{self.title} have no interval that every reader knows"
        return ""


class ColumnarFolder(Folder):
    """One folder of columnar files."""

    def __init__(self, engine: ColumnarFile, deployment: str, place: Place) -> None:
        super().__init__(deployment, place)
        self._engine = engine

    @override
    def load(self, tables: dict[str, Table]) -> None:
        """Write TABLE.SUFFIX of each table, synced. Errors: EnvironmentMissing, RowpathError."""
        for name, table in tables.items():
            file = self._folder / f"{name}.{self._engine.format}"
            with load_progress.reported(f"{self._engine.name} {name}", table.rows):
                self._write(file, table)
            with file.open("rb") as handle:
                os.fsync(handle.fileno())

    @override
    def options(self, path: AccessPath) -> dict[str, Any]:
        """The folder."""
        return {"path": str(self._folder)}

    @override
    def facts(self) -> dict[str, str]:
        """Format, compression, size of a row group or record batch, and who wrote it."""
        engine = self._engine
        return {
            "format": engine.title,
            "compression": engine.compression,
            "batch_rows": str(BATCH_ROWS),
            "written by": f"pyarrow {_writer().versions[0]}",
        }

    def _write(self, file: Path, table: Table) -> None:
        writer = _writer()
        python: Any = importlib.import_module("rowpath.runners.toolchains.python")
        python.build([(writer, writer.versions[0])])
        runner = python.command(writer, writer.versions[0], AccessPath.of({}))
        with tempfile.TemporaryDirectory(prefix="rowpath-load-", dir=self._folder) as folder:
            kept = kept_file(table)
            source = kept or Path(folder) / "rows"
            asked = {
                "format": self._engine.format,
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
                text=json.dumps(asked),
                timeout_s=WRITING_TIMEOUT_S,
                environment=runner.environment,
            )
        if done.returncode:
            last = " ".join(done.stderr.strip().splitlines()[-1:])
            raise RowpathError(f"{file.name} could not be written: {last}", "rowpath doctor")


def _writer() -> Adapter:
    return adapter_of("python", "pyarrow")
