"""esProc SPL, on request only: delimited text read by its cursors, or its own columnar files (composite tables)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from typing_extensions import override

from rowpath.engines import load_through_runner
from rowpath.engines.base import Place
from rowpath.engines.files.delimited import FileEngine, TextFolder
from rowpath.machine import private_directories
from rowpath.machine.maven import ESPROC, ESPROC_VERSION
from rowpath.model.path import AccessPath
from rowpath.model.workload import Column, Table

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
CONFIGURATION = """<?xml version="1.0" encoding="UTF-8"?>
<Config Version="3">
  <Runtime>
    <Esproc><charSet>UTF-8</charSet></Esproc>
    <Logger><Level>WARN</Level></Logger>
  </Runtime>
</Config>
"""


class Spl(FileEngine):
    """The kind of engine: it runs in the client's process, and reads files that all paths share."""

    name = "spl"
    order = 60
    deployments = ("embedded",)
    storages = ("text", "composite")
    availability = staticmethod(ESPROC.availability)
    downloads = {ESPROC.name: ESPROC}

    def durabilities_of(self, storage: str) -> tuple[str, ...]:
        return self.durabilities

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

    @property
    def _configuration(self) -> Path:
        return self._folder / "raqsoftConfig.xml"


def composite(file: str, source: str, table: Table) -> str:
    """The SPL expression that makes a composite table from a delimited text file."""
    names = [column.name for column in table.columns]
    typed = ",".join(f"#{at}:{_type(column)}" for at, column in enumerate(table.columns, 1))
    renamed = ",".join(f"#{at}:{name}" for at, name in enumerate(names, 1))
    cursor = f'file("{_quoted(source)}").cursor@k({typed};,"|").new({renamed})'
    return f'=file("{_quoted(file)}").create@y({",".join(names)}).append({cursor}).close()'


def _quoted(file: str) -> str:
    return file.replace("\\", "\\\\").replace('"', '\\"')


def _type(column: Column) -> str:
    return "long" if column.type == "integer" and column.bits > 32 else TYPES[column.type]


ENGINE = Spl()
