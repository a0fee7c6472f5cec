"""The engines of a conformance run, each started once for all of its paths, and the runner of the path under test."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path

from rowpath.checks.conformance.cases import Case, cases, phase_name, workload_of, workloads
from rowpath.checks.conformance.paths import reason_against
from rowpath.engines.base import Instance
from rowpath.execution.instances import EngineInstances
from rowpath.execution.prepared_phases import PhaseCache, PreparedPhase, PreparedWorkload
from rowpath.execution.worker import Worker
from rowpath.model.workload import Phase
from rowpath.planning.instance_key import Key, key_of
from rowpath.planning.plan import PlannedPath
from rowpath.runners import manifest

TIMEOUT_S = 60.0
NOTHING = PreparedPhase("null.nothing", Phase("nothing", "null"), "", (), (), None, 0)


class House:
    """One instance of an engine at a time: paths are best taken in an order that has those of an instance together.

    `directory` is private and outlives the house; `log` takes what runners say. Everything is stopped by `end`.
    """

    def __init__(
        self, directory: Path, paths: tuple[PlannedPath, ...], log: Callable[[str], None] = lambda _line: None
    ) -> None:
        self.directory = directory
        self.phase_cache = PhaseCache(directory / "parameters")
        self.engine_instances = EngineInstances(directory, self.phase_cache, lambda _secret: None)
        self._paths = paths
        self._log = log
        self._numbers = itertools.count()
        self._built: set[tuple[str, str, str]] = set()
        self._living: Worker | None = None

    def instance(self, planned: PlannedPath) -> Instance:
        """The path's engine, loaded with everything that the cases need; the one before is stopped."""
        key = key_of(planned.path)
        if key not in self.engine_instances:
            self._bring_up(planned, key)
        return self.engine_instances[key]

    def _bring_up(self, planned: PlannedPath, key: Key) -> None:
        self.end()
        folder = self.directory / f"instance-{next(self._numbers)}"
        folder.mkdir()
        folder.chmod(self.directory.stat().st_mode)
        self.engine_instances = EngineInstances(folder, self.phase_cache, lambda _secret: None)
        mine = [each for each in self._paths if key_of(each.path) == key and not reason_against(each)]
        self.engine_instances.bring_up(tuple(mine or [planned]), workloads(), key)

    def restart(self, planned: PlannedPath) -> None:
        """Stop the path's server and start it again on its data."""
        self.engine_instances.restart(key_of(planned.path))

    def worker(
        self,
        planned: PlannedPath,
        environment: dict[str, str] | None = None,
        instance: Instance | None = None,
        clients: int = 0,
    ) -> Worker:
        """A runner on the path, started but not yet spoken to; `clients`: for groups at work at once."""
        version = planned.path.get("version")
        key = (planned.adapter.language, planned.adapter.driver, version)
        if key not in self._built:
            manifest.build([(planned.adapter, version)])
            self._built.add(key)
        where = instance or self.instance(planned)
        return Worker(planned, where, log=self._log, timeout_s=TIMEOUT_S, environment=environment, clients=clients)

    def fresh(self, planned: PlannedPath, clients: int = 0) -> Worker:
        """A runner of the caller's own, alone on the path: an embedded engine may lock its files against a second."""
        self._leave()
        return self.worker(planned, clients=clients)

    def living(self, planned: PlannedPath) -> Worker:
        """The connected runner of the path under test; that of the path before is closed."""
        if self._living is None or self._living.planned is not planned or not self._living.runner.alive():
            self._leave()
            living = self.worker(planned)
            try:
                living.open()
            except BaseException:
                living.close()
                raise
            self._living = living
        return self._living

    def _leave(self) -> None:
        if self._living is not None:
            self._living.close()
            self._living = None

    def end(self) -> None:
        """Stop everything."""
        self._leave()
        self.engine_instances.stop_all()

    def prepared_workload(self, case: Case, planned: PlannedPath) -> PreparedWorkload:
        """The case's workload for the path's engine."""
        return self.phase_cache.prepared_workload(workload_of(case.workload), planned.path.get("engine"))

    def work(self, case: Case, planned: PlannedPath) -> PreparedPhase:
        """The case's phase for the path's engine."""
        return self.prepared_workload(case, planned).phases[phase_name(case)]

    def some_work(self, planned: PlannedPath) -> PreparedPhase:
        """A phase with a result that the path serves, else the null operation."""
        case = any_case(planned)
        return NOTHING if case is None else self.work(case, planned)


def any_case(planned: PlannedPath) -> Case | None:
    """A case with a result that the path serves; None where there is nothing but the null operation."""
    return next(
        (case for case in cases() if phase_name(case) in planned.phases and case.verify and not case.error), None
    )
