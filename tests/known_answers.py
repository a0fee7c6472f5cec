"""Known answers: tests of what measures, which a busy machine can leave unknown; when continuous integration refuses.

An unknown one is tried again at quiet moments. One that stays unknown is refused unless it passed in just this form in
one of the last runs of its file, and so is a run in which many are unknown.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterable
from pathlib import Path

import pytest

from rowpath.machine.counters.core_users import OtherPrograms
from rowpath.machine.directories import cache_dir
from tests import passed_keys

TOO_BUSY = "too busy: "
FOLDER = "measuring"
BESIDE = "test_floor.py"  # of tests/hosts
RUNS = 7  # of a file that are remembered
MOMENTS = 3  # quiet moments at which an answer that did not pass lately is tried
MOST_UNKNOWN = 6
LOOK_S = 3.0  # a moment is quiet where others used no core for so long
MOMENT_S = 60.0  # longest wait for one
WAITS_S = 600.0  # longest wait in one session: a machine that is busy for longer stays so
_waited_s: list[float] = []
Passes = dict[str, str]  # by the id of a test: its key when it passed


def is_one(file: Path) -> bool:
    """Whether tests of this file are known answers."""
    return file.parent.name == FOLDER or file.name == BESIDE


def wait_for_a_quiet_moment() -> bool:
    """Return once no other program, the hypervisor included, uses a core, or after MOMENT_S; whether it is quiet."""
    begun = time.monotonic()
    longest_s = min(MOMENT_S, WAITS_S - sum(_waited_s))
    quiet = False
    while not quiet and time.monotonic() - begun < longest_s:
        others = OtherPrograms()
        time.sleep(LOOK_S)
        quiet = not others.busy()
    _waited_s.append(time.monotonic() - begun)
    return quiet


def unknown_reason(report: pytest.TestReport) -> str:
    """Why a test is unknown, without the mark; empty for every other outcome."""
    reason = report.longrepr[2] if report.skipped and isinstance(report.longrepr, tuple) else ""
    reason = reason.removeprefix("Skipped: ")
    return reason.removeprefix(TOO_BUSY) if reason.startswith(TOO_BUSY) else ""


def key_of(file: Path) -> str:
    """What the answers of a file of tests rest on, as one hash."""
    if passed_keys.ROOT in file.parents:
        return passed_keys.key_of_tests(str(file.relative_to(passed_keys.ROOT)))
    return hashlib.sha256(file.read_bytes()).hexdigest()


def passed_lately(test: str, file: Path) -> bool:
    """Whether a test passed in just this form in one of the last runs of its file."""
    key = key_of(file)
    return any(run.get(test) == key for run in _history().get(_file_of(test), ()))


def record(passed: Iterable[tuple[str, Path]], ran: Iterable[str]) -> None:
    """Remember a run: of the files of the tests that `ran`, which passed."""
    runs: dict[str, Passes] = {_file_of(test): {} for test in ran}
    if not runs:
        return
    for test, file in passed:
        runs[_file_of(test)][test] = key_of(file)
    history = _history()
    for file_name, run in runs.items():
        history[file_name] = [*history.get(file_name, ()), run][-RUNS:]
    _place().parent.mkdir(parents=True, exist_ok=True)
    _place().write_text(json.dumps(history, indent=1), encoding="utf-8")


def refusals(unknown: dict[str, Path]) -> list[str]:
    """Why a run with these unknown answers proves too little; empty where it proves enough."""
    found = [
        f"{test} is unknown and did not pass in this form in the last {RUNS} runs"
        for test, file in unknown.items()
        if not passed_lately(test, file)
    ]
    many = len(unknown) > MOST_UNKNOWN
    return [*found, *([f"{len(unknown)} known answers are unknown: at most {MOST_UNKNOWN} may be"] if many else [])]


def _file_of(test: str) -> str:
    return test.partition("::")[0]


def _place() -> Path:
    return cache_dir() / passed_keys.FOLDER / "known-answers.json"


def _history() -> dict[str, list[Passes]]:
    try:
        found: dict[str, list[Passes]] = json.loads(_place().read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    return found
