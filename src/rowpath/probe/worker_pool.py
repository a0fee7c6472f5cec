"""The runner processes of a search: started once each, lent to one path after another, stopped at the end."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rowpath.own_database.throttled_worker import ThrottledWorker
from rowpath.planning.plan import PlannedPath
from rowpath.runners.manifest import command, language

Key = tuple[str, ...]
KEPT = 12  # idle processes; a runtime's takes memory


class WorkerPool:
    """Lends processes; `start` makes a new one. None of them is connected while it is not lent."""

    def __init__(self, start: Callable[[PlannedPath], ThrottledWorker]) -> None:
        self._start = start
        self._idle: dict[Key, list[ThrottledWorker]] = {}
        self._start_s: dict[tuple[str, str], float] = {}

    @contextmanager
    def turned_to(self, planned: PlannedPath) -> Iterator[ThrottledWorker]:
        """A process that is connected on that path. Errors: RunnerFailure."""
        with self.several([planned]) as (worker,):
            worker.turn_to(planned)
            yield worker

    @contextmanager
    def several(self, paths: list[PlannedPath]) -> Iterator[list[ThrottledWorker]]:
        """A process for each of these paths, not yet connected, all to be disconnected again. Errors: RunnerFailure."""
        lent: list[tuple[Key, ThrottledWorker]] = []
        try:
            for planned in paths:
                key = _key(planned)
                idle = self._idle.get(key, [])
                lent.append((key, idle.pop() if idle else self._started(planned)))
            yield [worker for _key, worker in lent]
        finally:
            for key, worker in lent:
                self._take_back(key, worker)

    def start_s(self, planned: PlannedPath) -> float:
        """What starting a process for such a path took; 0 when none was started."""
        return self._start_s.get((planned.adapter.language, planned.adapter.driver), 0.0)

    def _started(self, planned: PlannedPath) -> ThrottledWorker:
        began_s = time.monotonic()
        worker = self._start(planned)
        worker.greet()
        self._start_s[planned.adapter.language, planned.adapter.driver] = time.monotonic() - began_s
        return worker

    def _take_back(self, key: Key, worker: ThrottledWorker) -> None:
        worker.disconnect()
        worker.fresh = False
        if not worker.runner.alive():
            worker.close()
            return
        self._idle.setdefault(key, []).append(worker)
        if sum(map(len, self._idle.values())) > KEPT:
            self._close_cheapest()

    def _close_cheapest(self) -> None:
        """End the one that starts most quickly: a runtime would start, and compile, once more."""
        key = min((key for key, idle in self._idle.items() if idle), key=lambda key: _starts_s(self._idle[key][0]))
        self._idle[key].pop().close()

    def stop(self) -> None:
        """End all of them; harmless when done already."""
        for idle in self._idle.values():
            while idle:
                idle.pop().close()


def _starts_s(worker: ThrottledWorker) -> float:
    of_language = language(worker.planned.adapter.language)
    return of_language.start_s + of_language.probe_warm_s[0]


def _key(planned: PlannedPath) -> Key:
    """Paths that the same process can take one after the other."""
    start = command(planned.adapter, planned.path.version, planned.path)
    return *start.arguments, *(f"{name}={value}" for name, value in sorted(start.environment.items()))
