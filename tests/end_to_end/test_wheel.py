"""The wheel: built, installed beside the controller's dependencies, used elsewhere, with and without a compiler."""

from __future__ import annotations

import contextlib
import json
import re
import sqlite3
import subprocess
import sys
import tempfile
import venv
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from bench.python_alone import link_programs

from rowpath.machine import postgresql_programs
from rowpath.machine.counters import syncs
from tests.end_to_end.command import (
    POSTGRESQL_C,
    ROOT,
    SQLITE_C,
    SQLITE_PYTHON,
    called,
    records,
    rowpath,
    write_experiment,
)
from tests.runners.protocol.talk import on_sqlite, sqlite_file
from tests.script import script

AT_ONCE = ("--wait-for-quiet", "0s")  # other tests run beside it
ODBC = 'engine = "sqlite", language = "c", driver = "libsqliteodbc"'
WITHOUT_COMPILER = (
    SQLITE_C,
    POSTGRESQL_C,
    'engine = "mariadb", language = "c", driver = "libmariadb", transport = "unix"',
    'engine = "file", language = "c"',
    'engine = "null", language = "c", driver = "ping", transport = "tcp"',
)
PRECOMPILED = "rowpath/data/precompiled/"
MOST_BYTES = 20_000_000


def built(folder: Path, *options: str) -> Path:
    """The wheel, built into that folder."""
    command = [sys.executable, ROOT / "scripts" / "build_wheel.py", folder, *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return next(folder.glob("rowpath-*.whl"))


@pytest.fixture(name="wheel", scope="module")
def wheel_fixture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program `rowpath` of an environment that holds the wheel; it borrows our libraries, not our sources."""
    environment = tmp_path_factory.mktemp("installed") / "environment"
    venv.create(environment, with_pip=False)
    packages = next((environment / "lib").glob("python*")) / "site-packages"
    ours = next(path for path in map(Path, sys.path) if path.name == "site-packages")
    (packages / "borrowed.pth").write_text(f"{ours}\n")
    python = environment / "bin" / "python"
    subprocess.run(
        [python, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--disable-pip-version-check", wheel],
        check=True,
        capture_output=True,
    )
    return environment / "bin" / "rowpath"


@pytest.fixture
def alone() -> Iterator[dict[str, str]]:
    """An environment without compilers and other languages, and with a cache that holds PostgreSQL's programs only."""
    with tempfile.TemporaryDirectory(prefix="rowpath-alone-") as folder:
        programs, cache = Path(folder) / "bin", Path(folder) / "cache"
        Path(folder).chmod(0o755)  # as root, servers run as another user
        link_programs(programs)
        cache.mkdir()
        home = postgresql_programs.install().parents[1]
        (cache / home.name).symlink_to(home)
        yield {"PATH": str(programs), "JAVA_HOME": "", "CC": "", "PYTHONPATH": "", "ROWPATH_CACHE": str(cache)}


@pytest.mark.long
def test_built_twice_it_has_the_same_bytes(wheel: Path, tmp_path: Path) -> None:
    assert wheel.stat().st_size <= MOST_BYTES
    assert built(tmp_path, "--rebuild").read_bytes() == wheel.read_bytes()


def test_every_part_of_others_is_named_with_its_licence(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        notice = archive.read(next(name for name in names if name.endswith("/licenses/NOTICE"))).decode()
        texts = b"\n".join(archive.read(name) for name in names)
        library = archive.read(f"{PRECOMPILED}libsqlite3.so.0")
    listed = re.findall(r"^In: ((?:.+\n)(?:  .+\n)*)", notice, re.MULTILINE)
    files = [name for line in listed for name in re.split(r",\s*", line.strip())]
    assert sorted(files) == sorted(name.removeprefix(PRECOMPILED) for name in names if name.startswith(PRECOMPILED))
    parts = re.findall(r"^Part: (\S+) (\S+), .+\nIn: .+\nLicence: (.+)$", notice, re.MULTILINE)
    sqlite, postgresql = parts
    assert sqlite == ("SQLite", script("build_wheel").sqlite_version(), "public domain")
    assert sqlite[1].encode() + b"\0" in library
    assert postgresql == ("PostgreSQL", postgresql_programs.VERSION, "PostgreSQL")
    assert not re.search(rb"under the terms of the GNU (Lesser |Library )?General Public", texts)


def test_without_a_compiler_the_c_runner_measures(installed: Path, tmp_path: Path, alone: dict[str, str]) -> None:
    experiment = write_experiment(
        tmp_path, [*WITHOUT_COMPILER, ODBC], sets=1, rounds=1, phases=["scan.read", "null.nothing"]
    )
    export = tmp_path / "r.json"
    options = ("-o", "run", "--gate", "--export-json", export, *AT_ONCE)
    done = rowpath("run", experiment, *options, program=(str(installed),), cwd=tmp_path, added=alone)
    assert done.returncode == 0, done.stdout + done.stderr
    (dropped,) = json.loads(export.read_text())["dropped"]
    assert (dropped["path"]["driver"], dropped["reason"]) == ("libsqliteodbc", "no C compiler (cc)")
    facts = [record["facts"] for record in records(tmp_path / "run", "facts")]
    loaded = {name: file for each in facts for name, file in each["libraries"].items() if file.startswith("/")}
    assert {name.partition(".")[0] for name in loaded} == {"libsqlite3", "libpq", "libmariadb"}
    assert all(Path(file).is_file() for file in loaded.values())
    assert len(facts) == len(WITHOUT_COMPILER)
    (run,) = records(tmp_path / "run", "run")
    assert run["methods"]["syncs"] == syncs.METHOD


def test_without_a_compiler_a_sqlite_file_is_probed(installed: Path, tmp_path: Path, alone: dict[str, str]) -> None:
    file = tmp_path / "own.db"
    with sqlite3.connect(file) as connection:
        connection.execute("CREATE TABLE t (a INTEGER NOT NULL, b TEXT)")
        connection.executemany("INSERT INTO t VALUES (?, ?)", ((number, f"row {number}") for number in range(1000)))
    connection.close()
    words = ("probe", f"sqlite://{file}", "--query", "SELECT a, b FROM t", "--driver=sqlite", "--budget", "5s", "-o")
    done = rowpath(*words, "run", program=(str(installed),), cwd=tmp_path, added=alone)
    assert done.returncode == 0, done.stderr
    assert {path["coordinates"]["language"] for path in records(tmp_path / "run", "path")} == {"c"}
    assert all(sample["touch_ok"] for sample in records(tmp_path / "run", "sample"))


def test_a_program_loads_the_library_that_is_named(installed: Path, tmp_path: Path) -> None:
    programs = next((installed.parents[1] / "lib").glob("python*")) / "site-packages" / PRECOMPILED
    file = sqlite_file(tmp_path)

    def answers(library: str) -> list[dict[str, Any]]:
        command = [programs / "sqlite", "--library", library, "--adapter", "sqlite"]
        asked = [{"type": "hello", "protocol": [3, 0], "codec": 2, "requires": [], "adapter": "sqlite"}]
        asked += [{"type": "open", "options": on_sqlite(file)}, {"type": "facts"}]
        lines = "".join(json.dumps(message | {"id": number}) + "\n" for number, message in enumerate(asked))
        pipe = subprocess.PIPE
        with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True) as runner:
            assert runner.stdin and runner.stdout and runner.stderr
            with contextlib.suppress(BrokenPipeError):  # it ended at once
                runner.stdin.write(lines)
                runner.stdin.flush()
            answered = [answer for _line in asked if (answer := runner.stdout.readline())]
            with contextlib.suppress(BrokenPipeError):
                runner.stdin.close()  # which ends it, whatever it was asked
            return [*map(json.loads, answered), {"stderr": runner.stderr.read()}]

    own = str(programs / "libsqlite3.so.0")
    *_, facts, _ = answers(own)
    assert (facts["driver_version"], facts["libraries"]) == (
        script("build_wheel").sqlite_version(),
        {"libsqlite3.so.0": own},
    )
    assert "cannot open shared object file" in answers("/nonexistent/libsqlite3.so")[-1]["stderr"]
    assert "is too old: it has no sqlite3_" in answers("libm.so.6")[-1]["stderr"]


def test_the_clone_makes_a_wheel_without_programs(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--no-index"]
    subprocess.run([*command, "--wheel-dir", tmp_path, ROOT], check=True, capture_output=True)
    (made,) = tmp_path.glob("rowpath-*-py3-none-any.whl")
    with zipfile.ZipFile(made) as archive:
        names = archive.namelist()
    assert not [name for name in names if name.startswith(PRECOMPILED)]
    assert {"rowpath/data/runners/PROTOCOL.md", "rowpath/data/workloads/lineitem.toml"} <= {*names}
    assert [name for name in names if name.endswith("share/man/man1/rowpath.1")]


def test_it_is_away_from_the_clone(installed: Path, tmp_path: Path) -> None:
    python = installed.with_name("python")
    code = (
        "import rowpath; from rowpath.machine.directories import data_dir; print(rowpath.__file__); print(data_dir())"
    )
    said = subprocess.run([python, "-P", "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path).stdout
    assert all(line.startswith(str(installed.parents[1])) for line in said.splitlines())
    tour = Path(said.splitlines()[1]) / "experiments" / "tour.toml"
    schema = tour.read_text(encoding="utf-8").splitlines()[0].removeprefix("#:schema ")
    assert (tour.parent / schema).is_file()
    assert (installed.parents[1] / "share" / "man" / "man1" / "rowpath.1").is_file()


@pytest.mark.parametrize("words", ["list experiments", "list paths", "list workloads", "claim list"])
def test_lists(installed: Path, tmp_path: Path, words: str) -> None:
    done = rowpath(*words.split(), program=(str(installed),), cwd=tmp_path, added={"PYTHONPATH": ""})
    assert done.returncode == 0 and done.stderr == ""
    assert done.stdout == called(*words.split()).stdout


def test_a_run(installed: Path, tmp_path: Path) -> None:
    options = ["engine=sqlite", "language=python", "-o", "run", "-w", "0.2", "-r", "1", "--gate", *AT_ONCE]
    done = rowpath("run", "tour", *options, program=(str(installed),), cwd=tmp_path, added={"PYTHONPATH": ""})
    assert done.returncode == 0, done.stdout + done.stderr
    assert records(tmp_path / "run")[-1] == {"record": "end", "outcome": "complete"}
    assert (tmp_path / "run" / "report.html").stat().st_size > 10_000


def test_every_language(installed: Path, tmp_path: Path) -> None:
    paths = [SQLITE_PYTHON, 'engine = "sqlite", driver = "sqlite"', 'engine = "sqlite", language = "java"']
    experiment = write_experiment(tmp_path, paths, sets=1, rounds=1)
    program = (str(installed),)
    done = rowpath(
        "run", experiment, "-o", "run", "--gate", *AT_ONCE, program=program, cwd=tmp_path, added={"PYTHONPATH": ""}
    )
    assert done.returncode == 0, done.stdout + done.stderr
