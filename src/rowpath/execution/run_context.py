"""What those who carry out a run share: the plan, where its results go, its engines, and which paths have failed."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Protocol

from rowpath.engines.base import Instance
from rowpath.execution.prepared_phases import PreparedWorkload
from rowpath.execution.warm_up import Patience
from rowpath.journal.record_base import InSet
from rowpath.journal.records import FailureRecord, LinkRecord, NoiseRecord, NoteRecord, SetEndRecord, SetRecord
from rowpath.journal.writer import Journal, RunDirectory
from rowpath.machine import cpus, disk_space, processes
from rowpath.machine.counters import noise
from rowpath.model.path import AccessPath
from rowpath.model.progress import Progress
from rowpath.model.workload import PhaseName, Workload
from rowpath.planning.plan import Key, Plan, PlannedPath, key_of
from rowpath.runners.process import RunnerFailure
from rowpath.scrubber import Scrubber
from rowpath.text import printable

FAILED_SETS_LIMIT = 2  # a path whose runner was lost in this many sets is not started again


class Instances(Protocol):
    """The engine instances of a run as those see them who measure: no server can be started or stopped through it."""

    def __getitem__(self, key: Key) -> Instance: ...
    def __contains__(self, key: Key) -> bool: ...

    def pids(self) -> list[int]:
        """Every process of every private server and every pooler."""

    def way_to(self, path: AccessPath, clients: int = 0) -> dict[str, Any]:
        """What `open` gets so that a path goes through its emulated link or pooler; empty for a path without one.

        `clients`: how many connect at once, where that is not the path's coordinate. Errors: RunnerFailure.
        """

    def learn_link(self, record: LinkRecord) -> None:
        """Make that link's proxies as exact as the one that was measured."""

    def pooler_pids(self, path: AccessPath) -> list[int]:
        """Every process of the path's pooler; none for a path without one."""

    def stop_pooler(self, path: AccessPath) -> None:
        """Stop the path's pooler; the next way to it starts another."""


class PreparedPhases(Protocol):
    """Where the phases of a path come from, ready for its engine."""

    def path_work(self, workload: Workload, path: AccessPath, instance: Instance) -> PreparedWorkload:
        """The workload ready for that path on its loaded instance."""


@dataclass(frozen=True)
class RunContext:
    """One run: what does not change while it goes on, and its record of failures."""

    plan: Plan
    directory: RunDirectory
    journal: Journal
    scrubber: Scrubber
    progress: Progress
    timeout_s: float
    engine_instances: Instances
    phase_cache: PreparedPhases
    restart_servers: bool = False  # for every set, however long they take to warm up
    bad: dict[str, dict[str, str]] = field(default_factory=dict)  # path id → phase (empty: all) → status
    lost: dict[str, set[int]] = field(default_factory=dict)  # path id → sets in which its runner was lost
    patience: Patience = field(default_factory=Patience)
    started_ns: int = field(default_factory=time.monotonic_ns)

    def runnable(self, planned: PlannedPath) -> bool:
        """Whether the path's engine is up, the path passed verification, and its runner was not lost too often."""
        failed = "" in self.bad.get(planned.path.id, {})
        often_lost = len(self.lost.get(planned.path.id, ())) >= FAILED_SETS_LIMIT
        return not failed and not often_lost and key_of(planned.path) in self.engine_instances

    def prepared_workloads(self, planned: PlannedPath) -> dict[str, PreparedWorkload]:
        """The workloads of the path's phases, ready for its engine."""
        instance = self.engine_instances[key_of(planned.path)]
        workloads = (self.plan.workloads[name] for name in planned.workloads)
        return {workload.name: self.phase_cache.path_work(workload, planned.path, instance) for workload in workloads}

    def log_of(self, planned: PlannedPath) -> Callable[[str], None]:
        """Writes a line of the path's runner into the path's log file, without secrets."""
        file = self.directory.logs / f"{self.plan.paths.index(planned):02d}-{planned.adapter.language}.log"

        def write(line: str) -> None:
            with file.open("a", encoding="utf-8") as stream:
                stream.write(self.scrubber.clean_own(line) + "\n")

        return write

    @contextlib.contextmanager
    def failures_kept(self, set_number: int, planned: PlannedPath) -> Iterator[None]:
        """A RunnerFailure within is a failure of the path in that set."""
        try:
            yield
        except RunnerFailure as failure:
            self.fail(set_number, planned, "", failure)

    def write(self, record: InSet, set_number: int, planned: PlannedPath, name: str = "") -> None:
        """Journal a record of a path in a phase, `workload.phase` (empty: as a whole); −1: the verification pass."""
        record.set, record.path_id = set_number, planned.path.id
        record.workload, record.phase = PhaseName.of(name)
        self.journal.write(record)

    def fail(self, set_number: int, planned: PlannedPath, name: str, failure: RunnerFailure) -> None:
        """Journal and show a failure of a path in a phase (empty: as a whole); RowpathError when the disk is full."""
        self.keep(set_number, planned, name, failure)
        self.progress.note(f"{planned.name}: {failure.kind}: {failure.text}")
        if failure.fatal:
            self.lost.setdefault(planned.path.id, set()).add(set_number)

    def keep(self, set_number: int, planned: PlannedPath, name: str, failure: RunnerFailure, status: str = "") -> str:
        """Journal a failure; its status (without one: unsupported or failed). RowpathError when the disk is full."""
        self.stop_when_full(failure.text)
        kind, text, code = failure.kind, failure.text, failure.code
        record = FailureRecord.of(set_number, planned.path.id, name, kind, text, code=code, status=status)
        self.journal.write(record)
        return record.status

    @contextlib.contextmanager
    def one_set(
        self, set_number: int, batch: int, members: Sequence[PlannedPath], anchors: Sequence[str] = ()
    ) -> Iterator[None]:
        """Journal the body as `set` … `set-end`, with the noise before and after it; it has no end when it raises."""
        for pid in self.engine_instances.pids():  # a server that no path here uses stays there
            processes.pin(pid, cpus.spare_cpus())
        self.journal.write(SetRecord(set_number, batch, [planned.path.id for planned in members], list(anchors)))
        self._note_noise(set_number, batch, "before")
        yield
        self._note_noise(set_number, batch, "after")
        self.journal.write(SetEndRecord(set_number, batch))

    def _note_noise(self, set_number: int, batch: int, when: str) -> None:
        read = noise.read(cpus.server_cpus()[0])
        self.journal.write(NoiseRecord(set=set_number, batch=batch, when=when, **asdict(read)))

    def note(self, text: str) -> None:
        """Say something about the run as a whole, now and in the report."""
        self.journal.write(NoteRecord(text))
        self.progress.note(text)

    def stop_when_full(self, text: str) -> None:
        """End the run when an operation failed for want of disk space: no path is to blame for that."""
        if disk_space.is_full(text) or disk_space.is_used_up(self.directory.path):
            raise disk_space.error(self.directory.path, printable(text))

    def now_ns(self) -> int:
        """Monotonic time since the run began."""
        return time.monotonic_ns() - self.started_ns
