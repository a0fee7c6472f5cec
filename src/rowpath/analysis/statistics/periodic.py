"""Costs that a median hides: what a path's own pauses (a collector, a checkpoint) add to the mean of its blocks."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from rowpath.analysis.statistics.intervals import Interval, student

EXCESS = 0.03  # a mean this much above its median is a finding
MINIMUM_SETS = 3  # fewer agree by chance
MINIMUM_BLOCKS = 5  # of a set, to tell a mean from a median


@dataclass(frozen=True)
class BlockCost:
    """One block: costs per operation (wall time, of it waiting for the core, CPU of both sides), and its operations."""

    cost_ns: float
    wait_ns: float = 0.0
    cpu_ns: float | None = None
    operations: float = 1.0


@dataclass(frozen=True)
class Excess:
    """ln(mean / median) over sets; by wall time (without waiting for the core) and by CPU where that is known."""

    wall: Interval | None
    cpu: Interval | None

    @property
    def found(self) -> Interval | None:
        """The greater excess that is above 3 % and surely above 0; None when there is none."""
        usable = [
            interval
            for interval in (self.wall, self.cpu)
            if interval is not None
            and interval.sets >= MINIMUM_SETS
            and interval.mean > math.log1p(EXCESS)
            and interval.low > 0
        ]
        return max(usable, key=lambda interval: interval.mean, default=None)


def excess(sets: Sequence[Sequence[BlockCost]]) -> Excess:
    """The excess of mean over median, from undisturbed blocks by set; a mean is all time over all operations.

    Waiting for the core beyond a set's usual amount is taken out: a neighbour's doing, not the path's own cost.
    """
    wall, cpu = [], []
    for blocks in sets:
        if len(blocks) < MINIMUM_BLOCKS:
            continue
        usual = statistics.median(block.wait_ns for block in blocks)
        weights = [block.operations for block in blocks]
        wall.append(_log_excess([block.cost_ns - max(0.0, block.wait_ns - usual) for block in blocks], weights))
        known = [block.cpu_ns for block in blocks if block.cpu_ns is not None and block.cpu_ns > 0]
        if len(known) == len(blocks):
            cpu.append(_log_excess(known, weights))
    return Excess(student(wall), student(cpu))


def _log_excess(values: Sequence[float], weights: Sequence[float]) -> float:
    middle = statistics.median(values)
    mean = statistics.fmean(values, weights)
    return math.log(mean / middle) if middle > 0 and mean > 0 else 0.0
