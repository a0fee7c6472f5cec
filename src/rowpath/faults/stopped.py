"""Cells whose client asks to stop: a cancel, or a timeout, each the driver's own way."""

from __future__ import annotations

import time

from typing_extensions import override

from rowpath.engines import ENGINES
from rowpath.execution.worker import Worker
from rowpath.faults.bench import OBSERVERS
from rowpath.faults.trial import OPEN_S, REPLY_S, NotApplicable, Trial, end
from rowpath.runners import protocol
from rowpath.runners.process import RunnerFailure

KINDS = {"9a": "cancel", "9b": "timeout"}
STOP_AFTER_MS, STOP_MOST_MS = 1000, 10_000
WORKING_LOOKS, LOOK_EACH_S = 20, 0.1
SLOW_BYTES_PER_S = 1_000_000
LOCKS = {
    "postgresql": ("BEGIN", "LOCK TABLE flt_writes IN EXCLUSIVE MODE", "ROLLBACK"),
    "mariadb": ("SELECT 1", "LOCK TABLES flt_writes WRITE", "UNLOCK TABLES"),
    "mysql": ("SELECT 1", "LOCK TABLES flt_writes WRITE", "UNLOCK TABLES"),
}


class Stopped(Trial):
    """A long scan, a slow query, or a write that waits for a lock is to stop; the server's own view of it."""

    role = "victim"

    @override
    def flow(self) -> None:
        engine, slow = self.planned.path.engine, ENGINES[self.planned.path.engine].slow_query
        begin, lock, unlock = LOCKS.get(engine, ("", "", ""))
        if self.work == "read" and not slow:
            raise NotApplicable("the engine has no statement that would run for long")
        writes, transaction = self.work in ("write", "transaction"), self.work == "transaction"
        if writes and not lock:
            raise NotApplicable(f"no lock is known that a write of {engine} would wait for")
        self.begin(bytes_per_s=SLOW_BYTES_PER_S if self.work == "scan" else 0)
        written = f"INSERT INTO flt_writes (id, n, note) VALUES ({self.row + 1}, 0, 'stopped')"
        sql = written if writes else {"scan": self.phase("scan").sql, "read": slow}[self.work]
        with self.bench.observer(self.role, self.planned) as observer:
            others = self._working(observer)  # what an earlier cell could not stop
            if writes:
                observer.run([begin, lock])
            if transaction:
                self.worker.run(["BEGIN"])
            self.fault_now(STOP_AFTER_MS)
            how = {"kind": KINDS[self.fault.number], "sql": sql, "after_ms": STOP_AFTER_MS, "most_ms": STOP_MOST_MS}
            try:
                self.worker.runner.send(protocol.Interrupt, OPEN_S, **how)
                self.worker.runner.replies_within(STOP_MOST_MS / 1000 + REPLY_S)
                end_ns = time.monotonic_ns()
                reply = self.worker.runner.receive(REPLY_S, protocol.InterruptReply)
            except RunnerFailure as failure:
                if failure.kind == "unsupported":
                    raise NotApplicable(failure.text) from failure
                self.ended(failure, time.monotonic_ns())
                return
            early = reply.took_ns < STOP_AFTER_MS * 500_000
            if early and not reply.honoured:
                raise NotApplicable(f"it reads no rows beside a request to stop: {reply.text}")
            self.note(end="stopped" if reply.honoured else "not heard", text=reply.text)
            self.note(end_ns=reply.took_ns - STOP_AFTER_MS * 1_000_000)
            self.event("the statement ends" if reply.honoured else reply.text, end_ns)
            self._server_view(observer, others)
            if writes:
                observer.run([unlock])
                time.sleep(LOOK_EACH_S)
            usable = self._rolled_back() if transaction and reply.honoured else reply.usable
            if writes:
                self.note(acknowledged=0, stored=self.bench.answer(observer, "count-written", self.row))
        if not reply.honoured:
            end(self.worker)
            self.note_connection("broken")
        else:
            self.note_connection("usable" if usable else "refused")
        self.heal()
        self.reconnect()

    def _rolled_back(self) -> bool:
        """Whether the connection takes a ROLLBACK, and a read after it."""
        try:
            self.worker.run(["ROLLBACK"])
            self.sample("read", 1)
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
        self.note(server_goes_on=goes_on)
        self.event("the server still works on it" if goes_on else "the server has stopped")

    def _working(self, observer: Worker) -> int:
        """How many statements the server works on, where it tells."""
        return self.bench.answer(observer, "count-working") if self.planned.path.engine in OBSERVERS else 0
