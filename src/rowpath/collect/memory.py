"""Peak memory of a client's process, memory of a server's own."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path as FilePath

MEANS = (
    "client: VmHWM (several processes: their sum) after 5 was written to /proc/PID/clear_refs; "
    "server: sum of RssAnon (shared buffers left out)"
)


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
    return _status_bytes(pid, b"VmHWM")


def sum_of_peaks_bytes(pids: Iterable[int]) -> int | None:
    """The peaks of these processes together, no less than what they had at one time; None when none is alive."""
    return _total(map(peak_bytes, pids))


def anonymous_bytes(pids: Iterable[int]) -> int | None:
    """Memory that is the processes' own now, shared memory and files left out; None when none is alive."""
    return _total(_status_bytes(pid, b"RssAnon") for pid in pids)


def probe() -> str:
    """Which means works here: MEANS, or why there is none."""
    if not FilePath("/proc/self/clear_refs").exists() or not reset_peak(os.getpid()):
        return "unavailable: /proc/PID/clear_refs cannot be written"
    return MEANS if peak_bytes(os.getpid()) is not None else "unavailable: /proc/PID/status has no VmHWM"


def _total(each: Iterable[int | None]) -> int | None:
    found = [one for one in each if one is not None]
    return sum(found) if found else None


def _status_bytes(pid: int, name: bytes) -> int | None:
    try:
        with open(f"/proc/{pid}/status", "rb") as file:  # noqa: PTH123
            for line in file:
                if line.startswith(name):
                    return int(line.split()[1]) * 1024
    except (FileNotFoundError, ProcessLookupError):
        return None
    return None
