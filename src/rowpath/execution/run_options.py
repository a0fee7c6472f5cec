"""What a run takes from its command line, beside the plan; and `--within` while it goes on."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from rowpath import text as fmt
from rowpath.model.choices import WAIT_FOR_QUIET_S


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """`timeout_s`: of a request to a runner; `within_s`: of the whole run; `spent_s`: what of it was spent before."""

    timeout_s: float
    wait_for_quiet_s: float = WAIT_FOR_QUIET_S
    within_s: float | None = None
    spent_s: float = 0.0
    restart_servers: bool = False  # for every set, however long they take to warm up


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
