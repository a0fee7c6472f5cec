"""A backup that is made and kept on its engine's host, as the controller sees it."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

from rowpath.engines.base import Backup
from rowpath.errors import RowpathError
from rowpath.execution.mixed_load.acknowledged_writes import Ledger
from rowpath.execution.mixed_load.backup_site import Ended
from rowpath.execution.mixed_load.restore_check import Restored
from rowpath.execution.several_hosts import HostLost
from rowpath.hosts.replies import Ask

LEAD_NS = 100_000_000  # the word to begin must reach the client's host before the begin


class FarBackup:
    """Its methods promise what those of `BackupSite` do; instants are of our clock, but every span is one host's."""

    lead_ns = LEAD_NS

    def __init__(self, path_id: str, name: str, ask: Ask, offset_ns: Callable[[], int]) -> None:
        """`offset_ns`: the host's clock less ours. Errors: EnvironmentMissing, HostLost."""
        self._words = path_id, name
        self._asked = ask
        self._offset_ns = offset_ns
        self.backup: Backup = ask("backup_make", *self._words)

    def _ask(self, method: str, *arguments: Any) -> Any:
        return self._asked("backup", *self._words, method, *arguments)

    def start(self) -> int:
        return int(self._ask("start")) - self._offset_ns()

    def ended(self) -> Ended | None:
        ended: Ended | None = self._ask("ended")
        return Ended(ended.at_ns - self._offset_ns(), ended.reason) if ended is not None else None

    def stop(self) -> None:
        """A lost host ends the backup by itself."""
        with contextlib.suppress(HostLost, RowpathError):
            self._ask("stop")

    def pids(self) -> list[int]:
        return []

    def kept_bytes(self) -> int | None:
        """None when the host is lost."""
        with contextlib.suppress(HostLost):
            kept: int | None = self._ask("kept_bytes")
            return kept
        return None

    def restored(self, _works: object, before: Ledger, after: Ledger, _log: object, _timeout_s: float) -> Restored:
        found: Restored = self._ask("restored", before, after)
        return found

    def remove(self) -> None:
        with contextlib.suppress(HostLost, RowpathError):
            self._ask("remove")
