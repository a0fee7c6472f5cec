"""How a probe spends its time: what is over, what is left, and what fits into it."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rowpath.model.path import AccessPath
from rowpath.planning.plan import PlannedPath
from rowpath.runners.manifest import language

CURSORS = ("cursor:", "fetch-size:")  # results that the server keeps and hands over in parts
DEFAULT_S = 120.0
LONGEST_SHARE = 1 / 20  # of the budget: when one execution takes more, no settings and no ranking can be known
TRIES_SHARE = 0.6  # of the search's time, at most, until every candidate had its short try
FURTHER_SHARE = 0.07  # of the budget is for further settings at least: of quick languages many fit into it
FULL_SETS_MOST = 0.65  # of the budget, at most, is kept free for the full sets
LATEST = 2.0  # times the budget: full sets that are needed may last as long, others end with the budget
FULL_SETS = 6  # independent workers that a claim needs
LEAST_BLOCKS, MOST_BLOCKS = 2, 15  # of a path in one full set
LONG_BLOCK_S = 0.1  # blocks that are longer average by themselves: one of each path in a set does
BATCH_S = 0.15  # of a full set beside starts and blocks: processes end, what was measured is written
COMPILERS_S = 0.3  # until a runtime's compilers have come to rest
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
class Rest:
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


@dataclass(frozen=True)
class FullSetsBudget:
    """What the last step can afford: how many of the best candidates, sets, and rounds of blocks in each set."""

    finalists: int
    sets: int
    rounds: int


def warm_s(planned: PlannedPath) -> float:
    """How long a path of a new process is warmed up in a full set: as its language needs, within limits."""
    return min(MOST_WARM_S, max(LEAST_WARM_S, language(planned.adapter.language).probe_warm_s[0]))


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


def least_blocks(block_s: Sequence[float]) -> int:
    """The fewest blocks of each path in one full set; `block_s`: each path's block with the rest after it."""
    return 1 if sum(block_s) > LONG_BLOCK_S * len(block_s) else LEAST_BLOCKS


def set_s(block_s: Sequence[float], start_s: Sequence[float], blocks: int, room: int) -> float:
    """One full set of these candidates, in batches of at most `room`; the first of them takes part in every batch.

    `block_s`: of each one's block with the rest after it; one more is spent on warming up. `start_s`: of each one's
    start.
    """
    if not block_s:
        return 0.0
    each_s = [start + block * (blocks + 1) for start, block in zip(start_s, block_s, strict=True)]
    count = max(1, math.ceil((len(each_s) - 1) / max(1, room - 1)))
    return sum(each_s) + (count - 1) * each_s[0] + count * BATCH_S


def least_full_sets_s(block_s: Sequence[float], start_s: Sequence[float], room: int) -> float:
    """What six sets of these candidates should have at least; the arguments are those of `set_s`."""
    return FULL_SETS * set_s(block_s, start_s, least_blocks(block_s), room)


def plan_full_sets(
    block_s: Sequence[float], start_s: Sequence[float], left_s: float, late_s: float, needed: int, room: int
) -> FullSetsBudget:
    """The last step for candidates, the first `needed` of which must take part; `late_s`: what those may take at most.

    `block_s`, `start_s`, `room`: those of `set_s`.

    Fewer candidates before fewer rounds before fewer sets: six sets can distinguish two paths, fewer claim nothing.
    """
    count = len(block_s)
    while count > max(1, needed) and least_full_sets_s(block_s[:count], start_s[:count], room) > left_s:
        count -= 1

    def needed_s(rounds: int) -> float:
        return set_s(block_s[:count], start_s[:count], rounds, room)

    round_s = needed_s(1) - needed_s(0)
    rounds = int((left_s / FULL_SETS - needed_s(0)) / round_s) if round_s > 0 else MOST_BLOCKS
    rounds = max(least_blocks(block_s[:count]), min(MOST_BLOCKS, rounds))
    sets = int(max(left_s, late_s) / needed_s(rounds)) if needed_s(rounds) > 0 else FULL_SETS
    return FullSetsBudget(count, max(1, min(FULL_SETS, sets)), rounds)
