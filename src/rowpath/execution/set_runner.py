"""One set: a new worker for each path, every cold pass, then every phase warmed up and measured in blocks."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence

from rowpath.errors import RowpathError
from rowpath.execution.in_turn import of_each
from rowpath.execution.run_context import RunContext
from rowpath.execution.set_phase import SetPhase
from rowpath.execution.several_hosts import Hosts
from rowpath.execution.worker import Worker
from rowpath.journal.records import FactsRecord, NoteRecord
from rowpath.planning.plan import PlannedPath, key_of
from rowpath.runners.process import RunnerFailure

StartWorker = Callable[[PlannedPath], Worker]  # a new process, not yet connected; errors: RunnerFailure, RowpathError


class SetRunner:
    """Measures sets on engines that are up. It starts and stops workers, never an engine."""

    def __init__(
        self, context: RunContext, start_worker: StartWorker | None = None, hosts: Hosts | None = None
    ) -> None:
        self.context = context
        self._hosts = hosts
        self.journal = context.journal
        self._start_worker = start_worker or self._new_worker

    def run(self, set_number: int, batch_number: int, members: Sequence[PlannedPath]) -> None:
        """One set of these paths, journalled as `set` … `set-end`."""
        one_set = self.context.one_set(set_number, batch_number, members, self.context.plan.anchors)
        with one_set, contextlib.ExitStack() as cleanup:
            workers = self._start(set_number, members, cleanup)
            phases = [
                SetPhase(self.context, set_number, batch_number, name, self._able(workers, name))
                for name in self.context.plan.experiment.phases
            ]
            # Every cold pass before anything is warmed up: a process is fresh only once.
            for phase in phases:
                phase.cold()
            for phase in phases:
                phase.steady()
            living = [each for each in workers if set_number not in self.context.lost.get(each.planned.path.id, ())]
            for worker, facts in of_each(living, "facts"):
                with self.context.failures_kept(set_number, worker.planned):
                    self.context.write(FactsRecord(facts=facts()), set_number, worker.planned)
            for worker in workers:
                for line in worker.runner.noise:
                    self.journal.write(NoteRecord(f"{worker.planned.name} said: {line}"))

    def _able(self, workers: list[Worker], name: str) -> list[Worker]:
        bad = self.context.bad
        return [i for i in workers if name in i.planned.phases and name not in bad.get(i.planned.path.id, {})]

    def _new_worker(self, planned: PlannedPath) -> Worker:
        log = self.context.log_of(planned)
        if self._hosts is not None and self._hosts.is_far(planned):
            return self._hosts.worker(planned, log)
        instance = self.context.engine_instances[key_of(planned.path)]
        return Worker(planned, instance, log=log, timeout_s=self.context.timeout_s, pinned=True)

    def _start(self, set_number: int, members: Sequence[PlannedPath], cleanup: contextlib.ExitStack) -> list[Worker]:
        instances = self.context.engine_instances
        started: list[Worker] = []
        for planned in members:
            if key_of(planned.path) not in instances:
                continue
            try:
                worker = self._start_worker(planned)
            except (RunnerFailure, RowpathError) as error:
                failure = error if isinstance(error, RunnerFailure) else RunnerFailure("internal", str(error))
                self.context.fail(set_number, planned, "", failure)
                continue
            cleanup.callback(worker.close)
            started.append(worker)
        opened = []
        for worker in started:
            with self.context.failures_kept(set_number, worker.planned):
                record = worker.open(**instances.way_to(worker.planned.path))
                record.set, record.started_ns = set_number, self.context.now_ns()
                self.journal.write(record)
                opened.append(worker)
        for _worker, notice in of_each(opened, "notice_server"):
            notice()
        return opened
