"""The outcome of a check, and the error with which a check fails."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import Any, Literal

from rowpath.checks.conformance.fixture import EngineFixture
from rowpath.runners.process import RunnerFailure


class CheckFailed(Exception):
    """Something is not as it must be: what, and what it should have been and was."""

    def __init__(self, what: str, expected: object, got: object) -> None:
        super().__init__(f"{what}: expected {expected}, got {got}")
        self.what = what
        self.expected = expected
        self.got = got


@dataclass
class CaseOutcome:
    """One check on one path; `notes` is what was seen on the way (the types handed over)."""

    name: str
    status: Literal["ok", "failed", "not applicable"]
    reason: str = ""  # what is wrong, or why it does not apply
    expected: str = ""
    got: str = ""
    notes: dict[str, Any] = field(default_factory=dict)


def outcome_of(name: str, fixture: EngineFixture, check: Callable[[], str]) -> CaseOutcome:
    """The outcome of a check, which returns why it does not apply, or nothing when it passes.

    After a failure the next check gets a new process.
    """
    try:
        reason = check()
    except (CheckFailed, RunnerFailure) as failure:
        fixture.end_processes()
        if isinstance(failure, CheckFailed):
            return CaseOutcome(name, "failed", failure.what, str(failure.expected), str(failure.got))
        return CaseOutcome(name, "failed", "the runner answered with an error", "", str(failure))
    return CaseOutcome(name, "not applicable" if reason else "ok", reason)


def expect_equal(what: str, got: object, expected: object) -> None:
    """CheckFailed unless both are equal."""
    if got != expected:
        raise CheckFailed(what, expected, got)


def expect(what: str, holds: object, expected: object = "yes", got: object = "no") -> None:
    """CheckFailed unless it holds."""
    if not holds:
        raise CheckFailed(what, expected, got)


def expect_touch(what: str, touch: str, touches: Collection[int] | None) -> None:
    """CheckFailed unless the touch sum is one of these; None: no one knows it."""
    if touches is not None and int(touch, 16) not in touches:
        raise CheckFailed(what, " or ".join(f"{each:016x}" for each in sorted(touches)), touch)
