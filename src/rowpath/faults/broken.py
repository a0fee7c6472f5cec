"""Cells whose connection breaks in the middle of an operation, or while it is idle."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
from pathlib import Path

from typing_extensions import override

from rowpath.faults.kinds import LATE_S
from rowpath.faults.proxy import LOOPBACK, Break, Way
from rowpath.faults.trial import OPEN_S, PHASES, WARM_OPERATIONS, NotApplicable, Trial
from rowpath.machine import processes
from rowpath.machine.counters import memory
from rowpath.planning.plan import key_of
from rowpath.runners import protocol
from rowpath.runners.process import RunnerFailure

AWAY_S = 3.0  # how long a killed server is not there
STOPPING_S = 0.2  # from the order to stop until the answer that was held goes on
LEAKING_FAULTS = 100
IDLE_S = 0.2
WAYS: dict[str, Way] = {"1": "hold", "2": "hold", "3": "silence", "4": "reset", "5": "forget", "7": "close"}


class Broken(Trial):
    """A fault between client and server in the middle of an operation."""

    @override
    def flow(self) -> None:
        self.begin()
        number = self.fault.number
        one = Break(WAYS.get(number, "late"), seconds=LATE_S.get(number, 0.0))
        if self.work == "scan":
            one.after_bytes = self._scan_bytes() // 2 | 1
        else:
            one.answers = self._answers()
        self.proxy.arm(one)
        self.ask(PHASES[self.work])
        self.await_break(one, "the operation ended before the fault")
        self.event(f"fault: {self.fault.title}")
        if number == "1":
            self._kill(one)
        elif number in ("2", "5"):
            self._restart(one)
        self.see_end()
        if number == "1":
            self._back()
        self.heal()
        self.recover()
        self.count_written()
        if number == "4" and self.work == "read":
            self._leaks()

    def _scan_bytes(self) -> int:
        """Of the answer to a scan. Errors: NotApplicable where it does not deliver every row."""
        known = self.bench.scan_bytes
        if self.planned.path.id not in known:
            self.proxy.count_anew()
            rows = self.sample("scan", 1).rows
            if rows != self.expected_rows():
                raise NotApplicable(f"a scan delivers {rows} rows")
            known[self.planned.path.id] = self.proxy.bytes_down()
        return known[self.planned.path.id]

    def _answers(self) -> int:
        """Which answer of an operation is lost: the last, in a transaction the one in its middle."""
        first = self.row - WARM_OPERATIONS if self.work != "read" else 0
        self.sample(PHASES[self.work], WARM_OPERATIONS - 1, first=first)
        self.proxy.count_anew()
        self.sample(PHASES[self.work], 1, first=first + WARM_OPERATIONS - 1)
        answers = max(1, self.proxy.answers())
        return (answers + 1) // 2 if self.work == "transaction" else answers

    def _kill(self, one: Break) -> None:
        for pid in self.instance().pids():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.event("the server is gone")
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
        self.proxy.to = (LOOPBACK, int(self.instance().options(self.planned.path)["port"]))
        self.event("the server is back")

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
            self.event(f"one of {LEAKING_FAULTS} more resets: {failure}")
            return
        descriptors, threads, resident = (now - then for now, then in zip(_resources(pid), before, strict=True))
        self.note(leaked_descriptors=descriptors, leaked_threads=threads, leaked_bytes=resident)
        self.event(f"after {LEAKING_FAULTS} more: {descriptors:+} descriptors, {threads:+} threads")

    def _reopened_after_reset(self) -> None:
        self.proxy.arm(Break("reset", answers=1))
        self.ask("read")
        self.worker.runner.receive(OPEN_S, protocol.SampleReply)
        self.proxy.heal()
        self.worker.disconnect()
        self.open()
        self.worker.prepare(self.phase("read"))
        self.sample("read", 1)


class Restarted(Broken):
    """The server goes away, and comes back."""

    role = "victim"


class HalfOpen(Restarted):
    """The server forgets the connection without a word."""

    needs_root = True


class IdleDropped(Trial):
    """A box between forgets an idle connection; new ones work."""

    @override
    def flow(self) -> None:
        self.begin()
        time.sleep(IDLE_S)
        self.proxy.silence(new=False)
        self.fault_now()
        self.ask("read")
        self.see_end()
        self.heal()
        self.recover()


def _resources(pid: int) -> tuple[int, int, int]:
    """Descriptors, threads and resident bytes of a process."""
    descriptors = len(list(Path(f"/proc/{pid}/fd").iterdir()))
    return descriptors, len(processes.threads(pid)), memory.anonymous_bytes([pid]) or 0
