"""A stand-in for IBM i: our program that answers IBM's Toolbox driver, so that the driver's side is measured."""

from __future__ import annotations

import hashlib
import socket

from typing_extensions import override

from rowpath.engines import load_through_runner
from rowpath.engines.base import Instance, LoadingCost, Place
from rowpath.engines.external_engines import Db2ForI
from rowpath.engines.server import PrivateServer
from rowpath.machine import c_tools, processes
from rowpath.model.availability import Availability
from rowpath.model.path import AccessPath
from rowpath.model.workload import Table

NAME = "ROWPATH"  # of user and library
REFUSALS = "refused.log"
PING_TIMEOUT_S = 20.0


class IbmiStandIn(Db2ForI):
    """The kind of engine: none; a conversation like that with a Db2 for i, over tables in memory."""

    name = "ibmi-stand-in"
    title = "the stand-in for IBM i"
    order = 32
    stands_in = "stand-in: client side only, no Db2 for i was measured"
    deployments = ("server",)
    durabilities = ("none",)
    loading = LoadingCost(bytes_per_byte=0.0)  # in memory
    drop_words = "DROP TABLE {name}"
    types = Db2ForI.types | {"text": "VARCHAR(4000) CCSID 1208"}  # it keeps no large objects

    @override
    def availability(self) -> Availability:
        """Whether its only driver can run here; the instance reports a missing C compiler."""
        return load_through_runner.availability(self.name, f"answers IBM's Toolbox driver ({self.stands_in})")

    @override
    def instance(self, deployment: str, durability: str, place: Place) -> Instance:
        return StandIn(self, durability, place)


class StandIn(PrivateServer[IbmiStandIn]):
    """The program of a run; it forgets its tables when it stops, and gets them again when it starts."""

    database = NAME
    _title = IbmiStandIn.title
    stop_steps = processes.AT_ONCE
    has_socket = False

    def __init__(self, engine: IbmiStandIn, durability: str, place: Place) -> None:
        super().__init__(engine, durability, place, NAME)
        self._tables: dict[str, Table] = {}

    @override
    def start(self) -> None:
        """Start it and wait for its ready line. Errors: EnvironmentMissing without a C compiler."""
        self.stop()
        self._place.directory.mkdir(parents=True, exist_ok=True)
        command = (c_tools.ibmi_program(), "--tcp", str(self._place.port or self._port))
        with (self._place.directory / REFUSALS).open("ab") as refusals:
            self._process, self._port = processes.start_listener(
                self._title, command, self._place.environment, self._place.server_cpus, refusals, self._token()
            )
        if self._tables:
            self.load(self._tables)

    def _token(self) -> bytes:
        """The line by which it knows its only login: a hash of user and password, as the driver makes it."""
        login = f"{NAME:<10}{self._passwords[NAME]}".encode("utf-16-be")
        return hashlib.sha1(login).hexdigest().encode() + b"\n"

    @override
    def check(self) -> bool:
        if not self.pids():
            return False
        try:
            with socket.create_connection(("127.0.0.1", self._port), timeout=PING_TIMEOUT_S):
                return True
        except OSError:
            return False

    @override
    def load(self, tables: dict[str, Table]) -> None:
        """Make and fill these tables through the driver: the stand-in keeps their bytes as they come."""
        usual = {"engine": self._engine.name, "deployment": "server", "durability": self.durability}
        options = usual | {"statement": "prepared"} | self.options(AccessPath.of({}))
        with load_through_runner.connected(options) as runner:
            load_through_runner.make_tables(runner, self._engine, tables, self._place.directory)
        self._tables |= tables

    @override
    def facts(self) -> dict[str, str]:
        return {"version": "none", "what": self._engine.stands_in}


ENGINE = IbmiStandIn()
