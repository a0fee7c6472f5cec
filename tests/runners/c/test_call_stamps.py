"""The library that stamps calls, preloaded into real processes that talk over sockets."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from rowpath.explain.stamping import stamping_environment
from rowpath.machine import c_compiler
from rowpath.machine.counters import call_stamps
from rowpath.machine.counters.call_stamps import Call, Kind
from tests.waiting import PATIENCE_S

pytestmark = pytest.mark.skipif(shutil.which(c_compiler.words()[0]) is None, reason="no C compiler")

TALK = """
import os, select, socket, sys, time
listener = socket.create_server(("127.0.0.1", 0))
here = socket.create_connection(listener.getsockname())
there, _address = listener.accept()
left, right = socket.socketpair()
print(here.getsockname()[1], here.getpeername()[1], flush=True)
sys.stdin.readline()
if os.fork() == 0:
    here.close()
    assert there.recv(100) == b"asked"
    time.sleep(0.02)
    there.sendall(b"answer")
    assert there.recv(100) == b""
    os._exit(0)
there.close()
here.sendall(b"asked")
assert select.select([here], [], [], 60) == ([here], [], [])
assert os.read(here.fileno(), 100) == b"answer"
assert not select.select([here], [], [], 0.001)[0]
os.write(left.fileno(), b"unix")
polled = select.poll()
polled.register(right, select.POLLIN)
assert polled.poll(60_000) == [(right.fileno(), select.POLLIN)]
with select.epoll() as each:
    each.register(right, select.EPOLLIN)
    assert each.poll(1) == [(right.fileno(), select.EPOLLIN)]
assert right.recv(100) == b"unix"
try: os.read(here.fileno() + 500, 1)
except OSError as error: assert error.errno == 9
time.monotonic()
here.close()
os.wait()
print("done", flush=True)
sys.stdin.readline()
"""


@contextmanager
def talking(file: Path) -> Iterator[subprocess.Popen[str]]:
    environment = os.environ | stamping_environment(file)
    words = [sys.executable, "-c", TALK]
    with subprocess.Popen(words, stdin=-1, stdout=-1, text=True, env=environment) as process:
        try:
            yield process
        finally:
            process.communicate("\n", timeout=PATIENCE_S)
        assert process.returncode == 0


def talk(file: Path, *, stamped: bool = True) -> tuple[list[Call], bool, tuple[int, int], int]:
    """The calls, whether all had room, the client's ports, the client's process."""
    with talking(file) as process:
        assert process.stdin is not None and process.stdout is not None
        ports = tuple(map(int, process.stdout.readline().split()))
        with call_stamps.stamping(*([file] if stamped else [])):
            process.stdin.write("\n")
            process.stdin.flush()
            assert process.stdout.readline() == "done\n"
        pid = process.pid
    return (*call_stamps.read(file), ports, pid)  # type: ignore[return-value]


def test_both_ends_of_connections(tmp_path: Path) -> None:
    calls, whole, (here, there), pid = talk(call_stamps.make_file(tmp_path / "a", clocks=True))
    assert whole
    ends = {(call.process == pid, call.enter_ns, call.exit_ns) for call in calls if call.kind == Kind.CONNECTION}
    assert ends == {(True, here, there), (False, there, here), (True, 0, pid)}  # the last: the pair of unix sockets
    asked, answer = (
        next(call for call in calls if call.kind == Kind.SENT and call.result == size) for size in (5, 6)
    )  # fmt: skip
    heard, read = (
        next(call for call in calls if call.kind == Kind.RECEIVED and call.result == size) for size in (5, 6)
    )
    assert asked.process == read.process == pid != answer.process == heard.process
    assert asked.enter_ns < heard.exit_ns < answer.enter_ns < read.exit_ns
    assert answer.enter_ns - heard.exit_ns >= 20e6
    waits = [call for call in calls if call.kind == Kind.WAITED and call.process == pid]
    assert [call.result for call in waits] == [1, 0, 1, 1]  # selected, in vain, polled, by epoll
    assert asked.exit_ns <= waits[0].enter_ns < waits[0].exit_ns and answer.enter_ns < waits[0].exit_ns
    assert [call.result for call in calls if call.kind == Kind.RECEIVED and call.result == 0] == [0]  # the end
    clocks = [call for call in calls if call.kind == Kind.CLOCK]
    assert clocks and all(call.enter_ns == call.exit_ns for call in clocks)


def test_nothing_while_off_nor_beyond_the_room(tmp_path: Path) -> None:
    assert talk(call_stamps.make_file(tmp_path / "off", clocks=True), stamped=False)[:2] == ([], True)
    calls, whole, *_rest = talk(call_stamps.make_file(tmp_path / "small", clocks=False, room=5))
    assert len(calls) == 5 and not whole
    assert not any(call.kind == Kind.CLOCK for call in calls)
