"""CPU time of other processes, and how long their threads were ready but had to wait for a CPU.

The time: their own CPU clocks, exact to the nanosecond, of any user. The wait: the second field of
/proc/PID/task/TID/schedstat.
"""

from __future__ import annotations

import ctypes
import os
import time
from collections.abc import Iterable
from dataclasses import dataclass

from rowpath.machine.counters.noise import NS_PER_TICK
from rowpath.machine.processes import shown, stat_fields, threads

METHOD = "the process's CPU clock (clock_getcpuclockid, clock_gettime)"
QUEUE_METHOD = "/proc/PID/task/TID/schedstat (run-queue wait), less the CPU time of the process's own other threads"
_CPUCLOCK_SCHED = 2


def clock_id(pid: int) -> int:
    """The kernel's id of a process's CPU clock; what clock_getcpuclockid(3) computes, without a call."""
    return (~pid) << 3 | _CPUCLOCK_SCHED


def process_ns(pid: int) -> int | None:
    """CPU time that a process and its threads have used, ended threads included; None when it has ended."""
    try:
        return time.clock_gettime_ns(clock_id(pid))
    except OSError:
        return None


def total_ns(pids: Iterable[int]) -> int:
    """The sum over processes and the children that they have seen end (those in steps of a clock tick).

    Read it for the same pids before and after: a process that ends in between takes its time out of the sum, unless
    its parent is among them.
    """
    total = 0
    for pid in pids:
        fields = stat_fields(pid)
        ended_children_ns = (int(fields[13]) + int(fields[14])) * NS_PER_TICK if fields else 0
        total += (process_ns(pid) or 0) + ended_children_ns
    return total


def probe() -> str:
    """The method that works here: METHOD, or why there is none."""
    name = ctypes.c_int()
    if ctypes.CDLL(None).clock_getcpuclockid(os.getpid(), ctypes.byref(name)) != 0:
        return "unavailable: clock_getcpuclockid fails"
    if name.value != ctypes.c_int(clock_id(os.getpid())).value:
        return f"unavailable: this system's CPU clock ids differ ({name.value})"
    if process_ns(os.getppid()) is None:
        return "unavailable: clocks of other processes cannot be read"
    return METHOD


@dataclass(frozen=True)
class LoopClocks:
    """The clocks of a client at one moment."""

    threads: dict[int, tuple[int, int]]  # tid of each that may run the loop → (CPU time, run-queue wait), both in ns
    others_cpu_ns: int  # of the process's threads that never run the loop, ended ones included (collector, compiler)
    processes_cpu_ns: int  # of other processes that are ours


def clocks(pid: int, loop_tid: int, others: Iterable[int] = ()) -> LoopClocks | None:
    """`loop_tid` 0: any thread of the process may run the loop. None where the kernel does not count."""
    tids = [loop_tid] if loop_tid else threads(pid)
    counted = {tid: fields for tid in tids if (fields := _schedstat(pid, tid)) is not None}
    process = process_ns(pid)
    if not counted or process is None:
        return None
    beside = process - counted[loop_tid][0] if loop_tid else 0
    return LoopClocks(counted, beside, sum(process_ns(other) or 0 for other in others))


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


def probe_queue() -> str:
    """The method that works here: QUEUE_METHOD, or why there is none."""
    return QUEUE_METHOD if _schedstat(os.getpid(), os.getpid()) else "unavailable: the kernel keeps no schedstat"


def _schedstat(pid: int, tid: int) -> tuple[int, int] | None:
    """(CPU time, run-queue wait), both in ns."""
    fields = shown(f"{pid}/task/{tid}/schedstat").split()
    return (int(fields[0]), int(fields[1])) if fields else None
