"""What a driver did when something broke: one cell of the matrix of faults."""

from __future__ import annotations

from typing import Literal

import msgspec

from rowpath.model.base import Frozen

Work = Literal["scan", "read", "write", "transaction"]
WORKS: tuple[Work, ...] = ("scan", "read", "write", "transaction")

# error: the driver failed; whole: all rows were delivered, or the write acknowledged; truncated: fewer rows, taken for
# all; no end: nothing within the watch; ended: the process ended; stopped, not heard: what was asked to stop
End = Literal["error", "whole", "truncated", "no end", "ended", "stopped", "not heard", "not applicable"]
# usable: the same connection served a read; refused: it failed at once; broken: it neither failed nor answered
Connection = Literal["usable", "refused", "broken", ""]
By = Literal["same connection", "new connection", "new process", ""]


class Fault(Frozen, frozen=True):
    """One way to break, what is broken by it, and how long a cell of it is watched."""

    number: str  # 1, 2, … 14; 6 and 9 have letters
    name: str
    title: str
    works: tuple[Work, ...] = ("scan",)
    watch_s: float = 75.0


class Event(Frozen, frozen=True):
    """A moment of a cell, in ns from the fault."""

    ns: int
    text: str


class Cell(msgspec.Struct, frozen=True, kw_only=True):
    """What was seen. Times are in ns from the fault; that of the first row from where the server can serve again."""

    path_id: str
    path: str  # its name for people
    language: str
    driver: str
    engine: str
    fault: str  # its number
    work: Work
    settings: str = ""  # tuned: the driver's own settings, `name=value`, one a line
    end: End
    reason: str = ""  # not applicable: why
    end_ns: int | None = None
    kind: str = ""
    code: str = ""
    text: str = ""
    rows: int | None = None  # delivered before the end
    expected_rows: int | None = None
    connection: Connection = ""
    first_row_ns: int | None = None
    by: By = ""
    acknowledged: int | None = None  # writes
    stored: int | None = None
    server_goes_on: bool | None = None  # after a cancel or a timeout, by its own view
    leaked_descriptors: int | None = None  # after a hundred faults
    leaked_threads: int | None = None
    leaked_bytes: int | None = None
    events: tuple[Event, ...] = ()

    @property
    def key(self) -> tuple[str, str, str, str]:
        """Which cell it is."""
        return self.path_id, self.fault, self.work, self.settings
