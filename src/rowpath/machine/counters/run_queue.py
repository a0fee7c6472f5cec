"""How long a thread was ready but had to wait for a CPU: /proc/PID/task/TID/schedstat, second field."""

from __future__ import annotations

import os
from collections.abc import Iterable

from rowpath.machine.counters.cpu import process_ns

MEANS = "/proc/PID/task/TID/schedstat (run-queue wait), less the CPU time of the process's own other threads"


def wait_ns(pid: int, tid: int) -> int | None:
    """Time that the thread spent ready but not running; None when it has ended or the kernel does not count it."""
    fields = _schedstat(pid, tid)
    return fields[1] if fields else None


def other_threads_cpu_ns(pid: int, tid: int) -> int | None:
    """CPU time of the process's other threads, ended ones included (a collector, a compiler)."""
    fields, process = _schedstat(pid, tid), process_ns(pid)
    return process - fields[0] if fields and process is not None else None


def threads_cpu_ns(threads: Iterable[tuple[int, int]]) -> int:
    """CPU time of these threads, each (pid, tid); one that has ended counts nothing."""
    return sum(fields[0] for pid, tid in threads if (fields := _schedstat(pid, tid)) is not None)


def foreign_wait_ns(pid: int, tid: int, others: Iterable[int] = ()) -> int | None:
    """Run-queue wait less the CPU time of the process's other threads and of other processes that are ours.

    It may have waited for these. Only differences mean anything; one may be below zero, when the others ran while the
    thread slept.
    """
    fields, process = _schedstat(pid, tid), process_ns(pid)
    if fields is None or process is None:
        return None
    return fields[1] - (process - fields[0]) - sum(process_ns(other) or 0 for other in others)


def probe() -> str:
    """Which means works here: MEANS, or why there is none."""
    return MEANS if _schedstat(os.getpid(), os.getpid()) else "unavailable: the kernel keeps no schedstat"


def _schedstat(pid: int, tid: int) -> tuple[int, int] | None:
    """(CPU time, run-queue wait), both in ns."""
    try:
        with open(f"/proc/{pid}/task/{tid}/schedstat", "rb") as file:  # noqa: PTH123
            ran, waited, _slices = file.read().split()
    except (FileNotFoundError, ProcessLookupError):
        return None
    return int(ran), int(waited)
