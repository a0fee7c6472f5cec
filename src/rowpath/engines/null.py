"""No engine: nothing at all (the cost of the loop), or a server that sends one byte back (the cost of a round trip)."""

from __future__ import annotations

import socket
from typing import Any

from typing_extensions import override

from rowpath.engines.base import Engine, Instance, Place
from rowpath.engines.server import PrivateServer
from rowpath.machine import c_tools, private_directories, processes
from rowpath.model.availability import Availability
from rowpath.model.path import AccessPath

PING_TIMEOUT_S = 20.0


class Null(Engine):
    """The kind of engine: none; its paths are the floors."""

    name = "null"
    order = 100
    is_floor = True
    deployments = ("none", "server")
    listens = True
    durabilities = ("none",)

    @override
    def availability(self) -> Availability:
        """Always; the instance of the ping server reports a missing C compiler."""
        return Availability(True, "nothing (only the loop), and a ping server")

    @override
    def instance(self, deployment: str, durability: str, place: Place) -> Instance:
        return PingServer(self, "none", place) if deployment == "server" else NullInstance()

    @override
    def supports(self, logical_type: str) -> str:
        return "the null engine keeps no rows"


class NullInstance(Instance):
    """What stands where an engine would."""

    deployment = "none"


class PingServer(PrivateServer[Null]):
    """The ping server: one byte in, one byte out, on a unix socket and on a port of 127.0.0.1.

    `burn_ns`, `stall_ns`, `stall_every` make each answer cost a known amount (known-answer tests); set before `start`.
    """

    _title = "the ping server"
    stop_steps = processes.AT_ONCE
    burn_ns = 0
    stall_ns = 0
    stall_every = 0

    @override
    def start(self) -> None:
        """Start it and wait for its ready line. Errors: EnvironmentMissing without a C compiler."""
        self.stop()
        self._sockets = private_directories.socket_home(self._place.socket_directory, None)
        socket_file = self._sockets / "ping"
        socket_file.unlink(missing_ok=True)
        command = c_tools.echo_command(
            unix=socket_file,
            tcp=self._place.port,
            listen=self._place.listen,
            burn_ns=self.burn_ns,
            stall_ns=self.stall_ns,
            stall_every=self.stall_every,
        )
        self._process, self._port = processes.start_listener(
            self._title, command, self._place.environment, self._place.server_cpus
        )

    @override
    def check(self) -> bool:
        """Whether it sends a byte back."""
        if not self.pids():
            return False
        try:
            with socket.create_connection((self._place.listen, self._port), timeout=PING_TIMEOUT_S) as connection:
                connection.sendall(b"x")
                return connection.recv(1) == b"x"
        except OSError:
            return False

    @override
    def options(self, path: AccessPath) -> dict[str, Any]:
        socket_file = str(self._sockets and self._sockets / "ping")
        return {"host": self._place.listen, "port": self._port, "socket": socket_file}


ENGINE = Null()
