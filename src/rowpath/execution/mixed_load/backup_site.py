"""Where one backup is made and kept: its program at work, what it left, and whether that can be restored."""

from __future__ import annotations

import contextlib
import os
import select
import shutil
import subprocess
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from rowpath.engines.base import BackedUp, Instance
from rowpath.execution.mixed_load import restore_check
from rowpath.execution.mixed_load.acknowledged_writes import Ledger
from rowpath.execution.mixed_load.restore_check import Restored
from rowpath.execution.prepared_phases import PreparedWorkload
from rowpath.machine import cpus, private_directories, processes
from rowpath.planning.plan import PlannedPath
from rowpath.text import printable

LEAD_NS = 3_000_000  # from the word to begin to the begin: waiting clients look for it once a millisecond
OUTPUT_BYTES = 2000


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
            with self._output_file().open("wb") as output:
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

    def restored(
        self,
        works: dict[str, PreparedWorkload],
        before: Ledger,
        after: Ledger,
        log: Callable[[str], None],
        timeout_s: float,
    ) -> Restored:
        """What comes of restoring it, as `restore_check` has it; never raises for what the backup did wrong."""
        folder = self._folder / "restored"
        return restore_check.restore_check(
            self.backup, self._instance, self._planned, works, before, after, folder, log, timeout_s
        )

    def remove(self) -> None:
        """Remove what it kept."""
        with contextlib.suppress(OSError):
            self.backup.kept.unlink()
        for left in (self.backup.kept, self._folder):
            shutil.rmtree(left, ignore_errors=True)

    def _output_file(self) -> Path:
        return self._folder / "output.txt"

    def _last_words(self) -> str:
        with contextlib.suppress(OSError):
            lines = self._output_file().read_bytes()[-OUTPUT_BYTES:].decode(errors="replace").strip().splitlines()
            return f": {printable(lines[-1])}" if lines else ""
        return ""
