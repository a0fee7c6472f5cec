"""What engines without SQL have in common: a directory of record files in the client's process, filled through C."""

from __future__ import annotations

import ctypes
import importlib
from typing import Any

from typing_extensions import override

from rowpath.engines import load_through_runner
from rowpath.engines.base import Place
from rowpath.engines.embedded import Copies
from rowpath.machine import private_directories
from rowpath.model.availability import Availability
from rowpath.model.workload import Table
from rowpath.runners.manifest import Adapter, adapter_of

# What C has no type of its own for, so that every program would lay it out in another way.
NO_C_TYPE = ("interval", "array")


class RecordEngine:
    """The kind of engine: always embedded; its words (`create`, `drop`) are those of its C adapter."""

    name: str
    title: str
    driver: str  # of the C adapter, which makes and fills the files too
    library: tuple[str, str]  # its file name, and the function that tells its version: `(int *, int *, int *)`
    deployments: tuple[str, ...] = ("embedded",)
    durabilities: tuple[str, ...] = ("full", "none")
    server_warm_s = 0.0

    def availability(self) -> Availability:
        """What the C side says of the adapter."""
        c: Any = importlib.import_module("rowpath.runners.toolchains.c")
        found: Availability = c.availability(self.adapter(), self.adapter().versions[0])
        return Availability(found.ok, f"{self.title} {self.version()}", found.reason, found.remedy)

    def version(self) -> str:
        """What the library says of itself; `none` when it is not here."""
        name, function = self.library
        parts = [ctypes.c_int() for _ in range(3)]
        try:
            getattr(ctypes.CDLL(name), function)(*map(ctypes.byref, parts))
        except (OSError, AttributeError):
            return "none"
        return ".".join(str(part.value) for part in parts)

    def instance(self, deployment: str, durability: str, place: Place) -> RecordFiles:
        """A directory of files, not yet made."""
        return RecordFiles(self, deployment, durability, place)

    def create(self, name: str, table: Table) -> str:
        """Make the empty table: its records by key, or by number where it has none."""
        return f"CREATE {name} {'KEYED' if table.primary_key else 'NUMBERED'}"

    def drop(self, name: str) -> str:
        """Remove the table; fails when it does not exist."""
        return f"DROP {name}"

    def supports(self, logical_type: str) -> str:
        """Empty when a record of a C program holds the logical type, else the reason."""
        return f"C has no type of its own for {logical_type}" if logical_type in NO_C_TYPE else ""

    def settle_statements(self) -> list[str]:
        """What the runner does itself: everything goes into the files."""
        return ["SYNC"]

    def slow_query(self) -> str:
        """None: nothing can be queried."""
        return ""

    def fillings(self, tables: dict[str, Table]) -> list[tuple[dict[str, str], dict[str, Table]]]:
        """The coordinates of each pass that fills the files, and the tables that it fills."""
        return [({}, tables)]

    def adapter(self) -> Adapter:
        """The C adapter's entry."""
        return adapter_of("c", self.driver)


class RecordFiles(Copies):
    """One loaded directory of files and the copies of it that paths work on."""

    def __init__(self, engine: RecordEngine, deployment: str, durability: str, place: Place) -> None:
        folder = place.directory / engine.name
        super().__init__(deployment, durability, engine.version(), folder, "loaded", "records")
        self._engine = engine

    @override
    def start(self) -> None:
        """Make the private folders. Errors: EnvironmentMissing when they cannot be written."""
        super().start()
        private_directories.home(self._database, None)

    def check(self) -> bool:
        """Whether files were made."""
        return any(self._database.iterdir())

    def load(self, tables: dict[str, Table]) -> None:
        """Make these tables anew and fill them; the files end closed and synced. Errors: RowpathError."""
        options = {"engine": self._engine.name, "deployment": self.deployment, "path": str(self._database)}
        version = self._engine.adapter().versions[0]
        for coordinates, filled in self._engine.fillings(tables):
            asked = options | {"durability": "none"} | coordinates
            with load_through_runner.connected("c", self._engine.driver, version, asked) as runner:
                load_through_runner.make_tables(runner, self._engine, filled, self._folder, by_sample=True)
                load_through_runner.run(runner, self._engine.settle_statements())
        private_directories.sync(self._database)

    def facts(self) -> dict[str, str]:
        """The version; what a driver uses the files with, its runner tells."""
        return {"version": self.version}
