"""One path in one set: what all parts of a mixed load need to know of it, and how it is journalled."""

from __future__ import annotations

from collections.abc import Mapping

from rowpath.engines.base import BackedUp
from rowpath.execution.mixed_load.backup_site import BackupSite
from rowpath.execution.mixed_load.client_processes import Processes
from rowpath.execution.prepared_phases import PreparedPhase
from rowpath.execution.run_context import RunContext
from rowpath.execution.several_hosts import Hosts
from rowpath.journal.record_base import InSet, InStage
from rowpath.journal.records import NoteRecord
from rowpath.model.experiment import StageTable
from rowpath.model.workload import PhaseName
from rowpath.planning.client_groups import why_left_out
from rowpath.planning.plan import PlannedPath, key_of
from rowpath.runners.process import RunnerFailure


class PathContext:
    """A path in a set."""

    def __init__(self, run: RunContext, set_number: int, planned: PlannedPath, hosts: Hosts | None = None) -> None:
        """`hosts`: those of a path that runs on them."""
        self.run = run
        self.hosts = hosts if hosts is not None and hosts.is_far(planned) else None
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
            elif not why and group.action and not self._backed_up():
                why = "no backup method is available"
        if why and self.set_number == 0:
            self.note(f"skipped stage '{table.name}': {why}")
        return not why

    def _backed_up(self) -> bool:
        return self.hosts is not None or isinstance(self.instance, BackedUp)  # on hosts it is always ours

    def backup_site(self, name: str) -> BackupSite:
        """Where a backup is made, by a name of its own in this set. Errors: EnvironmentMissing."""
        if self.hosts is not None:
            return self.hosts.backup_site(self.planned, f"{self.set_number}-{name}")
        return BackupSite(self.planned, self.instance, self.folder / name)

    def open(self, connections: Mapping[str, int]) -> Processes:
        """Client processes with that many connections for each group. Errors: RunnerFailure."""
        planned, run = self.planned, self.run
        key = key_of(planned.path)
        if key not in run.engine_instances:
            raise RunnerFailure("connect", f"{key[0]} exited and did not restart")
        if self.hosts is not None:
            groups = [self.client_groups[name] for name in connections]
            processes = self.hosts.client_processes(planned, self.instance, connections, groups)
        else:
            log = run.log_of(planned)
            processes = Processes(planned, self.instance, connections, log=log, timeout_s=run.timeout_s)
        try:
            for record in processes.open(run.engine_instances.way_to(planned.path)):
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
        self.run.journal.write(NoteRecord(f"{self.planned.name}: {text}"))
        self.run.progress.note(f"{self.planned.name}: {text}")

    def write(self, record: InSet | InStage) -> None:
        """Journal a record of this path in this set."""
        record.set, record.path_id = self.set_number, self.planned.path.id
        self.run.journal.write(record)
