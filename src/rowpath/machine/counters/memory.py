"""Peak memory of a client's process, memory of a server's own."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from rowpath.machine.processes import shown

METHOD = (
    "client: VmHWM (several processes: their sum) after 5 was written to /proc/PID/clear_refs; "
    "server: sum of RssAnon (without shared buffers)"
)
PEAK = b"VmHWM"
KINDS = (b"RssAnon", b"RssFile", b"RssShmem")


@dataclass(frozen=True)
class Resident:
    """What processes hold in memory now, in bytes; what several of them share counts once for each."""

    anonymous: int  # their own: heaps, stacks
    file: int  # pages of files that they map: programs, libraries
    shared: int  # memory shared with other processes: the board


def resolution_bytes() -> int:
    """How far a figure may be off: each CPU keeps some pages to itself before the kernel's sum has them.

    percpu_counter_batch of lib/percpu_counter.c, by which Linux counts resident pages since 6.2.
    """
    cpus = os.cpu_count() or 1
    return max(32, 2 * cpus) * cpus * os.sysconf("SC_PAGESIZE")


def reset_peak(pid: int) -> bool:
    """Make the peak of a process its present memory; False when that is not allowed."""
    try:
        with open(f"/proc/{pid}/clear_refs", "w") as file:  # noqa: PTH123
            file.write("5")
    except OSError:
        return False
    return True


def peak_bytes(pid: int) -> int | None:
    """The most memory that a process had resident since `reset_peak`; None when it has ended."""
    return _status_bytes(pid, PEAK).get(PEAK)


def sum_of_peaks_bytes(pids: Iterable[int]) -> int | None:
    """The peaks of these processes together, no less than what they had at one time; None when none is alive."""
    peaks = [peak for peak in map(peak_bytes, pids) if peak is not None]
    return sum(peaks) if peaks else None


def resident(pids: Iterable[int]) -> Resident | None:
    """All that the processes hold in memory now; None when none is alive."""
    every = [held for pid in pids if (held := _status_bytes(pid, *KINDS))]
    return Resident(*(sum(held.get(kind, 0) for held in every) for kind in KINDS)) if every else None


def anonymous_bytes(pids: Iterable[int]) -> int | None:
    """Memory that is the processes' own now, shared memory and files left out; None when none is alive."""
    held = resident(pids)
    return held.anonymous if held else None


def probe() -> str:
    """The method that works here: METHOD, or why there is none."""
    if not Path("/proc/self/clear_refs").exists() or not reset_peak(os.getpid()):
        return "unavailable: /proc/PID/clear_refs cannot be written"
    return METHOD if peak_bytes(os.getpid()) is not None else "unavailable: /proc/PID/status has no VmHWM"


def _status_bytes(pid: int, *names: bytes) -> dict[bytes, int]:
    """The named fields of /proc/PID/status that exist, in bytes; none when the process has ended."""
    fields = (line.split() for line in shown(f"{pid}/status").splitlines() if line.startswith(names))
    return {field[0].rstrip(b":"): int(field[1]) * 1024 for field in fields}
