"""The full matrix keeps what passed, by adapter and engine, and leaves out next time what rests on nothing new."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.house.test_left_out import suite

TESTS = """
import pytest
from rowpath.checks.conformance.paths import planned
from rowpath.runners import manifest

PATHS = [path for each in manifest.load_manifest("python").adapter if each.driver in ("sqlite3", "psycopg")
         for path in planned(each, "values")[:2]]

@pytest.mark.parametrize("planned", PATHS, ids=lambda path: path.name)
def test_path(planned):
    assert planned.adapter.driver != "psycopg"
"""


WORKERS = ("-n", "2", "--dist", "loadgroup")


@pytest.mark.long  # tests/unit/house/test_passed_keys.py has what decides
def test_an_adapter_that_passed_is_left_out_until_it_changes(tmp_path: Path) -> None:
    """With workers and without them: what one session keeps, the other leaves out."""
    (tmp_path / "tests").mkdir()

    def run(*words: str) -> tuple[int, str]:
        return suite(tmp_path, *words, "tests", text=TESTS, ROWPATH_CACHE=str(tmp_path / "cached"))

    def kept() -> Path:
        (only,) = (tmp_path / "cached" / "test-passed").iterdir()
        assert only.read_text() == "python sqlite3 sqlite\n"
        return only

    code, told = run(*WORKERS, "--full")
    assert code == pytest.ExitCode.TESTS_FAILED
    assert "2 failed, 2 passed" in told
    first = kept()
    code, told = run("--full", "--changed-only")
    assert "2 failed" in told and "2 passed" not in told
    assert "python sqlite3 sqlite" in told
    code, told = run(*WORKERS, "--changed-only")
    assert "2 failed" in told and "2 passed" not in told, "fewer cases than passed before"
    assert "python sqlite3 sqlite" in told
    first.rename(first.with_name("another"))
    assert "2 failed, 2 passed" in run("--full", "--changed-only", "-k", "test_path")[1]
    assert not first.exists(), "what was narrowed proves nothing"
    first.with_name("another").unlink()
    code, told = run("--full", "--changed-only")
    assert code == pytest.ExitCode.TESTS_FAILED
    assert "2 failed, 2 passed" in told
    assert kept() == first
