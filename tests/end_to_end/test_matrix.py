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


@pytest.mark.parametrize("words", [(), ("-n", "2", "--dist", "loadgroup")])
def test_an_adapter_that_passed_is_left_out_until_it_changes(tmp_path: Path, words: tuple[str, ...]) -> None:
    (tmp_path / "tests").mkdir()
    asked = [*words, "--full", "tests"]

    def run(*more: str) -> tuple[int, str]:
        return suite(tmp_path, *asked, *more, text=TESTS, ROWPATH_CACHE=str(tmp_path / "cached"))

    code, told = run()
    assert code == pytest.ExitCode.TESTS_FAILED
    assert "2 failed, 2 passed" in told
    (kept,) = (tmp_path / "cached" / "test-passed").iterdir()
    assert kept.read_text() == "python sqlite3 sqlite\n"
    code, told = run("--changed-only")
    assert "2 failed" in told and "2 passed" not in told
    assert "python sqlite3 sqlite" in told
    code, told = suite(tmp_path, *words, "tests", "--changed-only", text=TESTS, ROWPATH_CACHE=str(tmp_path / "cached"))
    assert "2 failed" in told and "2 passed" not in told, "fewer cases than passed before"
    kept.rename(kept.with_name("another"))
    assert "2 failed, 2 passed" in run("--changed-only", "-k", "test_path")[1]
    assert not kept.exists(), "what was narrowed proves nothing"
