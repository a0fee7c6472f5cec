"""How long a thread was ready but had to wait for a CPU: /proc/PID/task/TID/schedstat, second field."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass

from rowpath.machine import processes
from rowpath.machine.counters.cpu import process_ns

METHOD = "/proc/PID/task/TID/schedstat (run-queue wait), less the CPU time of the process's own other threads"


@dataclass(frozen=True)
class LoopClocks:
    """The clocks of a client at one moment."""

    threads: dict[int, tuple[int, int]]  # tid of each that may run the loop → (CPU time, run-queue wait), both in ns
    others_cpu_ns: int  # of the process's threads that never run the loop, ended ones included (collector, compiler)
    processes_cpu_ns: int  # of other processes that are ours


def read(pid: int, loop_tid: int, others: Iterable[int] = ()) -> LoopClocks | None:
    """`loop_tid` 0: any thread of the process may run the loop. None where the kernel does not count."""
    tids = [loop_tid] if loop_tid else processes.threads(pid)
    threads = {tid: fields for tid in tids if (fields := _schedstat(pid, tid)) is not None}
    process = process_ns(pid)
    if not threads or process is None:
        return None
    beside = process - threads[loop_tid][0] if loop_tid else 0
    return LoopClocks(threads, beside, sum(process_ns(other) or 0 for other in others))


def threads_cpu_ns(threads: Iterable[tuple[int, int]]) -> int:
    """CPU time of these threads, each (pid, tid); one that has ended counts nothing."""
    return sum(fields[0] for pid, tid in threads if (fields := _schedstat(pid, tid)) is not None)


def foreign_wait_ns(before: LoopClocks, after: LoopClocks) -> int:
    """Wait of the thread that ran the loop, less the CPU time of all that is ours: it may have waited for these.

    Below zero when the others ran while the thread slept. Of several threads that may run the loop the busiest counts.
    """
    ran, waited = {}, {}
    for tid, (cpu_ns, wait_ns) in after.threads.items():
        cpu_before, wait_before = before.threads.get(tid, (0, 0))
        ran[tid], waited[tid] = cpu_ns - cpu_before, wait_ns - wait_before
    busiest = max(ran, key=ran.__getitem__)
    ours = sum(ran.values()) - ran[busiest]
    ours += after.others_cpu_ns - before.others_cpu_ns + after.processes_cpu_ns - before.processes_cpu_ns
    return waited[busiest] - ours


def probe() -> str:
    """The method that works here: METHOD, or why there is none."""
    return METHOD if _schedstat(os.getpid(), os.getpid()) else "unavailable: the kernel keeps no schedstat"


def _schedstat(pid: int, tid: int) -> tuple[int, int] | None:
    """(CPU time, run-queue wait), both in ns."""
    try:
        with open(f"/proc/{pid}/task/{tid}/schedstat", "rb") as file:  # noqa: PTH123
            ran, waited, _slices = file.read().split()
    except (FileNotFoundError, ProcessLookupError):
        return None
    return int(ran), int(waited)
