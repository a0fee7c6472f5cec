"""A server killed in mid-run, a port that is taken, and no password where others can read it."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import socket
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from rowpath.engines import ENGINES
from tests.end_to_end.command import (
    POSTGRESQL_C,
    POSTGRESQL_TCP,
    SQLITE_C,
    SQLITE_PYTHON,
    Command,
    proc,
    records,
    rowpath,
    steady,
    write_experiment,
)

pytestmark = pytest.mark.skipif(
    not ENGINES["postgresql"].availability().ok, reason=ENGINES["postgresql"].availability().reason
)
# The first port that a server would take at random is one that something else holds already.
UNLUCKY = """
import socket, sys
from rowpath.machine import private_directories as homes
other = socket.create_server(("127.0.0.1", 0))
free, answers = homes.free_port, [other.getsockname()[1]]
homes.free_port = lambda *_address: answers.pop() if answers else free()
from rowpath.cli.main import main
code = main(sys.argv[1:])
assert not answers, "no port was asked for"
sys.exit(code)
"""


def postmaster(command: Command) -> int:
    """The pid of the run's PostgreSQL, 0 when there is none."""
    found = [pid for pid in command.processes() if re.search(r"/bin/postgres -D ", proc(pid, "cmdline"))]
    return found[0] if found else 0


def test_a_server_killed_in_mid_run(tmp_path: Path) -> None:
    experiment = write_experiment(tmp_path, [SQLITE_C, SQLITE_PYTHON, POSTGRESQL_C], sets=3, rounds=100)
    run, file = tmp_path / "run", tmp_path / "r.json"
    with Command("run", experiment, "-o", run, "--timeout", "60", "--export-json", file) as command:
        command.hold_when(lambda: steady(run), "steady blocks")
        killed = postmaster(command)
        assert killed
        os.kill(killed, signal.SIGKILL)
        command.signal(signal.SIGCONT)
        command.wait_until(lambda: len(records(run, "set-end")) > 0, "the end of a set")
        command.hold_when(lambda: steady(run, 1), "steady blocks of the next set")
        again = postmaster(command)
        assert again not in (0, killed)
        command.signal(signal.SIGCONT)
        done = command.end()
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    notes = [record["text"] for record in records(run, "note")]
    assert "postgresql exited unexpectedly and was restarted" in notes
    assert len(records(run, "set-end")) == 3
    results = json.loads(file.read_text())["results"]
    timed = {(r["path"]["engine"], r["path"]["language"]): r for r in results if r["metric"] == "time"}
    for language in ("c", "python"):
        assert timed["sqlite", language]["sets"] == 3
        assert timed["sqlite", language]["status"] in ("ok", "tied", "disturbed")
    assert timed["postgresql", "c"]["status"] == "failed"
    assert timed["postgresql", "c"]["reason"]
    later = [r for r in records(run, "sample") if r["set"] == 2 and "engine=postgresql" in r["path_id"]]
    assert any(r["regime"] == "steady" and r["operations"] and not r["failed"] for r in later)


def test_a_port_taken_between_choosing_and_listening(tmp_path: Path) -> None:
    experiment = write_experiment(tmp_path, [POSTGRESQL_TCP], sets=1, rounds=1)
    program = (sys.executable, "-c", UNLUCKY)
    words = ("run", experiment, "-o", tmp_path / "run", "--gate", "--wait-for-quiet", "0s")  # beside other tests
    done = rowpath(*words, program=program)
    assert done.returncode == 0, done.stderr


def test_no_password_where_others_can_read_it_and_no_listening_beyond_loopback(tmp_path: Path) -> None:
    experiment = write_experiment(tmp_path, [POSTGRESQL_C, POSTGRESQL_TCP], sets=1, rounds=100)
    run = tmp_path / "run"
    with Command("run", experiment, "-o", run) as command:
        command.hold_when(lambda: steady(run), "steady blocks")
        _on_loopback(command)
        home = Path(re.findall(r"-D (\S+)/data", proc(postmaster(command), "cmdline"))[0])
        private = home / "pgpass"
        assert private.stat().st_mode & 0o077 == 0
        passwords = [line.rpartition(":")[2] for line in private.read_text().splitlines()]
        assert len(passwords) == 2 and all(len(password) >= 24 for password in passwords)
        for pid in [*command.processes(), command.process.pid]:
            told = proc(pid, "cmdline") + proc(pid, "environ")
            assert not any(password in told for password in passwords), f"of {pid}"
        _nowhere(passwords, [run / "samples.jsonl", *(run / "logs").rglob("*")])
        command.signal(signal.SIGCONT)
        done = command.end()
    assert done.returncode == 0, done.stderr
    assert not any(password in done.stdout + done.stderr for password in passwords)
    assert not private.exists()
    _nowhere(passwords, list(run.rglob("*")))


def _nowhere(passwords: list[str], files: list[Path]) -> None:
    for file in files:
        if file.is_file():
            held = file.read_bytes()
            assert not any(password.encode() in held for password in passwords), file


def _on_loopback(command: Command) -> None:
    """Every socket of the command and of its processes that listens does so on 127.0.0.1."""
    mine = {number for pid in [*command.processes(), command.process.pid] for number in _sockets(pid)}
    listening = []
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == "0A" and fields[9] in mine:
                listening.append(fields[1].partition(":")[0])
    assert listening, "the server listens over TCP"
    assert set(listening) == {socket.inet_aton("127.0.0.1")[::-1].hex().upper()}


def _sockets(pid: int) -> Iterator[str]:
    """The kernel's numbers of the sockets that a process has open."""
    with contextlib.suppress(OSError):
        for link in Path(f"/proc/{pid}/fd").iterdir():
            with contextlib.suppress(OSError):
                kind, _, number = str(link.readlink()).partition(":")
                if kind == "socket":
                    yield number.strip("[]")
