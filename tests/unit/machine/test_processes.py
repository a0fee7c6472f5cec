"""Children never survive us, are pinned, run as another user, and are stopped by pid."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from rowpath.errors import InternalError, TimedOut
from rowpath.machine import processes
from tests.unit import insides
from tests.waiting import alive, gone


def test_a_child_is_pinned_and_stopped() -> None:
    cpu = max(os.sched_getaffinity(0))
    process = processes.start(["sleep", "100"], cpus=[cpu])
    assert os.sched_getaffinity(process.pid) == {cpu}
    assert process.pid in processes.living()
    assert processes.stop(process) == -signal.SIGTERM
    assert processes.stop(process) == -signal.SIGTERM, "harmless when it has ended"
    assert process.pid not in processes.living()


def test_a_child_that_ignores_signals_is_killed() -> None:
    code = (
        "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('up', flush=True); time.sleep(100)"
    )
    process = processes.start([sys.executable, "-c", code], stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == b"up\n"
    assert processes.stop(process, ((signal.SIGTERM, 0.1), *processes.AT_ONCE)) == -signal.SIGKILL


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can start a process as another user")
def test_another_user_with_no_group_of_ours() -> None:
    done = processes.run(["id"], user="nobody")
    assert "(nobody)" in done.stdout
    assert "root" not in done.stdout


@pytest.mark.parametrize("user", [None, "nobody"])
def test_children_die_with_a_killed_parent(user: str | None) -> None:
    if user and os.geteuid() != 0:
        pytest.skip("only root can start a process as another user")
    code = f"""
import time
from rowpath.machine import processes
print(processes.start(["sleep", "100"], user={user!r}).pid, flush=True)
time.sleep(100)
"""
    paths = {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    parent = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, env={**os.environ, **paths})
    assert parent.stdout is not None
    child = int(parent.stdout.readline())
    assert alive(child)
    parent.kill()
    parent.wait()
    parent.stdout.close()
    assert gone([child])


def test_a_child_has_a_session_of_its_own() -> None:
    process = processes.start(["sleep", "100"])
    assert os.getpgid(process.pid) == os.getsid(process.pid) == process.pid
    processes.stop(process)


def test_what_would_change_a_measured_program_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PGOPTIONS", "JAVA_TOOL_OPTIONS", "PYTHONSTARTUP", "LD_PRELOAD"):
        monkeypatch.setenv(name, "x")
    said = processes.run(["env"], environment={"LD_PRELOAD": ""}).stdout
    assert "LD_PRELOAD=\n" in said
    assert not any(name in said for name in ("PGOPTIONS", "JAVA_TOOL_OPTIONS", "PYTHONSTARTUP"))


def test_a_program_that_is_asked_about_itself_sees_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ROWPATH_PROBE_PASSWORD", "ROWPATH_MYSQL_URL", "PGPASSWORD", "MYSQL_PWD"):
        monkeypatch.setenv(name, "hunter2")
    found = processes.asked(["env"], 30, check=True, environment={"LC_ALL": "C"}).stdout
    assert "LC_ALL=C\n" in found
    assert "hunter2" not in found


def test_no_other_module_starts_a_program_with_our_whole_environment() -> None:
    source = Path(processes.__file__).parents[1]
    for file in source.rglob("*.py"):
        for call in re.split(r"subprocess\.(?:run|Popen|check_output|call)\(", file.read_text(encoding="utf-8"))[1:]:
            assert "env=" in call.partition("\n\n")[0], file


def test_run_kills_what_does_not_end() -> None:
    with pytest.raises(TimedOut, match=r"sleep did not end within 0\.1 s"):
        processes.run(["sleep", "100"], timeout_s=0.1)
    assert processes.run(["cat"], text="é").stdout == "é"


def test_only_from_the_main_thread() -> None:
    caught: list[Exception] = []

    def attempt() -> None:
        try:
            processes.start(["true"])
        except InternalError as error:
            caught.append(error)

    thread = threading.Thread(target=attempt)
    thread.start()
    thread.join()
    assert len(caught) == 1


def test_pin_reaches_every_thread() -> None:
    code = """
import threading, time
for _ in range(4):
    threading.Thread(target=time.sleep, args=(600,)).start()
print("up", flush=True)
"""
    process = processes.start([sys.executable, "-c", code], stdout=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.readline()
    cpu = min(os.sched_getaffinity(0))
    processes.pin(process.pid, [cpu])
    threads = processes.threads(process.pid)
    assert len(threads) == 5
    assert all(os.sched_getaffinity(tid) == {cpu} for tid in threads)
    processes.stop(process, processes.AT_ONCE)
    processes.pin(process.pid, [cpu])


def test_descendants() -> None:
    process = processes.start(["sh", "-c", "sleep 100 & echo; wait"], stdout=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.readline()
    found = processes.descendants(process.pid)
    assert len(found) == 1
    processes.stop(process, processes.AT_ONCE)
    os.kill(found[0], signal.SIGKILL)


def test_a_signal_while_a_child_is_started_is_handled_afterwards(monkeypatch: pytest.MonkeyPatch) -> None:
    """Python would drop the exception of its handler within the fork."""
    usual = subprocess.Popen

    def interrupted(*arguments: Any, **more: Any) -> Any:
        os.kill(os.getpid(), signal.SIGINT)
        return usual(*arguments, **more)

    monkeypatch.setattr(subprocess, "Popen", interrupted)
    before = set(processes.living())
    with pytest.raises(KeyboardInterrupt):
        processes.start(["sleep", "100"])
    (child,) = set(processes.living()) - before
    assert alive(child)
    processes.stop(insides.child(child), processes.AT_ONCE)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
