"""What one path's clients were promised in one set, and what was found: at the end, after a kill, in a backup."""

from __future__ import annotations

import time
from typing import Literal

import numpy as np

from rowpath import text
from rowpath.engines.base import Far
from rowpath.execution.mixed_load import crash_recovery, restore_check
from rowpath.execution.mixed_load.acknowledged_writes import Ledger
from rowpath.execution.mixed_load.backup_action import Repetition
from rowpath.execution.mixed_load.client_processes import Processes
from rowpath.execution.mixed_load.path_context import PathContext
from rowpath.execution.worker import Worker
from rowpath.journal.mixed_load_records import AcknowledgedRecord
from rowpath.runners.process import RunnerFailure


class DurabilityChecks:
    """The ledger of a path in a set; None without a phase that counts its writes."""

    def __init__(self, context: PathContext) -> None:
        self._context = context
        self._counting = restore_check.counting(context.planned, context.works)
        self.ledger = Ledger.of(self._counting[1]) if self._counting else None

    def check(self, processes: Processes | None, stage: str) -> None:
        """Check the ledger at the end, through one of these processes or a new one. Errors: RunnerFailure."""
        if self.ledger is None or not (self.ledger.known.any() or self.ledger.doubtful.any()):
            return
        used = processes or self._context.open_one()
        try:
            self._look(used, "end", stage)
        finally:
            if used is not processes:
                used.close()

    def recover(self, pids: list[int], at_ns: int, stage: str) -> None:
        """Start the killed engine again, look for what was acknowledged, begin the ledger again.

        Errors: RunnerFailure (it did not come back).
        """
        context = self._context
        if context.planned.path.served:
            context.instance.stop()  # it takes notice of what was killed
        opened: list[Processes] = []

        def connected() -> Worker:
            opened.append(context.open_one())
            return opened[-1].workers[0]

        start = self._start if context.planned.path.served else lambda: 0
        worker, kill = crash_recovery.recover(start, connected, self._counting[1] if self._counting else None)
        kill.stage, kill.at_ns, kill.pids = stage, at_ns, pids
        context.write(kill)
        for secret in context.instance.secrets():
            context.run.scrubber.add(secret)
        if worker is None:
            raise RunnerFailure("connect", kill.reason)
        took = text.duration(kill.recovery_ns)
        context.run.progress.note(f"{context.planned.name}: killed in '{stage}', replied again after {took}")
        try:
            self._look(opened[-1], "kill", stage)
            if self._counting is not None:
                # Otherwise what a crash took would be missed again at the end.
                worker.reset(self._counting[1])
                self.ledger = Ledger.of(self._counting[1])
        finally:
            worker.close()

    def _start(self) -> int:
        instance = self._context.instance
        begun_ns = time.monotonic_ns()
        instance.start()
        return instance.start_ns if isinstance(instance, Far) else time.monotonic_ns() - begun_ns

    def restore(self, made: Repetition, stage: str) -> None:
        """Journal a backup, once it is known whether it can be restored; what it kept is removed."""
        context = self._context
        record = made.record(stage, context.run.started_ns)
        if made.ok:
            nothing = Ledger(np.zeros(0, dtype=np.uint32), np.zeros(0, dtype=np.uint32))
            before, after = made.ledger_before or nothing, made.ledger_after or nothing
            context.run.progress.note(f"{context.planned.name}: restoring the backup")
            log = context.run.log_of(context.planned)
            found = made.site.restored(context.works, before, after, log, context.run.timeout_s)
            record.restored, record.reason, record.checked = found.ok, found.reason, found.checked
            if not found.ok:
                context.note(f"backup ({made.backup.way}): {found.reason}")
            if made.ledger_after is not None:
                acknowledged = AcknowledgedRecord(
                    stage=stage,
                    when="backup",
                    rows=found.checked.rows,
                    writes=found.checked.writes,
                    lost=found.checked.lost,
                    doubled=found.checked.doubled,
                    in_doubt=int(after.doubtful.sum()),
                    ok=found.ok,
                    reason=found.reason,
                )
                context.write(acknowledged)
        context.write(record)
        made.site.remove()

    def _look(self, processes: Processes, when: Literal["end", "kill"], stage: str) -> None:
        if self._counting is None or self.ledger is None:
            return
        found = processes.check_ledger(*self._counting, self.ledger, self._context.folder)
        found.when, found.stage = when, stage
        self._context.write(found)
        if not found.ok:
            self._context.note(f"acknowledged writes: {found.reason}")
