"""The result of a check, and the error with which a check fails."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal


class CheckFailed(Exception):
    """Something is not as it must be: what, and what it should have been and was."""

    def __init__(self, what: str, expected: object, got: object) -> None:
        super().__init__(f"{what}: expected {expected}, got {got}")
        self.what = what
        self.expected = expected
        self.got = got


@dataclass
class Outcome:
    """One check on one path; `notes` is what was seen on the way (the types handed over)."""

    name: str
    status: Literal["ok", "failed", "not applicable"]
    reason: str = ""  # what is wrong, or why it does not apply
    expected: str = ""
    got: str = ""
    notes: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, name: str, broken: CheckFailed) -> Outcome:
        """The failure."""
        return cls(name, "failed", broken.what, str(broken.expected), str(broken.got))


def expect_equal(what: str, got: object, expected: object) -> None:
    """CheckFailed unless both are equal."""
    if got != expected:
        raise CheckFailed(what, expected, got)


def expect(what: str, holds: object, expected: object = "yes", got: object = "no") -> None:
    """CheckFailed unless it holds."""
    if not holds:
        raise CheckFailed(what, expected, got)
