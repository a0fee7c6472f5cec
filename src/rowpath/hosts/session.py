"""A run's hosts as planning and execution see them: what can be there, instances and workers there, what they are."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, cast

from typing_extensions import override

from rowpath import __version__
from rowpath import text as fmt
from rowpath.engines.base import Instance
from rowpath.errors import EnvironmentMissing, RowpathError
from rowpath.execution.mixed_load.backup_site import BackupSite
from rowpath.execution.mixed_load.client_processes import Processes
from rowpath.execution.run_context import RunContext
from rowpath.execution.server_syncs import ServerSyncs
from rowpath.execution.several_hosts import HostLost, Hosts
from rowpath.execution.worker import Worker
from rowpath.hosts import cluster, foreign, hosts_file, network, node
from rowpath.hosts.far_backup import FarBackup
from rowpath.hosts.far_load import FarProcesses
from rowpath.hosts.far_worker import FarWorker, TogetherThere
from rowpath.hosts.hosts_file import Source
from rowpath.hosts.ray_cluster import RayCluster
from rowpath.hosts.replies import Ask
from rowpath.hosts.returns import Returns
from rowpath.hosts.server_side import FarServerSyncs, ServerFacts, far_server
from rowpath.journal.record_base import Record
from rowpath.journal.records import ClockRecord, HostRecord, WayRecord, WayRoundTrip
from rowpath.machine import processes
from rowpath.machine.counters.sync_cost import SyncCost
from rowpath.model.experiment import ClientGroupTable
from rowpath.model.hosts import Host, HostsFile
from rowpath.model.path import AccessPath
from rowpath.planning.hosts import of_group, spreads, together
from rowpath.planning.plan import Key, Plan, PlannedPath, key_of

CLOCKS_AT_ONCE = 8  # most of an exchange is waiting


class Session(Hosts):
    """The hosts of a file, joined; `close` leaves them, and ends all that was started there."""

    def __init__(self, source: Source) -> None:
        """Errors: UsageError when they are not up, EnvironmentMissing when one cannot be used."""
        address = hosts_file.of(source).cluster.address
        self.state = foreign.state(source) if address or isinstance(source, str) else cluster.read(source)
        self._cluster = RayCluster(self.state)
        self._unavailable: dict[tuple[str, str], tuple[str, str]] = {}
        self._plan: Plan | None = None
        self._timeout_s = 0.0  # of a run's operations
        self._returns = Returns(self.state, self._cluster.is_node)
        self._offsets_ns: dict[str, int] = {}  # of hosts' clocks from ours, as last measured for groups
        try:
            self.hello = dict(self._cluster.hello)
            for name, found in self.hello.items():
                self._check(name, found)
        except BaseException:
            self.close()
            raise

    @property
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

    def _check(self, name: str, found: dict[str, Any]) -> None:
        if found["nice"] != found["nice_wanted"]:
            raise EnvironmentMissing(f"host '{name}' runs programs at nice {found['nice']}", "rowpath hosts down, up")
        ours = (__version__, node.code_digest())
        if (found["rowpath"], found["code"]) != ours:
            what = f"host '{name}' has a different Rowpath ({found['rowpath']}, {found['code'][:12]})"
            raise EnvironmentMissing(f"{what} than this machine ({ours[0]}, {ours[1][:12]})", "copy this Rowpath there")

    def unavailable(self, path: AccessPath, loading: bool) -> tuple[str, str]:
        """Why a path cannot run on its hosts, with the host, and the remedy; empty when it can."""
        loads = self.file.loading if loading else ()
        hosts = dict.fromkeys(host for host in (path.client_host, path.server_host, *loads) if host != "none")
        new = tuple(host for host in hosts if (host, path.id) not in self._unavailable)
        found = self._cluster.ask_all(new, "unavailable", path.as_dict(), "client")
        self._unavailable |= {(host, path.id): each for host, each in found.items()}
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
    def is_far(self, planned: PlannedPath) -> bool:
        return planned.path.client_host != "none"

    @override
    def needed_by(self, planned: PlannedPath) -> frozenset[str]:
        if not self.is_far(planned):
            return frozenset()
        own = frozenset({planned.path.client_host, planned.path.server_host} - {"none"})
        assert self._plan is not None
        loads = [self.loads(planned, names) for names in together(self._plan.experiment).values()]
        return own | (frozenset.intersection(*loads) if loads else frozenset())

    @override
    def loads(self, planned: PlannedPath, client_groups: Iterable[str]) -> frozenset[str]:
        assert self._plan is not None
        over = any(group.over for group in self._plan.experiment.client_groups if group.name in client_groups)
        return frozenset(self.file.loading if over and self.is_far(planned) else ())

    @override
    def call_back(self, lost: HostLost) -> None:
        self._cluster.leave_out(lost)
        self._returns.call(lost.host)

    @override
    def wait_until_idle(self, host: str) -> None:
        self._returns.wait_until_idle(host)

    @override
    def back(self) -> dict[str, list[Record]]:
        found: dict[str, list[Record]] = {}
        self._cluster.look_at_head()
        for host in self._returns.joined():
            try:
                found[host] = self._made_ready(host)
            except (HostLost, RowpathError) as error:
                self._returns.say(host, str(error))
                self.call_back(HostLost(host, str(error)))
                self.wait_until_idle(host)
                if isinstance(error, HostLost) and error.host == cluster.CONTROLLER:
                    raise
        return found

    def _made_ready(self, host: str) -> list[Record]:
        assert self._plan is not None
        hello = self._cluster.join_again(host)
        self._check(host, hello)
        self.hello[host] = hello
        self._cluster.ask(host, "begin", self._plan, self._timeout_s, host in self._loading())
        self._cluster.ask(host, "build")
        ways = [self.way(client, server, "before") for client, server in self._pairs() if host in (client, server)]
        return [self._host_record(host), *self.clocks((host,), "before"), *ways]

    def _loading(self) -> tuple[str, ...]:
        return self.file.loading if self._plan and spreads(self._plan.experiment) else ()

    @override
    def instance(self, key: Key) -> Instance:
        facts: ServerFacts = self._cluster.ask(key[-1], "bring_up", key)
        return far_server(facts, self._cluster.asking(key[-1]))

    @override
    def server_syncs(self, key: Key) -> ServerSyncs:
        return FarServerSyncs(key, self._cluster.asking(key[-1]))

    @override
    def sync_cost(self, host: str) -> SyncCost:
        found: SyncCost = self._cluster.ask(host, "sync_cost")
        return found

    @override
    def worker(self, planned: PlannedPath, log: Callable[[str], None]) -> Worker:
        host = planned.path.client_host
        worker = FarWorker(planned, TogetherThere(host, self._cluster.asking(host)))
        return cast(Worker, worker)  # as far as a set uses one

    @override
    def of_group(self, planned: PlannedPath, group: ClientGroupTable) -> tuple[str, ...]:
        return of_group(group, planned.path, self.file)

    @override
    def client_processes(
        self, planned: PlannedPath, instance: Instance, connections: Mapping[str, int], groups: list[ClientGroupTable]
    ) -> Processes:
        ports: dict[str, int] = {}

        def clocks(names: tuple[str, ...]) -> dict[str, ClockRecord | Exception]:
            # They listen from now on: clocks are measured around every stage.
            found = self._clocks(names, ports)
            self._offsets_ns |= {each.host: each.offset_ns for each in found.values() if isinstance(each, ClockRecord)}
            return found

        hosts = {group.name: self.of_group(planned, group) for group in groups}
        far = FarProcesses(planned, instance, connections, hosts, ask_each=self._cluster.ask_each, clocks=clocks)
        return cast(Processes, far)

    @override
    def backup_site(self, planned: PlannedPath, name: str) -> BackupSite:
        host = key_of(planned.path)[-1]
        far = FarBackup(planned.path.id, name, self._cluster.asking(host), lambda: self._offsets_ns[host])
        return cast(BackupSite, far)

    @override
    def copy_directories(self, planned: PlannedPath) -> tuple[list[Record], list[str]]:
        host = key_of(planned.path)[-1]
        found: tuple[list[Record], list[str]] = self._cluster.ask(host, "copy_directories", planned.path.engine)
        return found

    @override
    def verify(self, context: RunContext, planned: PlannedPath, count_commits: bool) -> dict[str, str]:
        bad: dict[str, str]
        bad, records = self._cluster.ask(planned.path.client_host, "verify", planned.path.id, count_commits)
        for record in records:
            context.journal.write(record)
        return bad

    @override
    def records(self, when: Literal["before", "after"]) -> list[Record]:
        """What hosts are is recorded only before."""
        found: list[Record] = [self._host_record(name) for name in self._used()] if when == "before" else []
        found += self.clocks(self._used(), when)
        pairs = self._pairs()
        if said := network.ways_take(len(pairs)):
            self._returns.note(said)
        found += [self.way(client, server, when) for client, server in pairs]
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
            methods=hello["methods"],
        )

    def clocks(self, names: tuple[str, ...], when: str) -> list[ClockRecord]:
        """The offsets of hosts' clocks from ours, measured now. Errors: HostLost, EnvironmentMissing."""
        records = []
        try:
            for found in self._clocks(names, {}, when).values():
                if isinstance(found, Exception):
                    raise found
                records.append(found)
        finally:
            with contextlib.suppress(HostLost):
                self._cluster.ask_each(dict.fromkeys(names, ("stop_network",)))
        return records

    def _clocks(
        self, names: tuple[str, ...], ports: dict[str, int], when: str = ""
    ) -> dict[str, ClockRecord | Exception]:
        """The clock of each host, or why it is not known. `ports`: on which they listen; others begin to."""
        calls = {name: ("serve_network", self._own) for name in names if name not in ports}
        listening, lost = self._cluster.ask_each(calls)
        ports |= listening
        found: dict[str, ClockRecord | Exception] = {name: HostLost(name, text) for name, text in lost.items()}

        def measure(name: str) -> None:
            try:
                seen = network.measure(self._own, self.file.named(name).address, ports[name], only_clocks=True)
                found[name] = ClockRecord(name, when, seen["offset_ns"], seen["bound_ns"], network.METHOD)
            except RowpathError as error:
                found[name] = error

        there = [name for name in names if name in ports and name not in lost]
        processes.side_by_side((functools.partial(measure, name) for name in there), CLOCKS_AT_ONCE)
        return {name: found[name] for name in names}

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
            round_trips=[WayRoundTrip(**each) for each in found["round_trips"]],
            to_server_bytes_per_s=found["to_bytes_per_s"],
            from_server_bytes_per_s=found["from_bytes_per_s"],
            method=network.METHOD,
        )

    def _measured(self, host: str, peer: str, measure: Callable[[str, int], dict[str, Any]]) -> dict[str, Any]:
        port: int = self._cluster.ask(host, "serve_network", peer)
        try:
            return measure(self.file.named(host).address, port)
        finally:
            with contextlib.suppress(HostLost):
                self._cluster.ask(host, "stop_network")

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
        paths = self._plan.paths if self._plan else ()
        pairs = dict.fromkeys((p.path.client_host, p.path.server_host) for p in paths)
        pairs |= dict.fromkeys((host, server) for host in self._loading() for _client, server in pairs)
        return [pair for pair in pairs if pair[1] not in ("none", pair[0]) and not self._cluster.lost.keys() & pair]

    def _used(self) -> tuple[str, ...]:
        paths = self._plan.paths if self._plan else ()
        named = (p.path.get(key) for p in paths for key in ("client_host", "server_host"))
        return tuple(sorted({*named, *self._loading()} - {"none"} - self._cluster.lost.keys()))

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
