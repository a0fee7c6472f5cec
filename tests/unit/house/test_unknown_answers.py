"""A known answer that stays unknown is refused by continuous integration, unless it passed in this form lately."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import known_answers
from tests.unit.house.test_left_out import suite

BUSY = """
import pathlib, pytest
from tests import known_answers

known_answers.LOOK_S = 0.0
{more}
TRIES = pathlib.Path(__file__).with_name("tries")

@pytest.mark.parametrize("number", range({tests}))
def test_answer(number, tmp_path):
    tries = TRIES.read_text() if TRIES.exists() else ""
    TRIES.write_text(tries + ".")
    if len(tries) < {unknown_tries}:
        pytest.skip("too busy: another program used 43 % of a core")
"""
QUIET = "known_answers.OtherPrograms.busy = lambda self: ''"


def answers(folder: Path, tests: int = 1, unknown_tries: int = 99, more: str = QUIET) -> tuple[int, str, int]:
    """Exit code and output of CI with so many known answers, unknown in the first tries; how many tries it made."""
    measuring = folder / "tests" / "measuring"
    measuring.mkdir(parents=True, exist_ok=True)
    (measuring / "tries").unlink(missing_ok=True)
    (measuring / "test_busy.py").write_text(BUSY.format(more=more, tests=tests, unknown_tries=unknown_tries))
    cache = {"CI": "true", "ROWPATH_CACHE": str(folder / "rowpath-cache")}
    # The file itself: where all of a folder is asked for, the keys of all tests are computed, ten seconds of a core.
    code, output = suite(folder, "tests/measuring/test_busy.py", text="", **cache)
    return code, output, len((measuring / "tries").read_text())


def test_an_unknown_answer_is_tried_at_three_quiet_moments_then_refused(tmp_path: Path) -> None:
    code, output, tries = answers(tmp_path)
    assert (code, tries) == (pytest.ExitCode.TESTS_FAILED, 4), output
    assert "known answers: 0 passed, 1 unknown" in output
    assert "test_answer[0]: another program used 43 % of a core" in output
    assert "is unknown and did not pass in this form in the last 7 runs, which continuous integration" in output


def test_a_quiet_moment_that_never_comes_is_not_awaited_for_ever(tmp_path: Path) -> None:
    never = "known_answers.OtherPrograms.busy = lambda self: 'busy'; known_answers.WAITS_S = 0.01"
    code, output, tries = answers(tmp_path, more=never)
    assert (code, tries) == (pytest.ExitCode.TESTS_FAILED, 1), output


def test_an_answer_known_at_a_later_try_passes(tmp_path: Path) -> None:
    code, output, tries = answers(tmp_path, unknown_tries=3)
    assert (code, tries) == (0, 4), output
    assert "known answers: 1 passed, 0 unknown" in output


def test_an_answer_that_passed_in_this_form_may_be_unknown_until_seven_runs_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ROWPATH_CACHE", str(tmp_path))
    file = tmp_path / "test_some.py"
    file.write_text("def test_a(): ...")
    test = "measuring/test_some.py::test_a"
    assert known_answers.refusals({test: file})
    known_answers.record([(test, file)], [test])
    for _run in range(known_answers.RUNS - 1):
        assert known_answers.refusals({test: file}) == []
        known_answers.record([], [test])
    assert known_answers.refusals({test: file}) == []
    known_answers.record([], [test])
    assert known_answers.refusals({test: file})
    known_answers.record([(test, file)], [test])
    assert known_answers.refusals({test: file}) == []
    file.write_text("def test_a(): assert 1")
    assert known_answers.refusals({test: file}), "in another form"


def test_more_than_six_unknown_answers_prove_too_little(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROWPATH_CACHE", str(tmp_path))
    file = tmp_path / "test_some.py"
    file.write_text("")
    unknown = {f"test_some.py::test_{number}": file for number in range(7)}
    known_answers.record([(test, file) for test in unknown], unknown)
    assert known_answers.refusals(unknown) == ["7 known answers are unknown: at most 6 may be"]
    unknown.popitem()
    assert known_answers.refusals(unknown) == []
