"""The engines of a run: started once each, loaded, settled, stopped in reverse order on every exit path."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

from rowpath.engines import ENGINES
from rowpath.engines.base import CONNECTIONS, External, Instance, Place
from rowpath.errors import UsageError
from rowpath.execution.emulated_link import Links
from rowpath.execution.prepared_phases import PhaseCache
from rowpath.execution.server_syncs import LocalServerSyncs, ServerSyncs
from rowpath.machine import cpus
from rowpath.model.path import AccessPath
from rowpath.model.workload import Table, Workload
from rowpath.planning.plan import Key, PlannedPath, key_of

LOOPBACK = "127.0.0.1"


class FarEngines(Protocol):
    """Engines on other hosts."""

    def instance(self, key: Key) -> Instance:
        """The instance of that key, started and loaded on its host. Errors: RowpathError, RunnerFailure."""

    def server_syncs(self, key: Key) -> ServerSyncs:
        """The syncs of its server."""


class EngineInstances:
    """Every engine instance of a run."""

    def __init__(
        self,
        directory: Path,
        phase_cache: PhaseCache,
        learn_secret: Callable[[str], None],
        *,
        far: FarEngines | None = None,
        listen: str = LOOPBACK,
        clients: tuple[str, ...] = (),
        connections: int = CONNECTIONS,
    ) -> None:
        """`far`: those of other hosts. `listen` and on: as `Place` has them, where an engine can."""
        self._directory = directory
        self._far = far
        self._listen = listen
        self._clients = clients
        self._connections = connections
        self._phase_cache = phase_cache
        self._learn_secret = learn_secret
        self._instances: dict[Key, Instance] = {}
        self._places: dict[Key, Place] = {}
        self._syncs: dict[Key, ServerSyncs] = {}
        self._links = Links()

    def bring_up(self, paths: tuple[PlannedPath, ...], workloads: dict[str, Workload], key: Key) -> Instance:
        """Start the instance, load what its paths' phases need, give embedded paths their own copies."""
        engine_name, deployment, durability, *chosen = key
        version, storage, free, host = ("" if value == "none" else value for value in chosen)
        if host and self._far is not None:
            instance = self._instances[key] = self._far.instance(key)
            self._syncs[key] = self._far.server_syncs(key)
            self._places[key] = Place(self._directory, self._directory, ())
            for secret in instance.secrets():
                self._learn_secret(secret)
            return instance
        folder = self._directory / "-".join(part for part in key if part != "none")
        place = Place(folder, folder, cpus.server_cpus(free or "same"), version=version, storage=storage)
        place.connections = self._connections
        if self._listen != LOOPBACK and ENGINES[engine_name].listens:
            place.listen, place.clients = self._listen, self._clients
        instance = ENGINES[engine_name].instance(deployment, durability, place)
        self._instances[key], self._places[key] = instance, place
        self._syncs[key] = LocalServerSyncs(instance, place, self._directory / "-".join((*key, "syncs")))
        self._start(instance)
        of_instance = [planned for planned in paths if key_of(planned.path) == key]
        tables: dict[str, Table] = {}
        for needed in dict.fromkeys(name for planned in of_instance for name in planned.workloads):
            prepared_workload = self._phase_cache.prepared_workload(workloads[needed], engine_name)
            for name, table in prepared_workload.loaded_tables().items():
                if tables.setdefault(name, table) != table:
                    raise UsageError(
                        f"two workloads of this experiment fill table '{name}' with different rows",
                        "run them in two experiments",
                    )
        instance.load(tables)  # of none too: it makes an embedded engine's database
        for planned in of_instance:
            instance.own_copy(planned.path)
        return instance

    def way_to(self, path: AccessPath) -> dict[str, Any]:
        """What `open` gets so that a path goes through its emulated link; empty for a path without one."""
        return self._links.way_to(key_of(path), self._instances[key_of(path)], path)

    def __getitem__(self, key: Key) -> Instance:
        return self._instances[key]

    def __contains__(self, key: Key) -> bool:
        return key in self._instances

    def pids(self) -> list[int]:
        """Every process of every private server."""
        return [pid for instance in self._instances.values() for pid in instance.pids()]

    def server_syncs(self, key: Key) -> ServerSyncs:
        """The syncs of its server, counted from a restart that asks for that until the next one."""
        return self._syncs[key]

    def restart(self, key: Key, environment: dict[str, str] | None = None, *, count_syncs: bool = False) -> None:
        """Stop and start a server again on its data; `environment` (else none) is added for the new process.

        `count_syncs`: whether the new process counts its syncs. A server that was given to us is not touched.
        """
        instance = self._instances[key]
        if isinstance(instance, External):
            return
        instance.stop()
        added = self._places[key].environment
        added.clear()
        self._syncs[key].count(count_syncs)
        added.update(environment or {})
        self._start(instance)

    def _start(self, instance: Instance) -> None:
        instance.start()
        for secret in instance.secrets():
            self._learn_secret(secret)

    def forget(self, key: Key) -> None:
        """Stop an instance that could not be brought up."""
        instance = self._instances.pop(key, None)
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
        while self._instances:
            _key, instance = self._instances.popitem()
            instance.stop()
