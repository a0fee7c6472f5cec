"""The order of a run: engines up, verification, sets of interleaved blocks, engines down; journalled as it goes."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Iterable
from dataclasses import KW_ONLY, asdict, dataclass, field
from typing import Literal

from rowpath.errors import RowpathError
from rowpath.execution import emulated_link
from rowpath.execution.instances import EngineInstances, Renewal
from rowpath.execution.mixed_load.schedule import MixedLoadSchedule
from rowpath.execution.prepared_phases import PhaseCache
from rowpath.execution.run_context import RunContext
from rowpath.execution.run_options import RunOptions, TimeLimit
from rowpath.execution.set_runner import SetRunner
from rowpath.execution.several_hosts import HERE, HostLost, Hosts, LostHosts
from rowpath.execution.warm_up import Patience
from rowpath.journal.reader import Done, Records
from rowpath.journal.records import NoteRecord, SyncCostRecord, VerifiedRecord
from rowpath.journal.writer import Journal, RunDirectory
from rowpath.machine import cpus, disk_space, processes
from rowpath.machine.counters import syncs
from rowpath.model.progress import Progress
from rowpath.planning import client_groups
from rowpath.planning.make_plan import SET_LIMIT
from rowpath.planning.plan import Key, Plan, PlannedPath, key_of
from rowpath.runners.process import RunnerFailure
from rowpath.scrubber import Scrubber
from rowpath.text import printable
from rowpath.workloads import generators, load_progress

PathsToRepeat = Callable[[Records, int], set[str]]  # of what is journalled: paths for one more set, how many at most


@dataclass(eq=False)
class Schedule:
    """One run of a plan, on engines that it brings up itself."""

    plan: Plan
    options: RunOptions
    directory: RunDirectory
    journal: Journal
    scrubber: Scrubber
    progress: Progress
    _: KW_ONLY
    done: Done = field(default_factory=Done)  # by an earlier part of the same run
    paths_to_repeat: PathsToRepeat | None = None  # without it no set is added for wide intervals
    hosts: Hosts = HERE

    def __post_init__(self) -> None:
        work, connections = self.directory.work, client_groups.needed(self.plan)
        phase_cache, secret, far = PhaseCache(work / "params"), self.scrubber.add, self.hosts.bring_up
        self.engine_instances = EngineInstances(work, phase_cache, secret, far=far, connections=connections)
        self.context = RunContext(
            self.plan,
            self.directory,
            self.journal,
            self.scrubber,
            self.progress,
            self.options.timeout_s,
            self.engine_instances,
            phase_cache,
            patience=Patience(self.options.wait_for_quiet_s),
            restart_servers=self.options.restart_servers,
            bad=dict(self.done.bad),
        )
        self._renewal = Renewal(self.context, self.engine_instances)
        self._set_runner = SetRunner(self.context, lambda planned: self.hosts.of(planned).worker(self.context, planned))
        self._lost = LostHosts(self.context, self.hosts, self.engine_instances.forget_host, self._bring_up_one)

    def run(self, measure: bool = True) -> None:
        """Everything; engines and runners are stopped on every way out."""
        time_limit = TimeLimit(self.options.within_s, self.options.spent_s)
        cpus.usable()
        os.sched_setaffinity(0, cpus.controller_cpus())
        try:
            time_limit.keep(self._meet_hosts("before"))
            with load_progress.watched(self.progress.loading):
                self._bring_up()
                self._measure_links()
                self._measure_syncs()
                if measure and not self.done.verified:
                    self._move()
                self._verify_all(measure)
            if measure:
                self._measure_all(time_limit)
            if not self._lost.leave_nothing:
                self._meet_hosts("after")
            self._lost.end()
        except HostLost as lost:
            self.journal.write(NoteRecord(f"the run ended {self.context.now_ns() / 1e9:.1f} s after its begin: {lost}"))
            raise
        except Exception as error:
            if isinstance(error, RowpathError) or not disk_space.is_full(error):
                raise
            raise disk_space.error(self.directory.path, printable(str(error))) from error
        finally:
            self.progress.end()
            # First: an instance on a host that is lost cannot be stopped from here.
            self.hosts.end(self.directory.logs)
            self.engine_instances.forget_far()
            self.engine_instances.stop_all()
            processes.stop_all()
            shutil.rmtree(self.directory.work, ignore_errors=True)

    def _meet_hosts(self, when: Literal["before", "after"]) -> float:
        """What the hosts are, their clocks and the ways between them, into the journal; what measuring took, in s."""
        if when == "before":
            self.hosts.begin(self.plan, self.options.timeout_s, self.progress.note)
        begun_s = time.monotonic()
        for record in self.hosts.records(when):
            self.journal.write(record)
        return time.monotonic() - begun_s

    def _bring_up(self) -> None:
        if shared := cpus.not_kept_apart(p.path.placement for p in self.plan.paths if self.hosts.of(p) is HERE):
            self.journal.write(NoteRecord(shared))
        keys = dict.fromkeys(key_of(planned.path) for planned in self.plan.paths)
        for table in [table for workload in self.plan.workloads.values() for table in workload.tables.values()]:
            if table.rows:
                generators.kept_file(table)  # without it no engine can be loaded: its failure ends the run
        for number, key in enumerate(keys, 1):
            named = " ".join(part for part in key if part != "none")
            self.progress.note(f"starting and loading {named} ({number} of {len(keys)})")
            self._bring_up_one(key)

    def _bring_up_one(self, key: Key) -> None:
        try:
            self.engine_instances.bring_up(self.plan.paths, self.plan.workloads, key)
        except (RowpathError, RunnerFailure) as error:
            self._renewal.give_up(key, error)

    def _move(self) -> None:
        """Databases moved by copying their directories: a step of an experiment of groups, before the first set."""
        for engine in dict.fromkeys(move.engine for move in self.plan.experiment.directory_copies):
            of_engine = tuple(planned for planned in self.plan.paths if planned.path.engine == engine)
            if of_engine:
                self.hosts.of(of_engine[0]).copy_directories(self.context, of_engine)

    def _measure_links(self) -> None:
        for value, placement in dict.fromkeys((p.path.link, p.path.placement) for p in self.plan.paths):
            if value != "none":
                self.progress.note(f"measuring the link {value}, placement {placement}")
                try:
                    record = emulated_link.measure(value, placement, self.directory.work / "link")
                    self.context.engine_instances.learn_link(record)
                    self.journal.write(record)
                except RunnerFailure as failure:  # its paths run all the same, nothing is predicted for them
                    self.journal.write(NoteRecord(f"cannot measure the link {value}: {failure}"))

    def _writing(self, paths: Iterable[PlannedPath]) -> list[Key]:
        """The instances into which some of these paths write."""
        writing = (p for p in paths if any(self.plan.phase(name).writes for name in p.phases))
        return list(dict.fromkeys(key_of(planned.path) for planned in writing))

    def _measure_syncs(self) -> None:
        """What one sync costs on each disk that is written to."""
        for host in dict.fromkeys(key[-1] for key in self._writing(self.plan.paths)):
            cost = (self.hosts if host != "none" else HERE).sync_cost(host, self.directory.work)
            self.journal.write(SyncCostRecord(**asdict(cost), host=host.removeprefix("none")))

    def _verify_all(self, measure: bool) -> None:
        todo = [p for p in self.plan.paths if p.path.id not in self.done.verified and self.context.runnable(p)]
        instances = self.engine_instances
        writing = [key for key in self._writing(todo) if key in instances]
        counted = [key for key in writing if instances.server_syncs(key).method() == syncs.METHOD]
        for key in counted:
            self._renewal.restart(key, count_syncs=True)
        # A pooler keeps server connections, which report what they committed whenever they like.
        count_commits = measure and all(planned.path.pooler == "none" for planned in todo)
        for number, planned in enumerate(todo, 1):
            key = key_of(planned.path)
            self._renewal.revive(key)
            if key not in instances:
                continue
            self.progress.note(f"verifying {planned.name} ({number} of {len(todo)})")
            bad = self.hosts.of(planned).verify(self.context, planned, count_commits, instances.server_syncs(key))
            self.context.bad[planned.path.id] = bad
            self.journal.write(VerifiedRecord(planned.path.id, bad))
            for phase, status in bad.items():
                self.progress.note(f"{planned.name}: {phase or 'the whole path'} is {status}")
        for key in counted:
            self._renewal.restart(key)

    def _measure_all(self, time_limit: TimeLimit) -> None:
        if self.plan.experiment.client_groups:
            MixedLoadSchedule(self.context, self._renewal, self.done.sets, self._lost, self.hosts).run(time_limit)
            return
        measure = self.plan.experiment.measure
        for set_number in time_limit.sets(measure.sets, self.context.note):
            for batch_number, batch in enumerate(self.plan.batches):
                if (batch_number, set_number) not in self.done.sets:
                    self._set(set_number, batch_number, batch)
        if self.paths_to_repeat is not None:
            self._extra_sets(self.paths_to_repeat)

    def _extra_sets(self, paths_to_repeat: PathsToRepeat) -> None:
        """Sets of the paths whose interval is still too wide, until none is or the sets are used up."""
        measure = self.plan.experiment.measure
        extra = len(self.plan.batches)
        for set_number in range(measure.sets, measure.max_sets):
            if (extra, set_number) in self.done.sets:
                continue
            wide = paths_to_repeat(self.journal.records, SET_LIMIT)
            batch = tuple(planned for planned in self.plan.paths if planned.path.id in wide)
            if not batch:
                break
            paths = f"{len(wide)} paths whose confidence interval is still too wide"
            self.progress.note(f"set {set_number + 1}: repeating {paths}")
            self._set(set_number, extra, batch)

    def _set(self, set_number: int, batch_number: int, batch: tuple[PlannedPath, ...]) -> None:
        self._lost.look(f"set {set_number + 1}")
        able = [planned for planned in batch if self.context.runnable(planned) or self._lost.needed_by(planned)]
        while members := [planned for planned in able if not self._lost.needed_by(planned)]:
            complete = len(members) == len(able)
            if not complete and all(planned.path.is_null for planned in members):
                return
            # One without its lost members is no set that --resume may leave out.
            number = batch_number if complete else batch_number + len(self.plan.batches) + 1
            with self._lost.left_out():
                self._renewal.renew(members, first=set_number == 0)
                self._set_runner.run(set_number, number, members)
                return
