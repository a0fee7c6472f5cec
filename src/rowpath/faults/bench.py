"""The servers of a matrix of faults, each brought up once, and who looks at them beside the driver under test."""

from __future__ import annotations

import contextlib
import threading
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from rowpath.engines.base import Instance
from rowpath.errors import InternalError
from rowpath.execution.instances import EngineInstances
from rowpath.execution.prepared_phases import PhaseCache, PreparedPhase
from rowpath.execution.worker import Worker
from rowpath.model.path import AccessPath
from rowpath.planning.plan import Key, PlannedPath, key_of
from rowpath.planning.selection import lattice
from rowpath.runners import manifest
from rowpath.runners.manifest import adapter_of, every_adapter
from rowpath.runners.process import RunnerFailure
from rowpath.workloads.workload_file import load_workload

WORKLOAD = "faults"
FILE = Path(__file__).parent / "workload.toml"
TIMEOUT_S = 60.0
AT_WORK = 4  # what a cell does between its waits is short
OBSERVERS = {"postgresql": "libpq", "mariadb": "libmariadb", "mysql": "libmariadb"}

# steady: never touched; victim: killed and stopped; full: with few connections
Role = Literal["steady", "victim", "full"]


class Bench:
    """Servers by role, started when first needed; few cells work at once, and one at a server that is not steady.

    A cell that only waits gives its turn to the next one: waiting cells take no CPU.
    """

    few = 20  # connections of a server that is to be full

    def __init__(self, directory: Path) -> None:
        self._working = threading.Semaphore(AT_WORK)
        self._places: defaultdict[tuple[Role, Key], threading.Lock] = defaultdict(threading.Lock)
        self._making = threading.RLock()
        self._rows: Counter[tuple[Role, Key]] = Counter()
        self.workload = load_workload(FILE)
        self.scan_bytes: dict[str, int] = {}  # of a path's answer
        self._phases = PhaseCache(directory / "parameters")
        self.directory = directory
        self._by_role: dict[Role, EngineInstances] = {}
        self._built: set[tuple[str, ...]] = set()

    @contextlib.contextmanager
    def turn(self, role: Role, planned: PlannedPath) -> Iterator[None]:
        """Within, the cell is at work."""
        self._take(role, planned)
        try:
            yield
        finally:
            self._give(role, planned)

    @contextlib.contextmanager
    def waiting(self, role: Role, planned: PlannedPath) -> Iterator[None]:
        """Within, a cell that is at work only waits."""
        self._give(role, planned)
        try:
            yield
        finally:
            self._take(role, planned)

    def _take(self, role: Role, planned: PlannedPath) -> None:
        if role != "steady":
            self._place(role, planned).acquire()
        self._working.acquire()

    def _give(self, role: Role, planned: PlannedPath) -> None:
        self._working.release()
        if role != "steady":
            self._place(role, planned).release()

    def _place(self, role: Role, planned: PlannedPath) -> threading.Lock:
        with self._making:
            return self._places[role, key_of(planned.path)]

    def instance(self, role: Role, planned: PlannedPath) -> Instance:
        """The path's server of that role, loaded. Errors: RowpathError."""
        with self._making:
            return self._made(role, planned)

    def _made(self, role: Role, planned: PlannedPath) -> Instance:
        instances, key = self._instances(role), key_of(planned.path)
        if key in instances:
            if not instances[key].check():
                instances.restart(key)
            return instances[key]
        try:
            instance = instances.bring_up((planned,), {self.workload.name: self.workload}, key)
            with self.observer(role, planned) as observer:
                self._make_written(observer)
        except BaseException:
            instances.forget(key)
            raise
        return instance

    def _make_written(self, observer: Worker) -> None:
        """Make the empty table that is written, where the observer executes statements."""
        try:
            observer.reset(self.work(observer.planned, "write"))
        except RunnerFailure as failure:
            if failure.kind != "unsupported":
                raise

    def restart(self, role: Role, key: Key) -> None:
        """Stop a server in good order and start it again."""
        self._instances(role).restart(key)

    def _instances(self, role: Role) -> EngineInstances:
        if role not in self._by_role:
            folder = self.directory / role
            folder.mkdir(parents=True)
            folder.chmod(self.directory.stat().st_mode)
            self._by_role[role] = EngineInstances(folder, self._phases, lambda _secret: None)
            if role == "full":
                self._by_role[role].connections = self.few
        return self._by_role[role]

    def rows(self, role: Role, planned: PlannedPath, count: int) -> int:
        """The last of so many rows of the written table that no other cell writes. Errors: InternalError at its end."""
        key = role, key_of(planned.path)
        with self._making:
            self._rows[key] += count
            last = self._rows[key] - 1
        written = self.workload.phase("write").parameters
        if written is None or last >= written.count:
            raise InternalError("no more rows to write", "name fewer drivers")
        return last

    def work(self, planned: PlannedPath, phase: str) -> PreparedPhase:
        """A phase of the workload for the path's engine."""
        prepared = self._phases.prepared_workload(self.workload, planned.path.engine)
        return prepared.phases[f"{WORKLOAD}.{phase}"]

    def build(self, planned: PlannedPath) -> None:
        """Build the path's runner, once."""
        key = planned.adapter.language, planned.adapter.driver, planned.path.version
        with self._making:
            if key not in self._built:
                manifest.build([(planned.adapter, planned.path.version)], paths=[planned.path])
                self._built.add(key)

    @contextlib.contextmanager
    def observer(self, role: Role, planned: PlannedPath) -> Iterator[Worker]:
        """Another connection to the path's server of that role, straight, by a driver of C where there is one."""
        other = observing(planned)
        self.build(other)
        worker = Worker(other, self.instance(role, planned), log=lambda _line: None, timeout_s=TIMEOUT_S)
        try:
            worker.open()
            yield worker
        finally:
            worker.close()

    def answer(self, worker: Worker, phase: str, row: int = 0) -> int:
        """The number that a phase of the observer's delivers for a row of its parameters."""
        work = self.work(worker.planned, phase)
        worker.prepare(work)
        reply = worker.sample(work, "steady", operations=1, first=row).reply
        return int(reply.touch, 16)

    def stop(self) -> None:
        """Stop every server."""
        for instances in self._by_role.values():
            instances.stop_all()


def observing(planned: PlannedPath) -> PlannedPath:
    """The path by which the server of another is observed."""
    driver = OBSERVERS.get(planned.path.engine, "")
    known = any((one.language, one.driver) == ("c", driver) for one in every_adapter())
    if not driver or not known:
        return planned
    adapter = adapter_of("c", driver)
    wanted: dict[str, tuple[str, ...]] = {
        key: (planned.path.get(key),) for key in ("engine", "engine_version", "deployment", "durability")
    }
    path: AccessPath = next(iter(lattice(adapter, wanted | {"transport": ("tcp",)})))
    return PlannedPath(path, adapter, planned.phases, planned.name)
