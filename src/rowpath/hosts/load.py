"""What one host does of a path's client groups: its client processes, and the shared counters of a stage."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from rowpath.engines.base import Backup, Instance
from rowpath.execution.mixed_load import durability
from rowpath.execution.mixed_load.backups import statement_work
from rowpath.execution.mixed_load.client_processes import Processes, ProcessUse, Seat
from rowpath.execution.mixed_load.durability import Ledger
from rowpath.execution.mixed_load.shared_counters import DONE, HISTOGRAMS, SharedCounters, Snapshot
from rowpath.execution.prepared_phases import PreparedPhase, PreparedWorkload
from rowpath.execution.worker import Worker
from rowpath.journal.mixed_load_records import AcknowledgedRecord, ConnectionsSecond, ProcessSecond
from rowpath.journal.records import WorkerRecord
from rowpath.machine.counters.connections import Growth
from rowpath.model import histogram
from rowpath.model.workload import PhaseName
from rowpath.planning.plan import PlannedPath
from rowpath.runners.protocol import GroupSpec, GroupTotal

Counts = NDArray[np.uint32]
Used = tuple[ProcessSecond | None, ConnectionsSecond | None]  # by processes (None: none lives), by TCP (None: no TCP)


@dataclass(frozen=True)
class Opened:
    """Connected processes: their records, the process of each group, and whether helper threads take part in one."""

    records: list[WorkerRecord]
    seats: dict[str, int]
    has_helpers: bool


@dataclass(frozen=True)
class States:
    """Whether all clients of a group here are done; why a process is gone, by its number."""

    done: dict[str, bool]
    lost: dict[int, str]


@dataclass(frozen=True)
class GroupSeen:
    """A group here at one instant; age and instant of its last end (None, 0: none has ended), by this host's clock."""

    snapshot: Snapshot
    ended_ago_ns: int | None
    ended_ns: int = 0

    @override
    def __reduce__(self) -> tuple[Any, ...]:
        """Histograms cross between hosts without their empty buckets, which are most of 175 kB."""
        packed = {name: histogram.pack(getattr(self.snapshot, name)) for name in HISTOGRAMS}
        return _seen, (vars(self.snapshot) | packed, self.ended_ago_ns, self.ended_ns)


def _seen(crossed: dict[str, Any], ended_ago_ns: int | None, ended_ns: int) -> GroupSeen:
    whole = {name: histogram.unpack(crossed[name]) for name in HISTOGRAMS}
    return GroupSeen(Snapshot(**crossed | whole), ended_ago_ns, ended_ns)


class HostLoad:
    """Client processes of one path on this host; `close` ends them. What it does not have, its `processes` have."""

    def __init__(
        self,
        planned: PlannedPath,
        instance: Instance,
        connections: Mapping[str, int],
        works: Mapping[str, PreparedWorkload],
        folder: Path,
        **how: Any,
    ) -> None:
        """`connections`: how many each group needs here; `how`: as `Processes` has it. Errors: RunnerFailure."""
        self.processes = Processes(planned, instance, connections, **how)
        self._works = works
        self._folder = folder
        self._prepared: dict[str, PreparedPhase] = {}  # by group
        self._seats: dict[str, Seat] = {}  # of backups that are statements, by name
        self._counters: SharedCounters | None = None
        self._use = ProcessUse(self.processes.pids)
        options = instance.options(planned.path) if planned.path.transport == "tcp" else {}
        self._growth = Growth(options["port"], options["host"]) if options else None

    @property
    def workers(self) -> list[Worker]:
        """The processes."""
        return self.processes.workers

    def open(self) -> Opened:
        """Connect them all."""
        records = self.processes.open({})
        seats = {name: seat.process for name, seat in self.processes.seats.items()}
        return Opened(records, seats, any(worker.has_helpers for worker in self.workers))

    def prepare(self, group: str, name: str, number: int, parts: int) -> None:
        """Prepare a phase for that group: the part with that number of its parameter rows."""
        work = self._prepared[group] = self._work(name).part(number, parts)
        self.processes.prepare(group, work)

    def prepare_backup(self, group: str, number: int, name: str, backup: Backup) -> None:
        """Make a backup's statement ready: a group of one client by itself."""
        self.processes.prepare_backup(group, number, name, backup)
        seat = self.processes.seats[group]
        self._seats[name] = Seat(seat.worker, seat.first_client + number - 1, seat.process)
        self._prepared[name] = statement_work(name, backup)

    def _seat(self, name: str) -> Seat:
        return self._seats.get(name) or self.processes.seats[name]

    def _work(self, name: str) -> PreparedPhase:
        return self._works[PhaseName.of(name).workload].phases[name]

    def ready(self, specs: list[GroupSpec], counted: frozenset[str]) -> None:
        """Let clients wait for a stage; offsets are ours. `counted`: groups whose acknowledged writes are kept."""
        self.end_stage()
        rows = {name: self._prepared[name].parameter_count if name in counted else 0 for name in self._prepared}
        counters = self._counters = SharedCounters(
            [(request.name, request.clients, rows[request.name]) for request in specs]
        )
        requested = []
        for request in specs:
            seat = self._seat(request.name)
            spec = counters.spec(request.name, self._prepared[request.name].name, seat.first_client)
            spec.pacing, spec.rate_per_s, spec.seed = request.pacing, request.rate_per_s, request.seed
            spec.operations, spec.pause_ns = request.operations, request.pause_ns
            spec.spin_ns = self.processes.spin_ns() if request.pacing != "closed" else 0
            requested.append((seat.process, spec))
        self.processes.ready(counters, requested)
        self._used()  # what was before is not the stage's

    def begin(self, at_ns: Mapping[str, int]) -> dict[str, int]:
        """Let groups begin at instants of our clock; how long before them each was let."""
        left = {}
        for name, begin_ns in at_ns.items():
            if name in self._stage.client_groups:
                self._stage.begin(name, begin_ns)
                left[name] = begin_ns - time.monotonic_ns()
        return left

    def set_instants(self, begin_ns: Mapping[str, int], end_ns: int) -> dict[str, int]:
        """Set when groups begin and when the stage ends, by our clock; how early each group got its begin."""
        self._stage.set_instants({}, end_ns)
        return self.begin(begin_ns)

    def states(self) -> States:
        """How far the groups are, and which processes are gone."""
        for worker in self.workers:
            worker.runner.listen()
        lost = {
            number: worker.runner.lost().text for number, worker in enumerate(self.workers) if not worker.runner.alive()
        }
        groups = self._counters.client_groups if self._counters else {}
        done = {
            name: self._seat(name).process in lost or all(state >= DONE for state in self._stage.states(name))
            for name in groups
        }
        return States(done, lost)

    def look(self) -> tuple[dict[str, GroupSeen], Used]:
        """Every group now, and what was used since the last time."""
        groups = {}
        for name in self._stage.client_groups:
            now_ns = time.monotonic_ns()
            ended_ns = self._stage.ended_ns(name)
            ended_ago_ns = now_ns - ended_ns if ended_ns else None
            groups[name] = GroupSeen(self._stage.snapshot(name, now_ns), ended_ago_ns, ended_ns)
        return groups, self._used()

    def acknowledged(self, name: str) -> tuple[int, Counts, Counts]:
        """The first of our parameter rows, then what `SharedCounters.acknowledged` returns."""
        return self._prepared[name].parameter_first, *self._stage.acknowledged(name)

    def totals(self, timeout_s: float) -> dict[str, GroupTotal]:
        """What each group did, in positions of the whole group's parameter rows."""
        totals = self.processes.ended(timeout_s)
        for name, total in totals.items():
            work = self._prepared[name]
            for client in total.clients:
                client.first += work.parameter_first // max(1, work.phase.rows_per_operation)
        return totals

    def _used(self) -> Used:
        bytes_ = self._growth.since() if self._growth else None
        return self._use.since(), ConnectionsSecond(*bytes_) if bytes_ else None

    def kill(self, group: str) -> None:
        """End the process of a group that does not end by itself."""
        self._seat(group).worker.runner.kill()

    def check_ledger(self, name: str, ledger: Ledger) -> AcknowledgedRecord:
        """Check a ledger through our first process."""
        workload = self._works[PhaseName.of(name).workload]
        return durability.check(self.workers[0], workload, self._work(name), ledger, self._folder)

    def end_stage(self) -> None:
        """Forget a stage's shared counters."""
        counters, self._counters = self._counters, None
        if counters is not None:
            counters.close()

    def close(self) -> None:
        """End the processes; never raises."""
        self.processes.close()
        with contextlib.suppress(OSError):
            self.end_stage()

    @property
    def _stage(self) -> SharedCounters:
        assert self._counters is not None
        return self._counters
