"""The action `backup` carried out in a stage: by a statement of a client of its own, or by a program."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from rowpath.engines.base import Backup
from rowpath.execution.mixed_load.acknowledged_writes import Ledger
from rowpath.execution.mixed_load.backup_site import BackupSite
from rowpath.execution.mixed_load.shared_counters import DONE, SharedCounters, Snapshot
from rowpath.execution.prepared_phases import PreparedPhase
from rowpath.journal.mixed_load_records import BackupRecord, Inside
from rowpath.model.experiment import ClientGroupTable
from rowpath.model.workload import Phase
from rowpath.runners.protocol import GroupTotal
from rowpath.text import printable

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
