"""What one stage does on all hosts of a path: calls to them, their clocks, shared counters, what processes use."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from rowpath.engines.base import Instance
from rowpath.errors import RowpathError
from rowpath.execution.mixed_load.client_processes import ProcessUse
from rowpath.execution.mixed_load.shared_counters import DONE, HISTOGRAMS, SUMS, WORKS, Snapshot
from rowpath.execution.several_hosts import HostLost
from rowpath.hosts.load import GroupSeen, Used
from rowpath.journal.mixed_load_records import ConnectionsSecond, ProcessSecond
from rowpath.journal.records import ClockRecord
from rowpath.model.histogram import empty
from rowpath.planning import client_groups
from rowpath.planning.client_groups import GroupShare
from rowpath.planning.plan import PlannedPath, key_of
from rowpath.runners.process import RunnerFailure
from rowpath.runners.protocol import GroupSpec

Counts = NDArray[np.uint32]
Second = TypeVar("Second", ProcessSecond, ConnectionsSecond)
Clocks = Callable[[tuple[str, ...]], Mapping[str, ClockRecord | Exception]]
AskEach = Callable[[Mapping[str, tuple[Any, ...]]], tuple[dict[str, Any], dict[str, str]]]


@dataclass(eq=False)
class LoadHosts:
    """The hosts of a path's clients and of its engine. A call leaves out hosts that were lost before."""

    planned: PlannedPath
    instance: Instance
    connections: Mapping[str, int]  # of each group
    groups: dict[str, tuple[str, ...]]  # the hosts of each
    _: KW_ONLY
    ask_each: AskEach
    measured_clocks: Clocks  # those of hosts now; why one could not be measured
    lost: dict[str, str] = field(default_factory=dict)
    clocks: dict[str, ClockRecord] = field(default_factory=dict)

    def __post_init__(self) -> None:
        names = [name for group, clients in self.connections.items() for name in self._of(group, clients)]
        self.hosts = tuple(dict.fromkeys(names))
        self.key = key_of(self.planned.path)
        self.engine_host = self.key[-1]

    def _of(self, group: str, clients: int, rate_per_s: float = 0.0, seed: int = 0) -> dict[str, GroupShare]:
        return client_groups.shares(clients, rate_per_s, seed, self.groups[group])

    def hosts_of(self, group: str, clients: int) -> dict[str, int]:
        """The number of a group's clients on each host."""
        return {host: share.clients for host, share in self._of(group, clients).items()}

    def ask(self, arguments: Mapping[str, tuple[Any, ...]], *, may_miss: bool = False) -> dict[str, Any]:
        """What hosts returned; `may_miss`: without those that are lost. Errors: HostLost otherwise."""
        replies, lost = self.ask_each({host: words for host, words in arguments.items() if host not in self.lost})
        self.lost |= lost
        if not may_miss:
            self._raise_if_lost()
        return replies

    def _raise_if_lost(self) -> None:
        for host, text in self.lost.items():
            raise HostLost(host, text)

    def ask_load(self, hosts: Iterable[str], method: str, *arguments: Any, may_miss: bool = False) -> dict[str, Any]:
        """What one method of the client processes on each host returned; errors as `ask`."""
        return self.ask(dict.fromkeys(hosts, ("load", method, *arguments)), may_miss=may_miss)

    def offset_ns(self, host: str) -> int:
        """A host's clock less ours, as last measured."""
        return self.clocks[host].offset_ns

    def read_clocks(self) -> None:
        """Measure the clock of every host. Errors: HostLost, EnvironmentMissing."""
        for host, clock in self.measured_clocks(tuple(dict.fromkeys((*self.hosts, self.engine_host)))).items():
            if isinstance(clock, Exception):
                raise clock
            self.clocks[host] = clock


class FarCounters:
    """Its methods promise what those of `SharedCounters` do, for all hosts together; ages are each host's own."""

    def __init__(self, far: LoadHosts, counted: Sequence[tuple[str, int, int]]) -> None:
        self._far = far
        self.client_groups = {name: clients for name, clients, _rows in counted}
        self.rows = {name: rows for name, _clients, rows in counted}
        self.hosts: tuple[str, ...] = ()
        self.done: dict[str, dict[str, bool]] = {}  # by host and group
        self.last: dict[str, dict[str, GroupSeen]] = {}  # by host and group
        self.later_ns: dict[tuple[str, str], int] = {}  # by group and host
        self.begins: dict[tuple[str, str], int] = {}  # by group and host, of that host's clock
        self.leads: dict[tuple[str, str], int] = {}
        self._used: dict[str, list[Used]] = {}  # by host, in looks since it was taken
        self._seen_at_ns = 0

    def spec(self, name: str, phase: str, first_client: int = 0) -> GroupSpec:
        """The request without offsets: each host has its own."""
        return GroupSpec(name, phase, first_client, self.client_groups[name], "closed", 0, 0, 0)

    def _hosts_of(self, name: str) -> list[str]:
        having = self._far.hosts_of(name, self.client_groups[name])
        return [host for host in self.hosts if host in having]

    def begin(self, name: str, at_ns: int) -> int:
        """Let the group begin at that instant on every host, by the host's own clock."""
        words = self._begins({name: at_ns})
        left = self._begun({host: ("begin", words[host]) for host in self._hosts_of(name)})
        return at_ns + max([0, *(-leads[name] for leads in left.values() if name in leads)])

    def set_instants(self, begin_ns: Mapping[str, int], end_ns: int) -> None:
        """Each host gets the instants by its own clock."""
        words = self._begins(begin_ns)
        self._begun({host: ("set_instants", words[host], end_ns + self._far.offset_ns(host)) for host in self.hosts})

    def _begins(self, begin_ns: Mapping[str, int]) -> dict[str, dict[str, int]]:
        """When each host's groups begin, of its clock."""
        words: dict[str, dict[str, int]] = {host: {} for host in self.hosts}
        for name, at_ns in begin_ns.items():
            for host in self._hosts_of(name):
                begins = at_ns + self._far.offset_ns(host) + self.later_ns.get((name, host), 0)
                words[host][name] = self.begins[name, host] = begins
        return words

    def _begun(self, calls: Mapping[str, tuple[Any, ...]]) -> dict[str, dict[str, int]]:
        """The leads that each host returned: how long before each begin it knew of it."""
        leads = self._far.ask({host: ("load", *words) for host, words in calls.items()}, may_miss=True)
        self.leads |= {(name, host): lead_ns for host, left in leads.items() for name, lead_ns in left.items()}
        return leads

    def states(self, name: str) -> list[int]:
        """One state for each host."""
        return [DONE if self.done.get(host, {}).get(name) else WORKS for host in self._hosts_of(name)]

    def _look(self, now_ns: int) -> None:
        if now_ns != self._seen_at_ns:
            self._seen_at_ns = now_ns
            for host, (groups, used) in self._far.ask_load(self.hosts, "look", may_miss=True).items():
                self.last[host] = groups
                self._used.setdefault(host, []).append(used)

    def _seen(self, name: str) -> list[GroupSeen]:
        return [groups[name] for groups in self.last.values() if name in groups]

    def snapshot(self, name: str, now_ns: int) -> Snapshot:
        """A lost host counts as the last look saw it."""
        self._look(now_ns)
        return joined([seen.snapshot for seen in self._seen(name)], now_ns)

    def stall_ns(self, name: str, now_ns: int) -> int:
        self._look(now_ns)
        return stall_ns(self._seen(name))

    def take_used(self) -> dict[str, Used]:
        """What each host's clients used, by the looks since the last time."""
        taken, self._used = self._used, {}
        return {host: over_time(parts) for host, parts in taken.items()}

    def ended_ns(self, name: str) -> int:
        """When the group's last operation ended, by our clock, from the last look."""
        hosts = (host for host, groups in self.last.items() if name in groups and groups[name].ended_ns)
        return max((self.last[host][name].ended_ns - self._far.offset_ns(host) for host in hosts), default=0)

    def acknowledged(self, name: str) -> tuple[Counts, Counts]:
        known, doubtful = (np.zeros(self.rows[name], dtype=np.uint32) for _ in range(2))
        counts = self._far.ask_load(self._hosts_of(name), "acknowledged", name, may_miss=True)
        for first, knows, doubts in counts.values():
            known[first : first + len(knows)] += knows
            doubtful[first : first + len(doubts)] += doubts
        return known, doubtful

    def close(self) -> None:
        with contextlib.suppress(HostLost, RowpathError, RunnerFailure):
            self._far.ask_load(self.hosts, "end_stage", may_miss=True)


def joined(parts: Sequence[Snapshot], now_ns: int) -> Snapshot:
    """One group on several hosts at one instant."""
    added = {name: sum(getattr(part, name) for part in parts) for name in (*SUMS, "working", "done", "gave_up")}
    added |= {name: np.sum([empty(), *(getattr(part, name) for part in parts)], axis=0) for name in HISTOGRAMS}
    for name in ("under_way_ns", "blocked_ns"):
        added[name] = max((getattr(part, name) for part in parts), default=0)
    return Snapshot(at_ns=now_ns, **added)


def stall_ns(parts: Sequence[GroupSeen]) -> int:
    """How long operations have been under way without one of them ending on any host; 0: none is."""
    oldest_ns = max((part.snapshot.under_way_ns for part in parts), default=0)
    return min([oldest_ns, *(part.ended_ago_ns for part in parts if part.ended_ago_ns is not None)])


class FarUsage:
    """It promises what `Usage` does: clients and connections are read on their hosts, the server on its own."""

    def __init__(self, far: LoadHosts, take_used: Callable[[], dict[str, Used]]) -> None:
        self._far = far
        self._take_used = take_used
        server = {"server": ("server_used", far.key)} if far.planned.path.served else {}
        self._of_engine: dict[str, tuple[Any, ...]] = {**server, "backup": ("backups_used",)}
        self._own = ProcessUse(lambda: [os.getpid()], own=True)

    def since(self) -> tuple[dict[str, ProcessSecond], ConnectionsSecond | None]:
        """Clients on several hosts are also named one by one."""
        seen, engine = self._take_used(), self._far.engine_host
        clients = {f"client {host}": second for host, (second, _carried) in seen.items()}
        sides = clients if len(seen) > 1 else {}
        sides |= {"client": _sum(ProcessSecond, clients.values())}
        for side, words in self._of_engine.items():
            sides[side] = self._far.ask({engine: words}, may_miss=True).get(engine)
        sides["controller"] = self._own.since()
        carried = _sum(ConnectionsSecond, (second for _used, second in seen.values()))
        return {side: second for side, second in sides.items() if second}, carried


def over_time(parts: Sequence[Used]) -> Used:
    """What was used in several spans in a row: sums, but memory is what was held at the end."""
    used = [second for second, _carried in parts if second]
    processes = _sum(ProcessSecond, used)
    for name in ("memory_bytes", "file_bytes", "shared_bytes") if processes else ():
        setattr(processes, name, getattr(used[-1], name))
    return processes, _sum(ConnectionsSecond, (carried for _used, carried in parts))


def _sum(kind: type[Second], seconds: Iterable[Second | None]) -> Second | None:
    if not (parts := [second for second in seconds if second]):
        return None
    total = kind()
    for name in kind.__struct_fields__:
        known = [value for part in parts if (value := getattr(part, name)) is not None]
        setattr(total, name, sum(known) if known else None)
    return total
