"""The poolers of a run: one for each path, between its client and its server."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rowpath.engines.base import Instance, Place
from rowpath.errors import RowpathError
from rowpath.machine import cpus
from rowpath.model.path import AccessPath
from rowpath.planning.plan import Key, key_of
from rowpath.poolers import POOLERS
from rowpath.poolers.pooler import Pooler
from rowpath.runners.process import RunnerFailure


class RunningPoolers:
    """One per path, so that its CPU is the path's; a new one when its server was restarted or more clients come."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._running: dict[str, tuple[Key, Pooler]] = {}
        self._started = 0
        self.environments: dict[Key, dict[str, str]] = {}  # added for those of a server (LD_PRELOAD of call stamps)

    def way_to(self, instance: Instance, path: AccessPath, clients: int = 0) -> dict[str, Any]:
        """What `open` gets instead of the server's own address; empty for a path without a pooler.

        `clients`: how many connect at once, where that is not the path's coordinate. Errors: RunnerFailure.
        """
        if path.pooler == "none":
            return {}
        wanted, key = max(clients, path.clients), key_of(path)
        _, pooler = self._running.get(path.id, (key, None))
        port = int(instance.options(path)["port"])
        if pooler is None or not pooler.pids() or pooler.to_port != port or pooler.clients < wanted:
            if pooler is not None:
                pooler.stop()
            self._started += 1
            folder = self._directory / f"pooler-{self._started}"
            added = self.environments.get(key, {})
            place = Place(folder, folder / "s", cpus.server_cpus(path.placement), environment=added)
            pooler = POOLERS[path.pooler](instance, path, place, wanted)
            self._running[path.id] = key, pooler  # before it starts: an interruption must find it
            try:
                pooler.start()
            except RowpathError as error:
                pooler.stop()
                raise RunnerFailure("connect", str(error)) from error
        return pooler.options(path)

    def pids(self, path: AccessPath) -> list[int]:
        """Every process of the path's pooler."""
        _, pooler = self._running.get(path.id, (None, None))
        return pooler.pids() if pooler is not None else []

    def every_pid(self) -> list[int]:
        """Every process of every pooler."""
        return [pid for _, pooler in self._running.values() for pid in pooler.pids()]

    def stop(self, path: AccessPath) -> None:
        """Stop the path's own, if there is one."""
        if path.id in self._running:
            self._running.pop(path.id)[1].stop()

    def stop_before(self, key: Key) -> None:
        """Stop those of one server: their connections to it are over with it."""
        for path_id in [path_id for path_id, (behind, _) in self._running.items() if behind == key]:
            self._running.pop(path_id)[1].stop()

    def stop_all(self) -> None:
        """Stop every one."""
        while self._running:
            self._running.popitem()[1][1].stop()
