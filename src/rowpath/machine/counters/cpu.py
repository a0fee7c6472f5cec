"""CPU time of other processes: their own CPU clocks, exact to the nanosecond, of any user."""

from __future__ import annotations

import ctypes
import os
import time
from collections.abc import Iterable

from rowpath.machine.counters.noise import NS_PER_TICK
from rowpath.machine.processes import stat_fields

METHOD = "the process's CPU clock (clock_getcpuclockid, clock_gettime)"
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
        total += (process_ns(pid) or 0) + ended_children_ns(pid)
    return total


def ended_children_ns(pid: int) -> int:
    """CPU time of the children that a process has seen end, in steps of a clock tick (10 ms)."""
    fields = stat_fields(pid)
    return (int(fields[13]) + int(fields[14])) * NS_PER_TICK if fields else 0


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
