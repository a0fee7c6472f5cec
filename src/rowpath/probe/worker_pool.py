"""The runner processes of a search: started once each, lent to one path after another, stopped at the end."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rowpath.execution.prepared_phases import PreparedPhase
from rowpath.own_database.throttled_worker import ThrottledWorker
from rowpath.planning.plan import PlannedPath
from rowpath.probe.tries import driver_of
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
    def turned_to(self, planned: PlannedPath, work: PreparedPhase) -> Iterator[ThrottledWorker]:
        """A process that is connected on that path and has prepared the work. Errors: RunnerFailure."""
        with self.several([planned]) as (worker,):
            worker.turn_to(planned)
            worker.prepare(work)
            yield worker

    @contextmanager
    def several(self, paths: list[PlannedPath]) -> Iterator[list[ThrottledWorker]]:
        """A process for each of these paths, not yet connected, all to be disconnected again. Errors: RunnerFailure."""
        lent: list[tuple[Key, ThrottledWorker]] = []
        try:
            for planned in paths:
                # Paths that the same process can take one after the other have one key.
                start = command(planned.adapter, planned.path.version, planned.path)
                key = (*start.arguments, *(f"{name}={value}" for name, value in sorted(start.environment.items())))
                if idle := self._idle.get(key):
                    lent.append((key, idle.pop()))
                    continue
                began_s = time.monotonic()
                worker = self._start(planned)
                worker.greet()
                self._start_s[driver_of(planned)] = time.monotonic() - began_s
                lent.append((key, worker))
            yield [worker for _key, worker in lent]
        finally:
            for key, worker in lent:
                self._take_back(key, worker)

    def start_s(self, planned: PlannedPath) -> float:
        """What starting a process for such a path took; 0 when none was started."""
        return self._start_s.get(driver_of(planned), 0.0)

    def _take_back(self, key: Key, worker: ThrottledWorker) -> None:
        worker.disconnect()
        worker.fresh = False
        if not worker.runner.alive():
            worker.close()
            return
        self._idle.setdefault(key, []).append(worker)
        if sum(map(len, self._idle.values())) > KEPT:
            # The one that starts most quickly ends: a runtime would start, and compile, once more.
            of_key = {key: language(idle[0].planned.adapter.language) for key, idle in self._idle.items() if idle}
            quickest = min(of_key, key=lambda key: of_key[key].start_s + of_key[key].probe_warm_s[0])
            self._idle[quickest].pop().close()

    def stop(self) -> None:
        """End all of them; harmless when done already."""
        for idle in self._idle.values():
            while idle:
                idle.pop().close()
