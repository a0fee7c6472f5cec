"""One cell: a driver in the middle of its work, one fault, and what becomes of both.

The clock of the fault is the proxy's, that of its end is the arrival of the runner's reply: both CLOCK_MONOTONIC.
"""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from rowpath.engines import ENGINES
from rowpath.engines.base import Instance
from rowpath.errors import RowpathError
from rowpath.execution.prepared_phases import PreparedPhase
from rowpath.execution.worker import Worker
from rowpath.faults import memory_limit
from rowpath.faults.bench import OBSERVERS, Bench, Role, observing
from rowpath.faults.kinds import LATE_S
from rowpath.faults.proxy import LOOPBACK, Break, FaultProxy, Way
from rowpath.machine import processes
from rowpath.machine.counters import memory
from rowpath.model.fault import By, Cell, Connection, End, Event, Fault, Work
from rowpath.planning.plan import PlannedPath, key_of
from rowpath.runners import manifest, protocol
from rowpath.runners.process import Runner, RunnerFailure

QUICK_S = 1.0  # a cell that waits longer lets others work meanwhile
BROKEN_LOOK_S = 0.1
REPLY_S = 5.0  # for a reply that has begun to come
AWAY_S = 3.0  # how long a killed server is not there
STOPPING_S = 0.2  # from the order to stop until the answer that was held goes on
MOST_TAKEN = 60  # connections
USABLE_S = 10.0
WARM_OPERATIONS = 6  # psycopg prepares a statement at its fifth use
OPEN_S = 60.0
LEAKING_FAULTS = 100
STOP_AFTER_MS, STOP_MOST_MS = 1000, 10_000
WORKING_LOOKS, LOOK_EACH_S = 20, 0.1
SLOW_BYTES_PER_S = 1_000_000
IDLE_S = 0.2
PHASES: dict[Work, str] = {"scan": "scan", "read": "read", "write": "write", "transaction": "write-in-transaction"}
WAYS: dict[str, Way] = {"1": "hold", "2": "hold", "3": "silence", "4": "reset", "5": "forget", "7": "close"}
LIVE, DEAD = "127.0.0.2", LOOPBACK  # resolvers sort the nearer address first
DEAD_FIRST = "dead-first.rowpath.test"
# The name is known to this process only: its view of /etc/hosts is its own.
WITH_HOSTS = 'mount --bind "$0" /etc/hosts && exec "$@"'
LOCKS = {
    "postgresql": ("BEGIN", "LOCK TABLE flt_writes IN EXCLUSIVE MODE", "ROLLBACK"),
    "mariadb": ("SELECT 1", "LOCK TABLES flt_writes WRITE", "UNLOCK TABLES"),
    "mysql": ("SELECT 1", "LOCK TABLES flt_writes WRITE", "UNLOCK TABLES"),
}


class _NotApplicable(Exception):
    """Why there is no such cell."""


def measured(bench: Bench, planned: PlannedPath, fault: Fault, work: Work, settings: str = "") -> Cell:
    """The cell. `settings`: the driver's own, as in `Cell`."""
    trial = _Trial(bench, planned, fault, work, settings)
    with bench.turn(trial.role, planned):
        return trial.measured()


class _Trial:
    def __init__(self, bench: Bench, planned: PlannedPath, fault: Fault, work: Work, settings: str) -> None:
        self.bench, self.planned, self.fault, self.work = bench, planned, fault, work
        self.options = {"driver_settings": settings} if settings else {}
        self.role: Role = "victim" if fault.number in ("1", "2", "5", "9a", "9b") else "steady"
        self.role = "full" if fault.number == "10" else self.role
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

    def measured(self) -> Cell:
        flows: dict[str, Callable[[], None]] = {
            "8": self._server_error,
            "9a": lambda: self._stopped("cancel"),
            "9b": lambda: self._stopped("timeout"),
            "10": self._full,
            "11a": self._dead_address,
            "11b": self._dead_host,
            "12": self._broken_handshake,
            "13": self._idle_dropped,
            "14": self._memory,
        }
        try:
            with self.cleanup:
                self._reason_against()
                self.bench.build(self.planned)
                flows.get(self.fault.number, self._broken)()
        except _NotApplicable as reason:
            self._set(end="not applicable", reason=str(reason))
        except (RunnerFailure, RowpathError) as failure:
            self._set(end="not applicable", reason=f"it fails without the fault: {failure}")
        self._set(events=tuple(self.events))
        return self.cell

    def _reason_against(self) -> None:
        """Errors: _NotApplicable where the path has no such phase, or this machine no such fault."""
        phases = {PHASES[self.work]} | ({"scan-with-error"} if self.fault.number == "8" else set())
        for name in sorted(phases):
            if f"faults.{name}" not in self.planned.phases:
                raise _NotApplicable(f"{self.planned.adapter.driver} has no {name.replace('-', ' ')} here")
        if self.fault.number in ("5", "11a") and os.geteuid() != 0:
            raise _NotApplicable("it needs root: sudo rowpath faults …")

    # Preparing

    def _instance(self) -> Instance:
        return self.bench.instance(self.role, self.planned)

    def _make_proxy(self, **how: Any) -> FaultProxy:
        port = int(self._instance().options(self.planned.path)["port"])
        proxy = FaultProxy((LOOPBACK, port), **how)
        self.cleanup.callback(proxy.stop)
        return proxy

    def _make_worker(self, runner: Runner | None = None, of: PlannedPath | None = None) -> Worker:
        planned = of or self.planned
        self.bench.build(planned)
        worker = Worker(planned, self._instance(), log=lambda _line: None, timeout_s=OPEN_S, runner=runner)
        self.cleanup.callback(_end, worker)
        return worker

    def _open(self) -> None:
        self.worker.open(host=LOOPBACK, port=self.proxy.port, **self.options)

    def _begin(self, **how: Any) -> None:
        """A connection through a proxy, at work for a while."""
        self.proxy = self._make_proxy(**how)
        self.worker = self._make_worker()
        self._open()
        self._prepare()
        self._sample("read", WARM_OPERATIONS)
        if self.work in ("write", "transaction"):
            self.row = self.bench.rows(self.role, self.planned, 2 * WARM_OPERATIONS + 1)
            self._sample(PHASES[self.work], WARM_OPERATIONS, first=self.row - 2 * WARM_OPERATIONS)

    def _prepare(self) -> None:
        for name in dict.fromkeys((PHASES[self.work], "read")):
            self.worker.prepare(self._phase(name))

    def _phase(self, name: str) -> PreparedPhase:
        return self.bench.work(self.planned, name)

    def _sample(self, name: str, operations: int, first: int = 0) -> protocol.SampleReply:
        """Errors: RunnerFailure, also where an operation fails."""
        reply = self.worker.sample(self._phase(name), "steady", operations=operations, first=first).reply
        if reply.failed:
            failure = reply.failure
            raise RunnerFailure("sql", failure.text if failure else "", failure.code if failure else "")
        return reply

    # The flows

    def _broken(self) -> None:
        """A fault between client and server in the middle of an operation."""
        self._begin()
        number = self.fault.number
        one = Break(WAYS.get(number, "late"), seconds=LATE_S.get(number, 0.0))
        if self.work == "scan":
            one.after_bytes = self._scan_bytes() // 2 | 1
        else:
            one.answers = self._answers()
        self.proxy.arm(one)
        self._ask(PHASES[self.work])
        self._await(one, "the operation ended before the fault")
        self._event(f"fault: {self.fault.title}")
        if number == "1":
            self._kill(one)
        elif number in ("2", "5"):
            self._restart(one)
        self._see_end()
        if number == "1":
            self._back()
        self._heal()
        self._recover()
        self._count_written()
        if number == "4" and self.work == "read":
            self._leaks()

    def _await(self, one: Break, otherwise: str) -> None:
        """Return once it is broken. Errors: _NotApplicable where the operation ends before that."""
        until = time.monotonic() + OPEN_S
        while not one.broken.wait(BROKEN_LOOK_S):
            ended = self.worker.runner.replies_within(0) or time.monotonic() > until
            if ended and not one.broken.wait(BROKEN_LOOK_S):  # its end may be what the fault caused
                raise _NotApplicable(otherwise)
        self.fault_ns = one.broken_ns

    def _scan_bytes(self) -> int:
        """Of the answer to a scan. Errors: _NotApplicable where it does not deliver every row."""
        known = self.bench.scan_bytes
        if self.planned.path.id not in known:
            self.proxy.count_anew()
            rows = self._sample("scan", 1).rows
            if rows != self._expected_rows():
                raise _NotApplicable(f"a scan delivers {rows} rows")
            known[self.planned.path.id] = self.proxy.bytes_down()
        return known[self.planned.path.id]

    def _expected_rows(self) -> int:
        return self._phase("scan").phase.rows_per_operation

    def _answers(self) -> int:
        """Which answer of an operation is lost: the last, in a transaction the one in its middle."""
        first = self.row - WARM_OPERATIONS if self.work != "read" else 0
        self._sample(PHASES[self.work], WARM_OPERATIONS - 1, first=first)
        self.proxy.count_anew()
        self._sample(PHASES[self.work], 1, first=first + WARM_OPERATIONS - 1)
        answers = max(1, self.proxy.answers())
        return (answers + 1) // 2 if self.work == "transaction" else answers

    def _kill(self, one: Break) -> None:
        for pid in self._instance().pids():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self._event("the server is gone")
        one.released.set()

    def _back(self) -> None:
        wait_s = AWAY_S - (time.monotonic_ns() - self.fault_ns) / 1e9
        time.sleep(max(0.0, wait_s))
        self._find_server()

    def _restart(self, one: Break) -> None:
        threading.Timer(STOPPING_S, one.released.set).start()
        self.bench.restart(self.role, key_of(self.planned.path))
        self._find_server()

    def _find_server(self) -> None:
        """Lead the proxy to the server that was started again, or start it."""
        self.proxy.to = (LOOPBACK, int(self._instance().options(self.planned.path)["port"]))
        self._event("the server is back")

    def _server_error(self) -> None:
        self._begin()
        self.worker.prepare(self._phase("scan-with-error"))
        self.fault_ns = time.monotonic_ns()
        self._event("the query is sent; its result fails in the middle")
        self._ask("scan-with-error")
        self._see_end()
        self._heal()
        self._recover()

    def _idle_dropped(self) -> None:
        self._begin()
        time.sleep(IDLE_S)
        self.proxy.silence(new=False)
        self._event_at_fault()
        self._ask("read")
        self._see_end()
        self._heal()
        self._recover()

    def _memory(self) -> None:
        self.proxy = self._make_proxy()
        start = manifest.command(self.planned.adapter, self.planned.path.version, self.planned.path)
        limited = memory_limit.of_runtime(self.planned.adapter.language, start)
        runner = Runner.start(limited or start, (), lambda _line: None)
        self.worker = self._make_worker(runner)
        self._open()
        self._prepare()
        self._sample("read", WARM_OPERATIONS)
        if limited is None:
            memory_limit.of_process(runner.pid)
        self._event_at_fault()
        self._ask("scan")
        self._see_end()
        self._heal()
        self._recover()

    def _stopped(self, kind: str) -> None:
        """A long scan, a slow query, or a write that waits for a lock is to stop; the server's own view of it."""
        engine, slow = self.planned.path.engine, ENGINES[self.planned.path.engine].slow_query
        begin, lock, unlock = LOCKS.get(engine, ("", "", ""))
        if self.work == "read" and not slow:
            raise _NotApplicable("the engine has no statement that would run for long")
        writes, transaction = self.work in ("write", "transaction"), self.work == "transaction"
        if writes and not lock:
            raise _NotApplicable(f"no lock is known that a write of {engine} would wait for")
        self._begin(bytes_per_s=SLOW_BYTES_PER_S if self.work == "scan" else 0)
        written = f"INSERT INTO flt_writes (id, n, note) VALUES ({self.row + 1}, 0, 'stopped')"
        sql = written if writes else {"scan": self._phase("scan").sql, "read": slow}[self.work]
        with self.bench.observer(self.role, self.planned) as observer:
            others = self._working(observer)  # what an earlier cell could not stop
            if writes:
                observer.run([begin, lock])
            if transaction:
                self.worker.run(["BEGIN"])
            self._event_at_fault(STOP_AFTER_MS)
            how = {"kind": kind, "sql": sql, "after_ms": STOP_AFTER_MS, "most_ms": STOP_MOST_MS}
            try:
                self.worker.runner.send(protocol.Interrupt, OPEN_S, **how)
                self.worker.runner.replies_within(STOP_MOST_MS / 1000 + REPLY_S)
                end_ns = time.monotonic_ns()
                reply = self.worker.runner.receive(REPLY_S, protocol.InterruptReply)
            except RunnerFailure as failure:
                if failure.kind == "unsupported":
                    raise _NotApplicable(failure.text) from failure
                self._ended(failure, time.monotonic_ns())
                return
            early = reply.took_ns < STOP_AFTER_MS * 500_000
            if early and not reply.honoured:
                raise _NotApplicable(f"it reads no rows beside a request to stop: {reply.text}")
            self._set(end="stopped" if reply.honoured else "not heard", text=reply.text)
            self._set(end_ns=reply.took_ns - STOP_AFTER_MS * 1_000_000)
            self._event("the statement ends" if reply.honoured else reply.text, end_ns)
            self._server_view(observer, others)
            if writes:
                observer.run([unlock])
                time.sleep(LOOK_EACH_S)
            usable = self._rolled_back() if transaction and reply.honoured else reply.usable
            if writes:
                self._set(acknowledged=0, stored=self.bench.answer(observer, "count-written", self.row))
        if not reply.honoured:
            _end(self.worker)
            self._connection("broken")
        else:
            self._connection("usable" if usable else "refused")
        self._heal()
        self._reconnect()

    def _rolled_back(self) -> bool:
        """Whether the connection takes a ROLLBACK, and a read after it."""
        try:
            self.worker.run(["ROLLBACK"])
            self._sample("read", 1)
        except RunnerFailure:
            return False
        return True

    def _server_view(self, observer: Worker, others: int) -> None:
        if self.planned.path.engine not in OBSERVERS:
            return
        for _look in range(WORKING_LOOKS):
            if not (goes_on := self._working(observer) > others):
                break
            time.sleep(LOOK_EACH_S)
        self._set(server_goes_on=goes_on)
        self._event("the server still works on it" if goes_on else "the server has stopped")

    def _working(self, observer: Worker) -> int:
        """How many statements the server works on, where it tells."""
        return self.bench.answer(observer, "count-working") if self.planned.path.engine in OBSERVERS else 0

    def _full(self) -> None:
        """Connections are taken, by another driver, until the server refuses one."""
        if self.planned.path.engine not in OBSERVERS:
            raise _NotApplicable(f"no limit of connections of {self.planned.path.engine} is known")
        other = observing(self.planned)
        taken: list[Worker] = []
        try:
            while len(taken) < MOST_TAKEN:
                taken.append(self._make_worker(of=other))
                taken[-1].open()
        except RunnerFailure:
            taken.pop()
        else:
            raise _NotApplicable(f"{MOST_TAKEN} connections do not fill the server")
        self.proxy = self._make_proxy()
        self.worker = self._make_worker()
        self._event_at_fault()
        self._open_until_end()
        for worker in taken:
            _end(worker)
        self._heal()
        self._reconnect()

    def _open_until_end(self, **where: Any) -> None:
        """Ask for a connection and see what comes."""
        self._ask_to_open(**where)
        if self._reply(protocol.OpenReply) is not None:
            self._set(end="whole")

    def _dead_address(self) -> None:
        names = self.bench.directory / f"hosts-{self._dead_before_living()}"  # no other cell's: a resolver reads it
        names.write_text(f"127.0.0.1 localhost\n{DEAD} {DEAD_FIRST}\n{LIVE} {DEAD_FIRST}\n")
        start = manifest.command(self.planned.adapter, self.planned.path.version, self.planned.path)
        inside = ("unshare", "--mount", "sh", "-c", WITH_HOSTS, str(names), *start.arguments)
        self._open_past_the_dead(
            DEAD_FIRST, Runner.start(msgspec.structs.replace(start, arguments=inside), (), lambda _line: None)
        )

    def _dead_host(self) -> None:
        if not self.planned.adapter.several_hosts:
            raise _NotApplicable(f"{self.planned.adapter.driver} takes one host")
        self._dead_before_living()
        self._open_past_the_dead(f"{DEAD},{LIVE}")

    def _dead_before_living(self) -> int:
        """The server behind the living address, nobody behind the dead one, at the same port."""
        while True:
            self.proxy = self._make_proxy(address=LIVE)
            with contextlib.suppress(OSError):  # that port is in use at the other address
                dead = FaultProxy((LOOPBACK, self.proxy.port), address=DEAD, port=self.proxy.port)
                break
        self.cleanup.callback(dead.stop)
        dead.silence()
        return self.proxy.port

    def _open_past_the_dead(self, host: str, runner: Runner | None = None) -> None:
        self.worker = self._make_worker(runner)
        self._event_at_fault()
        self._open_until_end(host=host)
        if self.cell.end == "whole":
            served_ns = time.monotonic_ns() - (self.cell.end_ns or 0)  # without the wait for this cell's turn
            self._prepare()
            self._sample("read", 1)
            self._connection("usable")
            self._first_row("same connection", served_ns)

    def _broken_handshake(self) -> None:
        if self.planned.path.tls == "off":
            raise _NotApplicable(f"{self.planned.adapter.driver} has no TLS here")
        self.proxy = self._make_proxy()
        self.worker = self._make_worker()
        one = self.proxy.arm(Break("reset", after_bytes=40, in_handshake=True))
        self._ask_to_open()
        self._await(one, "no TLS handshake was seen")
        self._event(f"fault: {self.fault.title}")
        if self._reply(protocol.OpenReply) is not None:
            self._set(end="whole")  # it went on without TLS
        self._heal()
        self._reconnect()

    def _ask_to_open(self, **where: Any) -> None:
        runner = self.worker.runner
        runner.hello(self.planned.adapter.driver, OPEN_S)
        there = {"host": LOOPBACK, "port": self.proxy.port} | where | self.options
        options = self.planned.path.as_dict() | self._instance().options(self.planned.path) | there
        runner.send(protocol.Open, OPEN_S, options=options)

    # The end

    def _ask(self, name: str) -> None:
        first = self.row if self.work in ("write", "transaction") else WARM_OPERATIONS + 1
        how = {"lead_in_ns": 0, "duration_ns": 0, "operations": 1, "first": first}
        work = self._phase(name)
        self.worker.runner.send(protocol.Sample, self.fault.watch_s, phase=work.name, regime="steady", **how)

    def _see_end(self) -> None:
        """How the operation ends: within the watch, or not."""
        reply = self._reply(protocol.SampleReply)
        if reply is None:
            return
        rows = reply.rows
        expected = {"scan": self._expected_rows(), "read": 1}.get(self.work)
        self._set(rows=rows, expected_rows=expected)
        if self.work in ("write", "transaction"):
            self._set(acknowledged=reply.operations, rows=None)
        failure = reply.failure
        if reply.failed:
            text = {"kind": failure.kind, "code": failure.code, "text": failure.text} if failure else {}
            self._set(end="error", **text)
            self._event(f"error: {failure.text if failure else ''}")
        elif expected is not None and rows < expected:
            self._set(end="truncated")
            self._event(f"taken for complete with {rows} of {expected} rows")
        else:
            self._set(end="whole")
            self._event("delivered whole")

    def _reply(self, expect: type[protocol.Reply]) -> Any:
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
            self._set(end="no end", text=f"no end within {self.fault.watch_s:g} s")
            self._event(self.cell.text, end_ns)
            return None
        self._set(end_ns=end_ns - self.fault_ns)
        try:
            return runner.receive(REPLY_S, expect)
        except RunnerFailure as failure:
            self._ended(failure, end_ns)
            return None

    def _ended(self, failure: RunnerFailure, end_ns: int) -> None:
        end: End = "ended" if failure.fatal else "error"
        if failure.kind == "unsupported":
            raise _NotApplicable(failure.text)
        self._set(end=end, kind=failure.kind, code=failure.code, text=failure.text, end_ns=end_ns - self.fault_ns)
        self._event(f"{'the process ended' if failure.fatal else 'error'}: {failure.text}", end_ns)

    def _heal(self) -> None:
        self.proxy.heal()
        self.healed_ns = time.monotonic_ns()

    def _recover(self) -> None:
        """Whether the same connection serves a read, and else how soon another one does."""
        if not self.worker.runner.alive():
            self._reconnect()
            return
        work, how = self._phase("read"), {"lead_in_ns": 0, "duration_ns": 0, "operations": 1, "first": 0}
        runner = self.worker.runner
        try:
            runner.send(protocol.Sample, USABLE_S, phase=work.name, regime="steady", **how)
            if not runner.replies_within(USABLE_S):
                self._connection("broken")
                runner.kill()
            elif (reply := runner.receive(REPLY_S, protocol.SampleReply)).failed or reply.rows != 1:
                self._connection("refused")
            else:
                self._connection("usable")
                self._first_row("same connection", self.healed_ns)
                return
        except RunnerFailure:
            self._connection("refused")
        self._reconnect()

    def _reconnect(self) -> None:
        """A read on a new connection, of the same process where that still lives."""
        if self.worker.runner.alive():
            self.worker.disconnect()
        ways: tuple[By, ...] = ("new connection", "new process")
        for by in ways:
            if by == "new process":
                _end(self.worker)
                self.worker = self._make_worker()
            elif not self.worker.runner.alive():
                continue
            with contextlib.suppress(RunnerFailure):
                self._open()
                self.worker.prepare(self._phase("read"))
                self._sample("read", 1)
                self._first_row(by, self.healed_ns)
                return

    def _first_row(self, by: By, since_ns: int) -> None:
        self._set(first_row_ns=time.monotonic_ns() - since_ns, by=by)
        self._event(f"first good row, by the {by}" if by == "same connection" else f"first good row, by a {by}")

    def _count_written(self) -> None:
        if self.work not in ("write", "transaction"):
            return
        if self.cell.acknowledged is None:
            self._set(acknowledged=0)
        with self.bench.observer(self.role, self.planned) as observer:
            self._set(stored=self.bench.answer(observer, "count-written", self.row))
        self._event(f"acknowledged {self.cell.acknowledged}, stored {self.cell.stored}")

    def _leaks(self) -> None:
        """What a hundred more resets leave in the process, each followed by a new connection."""
        if not self.worker.runner.alive():
            return
        pid = self.worker.runner.pid
        try:
            self._reopened_after_reset()
            before = _resources(pid)
            for _fault in range(LEAKING_FAULTS):
                self._reopened_after_reset()
        except RunnerFailure as failure:
            self._event(f"one of {LEAKING_FAULTS} more resets: {failure}")
            return
        descriptors, threads, resident = (now - then for now, then in zip(_resources(pid), before, strict=True))
        self._set(leaked_descriptors=descriptors, leaked_threads=threads, leaked_bytes=resident)
        self._event(f"after {LEAKING_FAULTS} more: {descriptors:+} descriptors, {threads:+} threads")

    def _reopened_after_reset(self) -> None:
        self.proxy.arm(Break("reset", answers=1))
        self._ask("read")
        self.worker.runner.receive(OPEN_S, protocol.SampleReply)
        self.proxy.heal()
        self.worker.disconnect()
        self._open()
        self.worker.prepare(self._phase("read"))
        self._sample("read", 1)

    # What is kept

    def _set(self, **fields: Any) -> None:
        self.cell = msgspec.structs.replace(self.cell, **fields)

    def _connection(self, what: Connection) -> None:
        self._set(connection=what)
        self._event(f"the same connection: {what}")

    def _event(self, text: str, at_ns: int = 0) -> None:
        self.events.append(Event((at_ns or time.monotonic_ns()) - self.fault_ns, text))

    def _event_at_fault(self, after_ms: int = 0) -> None:
        self.fault_ns = time.monotonic_ns() + after_ms * 1_000_000
        self.events.append(Event(0, f"fault: {self.fault.title}"))


def _end(worker: Worker) -> None:
    """End a runner, which may hang."""
    worker.runner.kill()


def _resources(pid: int) -> tuple[int, int, int]:
    """Descriptors, threads and resident bytes of a process."""
    descriptors = len(list(Path(f"/proc/{pid}/fd").iterdir()))
    return descriptors, len(processes.threads(pid)), memory.anonymous_bytes([pid]) or 0
