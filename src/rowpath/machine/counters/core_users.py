"""Who had given cores between two looks: processes and their threads by name, the hypervisor, or none."""

from __future__ import annotations

import os
import time
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from rowpath.machine import processes
from rowpath.machine.counters.cpu import process_ns, total_ns
from rowpath.machine.counters.noise import NS_PER_TICK
from rowpath.machine.cpus import usable
from rowpath.model.core_user import CoreUser, Kind

METHOD = "CPU clocks of every process, the CPU that each thread ran on last, steal and idle time in /proc/stat"
KERNEL_THREADS = 2  # the parent of all of them
BUSY = 0.1  # of one core that other programs used: above it a measurement proves nothing
LEAST_NS = 50_000  # less is counted as noise


@dataclass(frozen=True)
class Look:
    """The counters of one moment; steal and idle time of the cores in question, in steps of a clock tick."""

    at_ns: int
    process_ns: dict[int, int]
    stolen_ns: int
    idle_ns: int


def look(cpus: Iterable[int]) -> Look:
    """The counters now; a tenth of a millisecond for a hundred processes."""
    stolen_ns, idle_ns = _stolen_and_idle_ns(cpus)
    used_ns = {pid: process_ns(pid) or 0 for pid in processes.pids()}
    return Look(time.monotonic_ns(), used_ns, stolen_ns, idle_ns)


def users(before: Look, after: Look, cpus: Collection[int], own: Collection[int]) -> list[CoreUser]:
    """Processes that ran in between and last on these cores, the greatest first; not `own` and what they started.

    A process with several threads counts whole when one of them was there: an upper limit. One that has ended shows no
    more.
    """
    others = []
    for pid, now_ns in after.process_ns.items():
        ns = now_ns - before.process_ns.get(pid, 0)
        if ns >= LEAST_NS and (kind := _kind(pid, own)) and (thread := _thread_on(pid, cpus)):
            others.append(CoreUser(kind, thread, ns))
    return sorted(others, key=lambda user: -user.ns)


def _thread_on(pid: int, cpus: Collection[int]) -> str:
    """`process: thread` of the one that last ran on these cores and has used most CPU; empty when none did."""
    best, most_ns = "", -1
    for tid in processes.threads(pid):
        fields = processes.stat_fields(tid)
        if not fields or int(fields[36]) not in cpus or not _may_run_on(tid, cpus):
            continue
        used = int(fields[11]) + int(fields[12])
        if used > most_ns:
            best, most_ns = processes.name(tid), used
    title = processes.name(pid)
    return best and (title if best == title else f"{title}: {best}")


def _may_run_on(tid: int, cpus: Collection[int]) -> bool:
    """Whether it still may: one that was moved away since it last ran there did not run there now."""
    try:
        return not os.sched_getaffinity(tid).isdisjoint(cpus)
    except (ProcessLookupError, PermissionError):
        return False


def _kind(pid: int, own: Collection[int]) -> Kind | None:
    """The kind of a process; None for `own` ones."""
    ours = os.getpid()
    while pid > 1:
        if pid in own:
            return None
        if pid == ours:
            return "ours"
        if pid == KERNEL_THREADS:
            return "kernel"
        fields = processes.stat_fields(pid)
        pid = int(fields[1]) if fields else 0
    return "program"


def _stolen_and_idle_ns(cpus: Iterable[int]) -> tuple[int, int]:
    wanted = {f"cpu{cpu}".encode() for cpu in cpus}
    stolen = idle = 0
    for line in processes.shown("stat").splitlines():
        name, *fields = line.split()
        if name in wanted:
            idle += int(fields[3]) + int(fields[4])
            stolen += int(fields[7])
        elif not name.startswith(b"cpu"):
            break
    return stolen * NS_PER_TICK, idle * NS_PER_TICK


class OtherPrograms:
    """How much CPU everybody but us used since this was made, stolen time included: can a figure be trusted?"""

    def __init__(self) -> None:
        self._cpus = usable()
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
        idle_ns = look(self._cpus).idle_ns
        return time.monotonic_ns() * len(self._cpus) - idle_ns


def _own_ns() -> int:
    return total_ns((os.getpid(), *processes.descendants(os.getpid())))
