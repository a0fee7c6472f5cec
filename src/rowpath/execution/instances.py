"""The engines of a run: started once each, loaded, settled, renewed for each set, stopped on every way out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass, field
from pathlib import Path
from typing import Any

from rowpath.engines import ENGINES
from rowpath.engines.base import CONNECTIONS, External, Instance, Place
from rowpath.errors import RowpathError, UsageError
from rowpath.execution.emulated_link import Links
from rowpath.execution.prepared_phases import PhaseCache
from rowpath.execution.run_context import RunContext
from rowpath.execution.running_poolers import RunningPoolers
from rowpath.journal.records import LinkRecord
from rowpath.machine import cpus
from rowpath.machine.counters import syncs
from rowpath.machine.counters.syncs import SyncCount
from rowpath.model.path import AccessPath
from rowpath.model.workload import Table, Workload
from rowpath.planning.plan import Key, PlannedPath, key_of
from rowpath.runners.process import RunnerFailure

LOOPBACK = "127.0.0.1"


@dataclass
class ServerSyncs:
    """The syncs of one server: whether it counts them from its next start on, and how many there were."""

    _instance: Instance
    _place: Place  # where the server is started
    _folder: Path  # for the counters
    _file: Path | None = None
    _added: dict[str, str] = field(default_factory=dict)

    def method(self) -> str:
        """The method by which they can be counted, or why not; empty without a private server."""
        ours = self._instance.deployment == "server" and not isinstance(self._instance, External)
        return syncs.method() if ours else ""

    def count(self, wanted: bool) -> None:
        """Whether the server counts them from its next start on."""
        for name in self._added:
            self._place.environment.pop(name, None)
        self._file = syncs.make_file(self._folder) if wanted else None
        self._added = syncs.environment(self._file) if self._file else {}
        self._place.environment.update(self._added)

    def read(self) -> SyncCount:
        """How many there were since that start."""
        if self._file is not None:
            return SyncCount(syncs.read(self._file)["total"], syncs.METHOD)
        method = self.method()
        return SyncCount(method="" if method == syncs.METHOD else method)


BringUpFar = Callable[[Key], tuple[Instance, ServerSyncs]]  # on its host; errors: RowpathError, RunnerFailure


@dataclass(eq=False)
class EngineInstances:
    """Every engine instance of a run. `listen` and on: as `Place` has them, where an engine can."""

    _directory: Path
    _phase_cache: PhaseCache
    _learn_secret: Callable[[str], None]
    _: KW_ONLY
    far: BringUpFar | None = None  # brings up those of other hosts
    listen: str = LOOPBACK
    clients: tuple[str, ...] = ()
    connections: int = CONNECTIONS

    def __post_init__(self) -> None:
        self._instances: dict[Key, Instance] = {}
        self._places: dict[Key, Place] = {}
        self._syncs: dict[Key, ServerSyncs] = {}
        self._links = Links()
        self._poolers = RunningPoolers(self._directory)

    def bring_up(self, paths: tuple[PlannedPath, ...], workloads: dict[str, Workload], key: Key) -> Instance:
        """Start the instance, load what its paths' phases need, give embedded paths their own copies."""
        engine_name, deployment, durability, *chosen = key
        version, storage, free, host = ("" if value == "none" else value for value in chosen)
        if host and self.far is not None:
            instance, self._syncs[key] = self.far(key)
            self._instances[key] = instance
            self._places[key] = Place(self._directory, self._directory, ())
            self._learn_secrets(instance)
            return instance
        folder = self._directory / "-".join(part for part in key if part != "none")
        place = Place(folder, folder, cpus.server_cpus(free or "same"), version=version, storage=storage)
        place.connections = self.connections
        if self.listen != LOOPBACK and ENGINES[engine_name].listens:
            place.listen, place.clients = self.listen, self.clients
        instance = ENGINES[engine_name].instance(deployment, durability, place)
        self._instances[key], self._places[key] = instance, place
        self._syncs[key] = ServerSyncs(instance, place, self._directory / "-".join((*key, "syncs")))
        self._start(instance)
        of_instance = [planned for planned in paths if key_of(planned.path) == key]
        tables: dict[str, Table] = {}
        for needed in dict.fromkeys(name for planned in of_instance for name in planned.workloads):
            prepared_workload = self._phase_cache.prepared_workload(workloads[needed], engine_name)
            for name, table in prepared_workload.loaded_tables().items():
                if tables.setdefault(name, table) != table:
                    what = f"two workloads of this experiment fill table '{name}' with different rows"
                    raise UsageError(what, "run them in two experiments")
        instance.load(tables)  # of none too: it makes an embedded engine's database
        for planned in of_instance:
            instance.own_copy(planned.path)
        return instance

    def way_to(self, path: AccessPath, clients: int = 0) -> dict[str, Any]:
        """What `open` gets so that a path goes through its emulated link or pooler; empty for a path without one.

        `clients`: as `RunningPoolers.way_to` has them.
        """
        instance = self._instances[key_of(path)]
        return self._links.way_to(key_of(path), instance, path) | self._poolers.way_to(instance, path, clients)

    def learn_link(self, record: LinkRecord) -> None:
        """Make that link's proxies as exact as the one that was measured."""
        self._links.learn(record)

    def stop_pooler(self, path: AccessPath) -> None:
        """Stop the path's pooler; the next way to it starts another."""
        self._poolers.stop(path)

    def pooler_pids(self, path: AccessPath) -> list[int]:
        """Every process of the path's pooler."""
        return self._poolers.pids(path)

    def __getitem__(self, key: Key) -> Instance:
        return self._instances[key]

    def __contains__(self, key: Key) -> bool:
        return key in self._instances

    def pids(self) -> list[int]:
        """Every process of every private server and every pooler."""
        return [*(pid for instance in self._instances.values() for pid in instance.pids()), *self._poolers.every_pid()]

    def server_syncs(self, key: Key) -> ServerSyncs:
        """The syncs of its server, counted from a restart that asks for that until the next one."""
        return self._syncs[key]

    def restart(
        self,
        key: Key,
        environment: dict[str, str] | None = None,
        pooler_environment: dict[str, str] | None = None,
        *,
        count_syncs: bool = False,
    ) -> None:
        """Stop and start a server again on its data; `environment` (else none) is added for the new process.

        `pooler_environment`: for its poolers, which begin again with the next way to one. `count_syncs`: whether the
        new process counts its syncs. A server that was given to us is not touched.
        """
        instance = self._instances[key]
        if isinstance(instance, External):
            return
        self._poolers.stop_before(key)
        self._poolers.environments[key] = pooler_environment or {}
        instance.stop()
        added = self._places[key].environment
        added.clear()
        self._syncs[key].count(count_syncs)
        added.update(environment or {})
        self._start(instance)

    def _start(self, instance: Instance) -> None:
        instance.start()
        self._learn_secrets(instance)

    def _learn_secrets(self, instance: Instance) -> None:
        for secret in instance.secrets():
            self._learn_secret(secret)

    def forget(self, key: Key) -> None:
        """Stop an instance that could not be brought up."""
        instance = self._instances.pop(key, None)
        self._poolers.stop_before(key)
        if instance is not None:
            instance.stop()

    def forget_host(self, host: str) -> None:
        """Forget those of a host that is lost."""
        self._instances = {key: instance for key, instance in self._instances.items() if key[-1] != host}

    def forget_far(self) -> None:
        """Forget those of other hosts: their hosts have stopped them."""
        self._instances = {key: instance for key, instance in self._instances.items() if key[-1] == "none"}

    def stop_all(self) -> None:
        """Stop everything, last started first."""
        self._links.stop_all()
        self._poolers.stop_all()
        while self._instances:
            _key, instance = self._instances.popitem()
            instance.stop()


@dataclass
class Renewal:
    """Restarts and copies what the run itself has brought up."""

    _context: RunContext
    _instances: EngineInstances

    def renew(self, members: Sequence[PlannedPath], first: bool) -> None:
        """New server processes and new copies of embedded databases, so that what chance gave them varies over sets.

        A server that must be warmed up for seconds stays, except in a rigorous run.
        """
        for key in dict.fromkeys(key_of(planned.path) for planned in members):
            restart = ENGINES[key[0]].server_warm_s == 0 or self._context.restart_servers
            if not self.revive(key) and key[1] == "server" and not first and restart:
                self.restart(key)
        for planned in members:
            # In the first set too: the verification pass has written into what was loaded.
            if planned.path.embedded and key_of(planned.path) in self._instances:
                self._instances[key_of(planned.path)].own_copy(planned.path)

    def revive(self, key: Key) -> bool:
        """Start a server again that is gone; whether it was."""
        if key not in self._instances or key[1] != "server" or self._instances[key].check():
            return False
        self._context.note(f"{key[0]} exited unexpectedly and was restarted")
        self.restart(key)
        return True

    def restart(self, key: Key, *, count_syncs: bool = False) -> None:
        """Stop and start a server again; one that does not come back is a failure of its paths, not of the run."""
        if key not in self._instances:
            return
        try:
            self._instances.restart(key, count_syncs=count_syncs)
        except RowpathError as error:
            self.give_up(key, error)

    def give_up(self, key: Key, error: Exception) -> None:
        """Stop an instance that could not be brought up; each of its paths has failed."""
        self._instances.forget(key)
        for planned in self._context.plan.paths:
            if key_of(planned.path) == key:
                self._context.fail(-1, planned, "", RunnerFailure("connect", str(error)))
