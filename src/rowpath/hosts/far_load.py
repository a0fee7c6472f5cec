"""Client processes of one path on its hosts, as the controller sees them: one stage goes on over all of them."""

from __future__ import annotations

import contextlib
import functools
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from rowpath.engines.base import Backup, Instance
from rowpath.errors import RowpathError
from rowpath.execution.mixed_load.client_processes import ProcessUse, Seat
from rowpath.execution.mixed_load.durability import Ledger
from rowpath.execution.mixed_load.shared_counters import DONE, HISTOGRAMS, SUMS, WORKS, Snapshot
from rowpath.execution.prepared_phases import PreparedPhase, PreparedWorkload
from rowpath.execution.several_hosts import HostLost
from rowpath.execution.worker import Worker
from rowpath.hosts.far_worker import FarRunner, FarWorker, TogetherThere
from rowpath.hosts.load import GroupSeen, Opened, States, Used
from rowpath.journal.mixed_load_records import (
    AcknowledgedRecord,
    ConnectionsSecond,
    HostShare,
    HostsStartRecord,
    HostStart,
    ProcessSecond,
)
from rowpath.journal.records import ClockRecord, WorkerRecord
from rowpath.model.histogram import empty
from rowpath.planning import client_groups
from rowpath.planning.client_groups import GroupShare
from rowpath.planning.plan import PlannedPath, key_of
from rowpath.runners.process import RunnerFailure
from rowpath.runners.protocol import CountedFailure, GroupSpec, GroupTotal

LEAD_NS = 400_000_000  # the word to begin must reach every host before the begin: a call takes some milliseconds

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
    return Snapshot(at_ns=now_ns, under_way_ns=max((part.under_way_ns for part in parts), default=0), **added)


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


@dataclass(eq=False)
class FarProcesses(LoadHosts):
    """Its methods promise what those of `Processes` do, on several hosts.

    `listen` raises HostLost for a host that is gone; later calls leave it out.
    """

    lead_ns = LEAD_NS

    workers: list[Worker] = field(default_factory=list)
    seats: dict[str, Seat] = field(default_factory=dict)
    _spread: frozenset[str] = frozenset()  # groups on more hosts than one
    _runners: dict[tuple[str, int], FarRunner] = field(default_factory=dict)  # by host and number of the process
    _helped: tuple[str, ...] = ()  # hosts whose processes have helper threads
    _counters: FarCounters | None = None
    _totals: dict[str, dict[str, GroupTotal]] = field(default_factory=dict)  # by host, of the last stage
    _shares: dict[str, dict[str, GroupShare]] = field(default_factory=dict)  # by group, of the stage

    def open(self, _way: Mapping[str, Any]) -> list[WorkerRecord]:
        """Measure the clocks first."""
        self.read_clocks()
        shares = {group: self._of(group, count) for group, count in self.connections.items()}
        by_host: dict[str, dict[str, int]] = {host: {} for host in self.hosts}
        for group, on_hosts in shares.items():
            for host, share in on_hosts.items():
                by_host[host][group] = share.clients
        replies = self.ask({host: ("load_open", self.planned.path.id, by_host[host]) for host in self.hosts})
        records: list[WorkerRecord] = []
        for host in self.hosts:
            opened: Opened
            opened, numbers = replies[host]
            records += opened.records
            first = len(self.workers)
            for number, (worker_number, pid) in enumerate(numbers):
                there = TogetherThere(host, functools.partial(self._ask_one, host))
                far = FarWorker(self.planned, there, worker_number, pid)
                self._runners[host, number] = far.runner
                self.workers.append(far)
            for group, number in opened.seats.items():
                self.seats.setdefault(group, Seat(self.workers[first + number], 0, first + number))
        self._helped = tuple(host for host, (opened, _numbers) in replies.items() if opened.has_helpers)
        self._spread = frozenset(group for group, share in shares.items() if len(share) > 1)
        return records

    def _ask_one(self, host: str, *words: Any) -> Any:
        return self.ask({host: words})[host]

    def prepare(self, group: str, work: PreparedPhase) -> None:
        """Each host takes its own part of the parameter rows."""
        hosts, shares = self.groups[group], self._of(group, self.connections[group])
        numbered = {host: (number, len(hosts)) for number, host in enumerate(hosts) if host in shares}
        self.ask({host: ("load", "prepare", group, work.name, *part) for host, part in numbered.items()})

    def prepare_backup(self, group: str, number: int, name: str, backup: Backup) -> None:
        """The group's host prepares it."""
        self.groups[name] = self.groups[group]
        self.ask_load(self.groups[group], "prepare_backup", group, number, name, backup)

    def kill_engine(self) -> tuple[list[int], int]:
        """The engine's host kills it; the instant is of our clock."""
        pids, at_ns = self._ask_one(self.engine_host, "engine_kill", self.key)
        return pids, at_ns - self.offset_ns(self.engine_host)

    def pids(self) -> list[int]:
        return []

    def helpers_cpu_ns(self) -> int | None:
        """The hosts are read side by side."""
        return sum(self.ask_load(self._helped, "helpers_cpu_ns").values()) if self._helped else None

    def take_cores(self) -> None:
        """The hosts work side by side."""
        self.ask_load(self.hosts, "take_cores")

    def spin_ns(self) -> int:
        """Each host computes its own."""
        return 0

    def counters(self, counted: Sequence[tuple[str, int, int]]) -> FarCounters:
        self._counters = FarCounters(self, counted)
        return self._counters

    def ready(self, counters: FarCounters, requested: Iterable[tuple[int, GroupSpec]]) -> None:
        self._totals, self._shares = {}, {}
        specs: dict[str, list[GroupSpec]] = {host: [] for host in self.hosts}
        for _process, spec in requested:
            shares = self._shares[spec.name] = self._of(spec.name, spec.clients, spec.rate_per_s, spec.seed)
            counters.later_ns |= {
                (spec.name, host): client_groups.later_ns(spec.pacing, spec.rate_per_s, number)
                for number, host in enumerate(self.groups[spec.name])
            }
            for host, share in shares.items():
                part = {"clients": share.clients, "rate_per_s": share.rate_per_s, "seed": share.seed}
                specs[host].append(msgspec.structs.replace(spec, first_client=0, **part))
        counted = frozenset(name for name, rows in counters.rows.items() if rows)
        counters.hosts = tuple(host for host in self.hosts if specs[host])
        self.ask({host: ("load", "ready", specs[host], counted) for host in counters.hosts})

    def listen(self) -> None:
        server = self.planned.path.server_host
        requests: dict[str, tuple[Any, ...]] = dict.fromkeys(self.hosts, ("load", "states"))
        if server not in ("none", *self.hosts):
            requests[server] = ("reaches", self.hosts)
        replies = self.ask(requests, may_miss=True)
        for host in self.hosts:
            if host in replies:
                states: States = replies[host]
                for number, text in states.lost.items():
                    self._runners[host, number].ended(text)
                if self._counters is not None:
                    self._counters.done[host] = states.done
        self._raise_if_lost()

    def ended(self, timeout_s: float) -> dict[str, GroupTotal]:
        """Instants are of our clock, but every span is one host's."""
        if self._counters is None:
            return {}
        self._totals = self.ask_load(self._counters.hosts, "totals", timeout_s, may_miss=True)
        names = dict.fromkeys(name for totals in self._totals.values() for name in totals)
        complete = [name for name in names if all(name in self._totals.get(host, {}) for host in self._shares[name])]
        return {name: self._joined(name) for name in complete}

    def _joined(self, name: str) -> GroupTotal:
        parts = {host: totals[name] for host, totals in self._totals.items() if name in totals}
        begun = {host: part.begun_ns - self.offset_ns(host) for host, part in parts.items() if part.begun_ns}
        begun_ns = min(begun.values(), default=0)
        longest_ns = max((part.ended_ns - part.begun_ns for part in parts.values() if part.begun_ns), default=0)
        sums = ("operations", "failed", "rows", "values", "cpu_ns")
        return GroupTotal(
            name=name,
            failures=_failures(parts.values()),
            touch=f"{sum(int(part.touch, 16) for part in parts.values()) % (1 << 64):016x}",
            begun_ns=begun_ns,
            ended_ns=begun_ns + max(0, longest_ns),
            clients=[client for part in parts.values() for client in part.clients],
            **{field: sum(getattr(part, field) for part in parts.values()) for field in sums},
        )

    def before_stage(self) -> None:
        self.read_clocks()

    def host_shares(self, group: str) -> list[HostShare]:
        host_shares = []
        for host, share in self._shares.get(group, {}).items():
            total = self._totals.get(host, {}).get(group)
            seen = self._counters.last.get(host, {}).get(group) if self._counters is not None else None
            host_share = HostShare(host, share.clients, lost="" if total is not None else self.lost.get(host, ""))
            if counts := total or (seen and seen.snapshot):
                host_share.operations, host_share.failed = counts.operations, counts.failed
            host_shares.append(host_share)
        return host_shares

    def start_record(self) -> HostsStartRecord | None:
        """Clocks are measured again."""
        if self._counters is None:
            return None
        measured = self.measured_clocks(tuple(host for host in self.hosts if host not in self.lost))
        after = {host: clock for host, clock in measured.items() if isinstance(clock, ClockRecord)}
        starts = []
        for (group, host), begin_ns in self._counters.begins.items():
            total = self._totals.get(host, {}).get(group)
            late_ns = total.begun_ns - begin_ns if total is not None and total.begun_ns else None
            start = HostStart(host, group, self._counters.leads.get((group, host), 0), late_ns)
            start.offset_ns, start.bound_ns = self.clocks[host].offset_ns, self.clocks[host].bound_ns
            if host in after:
                start.offset_after_ns, start.bound_after_ns = after[host].offset_ns, after[host].bound_ns
            starts.append(start)
        return HostsStartRecord(starts=starts)

    def usage(self, _backup_pids: object, _port: int) -> FarUsage:
        """The hosts read it."""
        return FarUsage(self, lambda: self._counters.take_used() if self._counters is not None else {})

    def check_ledger(
        self, _prepared_workload: PreparedWorkload, work: PreparedPhase, ledger: Ledger, _folder: Path
    ) -> AcknowledgedRecord:
        """The first host checks it."""
        first = self.hosts[:1]
        record: AcknowledgedRecord = self.ask_load(first, "check_ledger", work.name, ledger)[first[0]]
        return record

    def kill(self, group: str) -> None:
        """End the processes of a group that does not end by itself."""
        self.ask_load(self._shares.get(group) or self.groups[group], "kill", group, may_miss=True)

    def lives(self, group: str) -> bool:
        """Whether a process of the group does."""
        if group not in self._spread:
            return self.seats[group].worker.runner.alive()
        return any(runner.alive() for (host, _), runner in self._runners.items() if host in self.groups[group])

    def close(self) -> None:
        with contextlib.suppress(HostLost, RowpathError, RunnerFailure):
            self.ask(dict.fromkeys(reversed(self.hosts), ("load_close",)), may_miss=True)


def _failures(parts: Iterable[GroupTotal]) -> list[CountedFailure]:
    counted: dict[tuple[str, str], CountedFailure] = {}
    for failure in [failure for total in parts for failure in total.failures]:
        known = counted.setdefault((failure.kind, failure.code), failure)
        known.count += failure.count if known is not failure else 0
    return sorted(counted.values(), key=lambda failure: -failure.count)
