"""Run directories that are read-only, very long, or have a space and a non-ASCII letter in their name."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from rowpath.engines import ENGINES
from tests.end_to_end.command import (
    POSTGRESQL_C,
    SQLITE_C,
    SQLITE_PYTHON,
    called,
    error_form,
    rowpath,
    write_experiment,
)


def test_nothing_can_be_written_there(tmp_path: Path) -> None:
    experiment = write_experiment(tmp_path, [SQLITE_PYTHON])
    in_the_way = tmp_path / "file"
    in_the_way.write_text("not a directory")
    targets = [in_the_way / "run", Path("/proc/rowpath-run")]
    if os.geteuid() != 0:
        closed = tmp_path / "closed"
        closed.mkdir(mode=0o500)
        targets.append(closed / "run")
    for target in targets:
        done = rowpath("run", experiment, "-o", target)
        assert done.returncode == 3, done.stderr
        assert done.stdout == ""
        message, hint = error_form(done.stderr)
        assert str(target) in message
        assert "-o DIR" in hint
    assert in_the_way.read_text() == "not a directory"


def test_a_file_in_its_place(tmp_path: Path) -> None:
    experiment = write_experiment(tmp_path, [SQLITE_PYTHON])
    taken = tmp_path / "taken"
    taken.write_text("mine")
    done = rowpath("run", experiment, "-o", taken)
    assert done.returncode in (2, 3), done.stderr
    assert str(taken) in error_form(done.stderr)[0]
    assert taken.read_text() == "mine"


@pytest.mark.parametrize("name", ["x" * 90 + "/" + "y" * 90, "mit Leerzeichen und ä 雪 'quoted'"])
def test_an_odd_name(tmp_path: Path, name: str) -> None:
    paths = [SQLITE_C, SQLITE_PYTHON, 'engine = "file", language = "c"']
    paths.append('engine = "null", driver = "ping", language = "c", transport = "unix"')
    if ENGINES["postgresql"].availability().ok:
        paths.append(POSTGRESQL_C)
    phases = ["scan.read", "null.nothing"]
    experiment = write_experiment(tmp_path, paths, sets=1, rounds=1, warm_cap_s=0.05, phases=phases)
    run = tmp_path / name
    done = rowpath("run", experiment, "-o", run, "--gate", "--export-json", tmp_path / "r.json")
    assert done.returncode == 0, done.stdout + done.stderr
    names = {result["path"]["engine"] for result in json.loads((tmp_path / "r.json").read_text())["results"]}
    assert {"sqlite", "file", "null"} <= names
    assert called("show", run).returncode == 0
    assert (run / "report.html").stat().st_size > 10_000
    assert not (run / "work").exists()
    again = called("report", run, "-o", tmp_path / "page ä.html")
    assert again.returncode == 0, again.stderr
    assert (tmp_path / "page ä.html").exists()


@pytest.mark.skipif(not ENGINES["derby"].availability().ok, reason=ENGINES["derby"].availability().reason)
def test_an_odd_name_under_java(tmp_path: Path) -> None:
    paths = [
        'engine = "derby", deployment = ["embedded", "server"], driver = "derby"',
        'engine = "sqlite", language = "java"',
    ]
    phases = ["scan.read"]
    experiment = write_experiment(tmp_path, paths, sets=1, rounds=1, warm_cap_s=0.05, phases=phases)
    run = tmp_path / ("z" * 100) / "ein Weg ä 雪 'q'" / ("y" * 60)
    done = rowpath("verify", experiment, "-o", run)
    assert done.returncode == 0, done.stdout + done.stderr
