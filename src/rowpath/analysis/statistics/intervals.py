"""Estimates of logarithms of ratios with Student's t intervals: the unit is the set.

The ratio of one set is the median of the log ratios within its rounds, robust against what hits single blocks.
"""

from __future__ import annotations

import functools
import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

CONFIDENCE = 0.95
CONFIDENCE_STOPPED_ON_WIDTH = 0.975  # stopping as soon as the interval is narrow costs coverage
ALPHA = 0.05
APART = 0.02  # paths are ranked apart when the interval lies outside [1 - APART, 1 + APART]
SETS_FOR_CLAIMS = 6
ENOUGH = 0.5  # share of a set's rounds that both paths need for the set to count


@dataclass(frozen=True)
class Interval:
    """An estimate of ln(a / b) from independent sets; infinitely wide with fewer than two."""

    mean: float
    low: float
    high: float
    error: float  # standard error of the mean
    degrees: float  # of freedom
    sets: int

    @property
    def ratio(self) -> float:
        """exp of the estimate."""
        return math.exp(self.mean)

    @property
    def ratio_low(self) -> float | None:
        """Lower end of the ratio's interval; None when it has none."""
        return math.exp(self.low) if math.isfinite(self.low) else None

    @property
    def ratio_high(self) -> float | None:
        """Upper end of the ratio's interval; None when it has none."""
        return math.exp(self.high) if math.isfinite(self.high) else None

    @property
    def ratios(self) -> tuple[float, float | None, float | None]:
        """The ratio and its interval's ends."""
        return self.ratio, self.ratio_low, self.ratio_high

    @property
    def half_width(self) -> float:
        """Half of the interval's width relative to the ratio: 0.01 is ±1 %; inf when it has none."""
        if not math.isfinite(self.high):
            return math.inf
        return (math.exp(self.high - self.mean) - math.exp(self.low - self.mean)) / 2

    @property
    def p_value(self) -> float:
        """Two-sided p value of the ratio being 1; 1.0 when it has no interval."""
        if self.degrees <= 0:
            return 1.0
        if self.error == 0:
            return 1.0 if self.mean == 0 else 0.0
        from scipy.special import stdtr  # here, for it would slow the start of every run

        return float(2 * stdtr(self.degrees, -abs(self.mean) / self.error))

    @property
    def apart(self) -> bool:
        """Whether the interval lies wholly outside [0.98, 1.02]."""
        return self.low > math.log(1 + APART) or self.high < math.log(1 - APART)

    @property
    def inverse(self) -> Interval:
        """The interval of ln(b / a)."""
        return Interval(-self.mean, -self.high, -self.low, self.error, self.degrees, self.sets)


def student(values: Sequence[float], confidence: float = CONFIDENCE) -> Interval | None:
    """Mean of one value per set (a logarithm) with its Student t interval; None without values."""
    sets = len(values)
    if sets == 0:
        return None
    mean = math.fsum(values) / sets
    if sets == 1:
        return Interval(mean, -math.inf, math.inf, math.inf, 0, 1)
    variance = math.fsum((value - mean) ** 2 for value in values) / (sets - 1)
    return _interval(mean, math.sqrt(variance / sets), sets - 1, sets, confidence)


def mean_with_ends(values: Sequence[float], confidence: float = CONFIDENCE) -> tuple[float, float | None, float | None]:
    """Mean of one value per set with the ends of its Student t interval, None with fewer than two sets."""
    interval = student(values, confidence)
    low, high = (interval.low, interval.high) if interval is not None and interval.sets > 1 else (None, None)
    return statistics.fmean(values), low, high


def difference(a: Interval, b: Interval, confidence: float = CONFIDENCE) -> Interval:
    """The interval of a − b from independent sets (Welch's degrees of freedom): how ratios are joined or compared."""
    mean = a.mean - b.mean
    sets = min(a.sets, b.sets)
    if a.degrees <= 0 or b.degrees <= 0:
        return Interval(mean, -math.inf, math.inf, math.inf, 0, sets)
    parts = a.error**2, b.error**2
    total = sum(parts)
    spread = parts[0] ** 2 / a.degrees + parts[1] ** 2 / b.degrees
    return _interval(mean, math.sqrt(total), total**2 / spread if spread else a.degrees + b.degrees, sets, confidence)


@functools.cache
def quantile(degrees: float, confidence: float) -> float:
    """Half the width of a two-sided Student t interval, in standard errors."""
    from scipy.special import stdtrit

    return float(stdtrit(degrees, (1 + confidence) / 2))


def _interval(mean: float, error: float, degrees: float, sets: int, confidence: float) -> Interval:
    half = quantile(degrees, confidence) * error
    return Interval(mean, mean - half, mean + half, error, degrees, sets)


def set_log_ratio(a: Mapping[int, float], b: Mapping[int, float]) -> float | None:
    """ln(cost a / cost b) of one set from costs by round; None when fewer than half of the rounds have both."""
    shared = [math.log(a[number] / b[number]) for number in a.keys() & b.keys() if a[number] > 0 and b[number] > 0]
    if not shared or len(shared) < ENOUGH * max(len(a), len(b)):
        return None
    return statistics.median(shared)


def log_ratios(
    a: Mapping[int, Mapping[int, float]], b: Mapping[int, Mapping[int, float]], within_rounds: bool = True
) -> dict[int, float]:
    """ln(cost a / cost b) by set, from costs by set and round.

    Without `within_rounds` (two phases, whose rounds were not interleaved): the ratio of the sets' medians.
    """
    by_set: dict[int, float] = {}
    for number in sorted(a.keys() & b.keys()):
        if within_rounds:
            value = set_log_ratio(a[number], b[number])
        elif a[number] and b[number]:
            value = math.log(statistics.median(a[number].values()) / statistics.median(b[number].values()))
        else:
            value = None
        if value is not None:
            by_set[number] = value
    return by_set
