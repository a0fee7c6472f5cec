"""Two runs at once: each in its own directory, or both wanting the same one."""

from __future__ import annotations

import signal
from pathlib import Path

from rowpath.engines import ENGINES
from tests.end_to_end.command import (
    POSTGRESQL_C,
    POSTGRESQL_TCP,
    SQLITE_C,
    Command,
    error_form,
    records,
    rowpath,
    steady,
    write_experiment,
)

SERVED = [POSTGRESQL_C, POSTGRESQL_TCP] if ENGINES["postgresql"].availability().ok else []


def test_in_different_directories(tmp_path: Path) -> None:
    experiment = write_experiment(tmp_path, [SQLITE_C, *SERVED], sets=1)
    runs = tmp_path / "one", tmp_path / "two"
    with (
        Command("run", experiment, "-o", runs[0], "--gate") as one,
        Command("run", experiment, "-o", runs[1], "--gate") as two,
    ):
        for done in (one.end(), two.end()):
            assert done.returncode == 0, done.stdout + done.stderr
    for run in runs:
        assert records(run)[-1] == {"record": "end", "outcome": "complete"}


def test_in_the_same_directory(tmp_path: Path) -> None:
    experiment = write_experiment(tmp_path, [SQLITE_C, *SERVED], sets=1, rounds=20)
    run = tmp_path / "run"
    with Command("run", experiment, "-o", run, "--gate") as first:
        first.hold_when(lambda: steady(run), "steady blocks")
        for second, wording in (
            (rowpath("run", experiment, "-o", run), "already holds a run"),
            (rowpath("run", "--resume", run), "is in use by another run"),
        ):
            assert second.returncode == 2, second.stderr
            assert second.stdout == ""
            message, hint = error_form(second.stderr)
            assert str(run) in message and wording in message
            assert "-o DIR" in hint
        first.signal(signal.SIGCONT)
        done = first.end()
    assert done.returncode == 0, done.stdout + done.stderr
    assert not records(run, "resumed")
    assert records(run)[-1] == {"record": "end", "outcome": "complete"}


def test_names_that_are_made_up_in_the_same_second(tmp_path: Path) -> None:
    experiment = write_experiment(tmp_path, [SQLITE_C], sets=1, rounds=1)
    with (
        Command("run", experiment, "-q", cwd=tmp_path) as one,
        Command("run", experiment, "-q", cwd=tmp_path) as two,
    ):
        for done in (one.end(), two.end()):
            assert done.returncode == 0, done.stderr
    assert len(list((tmp_path / "rowpath-runs").iterdir())) == 2
