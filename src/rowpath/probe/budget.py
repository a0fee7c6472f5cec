"""How a probe spends its time: what is over, what is left, and what fits into it."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

LONGEST_SHARE = 1 / 20  # of the budget: when one execution takes more, no settings and no ranking can be known
TRIES_SHARE = 0.35  # of the budget, at most, until every candidate had its short try
ROUNDS_SHARE = 0.65  # of the budget, at most, until the halving ends
FULL_SETS = 6  # independent workers that a claim needs
LEAST_BLOCKS, MOST_BLOCKS = 3, 15  # of a path in one full set
LEAST_FINALISTS = 2
WARM_SHARE = 0.3  # of a set's time
LEAST_WARM_S, MOST_WARM_S = 0.02, 1.0  # of a path in a set


@dataclass
class Budget:
    """A number of seconds from now on; at most `busy_share` of them are spent executing."""

    total_s: float
    busy_share: float = 1.0
    clock: Callable[[], float] = time.monotonic
    began_s: float = field(init=False)

    def __post_init__(self) -> None:
        self.began_s = self.clock()

    @property
    def spent_s(self) -> float:
        """Seconds that are over."""
        return self.clock() - self.began_s

    @property
    def left_s(self) -> float:
        """Seconds that are left; never negative."""
        return max(0.0, self.total_s - self.spent_s)

    def left_until(self, share: float) -> float:
        """Seconds left until that share of the budget is over."""
        return max(0.0, self.total_s * share - self.spent_s)

    def wall_s(self, busy_s: float) -> float:
        """What this many seconds of executing take with the rest after them."""
        return busy_s / self.busy_share

    def too_long(self, execution_s: float) -> bool:
        """Whether one execution is so long that nothing but single executions fits."""
        return execution_s > self.total_s * LONGEST_SHARE


@dataclass(frozen=True)
class FullSetsBudget:
    """What the last step can afford: how many of the best candidates, sets, and rounds of blocks in each set."""

    finalists: int
    sets: int
    rounds: int
    warm_s: float  # longest warming up of a path in a set


def affordable(costs_s: Sequence[float], seconds: float) -> int:
    """How many of these, in their order, fit into that time; at least one."""
    spent = 0.0
    for number, cost in enumerate(costs_s):
        spent += cost
        if spent > seconds:
            return max(1, number)
    return len(costs_s)


def blocks_of_round(costs_s: Sequence[float], seconds: float, least: int, most: int) -> int:
    """How many blocks each candidate of a halving round gets: what fits into the time, within `least` and `most`."""
    each = sum(costs_s)
    return max(least, min(most, int(seconds / each) if each > 0 else most))


def plan_finals(block_s: Sequence[float], start_s: Sequence[float], left_s: float, busy_share: float) -> FullSetsBudget:
    """The last step for candidates, the most promising first; `block_s`, `start_s`: of each one's block and start.

    Fewer candidates before fewer sets: six sets can distinguish two paths, fewer claim nothing.
    """
    for count in range(len(block_s), 0, -1):
        fixed_s = sum(start_s[:count])
        round_s = sum(block_s[:count]) / busy_share
        set_s = left_s / FULL_SETS
        rounds = int((set_s * (1 - WARM_SHARE) - fixed_s) / round_s) if round_s > 0 else MOST_BLOCKS
        if rounds >= LEAST_BLOCKS or count <= LEAST_FINALISTS:
            rounds = max(LEAST_BLOCKS, min(MOST_BLOCKS, rounds))
            needed_s = fixed_s + round_s * (rounds + 1)  # a first block at least is spent on warming up
            sets = max(1, min(FULL_SETS, int(left_s / needed_s) if needed_s > 0 else FULL_SETS))
            warm_s = set_s * WARM_SHARE * busy_share / count
            return FullSetsBudget(count, sets, rounds, max(LEAST_WARM_S, min(MOST_WARM_S, warm_s)))
    return FullSetsBudget(0, 0, 0, 0.0)
