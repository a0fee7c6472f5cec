"""The order of a run: engines up, load, prove, sets of interleaved blocks, engines down; journalled as it goes."""

from __future__ import annotations

import contextlib
import os
import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rowpath.analysis.analyse import gather
from rowpath.engines import ENGINES
from rowpath.engines.base import External
from rowpath.errors import RowpathError
from rowpath.execution import emulated_link
from rowpath.execution.instances import EngineInstances
from rowpath.execution.mixed_load import directory_copies
from rowpath.execution.mixed_load.schedule import MixedLoadSchedule
from rowpath.execution.prepared_phases import PhaseCache, PreparedWorkload
from rowpath.execution.set_phase import SetPhase
from rowpath.execution.verification_pass import VerificationPass
from rowpath.execution.worker import Worker
from rowpath.journal.reader import Done
from rowpath.journal.writer import Journal, RunDirectory, Scrubber
from rowpath.machine import cpus, disk_space, processes
from rowpath.machine.counters import noise, sync_cost, syncs
from rowpath.model.progress import Progress
from rowpath.planning.instance_key import Key, key_of
from rowpath.planning.plan import SET_LIMIT, Plan, PlannedPath
from rowpath.runners.process import RunnerFailure
from rowpath.text import printable
from rowpath.workloads import generators, load_progress

FAILED_SETS_LIMIT = 2  # a path that was lost in so many sets is not started again


class Schedule:
    """One run of a plan."""

    def __init__(
        self,
        plan: Plan,
        directory: RunDirectory,
        journal: Journal,
        scrubber: Scrubber,
        progress: Progress,
        *,
        timeout_s: float,
        restart_servers: bool = False,
        done: Done | None = None,
    ) -> None:
        self.plan = plan
        self.directory = directory
        self.journal = journal
        self.scrubber = scrubber
        self.progress = progress
        self.timeout_s = timeout_s
        self.restart_servers = restart_servers
        self.done = done or Done()
        self.phase_cache = PhaseCache(directory.work / "params")
        self.engine_instances = EngineInstances(directory.work, self.phase_cache, scrubber.add)
        self.bad = self.done.bad
        self.lost: dict[str, set[int]] = {}  # path id → sets in which its runner was lost
        self._server_syncs: dict[Key, Any] = {}
        self.started_ns = time.monotonic_ns()

    def run(self, measure: bool = True) -> None:
        """Everything; engines and runners are stopped on every way out."""
        cpus.usable()
        os.sched_setaffinity(0, cpus.controller_cpus())
        try:
            with load_progress.watched(self.progress.loading):
                self._bring_up()
                self._measure_links()
                if any(self.plan.phase(name).writes for planned in self.plan.paths for name in planned.phases):
                    self.journal.write("sync-cost", **asdict(sync_cost.measure(self.directory.work)))
                if measure and not self.done.proven:
                    self._move()
                self._prove_all(measure)
            if measure:
                self._measure_all()
        except Exception as error:
            if isinstance(error, RowpathError) or not disk_space.is_full(error):
                raise
            raise disk_space.error(self.directory.path, printable(str(error))) from error
        finally:
            self.progress.end()
            self.engine_instances.stop_all()
            processes.stop_all()
            shutil.rmtree(self.directory.work, ignore_errors=True)

    def runnable(self, planned: PlannedPath) -> bool:
        """Whether the path's engine is up and the path itself neither failed in the proof nor was lost too often."""
        proven = "" not in self.bad.get(planned.path.id, {})
        return (
            proven
            and key_of(planned.path) in self.engine_instances
            and len(self.lost.get(planned.path.id, ())) < FAILED_SETS_LIMIT
        )

    def _bring_up(self) -> None:
        keys = dict.fromkeys(key_of(planned.path) for planned in self.plan.paths)
        for table in [table for workload in self.plan.workloads.values() for table in workload.tables.values()]:
            if table.rows:
                generators.kept_file(table)  # without it no engine can be loaded: its failure ends the run
        for number, key in enumerate(keys, 1):
            named = " ".join(part for part in key if part != "none")
            self.progress.note(f"starting and loading {named} ({number} of {len(keys)})")
            try:
                self.engine_instances.bring_up(self.plan.paths, self.plan.workloads, key)
            except (RowpathError, RunnerFailure) as error:
                self.engine_instances.forget(key)
                for planned in self.plan.paths:
                    if key_of(planned.path) == key:
                        self.fail(-1, planned, "", RunnerFailure("connect", str(error)))

    def _move(self) -> None:
        """Databases moved by copying their directories: a step of an experiment of groups, before the first set."""
        if self.plan.experiment.directory_copies:
            folder, log = self.directory.work / "moves", self.log_of(self.plan.paths[0])
            directory_copies.carry_out_all(
                self.plan, folder, self.journal.write, self.progress.note, log, self.timeout_s
            )

    def _measure_links(self) -> None:
        for value, placement in dict.fromkeys((p.path.get("link"), p.path.get("placement")) for p in self.plan.paths):
            if value != "none":
                self.progress.note(f"measuring the link {value}, placement {placement}")
                try:
                    measured = emulated_link.measure(value, placement, self.directory.work / "link")
                    self.journal.write("link", **asdict(measured))
                except RunnerFailure as failure:  # its paths run all the same, nothing is predicted for them
                    self.journal.write("note", text=f"the link {value} could not be measured: {failure}")

    def engine_works(self, planned: PlannedPath) -> dict[str, PreparedWorkload]:
        """The workloads of the path's phases, ready for its engine."""
        names = dict.fromkeys(name.partition(".")[0] for name in planned.phases)
        instance = self.engine_instances[key_of(planned.path)]
        return {name: self.phase_cache.path_work(self.plan.workloads[name], planned.path, instance) for name in names}

    def _prove_all(self, measure: bool) -> None:
        todo = [p for p in self.plan.paths if p.path.id not in self.done.proven and self.runnable(p)]
        writing = {key_of(p.path) for p in todo if any(self.plan.phase(name).writes for name in p.phases)}
        ours = {
            key
            for key in writing
            if key in self.engine_instances and not isinstance(self.engine_instances[key], External)
        }
        counted = [key for key in ours if key[1] == "server" and syncs.probe() == syncs.MEANS]
        for key in counted:
            file = syncs.make_file(self.directory.work / "-".join((*key, "syncs")))
            self._server_syncs[key] = file
            self._restart(key, syncs.environment(file))
        verification_pass = VerificationPass(
            self.journal.write, self.directory.work, self.timeout_s, count_commits=measure
        )
        for number, planned in enumerate(todo, 1):
            key = key_of(planned.path)
            self.revive(key)
            if key not in self.engine_instances:
                continue
            self.progress.note(f"proving {planned.name} ({number} of {len(todo)})")
            bad = verification_pass.prove(
                planned,
                self.engine_instances[key],
                self.engine_works(planned),
                self.log_of(planned),
                self._server_syncs.get(key),
                self.engine_instances.way_to,
            )
            self.bad[planned.path.id] = bad
            self.journal.write("proven", path_id=planned.path.id, bad=bad)
            for phase, status in bad.items():
                self.progress.note(f"{planned.name}: {phase or 'the whole path'} is {status}")
        for key in counted:
            self._restart(key)

    def log_of(self, planned: PlannedPath) -> Callable[[str], None]:
        """Where what the path's runner says goes, without secrets."""
        file = self.directory.logs / f"{self.plan.paths.index(planned):02d}-{planned.adapter.language}.log"

        def write(line: str) -> None:
            with file.open("a", encoding="utf-8") as stream:
                stream.write(self.scrubber.clean(line) + "\n")

        return write

    def _measure_all(self) -> None:
        if self.plan.experiment.client_groups:
            MixedLoadSchedule(self).run()
            return
        measure = self.plan.experiment.measure
        for set_number in range(measure.sets):
            for group_number, group in enumerate(self.plan.batches):
                if (group_number, set_number) not in self.done.sets:
                    self._set(set_number, group_number, group)
        extra = len(self.plan.batches)
        for set_number in range(measure.sets, measure.max_sets):
            if (extra, set_number) in self.done.sets:
                continue
            wide = too_wide(self.directory.path, measure.target_half_width)
            group = tuple(planned for planned in self.plan.paths if planned.path.id in wide)
            if not group:
                break
            self.progress.note(
                f"set {set_number + 1}: repeating {len(wide)} paths whose confidence interval is still too wide"
            )
            self._set(set_number, extra, group)

    def _set(self, set_number: int, group_number: int, group: tuple[PlannedPath, ...]) -> None:
        members = [p for p in group if self.runnable(p)]
        if not members:
            return
        self.renew(members, first=set_number == 0)
        anchors = list(self.plan.anchors)
        ids = [p.path.id for p in members]
        self.journal.write("set", set=set_number, group=group_number, path_ids=ids, anchors=anchors)
        self.journal.write(
            "noise", set=set_number, group=group_number, when="before", **asdict(noise.read(cpus.server_cpus()[0]))
        )
        with contextlib.ExitStack() as cleanup:
            workers = self._start(set_number, members, cleanup)
            phases = [
                SetPhase(self, set_number, group_number, name, self._serving(workers, name))
                for name in self.plan.experiment.phases
            ]
            # Every cold pass before anything is warmed up: a process is fresh only once.
            for phase in phases:
                phase.cold()
            for phase in phases:
                phase.steady()
            for worker in workers:
                path_id = worker.planned.path.id
                if set_number not in self.lost.get(path_id, ()):
                    with self._guard(set_number, worker, ""):
                        self.journal.write("facts", set=set_number, path_id=path_id, facts=worker.facts())
                for line in worker.runner.noise:
                    self.journal.write("note", text=f"{worker.planned.name} said: {line}")
        self.journal.write(
            "noise", set=set_number, group=group_number, when="after", **asdict(noise.read(cpus.server_cpus()[0]))
        )
        self.journal.write("set-end", set=set_number, group=group_number)

    def renew(self, members: list[PlannedPath], first: bool) -> None:
        """New server processes and new copies of embedded databases, so that what chance gave them varies over sets.

        A server that must be warmed up for seconds stays, except in a rigorous run.
        """
        for key in dict.fromkeys(key_of(planned.path) for planned in members):
            cheap = ENGINES[key[0]].server_warm_s == 0
            if not self.revive(key) and key[1] == "server" and not first and (cheap or self.restart_servers):
                self._restart(key)
        for planned in members:
            # In the first set too: the proof pass has written into what was loaded.
            if planned.path.get("deployment") == "embedded" and key_of(planned.path) in self.engine_instances:
                self.engine_instances[key_of(planned.path)].own_copy(planned.path)

    def _serving(self, workers: list[Worker], name: str) -> list[Worker]:
        return [i for i in workers if name in i.planned.phases and name not in self.bad.get(i.planned.path.id, {})]

    def revive(self, key: Key) -> bool:
        """Start a server again that is gone; whether it was."""
        if key not in self.engine_instances or key[1] != "server" or self.engine_instances[key].check():
            return False
        text = f"{key[0]} exited unexpectedly and was restarted"
        self.journal.write("note", text=text)
        self.progress.note(text)
        self._restart(key)
        return True

    def _restart(self, key: Key, environment: dict[str, str] | None = None) -> None:
        """Stop and start a server again; one that does not come back is a failure of its paths, not of the run."""
        if key not in self.engine_instances:
            return
        try:
            self.engine_instances.restart(key, environment)
        except RowpathError as error:
            self.engine_instances.forget(key)
            for planned in self.plan.paths:
                if key_of(planned.path) == key:
                    self.fail(-1, planned, "", RunnerFailure("connect", str(error)))

    def _worker(self, planned: PlannedPath) -> Worker:
        instance = self.engine_instances[key_of(planned.path)]
        return Worker(planned, instance, log=self.log_of(planned), timeout_s=self.timeout_s)

    def _start(self, set_number: int, members: list[PlannedPath], cleanup: contextlib.ExitStack) -> list[Worker]:
        started: list[Worker] = []
        for planned in members:
            if key_of(planned.path) not in self.engine_instances:
                continue
            try:
                worker = self._worker(planned)
            except (RunnerFailure, RowpathError) as error:
                failure = error if isinstance(error, RunnerFailure) else RunnerFailure("internal", str(error))
                self.fail(set_number, planned, "", failure)
                continue
            cleanup.callback(worker.close)
            started.append(worker)
        opened = []
        for worker in started:
            with self._guard(set_number, worker, ""):
                record = worker.open(**self.engine_instances.way_to(worker.planned.path))
                self.journal.write(
                    "worker",
                    set=set_number,
                    path_id=worker.planned.path.id,
                    started_ns=self.now_ns(),
                    **record,
                )
                opened.append(worker)
        for worker in opened:
            worker.notice_server()
        return opened

    @contextlib.contextmanager
    def _guard(self, set_number: int, worker: Worker, name: str) -> Iterator[None]:
        try:
            yield
        except RunnerFailure as failure:
            self.fail(set_number, worker.planned, name, failure)

    def fail(self, set_number: int, planned: PlannedPath, name: str, failure: RunnerFailure) -> None:
        """Journal a failure of a path in a phase (empty: as a whole)."""
        self.stop_when_full(failure.text)
        workload, _, phase = name.partition(".")
        status = "unsupported" if failure.kind == "unsupported" else "failed"
        self.journal.write(
            "failure",
            set=set_number,
            path_id=planned.path.id,
            workload=workload,
            phase=phase,
            status=status,
            kind=failure.kind,
            code=failure.code,
            text=printable(failure.text),
        )
        self.progress.note(f"{planned.name}: {failure.kind}: {failure.text}")
        if failure.fatal:
            self.lost.setdefault(planned.path.id, set()).add(set_number)

    def stop_when_full(self, text: str) -> None:
        """End the run when a failure's text says that the disk is full: no path is to blame for that."""
        if disk_space.is_full(text):
            raise disk_space.error(self.directory.path, printable(text))

    def now_ns(self) -> int:
        """Monotonic time since the run began."""
        return time.monotonic_ns() - self.started_ns


def too_wide(directory: Path, target: float) -> set[str]:
    """The paths whose steady ratio to the fastest is not known to `target`, with the fastest they are compared to.

    At most what one set holds, widest first. Empty when every interval is narrow enough.
    """
    widths: dict[str, float] = {}
    fastest: set[str] = set()
    for ranking in gather(directory).rankings:
        ranked = [row for row in ranking.rows if row.rank]
        for row in ranked if ranking.regime == "steady" else []:
            if row.ratio and row.ratio_low and row.ratio_high:
                width = (row.ratio_high - row.ratio_low) / (2 * row.ratio)
                if width > target and row.path_id != ranked[0].path_id:
                    widths[row.path_id] = max(width, widths.get(row.path_id, 0.0))
                    fastest.add(ranked[0].path_id)
    room = max(0, SET_LIMIT - len(fastest))
    widest = sorted(widths, key=lambda path_id: -widths[path_id])[:room]
    return {*widest, *fastest} if widest else set()
