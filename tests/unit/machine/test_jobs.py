"""Jobs beside each other: the main thread starts their processes, one error or Ctrl-C ends them all."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from rowpath.errors import InternalError, UsageError
from rowpath.machine import compiling, jobs, processes
from tests.waiting import gone

LONG = ("sleep", "100")


def test_jobs_are_at_work_at_once_and_their_processes_are_ours() -> None:
    meeting = threading.Barrier(2, timeout=60)
    parents: list[int] = []

    def job() -> None:
        meeting.wait()
        parents.append(int(processes.run(["sh", "-c", "echo $PPID"]).stdout))

    processes.side_by_side([job, job])
    assert parents == [os.getpid()] * 2


def test_no_more_at_once_than_allowed_and_jobs_may_begin_jobs() -> None:
    at_work = most = 0
    done: list[int] = []

    def job(number: int) -> None:
        nonlocal at_work, most
        at_work += 1
        most = max(most, at_work)
        processes.run(["true"])
        at_work -= 1
        done.append(number)

    def many() -> None:
        processes.side_by_side([lambda number=number: job(number) for number in range(6)], at_most=1)  # type: ignore[misc]

    processes.side_by_side([many, lambda: processes.run(["true"])])
    assert most == 1
    assert sorted(done) == list(range(6))


def test_the_first_error_ends_the_others_and_is_the_one_that_is_seen() -> None:
    begun = threading.Event()
    others = set(processes.living())  # of tests before this one

    def long() -> None:
        begun.set()
        processes.run(LONG)
        raise AssertionError("it is not wanted any more")

    def wrong() -> None:
        begun.wait(60)
        raise UsageError("the source does not compile", "correct it")

    with pytest.raises(UsageError, match="does not compile"):
        processes.side_by_side([long, lambda: processes.side_by_side([long, wrong])])
    assert set(processes.living()) <= others


def test_outside_a_job_only_the_main_thread_starts_processes() -> None:
    raised: list[BaseException] = []

    def start() -> None:
        try:
            processes.start(LONG)
        except InternalError as error:
            raised.append(error)

    thread = threading.Thread(target=start)
    thread.start()
    thread.join()
    assert len(raised) == 1


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_ends_every_job_and_leaves_nothing_half_made(tmp_path: Path, number: signal.Signals) -> None:
    code = f"""
import os, signal, sys
from pathlib import Path
from rowpath.machine import compiling, processes

def interrupt(number, frame):
    raise KeyboardInterrupt

signal.signal(signal.SIGTERM, interrupt)

def make(made):
    made.write_text("half")
    processes.run(["sh", "-c", "echo $$; exec sleep 100 >&2"])

def job(name):
    os.write(1, b"begun\\n")
    compiling.made_once(Path({str(tmp_path)!r}) / name, make)

try:
    processes.side_by_side([lambda: job("a"), lambda: job("b")])
except KeyboardInterrupt:
    assert not processes.living()
    sys.exit(130)
"""
    paths = {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    program = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, env={**os.environ, **paths})
    assert program.stdout is not None
    assert [program.stdout.readline() for _ in range(2)] == [b"begun\n"] * 2
    while len(children := processes.descendants(program.pid)) < 2:
        assert program.poll() is None
    program.send_signal(number)
    assert program.wait(60) == 130
    program.stdout.close()
    assert gone(children)
    assert not list(tmp_path.iterdir()), "neither a file nor a folder to make one in"


def test_building_is_said_once_and_only_when_something_is_built(tmp_path: Path) -> None:
    said: list[tuple[str, bool]] = []

    def announce(what: str) -> None:
        said.append((what, threading.current_thread() is threading.main_thread()))

    def build() -> None:
        with jobs.announcing(announce):
            for name in ("a", "b"):
                compiling.made_once(tmp_path / name, lambda made: made.write_text("x"))

    processes.side_by_side([build, lambda: None])
    assert said == [("", True)]
    processes.side_by_side([build, lambda: None])
    assert said == [("", True)], "all is there"
