"""Ctrl-C, SIGTERM and kill -9 in mid-run and while setting up: nothing survives, nothing measured is lost."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from rowpath.engines import ENGINES
from rowpath.execution import run as execution
from rowpath.execution.run_options import RunOptions
from rowpath.model.progress import Silent
from tests.end_to_end.command import (
    POSTGRESQL_C,
    SQLITE_C,
    SQLITE_PYTHON,
    Command,
    Records,
    called,
    error_form,
    proc,
    records,
    rowpath,
    steady,
    write_experiment,
)

SETS = 2
SERVED = [POSTGRESQL_C] if ENGINES["postgresql"].availability().ok else []


def complete_sets(directory: Path) -> set[int]:
    return {record["set"] for record in records(directory, "set-end")}


def samples_of(directory: Path, sets: set[int]) -> Records:
    """All that was measured in these sets, the proof pass left out."""
    kinds = ("sample", "warm", "prepare", "worker")
    return [record for record in records(directory, *kinds) if record["set"] in sets]


def stop(command: Command, number: signal.Signals) -> subprocess.CompletedProcess[str]:
    """Send the signal; the command and all of its processes must be gone soon after."""
    command.processes()
    assert command.seen
    command.signal(number)
    done = command.end()
    left = command.survivors()
    assert not left, f"these survived: {left}"
    return done


@pytest.mark.parametrize(
    ("number", "paths"),
    [
        (signal.SIGINT, [SQLITE_C, *SERVED]),
        (signal.SIGTERM, [SQLITE_C, SQLITE_PYTHON]),
        (signal.SIGKILL, [SQLITE_C, *SERVED]),
    ],
    ids=["SIGINT", "SIGTERM", "SIGKILL"],
)
def test_in_mid_run(tmp_path: Path, number: signal.Signals, paths: list[str]) -> None:
    experiment = write_experiment(tmp_path, paths, sets=SETS, rounds=60)
    run = tmp_path / "run"
    with Command("run", experiment, "-o", run) as command:
        command.hold_when(lambda: complete_sets(run) and steady(run, 1), "the second set")
        done = stop(command, number)
    if number == signal.SIGKILL:
        assert done.returncode == -signal.SIGKILL
    else:
        assert done.returncode == 130, done.stderr
        message, hint = error_form(done.stderr)
        assert message == "interrupted"
        assert f"rowpath run --resume {run}" in hint
        assert records(run)[-1] == {"record": "end", "outcome": "interrupted"}
        assert not (run / "work").exists()
    assert "Traceback" not in done.stderr
    kept = complete_sets(run)
    assert 0 in kept and len(kept) < SETS
    before = samples_of(run, kept)
    assert before

    shown = called("show", run, "--export-json", tmp_path / "r.json")
    assert shown.returncode == 0, shown.stderr
    rows = [result for result in json.loads((tmp_path / "r.json").read_text())["results"] if result["metric"] == "time"]
    assert len({row["name"] for row in rows}) == len(paths)
    assert all(row["median"] for row in rows if row["regime"] == "cold")

    resumed = rowpath("run", "--resume", run)
    assert resumed.returncode == 0, resumed.stderr
    assert samples_of(run, kept) == before, "what is done is not repeated"
    begun = [record["set"] for record in records(run, "set")]
    assert all(begun.count(number) == (1 if number in kept else begun.count(number)) for number in begun)
    assert complete_sets(run) == set(range(SETS))
    assert len(records(run, "verified")) == len(paths), "what is proven is not proven again"
    assert len(records(run, "resumed")) == 1
    assert records(run)[-1] == {"record": "end", "outcome": "complete"}
    assert not (run / "work").exists()
    assert called("show", run, "--export-json", tmp_path / "whole.json").returncode == 0
    whole = json.loads((tmp_path / "whole.json").read_text())["results"]
    assert all(row["sets"] == SETS for row in whole if row["metric"] == "time" and row["regime"] == "cold")


@pytest.mark.parametrize(
    ("moment", "number"),
    [("starting and loading", signal.SIGINT), ("verifying", signal.SIGKILL), ("verifying", signal.SIGINT)],
    ids=["loading-SIGINT", "verifying-SIGKILL", "verifying-SIGINT"],
)
def test_while_setting_up(tmp_path: Path, moment: str, number: signal.Signals) -> None:
    experiment = write_experiment(tmp_path, [*SERVED, SQLITE_C][:1], sets=1, rounds=1)
    run = tmp_path / "run"
    with Command("run", experiment, "-o", run) as command:
        assert command.process.stderr
        while moment not in (line := command.process.stderr.readline()):
            assert line, f"it ended before {moment}"
        command.hold_when(lambda: records(run, "run") and command.processes(), "a process of its own")
        done = stop(command, number)
    assert done.returncode == (130 if number == signal.SIGINT else -signal.SIGKILL), done.stderr
    assert "Traceback" not in done.stderr
    assert not records(run, "set")
    shown = called("show", run)
    assert shown.returncode == 0, shown.stderr
    resumed = rowpath("run", "--resume", run, "--gate")
    assert resumed.returncode == 0, resumed.stderr
    assert records(run)[-1] == {"record": "end", "outcome": "complete"}


def test_while_building(tmp_path: Path) -> None:
    compiler = tmp_path / "cc"
    compiler.write_text('#!/bin/sh\ncase "$*" in *adapters/sqlite.c*) exec sleep 601 ;; esac\nexec cc "$@"\n')
    compiler.chmod(0o755)
    experiment = write_experiment(tmp_path, [SQLITE_C], sets=1, rounds=1)
    run = tmp_path / "run"
    with Command("run", experiment, "-o", run, added={"CC": str(compiler)}) as command:
        command.wait_until(lambda: any("sleep 601" in proc(pid, "cmdline") for pid in command.processes()), "compiling")
        done = stop(command, signal.SIGINT)
    assert done.returncode == 130, done.stderr
    assert error_form(done.stderr)[0] == "interrupted"
    assert called("show", run).returncode == 0
    resumed = rowpath("run", "--resume", run, "--gate")
    assert resumed.returncode == 0, resumed.stderr
    assert complete_sets(run) == {0}


def test_a_torn_last_line(tmp_path: Path) -> None:
    experiment = write_experiment(tmp_path, [SQLITE_PYTHON], sets=1, rounds=1)
    run = tmp_path / "run"
    assert rowpath("run", experiment, "-o", run, "-q").returncode == 0
    whole = (run / "samples.jsonl").read_bytes()
    end_of_set = whole.rindex(b'{"record":"set-end"')
    (run / "samples.jsonl").write_bytes(whole[: end_of_set + 9])
    assert called("show", run).returncode == 0
    planned = called("run", "--resume", run, "--plan")
    assert planned.returncode == 0, planned.stderr
    assert "; complete sets are kept" in planned.stdout
    assert (run / "samples.jsonl").read_bytes() == whole[: end_of_set + 9], "a plan begins nothing"
    resumed = rowpath("run", "--resume", run, "-q")
    assert resumed.returncode == 0, resumed.stderr
    begun = (run / "samples.jsonl").read_bytes()
    assert begun.startswith(whole[: end_of_set + 9] + b"\n"), "what was written is never written over"
    assert len([line for line in begun.splitlines() if line.startswith(b'{"record":"set",')]) == 2
    once_more = called("run", "--resume", run)
    assert once_more.returncode == 0, once_more.stderr
    assert (run / "samples.jsonl").read_bytes() == begun, "a complete run is only shown"
    planned = called("run", "--resume", run, "--plan")
    assert planned.returncode == 2
    assert error_form(planned.stderr)[0] == f"nothing is left of {run}: it is complete"


def test_a_resumed_run_keeps_its_timeout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Begun(Exception):
        pass

    def schedule(_plan: object, options: RunOptions, *_more: object, **_named: object) -> None:
        raise Begun(options.timeout_s)

    experiment = write_experiment(tmp_path, [SQLITE_PYTHON], sets=1, rounds=1)
    run = tmp_path / "run"
    assert rowpath("run", experiment, "-o", run, "-q", "--timeout", "77").returncode == 0
    whole = (run / "samples.jsonl").read_bytes()
    (run / "samples.jsonl").write_bytes(whole[: whole.rindex(b'{"record":"set-end"')])
    monkeypatch.setattr(execution, "Schedule", schedule)
    for given, used_s in ((None, 77.0), (88.0, 88.0)):
        shutil.copytree(run, tmp_path / str(given))
        with pytest.raises(Begun, match=str(used_s)):
            execution.resume(tmp_path / str(given), progress=Silent(), timeout_s=given)
