"""The emulated link: our proxy between client and server, with a stated round trip and a stated rate.

It runs where the controller sleeps, away from the servers where there is a choice. What it really adds is measured in
every run, by a ping-pong with the ping server through it and without it, and so is what it carries each way.
"""

from __future__ import annotations

import contextlib
import os
import socket
import statistics
import threading
import time
from pathlib import Path
from typing import Any

from rowpath.engines import ENGINES
from rowpath.engines.base import Instance, Place
from rowpath.execution.prepared_phases import PreparedPhase
from rowpath.execution.worker import Worker
from rowpath.journal.records import LinkRecord
from rowpath.machine import c_tools, cpus, processes
from rowpath.model.path import AccessPath, link_bytes_per_s, link_ns
from rowpath.model.workload import Phase
from rowpath.planning.plan import PlannedPath
from rowpath.runners.manifest import adapter_of
from rowpath.runners.process import RunnerFailure

METHOD = (
    "a user-space proxy on 127.0.0.1 (runners/c/tools/link.c); ping-pong with the ping server through it and without "
    "it; a long send each way, by the receiver's clock"
)
MOST_EARLY = 0.1  # of the round trip: what waking up costs; more is a busy machine
BLOCKS, LEAD_IN_NS, BLOCK_NS = 15, 1_000_000, 10_000_000
BULK_BYTES, BULK_S, CHUNK_BYTES = 32 << 20, 1.0, 256 << 10
PING_TIMEOUT_S = 60.0
NOTHING = PreparedPhase("null.nothing", Phase("nothing", "null"), "")


class LinkProxy:
    """One running proxy."""

    def __init__(self, to_port: int, value: str, early_ns: int = 0) -> None:
        """Start it in front of that port of 127.0.0.1; it hands on `early_ns` earlier than stated.

        Errors: InternalError, EnvironmentMissing (no C compiler).
        """
        self.to_port, self.early_ns = to_port, early_ns
        self._process, self.port = processes.start_listener(
            "the emulated link",
            c_tools.link_command(to_port, link_ns(value) // 2 - early_ns, link_bytes_per_s(value)),
            cpus=cpus.spare_cpus()[:1],
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
    """The links of a run: one per server, value and placement, renewed when a server comes back on another port."""

    def __init__(self) -> None:
        self._links: dict[tuple[Any, str, str], LinkProxy] = {}
        self._early_ns: dict[tuple[str, str], int] = {}

    def learn(self, record: LinkRecord) -> None:
        """From now on hand on as early as that link was measured."""
        self._early_ns[record.link, record.placement] = record.early_ns

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
        port, placement = int(address["port"]), path.placement
        early_ns = self._early_ns.get((value, placement), 0)
        link = self._links.get((server, value, placement))
        if link is None or (link.to_port, link.early_ns) != (port, early_ns) or not link.alive():
            if link is not None:
                link.stop()
            link = self._links[server, value, placement] = LinkProxy(port, value, early_ns)
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

        def measured(early_ns: int) -> tuple[LinkProxy, list[float]]:
            link = LinkProxy(int(ping.options(planned.path)["port"]), value, early_ns)
            cleanup.callback(link.stop)
            return link, _ping_pong(planned, ping, {"host": "127.0.0.1", "port": link.port})

        direct = _ping_pong(planned, ping, {})
        link, through = measured(0)
        late_ns = statistics.median(through) - statistics.median(direct) - link_ns(value)
        if (early_ns := int(min(late_ns, MOST_EARLY * link_ns(value))) // 2) > 0:
            link, through = measured(early_ns)
        method = f"{METHOD}; {link.scheduled()}"
    tenths = statistics.quantiles(through, n=10)
    rate, rate_back = rates(value)
    return LinkRecord(
        link=value,
        placement=placement,
        stated_ns=link_ns(value),
        direct_ns=statistics.median(direct),
        round_trip_ns=statistics.median(through),
        low_ns=tenths[0],
        high_ns=tenths[-1],
        rate_bytes_per_s=rate,
        rate_back_bytes_per_s=rate_back,
        stated_bytes_per_s=link_bytes_per_s(value),
        early_ns=link.early_ns,
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


def rates(value: str) -> tuple[float, float]:
    """Bytes a second that a link of that value carries from client to server, and back; both ends are ours."""
    with contextlib.ExitStack() as cleanup:
        listener = cleanup.enter_context(socket.create_server(("127.0.0.1", 0)))
        listener.settimeout(PING_TIMEOUT_S)
        link = LinkProxy(listener.getsockname()[1], value)
        cleanup.callback(link.stop)
        client = cleanup.enter_context(socket.create_connection(("127.0.0.1", link.port), PING_TIMEOUT_S))
        server = cleanup.enter_context(listener.accept()[0])
        server.settimeout(PING_TIMEOUT_S)
        size = round(link_bytes_per_s(value) * BULK_S) or BULK_BYTES
        return _long_send(client, server, size), _long_send(server, client, size)


def _send(sender: socket.socket, size: int) -> None:
    chunk = bytes(CHUNK_BYTES)
    for left in range(size, 0, -CHUNK_BYTES):
        sender.sendall(chunk[:left])


def _long_send(sender: socket.socket, receiver: socket.socket, size: int) -> float:
    """Bytes a second of so many, from when the first of them have arrived to when the last ones have."""
    sending = threading.Thread(target=_send, args=(sender, size), daemon=True)
    sending.start()
    first = left = size - len(receiver.recv(CHUNK_BYTES))
    began_ns = time.monotonic_ns()
    while left > 0:
        left -= (received := len(receiver.recv(CHUNK_BYTES)))
        if not received:
            raise RunnerFailure("link", "it broke in the middle of a long send")
    took_ns = time.monotonic_ns() - began_ns
    sending.join()
    return first * 1e9 / max(1, took_ns)
