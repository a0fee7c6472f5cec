"""The client processes of one path: whose their connections are, and what they use in each second."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rowpath.engines.base import Backup, Instance
from rowpath.execution import in_turn
from rowpath.execution.mixed_load import durability
from rowpath.execution.mixed_load.backups import statement_work
from rowpath.execution.mixed_load.durability import Ledger
from rowpath.execution.mixed_load.shared_counters import SharedCounters
from rowpath.execution.prepared_phases import PreparedPhase, PreparedWorkload
from rowpath.execution.worker import Worker
from rowpath.journal import mixed_load_records as records
from rowpath.journal.records import WorkerRecord
from rowpath.machine.counters import cpu, disk, memory
from rowpath.machine.counters.connections import Growth
from rowpath.model.grouping import grouped
from rowpath.planning.plan import PlannedPath
from rowpath.runners.process import RunnerFailure
from rowpath.runners.protocol import GroupSpec, GroupTotal

Pids = Callable[[], list[int]]
SPIN_NS = 50_000  # an open-loop client is awake so long before an operation is due, where no core is shared
LEAD_NS = 20_000_000  # from the words to begin to the begin: waiting clients look for them once a millisecond


class ProcessUse:
    """What some processes used since the last look; they may be others by then."""

    def __init__(self, pids: Pids, own: bool = False) -> None:
        """`own`: this process, without those that it started and has seen end."""
        self._pids = pids
        self._own = own
        self._cpu_ns = 0
        self._disk: disk.Bytes | None = None
        self.since()

    def since(self) -> records.ProcessSecond | None:
        """CPU and disk of the time since, and what is resident now; None: none is alive.

        `memory_bytes` is the processes' own; what they map of files and share is beside it.
        """
        pids = self._pids()
        last_cpu_ns, last = self._cpu_ns, self._disk
        if self._own:
            self._cpu_ns, self._disk = cpu.process_ns(pids[0]) or 0, disk.of(pids[0], alone=True)
        else:
            self._cpu_ns, self._disk = cpu.total_ns(pids), disk.total(pids)
        held = memory.resident(pids)
        if held is None:
            return None
        now = self._disk
        # What ended in between without its parent's being among them would make a sum fall.
        return records.ProcessSecond(
            cpu_ns=max(0, self._cpu_ns - last_cpu_ns),
            memory_bytes=held.anonymous,
            file_bytes=held.file,
            shared_bytes=held.shared,
            read_bytes=max(0, now.read_bytes - last.read_bytes) if now and last else None,
            written_bytes=max(0, now.write_bytes - last.write_bytes) if now and last else None,
        )


class Usage:
    """The processes of one path with the connections between them."""

    def __init__(
        self, client_pids: Pids, server_pids: Pids, backup_pids: Pids, port: int, pooler_pids: Pids = list
    ) -> None:
        """`backup_pids`: of programs that make backups; `port`: of the server on 127.0.0.1, 0: no TCP."""
        sides = {"client": client_pids, "pooler": pooler_pids, "server": server_pids, "backup": backup_pids}
        self._sides = {name: ProcessUse(pids) for name, pids in sides.items()}
        self._sides["controller"] = ProcessUse(lambda: [os.getpid()], own=True)
        self._growth = Growth(port) if port else None

    def since(self) -> tuple[dict[str, records.ProcessSecond], records.ConnectionsSecond | None]:
        """What the processes of each side used, and what the connections carried (None: no TCP)."""
        used = {name: second for name, side in self._sides.items() if (second := side.since())}
        bytes_ = self._growth.since() if self._growth else None
        return used, records.ConnectionsSecond(*bytes_) if bytes_ else None


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
        workers: Sequence[Worker] = (),
        **how: Any,
    ) -> None:
        """`connections`: how many each group needs; `how`: log and time of a `Worker`. Errors: RunnerFailure.

        `workers`: those that are there already, instead of one or of one for each group.
        """
        self.planned = planned
        self.instance = instance
        self.seats: dict[str, Seat] = {}
        self.workers: list[Worker] = list(workers)
        self._at_work: list[Worker] = []
        self._prepared: set[tuple[int, str]] = set()
        own = planned.path.processes == "own"
        try:
            shares = [{name: count} for name, count in connections.items()] if own else [dict(connections)]
            for share in () if workers else shares:
                worker = Worker(planned, instance, clients=sum(share.values()), pinned=True, **how)
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
        opened = [worker.open(**way) for worker in self.workers]
        for worker in self.workers:
            worker.notice_server()
        return opened

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
        return in_turn.helpers_cpu_ns(self.workers)

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

    def lives(self, group: str) -> bool:
        """Whether a process of that group does."""
        return self.seats[group].worker.runner.alive()

    def kill(self, group: str) -> None:
        """End the process of a group that does not end by itself."""
        self.seats[group].worker.runner.kill()

    def usage(self, backup_pids: Pids, port: int) -> Usage:
        """What the processes of a stage use, as `Usage` has it."""
        return Usage(self.pids, self.instance.pids, backup_pids, port, self.workers[0].pooler_pids)

    def hosts_of(self, _group: str, _clients: int) -> dict[str, int]:
        """The number of the group's clients by host; empty: all are here."""
        return {}

    def host_shares(self, _group: str) -> list[records.HostShare]:
        """What each host did of the group in the stage that has ended; none: all was done here."""
        return []

    def before_stage(self) -> None:
        """Get ready for a stage that is journalled."""

    def start_record(self) -> records.HostsStartRecord | None:
        """How the hosts of the stage that has ended began together; None: there was only this machine."""
        return None

    def prepare_backup(self, group: str, _number: int, name: str, backup: Backup) -> None:
        """Make the statement of a backup ready, by that name, in the process of that group. Errors: RunnerFailure."""
        worker = self.seats[group].worker
        worker.run(list(backup.before))
        worker.prepare(statement_work(name, backup))

    def kill_engine(self) -> tuple[list[int], int]:
        """Kill the engine's processes: their pids, and when. Errors: HostLost."""
        return durability.kill(self.instance, self.workers)

    def check_ledger(
        self, prepared_workload: PreparedWorkload, work: PreparedPhase, ledger: Ledger, folder: Path
    ) -> records.AcknowledgedRecord:
        """Check the ledger through the first process. Errors: RunnerFailure."""
        return durability.check(self.workers[0], prepared_workload, work, ledger, folder)

    def ready(self, shared_counters: SharedCounters, requested: Iterable[tuple[int, GroupSpec]]) -> None:
        """Let every process make its groups ready: (process, request). Errors: RunnerFailure."""
        for process, share in grouped(requested, lambda request: request[0]).items():
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
