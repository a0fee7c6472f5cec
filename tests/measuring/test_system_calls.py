"""System calls by both methods: to the last one (strace: give or take two), threads that are started meanwhile too."""

from __future__ import annotations

import contextlib
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from rowpath.machine import processes
from rowpath.machine.counters import syncs, system_calls

CHILD = """
import os, sys, threading
def calls(count):
    for _ in range(count): os.getppid()
for line in sys.stdin:
    if line.startswith("thread"):
        started = threading.Thread(target=calls, args=(int(line.split()[1]),))
        started.start()
        started.join()
    else:
        calls(int(line))
    print("done", flush=True)
"""
Do = Callable[[str], None]


@pytest.fixture
def child() -> Iterator[tuple[int, Do]]:
    process = processes.start([sys.executable, "-c", CHILD], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def do(what: str) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(f"{what}\n".encode())
        process.stdin.flush()
        assert process.stdout.readline() == b"done\n"

    do("1")
    yield process.pid, do
    processes.stop(process)


def counted(child: tuple[int, Do], what: str) -> int:
    pid, do = child
    with system_calls.counting(pid) as calls:
        do(what)
    assert calls.calls is not None
    return calls.calls


# No package brings a tracepoint that the kernel was built without, or that it closes to this user.
TRACEPOINT = [system_calls.METHOD] if system_calls.probe() == system_calls.METHOD else []


@pytest.mark.parametrize("method", [*TRACEPOINT, system_calls.METHOD_STRACE])
def test_exactly(child: tuple[int, Do], method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if method == system_calls.METHOD_STRACE and shutil.which("strace") is None:
        pytest.skip("strace is not installed")
    monkeypatch.setattr(system_calls, "probe", lambda: method)
    overhead = counted(child, "0")
    slack = 0 if method == system_calls.METHOD else system_calls.STRACE_SLACK
    for calls in (1, 50, 1000):
        assert abs(counted(child, str(calls)) - overhead - calls) <= slack
    assert 1000 - slack <= counted(child, "thread 1000") - overhead < 1100


def test_without_means_nothing_is_made_up(child: tuple[int, Do], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(system_calls, "probe", lambda: "unavailable: for this test")
    with system_calls.counting(child[0]) as calls:
        child[1]("5")
    assert calls.calls is None


def test_a_process_that_has_ended_is_not_counted() -> None:
    process = processes.start(["true"])
    processes.stop(process)
    with contextlib.suppress(OSError), system_calls.counting(process.pid) as calls:
        pass
    assert calls.calls is None


def test_the_table_of_strace() -> None:
    table = """% time     seconds  usecs/call     calls    errors syscall
------ ----------- ----------- --------- --------- ----------------
 99.10    0.000011           0      1000           getppid
  0.90    0.000000           0         3         1 read
------ ----------- ----------- --------- --------- ----------------
100.00    0.000011           0      1003         1 total
"""
    assert system_calls.parse(table) == 1003
    assert system_calls.parse("") == 0
    assert system_calls.parse("something else") is None


def test_the_cost_of_a_sync(tmp_path: Path) -> None:
    cost = syncs.measure_cost(tmp_path)
    assert cost.ns > 0
    assert 1 <= cost.syncs <= syncs.COST_SYNCS
    assert not list(tmp_path.iterdir())
