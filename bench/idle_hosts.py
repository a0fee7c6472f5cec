"""Many hosts without work: the real controller and real agents, on a few nodes of one machine.

Real: `Session`, `RayCluster`, `FarProcesses`, `FarCounters` and `Stage`; Ray with token and TLS; an `Agent` for each
host, in a process and at an address of its own, with its shared counters; clocks over the loopback.
Simulated: the nodes (many agents share one, which starts them one by one), the network and cores between them (all
share this machine's), the server (none) and the clients (a thread in each agent fills the counters as they would).
"""

from __future__ import annotations

import math
import os
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast
from unittest import mock

import numpy as np
from typing_extensions import override

from rowpath.checks.selftest.bench import NOTHING, Bench
from rowpath.execution.mixed_load.client_processes import ProcessUse, Seat
from rowpath.execution.mixed_load.group_totals import Member
from rowpath.execution.mixed_load.shared_counters import DONE, HEAD_WORDS, WORD, WORKS, SharedCounters
from rowpath.execution.prepared_phases import PreparedPhase
from rowpath.hosts import cluster, hosts_file, node, ray_cluster, session, setup
from rowpath.hosts.agent import Agent
from rowpath.hosts.cluster import ClusterState
from rowpath.hosts.far_load import FarProcesses
from rowpath.hosts.load import HostLoad, Opened
from rowpath.hosts.ray_cluster import RayCluster
from rowpath.hosts.session import Session
from rowpath.journal.mixed_load_records import ProcessSecond
from rowpath.model import histogram
from rowpath.model.experiment import ClientGroupTable, Experiment
from rowpath.model.hosts import Host, HostsFile
from rowpath.model.workload import Phase, PhaseName
from rowpath.planning.plan import Plan, key_of
from rowpath.runners.protocol import GroupClient, GroupSpec, GroupTotal
from rowpath.workloads.workload_file import load_workload

NODES = 2
CONTROLLER = "127.0.0.5"
GROUPS = ("readers", "writers", "arrivals")
CLIENTS = 2  # of a group on a host
STEP_S = 0.25  # between two times that the counters are filled
LOOK_S = 0.02  # for files
OPERATIONS = 1000  # of a client in a step
HELD_S = 20.0
FILE = "nodes.toml"  # of the nodes
RELEASED = "released"
NOTHING_PHASE = PreparedPhase(NOTHING, Phase("nothing", "null", ""), "")


class IdleRunner:
    """A client process that is only this one."""

    def listen(self) -> None:
        """Nothing comes."""

    def alive(self) -> bool:
        """It is."""
        return True


class IdleClients:
    """As `Processes`, as far as a host's load needs one: a thread is every client of every group."""

    def __init__(self, connections: Mapping[str, int], begun: Callable[[str], None]) -> None:
        """`begun` gets each group's name once its clients have begun."""
        worker = cast(Any, SimpleNamespace(runner=IdleRunner()))
        self.workers = [worker]
        self.seats = {name: Seat(worker, 0, 0) for name in connections}
        self._begun = begun
        self._over = False
        self.woken = threading.Event()  # by an instant, or by the end
        self._thread: threading.Thread | None = None
        self._totals: dict[str, GroupTotal] = {}
        values_ns = np.random.default_rng(1).lognormal(math.log(150_000), 0.6, OPERATIONS).astype(int)
        indexes = [histogram.index_of(int(each)) for each in values_ns]
        self._counts = np.bincount(indexes, minlength=histogram.COUNTS).astype(np.uint64)

    def pids(self) -> list[int]:
        """This process."""
        return [os.getpid()]

    def prepare(self, _group: str, _work: PreparedPhase) -> None:
        """Nothing is to be prepared."""

    def helpers_cpu_ns(self) -> int:
        """Nothing."""
        return 0

    def take_cores(self) -> None:
        """This process stays where it is."""

    def spin_ns(self) -> int:
        """Nothing."""
        return 0

    def ready(self, counters: SharedCounters, requested: Iterable[tuple[int, GroupSpec]]) -> None:
        """Wait for the begin of each group."""
        specs = [spec for _process, spec in requested]
        self._totals = {each.name: GroupTotal(each.name, 0, 0, 0, 0, "0", 0, 0, 0) for each in specs}
        self._over = False
        self._thread = threading.Thread(target=self._work, args=(counters, specs), daemon=True)
        self._thread.start()

    def _work(self, counters: SharedCounters, specs: list[GroupSpec]) -> None:
        waiting, at_work = {each.name: each for each in specs}, dict[str, GroupSpec]()
        filled_s = 0.0
        while (waiting or at_work) and not self._over:
            soonest_s = min([STEP_S, *(self._until_begin_s(counters, each) for each in waiting.values())])
            if self.woken.wait(max(0.0, soonest_s)):
                self.woken.clear()
            for spec in [each for each in waiting.values() if self._until_begin_s(counters, each) <= 0]:
                self._totals[spec.name].begun_ns = time.monotonic_ns()
                at_work[spec.name] = waiting.pop(spec.name)
                self._begun(spec.name)
            if time.monotonic() - filled_s >= STEP_S:
                filled_s = time.monotonic()
                for spec in list(at_work.values()):
                    self._fill(counters, spec)
                    if counters._words[spec.control // WORD + 1] <= time.monotonic_ns():
                        del at_work[spec.name]

    def _until_begin_s(self, counters: SharedCounters, spec: GroupSpec) -> float:
        at_ns = int(counters._words[spec.control // WORD])
        return (at_ns - time.monotonic_ns()) / 1e9 if at_ns else math.inf

    def _fill(self, counters: SharedCounters, spec: GroupSpec) -> None:
        now_ns, total = time.monotonic_ns(), self._totals[spec.name]
        ends = counters._words[spec.control // WORD + 1] <= now_ns
        for client in range(spec.clients):
            slot = counters._slot(counters.client_groups[spec.name], client)
            slot[0], slot[4], slot[11] = DONE if ends else WORKS, 0 if ends else now_ns, now_ns
            slot[1] += np.uint64(OPERATIONS)
            for kind in range(3):
                slot[HEAD_WORDS + kind * histogram.COUNTS :][: histogram.COUNTS] += self._counts
        total.operations, total.ended_ns = total.operations + OPERATIONS * spec.clients, now_ns
        total.clients = [GroupClient(0, 0, total.operations // spec.clients, 0)] * spec.clients

    def ended(self, timeout_s: float) -> dict[str, GroupTotal]:
        """What they did."""
        if self._thread is not None:
            self._thread.join(timeout_s)
        return self._totals

    def close(self) -> None:
        """End the thread."""
        self._over = True
        self.woken.set()
        if self._thread is not None:
            self._thread.join()


class IdleLoad(HostLoad):
    """A host's load whose clients are idle; everything else is as it is."""

    def __init__(self, connections: Mapping[str, int], begun: Callable[[str], None]) -> None:
        self.processes = cast(Any, IdleClients(connections, begun))
        self._prepared, self._seats, self._counters = {}, {}, None
        self._use = ProcessUse(self.processes.pids)
        self._growth = None

    @override
    def begin(self, at_ns: Mapping[str, int]) -> dict[str, int]:
        """As ever; the clients are woken."""
        left = super().begin(at_ns)
        cast(IdleClients, self.processes).woken.set()
        return left

    @override
    def _work(self, name: str) -> PreparedPhase:
        return NOTHING_PHASE


class IdleAgent(Agent):
    """An agent whose clients are idle. `events`: a folder in which a file tells of each group that has begun."""

    def __init__(self, name: str, address: str, others: tuple[str, ...], events: str, held_by: tuple[str, ...]) -> None:
        """`held_by`: files without which it does not take the word to begin."""
        super().__init__(name, address, others)
        self._events, self._held_by = events, held_by

    @override
    def build(self) -> list[str]:
        """Nothing is built."""
        return []

    def load_open(self, path_id: str, connections: dict[str, int]) -> tuple[Opened, list[tuple[int, int]]]:
        """Clients that only count."""
        self._now()._load = IdleLoad(connections, self._note)
        return Opened([], dict.fromkeys(connections, 0), True), [(1, os.getpid())]

    def _note(self, group: str) -> None:
        if self._events:
            Path(self._events, f"{self.name}.{group}").touch()

    def load(self, method: str, *arguments: Any) -> Any:
        """As ever, once the files are there."""
        if self._held_by and method in ("begin", "set_instants"):
            until_s = time.monotonic() + HELD_S
            while not (there := all(Path(self._events, each).exists() for each in self._held_by)):
                if time.monotonic() > until_s:
                    break
                time.sleep(LOOK_S)
            Path(self._events, RELEASED if there else "given-up").touch()
            self._held_by = ()
        return self._now().load(method, *arguments)

    def server_used(self, key: Any) -> ProcessSecond | None:
        """There is no server."""
        return ProcessSecond()


class IdleCluster(RayCluster):
    """Agents on a few nodes. Calls are counted, but for looks at ways: more are made while one takes long."""

    events, held = "", ""
    held_by: tuple[str, ...] = ()

    def __init__(self, state: ClusterState) -> None:
        self.calls: Counter[str] = Counter()
        super().__init__(state)

    @override
    def _new_agent(self, host: Host) -> Any:
        resources = {node.resource(self._node_of(host.name)): 0.0001}
        options = {"num_cpus": 0, "max_restarts": 0, "resources": resources}
        others = tuple(each.address for each in self.hosts if each is not host)
        held_by = self.held_by if host.name == self.held else ()
        made = self._ray.remote(IdleAgent).options(**options)
        return made.remote(host.name, host.address, others, self.events, held_by)

    @override
    def is_node(self, host: str) -> bool:
        return super().is_node(self._node_of(host))

    def _node_of(self, host: str) -> str:
        return f"node{[each.name for each in self.hosts].index(host) % NODES}"

    @override
    def _begun(self, host: str, *words: Any) -> ray_cluster.AgentCall:
        if words[0] != "reaches":
            self.calls[".".join(words[:2]) if words[0] == "load" else words[0]] += 1
        return super()._begun(host, *words)


@contextmanager
def nodes(folder: Path, port: int) -> Iterator[ClusterState]:
    """The nodes, up."""
    file = folder / FILE
    lines = ["schema_version = 1", "[cluster]", f'controller = "{CONTROLLER}"', f"port = {port}"]
    for number in range(NODES):
        lines += ["[[host]]", f'name = "node{number}"', f'address = "127.0.0.{number + 2}"', 'helpers = "0"']
        lines += ['roles = ["client", "server"]']
    file.write_text("\n".join(lines) + "\n")
    hosts = hosts_file.read(file)
    state = cluster.up(file, hosts, lambda _text: None)
    try:
        yield state
    finally:
        cluster.down(file, hosts, lambda _text: None)


@contextmanager
def joined(state: ClusterState, count: int, *, events: Path | None = None, held: int = 0) -> Iterator[Session]:
    """So many hosts joined: a server's and the others in the role `load`.

    `held`: the host of that number takes the word to begin only when all groups of all other hosts have begun.
    """
    names = [f"h{number}" for number in range(count)]
    hosts = [Host(names[0], "127.0.1.1", ("server",), helpers="0")]
    hosts += [Host(each, f"127.0.1.{number + 2}", ("client", "load")) for number, each in enumerate(names[1:])]
    many = ClusterState(
        state.cluster, state.file, state.controller, state.port, state.head_pids, HostsFile(1, tuple(hosts))
    )
    sys.path.append(str(setup.require()))
    os.environ.update(cluster.environment(state))  # Ray reads it once
    from ray import cloudpickle

    cloudpickle.register_pickle_by_value(sys.modules[__name__])  # Ray's Python there does not find it
    others = [name for number, name in enumerate(names[1:], 1) if number != held]

    class Cluster(IdleCluster):
        pass

    Cluster.events = str(events or "")
    if held:
        Cluster.held, Cluster.held_by = names[held], tuple(f"{host}.{group}" for host in others for group in GROUPS)
    with mock.patch.object(cluster, "read", lambda _file: many), mock.patch.object(session, "RayCluster", Cluster):
        made = Session(Path(state.file))
    try:
        yield made
    finally:
        made.close()


def opened(made: Session, bench: Bench) -> tuple[FarProcesses, list[Member]]:
    """Clients of every group on every load host, connected."""
    how = {"transport": "tcp", "placement": "apart", "server_host": made.file.host[0].name}
    how |= {"client_host": made.file.loading[0], "durability": "none"}
    planned = bench.path("c", "libpq", NOTHING, **how)
    clients = CLIENTS * len(made.file.loading)
    tables = [ClientGroupTable(name, NOTHING, clients=clients, over="load") for name in GROUPS]
    workload = load_workload(PhaseName.of(NOTHING).workload)
    experiment = Experiment(1, "idle", "idle", (NOTHING,), (), client_groups=tuple(tables))
    plan = Plan(experiment, {workload.name: workload}, (planned,), (), ((planned,),), (), 1, {}, False)
    made.begin(plan, 60.0, lambda _text: None)
    connections = {table.name: table.clients for table in tables}
    context: Any = SimpleNamespace(engine_instances={key_of(planned.path): None})
    far = cast(
        FarProcesses,
        made.client_processes(context, planned, connections, tables),
    )
    far.open({})
    members = [Member(table, NOTHING_PHASE, table.clients, hosts=len(made.file.loading)) for table in tables]
    for member in members:
        far.prepare(member.name, member.work)
    return far, members


def begun_ns(far: FarProcesses, members: Sequence[Member]) -> dict[str, list[int]]:
    """When each host's clients of each group began, by the one clock that all have here."""
    return {each.name: [totals[each.name].begun_ns for totals in far._totals.values()] for each in members}
