"""A tape in the place of a server: the engine that was recorded gets one version more, `engine_version=tape`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from typing_extensions import override

from rowpath import engines
from rowpath.engines.base import Engine, Instance, LoadingCost, Place, Stored, Wire
from rowpath.errors import UsageError
from rowpath.machine import private_directories
from rowpath.model.availability import Availability
from rowpath.model.path import AccessPath
from rowpath.tape.format import Tape, damaged
from rowpath.tape.replay_server import ReplayServer

VERSION = "tape"
NAME = "rowpath"  # of user and database: the replay server lets everybody in


class TapeInstance(Instance):
    """The replay server of a run; `late_ns`: how much later it answers (known-answer tests), set before `start`."""

    deployment = "server"
    version = VERSION
    late_ns = 0

    def __init__(self, engine: Engine, tape: Tape, durability: str, place: Place) -> None:
        self.durability = durability
        self._stored = isinstance(engine, Stored)
        self._wire = wire_of(engine, tape)
        self._tape = tape
        self._place = place
        self._server = ReplayServer(tape)
        self._socket: Path | None = None

    @override
    def start(self) -> None:
        """Start it and wait until it serves. Errors: UsageError, EnvironmentMissing without a C compiler."""
        self._server.stop()
        sockets = private_directories.socket_home(self._place.socket_directory, None)
        port = self._place.port or private_directories.free_port()
        self._socket = self._wire.socket(sockets, port)
        if self._socket:
            self._socket.unlink(missing_ok=True)
        self._server.start(
            port=port,
            unix=self._socket,
            cpus=self._place.server_cpus,
            chunk_bytes=self._wire.chunk_bytes,
            late_ns=self.late_ns,
            environment=self._place.environment,
        )

    @override
    def check(self) -> bool:
        return bool(self._server.pids)

    @override
    def stop(self) -> None:
        self._server.stop()

    @override
    def pids(self) -> list[int]:
        return self._server.pids

    @override
    def options(self, path: AccessPath) -> dict[str, Any]:
        password = NAME if self._wire.needs_password else ""
        place = {"host": "127.0.0.1", "port": self._server.port, "user": NAME, "password": password, "database": NAME}
        kept = {"storage": path.storage} if self._stored else {}
        return place | self._wire.socket_options(self._socket) | kept

    @override
    def facts(self) -> dict[str, str]:
        header = self._tape.header
        return {"version": header.server, "tape": str(self._tape.file), "recorded": header.recorded}


class Taped(Engine):
    """What differs from the recorded engine; the rest is the engine's own class."""

    tape: Tape
    deployments = ("server",)
    loading = LoadingCost(1e6, 0.0, 1e12)

    def versions(self) -> tuple[str, ...]:
        """The tape, then the real ones."""
        return (VERSION, *super().versions())  # type: ignore[misc]

    @override
    def availability(self) -> Availability:
        return Availability(True, f"the tape {self.tape.file}")

    def availability_of(self, version: str, tls: str) -> Availability:
        """The tape can run everywhere, but without TLS."""
        if version != VERSION:
            return super().availability_of(version, tls)  # type: ignore[misc,no-any-return]
        what = f"the tape {self.tape.file}"
        return Availability(False, what, "a tape has no TLS", "tls=off") if tls == "on" else Availability(True, what)

    @override
    def instance(self, deployment: str, durability: str, place: Place) -> Instance:
        if place.version != VERSION:
            return super().instance(deployment, durability, place)  # type: ignore[safe-super]
        return TapeInstance(self, self.tape, durability, place)


def wire_of(engine: Engine | None, tape: Tape) -> Wire:
    """How clients talk to a tape of that engine. UsageError for one whose records follow another protocol."""
    wire = engine.wire if engine else None
    if wire is None or wire.protocol != tape.protocol:
        raise damaged(tape.file, f"its header names {tape.header.engine}, its records follow another protocol")
    return wire


def put_in(tape: Tape) -> None:
    """Let a tape stand beside the engine that it was recorded from, as that engine's first version."""
    wire_of(engines.ENGINES.get(tape.header.engine), tape)
    real = engines.ENGINES[tape.header.engine]
    if isinstance(real, Taped):
        raise UsageError("only one tape can be replayed at a time", "rowpath run --tape FILE")
    kind: Any = type(f"Taped{type(real).__name__}", (Taped, type(real)), {"tape": tape})
    engines.stand_in(kind())
