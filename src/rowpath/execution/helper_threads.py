"""Threads of a runtime that work beside what is measured (compilers, collectors), kept off the measured cores."""

from __future__ import annotations

from collections.abc import Collection

from rowpath.machine import cpus, processes
from rowpath.machine.counters import cpu


class HelperThreads:
    """The helper threads of a worker's processes, as far as pinning has met them."""

    def __init__(self) -> None:
        self._helps: dict[tuple[int, int], bool] = {}  # (pid, tid) → whether it is one

    def pin(self, pid: int, to: tuple[int, ...], names: tuple[str, ...]) -> None:
        """Pin a process to these cores, and threads whose names begin like one of `names` to the spare ones."""
        if not names:
            processes.pin(pid, to)
            return
        for tid in processes.threads(pid):
            if (pid, tid) not in self._helps:
                self._helps[pid, tid] = processes.name(tid).startswith(names)
            processes.pin_thread(tid, cpus.spare_cpus() if self._helps[pid, tid] else to)

    def cpu_ns(self, pids: Collection[int]) -> int:
        """CPU time so far of the helper threads of these processes."""
        return cpu.threads_cpu_ns(each for each, helps in self._helps.items() if helps and each[0] in pids)
