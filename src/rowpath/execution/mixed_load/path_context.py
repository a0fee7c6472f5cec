"""One path in one set: what all parts of a mixed load need to know of it, and what its clients were promised."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Literal

import numpy as np

from rowpath import text
from rowpath.engines.base import BackedUp, Far
from rowpath.execution.mixed_load import durability
from rowpath.execution.mixed_load.backups import BackupSite, Repetition
from rowpath.execution.mixed_load.client_processes import Processes
from rowpath.execution.mixed_load.durability import Ledger
from rowpath.execution.prepared_phases import PreparedPhase
from rowpath.execution.run_context import RunContext
from rowpath.execution.several_hosts import HERE, Hosts
from rowpath.execution.worker import Worker
from rowpath.journal.mixed_load_records import AcknowledgedRecord
from rowpath.journal.record_base import InSet, InStage
from rowpath.model.experiment import StageTable
from rowpath.model.workload import PhaseName
from rowpath.planning.client_groups import why_left_out
from rowpath.planning.plan import PlannedPath, key_of
from rowpath.runners.process import RunnerFailure


class PathContext:
    """A path in a set."""

    def __init__(self, run: RunContext, set_number: int, planned: PlannedPath, hosts: Hosts) -> None:
        self.run = run
        self.hosts = hosts.of(planned)
        self.set_number = set_number
        self.planned = planned
        self.experiment = run.plan.experiment
        self.client_groups = {group.name: group for group in self.experiment.client_groups}
        self.instance = run.engine_instances[key_of(planned.path)]
        self.works = run.prepared_workloads(planned)
        self.bad = run.bad.get(planned.path.id, {})  # phase → status
        self.folder = run.directory.work / "groups" / f"{run.plan.paths.index(planned)}-{set_number}"
        self.folder.mkdir(parents=True, exist_ok=True)

    def work(self, name: str) -> PreparedPhase:
        """The phase `workload.phase`, ready."""
        return self.works[PhaseName.of(name).workload].phases[name]

    def can_run(self, table: StageTable) -> bool:
        """Whether this path can run that stage; why not is noted, in the first set."""
        if table.extended and not self.run.plan.extended:
            return False
        why = why_left_out(self.experiment, table, self.planned)
        for group in (self.client_groups[name] for name in table.client_groups):
            if not why and group.phase in self.bad:
                why = f"{group.phase} is {self.bad[group.phase]}"
            elif not why and group.action and (self.hosts is HERE and not isinstance(self.instance, BackedUp)):
                # On hosts it is always ours.
                why = "no backup method is available"
        if why and self.set_number == 0:
            self.note(f"skipped stage '{table.name}': {why}")
        return not why

    def backup_site(self, name: str) -> BackupSite:
        """Where a backup is made, by a name of its own in this set. Errors: EnvironmentMissing."""
        return self.hosts.backup_site(self.planned, self.instance, self.folder / name, f"{self.set_number}-{name}")

    def open(self, connections: Mapping[str, int]) -> Processes:
        """Client processes with that many connections for each group. Errors: RunnerFailure."""
        planned, run = self.planned, self.run
        key = key_of(planned.path)
        if key not in run.engine_instances:
            raise RunnerFailure("connect", f"{key[0]} exited and did not restart")
        groups = [self.client_groups[name] for name in connections]
        processes = self.hosts.client_processes(run, planned, connections, groups)
        try:
            for record in processes.open(run.engine_instances.way_to(planned.path, sum(connections.values()))):
                record.started_ns = run.now_ns()
                self.write(record)
        except BaseException:
            processes.close()
            raise
        return processes

    def open_one(self) -> Processes:
        """One process with one connection, to look at what is there. Errors: RunnerFailure."""
        return self.open({next(iter(self.client_groups)): 1})

    def note(self, text: str) -> None:
        """Journal and show what a reader should know."""
        self.run.note(f"{self.planned.name}: {text}")

    def write(self, record: InSet | InStage) -> None:
        """Journal a record of this path in this set."""
        record.set, record.path_id = self.set_number, self.planned.path.id
        self.run.journal.write(record)


class DurabilityChecks:
    """The ledger of a path in a set; None without a phase that counts its writes."""

    def __init__(self, context: PathContext) -> None:
        self._context = context
        self._counting = durability.counting(context.planned, context.works)
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

        def start() -> int:
            if not context.planned.path.served:
                return 0
            begun_ns = time.monotonic_ns()
            context.instance.start()
            took_ns = time.monotonic_ns() - begun_ns
            return context.instance.start_ns if isinstance(context.instance, Far) else took_ns

        worker, kill = durability.recover(start, connected, self._counting[1] if self._counting else None)
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

    def restore(self, made: Repetition, stage: str) -> None:
        """Journal a backup, once it is known whether it can be restored; what it kept is removed."""
        context = self._context
        record = made.record(stage, context.run.started_ns)
        if made.ok:
            nothing = Ledger(np.zeros(0, dtype=np.uint32), np.zeros(0, dtype=np.uint32))
            before, after = made.ledger_before or nothing, made.ledger_after or nothing
            context.run.progress.note(f"{context.planned.name}: restoring the backup")
            restored = made.site.restored(context.run, before, after)
            record.restored, record.reason, record.checked = restored.ok, restored.reason, restored.checked
            if not restored.ok:
                context.note(f"backup ({made.backup.way}): {restored.reason}")
            if made.ledger_after is not None:
                acknowledged = AcknowledgedRecord(stage=stage, when="backup", in_doubt=int(after.doubtful.sum()))
                for name in ("rows", "writes", "lost", "doubled"):
                    setattr(acknowledged, name, getattr(restored.checked, name))
                acknowledged.ok, acknowledged.reason = restored.ok, restored.reason
                context.write(acknowledged)
        context.write(record)
        made.site.remove()

    def _look(self, processes: Processes, when: Literal["end", "kill"], stage: str) -> None:
        if self._counting is None or self.ledger is None:
            return
        record = processes.check_ledger(*self._counting, self.ledger, self._context.folder)
        record.when, record.stage = when, stage
        self._context.write(record)
        if not record.ok:
            self._context.note(f"acknowledged writes: {record.reason}")
