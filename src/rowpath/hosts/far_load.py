"""Client processes of one path on its hosts, as the controller sees them: one stage goes on over all of them."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from rowpath.engines.base import Backup
from rowpath.errors import RowpathError
from rowpath.execution.mixed_load.client_processes import Seat
from rowpath.execution.mixed_load.durability import Ledger
from rowpath.execution.prepared_phases import PreparedPhase, PreparedWorkload
from rowpath.execution.several_hosts import HostLost
from rowpath.execution.worker import Worker
from rowpath.hosts.far_counters import FarCounters, FarUsage, LoadHosts
from rowpath.hosts.far_worker import FarRunner, FarWorker, TogetherThere
from rowpath.hosts.load import Opened, States
from rowpath.journal.mixed_load_records import AcknowledgedRecord, HostShare, HostsStartRecord, HostStart
from rowpath.journal.records import ClockRecord, WorkerRecord
from rowpath.planning import client_groups
from rowpath.planning.client_groups import GroupShare
from rowpath.runners.process import RunnerFailure
from rowpath.runners.protocol import CountedFailure, GroupSpec, GroupTotal

LEAD_NS = 400_000_000  # the word to begin must reach every host before the begin: a call takes some milliseconds


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
