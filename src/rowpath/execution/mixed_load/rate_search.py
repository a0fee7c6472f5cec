"""The search for the highest rate at which the 99th percentile of a group's latency stays under a bound."""

from __future__ import annotations

import math
from collections.abc import Callable

from rowpath.journal.mixed_load_records import RateTryRecord
from rowpath.model.experiment import RateSearchTable

CLOSE_ENOUGH = 1.05  # a rate that fails over one that holds


def search(table: RateSearchTable, attempt: Callable[[float], RateTryRecord]) -> float | None:
    """The highest rate that held; None when not even the lowest did.

    The rate doubles (or halves, when the first fails) until one holds and one fails. Then it is the geometric middle
    between them, until they are within 5 % or the tries are used up. A rate is tried once: a machine that is not quiet
    makes the answer lower, never higher than what held.
    """
    holds: float | None = None
    fails: float | None = None
    rate = table.begin_per_s
    for _ in range(table.tries):
        if attempt(rate).held:
            holds = rate
        else:
            fails = rate
        if holds is None:
            rate /= 2
        elif fails is None:
            rate *= 2
        elif fails / holds <= CLOSE_ENOUGH:
            break
        else:
            rate = math.sqrt(holds * fails)
    return holds
