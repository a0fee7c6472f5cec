"""The client processes of one path, and which of their connections are whose: one for all groups, or one for each."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rowpath.engines.base import Backup, Instance
from rowpath.execution import quiet
from rowpath.execution.mixed_load import acknowledged_writes, crash_recovery
from rowpath.execution.mixed_load.acknowledged_writes import Ledger
from rowpath.execution.mixed_load.backup_action import statement_work
from rowpath.execution.mixed_load.resource_usage import Pids, Usage
from rowpath.execution.mixed_load.shared_counters import SharedCounters
from rowpath.execution.prepared_phases import PreparedPhase, PreparedWorkload
from rowpath.execution.worker import Worker
from rowpath.journal.mixed_load_records import AcknowledgedRecord, HostShare, HostsStartRecord
from rowpath.journal.records import WorkerRecord
from rowpath.model.grouping import grouped
from rowpath.planning.plan import PlannedPath
from rowpath.runners.process import RunnerFailure
from rowpath.runners.protocol import GroupSpec, GroupTotal

SPIN_NS = (
    50_000  # an open-loop client is awake so long before an operation is due, where that takes no core from others
)
LEAD_NS = 20_000_000  # from the words to begin to the begin: waiting clients look for them once a millisecond


@dataclass(frozen=True)
class Seat:
    """Connections of one process that are one group's."""

    worker: Worker
    first_client: int
    process: int  # its number


class Processes:
    """The processes of one path, connected; `close` ends them on every way out."""

    lead_ns = LEAD_NS

    def __init__(
        self,
        planned: PlannedPath,
        instance: Instance,
        connections: Mapping[str, int],
        *,
        log: Callable[[str], None],
        timeout_s: float,
    ) -> None:
        """`connections`: how many each group needs. Starts the processes. Errors: RunnerFailure."""
        self.planned = planned
        self.instance = instance
        self.seats: dict[str, Seat] = {}
        self.workers: list[Worker] = []
        self._at_work: list[Worker] = []
        self._prepared: set[tuple[int, str]] = set()
        own = planned.path.processes == "own"
        try:
            for share in [{name: count} for name, count in connections.items()] if own else [dict(connections)]:
                total = sum(share.values())
                worker = Worker(planned, instance, log=log, timeout_s=timeout_s, clients=total, pinned=True)
                first = 0
                for name, count in share.items():
                    self.seats[name] = Seat(worker, first, len(self.workers))
                    first += count
                self.workers.append(worker)
        except BaseException:
            self.close()
            raise

    def open(self, way: Mapping[str, Any]) -> list[WorkerRecord]:
        """Connect them all; as the journal has them, without set and time. Errors: RunnerFailure."""
        records = [worker.open(**way) for worker in self.workers]
        for worker in self.workers:
            worker.notice_server()
        return records

    def prepare(self, group: str, work: PreparedPhase) -> None:
        """Prepare a phase in the process of that group, unless it is. Errors: RunnerFailure."""
        seat = self.seats[group]
        if (seat.process, work.name) not in self._prepared:
            seat.worker.prepare(work)
            self._prepared.add((seat.process, work.name))

    def pids(self) -> list[int]:
        """Every client process."""
        return [pid for worker in self.workers for pid in worker.pids]

    def helpers_cpu_ns(self) -> int | None:
        """CPU time so far of the processes' helper threads; None where they have none."""
        return quiet.helpers_cpu_ns(self.workers)

    def take_cores(self) -> None:
        """Bring every process to the cores on which the path is measured."""
        for worker in self.workers:
            worker.take_cores()

    def counters(self, counted: Sequence[tuple[str, int, int]]) -> SharedCounters:
        """Shared counters of one stage: as `SharedCounters` takes them."""
        return SharedCounters(counted)

    def listen(self) -> None:
        """Notice what became of the processes. Errors: HostLost."""
        for worker in self.workers:
            worker.runner.listen()

    def usage(self, backup_pids: Pids, port: int) -> Usage:
        """What the processes of a stage use, as `Usage` has it."""
        return Usage(self.pids, self.instance.pids, backup_pids, port)

    def hosts_of(self, _group: str, _clients: int) -> dict[str, int]:
        """The number of the group's clients by host; empty: all are here."""
        return {}

    def host_shares(self, _group: str) -> list[HostShare]:
        """What each host did of the group in the stage that has ended; none: all was done here."""
        return []

    def before_stage(self) -> None:
        """Get ready for a stage that is journalled."""

    def start_record(self) -> HostsStartRecord | None:
        """How the hosts of the stage that has ended began together; None: there was only this machine."""
        return None

    def prepare_backup(self, group: str, _number: int, name: str, backup: Backup) -> None:
        """Make the statement of a backup ready, by that name, in the process of that group. Errors: RunnerFailure."""
        worker = self.seats[group].worker
        worker.run(list(backup.before))
        worker.prepare(statement_work(name, backup))

    def kill_engine(self) -> tuple[list[int], int]:
        """Kill the engine's processes: their pids, and when. Errors: HostLost."""
        return crash_recovery.kill(self.instance, self.workers)

    def check_ledger(
        self, prepared_workload: PreparedWorkload, work: PreparedPhase, ledger: Ledger, folder: Path
    ) -> AcknowledgedRecord:
        """Check the ledger through the first process. Errors: RunnerFailure."""
        return acknowledged_writes.check(self.workers[0], prepared_workload, work, ledger, folder)

    def ready(self, shared_counters: SharedCounters, requested: Iterable[tuple[int, GroupSpec]]) -> None:
        """Let every process make its groups ready: (process, request). Errors: RunnerFailure."""
        for process, share in grouped(requested, lambda each: each[0]).items():
            self.workers[process].groups(shared_counters.file, [spec for _process, spec in share])
            self._at_work.append(self.workers[process])

    def ended(self, timeout_s: float) -> dict[str, GroupTotal]:
        """What each group did since `ready`, by its name, from those processes that still reply."""
        totals: dict[str, GroupTotal] = {}
        for worker in self._at_work:
            with contextlib.suppress(RunnerFailure):
                totals |= {total.name: total for total in worker.groups_end(timeout_s)}
        self._at_work.clear()
        return totals

    def close(self) -> None:
        """Close the connections and end the processes, the last first; never raises."""
        for worker in reversed(self.workers):
            worker.close()

    def spin_ns(self) -> int:
        """How long before an operation is due an open-loop client may be awake."""
        path = self.planned.path
        crowded = path.placement == "same" if path.served else len(self.seats) > 1
        return 0 if crowded else SPIN_NS
