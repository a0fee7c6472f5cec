"""How long a user's database may be kept busy: what of the time is over, what is left, when it rests."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass

from rowpath.model.path import AccessPath
from rowpath.planning.plan import PlannedPath
from rowpath.runners.manifest import language

CURSORS = ("cursor:", "fetch-size:")  # results that the server keeps and hands over in parts
DEFAULT_S = 120.0
LONGEST_SHARE = 1 / 20  # of the budget: when one execution takes more, no settings and no ranking can be known
FULL_SETS_MOST = 0.65  # of the budget, at most, is kept free for the full sets
LEAST_WARM_S, MOST_WARM_S = 0.05, 1.0  # of a path in a set: runtimes that compile need more than others


@dataclass
class Budget:
    """A number of seconds from `begin` on; the database is busy for at most `busy_share` of them.

    `delivery_s`: what the server needs to deliver the rows to a client that only drains them; infinite when unknown.
    """

    total_s: float
    busy_share: float = 1.0
    clock: Callable[[], float] = time.monotonic
    began_s: float | None = None
    delivery_s: float = math.inf

    def begin(self) -> None:
        """The first try begins: until then nothing is spent. Harmless when it has begun."""
        if self.began_s is None:
            self.began_s = self.clock()

    @property
    def spent_s(self) -> float:
        """Seconds that are over."""
        return 0.0 if self.began_s is None else self.clock() - self.began_s

    @property
    def left_s(self) -> float:
        """Seconds that are left; never negative."""
        return max(0.0, self.total_s - self.spent_s)

    def search_s(self, reserve_s: float) -> float:
        """Seconds of the whole budget that the search may take when the full sets will take `reserve_s`."""
        return self.total_s - min(reserve_s, FULL_SETS_MOST * self.total_s)

    def rest_s(self, path: AccessPath, block_s: float, executions: int) -> float:
        """How long the database rests after a block: the server was at work no longer than it needs to deliver.

        Behind a cursor it does more than for a drain: there the whole block counts.
        """
        has_cursor = path.result.startswith(CURSORS)
        at_work_s = block_s if has_cursor else min(block_s, executions * self.delivery_s)
        return at_work_s * (1 / self.busy_share - 1)

    def wall_s(self, path: AccessPath, execution_s: float, executions: int = 1) -> float:
        """What this many executions take with the rest after them."""
        block_s = executions * execution_s
        return block_s + self.rest_s(path, block_s, executions)

    def too_long(self, execution_s: float) -> bool:
        """Whether one execution is so long that nothing but single executions fits."""
        return execution_s > self.total_s * LONGEST_SHARE


@dataclass
class DatabaseRest:
    """When the database may be asked again: a block is followed by a rest, in which other things may be done."""

    budget: Budget
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    until_s: float = 0.0

    def wait(self) -> None:
        """Sleep until the rest after the last block is over."""
        if (left_s := self.until_s - self.clock()) > 0:
            self.sleep(left_s)

    def after(self, path: AccessPath, ended_s: float, block_s: float, executions: int) -> None:
        """A block of that length ended then."""
        self.until_s = max(self.until_s, ended_s + self.budget.rest_s(path, block_s, executions))


def warm_s(planned: PlannedPath) -> float:
    """How long a path of a new process is warmed up in a full set: as its language needs, within limits."""
    return min(MOST_WARM_S, max(LEAST_WARM_S, language(planned.adapter.language).probe_warm_s[0]))
