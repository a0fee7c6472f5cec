"""`rowpath engine` without a server: its list, agreeing to a fetch, wrong words, connection lines, stale files."""

from __future__ import annotations

import io
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from rowpath.cli import engine as engine_command
from rowpath.cli.main import main
from rowpath.engines import ENGINES, by_hand
from rowpath.engines.base import Fetchable
from rowpath.errors import UsageError


class Fetched:
    """Something on request, as an engine's module would name it."""

    licence = "a licence of its own"
    size_text = "12 MB"

    def __init__(self) -> None:
        self.times = 0

    def fetch(self) -> str:
        self.times += 1
        return "fetched into there"

    def fetched(self) -> bool:
        return self.times > 0


@pytest.fixture
def one(monkeypatch: pytest.MonkeyPatch) -> Fetched:
    found = Fetched()
    assert isinstance(found, Fetchable)
    monkeypatch.setattr(engine_command, "optional_downloads", lambda: {"thing": found})
    return found


@pytest.fixture
def cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("ROWPATH_CACHE", str(tmp_path))
    return tmp_path


def test_the_list_names_every_engine_and_what_comes_on_request(one: Fetched) -> None:
    lines = list(engine_command.engines())
    assert [line.split()[0] for line in lines if line[:1].strip()][: len(ENGINES)] == list(ENGINES)
    assert any("durabilities full, none" in line for line in lines)
    assert " ".join(lines[-1].split()) == "thing a licence of its own, 12 MB: rowpath engine fetch thing"


def test_what_keeps_tables_in_several_ways_shows_each_with_its_durabilities() -> None:
    (line,) = [line for line in engine_command.engines() if "storages" in line and "aria" in line]
    assert "innodb (full, none), myisam (none), aria (full, none)" in line


def test_a_fetch_says_licence_and_size_before_it_fetches(one: Fetched) -> None:
    lines = engine_command.fetch("thing", confirmed=True)
    told = next(lines)
    assert "a licence of its own" in told
    assert "12 MB" in told
    assert one.times == 0
    assert list(lines) == ["fetched into there"]
    assert list(engine_command.fetch("thing", confirmed=True)) == ["thing is already installed"]
    assert one.times == 1


def test_a_fetch_without_consent_fetches_nothing(one: Fetched, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError) as told:
        list(engine_command.fetch("thing", confirmed=False))
    assert told.value.hint == "rowpath engine fetch thing --yes"

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr(sys, "stdin", Terminal("n\n"))
    with pytest.raises(UsageError, match="was not fetched"):
        list(engine_command.fetch("thing", confirmed=False))
    assert one.times == 0
    monkeypatch.setattr(sys, "stdin", Terminal("y\n"))
    assert list(engine_command.fetch("thing", confirmed=False))[-1] == "fetched into there"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("up", "engine up needs one NAME"),
        ("up nothing", "unknown engine 'nothing'"),
        ("up sqlite", "sqlite has no server"),
        ("up null", "null has no server"),
        ("up oracle", "oracle has no server that Rowpath can start"),
        ("up postgresql driver=libpq", "'driver' is not a server option"),
        ("up postgresql durability=some", "durability 'some' is not available"),
        ("up postgresql storage=innodb", "storage 'innodb' is not available"),
        ("up postgresql durability=full,none", "durability 'full,none' is not available"),
        ("up postgresql --load nothing", "unknown workload 'nothing'"),
        ("fetch nothing", "unknown optional engine 'nothing'"),
        ("down postgresql", "postgresql is not running"),
        ("status durability=none", "engine status takes no COORDINATE=VALUE"),
        ("list postgresql", "engine list takes no NAME"),
        ("down", "engine down needs one NAME"),
    ],
)
def test_wrong_words_are_errors_of_usage(
    words: str, message: str, cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["engine", *words.split()]) == 2
    assert capsys.readouterr().err.startswith(f"error: {message}")


def test_nothing_is_up(cache: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["engine", "status"]) == 0
    assert main(["engine", "down", "--all"]) == 0
    assert capsys.readouterr().out == "no engine is running\nno engine is running\n"


OPTIONS: dict[str, Any] = {
    "host": "127.0.0.1",
    "port": 4711,
    "socket_dir": "/a b",
    "socket": "/a b/s",
    "user": "rowpath",
    "password": "verysecret",
    "database": "rowpath",
}


@pytest.mark.parametrize("engine", ["postgresql", "mariadb", "mysql", "derby", "h2", "hsqldb"])
def test_the_password_is_in_a_file_of_ours_alone(engine: str, tmp_path: Path) -> None:
    lines = ENGINES[engine].connect_lines(OPTIONS, tmp_path)
    assert any("4711" in line or "--protocol=tcp" in line for line in lines)
    assert not any("verysecret" in line for line in lines)
    (file,) = tmp_path.iterdir()
    assert any(str(file) in line for line in lines)
    assert "verysecret" in file.read_text()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


SUPERVISOR = """
import os, sys, time
from rowpath.engines import by_hand
with by_hand.claimed("h2"):
    by_hand.write(by_hand.StartedServer("h2", "1", "none", "none", (), os.getpid(), "now", 1, "", "", ()))
    print("up", flush=True)
    time.sleep(600)
"""


def test_what_a_killed_keeper_left_is_noticed_and_removed(cache: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    supervisor = subprocess.Popen([sys.executable, "-c", SUPERVISOR], stdout=subprocess.PIPE, env=environment)
    assert supervisor.stdout is not None
    assert supervisor.stdout.readline() == b"up\n"
    state = by_hand.read("h2")
    assert state is not None
    assert state.supervisor_pid == supervisor.pid
    assert stat.S_IMODE(by_hand.private("h2").stat().st_mode) == 0o700
    with pytest.raises(UsageError, match="h2 is already running"), by_hand.claimed("h2"):
        pass
    assert by_hand.read("h2") is not None  # whoever failed to claim it has removed nothing
    supervisor.send_signal(signal.SIGKILL)
    supervisor.wait()
    assert by_hand.known() == ["h2"]
    assert by_hand.folder("h2").exists()
    assert by_hand.read("h2") is None
    assert not by_hand.folder("h2").exists()
