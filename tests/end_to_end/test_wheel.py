"""The wheel: built, installed beside the controller's dependencies, and used away from the clone."""

from __future__ import annotations

import shutil
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from tests.end_to_end.command import ROOT, SQLITE_PYTHON, called, records, rowpath, write_experiment

SOURCES = (
    "src",
    "runners",
    "workloads",
    "experiments",
    "claims",
    "schemas",
    "share",
    "pyproject.toml",
    "README.md",
    "LICENSE",
)
AT_ONCE = ("--wait-for-quiet", "0s")  # other tests run beside it
JUNK = shutil.ignore_patterns("__pycache__", "*.pyc", ".*cache")


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program `rowpath` of an environment that holds the wheel; it borrows our libraries, not our sources."""
    folder = tmp_path_factory.mktemp("wheel")
    clone = folder / "clone"
    clone.mkdir()
    for name in SOURCES:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, clone / name, ignore=JUNK)
        else:
            shutil.copy(ROOT / name, clone / name)
    done = _build(clone, folder / "dist")
    if "No matching distribution found for hatchling" in done.stderr:
        pytest.skip("there is no hatchling and no way to fetch it")
    assert done.returncode == 0, done.stdout + done.stderr
    wheel = next((folder / "dist").glob("rowpath-*.whl"))
    environment = folder / "environment"
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


def _build(clone: Path, into: Path) -> subprocess.CompletedProcess[str]:
    options = ["--no-deps", "--quiet", "--disable-pip-version-check", "--wheel-dir", str(into)]
    here = subprocess.run([sys.executable, "-c", "import hatchling"], capture_output=True, check=False).returncode == 0
    if here:
        options.append("--no-build-isolation")
    command = [sys.executable, "-m", "pip", "wheel", str(clone), *options]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_it_is_away_from_the_clone(installed: Path, tmp_path: Path) -> None:
    python = installed.with_name("python")
    code = (
        "import rowpath; from rowpath.machine.directories import data_dir; print(rowpath.__file__); print(data_dir())"
    )
    said = subprocess.run([python, "-P", "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path).stdout
    assert all(line.startswith(str(installed.parents[1])) for line in said.splitlines())


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
