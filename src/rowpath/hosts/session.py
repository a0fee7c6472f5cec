"""A run's hosts as planning and execution see them: what can be there, what they are, and how they come back."""

from __future__ import annotations

import contextlib
import functools
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, cast

from typing_extensions import override

from rowpath import __version__
from rowpath import text as fmt
from rowpath.engines.base import Instance
from rowpath.errors import EnvironmentMissing, RowpathError
from rowpath.execution.instances import ServerSyncs
from rowpath.execution.mixed_load.backups import BackupSite
from rowpath.execution.mixed_load.client_processes import Processes
from rowpath.execution.run import HostsOfRun
from rowpath.execution.run_context import RunContext
from rowpath.execution.several_hosts import HERE, HostLost, Hosts
from rowpath.execution.worker import Worker
from rowpath.hosts import cluster, foreign, hosts_file, network, node, reach
from rowpath.hosts.far_load import FarProcesses
from rowpath.hosts.far_worker import FarBackup, FarWorker, TogetherThere
from rowpath.hosts.hosts_file import Source
from rowpath.hosts.ray_cluster import RayCluster
from rowpath.hosts.replies import Ask
from rowpath.hosts.server_side import FarServerSyncs, far_server
from rowpath.journal.record_base import Record
from rowpath.journal.records import ClockRecord, HostRecord, WayRecord, WayRoundTrip
from rowpath.machine import processes
from rowpath.machine.counters.syncs import SyncCost
from rowpath.model.experiment import ClientGroupTable
from rowpath.model.hosts import Host, HostsFile
from rowpath.model.path import AccessPath
from rowpath.planning.hosts import of_group, spreads, together
from rowpath.planning.plan import Key, Plan, PlannedPath, key_of

ENDED_S = 15.0  # until nothing of a run is left on a host that was lost, whatever became of it
AGAIN_S = 5.0  # between two tries
CLOCKS_AT_ONCE = 8  # most of an exchange is waiting


@dataclass
class Returns:
    """The hosts that a run has lost. Each is tried again and again; a node of others is awaited."""

    _state: cluster.ClusterState
    _is_node: Callable[[str], bool]  # whether the cluster has a living node that is the host
    note: Callable[[str], None] = lambda _text: None
    _errands: dict[str, reach.Errand | None] = field(default_factory=dict)
    _tried_s: dict[str, float] = field(default_factory=dict)
    _started: set[str] = field(default_factory=set)
    _said: dict[str, str] = field(default_factory=dict)

    def wait_until_idle(self, host: str) -> None:
        """Wait until that is done, or until nothing can be left there."""
        until_s = time.monotonic() + ENDED_S
        while time.monotonic() < until_s and not self._look(host):
            time.sleep(cluster.LOOK_S)

    def joined(self) -> Iterator[str]:
        """Yield the hosts that have joined again; try the others again, or name how they join."""
        for host in list(self._errands):
            if self._look(host):
                del self._errands[host]
                yield host
            elif self._state.foreign:
                self.say(host, f"start its node again, there: {foreign.start_command(self._state, host)}")
            elif self._errands[host] is None and time.monotonic() - self._tried_s[host] > AGAIN_S:
                self.call(host)

    def call(self, host: str) -> None:
        """Begin to end what is left there, and to start it again."""
        self._tried_s[host] = time.monotonic()
        self._started.discard(host)
        self._errands[host] = None
        if not self._state.foreign:
            with self._failure_said(host):
                self._errands[host] = cluster.begin_again(self._state, host)

    def _look(self, host: str) -> bool:
        if self._state.foreign:
            return self._is_node(host)
        errand = self._errands[host]
        if errand is not None and errand.over():
            self._errands[host] = None
            with self._failure_said(host):
                errand.answer()
                self._started.add(host)
        return host in self._started

    @contextlib.contextmanager
    def _failure_said(self, host: str) -> Iterator[None]:
        try:
            yield
        except RowpathError as error:
            self.say(host, error.message)

    def say(self, host: str, why: str) -> None:
        """Say why a host is not back, once."""
        if self._said.get(host) != why:
            self._said[host] = why
            self.note(f"{host} is not back: {why}")


class Session(HostsOfRun):
    """The hosts of a file, joined; `close` leaves them, and ends all that was started there."""

    def __init__(self, source: Source) -> None:
        """Errors: UsageError when they are not up, EnvironmentMissing when one cannot be used."""
        address = hosts_file.of(source).cluster.address
        self.state = foreign.state(source) if address or isinstance(source, str) else cluster.read(source)
        self._cluster = RayCluster(self.state)
        self._unavailable: dict[tuple[str, str], tuple[str, str]] = {}
        self._plan: Plan  # of a run, and its operations' time
        self._timeout_s: float
        self._returns = Returns(self.state, self._cluster.is_node)
        self._offsets_ns: dict[str, int] = {}  # of hosts' clocks from ours, as last measured for groups
        try:
            self.hello = dict(self._cluster.hello)
            for name, hello in self.hello.items():
                self._check(name, hello)
        except BaseException:
            self.close()
            raise

    @property
    @override
    def file(self) -> HostsFile:
        """What the hosts are."""
        return self.state.hosts

    @property
    @override
    def lost(self) -> Mapping[str, HostLost]:
        return self._cluster.lost

    @property
    @override
    def wait_s(self) -> float:
        return self.file.cluster.wait_s

    def _check(self, name: str, hello: dict[str, Any]) -> None:
        if hello["nice"] != hello["nice_wanted"]:
            raise EnvironmentMissing(f"host '{name}' runs programs at nice {hello['nice']}", "rowpath hosts down, up")
        cluster.check_same_source(name, (hello["rowpath"], hello["code"]), (__version__, node.code_digest()))

    @override
    def unavailable(self, path: AccessPath, loading: bool) -> tuple[str, str]:
        """Why a path cannot run on its hosts, with the host, and the remedy; empty when it can."""
        loads = self.file.loading if loading else ()
        hosts = dict.fromkeys(host for host in (path.client_host, path.server_host, *loads) if host != "none")
        new = tuple(host for host in hosts if (host, path.id) not in self._unavailable)
        answers = self._cluster.ask_all(new, "unavailable", path.as_dict(), "client")
        self._unavailable |= {(host, path.id): answer for host, answer in answers.items()}
        for host in hosts:
            reason, remedy = self._unavailable[host, path.id]
            if reason:
                return f"on host {host}: {reason}", remedy
        return "", ""

    @override
    def begin(self, plan: Plan, timeout_s: float, note: Callable[[str], None]) -> None:
        self._plan, self._timeout_s, self._returns.note = plan, timeout_s, note
        loading = self._loading()
        self._cluster.watched = self._used()
        self._cluster.introduce(frozenset(key_of(planned.path)[-1] for planned in plan.paths))
        self._cluster.ask_those({host: ("begin", plan, timeout_s, host in loading) for host in self._used()})
        note(f"building runners on {fmt.listed(self._used())}")
        for name, texts in self._cluster.ask_all(self._used(), "build").items():
            for text in texts:
                note(f"{name}: {text}")

    @override
    def of(self, planned: PlannedPath) -> Hosts:
        return self if planned.path.client_host != "none" else HERE

    @override
    def needed_by(self, planned: PlannedPath) -> frozenset[str]:
        if self.of(planned) is HERE:
            return frozenset()
        own = frozenset({planned.path.client_host, planned.path.server_host} - {"none"})
        loads = [self.loads(planned, names) for names in together(self._plan.experiment).values()]
        return own | (frozenset.intersection(*loads) if loads else frozenset())

    @override
    def loads(self, planned: PlannedPath, client_groups: Iterable[str]) -> frozenset[str]:
        over = any(group.over for group in self._plan.experiment.client_groups if group.name in client_groups)
        return frozenset(self.file.loading if over and self.of(planned) is self else ())

    @override
    def call_back(self, lost: HostLost) -> None:
        self._cluster.leave_out(lost)
        self._returns.call(lost.host)

    @override
    def wait_until_idle(self, host: str) -> None:
        self._returns.wait_until_idle(host)

    @override
    def back(self) -> dict[str, list[Record]]:
        records: dict[str, list[Record]] = {}
        self._cluster.look_at_head()
        for host in self._returns.joined():
            try:
                records[host] = self._made_ready(host)
            except (HostLost, RowpathError) as error:
                self._returns.say(host, str(error))
                self.call_back(HostLost(host, str(error)))
                self.wait_until_idle(host)
                if isinstance(error, HostLost) and error.host == cluster.CONTROLLER:
                    raise
        return records

    def _made_ready(self, host: str) -> list[Record]:
        hello = self._cluster.join_again(host)
        self._check(host, hello)
        self.hello[host] = hello
        self._cluster.ask(host, "begin", self._plan, self._timeout_s, host in self._loading())
        self._cluster.ask(host, "build")
        ways = [self.way(client, server, "before") for client, server in self._pairs() if host in (client, server)]
        return [self._host_record(host), *self.clocks((host,), "before"), *ways]

    def _loading(self) -> tuple[str, ...]:
        return self.file.loading if spreads(self._plan.experiment) else ()

    @override
    def bring_up(self, key: Key) -> tuple[Instance, ServerSyncs]:
        ask = self._cluster.asking(key[-1])
        return far_server(ask("bring_up", key), ask), FarServerSyncs(key, ask)

    @override
    def sync_cost(self, host: str, _folder: Path) -> SyncCost:
        cost: SyncCost = self._cluster.ask(host, "sync_cost")
        return cost

    @override
    def worker(self, _context: RunContext, planned: PlannedPath) -> Worker:
        there = TogetherThere(planned.path.client_host, self._cluster.asking(planned.path.client_host))
        return FarWorker(planned, there, *there.ask("worker_start", planned.path.id))

    @override
    def of_group(self, planned: PlannedPath, group: ClientGroupTable) -> tuple[str, ...]:
        return of_group(group, planned.path, self.file)

    @override
    def client_processes(
        self, context: RunContext, planned: PlannedPath, connections: Mapping[str, int], groups: list[ClientGroupTable]
    ) -> Processes:
        ports: dict[str, int] = {}

        def clocks(names: tuple[str, ...]) -> dict[str, ClockRecord | Exception]:
            # They listen from now on: clocks are measured around every stage.
            measured = self._clocks(names, ports)
            self._offsets_ns |= {
                clock.host: clock.offset_ns for clock in measured.values() if isinstance(clock, ClockRecord)
            }
            return measured

        hosts = {group.name: self.of_group(planned, group) for group in groups}
        instance = context.engine_instances[key_of(planned.path)]
        ask_each = self._cluster.ask_each
        far = FarProcesses(planned, instance, connections, hosts, ask_each=ask_each, measured_clocks=clocks)
        return cast(Processes, far)

    @override
    def backup_site(self, planned: PlannedPath, _instance: Instance, _folder: Path, name: str) -> BackupSite:
        host = key_of(planned.path)[-1]
        return FarBackup(planned.path.id, name, self._cluster.asking(host), lambda: self._offsets_ns[host])

    @override
    def copy_directories(self, context: RunContext, paths: tuple[PlannedPath, ...]) -> None:
        host, engine = key_of(paths[0].path)[-1], paths[0].path.engine
        context.progress.note(f"moving databases of {engine} on host {host}")
        records, notes = self._cluster.ask(host, "copy_directories", engine)
        for record in records:
            context.journal.write(record)
        for text in notes:
            context.progress.note(text)

    @override
    def verify(
        self, context: RunContext, planned: PlannedPath, count_commits: bool, _server_syncs: ServerSyncs
    ) -> dict[str, str]:
        bad: dict[str, str]
        bad, records = self._cluster.ask(planned.path.client_host, "verify", planned.path.id, count_commits)
        for record in records:
            context.journal.write(record)
        return bad

    @override
    def records(self, when: Literal["before", "after"]) -> list[Record]:
        """What hosts are is recorded only before."""
        self._returns.note("measuring clocks and the network between the hosts")
        records: list[Record] = [self._host_record(name) for name in self._used()] if when == "before" else []
        records += self.clocks(self._used(), when)
        pairs = self._pairs()
        if said := network.ways_take(len(pairs)):
            self._returns.note(said)
        records += [self.way(client, server, when) for client, server in pairs]
        return records

    def _host_record(self, name: str) -> HostRecord:
        host, hello = self.file.named(name), self.hello[name]
        same = {key: hello[key] for key in ("measured_cpus", "mtu", "environment", "note", "methods")}
        helpers = hello["spare_cpus"]
        return HostRecord(name=name, address=host.address, roles=list(host.roles), helper_cpus=helpers, **same)

    def clocks(self, names: tuple[str, ...], when: str) -> list[ClockRecord]:
        """The offsets of hosts' clocks from ours, measured now. Errors: HostLost, EnvironmentMissing."""
        records = []
        try:
            for clock in self._clocks(names, {}, when).values():
                if isinstance(clock, Exception):
                    raise clock
                records.append(clock)
        finally:
            with contextlib.suppress(HostLost):
                self._cluster.ask_each(dict.fromkeys(names, ("stop_network",)))
        return records

    def _clocks(
        self, names: tuple[str, ...], ports: dict[str, int], when: str = ""
    ) -> dict[str, ClockRecord | Exception]:
        """The clock of each host, or why it is not known. `ports`: on which they listen; others begin to."""
        calls = {name: ("serve_network", self._cluster.controller) for name in names if name not in ports}
        listening, lost = self._cluster.ask_each(calls)
        ports |= listening
        clocks: dict[str, ClockRecord | Exception] = {name: HostLost(name, text) for name, text in lost.items()}

        def measure(name: str) -> None:
            try:
                seen = network.measure(
                    self._cluster.controller, self.file.named(name).address, ports[name], only_clocks=True
                )
                clocks[name] = ClockRecord(name, when, seen["offset_ns"], seen["bound_ns"], network.METHOD)
            except RowpathError as error:
                clocks[name] = error

        there = [name for name in names if name in ports and name not in lost]
        processes.side_by_side((functools.partial(measure, name) for name in there), CLOCKS_AT_ONCE)
        return {name: clocks[name] for name in names}

    def way(self, client: str, server: str, when: str) -> WayRecord:
        """The way from a client's host to a server's, measured now."""
        port: int = self._cluster.ask(server, "serve_network", self.file.named(client).address)
        try:
            seen = self._cluster.ask(client, "measure_network", self.file.named(server).address, port)
        finally:
            with contextlib.suppress(HostLost):
                self._cluster.ask(server, "stop_network")
        return WayRecord(
            client=client,
            server=server,
            when=when,
            offset_ns=seen["offset_ns"],
            bound_ns=seen["bound_ns"],
            round_trips=[WayRoundTrip(**trip) for trip in seen["round_trips"]],
            to_server_bytes_per_s=seen["to_bytes_per_s"],
            from_server_bytes_per_s=seen["from_bytes_per_s"],
            method=network.METHOD,
        )

    def asking(self, name: str) -> Ask:
        """Asks the agent of a host."""
        return self._cluster.asking(name)

    def processes(self, name: str) -> Any:
        """What belongs to a host now, with what each has used."""
        return self._cluster.ask(name, "processes")

    def role_pairs(self) -> Iterator[tuple[Host, Host]]:
        """Every host that has clients with every other server's."""
        for client in self.file.host:
            for server in self.file.host:
                if client is not server and {"client", "load"} & set(client.roles) and "server" in server.roles:
                    yield client, server

    def _pairs(self) -> list[tuple[str, str]]:
        pairs = dict.fromkeys((p.path.client_host, p.path.server_host) for p in self._plan.paths)
        pairs |= dict.fromkeys((host, server) for host in self._loading() for _client, server in pairs)
        return [pair for pair in pairs if pair[1] not in ("none", pair[0]) and not self._cluster.lost.keys() & pair]

    def _used(self) -> tuple[str, ...]:
        named = {host for p in self._plan.paths for host in (p.path.client_host, p.path.server_host)}
        return tuple(sorted(named.union(self._loading()) - {"none"} - self._cluster.lost.keys()))

    @override
    def end(self, logs: Path) -> None:
        for host, texts in self._cluster.end_all().items():
            for name, text in texts.items():
                with contextlib.suppress(OSError), (logs / f"{host}-{name}").open("a", encoding="utf-8") as stream:
                    stream.write(text)

    def close(self) -> None:
        """Leave the hosts; agents end, with all that they started. Never raises."""
        processes.stop_all()
        self._cluster.close()
