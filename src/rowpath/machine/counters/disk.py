"""Bytes that processes read from and wrote to disk: /proc/PID/io."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass

from rowpath.machine.processes import shown

METHOD = "/proc/PID/io, read_bytes and write_bytes (bytes written to the file system count when the page becomes dirty)"


@dataclass(frozen=True)
class Bytes:
    """Bytes since the process began."""

    read_bytes: int
    write_bytes: int


def of(pid: int, alone: bool = False) -> Bytes | None:
    """What one process read and wrote; None when it has ended or may not be read.

    `alone`: its first thread only, without the children that it has seen end.
    """
    try:
        lines = shown(f"{pid}/task/{pid}/io" if alone else f"{pid}/io").splitlines()
    except PermissionError:
        return None
    fields = dict(line.split(b": ") for line in lines)
    return Bytes(int(fields[b"read_bytes"]), int(fields[b"write_bytes"])) if fields else None


def total(pids: Iterable[int]) -> Bytes | None:
    """The sum over processes; those that have ended do not count; None when none can be read."""
    living = [bytes_ for pid in pids if (bytes_ := of(pid)) is not None]
    sums = sum(bytes_.read_bytes for bytes_ in living), sum(bytes_.write_bytes for bytes_ in living)
    return Bytes(*sums) if living else None


def written_bytes(pids: Iterable[int]) -> int | None:
    """Bytes written by these processes since they began; None when none can be read."""
    bytes_ = total(pids)
    return bytes_.write_bytes if bytes_ else None


def probe() -> str:
    """The method that works here: METHOD, or why there is none."""
    return METHOD if of(os.getpid()) else "unavailable: /proc/PID/io cannot be read"
