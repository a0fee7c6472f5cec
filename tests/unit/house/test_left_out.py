"""What a machine lacks is left out and named at the end, with the command that enables it; CI refuses it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
TESTS = """
import pytest
from rowpath.errors import EnvironmentMissing

@pytest.fixture
def server():
    raise EnvironmentMissing("no mariadbd", "apt-get install mariadb-server")

def test_served(server):
    pass

def test_built():
    raise EnvironmentMissing("no gcc", "apt-get install gcc")

def test_skipped():
    pytest.skip("no Mono")

def test_pure():
    pass
"""


def suite(folder: Path, *words: str, text: str = TESTS, **environment: str) -> tuple[int, str]:
    """Exit code and output of a suite of one file under the project's conftest."""
    inside = folder / "tests" if (folder / "tests").is_dir() else folder
    (inside / "test_some.py").write_text(text)
    kept = {name: value for name, value in os.environ.items() if name != "CI" and not name.startswith("PYTEST_")}
    # A temporary directory of its own: a second pytest closes the shared one to the servers of the first.
    paths = {"PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'src'}", "PYTEST_DEBUG_TEMPROOT": str(folder)}
    program = [sys.executable, "-m", "pytest", "-q", "-p", "tests.conftest", "--rootdir", folder, "-c", os.devnull]
    done = subprocess.run(
        [*program, "-o", f"cache_dir={folder / 'cache'}", *words, *([] if inside != folder else [folder])],
        env=kept | paths | environment,
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, int, str]:
    """The folder of a first call, its exit code and output."""
    folder = tmp_path_factory.mktemp("suite")
    return folder, *suite(folder)


@pytest.mark.parametrize("words", [(), ("-n", "1")], ids=["alone", "with a worker"])
def test_what_is_missing_is_named_with_the_command_that_enables_it(
    first: tuple[Path, int, str], tmp_path: Path, words: tuple[str, ...]
) -> None:
    code, told = suite(tmp_path, *words) if words else first[1:]
    assert code == 0, told
    assert "1 passed, 3 skipped" in told
    for reason in ("no mariadbd (apt-get install mariadb-server)", "no gcc (apt-get install gcc)", "no Mono"):
        assert f"1  {reason}" in told
    assert "sudo scripts/install-packages.sh" in told


def test_continuous_integration_refuses_it(tmp_path: Path) -> None:
    code, told = suite(tmp_path, CI="true")
    assert code == pytest.ExitCode.TESTS_FAILED, told
    assert "left out: 3 tests, which continuous integration does not allow" in told
    assert suite(tmp_path, text="def test_pure(): pass", CI="true")[0] == 0


def test_a_second_call_names_what_the_first_left_out(first: tuple[Path, int, str]) -> None:
    folder, _, _ = first
    code, told = suite(folder, "--and-before", text="def test_pure(): pass")
    assert code == 0
    assert "left out: 3 tests" in told
    code, told = suite(folder, text="def test_pure(): pass")
    assert "left out" not in told


def test_a_failure_is_a_failure(tmp_path: Path) -> None:
    assert suite(tmp_path, text=TESTS + "\ndef test_wrong():\n    assert False\n")[0] == pytest.ExitCode.TESTS_FAILED
