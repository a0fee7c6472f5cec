"""Client processes of one path on its hosts, as the controller sees them: one stage goes on over all of them."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from rowpath.engines.base import Backup, Instance
from rowpath.errors import RowpathError
from rowpath.execution.mixed_load.acknowledged_writes import Ledger
from rowpath.execution.mixed_load.client_processes import Seat
from rowpath.execution.prepared_phases import PreparedPhase, PreparedWorkload
from rowpath.execution.several_hosts import HostLost
from rowpath.execution.worker import Worker
from rowpath.hosts.far_counters import FarCounters, FarUsage
from rowpath.hosts.far_worker import FarFiles, FarRunner, FarWorker, TogetherThere
from rowpath.hosts.load import Opened, States, Used
from rowpath.hosts.load_hosts import AskEach, Clocks, LoadHosts
from rowpath.journal.mixed_load_records import (
    AcknowledgedRecord,
    HostShare,
    HostsStartRecord,
    HostStart,
)
from rowpath.journal.records import ClockRecord, WorkerRecord
from rowpath.planning import client_groups
from rowpath.planning.client_groups import GroupShare
from rowpath.planning.plan import PlannedPath
from rowpath.runners.process import RunnerFailure
from rowpath.runners.protocol import CountedFailure, GroupSpec, GroupTotal

LEAD_NS = 400_000_000  # the word to begin must reach every host before the begin: a call takes some milliseconds
Counts = NDArray[np.uint32]


class FarProcesses(LoadHosts):
    """Its methods promise what those of `Processes` do, on several hosts.

    `listen` raises HostLost for a host that is gone; later calls leave it out.
    """

    lead_ns = LEAD_NS

    def __init__(
        self,
        planned: PlannedPath,
        instance: Instance,
        connections: Mapping[str, int],
        hosts: Mapping[str, tuple[str, ...]],
        *,
        ask_each: AskEach,
        clocks: Clocks,
    ) -> None:
        """`hosts`: of each group; `clocks`: measures those of hosts now; why one could not be measured."""
        super().__init__(planned, connections, hosts, ask_each=ask_each, clocks=clocks)
        self.instance = instance
        self.workers: list[Worker] = []
        self.seats: dict[str, Seat] = {}
        self._connections = connections
        self._runners: dict[tuple[str, int], FarRunner] = {}  # by host and number of the process
        self._helped: tuple[str, ...] = ()  # hosts whose processes have helper threads
        self._counters: FarCounters | None = None
        self._totals: dict[str, dict[str, GroupTotal]] = {}  # by host, of the last stage
        self._shares: dict[str, dict[str, GroupShare]] = {}  # by group, of the stage

    def open(self, _way: Mapping[str, Any]) -> list[WorkerRecord]:
        """Measure the clocks first."""
        self.read_clocks()
        shares = {group: self._of(group, count) for group, count in self._connections.items()}
        by_host = {
            host: {group: each[host].clients for group, each in shares.items() if host in each} for host in self.hosts
        }
        found = self.ask({host: ("load_open", self.planned.path.id, by_host[host]) for host in self.hosts})
        records: list[WorkerRecord] = []
        for host in self.hosts:
            opened: Opened
            opened, numbers = found[host]
            records += opened.records
            first = len(self.workers)
            for number, (worker_number, pid) in enumerate(numbers):
                far = LoadWorker(self, host, worker_number, pid)
                self._runners[host, number] = far.runner
                self.workers.append(cast(Worker, far))
            for group, number in opened.seats.items():
                self.seats.setdefault(group, Seat(self.workers[first + number], 0, first + number))
        self._helped = tuple(host for host, (opened, _numbers) in found.items() if opened.has_helpers)
        for group, seat in self.seats.items():
            several = cast(Worker, _Several(self, group))
            self.seats[group] = Seat(several, 0, seat.process) if len(shares[group]) > 1 else seat
        return records

    def prepare(self, group: str, work: PreparedPhase) -> None:
        """Each host takes its own part of the parameter rows."""
        hosts, shares = self._groups[group], self._of(group, self._connections[group])
        numbered = {host: (number, len(hosts)) for number, host in enumerate(hosts) if host in shares}
        self.ask({host: ("load", "prepare", group, work.name, *part) for host, part in numbered.items()})

    def prepare_backup(self, group: str, number: int, name: str, backup: Backup) -> None:
        """The group's host prepares it."""
        self._groups[name] = self._groups[group]
        self.ask_load(self._groups[group], "prepare_backup", group, number, name, backup)

    def kill_engine(self) -> tuple[list[int], int]:
        """The engine's host kills it; the instant is of our clock."""
        pids, at_ns = self.ask({self.engine_host: ("engine_kill", self._key)})[self.engine_host]
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
                for number, host in enumerate(self._groups[spec.name])
            }
            for host, share in shares.items():
                made = GroupSpec(spec.name, spec.phase, 0, share.clients, spec.pacing, 0, 0, 0)
                made.rate_per_s, made.seed = share.rate_per_s, share.seed
                made.operations, made.pause_ns = spec.operations, spec.pause_ns
                specs[host].append(made)
        counted = frozenset(name for name, rows in counters.rows.items() if rows)
        counters.hosts = tuple(host for host in self.hosts if specs[host])
        self.ask({host: ("load", "ready", specs[host], counted) for host in counters.hosts})

    def listen(self) -> None:
        server = self.planned.path.server_host
        requests: dict[str, tuple[Any, ...]] = dict.fromkeys(self.hosts, ("load", "states"))
        if server not in ("none", *self.hosts):
            requests[server] = ("reaches", self.hosts)
        found = self.ask(requests, may_miss=True)
        for host in self.hosts:
            if host in found:
                states: States = found[host]
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
        return {name: self._joined(name) for name in names if self._complete(name)}

    def _complete(self, name: str) -> bool:
        return all(name in self._totals.get(host, {}) for host in self._shares[name])

    def _joined(self, name: str) -> GroupTotal:
        parts = {host: totals[name] for host, totals in self._totals.items() if name in totals}
        begun = {host: each.begun_ns - self.offset_ns(host) for host, each in parts.items() if each.begun_ns}
        begun_ns = min(begun.values(), default=0)
        longest_ns = max((each.ended_ns - each.begun_ns for each in parts.values() if each.begun_ns), default=0)
        cpu = [each.cpu_ns for each in parts.values()]
        return GroupTotal(
            name=name,
            operations=sum(each.operations for each in parts.values()),
            failed=sum(each.failed for each in parts.values()),
            failures=_failures(parts.values()),
            rows=sum(each.rows for each in parts.values()),
            values=sum(each.values for each in parts.values()),
            touch=f"{sum(int(each.touch, 16) for each in parts.values()) % (1 << 64):016x}",
            begun_ns=begun_ns,
            ended_ns=begun_ns + max(0, longest_ns),
            cpu_ns=sum(cpu),
            clients=[client for each in parts.values() for client in each.clients],
        )

    def before_stage(self) -> None:
        self.read_clocks()

    def host_shares(self, group: str) -> list[HostShare]:
        found = []
        for host, share in self._shares.get(group, {}).items():
            total = self._totals.get(host, {}).get(group)
            seen = self._counters.last.get(host, {}).get(group) if self._counters is not None else None
            each = HostShare(host, share.clients, lost="" if total is not None else self.lost.get(host, ""))
            if total is not None:
                each.operations, each.failed = total.operations, total.failed
            elif seen is not None:
                each.operations, each.failed = seen.snapshot.operations, seen.snapshot.failed
            found.append(each)
        return found

    def start_record(self) -> HostsStartRecord | None:
        """Clocks are measured again."""
        if self._counters is None:
            return None
        before, measured = self.clocks, self._clocks(tuple(host for host in self.hosts if host not in self.lost))
        after = {host: each for host, each in measured.items() if isinstance(each, ClockRecord)}
        starts = []
        for (group, host), begin_ns in self._counters.begins.items():
            total = self._totals.get(host, {}).get(group)
            late_ns = total.begun_ns - begin_ns if total is not None and total.begun_ns else None
            start = HostStart(host, group, self._counters.leads.get((group, host), 0), late_ns)
            start.offset_ns, start.bound_ns = before[host].offset_ns, before[host].bound_ns
            if host in after:
                start.offset_after_ns, start.bound_after_ns = after[host].offset_ns, after[host].bound_ns
            starts.append(start)
        return HostsStartRecord(starts=starts)

    def taken_used(self) -> dict[str, Used]:
        """What each host's clients used since the last call; empty without a stage."""
        return self._counters.take_used() if self._counters is not None else {}

    def usage(self, _backup_pids: object, _port: int) -> FarUsage:
        """The hosts read it."""
        return FarUsage(self, self.taken_used)

    def check_ledger(
        self, _prepared_workload: PreparedWorkload, work: PreparedPhase, ledger: Ledger, _folder: Path
    ) -> AcknowledgedRecord:
        """The first host checks it."""
        first = self.hosts[:1]
        record: AcknowledgedRecord = self.ask_load(first, "check_ledger", work.name, ledger)[first[0]]
        return record

    def kill(self, group: str) -> None:
        """End the processes of a group that does not end by itself."""
        self.ask_load(self._shares[group], "kill", group, may_miss=True)

    def lives(self, group: str) -> bool:
        """Whether a process of the group does."""
        alive = (self._runners[key].alive() for key in self._runners if key[0] in self._groups[group])
        return any(alive)

    def close(self) -> None:
        with contextlib.suppress(HostLost, RowpathError, RunnerFailure):
            self.ask(dict.fromkeys(reversed(self.hosts), ("load_close",)), may_miss=True)


def _failures(parts: Iterable[GroupTotal]) -> list[CountedFailure]:
    found: dict[tuple[str, str], CountedFailure] = {}
    for each in (failure for total in parts for failure in total.failures):
        known = found.get((each.kind, each.code))
        if known is None:
            found[each.kind, each.code] = each
        else:
            known.count += each.count
    return sorted(found.values(), key=lambda each: -each.count)


class LoadWorker(FarWorker):
    """A client process on a host, started and connected there."""

    def __init__(self, far: FarProcesses, host: str, number: int, pid: int) -> None:
        self.planned = far.planned
        self.together = TogetherThere(host, lambda *words: far.ask({host: words})[host])
        self.number, self.warmed = number, False
        self.runner = FarRunner(pid)
        self.measured_cpus = ()
        self.instance = FarFiles(self)
        self.clients, self.alone = self.planned.path.clients, not self.planned.path.served


class _Several:
    """The processes of one group on several hosts, where a stage asks for the group's process."""

    def __init__(self, far: FarProcesses, group: str) -> None:
        self.runner = self
        self._far = far
        self._group = group

    def alive(self) -> bool:
        """Whether one of them is."""
        return self._far.lives(self._group)

    def kill(self) -> None:
        """End them."""
        self._far.kill(self._group)
