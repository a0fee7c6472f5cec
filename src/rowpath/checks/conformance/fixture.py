"""The engines of a conformance run, each started once for all of its paths, and the connection under test."""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path

from rowpath.checks.conformance.paths import Case, cases, phase_name, reason_against, workload_of, workloads
from rowpath.engines.base import Instance
from rowpath.engines.embedded import EmbeddedDatabase
from rowpath.execution.instances import EngineInstances
from rowpath.execution.prepared_phases import PhaseCache, PreparedPhase, PreparedWorkload
from rowpath.execution.worker import Worker
from rowpath.model.workload import Phase
from rowpath.planning.plan import PlannedPath, key_of
from rowpath.runners import manifest
from rowpath.runners.process import Runner, RunnerFailure
from rowpath.runners.protocol import Close, CloseReply

TIMEOUT_S = 60.0
CLOSE_TIMEOUT_S = 20.0
NOTHING = PreparedPhase("null.nothing", Phase("nothing", "null"), "", (), (), None, 0)
ProcessKey = tuple[str, tuple[str, ...]]


class EngineFixture:
    """One engine instance at a time, and one connection: take paths in an order that has those of an instance together.

    A runner process serves all paths of its adapter that have its command, one after the other: `close`, then `open`.
    `directory` is private and outlives the fixture; what runners write is not kept. Everything is stopped by `end`.
    """

    def __init__(self, directory: Path, paths: tuple[PlannedPath, ...]) -> None:
        self.directory = directory
        self.phase_cache = PhaseCache(directory / "parameters")
        self.engine_instances = EngineInstances(directory, self.phase_cache, lambda _secret: None)
        self._paths = paths
        self._numbers = itertools.count()
        self._built: set[tuple[str, ...]] = set()
        self._connection: Worker | None = None
        self._processes: dict[ProcessKey, Runner] = {}  # of one adapter

    def instance(self, planned: PlannedPath) -> Instance:
        """The path's engine, loaded with everything that the cases need; the one before is stopped."""
        key = key_of(planned.path)
        if key in self.engine_instances:
            return self.engine_instances[key]
        self.end()
        folder = self.directory / f"instance-{next(self._numbers)}"
        folder.mkdir()
        folder.chmod(self.directory.stat().st_mode)
        self.engine_instances = EngineInstances(folder, self.phase_cache, lambda _secret: None)
        sharing = [path for path in self._paths if key_of(path.path) == key and not reason_against(path)]
        phases = dict.fromkeys(phase for path in (*sharing, planned) for phase in path.phases)
        instance = self.engine_instances.bring_up((replace(planned, phases=tuple(phases)),), workloads(), key)
        if isinstance(instance, EmbeddedDatabase):
            instance.share_copy(planned.path)
        return self.engine_instances[key]

    def unconnected(
        self, planned: PlannedPath, environment: dict[str, str] | None = None, instance: Instance | None = None
    ) -> Worker:
        """A process of the caller's own, started, no message sent."""
        self._build(planned)
        where = instance or self.instance(planned)
        return Worker(planned, where, log=lambda _line: None, timeout_s=TIMEOUT_S, environment=environment)

    def exclusive(self, planned: PlannedPath) -> Worker:
        """A worker that is not connected, and no other process on the path: an embedded engine may lock its files."""
        self.end_processes()
        return self.unconnected(planned)

    def connected(self, planned: PlannedPath, clients: int = 0) -> Worker:
        """The connection under test, the same for checks of a path that follow one another; the one before is closed.

        `clients`: connections for groups at work at once; 0: as many as the path's coordinate says.
        """
        current = self._connection
        if current is None or (current.planned, current.grouped) != (planned, bool(clients)):
            self.disconnect()
        elif current.runner.alive():
            return current
        instance = self.instance(planned)
        self._build(planned)
        key = self._process_key(planned, instance)
        if any(other[0] != key[0] or (other != key and not planned.path.served) for other in self._processes):
            self.end_processes()
        idle = self._processes.get(key)
        idle = idle if idle and idle.alive() else None
        worker = Worker(planned, instance, log=lambda _line: None, timeout_s=TIMEOUT_S, clients=clients, runner=idle)
        self._processes[key] = worker.runner
        try:
            worker.open()
        except BaseException:
            self.end_processes()
            raise
        self._connection = worker
        return worker

    def _process_key(self, planned: PlannedPath, instance: Instance) -> ProcessKey:
        """The adapter, and what a process keeps for its whole life: command, server in a library, some coordinates."""
        start = manifest.command(planned.adapter, planned.path.version, planned.path)
        server_arguments = str(instance.options(planned.path).get("server_arguments", ""))
        fixed = [planned.path.get(key) for key in planned.adapter.build.get("process_wide", ())]
        environment = [f"{name}={value}" for name, value in start.environment.items()]
        adapter = f"{planned.adapter.language} {planned.adapter.driver}"
        return adapter, (*start.arguments, *environment, server_arguments, *fixed)

    def _build(self, planned: PlannedPath) -> None:
        version = planned.path.version
        variant = tuple(map(planned.path.get, ("implementation", "loop")))
        key = (planned.adapter.language, planned.adapter.driver, version, *variant)
        if key not in self._built:
            manifest.build([(planned.adapter, version)], paths=[planned.path])
            self._built.add(key)

    def disconnect(self) -> None:
        """Close the connection under test; its process stays for the next path."""
        connection, self._connection = self._connection, None
        if connection is None or not connection.runner.alive():
            return
        try:
            connection.runner.request(Close, CLOSE_TIMEOUT_S, expect=CloseReply)
        except RunnerFailure:
            connection.runner.kill()

    def end_processes(self) -> None:
        """Close the connection and end the processes: also what to do with one that a failed check left behind."""
        self.disconnect()
        while self._processes:
            self._processes.popitem()[1].stop()

    def end(self) -> None:
        """Stop everything."""
        self.end_processes()
        self.engine_instances.stop_all()

    def prepared_workload(self, case: Case, planned: PlannedPath) -> PreparedWorkload:
        """The case's workload for the path's engine."""
        return self.phase_cache.prepared_workload(workload_of(case.workload), planned.path.engine)

    def work(self, case: Case, planned: PlannedPath) -> PreparedPhase:
        """The case's phase for the path's engine."""
        return self.prepared_workload(case, planned).phases[phase_name(case)]

    def some_work(self, planned: PlannedPath) -> PreparedPhase:
        """A phase with a result that the path can run, else the null operation."""
        case = any_case(planned)
        return NOTHING if case is None else self.work(case, planned)


def any_case(planned: PlannedPath) -> Case | None:
    """A case with a result that the path can run; None where there is nothing but the null operation."""
    usable = (case for case in cases() if phase_name(case) in planned.phases and case.verify and not case.error)
    return next(usable, None)
