"""`rowpath engine up|status|down` on real servers: connecting as printed, every way of ending, no password shown."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from rowpath.engines import ENGINES
from rowpath.machine import postgresql_programs
from tests.end_to_end.command import PROGRAM, environment, every_pid, proc
from tests.waiting import alive, until

QUERY = "SELECT count(*) FROM mydata2"
LONGEST_S = 600.0  # only a hang takes longer


@dataclass
class Hand:
    """Runs commands with a cache of their own, where servers can reach their files when root starts them."""

    cache: Path
    environment: dict[str, str]

    def start(self, *words: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [*PROGRAM, "engine", *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
            env=self.environment,
            text=True,
        )

    def run(self, *words: str, status: int = 0) -> str:
        process = self.start(*words)
        out, err = process.communicate(timeout=LONGEST_S)
        assert process.returncode == status, err
        return out if status == 0 else err

    def ours(self) -> list[int]:
        """Every process that has this cache in its environment or on its command line."""
        mark = str(self.cache)
        found = [pid for pid in every_pid() if mark in proc(pid, "environ") + proc(pid, "cmdline") and alive(pid)]
        return [pid for pid in found if pid != os.getpid()]

    def all_gone(self) -> bool:
        until(lambda: not self.ours(), "end of all processes")
        return True


@pytest.fixture
def hand() -> Iterator[Hand]:
    cache = Path(tempfile.mkdtemp(prefix="rp-", dir="/tmp"))
    cache.chmod(0o711)
    added = {"ROWPATH_CACHE": str(cache)}
    if ENGINES["postgresql"].availability().ok:
        added["ROWPATH_POSTGRESQL"] = str(postgresql_programs.install())
    made = Hand(cache, environment(added))
    yield made
    left = made.ours()
    for pid in left:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    shutil.rmtree(cache, ignore_errors=True)
    assert not left, f"these survived: {left}"


@pytest.fixture(params=["postgresql", "mariadb"])
def engine(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    here = ENGINES[name].availability()
    if not here.ok:
        pytest.skip(here.reason)
    return name


def connecting(told: str) -> list[str]:
    """The commands that `up` printed."""
    return [line.strip() for line in told.splitlines() if line.startswith("  ")]


def answered(hand: Hand, line: str) -> str:
    done = subprocess.run(
        ["/bin/sh", "-c", line],
        input=f"{QUERY};\n",
        capture_output=True,
        text=True,
        env=hand.environment,
        timeout=LONGEST_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def keeper_of(hand: Hand) -> int:
    (pid,) = re.findall(r"supervisor (\d+)", hand.run("status"))
    return int(pid)


def test_a_server_by_hand(hand: Hand, engine: str) -> None:
    told = hand.run("up", engine, "durability=none", "--load", "keyed")
    assert f"{engine} " in told.splitlines()[0]
    lines = connecting(told)
    assert len(lines) == 2  # over TCP, over its socket
    for line in lines:
        assert "1000" in answered(hand, line)
    shown = hand.run("status")
    assert "durability none, with the tables of keyed" in shown
    (port,) = re.findall(r"127\.0\.0\.1:(\d+)", shown)
    listening = [line.split()[1] for line in Path("/proc/net/tcp").read_text().splitlines() if line.split()[3] == "0A"]
    assert [each for each in listening if each.endswith(f":{int(port):04X}")] == [f"0100007F:{int(port):04X}"]
    private = hand.cache / "up" / engine / "private"
    (login,) = [file for file in private.iterdir() if file.name in ("pgpass", "client.cnf")]
    password = re.findall(r"[A-Za-z0-9_-]{32}", login.read_text())[0]
    assert password not in told + shown
    for pid in every_pid():
        assert password not in proc(pid, "cmdline") + proc(pid, "environ")
    assert "is already running" in hand.run("up", engine, status=2)
    assert "1000" in answered(hand, lines[0])
    assert hand.run("down", engine) == f"{engine} is stopped, its files are removed\n"
    assert hand.ours() == []
    assert not (hand.cache / "up" / engine).exists()
    assert hand.run("status") == "no engine is running\n"


def test_the_end_of_the_keeper_is_the_end_of_the_server_and_the_other_way_round(hand: Hand, engine: str) -> None:
    hand.run("up", engine)
    os.kill(keeper_of(hand), signal.SIGKILL)
    assert hand.all_gone()
    assert hand.run("status") == "no engine is running\n"
    assert not (hand.cache / "up" / engine).exists()
    hand.run("up", engine)  # nothing of the first one is in its way
    (pids,) = re.findall(r"server ([\d ]+),", hand.run("status"))
    os.kill(int(pids.split()[0]), signal.SIGKILL)
    assert hand.all_gone()
    assert hand.run("status") == "no engine is running\n"


def test_an_interrupted_start_leaves_nothing(hand: Hand, engine: str) -> None:
    starting = hand.start("up", engine, "--load", "retrieve")
    until((hand.cache / "up" / engine / "instance").exists, "instance")
    starting.send_signal(signal.SIGINT)
    _, err = starting.communicate(timeout=LONGEST_S)
    assert starting.returncode == 130
    assert "interrupted" in err
    assert hand.all_gone()
    assert not (hand.cache / "up" / engine).exists()


def test_several_engines_are_up_at_once_and_go_down_together(hand: Hand) -> None:
    names = [name for name in ("postgresql", "mariadb") if ENGINES[name].availability().ok]
    if len(names) < 2:
        pytest.skip("one of PostgreSQL and MariaDB is not here")
    for name in names:
        hand.run("up", name)
    assert hand.run("status").count(" is up") == len(names)
    assert hand.run("down", "--all").count("is stopped") == len(names)
    assert hand.all_gone()


def test_a_server_that_cannot_start_says_why(hand: Hand) -> None:
    if not ENGINES["postgresql"].availability().ok:
        pytest.skip("PostgreSQL is not here")
    hand.environment["ROWPATH_POSTGRESQL"] = str(hand.cache)
    err = hand.run("up", "postgresql", status=3)
    assert "error: there is no " in err
    assert hand.all_gone()
