"""Drivers, compilers and programs that are missing: named with their remedy, and the other paths go on."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

from tests import fakes
from tests.end_to_end.command import SQLITE_C, SQLITE_PYTHON, error_form, rowpath, write_experiment

SQLITE_JAVA = 'engine = "sqlite", language = "java"'


def run(tmp_path: Path, *arguments: str | Path, added: Mapping[str, str] = MappingProxyType({})) -> dict[str, Any]:
    """The export of a run that ends well."""
    file = tmp_path / "r.json"
    done = rowpath("run", *arguments, "-o", tmp_path / "run", "--gate", "--tables", "--export-json", file, added=added)
    assert done.returncode == 0, done.stdout + done.stderr
    export: dict[str, Any] = json.loads(file.read_text())
    for dropped in export["dropped"]:
        assert dropped["reason"] in " ".join(done.stdout.split()), "the reader of the terminal learns of it"
    return export


def ranked(export: dict[str, Any], key: str) -> set[str]:
    timed = [result for result in export["results"] if result["metric"] == "time"]
    return {result["path"][key] for result in timed if result["median"]}


def test_a_program_that_does_not_exist(tmp_path: Path) -> None:
    faults = ("honest", "hang")
    manifest, experiment = fakes.write_manifest(tmp_path, faults), fakes.write_experiment(tmp_path, faults, sets=1)
    head, entry = manifest.read_text().split('driver = "fake-hang"')
    manifest.write_text(head + 'driver = "fake-hang"' + entry.replace("/usr/bin/env", "/nonexistent/runner"))
    export = run(tmp_path, experiment, "--adapters", manifest)
    assert [dropped["path"]["driver"] for dropped in export["dropped"]] == ["fake-hang"]
    assert "/nonexistent/runner" in export["dropped"][0]["reason"]
    assert export["dropped"][0]["remedy"]
    assert ranked(export, "driver") == {"fake-honest"}


def test_no_c_compiler(tmp_path: Path) -> None:
    experiment = write_experiment(tmp_path, [SQLITE_C, SQLITE_PYTHON], sets=1, rounds=1)
    export = run(tmp_path, experiment, added={"CC": "/nonexistent/cc"})
    assert [dropped["path"]["language"] for dropped in export["dropped"]] == ["c"]
    assert "no C compiler (/nonexistent/cc)" in export["dropped"][0]["reason"]
    assert export["dropped"][0]["remedy"] == "apt-get install gcc libc6-dev"
    assert ranked(export, "language") == {"python"}


def test_no_java(tmp_path: Path) -> None:
    experiment = write_experiment(tmp_path, [SQLITE_JAVA, SQLITE_PYTHON], sets=1, rounds=1)
    export = run(tmp_path, experiment, added=without_java(tmp_path))
    assert [dropped["path"]["language"] for dropped in export["dropped"]] == ["java"]
    assert "Java" in export["dropped"][0]["reason"] or "JDK" in export["dropped"][0]["reason"]
    assert "apt-get install" in export["dropped"][0]["remedy"]
    assert ranked(export, "language") == {"python"}


def test_nothing_is_left_to_run(tmp_path: Path) -> None:
    experiment = write_experiment(tmp_path, [SQLITE_C])
    done = rowpath("run", experiment, "-o", tmp_path / "run", added={"CC": "/nonexistent/cc"})
    assert done.returncode in (2, 3), done.stderr
    assert done.stdout == ""
    message, hint = error_form(done.stderr)
    assert "no C compiler (/nonexistent/cc)" in message
    assert "apt-get install gcc" in hint
    assert not (tmp_path / "run").exists()


def test_the_plan_and_the_doctor_say_so_too(tmp_path: Path) -> None:
    experiment = write_experiment(tmp_path, [SQLITE_C, SQLITE_JAVA, SQLITE_PYTHON])
    missing = {"CC": "/nonexistent/cc", **without_java(tmp_path)}
    for arguments in (["run", experiment, "--plan"], ["doctor"]):
        done = rowpath(*arguments, added=missing)
        assert done.returncode == 0, done.stderr
        assert "no C compiler (/nonexistent/cc)" in done.stdout
        assert "apt-get install gcc libc6-dev" in done.stdout
        assert "openjdk-17-jdk-headless" in done.stdout


def without_java(folder: Path) -> dict[str, str]:
    """An environment in which every program but Java's is found, by links to them."""
    programs = folder / "bin"
    programs.mkdir()
    for directory in map(Path, os.environ["PATH"].split(os.pathsep)):
        for program in directory.iterdir() if directory.is_dir() else ():
            link = programs / program.name
            if not program.name.startswith(("java", "mvn")) and not link.is_symlink():
                link.symlink_to(program)
    added = {"PATH": str(programs), "JAVA_HOME": ""}
    if shutil.which("java", path=added["PATH"]):
        pytest.fail("java is still there")
    return added
