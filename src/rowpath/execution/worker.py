"""One worker: a fresh runner process on one path; it takes samples, with the collectors read around each."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import msgspec

from rowpath.engines import ENGINES
from rowpath.engines.base import External, Instance, Settled
from rowpath.errors import RowpathError
from rowpath.execution.prepared_phases import PreparedPhase
from rowpath.journal.records import MemoryRecord, SampleRecord, VerifyRecord, WorkerRecord
from rowpath.machine import cpus, processes
from rowpath.machine.counters import cpu, disk, memory, noise, run_queue
from rowpath.planning.plan import PlannedPath
from rowpath.runners import protocol
from rowpath.runners.manifest import command
from rowpath.runners.process import AnyReply, Runner, RunnerFailure

CLOSE_TIMEOUT_S = 10.0
ACCOUNTED_LEAST = 0.95  # of a window, by client and server CPU together, where they are on one core
WAIT_MOST = 0.02  # of a window, spent ready but not running for others' sake
FOREIGN_MOST = 0.05  # of the cores' time in a window, had by others, where client and server may use every core


@dataclass
class Measured:
    """A sample's reply with what the collectors saw around it."""

    reply: protocol.SampleReply
    client_cpu_ns: int | None
    server_cpu_ns: int | None
    wait_ns: int | None
    cpu_coverage: float | None  # share of the window that client and server CPU account for
    disturbed: str

    def record(self, regime: str, round_number: int, at_ns: int) -> SampleRecord:
        """As the journal has it; what it was compared to is not in it yet."""
        record = msgspec.convert(protocol.body(self.reply), SampleRecord)
        record.regime, record.round, record.at_ns = regime, round_number, at_ns
        record.client_cpu_ns, record.server_cpu_ns = self.client_cpu_ns, self.server_cpu_ns
        record.wait_ns, record.cpu_coverage, record.disturbed = self.wait_ns, self.cpu_coverage, self.disturbed
        return record


class Worker:
    """A living runner on its path, connected; every method that fails raises RunnerFailure."""

    def __init__(
        self,
        planned: PlannedPath,
        instance: Instance,
        *,
        log: Callable[[str], None],
        timeout_s: float,
        environment: dict[str, str] | None = None,
        clients: int = 0,
        runner: Runner | None = None,
    ) -> None:
        """`clients`: connections for groups at work at once; 0: as many as the path's coordinate says.

        `runner`: a process of the path's command without a connection, to use instead of a new one.
        """
        self.planned = planned
        self.instance = instance
        self.timeout_s = timeout_s
        self.cpus = cpus.client_cpus(planned.path.placement, planned.path.threads)
        self.clients = clients or planned.path.clients
        self.grouped = bool(clients)
        self.free = planned.path.placement == "free"
        self.alone = planned.path.deployment in ("embedded", "file", "none")
        if runner is None:
            start = command(planned.adapter, planned.path.version, planned.path)
            # Starting may use every core; what is measured is pinned once connected.
            runner = Runner.start(start, cpus.usable(), log, environment)
        self.runner = runner
        self._server_pids: list[int] = []
        self._client_pids = [self.runner.pid]
        self.connect_ns = 0
        self.warmed = False  # whether a phase of this process has been warmed up already

    def open(self, **overrides: Any) -> WorkerRecord:
        """Shake hands and connect; as the journal has it, without set, time and facts."""
        requires = (*(("clients",) if self.clients > 1 else ()), *(("client-groups",) if self.grouped else ()))
        hello = self.runner.hello(self.planned.adapter.driver, self.timeout_s, requires)
        options = self.planned.path.as_dict() | self.instance.options(self.planned.path) | overrides
        if self.grouped:
            options["clients"] = str(self.clients)
        reply = self._ask(protocol.Open, protocol.OpenReply, options=options)
        self.connect_ns = reply.connect_ns
        if self.clients > 1:  # each of them may be a process
            self._client_pids = [self.runner.pid, *processes.descendants(self.runner.pid)]
        self.free_helpers()
        return WorkerRecord(
            path_id=self.planned.path.id, pid=self.runner.pid, hello=protocol.body(hello), connect_ns=reply.connect_ns
        )

    @property
    def pids(self) -> list[int]:
        """The runner's processes."""
        return self._client_pids

    def free_helpers(self) -> None:
        """Pin the loop's thread; the runtime's others (compiler, collector) may use every core for now."""
        for pid in self._client_pids:
            processes.pin(pid, cpus.usable())
        processes.pin_thread(self.runner.loop_tid, self.cpus)

    def pin_all(self) -> None:
        """Pin every thread: from here on what the runtime does is the path's own cost."""
        for pid in self._client_pids:
            processes.pin(pid, self.cpus)

    def helpers_cpu_ns(self) -> int:
        """CPU time so far of the runtime's own threads and of the server: what may still be compiling."""
        others = run_queue.other_threads_cpu_ns(self.runner.pid, self.runner.loop_tid) or 0
        return others + cpu.total_ns(self._server_pids)

    def notice_server(self) -> None:
        """Learn which server processes exist now; between blocks, after connecting."""
        self._server_pids = self.instance.pids()

    def prepare(self, work: PreparedPhase) -> int:
        """Prepare a phase; what it took, in ns."""
        spec = protocol.PhaseSpec(
            name=work.name,
            kind=work.phase.kind,
            sql=work.sql,
            table=work.phase.table or work.phase.after,
            scan=work.phase.scan,
            columns=work.columns,
            parameter_columns=work.parameter_columns,
            transaction=work.phase.transaction,
            stamps=work.phase.stamps,
            rows_per_operation=work.phase.rows_per_operation,
            way=work.phase.way,
            access="scan" if work.phase.scan else "segment" if work.phase.union else work.phase.access,
            table_columns=work.table_columns,
            key_columns=work.key_columns,
        )
        parameters = None
        if work.parameter_file is not None:
            parameters = protocol.ParameterSlice(file=str(work.parameter_file), first=0, count=work.parameter_count)
        return self._ask(protocol.Prepare, protocol.PrepareReply, phase=spec, parameters=parameters).prepare_ns

    def _ask(self, message: type[protocol.Request], expect: type[AnyReply], **fields: Any) -> AnyReply:
        return self.runner.request(message, self.timeout_s, expect=expect, **fields)

    def sample(
        self,
        work: PreparedPhase,
        regime: str,
        *,
        lead_in_ns: int = 0,
        duration_ns: int = 0,
        operations: int = 0,
        first: int = -1,
    ) -> Measured:
        """One sample with the collectors read right before and after it.

        Of a union phase always one retrieval, all its parts at once, booked as one operation.
        """
        if work.phase.union:
            lead_in_ns, operations, first = 0, work.parameter_count, 0
        busy_before = noise.busy_ns(self.cpus) if self.free else 0
        server_before = cpu.total_ns(self._server_pids)
        others_before = self._beside_the_window_cpu_ns()
        wait_before = self._foreign_wait_ns()
        how = {"lead_in_ns": lead_in_ns, "duration_ns": duration_ns, "operations": operations, "first": first}
        reply = self._ask(protocol.Sample, protocol.SampleReply, phase=work.name, regime=regime, **how)
        if work.phase.union:
            book_as_one(reply, operations)
        others = _difference(self._beside_the_window_cpu_ns(), others_before)
        server = _difference(cpu.total_ns(self._server_pids), server_before)
        busy = noise.busy_ns(self.cpus) - busy_before if self.free else 0
        wait = _difference(self._foreign_wait_ns(), wait_before)
        # A backend that has ended takes its clock with it; a server that was given to us shows none.
        counted_server = work.phase.kind != "connect" and not isinstance(self.instance, External)
        # The loop's own thread inside its window, so that reading requests and writing replies does not count, and
        # every other thread of the process (compiler, collector) from outside; several clients are threads too, so
        # that then all is seen from outside.
        # Pinned to its CPUs, the process cannot have had more than the window: what exceeds it ran before or after.
        inside = reply.window_cpu_ns if self.clients == 1 else 0
        client = None if others is None else min(reply.window_ns * len(self.cpus), inside + max(0, others))
        return self._judged(work, reply, client, server if counted_server else None, wait, busy)

    def _beside_the_window_cpu_ns(self) -> int | None:
        """CPU time so far of the runner's threads that `window_cpu_ns` does not hold."""
        if self.clients > 1:
            return cpu.total_ns(self._client_pids)
        return run_queue.other_threads_cpu_ns(self.runner.pid, self.runner.loop_tid)

    def _foreign_wait_ns(self) -> int | None:
        return run_queue.foreign_wait_ns(self.runner.pid, self.runner.loop_tid, self._client_pids[1:])

    def _judged(
        self,
        work: PreparedPhase,
        reply: protocol.SampleReply,
        client: int | None,
        server: int | None,
        wait: int | None,
        busy: int,
    ) -> Measured:
        one_core = len(self.cpus) == 1 and (self.alone or self.planned.path.placement == "same")
        cpu_coverage = None
        disturbed = ""
        window = max(reply.window_ns, 1)
        # Over a link the client waits, so that no CPU accounts for its window.
        local = self.planned.path.get("link") == "none" and not work.phase.writes and work.phase.kind != "connect"
        if self.free:
            # Client and server wait for each other's threads there; what counts is whether others had the cores.
            foreign = busy - (client or 0) - (server or 0)
            limit = FOREIGN_MOST * window + 2 * noise.NS_PER_TICK
            if (self.alone or server is not None) and foreign > limit * len(self.cpus):
                disturbed = f"other processes used {foreign / window / len(self.cpus):.0%} of the cores' time"
        elif one_core and local and client is not None:
            served = 0 if self.alone else server
            if served is not None:
                cpu_coverage = (reply.window_cpu_ns + served) / window
                accounted = (client + served) / window
                if accounted < ACCOUNTED_LEAST:
                    disturbed = f"client and server used {accounted:.0%} of the window on their core"
        elif wait is not None and wait / window > WAIT_MOST:
            disturbed = f"ready but not running for {wait / window:.0%} of the window"
        return Measured(reply, client, None if self.alone else server, wait, cpu_coverage, disturbed)

    def verify(
        self, work: PreparedPhase, first: int, count: int, max_rows: int = protocol.VERIFIED_ROWS, keep: str = ""
    ) -> protocol.VerifyReply:
        """The digest of operations `[first, first + count)`; `keep`: a file to make of the digest's rows."""
        what = {"phase": work.name, "first": first, "count": count, "max_rows": max_rows, "keep": keep}
        return self._ask(protocol.Verify, protocol.VerifyReply, **what)

    def groups(self, shared_counters: str, groups: list[protocol.GroupSpec]) -> None:
        """Make these groups ready: their clients wait for the word to begin in the shared counters."""
        made = {"shared_counters": shared_counters, "client_groups": groups}
        self._ask(protocol.ClientGroups, protocol.ClientGroupsReply, **made)

    def groups_end(self, timeout_s: float) -> list[protocol.GroupTotal]:
        """What the groups did, in the order of the request, once all their clients are done."""
        return self.runner.request(
            protocol.ClientGroupsEnd, timeout_s, expect=protocol.ClientGroupsEndReply
        ).client_groups

    def run(self, statements: list[str], ignore_errors: bool = False) -> list[int]:
        """Execute statements untimed; ns of each."""
        if not statements:
            return []
        what = {"statements": statements, "ignore_errors": ignore_errors}
        return self._ask(protocol.RunStatements, protocol.RunReply, **what).ns

    def reset(self, work: PreparedPhase) -> None:
        """Bring a write phase's tables to their starting state, outside the clock."""
        for statement in work.reset:
            self.run([statement], ignore_errors=statement.lstrip().upper().startswith("DROP"))

    def settle(self) -> Settled:
        """Checkpoint and sync what writes left behind (deferred cost)."""
        settled = Settled(0)
        if self.alone:
            statements = ENGINES[self.planned.path.engine].settle_statements()
            settled = Settled(sum(self.run(statements)), method="the engine's own checkpoint, executed by the runner; ")
        with _the_engine_may_be_gone():
            rest = self.instance.settle(self.planned.path)
        return Settled(settled.ns + rest.ns, None, settled.method + rest.method)

    def commits(self) -> int | None:
        """The engine's own counter of committed transactions; None where it has none."""
        with _the_engine_may_be_gone():
            return self.instance.commits()

    def written_bytes(self) -> int | None:
        """Bytes that the side which keeps the rows has handed to the disk so far."""
        return disk.written_bytes([self.runner.pid] if self.alone else self._server_pids)

    @contextlib.contextmanager
    def peak_memory(self) -> Iterator[MemoryRecord]:
        """Fills in the peak of the runner and of the server while the body ran."""
        record = MemoryRecord(method=memory.MEANS)
        for pid in self._client_pids:
            memory.reset_peak(pid)
        yield record
        record.client_peak_bytes = memory.sum_of_peaks_bytes(self._client_pids)
        record.server_peak_bytes = None if self.alone else memory.anonymous_bytes(self._server_pids)

    def facts(self) -> dict[str, Any]:
        """What the live connection reports of itself: versions, settings, libraries."""
        return protocol.body(self._ask(protocol.Facts, protocol.FactsReply))

    def close(self) -> None:
        """Close the connection and end the process; never raises."""
        self.disconnect()
        self.runner.stop()

    def disconnect(self) -> None:
        """Close the connection, keep the process; never raises."""
        if self.runner.alive():
            with contextlib.suppress(RunnerFailure):
                self.runner.request(protocol.Close, min(CLOSE_TIMEOUT_S, self.timeout_s), expect=protocol.CloseReply)


def verify_record(reply: protocol.VerifyReply, expected: str) -> VerifyRecord:
    """A digest compared with the expected one, as the journal has it."""
    return msgspec.convert(protocol.body(reply) | {"expected": expected, "ok": reply.digest == expected}, VerifyRecord)


def book_as_one(reply: protocol.SampleReply, parts: int) -> None:
    """Count the parts of one retrieval as one operation: done when all were, failed when one failed."""
    whole = reply.operations == parts and not reply.failed
    reply.operations, reply.failed = (1, 0) if whole else (0, 1)
    reply.lead_in_operations = 0
    reply.min_ns = reply.max_ns = reply.ns
    reply.execute_ns //= parts  # a part's own, on average
    reply.first_row_ns //= parts


@contextlib.contextmanager
def _the_engine_may_be_gone() -> Iterator[None]:
    """An engine that does not answer is a failure of the paths that need it, not of the run."""
    try:
        yield
    except RowpathError as error:
        raise RunnerFailure("connect", error.message) from error


def _difference(after: int | None, before: int | None) -> int | None:
    return None if after is None or before is None else after - before
