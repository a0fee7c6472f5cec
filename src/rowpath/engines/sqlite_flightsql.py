"""SQLite behind Flight SQL: the server of arrow-go's examples reads the file that the engine `sqlite` makes."""

from __future__ import annotations

import signal
from typing import cast

from typing_extensions import override

from rowpath.engines.base import Place
from rowpath.engines.probe_facts import ProbeFacts
from rowpath.engines.server import PrivateServer
from rowpath.engines.sqlite import ENGINE as SQLITE
from rowpath.engines.sqlite import Sqlite, SqliteFile
from rowpath.machine import private_directories, processes
from rowpath.model.availability import Availability
from rowpath.model.workload import Table
from rowpath.runners import manifest
from rowpath.runners.manifest import Adapter, Command, ServerToolchain

USER = "rowpath"
LOGIN = "login"
READY = "listening on"


class SqliteFlightSql(Sqlite):
    """The kind of engine: SQLite's file, read by a server of gRPC. It has no version but that of the server."""

    name = "sqlite-flightsql"
    title = "SQLite by Flight SQL"
    order = 11
    deployments = ("server",)
    framed = True  # HTTP/2's windows, settings and pings
    ways = ()
    settles_with = ()  # no path writes
    probe = ProbeFacts()

    @override
    def availability(self) -> Availability:
        """The availability of the adapter that brings the server."""
        adapter = _serving()
        here = manifest.availability(adapter, adapter.versions[0])
        return Availability(here.ok, f"arrow-go's example server {self.version()}", here.reason, here.remedy)

    @override
    def version(self) -> str:
        """The version of arrow-go, which has the server among its examples."""
        return _serving().versions[0]

    @override
    def supports(self, logical_type: str) -> str:
        if logical_type == "binary":
            return "arrow-go's example server hands NULL over as no bytes"
        return super().supports(logical_type)

    @override
    def instance(self, deployment: str, durability: str, place: Place) -> FlightSqlServer:  # type: ignore[override]
        return FlightSqlServer(self, durability, place)


class FlightSqlServer(PrivateServer[SqliteFlightSql]):
    """The server of a run; every call must show the login."""

    database = "main"
    data_name = SQLITE.name
    stop_steps: processes.Steps = ((signal.SIGTERM, 5.0), *processes.AT_ONCE)
    start_timeout_s = 60.0
    has_socket = False
    port_taken_words = ("address already in use",)
    _title = "the Flight SQL server"

    def __init__(self, engine: SqliteFlightSql, durability: str, place: Place) -> None:
        super().__init__(engine, durability, place, USER)
        self.version = engine.version()

    @override
    def check(self) -> bool:
        return bool(self.pids()) and READY in self._logged()

    @override
    def load(self, tables: dict[str, Table]) -> None:
        """Remake these tables as the engine `sqlite` does; the server steps aside meanwhile."""
        running = bool(self.pids())
        self.stop()
        SqliteFile(SQLITE, self.durability, Place(self._files(), self._files(), ())).load(tables)
        private_directories.give_all(self._data(), self._user)
        if running:
            self.start()

    @override
    def facts(self) -> dict[str, str]:
        """The version of the server, and who it runs as."""
        return {"version": self.version, "user": self._user or "ourselves", "data_directory": str(self._files())}

    @override
    def _make(self) -> None:
        home = private_directories.home(self._place.directory / f"{self._engine.name}-server", self._user)
        private_directories.write_private(home / LOGIN, f"{USER}\n{self._passwords[USER]}\n", self._user)
        private_directories.home(home / self.data_name, self._user)
        self._home = home

    @override
    def _started(self) -> bool:
        command, file = _command(), self._data() / SqliteFile.loaded_name
        arguments = (file, self.durability, f"{self._place.listen}:{self._port}", self._files() / LOGIN)
        return self._launched([*command.arguments, *arguments], command.environment)


def _serving() -> Adapter:
    return next(adapter for adapter in manifest.every_adapter() if ENGINE.name in adapter.build.get("serves", ()))


def _command() -> Command:
    adapter = _serving()
    return cast(ServerToolchain, manifest.toolchain(adapter.language)).server_command(adapter, ENGINE.name)


ENGINE = SqliteFlightSql()
