"""The ratio of two sides of runs: noise between sets, and between runs as unchanged paths and repeated runs show it.

Two runs are not paired in time, so the machine's speed may differ between them. Nothing is divided out: what the paths
that did not change moved by is added to every interval.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from scipy.special import gammaincinv

from rowpath.analysis.statistics.intervals import CONFIDENCE, Interval, quantile, student

LEAST_UNCHANGED = 5  # fewer paths do not tell a machine's drift from a change of their own
# Half of the squares of standard normal values lie below it: the median of chi-square with one degree of freedom.
MIDDLE_OF_SQUARE = 2 * float(gammaincinv(0.5, 0.5))
STEPS = 60  # of a bisection

Side = Sequence[Sequence[float]]  # by run: the logarithm of each set's value


@dataclass(frozen=True)
class Drift:
    """What lies between two runs of the same thing: the variance of one run's level, and how well it is known."""

    variance: float
    paths: int

    @property
    def known(self) -> bool:
        """Whether enough unchanged paths show it."""
        return self.paths >= LEAST_UNCHANGED


def difference_of_sides(base: Side, head: Side) -> tuple[float, float] | None:
    """ln(head / base) with its variance from the spread of sets within runs; None where a run has fewer than 2 sets."""
    one, other = _level(base), _level(head)
    return (other[0] - one[0], one[1] + other[1]) if one and other else None


def drift_of(unchanged: Sequence[tuple[Side, Side]]) -> Drift:
    """The variance of a run's level that makes half of the unchanged paths move less than the model's own middle.

    A median, so that a minority of paths that did change does not count. Moving together counts as much as apart.
    """
    moved = [
        (difference[0] ** 2, difference[1], 1 / len(base) + 1 / len(head))
        for base, head in unchanged
        if (difference := difference_of_sides(base, head)) is not None
    ]
    if not moved:
        return Drift(0.0, 0)

    def middle(variance: float) -> float:
        return statistics.median(square / max(own + variance * runs, 1e-300) for square, own, runs in moved)

    low, high = 0.0, max(square / runs for square, _own, runs in moved) / MIDDLE_OF_SQUARE
    if middle(low) <= MIDDLE_OF_SQUARE:
        return Drift(0.0, len(moved))
    for _ in range(STEPS):
        half = (low + high) / 2
        low, high = (half, high) if middle(half) > MIDDLE_OF_SQUARE else (low, half)
    return Drift(high, len(moved))


def compare_sides(base: Side, head: Side, drift: Drift, *, sets_apart: bool = True) -> Interval | None:
    """ln(head / base) with its interval; infinitely wide where nothing tells how far two runs lie apart.

    Two variances, weighted by their degrees of freedom: of sets and drift together, and of repeated runs of a side.
    Without `sets_apart` only the second: sets of one process show nothing of the next one. None where a side has no
    values.
    """
    base, head = [run for run in base if run], [run for run in head if run]
    if not base or not head:
        return None
    mean = _middle(head) - _middle(base)
    sets = min(sum(map(len, base)), sum(map(len, head)))
    known = [*filter(None, (_by_sets(base, head, drift) if sets_apart else None, _by_runs(base, head)))]
    if not known:
        return Interval(mean, -math.inf, math.inf, math.inf, 0, sets)
    degrees = math.fsum(own for _variance, own in known)
    error = math.sqrt(math.fsum(variance * own for variance, own in known) / degrees)
    half = quantile(degrees, CONFIDENCE) * error
    return Interval(mean, mean - half, mean + half, error, degrees, sets)


def _by_sets(base: Side, head: Side, drift: Drift) -> tuple[float, float] | None:
    """Variance and degrees of freedom (Welch) from sets within runs and from the drift of unchanged paths."""
    if not drift.known:
        return None
    levels = [(student(run), len(side)) for side in (base, head) for run in side]
    parts = [(level.error**2 / runs**2, level.degrees) for level, runs in levels if level and level.sets > 1]
    if len(parts) < len(levels):
        return None
    parts.append((drift.variance * (1 / len(base) + 1 / len(head)), drift.paths - 1))
    variance = math.fsum(part for part, _ in parts)
    spread = math.fsum(part**2 / degrees for part, degrees in parts)
    return variance, variance**2 / spread if spread else math.fsum(degrees for _, degrees in parts)


def _by_runs(base: Side, head: Side) -> tuple[float, float] | None:
    """Variance and degrees of freedom with the run as the unit; None with one run a side."""
    degrees = len(base) + len(head) - 2
    if degrees < 1:
        return None
    squares = math.fsum((statistics.fmean(run) - _middle(side)) ** 2 for side in (base, head) for run in side)
    return squares / degrees * (1 / len(base) + 1 / len(head)), degrees


def _middle(side: Side) -> float:
    return statistics.fmean(statistics.fmean(run) for run in side)


def _level(side: Side) -> tuple[float, float] | None:
    """Mean over the runs of a side, and its variance from their sets."""
    levels = [level for run in side if (level := student(run)) is not None and level.sets > 1]
    if not levels or len(levels) < len(side):
        return None
    return (
        statistics.fmean(level.mean for level in levels),
        math.fsum(level.error**2 for level in levels) / len(levels) ** 2,
    )
