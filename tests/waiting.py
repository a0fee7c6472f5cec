"""Waiting for events, never for time; and processes, of which one that has vanished is an answer."""

from __future__ import annotations

import contextlib
import socket
import time
from collections.abc import Callable, Iterable, Iterator

from rowpath.machine import processes
from rowpath.machine.counters import cpu

PATIENCE_S = 60.0  # as long as a loaded machine may need: what comes, comes sooner
AT_WORK_NS = 20_000_000


def until(reached: Callable[[], object], what: str, within_s: float = PATIENCE_S) -> None:
    """Return as soon as `reached`; an error that says what did not come."""
    deadline = time.monotonic() + within_s
    while not reached():
        assert time.monotonic() < deadline, f"no {what} within {within_s:g} s"
        time.sleep(0.005)


@contextlib.contextmanager
def nobody_listens() -> Iterator[int]:
    """A port of 127.0.0.1 that refuses connections: held until the end, so that no one else takes it."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        yield int(held.getsockname()[1])


def alive(pid: int) -> bool:
    """Whether the process runs (one that only waits to be reaped does not)."""
    fields = processes.stat_fields(pid)
    return bool(fields) and fields[0] != "Z"


def gone(pids: Iterable[int], within_s: float = PATIENCE_S) -> bool:
    """Whether all of them end."""
    deadline = time.monotonic() + within_s
    left = list(pids)
    while left := [pid for pid in left if alive(pid)]:
        if time.monotonic() > deadline:
            return False
        time.sleep(0.005)
    return True


def at_work(pid: int) -> None:
    """Return once the process computes: a sample that is asked for has begun."""
    before = cpu.process_ns(pid) or 0
    until(lambda: (cpu.process_ns(pid) or 0) > before + AT_WORK_NS, f"work of process {pid}")
