"""The action `backup` carried out in a stage: by a statement of a client of its own, or by a program."""

from __future__ import annotations

import contextlib
import shutil
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from rowpath.engines.base import Backup
from rowpath.execution.mixed_load.acknowledged_writes import Ledger
from rowpath.execution.mixed_load.shared_counters import DONE, SharedCounters, Snapshot
from rowpath.execution.prepared_phases import PreparedPhase
from rowpath.execution.worker import Worker
from rowpath.journal.mixed_load_records import BackupRecord, Inside
from rowpath.machine import private_directories, processes
from rowpath.model.mixed_load import ClientGroupTable
from rowpath.model.workload import Phase
from rowpath.runners.protocol import GroupTotal
from rowpath.text import printable

LEAD_NS = 3_000_000  # from the word to begin to the begin: waiting clients look for it once a millisecond
SAID_BYTES = 2000

Look = Callable[[], tuple[dict[str, Snapshot], Ledger | None]]  # every group now, and what was promised so far


@dataclass
class Repetition:
    """One backup: how it is made, what came of it, and how the groups stood right before and after it."""

    group: str
    number: int  # from 1
    backup: Backup
    folder: Path
    cpus: tuple[int, ...]  # of a program
    begun_ns: int = 0
    ended_ns: int = 0
    ok: bool = False
    reason: str = ""
    stopped: bool = False  # with the engine that was killed on purpose, or with the run: neither made nor failed
    before: dict[str, Snapshot] = field(default_factory=dict)
    after: dict[str, Snapshot] = field(default_factory=dict)
    ledger_before: Ledger | None = None
    ledger_after: Ledger | None = None
    _process: processes.Process | None = None

    @property
    def name(self) -> str:
        """Its name on the shared counters and of its phase."""
        return f"{self.group}-{self.number}"

    def work(self) -> PreparedPhase:
        """Its statement as a phase."""
        phase = Phase(self.name, "execute", self.backup.statement)
        return PreparedPhase(self.name, phase, self.backup.statement)

    def prepare(self, worker: Worker) -> None:
        """Make its statement ready on every connection of that process. Errors: RunnerFailure."""
        worker.run(list(self.backup.before))
        worker.prepare(self.work())

    def begin(self, shared_counters: SharedCounters, look: Look) -> None:
        """Let it begin; what the groups were promised is noted right before."""
        self.before, self.ledger_before = look()
        if self.backup.statement:
            self.begun_ns = time.monotonic_ns() + LEAD_NS
            shared_counters.begin(self.name, self.begun_ns)
            return
        self.begun_ns = time.monotonic_ns()
        try:
            with self._said().open("wb") as said:
                self._process = processes.start(
                    self.backup.command,
                    environment=self.backup.environment,
                    cpus=self.cpus,
                    stdout=said,
                    stderr=subprocess.STDOUT,
                )
        except OSError as error:
            self._end(look, time.monotonic_ns(), f"{self.backup.command[0]} did not start: {error.strerror}")

    def look(self, shared_counters: SharedCounters, look: Look) -> None:
        """Notice when it has ended."""
        if self.ended_ns or not self.begun_ns:
            return
        if self.backup.statement:
            if shared_counters.states(self.name)[0] >= DONE:
                snapshot = shared_counters.snapshot(self.name, time.monotonic_ns())
                failed = snapshot.failed or not snapshot.operations
                self._end(
                    look, shared_counters.spans(self.name)[0][1] or time.monotonic_ns(), "it failed" if failed else ""
                )
        elif self._process is not None and (status := self._process.poll()) is not None:
            what = Path(self.backup.command[0]).name
            self._end(
                look, time.monotonic_ns(), f"{what} ended with status {status}{self._last_words()}" if status else ""
            )

    def give_up(self, why: str) -> None:
        """End it where it stands; of one that has ended nothing changes."""
        if self._process is not None and not self.ended_ns:
            processes.stop(self._process)
        if not self.ended_ns:
            self.ended_ns = time.monotonic_ns()
            self.begun_ns = self.begun_ns or self.ended_ns
            self.ok, self.reason = False, why

    def excuse(self, since_ns: int) -> None:
        """Everything was ended on purpose at that instant: a backup that had not ended by then did not fail."""
        self.stopped = not self.ok and self.ended_ns >= since_ns

    def learn(self, total: GroupTotal | None) -> None:
        """Why its statement failed."""
        if total is not None and total.failures:
            failure = total.failures[0]
            self.ok, self.reason = False, f"{failure.code} {printable(failure.text)}".strip()

    def pids(self) -> list[int]:
        """The program's processes while it is at work."""
        if self._process is None or self.ended_ns:
            return []
        return [self._process.pid, *processes.descendants(self._process.pid)]

    def record(self, stage: str, zero_ns: int) -> BackupRecord:
        """As the journal has it, before it was restored; `zero_ns`: when the run began."""
        return BackupRecord(
            stage=stage,
            client_group=self.group,
            number=self.number,
            way=self.backup.way,
            begun_ns=self.begun_ns - zero_ns,
            ended_ns=self.ended_ns - zero_ns,
            ok=self.ok,
            stopped=self.stopped,
            reason=self.reason,
            kept_bytes=_size(self.backup.kept) if self.ok else None,
            inside={
                name: Inside(after.at_ns - before.at_ns, after.operations - before.operations)
                for name, after in self.after.items()
                if (before := self.before.get(name))
            },
        )

    def remove(self) -> None:
        """Remove what it kept."""
        with contextlib.suppress(OSError):
            self.backup.kept.unlink()
        for left in (self.backup.kept, self.folder):
            shutil.rmtree(left, ignore_errors=True)

    def _end(self, look: Look, ended_ns: int, reason: str) -> None:
        after, self.ledger_after = look()
        self.after = self.after or after
        self.ended_ns, self.ok, self.reason = ended_ns, not reason, reason

    def _said(self) -> Path:
        return self.folder / f"{self.name}.txt"

    def _last_words(self) -> str:
        with contextlib.suppress(OSError):
            lines = self._said().read_bytes()[-SAID_BYTES:].decode(errors="replace").strip().splitlines()
            return f": {printable(lines[-1])}" if lines else ""
        return ""


class Repetitions:
    """An action's repetitions in one stage, one after another."""

    def __init__(self, table: ClientGroupTable, made: list[Repetition]) -> None:
        self.table = table
        self.made = made
        self._next = 0

    @property
    def begun_ns(self) -> int:
        """When the first began; 0: not yet."""
        return self.made[0].begun_ns

    @property
    def ended_ns(self) -> int:
        """When the last ended; 0: not yet."""
        return self.made[-1].ended_ns

    def under_way(self) -> bool:
        """Whether one has begun and not ended."""
        return any(each.begun_ns and not each.ended_ns for each in self.made)

    def look(self, shared_counters: SharedCounters, due_ns: int | None, look: Look) -> None:
        """Notice what has ended, begin what is due; `due_ns`: of the first (None: not known yet)."""
        for each in self.made:
            each.look(shared_counters, look)
        if self._next == len(self.made) or self.under_way():
            return
        if self._next and due_ns is not None:
            due_ns = self.made[self._next - 1].ended_ns + round(self.table.pause_s * 1e9)
        if due_ns is not None and time.monotonic_ns() >= due_ns:
            self.made[self._next].begin(shared_counters, look)
            self._next += 1

    def end_spans(self, look: Look) -> None:
        """The groups end while a backup goes on: what they did within it counts until here."""
        for each in self.made:
            if each.begun_ns and not each.ended_ns:
                each.after, _ = look()

    def give_up(self, why: str) -> None:
        """End all of them where they stand."""
        for each in self.made:
            each.give_up(why)


def _size(kept: Path) -> int | None:
    with contextlib.suppress(OSError):
        return private_directories.size_bytes(kept) if kept.is_dir() else kept.stat().st_size
    return None
