"""How much CPU everybody but us used since some moment, stolen time included: whether a figure can be trusted."""

from __future__ import annotations

import os
import time

from rowpath.machine import cpus, processes
from rowpath.machine.counters import core_users, cpu

BUSY = 0.1  # of one core: above it a measurement proves nothing


class OtherPrograms:
    """Watches from when it is made."""

    def __init__(self) -> None:
        self._cpus = cpus.usable()
        self._begun_ns = time.monotonic_ns()
        self._busy_ns = self._all_ns()
        self._own_ns = _own_ns()

    def cores(self) -> float:
        """Cores that others had, on average so far."""
        elapsed_ns = time.monotonic_ns() - self._begun_ns
        return (self._all_ns() - self._busy_ns - (_own_ns() - self._own_ns)) / max(1, elapsed_ns)

    def busy(self) -> str:
        """`other programs used 43 % of a core meanwhile`; empty while it was less than BUSY."""
        cores = self.cores()
        return f"other programs used {cores:.0%} of a core at the same time" if cores > BUSY else ""

    def _all_ns(self) -> int:
        look = core_users.look(self._cpus)
        return time.monotonic_ns() * len(self._cpus) - look.idle_ns


def _own_ns() -> int:
    return cpu.total_ns((os.getpid(), *processes.descendants(os.getpid())))
