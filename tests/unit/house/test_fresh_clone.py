"""A clone without its environment answers what needs none, and writes nothing for it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from rowpath.cli.arguments import COMMANDS

ROOT = Path(__file__).parents[3]
PARTS = ("rowpath", "scripts", "requirements.lock", "src")


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the program needs of a clone."""
    folder = tmp_path_factory.mktemp("fresh") / "clone"
    folder.mkdir()
    for part in PARTS:
        if (ROOT / part).is_dir():
            shutil.copytree(ROOT / part, folder / part, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy2(ROOT / part, folder / part)
    return folder


def answered(clone: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """A command of the clone; it may write nothing, and there are no packages."""
    bare = clone.parent / "python"
    bare.write_text(f'#!/bin/sh\nexec {sys.executable} -S "$@"\n')
    bare.chmod(0o755)
    before = sorted(clone.rglob("*"))
    environment = {"PATH": os.environ["PATH"], "HOME": str(clone), "ROWPATH_PYTHON": str(bare)}
    done = subprocess.run(
        [clone / "rowpath", *words], env=environment, cwd=clone, capture_output=True, text=True, check=False
    )
    assert sorted(clone.rglob("*")) == before
    return done


@pytest.mark.parametrize(
    ("words", "first"),
    [
        (["--help"], "usage: rowpath"),
        (["--version"], "rowpath 0."),
        *(([command, "--help"], f"usage: rowpath {command}") for command in COMMANDS),
    ],
)
def test_help_and_version_need_no_environment(clone: Path, words: list[str], first: str) -> None:
    done = answered(clone, *words)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(first)


def test_without_words_it_says_what_can_be_done_and_installs_nothing(clone: Path) -> None:
    done = answered(clone)
    assert (done.returncode, done.stderr) == (0, "")
    for command in ("rowpath run tour", "rowpath probe URL", "rowpath compare BASE HEAD"):
        assert f"\n{command}" in f"\n{done.stdout}"
    assert "installs the Python packages of requirements.lock" in done.stdout


@pytest.mark.parametrize("words", [["rnu"], ["run", "--nonsense"], ["probe"], ["run", "tour", "--within", "soon"]])
def test_usage_errors_need_no_environment(clone: Path, words: list[str]) -> None:
    done = answered(clone, *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: ")
    assert "\n\nhint: " in done.stderr


@pytest.mark.parametrize("command", [["list", "engines"], ["doctor"]])
def test_what_is_installed_is_said_before(clone: Path, command: list[str]) -> None:
    """With a Python whose environments only say what they are asked to install."""
    venv = clone / ".venv"
    pip = '#!/bin/sh\necho "pip: $*" >&2\nexit 1\n'
    made = f"mkdir -p {venv}/bin; printf '%s' '{pip}' > {venv}/bin/python; chmod +x {venv}/bin/python"
    python = clone.parent / "makes-venv"
    python.write_text(f'#!/bin/sh\n[ "$2" != venv ] || {{ {made}; exit 0; }}\nexec {sys.executable} -S "$@"\n')
    python.chmod(0o755)
    environment = {"PATH": os.environ["PATH"], "HOME": str(clone), "ROWPATH_PYTHON": str(python)}
    try:
        done = subprocess.run(
            [clone / "rowpath", *command], env=environment, cwd=clone, capture_output=True, text=True, check=False
        )
    finally:
        shutil.rmtree(venv, ignore_errors=True)
    making, installing, asked, *_error = done.stderr.splitlines()
    packages = len(re.findall(r"^[a-z].*==", (clone / "requirements.lock").read_text(), re.MULTILINE))
    assert making.startswith(f"rowpath: making {venv} with Python 3.")
    assert installing.startswith(f"rowpath: installing {packages} Python packages of requirements.lock into {venv}")
    assert asked.startswith("pip: -m pip install")
    assert done.returncode == 3


def test_a_command_that_is_right_makes_the_environment(clone: Path) -> None:
    (clone / "scripts" / "setup.sh").write_text("#!/bin/sh\necho making the environment >&2\nexit 3\n")
    done = answered(clone, "list", "engines")
    assert (done.returncode, done.stderr) == (3, "making the environment\n")
