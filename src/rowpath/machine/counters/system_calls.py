"""How many system calls a process makes: the kernel's tracepoint at their entry, else strace."""

from __future__ import annotations

import contextlib
import ctypes
import functools
import os
import platform
import select
import shutil
import signal
import struct
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from rowpath.machine import processes

METHOD = "perf_event_open on the tracepoint raw_syscalls:sys_enter, all threads of the runner except Java's compilers"
METHOD_STRACE = "strace -c -f, all threads of the runner's process"
STRACE_SLACK = 2  # calls between two countings: strace counts the call in which it meets a process, or not
ATTACH_TIMEOUT_S = 60.0
REST_TIMEOUT_S = 0.03  # for each count: a thread that never rests must not slow the verification pass

# What a compiler does belongs to no operation, and is many times what the operations of one sample do.
_COMPILERS = ("C1 CompilerThre", "C2 CompilerThre")

_EVENT_ID = "events/raw_syscalls/sys_enter/id"
_TRACING = (Path("/sys/kernel/tracing"), Path("/sys/kernel/debug/tracing"))
_PERF_EVENT_OPEN = {"x86_64": 298, "aarch64": 241}  # asm/unistd.h
_ATTRIBUTES_BYTES = 64  # PERF_ATTR_SIZE_VER0 (linux/perf_event.h)
_TRACEPOINT = 2
_INHERIT = 1 << 1  # threads that are started later count too
_CLOSE_ON_EXEC = 8


@dataclass
class Counted:
    """`calls` is None until the counting has ended, and where it failed."""

    calls: int | None = None


@contextlib.contextmanager
def counting(pid: int) -> Iterator[Counted]:
    """Counts every system call of a process while the body runs; what the kernel refuses stays uncounted (None)."""
    counted = Counted()
    how = {METHOD: _tracepoint, METHOD_STRACE: _strace}.get(probe())
    if how is None:
        yield counted
        return
    _wait_for_rest(pid)
    with how(pid, counted):
        yield counted
        _wait_for_rest(pid)


def _wait_for_rest(pid: int) -> None:
    """Wait until every counted thread sleeps, or a limit: the calls that end a request belong to it."""
    deadline = time.monotonic() + REST_TIMEOUT_S
    while time.monotonic() < deadline:
        states = [processes.stat_fields(tid)[:1] for tid in _counted_threads(pid)]
        if not any(state in (["R"], ["D"]) for state in states):
            return
        time.sleep(0.001)


def _counted_threads(pid: int) -> list[int]:
    return [tid for tid in processes.threads(pid) if processes.name(tid) not in _COMPILERS]


@functools.cache
def probe() -> str:
    """The method that works here: METHOD, METHOD_STRACE, or why there is none. A tracer of our own child is allowed."""
    child = processes.start(["sleep", "60"])
    try:
        for how, method in ((_tracepoint, METHOD), (_strace, METHOD_STRACE)):
            with contextlib.suppress(OSError), how(child.pid, counted := Counted()):
                pass
            if counted.calls is not None:
                return method
    finally:
        processes.stop(child, processes.AT_ONCE)
    missing = "is not installed" if shutil.which("strace") is None else "cannot attach"
    return f"unavailable: the kernel's tracepoints are closed to this user, and strace {missing}"


@contextlib.contextmanager
def _tracepoint(pid: int, counted: Counted) -> Iterator[None]:
    descriptors = _open(pid)
    try:
        before = sum(int.from_bytes(os.read(descriptor, 8), "little") for descriptor in descriptors)
        yield
        if descriptors:
            counted.calls = sum(int.from_bytes(os.read(counter, 8), "little") for counter in descriptors) - before
    finally:
        for descriptor in descriptors:
            os.close(descriptor)


def _open(pid: int) -> list[int]:
    """One counter per thread that counts, open; none when the kernel refuses one of them."""
    number, event = _PERF_EVENT_OPEN.get(platform.machine()), None
    for folder in _TRACING:
        with contextlib.suppress(OSError, ValueError):
            event = event or int((folder / _EVENT_ID).read_text())
    if number is None or event is None:
        return []
    attributes = struct.pack("<IIQQQQQIIQ", _TRACEPOINT, _ATTRIBUTES_BYTES, event, 0, 0, 0, _INHERIT, 0, 0, 0)
    libc = ctypes.CDLL(None, use_errno=True)
    descriptors: list[int] = []
    for tid in _counted_threads(pid):
        descriptor = libc.syscall(number, attributes, tid, -1, -1, ctypes.c_ulong(_CLOSE_ON_EXEC))
        if descriptor < 0:
            for opened in descriptors:
                os.close(opened)
            return []
        descriptors.append(descriptor)
    return descriptors


@contextlib.contextmanager
def _strace(pid: int, counted: Counted) -> Iterator[None]:
    """strace attached while the body runs; OSError when there is none."""
    with tempfile.TemporaryDirectory(prefix="rowpath-strace-") as folder:
        table = Path(folder) / "calls"
        tracer = processes.start(
            ["strace", "-c", "-f", "-p", str(pid), "-o", table], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE
        )
        try:
            attached = _attached(tracer)
            yield
        finally:
            processes.stop(tracer, ((signal.SIGINT, 5.0), *processes.AT_ONCE))
        if attached and table.exists():
            counted.calls = parse(table.read_text())


def _attached(tracer: processes.Process) -> bool:
    """Whether strace has reported that it attached, after at most ATTACH_TIMEOUT_S."""
    assert tracer.stderr is not None
    deadline = time.monotonic() + ATTACH_TIMEOUT_S
    output = b""
    while b" attached" not in output:
        ready, _, _ = select.select([tracer.stderr], [], [], max(0.0, deadline - time.monotonic()))
        data = os.read(tracer.stderr.fileno(), 4096) if ready else b""
        if not data:
            return False
        output += data
    return True


def parse(table: str) -> int | None:
    """The total of `strace -c`'s table, whose columns are found by its heading; 0 for no call, None for no table."""
    lines = [line.split() for line in table.splitlines() if line.strip()]
    heading = next((line for line in lines if "calls" in line and "syscall" in line), None)
    total = next((line for line in lines if line and line[-1] == "total"), None)
    if heading is None or total is None:
        return 0 if not lines else None
    column = heading.index("calls") - (1 if heading[:2] == ["%", "time"] else 0)
    return int(total[column])
