"""No engine: nothing at all (the cost of the loop), or a server that sends one byte back (the cost of a round trip)."""

from __future__ import annotations

import importlib
import json
import socket
import subprocess
from pathlib import Path
from typing import Any

from typing_extensions import override

from rowpath.engines.base import Engine, Instance, Place
from rowpath.errors import EnvironmentMissing
from rowpath.machine import private_directories, processes
from rowpath.model.availability import Availability
from rowpath.model.path import AccessPath

START_TIMEOUT_S = 10.0


class Null(Engine):
    """The kind of engine: none; its paths are the floors."""

    name = "null"
    order = 100
    is_floor = True
    deployments = ("none", "server")
    durabilities = ("none",)

    @override
    def availability(self) -> Availability:
        """Always; the ping server needs a C compiler, which its instance tells."""
        return Availability(True, "nothing (the loop alone), and a ping server")

    @override
    def instance(self, deployment: str, durability: str, place: Place) -> NullInstance:
        return PingServer(deployment, place) if deployment == "server" else NullInstance(deployment)

    @override
    def supports(self, logical_type: str) -> str:
        return "the null engine keeps no rows"


class NullInstance(Instance):
    """What stands where an engine would."""

    def __init__(self, deployment: str) -> None:
        self.deployment = deployment


class PingServer(NullInstance):
    """The ping server: one byte in, one byte out, on a unix socket and on a port of 127.0.0.1.

    `burn_ns`, `stall_ns`, `stall_every` make each answer cost a known amount (known-answer tests); set before `start`.
    """

    def __init__(self, deployment: str, place: Place) -> None:
        super().__init__(deployment)
        self.burn_ns = 0
        self.stall_ns = 0
        self.stall_every = 0
        self._place = place
        self._process: processes.Process | None = None
        self._sockets: Path | None = None
        self._port = 0

    @override
    def start(self) -> None:
        """Start it and wait for its ready line. Errors: EnvironmentMissing without a C compiler."""
        self.stop()
        c: Any = importlib.import_module("rowpath.runners.toolchains.c")
        self._sockets = private_directories.socket_home(self._place.socket_directory, None)
        socket_file = self._sockets / "ping"
        socket_file.unlink(missing_ok=True)
        command = c.echo_command(
            unix=socket_file,
            tcp=self._place.port,
            burn_ns=self.burn_ns,
            stall_ns=self.stall_ns,
            stall_every=self.stall_every,
        )
        self._process = processes.start(
            command,
            environment=self._place.environment,
            cpus=self._place.server_cpus,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        line = processes.first_line(self._process, START_TIMEOUT_S)
        if not line.startswith("ready tcp="):
            self.stop()
            raise EnvironmentMissing(f"the ping server did not start (it said {json.dumps(line)})", "rowpath doctor")
        self._port = int(line.removeprefix("ready tcp="))

    @override
    def check(self) -> bool:
        """Whether it sends a byte back."""
        if self._process is None or self._process.poll() is not None:
            return False
        try:
            with socket.create_connection(("127.0.0.1", self._port), timeout=2) as connection:
                connection.sendall(b"x")
                return connection.recv(1) == b"x"
        except OSError:
            return False

    @override
    def stop(self) -> None:
        """Stop it by pid; harmless when stopped already."""
        if self._process is not None:
            processes.stop(self._process, processes.AT_ONCE)
            self._process = None
        if self._sockets is not None:
            (self._sockets / "ping").unlink(missing_ok=True)
            if self._sockets != self._place.socket_directory:
                self._sockets.rmdir()
            self._sockets = None

    @override
    def pids(self) -> list[int]:
        """Its pid while it is alive."""
        return [self._process.pid] if self._process is not None and self._process.poll() is None else []

    @override
    def options(self, path: AccessPath) -> dict[str, Any]:
        """Where it listens."""
        return {"host": "127.0.0.1", "port": self._port, "socket": str(self._sockets and self._sockets / "ping")}


ENGINE = Null()
