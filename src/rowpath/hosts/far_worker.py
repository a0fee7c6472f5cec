"""A worker and a backup on another host, as the controller sees them."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from typing_extensions import override

from rowpath.engines.base import Backup, Instance
from rowpath.errors import RowpathError
from rowpath.execution.in_turn import CallOutcome, WorkerCall
from rowpath.execution.measured import Measured
from rowpath.execution.mixed_load.backups import BackupSite, Ended
from rowpath.execution.mixed_load.durability import Ledger, Restored
from rowpath.execution.prepared_phases import PreparedPhase
from rowpath.execution.run_context import RunContext
from rowpath.execution.several_hosts import HostLost
from rowpath.execution.worker import Worker
from rowpath.hosts.replies import Ask, Reply, forwarding, value_of
from rowpath.planning.plan import PlannedPath
from rowpath.runners.process import Runner, RunnerFailure

LEAD_NS = 100_000_000  # the word to begin must reach the client's host before the begin


class FarRunner(Runner):
    """What is known here of a runner on another host."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.noise = []
        self._lives = True
        self._why = ""

    @override
    def alive(self) -> bool:
        """Whether it was, as far as its last reply showed."""
        return self._lives

    def ended(self, why: str = "") -> None:
        """A reply showed that it is gone."""
        self._lives, self._why = False, self._why or why

    @override
    def lost(self) -> RunnerFailure:
        return RunnerFailure("crashed", self._why)


@dataclass(frozen=True)
class PhaseThere:
    """A phase as it crosses: its host has made it ready too."""

    name: str


@dataclass(frozen=True)
class TogetherThere:
    """The workers on one host, called in one request; once a call of one has failed, its next are not made."""

    host: str
    ask: Ask = field(compare=False)

    def __call__(self, calls: Sequence[WorkerCall]) -> list[CallOutcome]:
        """Send all calls in one request. Errors: HostLost."""
        workers = [call.worker for call in calls if isinstance(call.worker, FarWorker)]
        words = []
        for worker, call in zip(workers, calls, strict=True):
            crossing = [
                PhaseThere(value.name) if isinstance(value, PreparedPhase) else value for value in call.arguments
            ]
            words.append((worker.number, call.method, crossing, call.named))
        replies = self.ask("workers", words)
        now_ns = time.monotonic_ns()
        return [
            partial(worker.received, reply, noise, now_ns - ago_ns)
            for worker, (reply, noise, ago_ns) in zip(workers, replies, strict=True)
        ]


@forwarding()
class FarWorker(Worker):
    """A worker on its path's client host. Failures arise as a worker's own do; its processes are not of this host."""

    together: TogetherThere
    runner: FarRunner

    def __init__(
        self, planned: PlannedPath, together: TogetherThere, number: int, pid: int, has_helpers: bool = False
    ) -> None:
        """`number`: its host's of it; `has_helpers`: whether helper threads take part there."""
        self.planned = planned
        self.together = together
        self.number = number
        self.runner = FarRunner(pid)
        self.instance = FarFiles(planned)
        self.clients = planned.path.clients
        self._has_helpers = has_helpers
        self.pids = []

    def received(self, reply: Reply, noise: list[str], at_ns: int) -> Any:
        """The result of a call there, which ended at `at_ns` of our clock. Errors: as they arose there."""
        if noise:
            self.runner.noise = noise
        try:
            value = value_of(self.together.host, reply)
        except RunnerFailure as failure:
            if failure.fatal:
                self.runner.ended()
            raise
        if isinstance(value, Measured):
            value.ended_ns = at_ns
        return value

    def _there(self, method: str, *arguments: Any, **named: Any) -> Any:
        (outcome,) = self.together([WorkerCall(self, method, arguments, named)])
        return outcome()

    @property
    @override
    def has_helpers(self) -> bool:
        return self._has_helpers

    @property
    @override
    def measured_cpus(self) -> tuple[int, ...]:
        return ()  # none here

    @override
    def close(self) -> None:
        with contextlib.suppress(RunnerFailure, RowpathError, HostLost):
            self._there("close")


class FarFiles(Instance):
    """The instance of a far worker, where only the place of its files could be asked for: it has none here."""

    def __init__(self, planned: PlannedPath) -> None:
        self.deployment = planned.path.deployment


class FarBackup(BackupSite):
    """A backup that is made and kept on its engine's host; instants are of our clock, but every span is one host's."""

    lead_ns = LEAD_NS

    def __init__(self, path_id: str, name: str, ask: Ask, offset_ns: Callable[[], int]) -> None:
        """`offset_ns`: the host's clock less ours. Errors: EnvironmentMissing, HostLost."""
        self._there = partial(ask, "backup", path_id, name)
        self._offset_ns = offset_ns
        self.backup: Backup = ask("backup_make", path_id, name)

    @override
    def start(self) -> int:
        return int(self._there("start")) - self._offset_ns()

    @override
    def ended(self) -> Ended | None:
        ended: Ended | None = self._there("ended")
        return Ended(ended.at_ns - self._offset_ns(), ended.reason) if ended is not None else None

    @override
    def stop(self) -> None:
        """A lost host ends the backup by itself."""
        with contextlib.suppress(HostLost, RowpathError):
            self._there("stop")

    @override
    def pids(self) -> list[int]:
        return []

    @override
    def kept_bytes(self) -> int | None:
        """None when the host is lost."""
        with contextlib.suppress(HostLost):
            kept: int | None = self._there("kept_bytes")
            return kept
        return None

    @override
    def restored(self, _context: RunContext, before: Ledger, after: Ledger) -> Restored:
        restored: Restored = self._there("restored", before, after)
        return restored

    @override
    def remove(self) -> None:
        with contextlib.suppress(HostLost, RowpathError):
            self._there("remove")
