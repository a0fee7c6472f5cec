"""A run's hosts as planning and execution see them: what can be there, instances and workers there, what they are."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast

from rowpath.engines.base import Instance, Settled
from rowpath.errors import EnvironmentMissing, RowpathError
from rowpath.execution.measured import Measured
from rowpath.execution.prepared_phases import PreparedPhase
from rowpath.execution.run_context import RunContext
from rowpath.execution.several_hosts import HostLost
from rowpath.execution.worker import Worker
from rowpath.hosts import cluster, network
from rowpath.hosts.ray_cluster import RayCluster
from rowpath.hosts.server_side import Facts, far_server
from rowpath.journal.host_records import ClockRecord, HostRecord, RoundTrip, WayRecord
from rowpath.journal.record_base import Record
from rowpath.journal.records import MemoryRecord, WorkerRecord
from rowpath.machine import processes
from rowpath.machine.counters import memory
from rowpath.model.hosts import Host, HostsFile
from rowpath.model.path import AccessPath
from rowpath.planning.instance_key import Key
from rowpath.planning.plan import Plan, PlannedPath
from rowpath.runners import protocol
from rowpath.runners.process import RunnerFailure


class Session:
    """The hosts of a file, joined; `close` leaves them, and ends all that was started there."""

    def __init__(self, file: Path) -> None:
        """Errors: UsageError when they are not up, EnvironmentMissing when one cannot be used."""
        self.state = cluster.read(file)
        self._cluster = RayCluster(self.state)
        self._unavailable: dict[tuple[str, str], tuple[str, str]] = {}
        self._plan: Plan | None = None
        try:
            self.hello = self._cluster.ask_all(tuple(host.name for host in self.file.host), "hello")
            for name, found in self.hello.items():
                self._check(name, found)
        except BaseException:
            self.close()
            raise

    @property
    def file(self) -> HostsFile:
        """What the hosts are."""
        return self.state.hosts

    def _check(self, name: str, found: dict[str, Any]) -> None:
        if found["nice"] != found["nice_wanted"]:
            raise EnvironmentMissing(f"host '{name}' runs programs at nice {found['nice']}", "rowpath hosts down, up")

    def unavailable(self, path: AccessPath) -> tuple[str, str]:
        """Why a path cannot run on its hosts, with the host, and the remedy; empty when it can."""
        for host in dict.fromkeys((path.get("client_host"), path.get("server_host"))):
            if host != "none":
                key = (host, path.id)
                if key not in self._unavailable:
                    self._unavailable[key] = self._cluster.ask(host, "unavailable", path.as_dict(), "client")
                reason, remedy = self._unavailable[key]
                if reason:
                    return f"on host {host}: {reason}", remedy
        return "", ""

    def begin(self, plan: Plan, timeout_s: float, note: Callable[[str], None]) -> None:
        """As `Hosts` has it."""
        self._plan = plan
        self._cluster.ask_all(self._used(), "begin", plan, timeout_s)
        note(f"building runners on {', '.join(self._used())}")
        for name, texts in self._cluster.ask_all(self._used(), "build").items():
            for text in texts:
                note(f"{name}: {text}")

    def is_far(self, planned: PlannedPath) -> bool:
        """As `Hosts` has it."""
        return planned.path.get("client_host") != "none"

    def instance(self, key: Key) -> Instance:
        """As `Hosts` has it."""
        facts: Facts = self._cluster.ask(key[-1], "bring_up", key)
        return far_server(facts, self._cluster.asking(key[-1]))

    def worker(self, planned: PlannedPath, log: Callable[[str], None]) -> Worker:
        """As `Hosts` has it."""
        worker = FarWorker(planned, self._cluster.asking(planned.path.get("client_host")))
        return cast(Worker, worker)  # as far as a set uses one

    def prove(self, context: RunContext, planned: PlannedPath, count_commits: bool) -> dict[str, str]:
        """As `Hosts` has it."""
        bad: dict[str, str]
        bad, records = self._cluster.ask(planned.path.get("client_host"), "prove", planned.path.id, count_commits)
        for record in records:
            context.journal.write(record)
        return bad

    def records(self, when: Literal["before", "after"]) -> list[Record]:
        """As `Hosts` has it; what hosts are only before."""
        found: list[Record] = [self._host_record(name) for name in self._used()] if when == "before" else []
        found += [self.clock(name, when) for name in self._used()]
        found += [self.way(client, server, when) for client, server in self._pairs()]
        return found

    def _host_record(self, name: str) -> HostRecord:
        host, hello = self.file.named(name), self.hello[name]
        return HostRecord(
            name=name,
            address=host.address,
            roles=list(host.roles),
            measured_cpus=hello["measured_cpus"],
            helper_cpus=hello["spare_cpus"],
            mtu=hello["mtu"],
            environment=hello["environment"],
            note=hello["note"],
        )

    def clock(self, name: str, when: str) -> ClockRecord:
        """The offset of a host's clock from ours, measured now."""
        found = self._measured(name, self._cluster.controller, lambda to, port: network.measure(self._own, to, port))
        return ClockRecord(name, when, found["offset_ns"], found["bound_ns"], network.MEANS)

    @property
    def _own(self) -> str:
        return self._cluster.controller

    def way(self, client: str, server: str, when: str) -> WayRecord:
        """The way from a client's host to a server's, measured now."""
        address = self.file.named(client).address

        def measure(to: str, port: int) -> dict[str, Any]:
            found: dict[str, Any] = self._cluster.ask(client, "measure_network", to, port)
            return found

        found = self._measured(server, address, measure)
        return WayRecord(
            client=client,
            server=server,
            when=when,
            offset_ns=found["offset_ns"],
            bound_ns=found["bound_ns"],
            round_trips=[RoundTrip(**each) for each in found["round_trips"]],
            to_server_bytes_per_s=found["to_bytes_per_s"],
            from_server_bytes_per_s=found["from_bytes_per_s"],
            method=network.MEANS,
        )

    def _measured(self, host: str, peer: str, measure: Callable[[str, int], dict[str, Any]]) -> dict[str, Any]:
        port: int = self._cluster.ask(host, "serve_network", peer)
        try:
            return measure(self.file.named(host).address, port)
        finally:
            with contextlib.suppress(HostLost):
                self._cluster.ask(host, "stop_network")

    def processes(self, name: str) -> Any:
        """What belongs to a host now, with what each has used."""
        return self._cluster.ask(name, "processes")

    def role_pairs(self) -> Iterator[tuple[Host, Host]]:
        """Every client's host with every other server's."""
        for client in self.file.host:
            for server in self.file.host:
                if client is not server and "client" in client.roles and "server" in server.roles:
                    yield client, server

    def _pairs(self) -> list[tuple[str, str]]:
        paths = self._plan.paths if self._plan else ()
        pairs = dict.fromkeys((p.path.get("client_host"), p.path.get("server_host")) for p in paths)
        return [(client, server) for client, server in pairs if server not in ("none", client)]

    def _used(self) -> tuple[str, ...]:
        paths = self._plan.paths if self._plan else ()
        named = (p.path.get(key) for p in paths for key in ("client_host", "server_host"))
        return tuple(sorted({name for name in named if name != "none"}))

    def end(self, logs: Path) -> None:
        """As `Hosts` has it."""
        for host, texts in self._cluster.end_all().items():
            for name, text in texts.items():
                with contextlib.suppress(OSError), (logs / f"{host}-{name}").open("a", encoding="utf-8") as stream:
                    stream.write(text)

    def close(self) -> None:
        """Leave the hosts; agents end, with all that they started. Never raises."""
        processes.stop_all()
        self._cluster.close()


class FarRunner:
    """What is known here of a runner on another host."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.noise: list[str] = []
        self._lives = True

    def alive(self) -> bool:
        """Whether it was, as far as its last reply showed."""
        return self._lives

    def ended(self) -> None:
        """A reply showed that it is gone."""
        self._lives = False


@dataclass
class FarWorker:
    """A worker on its path's client host, as far as a set uses one; failures arise as a worker's own do."""

    planned: PlannedPath
    ask: Callable[..., Any]
    warmed: bool = False

    def __post_init__(self) -> None:
        self._number, pid, self.has_helpers = self.ask("worker_start", self.planned.path.id)
        self.runner = FarRunner(pid)
        self.measured_cpus: tuple[int, ...] = ()  # none here
        self.instance = FarFiles(self)
        self.clients = self.planned.path.clients
        self.alone = not self.planned.path.served

    def _there(self, method: str, *arguments: Any, **named: Any) -> Any:
        try:
            value, self.runner.noise = self.ask("worker_named", self._number, method, arguments, named)
        except RunnerFailure as failure:
            if failure.fatal:
                self.runner.ended()
            raise
        return value

    def open(self, **overrides: Any) -> WorkerRecord:
        """As `Worker` has it."""
        record: WorkerRecord = self._there("open", **overrides)
        return record

    def notice_server(self) -> None:
        """As `Worker` has it."""
        self._there("notice_server")

    def prepare(self, work: PreparedPhase) -> int:
        """As `Worker` has it."""
        return int(self._there("prepare", work.name))

    def sample(self, work: PreparedPhase, regime: str, **how: int) -> Measured:
        """As `Worker` has it."""
        measured: Measured = self._there("sample", work.name, regime, **how)
        return measured

    def verify(self, work: PreparedPhase, first: int, count: int, **more: Any) -> protocol.VerifyReply:
        """As `Worker` has it."""
        reply: protocol.VerifyReply = self._there("verify", work.name, first, count, **more)
        return reply

    def reset(self, work: PreparedPhase) -> None:
        """As `Worker` has it."""
        self._there("reset", work.name)

    def settle(self) -> Settled:
        """As `Worker` has it."""
        settled: Settled = self._there("settle")
        return settled

    def written_bytes(self) -> int | None:
        """As `Worker` has it."""
        found: int | None = self._there("written_bytes")
        return found

    def helpers_cpu_ns(self) -> int:
        """As `Worker` has it."""
        return int(self._there("helpers_cpu_ns"))

    @contextlib.contextmanager
    def peak_memory(self) -> Iterator[MemoryRecord]:
        """As `Worker` has it."""
        record = MemoryRecord(method=memory.MEANS)
        self._there("reset_peaks")
        yield record
        with contextlib.suppress(RunnerFailure):
            record.client_peak_bytes, record.server_peak_bytes = self._there("peaks")

    def facts(self) -> dict[str, Any]:
        """As `Worker` has it."""
        found: dict[str, Any] = self._there("facts")
        return found

    def close(self) -> None:
        """As `Worker` has it."""
        with contextlib.suppress(RunnerFailure, RowpathError, HostLost):
            self._there("close")


class FarFiles(Instance):
    """The instance of a far worker, where only the place of its files could be asked for: it has none here."""

    def __init__(self, worker: FarWorker) -> None:
        self.deployment = worker.planned.path.deployment
