"""`--within` while a run goes on: no set begins that would outlast it, whatever has delayed the run."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

from rowpath import text as fmt


class TimeLimit:
    """The time that a run has; `within_s`: None for any length; `spent_s`: what of it was spent before now."""

    def __init__(self, within_s: float | None, spent_s: float = 0.0) -> None:
        self._within_s = within_s
        self._began_s = time.monotonic() - spent_s
        self._afterwards_s = 0.0

    def keep(self, seconds: float) -> None:
        """Leave so much for what is done after the last set."""
        self._afterwards_s += seconds

    def sets(self, count: int, note: Callable[[str], None]) -> Iterator[int]:
        """The numbers of the sets that fit, each expected to take as long as the longest before it.

        The first always fits. `note` takes the sentence about those that do not.
        """
        longest_s = 0.0
        for number in range(count):
            set_began_s = time.monotonic()
            left_s = float("inf") if self._within_s is None else self._within_s - (set_began_s - self._began_s)
            left_s -= self._afterwards_s
            if number and longest_s > left_s:
                within = fmt.clock(self._within_s or 0)
                note(f"{number} of {count} sets measured: another would exceed --within {within}")
                return
            yield number
            longest_s = max(longest_s, time.monotonic() - set_began_s)
