"""What each cell has: a driver at work, one fault, and what becomes of both.

The clock of the fault is the proxy's, that of its end is the arrival of the runner's reply: both CLOCK_MONOTONIC.
"""

from __future__ import annotations

import contextlib
import os
import time
from typing import Any

import msgspec

from rowpath.engines.base import Instance
from rowpath.errors import RowpathError
from rowpath.execution.prepared_phases import PreparedPhase
from rowpath.execution.worker import Worker
from rowpath.faults.bench import Bench, Role
from rowpath.faults.proxy import LOOPBACK, Break, FaultProxy
from rowpath.model.fault import By, Cell, Connection, End, Event, Fault, Work
from rowpath.planning.plan import PlannedPath
from rowpath.runners import protocol
from rowpath.runners.process import Runner, RunnerFailure

QUICK_S = 1.0  # a cell that waits longer lets others work meanwhile
BROKEN_LOOK_S = 0.1
REPLY_S = 5.0  # for a reply that has begun to come
USABLE_S = 10.0
WARM_OPERATIONS = 6  # psycopg prepares a statement at its fifth use
OPEN_S = 60.0
PHASES: dict[Work, str] = {"scan": "scan", "read": "read", "write": "write", "transaction": "write-in-transaction"}


class NotApplicable(Exception):
    """Why there is no such cell."""


class Trial:
    """What every cell has: a fresh runner behind a proxy, the fault, its end, and the connection afterwards."""

    role: Role = "steady"  # of the server that it needs
    needs_root = False

    def __init__(self, bench: Bench, planned: PlannedPath, fault: Fault, work: Work, settings: str) -> None:
        """`settings`: the driver's own, as in `Cell`."""
        self.bench, self.planned, self.fault, self.work = bench, planned, fault, work
        self.options = {"driver_settings": settings} if settings else {}
        self.row = 0  # of the written table, this cell's alone
        self.cell = Cell(
            path_id=planned.path.id,
            path=planned.name,
            language=planned.adapter.language,
            driver=planned.adapter.driver,
            engine=planned.path.engine,
            fault=fault.number,
            work=work,
            settings=settings,
            end="not applicable",
        )
        self.events: list[Event] = []
        self.fault_ns = 0
        self.healed_ns = 0  # from when the server can serve again
        self.worker: Worker
        self.proxy: FaultProxy
        self.cleanup = contextlib.ExitStack()

    def flow(self) -> None:
        """What happens. Errors: NotApplicable; RunnerFailure where it fails without the fault."""
        raise NotImplementedError

    def phases(self) -> set[str]:
        """The phases that the path must have."""
        return {PHASES[self.work]}

    def measured(self) -> Cell:
        """The cell."""
        try:
            with self.cleanup:
                self._reason_against()
                self.bench.build(self.planned)
                self.flow()
        except NotApplicable as reason:
            self.note(end="not applicable", reason=str(reason))
        except (RunnerFailure, RowpathError) as failure:
            self.note(end="not applicable", reason=f"it fails without the fault: {failure}")
        self.note(events=tuple(self.events))
        return self.cell

    def _reason_against(self) -> None:
        """Errors: NotApplicable where the path has no such phase, or this machine no such fault."""
        for name in sorted(self.phases()):
            if f"faults.{name}" not in self.planned.phases:
                raise NotApplicable(f"{self.planned.adapter.driver} has no {name.replace('-', ' ')} here")
        if self.needs_root and os.geteuid() != 0:
            raise NotApplicable("it needs root: sudo rowpath faults …")

    def instance(self) -> Instance:
        """The server. Errors: RowpathError."""
        return self.bench.instance(self.role, self.planned)

    def make_proxy(self, **how: Any) -> FaultProxy:
        """A proxy before the server, stopped at the end."""
        port = int(self.instance().options(self.planned.path)["port"])
        proxy = FaultProxy((LOOPBACK, port), **how)
        self.cleanup.callback(proxy.stop)
        return proxy

    def make_worker(self, runner: Runner | None = None, of: PlannedPath | None = None) -> Worker:
        """A worker of the path, or `of` another, ended at the end."""
        planned = of or self.planned
        self.bench.build(planned)
        worker = Worker(planned, self.instance(), log=lambda _line: None, timeout_s=OPEN_S, runner=runner)
        self.cleanup.callback(end, worker)
        return worker

    def open(self) -> None:
        """Connect through the proxy. Errors: RunnerFailure."""
        self.worker.open(host=LOOPBACK, port=self.proxy.port, **self.options)

    def begin(self, **how: Any) -> None:
        """A connection through a proxy, at work for a while."""
        self.proxy = self.make_proxy(**how)
        self.worker = self.make_worker()
        self.open()
        self.prepare()
        self.sample("read", WARM_OPERATIONS)
        if self.work in ("write", "transaction"):
            self.row = self.bench.rows(self.role, self.planned, 2 * WARM_OPERATIONS + 1)
            self.sample(PHASES[self.work], WARM_OPERATIONS, first=self.row - 2 * WARM_OPERATIONS)

    def prepare(self) -> None:
        """Prepare the work and the read that follows. Errors: RunnerFailure."""
        for name in dict.fromkeys((PHASES[self.work], "read")):
            self.worker.prepare(self.phase(name))

    def phase(self, name: str) -> PreparedPhase:
        """The prepared phase of that name."""
        return self.bench.work(self.planned, name)

    def sample(self, name: str, operations: int, first: int = 0) -> protocol.SampleReply:
        """Errors: RunnerFailure, also where an operation fails."""
        reply = self.worker.sample(self.phase(name), "steady", operations=operations, first=first).reply
        if reply.failed:
            failure = reply.failure
            raise RunnerFailure("sql", failure.text if failure else "", failure.code if failure else "")
        return reply

    def expected_rows(self) -> int:
        """Of a whole scan."""
        return self.phase("scan").phase.rows_per_operation

    def await_break(self, one: Break, otherwise: str) -> None:
        """Return once it is broken. Errors: NotApplicable where the operation ends before that."""
        until = time.monotonic() + OPEN_S
        while not one.broken.wait(BROKEN_LOOK_S):
            ended = self.worker.runner.replies_within(0) or time.monotonic() > until
            if ended and not one.broken.wait(BROKEN_LOOK_S):  # its end may be what the fault caused
                raise NotApplicable(otherwise)
        self.fault_ns = one.broken_ns

    def ask(self, name: str) -> None:
        """Ask for one operation; its reply is not awaited."""
        first = self.row if self.work in ("write", "transaction") else WARM_OPERATIONS + 1
        how = {"lead_in_ns": 0, "duration_ns": 0, "operations": 1, "first": first}
        work = self.phase(name)
        self.worker.runner.send(protocol.Sample, self.fault.watch_s, phase=work.name, regime="steady", **how)

    def see_end(self) -> None:
        """How the operation ends: within the watch, or not."""
        reply = self.reply_to(protocol.SampleReply)
        if reply is None:
            return
        rows = reply.rows
        expected = {"scan": self.expected_rows(), "read": 1}.get(self.work)
        self.note(rows=rows, expected_rows=expected)
        if self.work in ("write", "transaction"):
            self.note(acknowledged=reply.operations, rows=None)
        failure = reply.failure
        if reply.failed:
            text = {"kind": failure.kind, "code": failure.code, "text": failure.text} if failure else {}
            self.note(end="error", **text)
            self.event(f"error: {failure.text if failure else ''}")
        elif expected is not None and rows < expected:
            self.note(end="truncated")
            self.event(f"taken for complete with {rows} of {expected} rows")
        else:
            self.note(end="whole")
            self.event("delivered whole")

    def reply_to(self, expect: type[protocol.Reply]) -> Any:
        """The runner's reply; None: it has none, and the cell says why."""
        runner, left_s = self.worker.runner, self.fault.watch_s - (time.monotonic_ns() - self.fault_ns) / 1e9
        there = runner.replies_within(min(QUICK_S, left_s))
        end_ns = time.monotonic_ns()
        if not there:
            with self.bench.waiting(self.role, self.planned):
                there = runner.replies_within(max(0.0, left_s - QUICK_S))
                end_ns = time.monotonic_ns()
        if not there:
            runner.kill()
            self.note(end="no end", text=f"no end within {self.fault.watch_s:g} s")
            self.event(self.cell.text, end_ns)
            return None
        self.note(end_ns=end_ns - self.fault_ns)
        try:
            return runner.receive(REPLY_S, expect)
        except RunnerFailure as failure:
            self.ended(failure, end_ns)
            return None

    def ended(self, failure: RunnerFailure, end_ns: int) -> None:
        end: End = "ended" if failure.fatal else "error"
        if failure.kind == "unsupported":
            raise NotApplicable(failure.text)
        self.note(end=end, kind=failure.kind, code=failure.code, text=failure.text, end_ns=end_ns - self.fault_ns)
        self.event(f"{'the process ended' if failure.fatal else 'error'}: {failure.text}", end_ns)

    def heal(self) -> None:
        """All passes again."""
        self.proxy.heal()
        self.healed_ns = time.monotonic_ns()

    def recover(self) -> None:
        """Whether the same connection serves a read, and else how soon another one does."""
        if not self.worker.runner.alive():
            self.reconnect()
            return
        work, how = self.phase("read"), {"lead_in_ns": 0, "duration_ns": 0, "operations": 1, "first": 0}
        runner = self.worker.runner
        try:
            runner.send(protocol.Sample, USABLE_S, phase=work.name, regime="steady", **how)
            if not runner.replies_within(USABLE_S):
                self.note_connection("broken")
                runner.kill()
            elif (reply := runner.receive(REPLY_S, protocol.SampleReply)).failed or reply.rows != 1:
                self.note_connection("refused")
            else:
                self.note_connection("usable")
                self.first_row("same connection", self.healed_ns)
                return
        except RunnerFailure:
            self.note_connection("refused")
        self.reconnect()

    def reconnect(self) -> None:
        """A read on a new connection, of the same process where that still lives."""
        if self.worker.runner.alive():
            self.worker.disconnect()
        ways: tuple[By, ...] = ("new connection", "new process")
        for by in ways:
            if by == "new process":
                end(self.worker)
                self.worker = self.make_worker()
            elif not self.worker.runner.alive():
                continue
            with contextlib.suppress(RunnerFailure):
                self.open()
                self.worker.prepare(self.phase("read"))
                self.sample("read", 1)
                self.first_row(by, self.healed_ns)
                return

    def first_row(self, by: By, since_ns: int) -> None:
        """The first good row came, and by what."""
        self.note(first_row_ns=time.monotonic_ns() - since_ns, by=by)
        self.event(f"first good row, by the {by}" if by == "same connection" else f"first good row, by a {by}")

    def count_written(self) -> None:
        """What the driver acknowledged, and what is stored."""
        if self.work not in ("write", "transaction"):
            return
        if self.cell.acknowledged is None:
            self.note(acknowledged=0)
        with self.bench.observer(self.role, self.planned) as observer:
            self.note(stored=self.bench.answer(observer, "count-written", self.row))
        self.event(f"acknowledged {self.cell.acknowledged}, stored {self.cell.stored}")

    def note(self, **fields: Any) -> None:
        """Set fields of the cell."""
        self.cell = msgspec.structs.replace(self.cell, **fields)

    def note_connection(self, what: Connection) -> None:
        """What the same connection is afterwards."""
        self.note(connection=what)
        self.event(f"the same connection: {what}")

    def event(self, text: str, at_ns: int = 0) -> None:
        """A line of the time line."""
        self.events.append(Event((at_ns or time.monotonic_ns()) - self.fault_ns, text))

    def fault_now(self, after_ms: int = 0) -> None:
        """The fault happens now, or so much later."""
        self.fault_ns = time.monotonic_ns() + after_ms * 1_000_000
        self.events.append(Event(0, f"fault: {self.fault.title}"))


def end(worker: Worker) -> None:
    """End a runner, which may hang."""
    worker.runner.kill()
