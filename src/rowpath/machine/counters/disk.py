"""Bytes that processes read from and wrote to disk: /proc/PID/io."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass

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
        with open(f"/proc/{pid}/task/{pid}/io" if alone else f"/proc/{pid}/io", "rb") as file:  # noqa: PTH123
            fields = dict(line.split(b": ") for line in file.read().splitlines())
    except (FileNotFoundError, ProcessLookupError, PermissionError):
        return None
    return Bytes(int(fields[b"read_bytes"]), int(fields[b"write_bytes"]))


def total(pids: Iterable[int]) -> Bytes | None:
    """The sum over processes; those that have ended do not count; None when none can be read."""
    found = [bytes_ for pid in pids if (bytes_ := of(pid)) is not None]
    if not found:
        return None
    return Bytes(sum(each.read_bytes for each in found), sum(each.write_bytes for each in found))


def written_bytes(pids: Iterable[int]) -> int | None:
    """Bytes written by these processes since they began; None when none can be read."""
    found = total(pids)
    return found.write_bytes if found else None


def probe() -> str:
    """The method that works here: METHOD, or why there is none."""
    return METHOD if of(os.getpid()) else "unavailable: /proc/PID/io cannot be read"
