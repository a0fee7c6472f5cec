"""Shared counters of one stage on all its hosts, and what processes there use, as the controller sees them."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from rowpath.errors import RowpathError
from rowpath.execution.mixed_load.resource_usage import ProcessUse
from rowpath.execution.mixed_load.shared_counters import DONE, WORKS, Snapshot
from rowpath.execution.several_hosts import HostLost
from rowpath.hosts.load import Seen, Used
from rowpath.hosts.load_hosts import LoadHosts
from rowpath.journal.mixed_load_records import ConnectionsSecond, ProcessSecond
from rowpath.model.histogram import empty
from rowpath.planning.plan import Key, key_of
from rowpath.runners.process import RunnerFailure
from rowpath.runners.protocol import GroupSpec

Counts = NDArray[np.uint32]
Second = TypeVar("Second", ProcessSecond, ConnectionsSecond)


class FarCounters:
    """Its methods promise what those of `SharedCounters` do, for all hosts together; ages are each host's own."""

    def __init__(self, far: LoadHosts, counted: Sequence[tuple[str, int, int]]) -> None:
        self._far = far
        self.client_groups = {name: clients for name, clients, _rows in counted}
        self.rows = {name: rows for name, _clients, rows in counted}
        self.hosts: tuple[str, ...] = ()
        self.done: dict[str, dict[str, bool]] = {}  # by host and group
        self.last: dict[str, dict[str, Seen]] = {}  # by host and group
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
        return at_ns + max([0, *(-each[name] for each in left.values() if name in each)])

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
        found = self._far.ask({host: ("load", *words) for host, words in calls.items()}, may_miss=True)
        self.leads |= {(name, host): each for host, left in found.items() for name, each in left.items()}
        return found

    def states(self, name: str) -> list[int]:
        """One state for each host."""
        return [DONE if self.done.get(host, {}).get(name) else WORKS for host in self._hosts_of(name)]

    def _look(self, now_ns: int) -> None:
        if now_ns != self._seen_at_ns:
            self._seen_at_ns = now_ns
            for host, (groups, used) in self._far.ask_load(self.hosts, "look", may_miss=True).items():
                self.last[host] = groups
                self._used.setdefault(host, []).append(used)

    def _seen(self, name: str) -> list[Seen]:
        return [groups[name] for groups in self.last.values() if name in groups]

    def snapshot(self, name: str, now_ns: int) -> Snapshot:
        """A lost host counts as the last look saw it."""
        self._look(now_ns)
        return joined([each.snapshot for each in self._seen(name)], now_ns)

    def stall_ns(self, name: str, now_ns: int) -> int:
        self._look(now_ns)
        return stall_ns(self._seen(name))

    def take_used(self) -> dict[str, Used]:
        """What each host's clients used, by the looks since the last time."""
        found, self._used = self._used, {}
        return {host: over_time(parts) for host, parts in found.items()}

    def ended_ns(self, name: str) -> int:
        """When the group's last operation ended, by our clock, from the last look."""
        hosts = (host for host, groups in self.last.items() if name in groups and groups[name].ended_ns)
        return max((self.last[host][name].ended_ns - self._far.offset_ns(host) for host in hosts), default=0)

    def acknowledged(self, name: str) -> tuple[Counts, Counts]:
        known, doubtful = (np.zeros(self.rows[name], dtype=np.uint32) for _ in range(2))
        found = self._far.ask_load(self._hosts_of(name), "acknowledged", name, may_miss=True)
        for first, knows, doubts in found.values():
            known[first : first + len(knows)] += knows
            doubtful[first : first + len(doubts)] += doubts
        return known, doubtful

    def close(self) -> None:
        with contextlib.suppress(HostLost, RowpathError, RunnerFailure):
            self._far.ask_load(self.hosts, "end_stage", may_miss=True)


def joined(parts: Sequence[Snapshot], now_ns: int) -> Snapshot:
    """One group on several hosts at one instant."""
    if not parts:
        return Snapshot(now_ns, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, empty(), empty(), empty())
    sums = ("operations", "failed", "service_ns", "latency_ns", "rows", "arrivals", "working", "done", "gave_up")
    added = {name: sum(getattr(each, name) for each in parts) for name in sums}
    histograms = {
        name: np.sum([getattr(each, name) for each in parts], axis=0) for name in ("service", "latency", "lateness")
    }
    under_way_ns = max(each.under_way_ns for each in parts)
    return Snapshot(at_ns=now_ns, under_way_ns=under_way_ns, **added, **histograms)


def stall_ns(parts: Sequence[Seen]) -> int:
    """How long operations have been under way without one of them ending on any host; 0: none is."""
    oldest_ns = max((each.snapshot.under_way_ns for each in parts), default=0)
    return min([oldest_ns, *(each.ended_ago_ns for each in parts if each.ended_ago_ns is not None)])


class FarUsage:
    """It promises what `Usage` does: clients and connections are read on their hosts, the server on its own."""

    def __init__(self, far: LoadHosts, take_used: Callable[[], dict[str, Used]]) -> None:
        self._far = far
        self._take_used = take_used
        self._server: tuple[str, Key] | None = None
        if far.planned.path.served:
            self._server = far.planned.path.server_host, key_of(far.planned.path)
        self._own = ProcessUse(lambda: [os.getpid()], own=True)

    def since(self) -> tuple[dict[str, ProcessSecond], ConnectionsSecond | None]:
        """Clients on several hosts are also named one by one."""
        seen = self._take_used()
        clients = {host: each for host, (each, _carried) in seen.items()}
        carried = [each for _used, each in seen.values() if each]
        used = {f"client {host}": each for host, each in clients.items() if each} if len(clients) > 1 else {}
        if several := [each for each in clients.values() if each]:
            used["client"] = _sum(ProcessSecond, several)
        if self._server is not None:
            host, key = self._server
            server = self._far.ask({host: ("server_used", key)}, may_miss=True).get(host)
            used |= {"server": server} if server else {}
        engine = self._far.engine_host
        backup = self._far.ask({engine: ("backups_used",)}, may_miss=True).get(engine)
        used |= {"backup": backup} if backup else {}
        own = self._own.since()
        return used | ({"controller": own} if own else {}), _sum(ConnectionsSecond, carried) if carried else None


def over_time(parts: Sequence[Used]) -> Used:
    """What was used in several spans in a row: sums, but memory is what was held at the end."""
    carried = [each for _used, each in parts if each]
    used = [each for each, _carried in parts if each]
    found = _sum(ProcessSecond, used) if used else None
    for name in ("memory_bytes", "file_bytes", "shared_bytes") if found else ():
        setattr(found, name, getattr(used[-1], name))
    return found, _sum(ConnectionsSecond, carried) if carried else None


def _sum(kind: type[Second], parts: Sequence[Second]) -> Second:
    found = kind()
    for name in kind.__struct_fields__:
        known = [value for each in parts if (value := getattr(each, name)) is not None]
        setattr(found, name, sum(known) if known else None)
    return found
