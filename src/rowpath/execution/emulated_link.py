"""The emulated link: our proxy between client and server, which makes each round trip longer by a stated time.

It runs where the controller sleeps, away from the servers where there is a choice. What it really adds is measured in
every run, by a ping-pong with the ping server through it and without it.
"""

from __future__ import annotations

import contextlib
import os
import socket
import statistics
import time
from pathlib import Path
from typing import Any

from rowpath.engines import ENGINES
from rowpath.engines.base import Instance, Place
from rowpath.execution.prepared_phases import PreparedPhase
from rowpath.execution.worker import Worker
from rowpath.journal.records import LinkRecord
from rowpath.machine import c_tools, cpus, processes
from rowpath.model.path import AccessPath, link_ns
from rowpath.model.workload import Phase
from rowpath.planning.plan import PlannedPath
from rowpath.runners.manifest import adapter_of
from rowpath.runners.process import RunnerFailure

METHOD = (
    "a user-space proxy on 127.0.0.1 (runners/c/tools/link.c); ping-pong with the ping server through it and without it"
)
BLOCKS, LEAD_IN_NS, BLOCK_NS = 15, 1_000_000, 10_000_000
BULK_BYTES = 32 << 20
PING_TIMEOUT_S = 60.0
NOTHING = PreparedPhase("null.nothing", Phase("nothing", "null"), "")


class LinkProxy:
    """One running proxy."""

    def __init__(self, to_port: int, value: str) -> None:
        """Start it in front of that port of 127.0.0.1. Errors: InternalError, EnvironmentMissing (no C compiler)."""
        self.to_port = to_port
        self._process, self.port = processes.start_listener(
            "the emulated link", c_tools.link_command(to_port, link_ns(value) // 2), cpus=cpus.spare_cpus()[:1]
        )

    def scheduled(self) -> str:
        """How the kernel schedules it: a wire waits for no program, but only root may ask for that."""
        first = os.sched_getscheduler(self._process.pid) == os.SCHED_FIFO
        return "scheduled before other programs" if first else "scheduled like other programs"

    def alive(self) -> bool:
        """Whether it still runs."""
        return self._process.poll() is None

    def stop(self) -> None:
        """Stop it by pid; harmless when it has ended."""
        processes.stop(self._process, processes.AT_ONCE)


class Links:
    """The links of a run: one per server and value, renewed when a server comes back on another port."""

    def __init__(self) -> None:
        self._links: dict[tuple[Any, str], LinkProxy] = {}

    def way_to(self, server: Any, instance: Instance, path: AccessPath) -> dict[str, Any]:
        """What `open` gets instead of the server's own address; empty for a path without a link.

        `server`: what distinguishes the instances of a run. Errors: RunnerFailure for another machine's server.
        """
        value = path.link
        if value == "none":
            return {}
        address = instance.options(path)
        if address.get("host", "127.0.0.1") != "127.0.0.1":
            where = address["host"]
            raise RunnerFailure("unsupported", f"links are emulated only for local servers, not for {where}")
        port = int(address["port"])
        link = self._links.get((server, value))
        if link is None or link.to_port != port or not link.alive():
            if link is not None:
                link.stop()
            link = self._links[server, value] = LinkProxy(port, value)
        return {"host": "127.0.0.1", "port": link.port}

    def stop_all(self) -> None:
        """Stop every one."""
        while self._links:
            self._links.popitem()[1].stop()


def measure(value: str, placement: str, directory: Path) -> LinkRecord:
    """Ping-pong and a long send through a link of that value, the client where `placement` puts it."""
    place = Place(directory / "ping", directory / "ping", cpus.server_cpus())
    ping = ENGINES["null"].instance("server", "none", place)
    ping.start()
    with contextlib.ExitStack() as cleanup:
        cleanup.callback(ping.stop)
        adapter = adapter_of("c", "ping")
        coordinates = {
            "engine": "null",
            "deployment": "server",
            "language": "c",
            "driver": adapter.driver,
            "version": adapter.versions[0],
            "transport": "tcp",
            "placement": placement,
            "writes": "1",
        }
        planned = PlannedPath(AccessPath.of(coordinates), adapter, (NOTHING.name,), "ping")
        link = LinkProxy(int(ping.options(planned.path)["port"]), value)
        cleanup.callback(link.stop)
        direct = _ping_pong(planned, ping, {})
        through = _ping_pong(planned, ping, {"host": "127.0.0.1", "port": link.port})
        rate = _long_send(link.port, statistics.median(through))
        method = f"{METHOD}; {link.scheduled()}"
    tenths = statistics.quantiles(through, n=10)
    return LinkRecord(
        link=value,
        placement=placement,
        stated_ns=link_ns(value),
        direct_ns=statistics.median(direct),
        round_trip_ns=statistics.median(through),
        low_ns=tenths[0],
        high_ns=tenths[-1],
        rate_bytes_per_s=rate,
        cpu=cpus.spare_cpus()[0],
        method=method,
    )


def _ping_pong(planned: PlannedPath, ping: Instance, way: dict[str, Any]) -> list[float]:
    """ns of a round trip, by block."""
    worker = Worker(planned, ping, log=lambda _line: None, timeout_s=PING_TIMEOUT_S, pinned=True)
    try:
        worker.open(**way)
        worker.prepare(NOTHING)
        worker.sample(NOTHING, "warm", duration_ns=BLOCK_NS)
        replies = [
            worker.sample(NOTHING, "steady", lead_in_ns=LEAD_IN_NS, duration_ns=BLOCK_NS).reply for _ in range(BLOCKS)
        ]
    finally:
        worker.close()
    return [reply.ns / max(1, reply.operations) for reply in replies]


def _long_send(port: int, trip_ns: float) -> float:
    """Bytes a second from client to server; the ping server swallows a `+` and answers the byte after the last one."""
    with socket.create_connection(("127.0.0.1", port), PING_TIMEOUT_S) as connection:
        connection.sendall(b"x")
        connection.recv(1)
        started_ns = time.monotonic_ns()
        connection.sendall(b"+" * BULK_BYTES + b"x")
        connection.recv(1)
        return BULK_BYTES * 1e9 / max(1.0, time.monotonic_ns() - started_ns - trip_ns)
