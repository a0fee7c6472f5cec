"""One worker: a fresh runner process on one path; it takes samples, with the collectors read around each."""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Callable, Iterator
from typing import Any

from rowpath.engines import ENGINES
from rowpath.engines.base import External, Far, FarSpent, Instance, Settled
from rowpath.errors import RowpathError
from rowpath.execution.measured import CoreShare, HelperThreads, Measured, Reading, WindowSpent, book_as_one
from rowpath.execution.prepared_phases import PreparedPhase
from rowpath.execution.warm_up import warm_up
from rowpath.journal.records import WarmRecord, WorkerRecord
from rowpath.machine import cpus, processes
from rowpath.machine.counters import core_users, cpu, disk, memory
from rowpath.planning.plan import PlannedPath
from rowpath.runners import protocol
from rowpath.runners.manifest import command, language
from rowpath.runners.process import AnyReply, Runner, RunnerFailure
from rowpath.scrubber import Scrubber

CLOSE_TIMEOUT_S = 10.0


class Worker:
    """A living runner on its path, connected; every method that fails raises RunnerFailure.

    One that is `pinned` is timed on the path's cores. Between requests its runner and its server are on the spare ones,
    and a runtime's helper threads always.
    """

    together: Callable[..., list[Callable[[], Any]]] | None = None  # on another host: several calls as one
    connect_ns = 0
    server_pid: int | None = None  # of the process that serves the connection, where the driver knows it
    warmed = False  # whether a phase of this process has been warmed up already
    warm_most_s = math.inf  # for one phase, below the cap of the experiment
    pooler_pids: Callable[[], list[int]] = staticmethod(list)  # of the pooler between client and server

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
        pinned: bool = False,
        scrubber: Scrubber | None = None,
    ) -> None:
        """`clients`: connections for groups at work at once; 0: as many as the path's coordinate says.

        `runner`: a process of the path's command without a connection, to use instead of a new one.
        `pinned`: whether anything it does is measured; every process may use every core otherwise.
        `scrubber`: of what a new runner says; it learns what `open` sends in any case.
        """
        self.planned = planned
        self.instance = instance
        self.log = log
        self.timeout_s = timeout_s
        self.clients = clients or planned.path.clients
        self.grouped = bool(clients)
        self.pinned = pinned
        if runner is None:
            start = command(planned.adapter, planned.path.version, planned.path)
            # Starting may use every core; what is measured is pinned once connected.
            runner = Runner.start(start, cpus.usable(), log, environment, scrubber)
        self.runner = runner
        self._far = instance if isinstance(instance, Far) else None
        self._far_spent: FarSpent | None = None  # in the last sample
        self._server_pids: list[int] = []  # here
        self._pooler_pids: list[int] = []
        self.pids = [self.runner.pid]  # the runner's processes
        self._helpers = HelperThreads()
        self._core_share = CoreShare(frozenset(), frozenset())
        self._others_pids: list[int] = []  # of others' server, which may take the client's core

    def open(self, **overrides: Any) -> WorkerRecord:
        """Shake hands and connect; as the journal has it, without set, time and facts."""
        requires = (*(("clients",) if self.clients > 1 else ()), *(("client-groups",) if self.grouped else ()))
        hello = self.runner.hello(self.planned.adapter.driver, self.timeout_s, requires)
        options = self.planned.path.as_dict() | self.instance.options(self.planned.path) | overrides
        if self.grouped:
            options["clients"] = str(self.clients)
        self._server_pids, self._pooler_pids = self.instance.pids(), self.pooler_pids()
        with self._on_its_cores():
            reply = self._ask(protocol.Open, protocol.OpenReply, options=options)
            self.connect_ns, self.server_pid = reply.connect_ns, reply.server_pid
            if self.clients > 1:  # each of them may be a process
                self.pids = [self.runner.pid, *processes.descendants(self.runner.pid)]
        self.notice_server()
        self._prove_compression()
        return WorkerRecord(
            path_id=self.planned.path.id, pid=self.runner.pid, hello=protocol.body(hello), connect_ns=reply.connect_ns
        )

    def _prove_compression(self) -> None:
        """RunnerFailure where the path is to compress its connection and the server says that it does not."""
        path = self.planned.path
        if not path.served or path.compression == "none":
            return
        found = self.facts()["settings"].get("compression", "nothing of it")
        if found != "on":
            what = f"compression={path.compression} was requested, but for this connection the server reports: {found}"
            raise RunnerFailure("connect", what)

    @property
    def cpus(self) -> tuple[int, ...]:
        """Where the client is measured."""
        path = self.planned.path
        clients = self.clients if path.placement == "apart" else 1  # no server needs a core here
        return cpus.client_cpus(path.placement, max(clients, path.threads))

    @property
    def alone(self) -> bool:
        """Whether no server takes part."""
        return self.planned.path.deployment in ("embedded", "file", "none")

    @property
    def _server_cpus(self) -> tuple[int, ...]:
        return () if self.alone or self._far else cpus.server_cpus(self.planned.path.placement)

    @property
    def measured_cpus(self) -> tuple[int, ...]:
        """Where client and server are measured."""
        return tuple(dict.fromkeys((*self.cpus, *self._server_cpus)))

    def take_cores(self) -> None:
        """Bring the runner and its server to the cores on which the path is measured, helper threads excepted."""
        if not self.pinned:
            return
        client_helpers = language(self.planned.adapter.language).helper_threads
        for pid in self.pids:
            self._helpers.pin(pid, self.cpus, client_helpers)
        for pid in self._server_pids:
            self._helpers.pin(pid, self._server_cpus, self.instance.helper_threads)
        for pid in self._pooler_pids:
            processes.pin(pid, self._server_cpus)
        if self._far:
            self._far.take_cores()

    def leave_cores(self) -> None:
        """Move the runner and its server away from the measured cores, as far as there are others."""
        for pid in (*self.pids, *self._server_pids, *self._pooler_pids) if self.pinned else ():
            processes.pin(pid, cpus.spare_cpus())
        if self._far and self.pinned:
            self._far_spent = self._far.leave_cores()

    @contextlib.contextmanager
    def _on_its_cores(self) -> Iterator[None]:
        self.take_cores()
        try:
            yield
        finally:
            if not self.grouped:  # groups stay at work between requests; nothing else is measured then
                self.leave_cores()

    @property
    def has_helpers(self) -> bool:
        """Whether helper threads of a runtime take part: compilers, which may have a backlog."""
        return bool(language(self.planned.adapter.language).helper_threads or self.instance.helper_threads)

    def helpers_cpu_ns(self) -> int:
        """CPU time so far of the helper threads on both sides."""
        return self._helpers.cpu_ns((*self.pids, *self._server_pids))

    def notice_server(self) -> None:
        """Learn which server processes exist now; between blocks, after connecting."""
        self._server_pids, self._pooler_pids = self.instance.pids(), self.pooler_pids()
        self._others_pids = self.instance.others_pids()
        own = frozenset((*self.pids, *self._server_pids, *self._pooler_pids, *self._others_pids))
        self._core_share = CoreShare(frozenset(self.measured_cpus), own)
        if not self.grouped:
            self.leave_cores()

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
        with self._on_its_cores():
            return self._ask(protocol.Prepare, protocol.PrepareReply, phase=spec, parameters=work.parameters).prepare_ns

    def first_answer_ns(self, work: PreparedPhase | None) -> int:
        """What connecting took, and then preparing a query and reading the first of its rows; None: connecting only."""
        begun_ns = time.monotonic_ns()
        if work is not None:
            self.prepare(work)
            self.verify(work, 0, 1, max_rows=1)
        return self.connect_ns + time.monotonic_ns() - begun_ns

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
        lead_in_ns = language(self.planned.adapter.language).lead_in_ns(lead_in_ns)
        how = {"lead_in_ns": lead_in_ns, "duration_ns": duration_ns, "operations": operations, "first": first}
        with self._on_its_cores():
            before = self._read()
            reply = self._ask(protocol.Sample, protocol.SampleReply, phase=work.name, regime=regime, **how)
            after = self._read()
        if work.phase.union:
            book_as_one(reply, operations)
        return self._judged(work, reply, before, after)

    def warm_up(self, work: PreparedPhase, block_ns: int, least_ns: float, cap_ns: float) -> WarmRecord:
        """Blocks of that length, as `warm_up` has them."""
        return warm_up(lambda: self.sample(work, "warm", duration_ns=block_ns), least_ns, cap_ns)

    def _read(self) -> Reading:
        loop = cpu.clocks(self.runner.pid, self.runner.loop_tid, self.pids[1:])
        beside = None if loop is None else loop.others_cpu_ns
        kept_apart = not self._core_share.cpus & set(cpus.spare_cpus())
        return Reading(
            client_ns=cpu.total_ns(self.pids) if self.clients > 1 else beside,
            client_helpers_ns=self._helpers.cpu_ns(self.pids) if kept_apart else 0,
            server_ns=cpu.total_ns(self._server_pids),
            pooler_ns=cpu.total_ns(self._pooler_pids),
            server_helpers_ns=self._helpers.cpu_ns(self._server_pids) if kept_apart else 0,
            others_ns=cpu.total_ns(self._others_pids),
            loop=loop,
            look=core_users.look(self._core_share.cpus),
        )

    def _judged(self, work: PreparedPhase, reply: protocol.SampleReply, before: Reading, after: Reading) -> Measured:
        window = max(reply.window_ns, 1)
        # A backend that has ended takes its clock with it; a server that was given to us shows none.
        counted_server = work.phase.kind != "connect" and not isinstance(self.instance, External)
        server = after.server_ns - before.server_ns if counted_server else None
        server_helpers = after.server_helpers_ns - before.server_helpers_ns
        pooler = after.pooler_ns - before.pooler_ns
        if self._far:
            there = self._far_spent
            server = there.cpu_ns if there is not None and counted_server else None
            server_helpers = there.helpers_cpu_ns if there is not None else 0
        # The loop's own thread inside its window, so that reading requests and writing replies does not count, and
        # every other thread of the process (compiler, collector) from outside; where the loop has no thread of its
        # own, all inside; several clients are threads too, so that then all is seen from outside.
        # Pinned to its CPUs, the process cannot have had more than the window: what exceeds it ran before or after.
        inside = reply.window_cpu_ns if self.clients == 1 else 0
        helpers = after.client_helpers_ns - before.client_helpers_ns
        wait = None
        if before.loop is not None and after.loop is not None:
            wait = cpu.foreign_wait_ns(before.loop, after.loop) + helpers  # it never waited for those
        on_core = None
        if after.client_ns is not None and before.client_ns is not None:
            beside = after.client_ns - before.client_ns
            on_core = min(window * len(self.cpus), inside + max(0, beside - helpers))
        # The pooler is where the server is.
        server_on_core = 0 if self.alone else None if server is None else server - server_helpers + pooler
        spent = WindowSpent(window, on_core, server_on_core, wait)
        coverage, own_wait = None, 0
        looks = before.look, after.look
        # Over a link the client waits, so that no CPU accounts for its window.
        local = self.planned.path.link == "none" and not work.phase.writes and work.phase.kind != "connect"
        known = spent.client_ns is not None and spent.server_ns is not None
        one_core = len(self.cpus) == 1 and (self.alone or self.planned.path.placement == "same")
        if self.planned.path.placement == "free":
            others = self._core_share.of_every_core(spent, *looks) if known else []
        elif one_core and local and spent.client_ns is not None:
            others, own_wait = self._core_share.of_one_core(spent, *looks) if known else ([], 0)
            coverage = (reply.window_cpu_ns + spent.server_ns) / window if spent.server_ns is not None else None
        else:
            shared = (one_core and not self.alone) or bool(self._others_pids)
            others_ns = after.others_ns - before.others_ns
            others = self._core_share.by_waiting(
                spent, *looks, writes=work.phase.writes, with_server=shared, others_ns=others_ns
            )
            others += self._far_spent.core_users if self._far_spent else ()
        client = None if on_core is None else on_core + helpers
        measured = Measured(reply, client, None if self.alone else server, wait, coverage, others)
        measured.pooler_cpu_ns = pooler if self._pooler_pids else None
        measured.client_helpers_cpu_ns, measured.server_helpers_cpu_ns = helpers, server_helpers
        measured.own_wait_ns = own_wait
        return measured

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
        reply = self.runner.request(protocol.ClientGroupsEnd, timeout_s, expect=protocol.ClientGroupsEndReply)
        return reply.client_groups

    def run(self, statements: list[str], ignore_errors: bool = False) -> list[int]:
        """Execute statements untimed; ns of each."""
        if not statements:
            return []
        what = {"statements": statements, "ignore_errors": ignore_errors}
        with self._on_its_cores():
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
        if self._far:
            return self._far.written_bytes()
        return disk.written_bytes([self.runner.pid] if self.alone else self._server_pids)

    def reset_peaks(self) -> None:
        """Make the runner's peak of memory its present memory."""
        for pid in self.pids:
            memory.reset_peak(pid)

    def peaks(self) -> tuple[int | None, int | None]:
        """Bytes of the runner at its peak since then, and of the server now."""
        client = memory.sum_of_peaks_bytes(self.pids)
        if self._far:
            return client, self._far.memory_bytes()
        return client, None if self.alone else memory.anonymous_bytes(self._server_pids)

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


@contextlib.contextmanager
def _the_engine_may_be_gone() -> Iterator[None]:
    """An engine that does not answer is a failure of the paths that need it, not of the run."""
    try:
        yield
    except RowpathError as error:
        raise RunnerFailure("connect", error.message) from error
