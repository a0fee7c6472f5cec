"""A worker and a backup on another host, as the controller sees them."""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, cast

from typing_extensions import override

from rowpath.engines.base import Backup, Instance, Settled
from rowpath.errors import RowpathError
from rowpath.execution.in_turn import CallOutcome, Together, WorkerCall
from rowpath.execution.measured import Measured
from rowpath.execution.mixed_load.backups import Ended
from rowpath.execution.mixed_load.durability import Ledger, Restored
from rowpath.execution.prepared_phases import PreparedPhase
from rowpath.execution.several_hosts import HostLost
from rowpath.execution.worker import Worker
from rowpath.hosts.replies import Ask, Reply, value_of
from rowpath.journal.records import WarmRecord, WorkerRecord
from rowpath.planning.plan import PlannedPath
from rowpath.runners import protocol
from rowpath.runners.process import RunnerFailure


class FarRunner:
    """What is known here of a runner on another host."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.noise: list[str] = []
        self._lives = True
        self._why = ""

    def alive(self) -> bool:
        """Whether it was, as far as its last reply showed."""
        return self._lives

    def ended(self, why: str = "") -> None:
        """A reply showed that it is gone."""
        self._lives, self._why = False, self._why or why

    def lost(self) -> RunnerFailure:
        """The failure of a process that has ended."""
        return RunnerFailure("crashed", self._why)


@dataclass(frozen=True)
class TogetherThere(Together):
    """The workers on one host, called in one request."""

    host: str
    ask: Ask = field(compare=False)

    @override
    def __call__(self, calls: Sequence[WorkerCall]) -> list[CallOutcome]:
        """Send all calls in one request. Errors: HostLost."""
        words = [
            (cast(FarWorker, call.worker).number, call.method, _by_name(call.arguments), call.named) for call in calls
        ]
        found = self.ask("workers", words)
        now_ns = time.monotonic_ns()
        return [
            partial(cast(FarWorker, call.worker).received, reply, noise, now_ns - ago_ns)
            for call, (reply, noise, ago_ns) in zip(calls, found, strict=True)
        ]


@dataclass
class FarWorker:
    """A worker on its path's client host; the methods that a set uses promise what those of `Worker` do.

    Failures arise as a worker's own do.
    """

    planned: PlannedPath
    together: TogetherThere
    warmed: bool = False
    warm_most_s: float = math.inf

    def __post_init__(self) -> None:
        self.number, pid, self.has_helpers = self.together.ask("worker_start", self.planned.path.id)
        self.runner = FarRunner(pid)
        self.measured_cpus: tuple[int, ...] = ()  # none here
        self.instance = FarFiles(self)
        self.clients = self.planned.path.clients
        self.alone = not self.planned.path.served

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
        (outcome,) = self.together([WorkerCall(cast(Worker, self), method, arguments, named)])
        return outcome()

    def open(self, **overrides: Any) -> WorkerRecord:
        record: WorkerRecord = self._there("open", **overrides)
        return record

    def notice_server(self) -> None:
        self._there("notice_server")

    def prepare(self, work: PreparedPhase) -> int:
        return int(self._there("prepare", work))

    def sample(self, work: PreparedPhase, regime: str, **how: int) -> Measured:
        measured: Measured = self._there("sample", work, regime, **how)
        return measured

    def warm_up(self, work: PreparedPhase, block_ns: int, least_ns: float, cap_ns: float) -> WarmRecord:
        """One call runs all blocks."""
        record: WarmRecord = self._there("warm_up", work, block_ns, least_ns, cap_ns)
        return record

    def verify(self, work: PreparedPhase, first: int, count: int, **more: Any) -> protocol.VerifyReply:
        reply: protocol.VerifyReply = self._there("verify", work, first, count, **more)
        return reply

    def first_answer_ns(self, work: PreparedPhase | None) -> int:
        return int(self._there("first_answer_ns", work))

    def run(self, statements: list[str]) -> None:
        self._there("run", statements)

    def reset(self, work: PreparedPhase) -> None:
        self._there("reset", work)

    def settle(self) -> Settled:
        settled: Settled = self._there("settle")
        return settled

    def written_bytes(self) -> int | None:
        found: int | None = self._there("written_bytes")
        return found

    def helpers_cpu_ns(self) -> int:
        return int(self._there("helpers_cpu_ns"))

    def reset_peaks(self) -> None:
        self._there("reset_peaks")

    def peaks(self) -> tuple[int | None, int | None]:
        found: tuple[int | None, int | None] = self._there("peaks")
        return found

    def facts(self) -> dict[str, Any]:
        found: dict[str, Any] = self._there("facts")
        return found

    def close(self) -> None:
        with contextlib.suppress(RunnerFailure, RowpathError, HostLost):
            self._there("close")


def _by_name(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """A phase goes by its name: its host has made it ready too."""
    return tuple(each.name if isinstance(each, PreparedPhase) else each for each in arguments)


class FarFiles(Instance):
    """The instance of a far worker, where only the place of its files could be asked for: it has none here."""

    def __init__(self, worker: FarWorker) -> None:
        self.deployment = worker.planned.path.deployment


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
