"""Files as engines, no database at all: one file per table in one folder, read only, shared by all paths.

Delimited text (TABLE.tbl), in Rowpath's own form, which our netcat also sends, and as RFC 4180 has it; columnar files,
which the Python drivers' own environment writes, for the controller has no columnar library: by default Parquet with
snappy, as writers have it, and Arrow not compressed, so that a reader may map it; and esProc SPL, on request only,
which reads delimited text by its cursors, or its own composite tables.
"""

from __future__ import annotations

import json
import secrets
import shutil
import tempfile
from pathlib import Path
from typing import Any, Literal

import msgspec
from typing_extensions import override

from rowpath.engines import load_through_runner
from rowpath.engines.base import Engine, Instance, LoadingCost, Place, Settled, Stored
from rowpath.engines.probe_facts import ProbeFacts
from rowpath.errors import RowpathError
from rowpath.machine import c_tools, private_directories, processes
from rowpath.machine.maven import ESPROC, ESPROC_VERSION
from rowpath.model.availability import Availability
from rowpath.model.path import AccessPath
from rowpath.model.workload import Column, Table
from rowpath.runners import manifest
from rowpath.workloads import load_progress
from rowpath.workloads.codec import write_rows
from rowpath.workloads.generators import kept_file, rows, write_delimited, write_quoted

DELIMITER = "|"
BATCH_ROWS = 65_536  # of a row group or record batch
WRITING_TIMEOUT_S = 600.0
# As SPL calls the types of a text file's columns. Its own datetime keeps milliseconds: the whole text is kept.
TYPES = {
    "integer": "int",
    "decimal": "decimal",
    "char": "string",
    "varchar": "string",
    "text": "string",
    "date": "date",
    "timestamp": "string",
}
# That every reader of quoted text converts.
QUOTED_TYPES = ["integer", "decimal", "float32", "float64", "boolean", "char", "varchar", "text", "date", "timestamp"]
CONFIGURATION = """<?xml version="1.0" encoding="UTF-8"?>
<Config Version="3">
  <Runtime>
    <Esproc><charSet>UTF-8</charSet></Esproc>
    <Logger><Level>WARN</Level></Logger>
  </Runtime>
</Config>
"""


class FileEngine(Engine):
    """The kind of engine: a folder of files, one per table."""

    deployments: tuple[str, ...] = ("file",)
    durabilities: tuple[str, ...] = ("none",)
    segments: Literal["", "bytes", "records"] = "records"


class DelimitedText(FileEngine):
    """The kind of engine: a folder of delimited text files."""

    name = "file"
    order = 70
    deployments = ("file", "server")
    segments = "bytes"
    counts_payload = True
    loading = LoadingCost(0, 1.0, 500e6)
    probe = ProbeFacts(
        url_options=("delimiter", "quote", "header", "null"),
        files={".tbl": DELIMITER, ".csv": ",", ".tsv": "\t", ".txt": "\t"},
        table_suffix="tbl",
        syntax=None,
    )

    @override
    def availability(self) -> Availability:
        return Availability(True, "delimited text files")

    @override
    def instance(self, deployment: str, durability: str, place: Place) -> TextFolder:
        return Netcat(place) if deployment == "server" else TextFolder(place)


class TextFolder(Instance):
    """One folder of delimited text files."""

    deployment = "file"
    format_name, suffix = "file", "tbl"

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
        """Write the file of each table, synced. Errors: EnvironmentMissing, RowpathError."""
        for name, table in tables.items():
            with load_progress.reported(f"{self.format_name} {name}", table.rows):
                self._write(self._folder / f"{name}.{self.suffix}", table)
        private_directories.sync(self._folder)

    def _write(self, file: Path, table: Table) -> None:
        """Link a file that is kept in the cache, or copy it; else make it."""
        file.unlink(missing_ok=True)
        kept = kept_file(table)
        if not kept:
            return write_delimited(file, table)
        try:
            file.hardlink_to(kept)
        except OSError:  # another file system, or one that links nothing
            shutil.copyfile(kept, file)

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


class Netcat(TextFolder):
    """A folder of delimited text files, and our program that sends one through a socket: a wire without a database."""

    deployment = "server"
    _process: processes.Process | None = None

    def __init__(self, place: Place) -> None:
        super().__init__(place)
        self._place = place
        self._port = 0
        self._password = secrets.token_urlsafe(24)

    @override
    def start(self) -> None:
        """Start it and wait for its ready line. Errors: EnvironmentMissing without a C compiler."""
        self.stop()
        super().start()
        command = c_tools.netcat_command(self._folder, self._place.port or self._port, self._place.listen)
        self._process, self._port = processes.start_listener(
            "netcat",
            command,
            self._place.environment,
            self._place.server_cpus,
            first_line=f"{self._password}\n".encode(),
        )

    @override
    def check(self) -> bool:
        """Whether it runs, as it does from its ready line on."""
        return bool(self.pids())

    @override
    def stop(self) -> None:
        if self._process is not None:
            processes.stop(self._process, processes.AT_ONCE)
            self._process = None

    @override
    def pids(self) -> list[int]:
        return [self._process.pid] if self._process is not None and self._process.poll() is None else []

    @override
    def options(self, path: AccessPath) -> dict[str, Any]:
        return {"host": self._place.listen, "port": self._port, "password": self._password}

    @override
    def secrets(self) -> list[str]:
        return [self._password]


class QuotedText(FileEngine):
    """The kind of engine: a folder of delimited text files as RFC 4180 has them: every text in quotes, and a header."""

    name = "csv"
    order = 71
    segments = "bytes"
    loading = LoadingCost(0, 1.0, 100e6)
    probe = ProbeFacts(syntax=None)

    @override
    def availability(self) -> Availability:
        return Availability(True, "quoted text files")

    @override
    def instance(self, deployment: str, durability: str, place: Place) -> QuotedFolder:
        return QuotedFolder(place)

    @override
    def supports(self, logical_type: str) -> str:
        return "" if logical_type in QUOTED_TYPES else f"every reader of quoted text has another {logical_type}"


class QuotedFolder(TextFolder):
    """One folder of TABLE.tbl with quotes."""

    format_name = "csv"

    def __init__(self, place: Place) -> None:
        super().__init__(place)
        self._folder = place.directory / "csv"

    @override
    def _write(self, file: Path, table: Table) -> None:
        write_quoted(file, table)

    @override
    def options(self, path: AccessPath) -> dict[str, Any]:
        return {"path": str(self._folder), "delimiter": ",", "quote": '"', "header": "yes", "null": "unquoted"}

    @override
    def facts(self) -> dict[str, str]:
        return {"format": "quoted text (RFC 4180)", "delimiter": ",", "quote": '"', "encoding": "UTF-8"}


class ColumnarFiles(FileEngine):
    """The kind of engine: a folder of TABLE.NAME, exactly typed; `name` and `compressions` are the writer's words."""

    no_compressions: dict[str, str] = {}

    def __init__(
        self, name: str, order: int, title: str, compression: str, loading: LoadingCost, *suffixes: str
    ) -> None:
        """`compression`: the default."""
        self.name = name
        self.order = order
        self.title = title
        self.compressions = (compression, "zstd", "lz4")
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
        self._compression = place.storage or engine.compressions[0]
        self.format_name = self.suffix = engine.name

    @override
    def options(self, path: AccessPath) -> dict[str, Any]:
        return {"path": str(self._folder)}

    @override
    def facts(self) -> dict[str, str]:
        """Format, compression, size of a row group or record batch, and who wrote it."""
        engine, writer = self._engine, load_through_runner.loader(self._engine.name)
        return {
            "format": engine.title,
            "compression": self._compression,
            "batch_rows": str(BATCH_ROWS),
            "written by": f"{writer.driver} {writer.versions[0]}",
        }

    @override
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
                "compression": self._compression,
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


class Spl(FileEngine, Stored):
    """The kind of engine: it runs in the client's process, and reads files that all paths share."""

    name = "spl"
    order = 60
    deployments = ("embedded",)
    storages = ("text", "composite")
    availability = staticmethod(ESPROC.availability)
    downloads = {ESPROC.name: ESPROC}

    @override
    def version(self) -> str:
        """The pinned one."""
        return ESPROC_VERSION

    @override
    def instance(self, deployment: str, durability: str, place: Place) -> SplFolder:
        """A folder of files, not yet made. Errors: EnvironmentMissing."""
        ESPROC.availability().require()
        return SplFolder(place)

    @override
    def supports(self, logical_type: str) -> str:
        return "" if logical_type in TYPES else f"SPL has no exact {logical_type} in a text file"


class SplFolder(TextFolder):
    """One folder of TABLE.tbl, or of TABLE.ctx made from it."""

    deployment = "embedded"
    version = ESPROC_VERSION

    def __init__(self, place: Place) -> None:
        super().__init__(place)
        self._storage = place.storage or Spl.storages[0]
        self._configuration = self._folder / "raqsoftConfig.xml"

    @override
    def start(self) -> None:
        """Make the private folder and SPL's configuration. Errors: EnvironmentMissing when it cannot be written."""
        super().start()
        self._configuration.write_text(CONFIGURATION)

    @override
    def load(self, tables: dict[str, Table]) -> None:
        """Write the files, synced. Errors: EnvironmentMissing, RowpathError."""
        super().load(tables)
        if self._storage == "text" or not tables:
            return
        options = {"engine": "spl", "durability": "none", **self.options(AccessPath.of({}))}
        with load_through_runner.connected(options) as runner:
            for name, table in tables.items():
                source = self._folder / f"{name}.tbl"
                load_through_runner.run(runner, [composite(str(source.with_suffix(".ctx")), str(source), table)])
                source.unlink()
        private_directories.sync(self._folder)

    @override
    def options(self, path: AccessPath) -> dict[str, Any]:
        """The folder, how it keeps tables, and SPL's configuration."""
        own = {"deployment": self.deployment, "storage": self._storage, "config": str(self._configuration)}
        return super().options(path) | own

    @override
    def facts(self) -> dict[str, str]:
        format_name = "delimited text" if self._storage == "text" else "composite table (columns, LZ4)"
        return {"version": ESPROC_VERSION, "format": format_name}


def composite(file: str, source: str, table: Table) -> str:
    """The SPL expression that makes a composite table from a delimited text file."""
    names = [column.name for column in table.columns]
    typed = ",".join(f"#{at}:{_type(column)}" for at, column in enumerate(table.columns, 1))
    renamed = ",".join(f"#{at}:{name}" for at, name in enumerate(names, 1))

    def quoted(file: str) -> str:
        return file.replace("\\", "\\\\").replace('"', '\\"')

    cursor = f'file("{quoted(source)}").cursor@k({typed};,"|").new({renamed})'
    return f'=file("{quoted(file)}").create@y({",".join(names)}).append({cursor}).close()'


def _type(column: Column) -> str:
    return "long" if column.type == "integer" and column.bits > 32 else TYPES[column.type]


FAMILY = (
    ColumnarFiles("parquet", 50, "Parquet files", "snappy", LoadingCost(0, 0.5, 20e6), ".parquet"),
    ColumnarFiles("arrow", 51, "Arrow IPC files", "none", LoadingCost(0, 1.1, 40e6), ".arrow", ".arrows", ".feather"),
    Spl(),
    DelimitedText(),
    QuotedText(),
)
