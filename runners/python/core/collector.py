"""Time in Python's garbage collector. Nothing is called while nothing is collected."""

import gc
from time import perf_counter_ns


class Collector:
    """Counts every collection of the process from now on: `ns`, `collections`."""

    def __init__(self):
        self.ns = self.collections = self._started = 0
        gc.callbacks.append(self._collected)

    def _collected(self, phase, info):
        if phase == "start":
            self._started = perf_counter_ns()
        else:
            self.ns += perf_counter_ns() - self._started
            self.collections += 1


COLLECTOR = Collector()
