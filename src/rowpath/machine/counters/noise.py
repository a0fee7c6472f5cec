"""What else goes on: CPU pressure, time stolen by the hypervisor, and gaps in a spinning loop."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path

SPIN_NS = 20_000_000
GAP_NS = 10_000  # far above a turn of the loop or a clock interrupt: someone else had the CPU
NS_PER_TICK = 1_000_000_000 // os.sysconf("SC_CLK_TCK")
PRESSURE = Path("/proc/pressure/cpu")
MEANS = "/proc/pressure/cpu, steal in /proc/stat, gaps over 10 µs in a loop that reads the clock for 20 ms"


@dataclass(frozen=True)
class Noise:
    """Counters since boot (difference of two readings), and the gaps of one spin."""

    pressure_some_us: int | None  # time in which some task waited for a CPU, anywhere on the machine
    steal_ticks: int | None
    spin_gap_max_ns: int
    spin_gap_share: float  # of the spin, spent in gaps


def read(cpu: int | None = None) -> Noise:
    """The counters now, and a spin of 20 ms on `cpu` (None: wherever we are)."""
    longest_ns, share = spin(cpu)
    return Noise(pressure_some_us(), steal_ticks(), longest_ns, share)


def pressure_some_us() -> int | None:
    """Microseconds in which some task waited for a CPU; None where the kernel does not report it."""
    try:
        line = PRESSURE.read_text().splitlines()[0]
    except OSError:
        return None
    return int(line.rpartition("total=")[2])


def steal_ticks() -> int | None:
    """Clock ticks that the hypervisor gave to others, all CPUs together; None where the kernel does not report it."""
    with open("/proc/stat", "rb") as file:  # noqa: PTH123
        fields = file.readline().split()
    return int(fields[8]) if len(fields) > 8 else None


def spin(cpu: int | None = None, duration_ns: int = SPIN_NS) -> tuple[int, float]:
    """Read the clock in a loop: the longest gap in ns, and the share of the time spent in gaps."""
    own = os.sched_getaffinity(0)
    if cpu is not None:
        os.sched_setaffinity(0, {cpu})
    try:
        clock = time.perf_counter_ns
        longest = lost = 0
        begin = last = clock()
        while last - begin < duration_ns:
            now = clock()
            gap = now - last
            if gap > GAP_NS:
                lost += gap
                longest = max(longest, gap)
            last = now
        return longest, lost / (last - begin)
    finally:
        os.sched_setaffinity(0, own)


def probe() -> str:
    """Which means work here."""
    missing = "; /proc/pressure/cpu is missing" if pressure_some_us() is None else ""
    return MEANS + missing
