"""The action `backup` carried out in a stage, and where each backup is made and kept."""

from __future__ import annotations

import contextlib
import os
import select
import shutil
import subprocess
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from rowpath.engines.base import BackedUp, Backup, Instance
from rowpath.execution.mixed_load import durability
from rowpath.execution.mixed_load.durability import Ledger, Restored
from rowpath.execution.mixed_load.shared_counters import DONE, SharedCounters, Snapshot
from rowpath.execution.prepared_phases import PreparedPhase
from rowpath.execution.run_context import RunContext
from rowpath.journal.mixed_load_records import BackupRecord, Inside
from rowpath.machine import cpus, private_directories, processes
from rowpath.model.experiment import ClientGroupTable
from rowpath.model.workload import Phase
from rowpath.planning.plan import PlannedPath
from rowpath.runners.protocol import GroupTotal
from rowpath.text import printable

LEAD_NS = 3_000_000  # from the word to begin to the begin: waiting clients look for it once a millisecond
OUTPUT, OUTPUT_BYTES = "output.txt", 2000  # the file of what a program writes, and how much of it is read


@dataclass(frozen=True)
class Ended:
    """When a program ended, and why what it made does not count; empty when it does."""

    at_ns: int
    reason: str = ""


class BackupSite:
    """One backup on the machine of its engine; `remove` leaves nothing of it."""

    lead_ns = LEAD_NS  # of a backup that is a statement

    def __init__(self, planned: PlannedPath, instance: Instance, folder: Path) -> None:
        """Makes the folder. Errors: EnvironmentMissing."""
        assert isinstance(instance, BackedUp)
        folder.mkdir(parents=True, exist_ok=True)
        self.backup = instance.backup(planned.path.backup, planned.path, folder)
        self._planned = planned
        self._instance: Instance = instance
        self._folder = folder
        self._process: processes.Process | None = None
        self._gone_ns = 0
        self._ended: Ended | None = None

    def start(self) -> int:
        """Start its program; when it began. That it did not start is how it ended."""
        begun_ns = time.monotonic_ns()
        try:
            with (self._folder / OUTPUT).open("wb") as output:
                self._process = processes.start(
                    self.backup.command,
                    environment=self.backup.environment,
                    cpus=cpus.server_cpus(self._planned.path.placement),
                    stdout=output,
                    stderr=subprocess.STDOUT,
                )
        except OSError as error:
            self._ended = Ended(time.monotonic_ns(), f"{self.backup.command[0]} did not start: {error.strerror}")
        else:
            # Whoever looks may be far away: the end is when it was, not when it is looked for.
            descriptor = os.pidfd_open(self._process.pid)
            threading.Thread(target=self._await, args=(descriptor,), daemon=True).start()
        return begun_ns

    def _await(self, descriptor: int) -> None:
        try:
            select.select([descriptor], [], [])
            self._gone_ns = time.monotonic_ns()
        finally:
            os.close(descriptor)

    def ended(self) -> Ended | None:
        """How its program ended; None while it is at work."""
        if self._ended is None and self._process is not None and (status := self._process.poll()) is not None:
            what = Path(self.backup.command[0]).name
            reason = f"{what} ended with status {status}{self._last_words()}" if status else ""
            self._ended = Ended(self._gone_ns or time.monotonic_ns(), reason)
        return self._ended

    def stop(self) -> None:
        """End its program where it stands."""
        if self._process is not None and self.ended() is None:
            processes.stop(self._process)

    def pids(self) -> list[int]:
        """The program's processes while it is at work."""
        if self._process is None or self.ended() is not None:
            return []
        return [self._process.pid, *processes.descendants(self._process.pid)]

    def kept_bytes(self) -> int | None:
        """The size of what it left; None when there is nothing."""
        kept = self.backup.kept
        with contextlib.suppress(OSError):
            return private_directories.size_bytes(kept) if kept.is_dir() else kept.stat().st_size
        return None

    def restored(self, context: RunContext, before: Ledger, after: Ledger) -> Restored:
        """What comes of restoring it, as `restore_check` has it; never raises for what the backup did wrong."""
        planned, folder = self._planned, self._folder / "restored"
        works, log = context.prepared_workloads(planned), context.log_of(planned)
        return durability.restore_check(
            self.backup, self._instance, planned, works, before, after, folder, log, context.timeout_s
        )

    def remove(self) -> None:
        """Remove what it kept."""
        with contextlib.suppress(OSError):
            self.backup.kept.unlink()
        for left in (self.backup.kept, self._folder):
            shutil.rmtree(left, ignore_errors=True)

    def _last_words(self) -> str:
        with contextlib.suppress(OSError):
            lines = (self._folder / OUTPUT).read_bytes()[-OUTPUT_BYTES:].decode(errors="replace").strip().splitlines()
            return f": {printable(lines[-1])}" if lines else ""
        return ""


Look = Callable[[], tuple[dict[str, Snapshot], Ledger | None]]  # every group now, and what was promised so far


@dataclass
class Repetition:
    """One backup: how it is made, what came of it, and how the groups stood right before and after it."""

    group: str
    number: int  # from 1
    site: BackupSite
    begun_ns: int = 0
    ended_ns: int = 0
    ok: bool = False
    reason: str = ""
    stopped: bool = False  # with the engine that was killed on purpose, or with the run: neither made nor failed
    before: dict[str, Snapshot] = field(default_factory=dict)
    after: dict[str, Snapshot] = field(default_factory=dict)
    ledger_before: Ledger | None = None
    ledger_after: Ledger | None = None

    @property
    def backup(self) -> Backup:
        """How it is made."""
        return self.site.backup

    @property
    def name(self) -> str:
        """Its name on the shared counters and of its phase."""
        return f"{self.group}-{self.number}"

    def begin(self, shared_counters: SharedCounters, look: Look) -> None:
        """Let it begin; what the groups were promised is noted right before."""
        self.before, self.ledger_before = look()
        if self.backup.statement:
            self.begun_ns = shared_counters.begin(self.name, time.monotonic_ns() + self.site.lead_ns)
        else:
            self.begun_ns = self.site.start()

    def look(self, shared_counters: SharedCounters, look: Look) -> None:
        """Notice when it has ended."""
        if self.ended_ns or not self.begun_ns:
            return
        if not self.backup.statement:
            if (ended := self.site.ended()) is not None:
                self._end(look, ended.at_ns, ended.reason)
        elif shared_counters.states(self.name)[0] >= DONE:
            snapshot = shared_counters.snapshot(self.name, time.monotonic_ns())
            failed = snapshot.failed or not snapshot.operations
            ended_ns = shared_counters.ended_ns(self.name) or time.monotonic_ns()
            self._end(look, ended_ns, "it failed" if failed else "")

    def give_up(self, why: str) -> None:
        """End it where it stands; of one that has ended nothing changes."""
        if self.ended_ns:
            return
        self.site.stop()
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
            kept_bytes=self.site.kept_bytes() if self.ok else None,
            inside={
                name: Inside(after.at_ns - before.at_ns, after.operations - before.operations)
                for name, after in self.after.items()
                if (before := self.before.get(name))
            },
        )

    def _end(self, look: Look, ended_ns: int, reason: str) -> None:
        after, self.ledger_after = look()
        self.after = self.after or after
        self.ended_ns, self.ok, self.reason = ended_ns, not reason, reason


def statement_work(name: str, backup: Backup) -> PreparedPhase:
    """The statement of a backup as a phase of that name."""
    return PreparedPhase(name, Phase(name, "execute", backup.statement), backup.statement)


@dataclass
class Repetitions:
    """An action's repetitions in one stage, one after another."""

    table: ClientGroupTable
    made: list[Repetition]
    _next: int = 0

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
        return any(repetition.begun_ns and not repetition.ended_ns for repetition in self.made)

    def look(self, shared_counters: SharedCounters, due_ns: int | None, look: Look) -> None:
        """Notice what has ended, begin what is due; `due_ns`: of the first (None: not known yet)."""
        for repetition in self.made:
            repetition.look(shared_counters, look)
        if self._next == len(self.made) or self.under_way():
            return
        if self._next and due_ns is not None:
            due_ns = self.made[self._next - 1].ended_ns + round(self.table.pause_s * 1e9)
        if due_ns is not None and time.monotonic_ns() >= due_ns:
            self.made[self._next].begin(shared_counters, look)
            self._next += 1

    def end_spans(self, look: Look) -> None:
        """The groups end while a backup goes on: what they did within it counts until here."""
        for repetition in self.made:
            if repetition.begun_ns and not repetition.ended_ns:
                repetition.after, _ = look()

    def give_up(self, why: str) -> None:
        """End all of them where they stand."""
        for repetition in self.made:
            repetition.give_up(why)
