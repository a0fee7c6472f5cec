"""What else goes on: CPU pressure, time stolen by the hypervisor, gaps in a spinning loop, the speed of a core."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

SPIN_NS = 20_000_000
PIECE_TURNS = 300  # some 40 µs
PIECES = 3
BETWEEN_S = 0.002
GAP_NS = 10_000  # far above a turn of the loop or a clock interrupt: someone else had the CPU
NS_PER_TICK = 1_000_000_000 // os.sysconf("SC_CLK_TCK")
PRESSURE = Path("/proc/pressure/cpu")
METHOD = "/proc/pressure/cpu, steal in /proc/stat, gaps over 10 µs in a loop that reads the clock for 20 ms"


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
    with _on(cpu):
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


def speed_spread(cpu: int, duration_s: float) -> float:
    """How many times as long the same work takes at the slowest tenth of moments as at the fastest, on `cpu`.

    Moments at which another process had the CPU do not count: the quickest of several pieces is taken.
    """
    moments: list[int] = []
    with _on(cpu):
        end_ns = time.perf_counter_ns() + round(duration_s * 1e9)
        while not moments or time.perf_counter_ns() < end_ns:
            moments.append(min(_piece_ns() for _ in range(PIECES)))
            time.sleep(BETWEEN_S)
    moments.sort()
    edge = len(moments) // 10
    return moments[-1 - edge] / moments[edge]


def _piece_ns() -> int:
    """A piece of work that keeps a core's execution units busy: a hyper-thread beside it halves its share of them."""
    begin_ns = time.perf_counter_ns()
    total = 0
    for number in range(PIECE_TURNS):
        total += number * 3 ^ total
    return time.perf_counter_ns() - begin_ns


@contextlib.contextmanager
def _on(cpu: int | None) -> Iterator[None]:
    """Stay on that CPU (None: wherever we are)."""
    own = os.sched_getaffinity(0)
    if cpu is not None:
        os.sched_setaffinity(0, {cpu})
    try:
        yield
    finally:
        os.sched_setaffinity(0, own)


def probe() -> str:
    """The method that works here."""
    missing = "; /proc/pressure/cpu is missing" if pressure_some_us() is None else ""
    return METHOD + missing
