"""The errors a user meets: one class per exit code, each with the next command to try.

RowpathError
├── UsageError          exit 2: a wrong command, option or file
├── EnvironmentMissing  exit 3: something this machine lacks
├── InternalError       exit 4: a broken contract (protocol, journal)
└── TimedOut            exit 124
"""

from __future__ import annotations


class RowpathError(Exception):
    """A failure with its message and a hint: printed as `error: …`, blank line, `hint: …`."""

    exit_code = 4

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def shown(self) -> str:
        """As a person reads it."""
        return f"error: {self.message}\n\nhint: {self.hint}" if self.hint else f"error: {self.message}"


class UsageError(RowpathError):
    exit_code = 2


class EnvironmentMissing(RowpathError):
    exit_code = 3


class InternalError(RowpathError):
    exit_code = 4


class TimedOut(RowpathError):
    exit_code = 124
