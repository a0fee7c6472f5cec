"""Where a series of ratios changes its level: PELT finds the places, a test with the run as its unit judges them."""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from rowpath.analysis.statistics.grouping import holm
from rowpath.analysis.statistics.intervals import CONFIDENCE, Interval, quantile
from rowpath.errors import EnvironmentMissing

LEAST_POINTS = 6  # with fewer no change is looked for
LEAST_SEGMENT = 2
# The cost of one more level, in units of the noise's variance and the logarithm of the number of points. 2 is the
# Bayesian information criterion; 3 finds less in noise, whose variance is itself estimated from few points.
PENALTY = 3.0
MEDIAN_OF_NORMAL = 0.6745  # of its absolute value


@dataclass(frozen=True)
class Shift:
    """A change of level: from the points before `at` to those from it on, as ln(after ÷ before)."""

    at: int
    interval: Interval
    p_value: float  # corrected for the number of places where it could have been


def shifts(values: Sequence[float], errors: Sequence[float]) -> list[Shift]:
    """Every place where PELT sees a new level, in order; `errors`: the standard error of each value."""
    count = len(values)
    if count < LEAST_POINTS:
        return []
    variance = _noise(values, errors) ** 2
    if variance == 0:
        return []
    penalty = PENALTY * variance * math.log(count)
    borders = [0, *_borders(values, penalty)]
    segments = [values[begin:end] for begin, end in itertools.pairwise(borders)]
    squares = math.fsum((value - statistics.fmean(part)) ** 2 for part in segments for value in part)
    degrees = count - len(segments)
    # The spread about the levels that were fitted is too small by what fitting took; the noise is its lower bound.
    spread = max(squares / degrees, variance)
    return [
        _shift(borders[place], before, after, spread, degrees, count)
        for place, (before, after) in enumerate(itertools.pairwise(segments), 1)
    ]


def significant(families: Sequence[Sequence[Shift]], tested: int) -> list[list[Shift]]:
    """The shifts of each series that hold after Holm's correction over all `tested` series, and exceed 2 %."""
    found = [shift for family in families for shift in family]
    most = [shift.p_value for shift in found]
    verdicts = holm([*most, *[1.0] * max(0, tested - len(found))])[: len(found)]
    held = {id(shift) for shift, holds in zip(found, verdicts, strict=True) if holds and shift.interval.apart}
    return [[shift for shift in family if id(shift) in held] for family in families]


def _noise(values: Sequence[float], errors: Sequence[float]) -> float:
    """Standard deviation of a value without changes: from the median step, which few changes do not move, and not
    below what the sets within the runs show."""
    steps = [abs(after - before) for before, after in itertools.pairwise(values)]
    of_steps = statistics.median(steps) / MEDIAN_OF_NORMAL / math.sqrt(2)
    known = [error for error in errors if math.isfinite(error)]
    return max(of_steps, statistics.median(known) if known else 0.0)


def _borders(values: Sequence[float], penalty: float) -> list[int]:
    """Where each level ends."""
    try:
        import numpy
        from ruptures import KernelCPD
    except ImportError as error:
        raise EnvironmentMissing(
            f"the library ruptures, which finds changes, is not installed: {error}",
            "pip install ruptures (Python 3.11 to 3.13)",
        ) from error
    # With a linear kernel this is PELT with squared distances from each level's mean, compiled.
    search = KernelCPD(kernel="linear", min_size=LEAST_SEGMENT).fit(numpy.asarray(values, dtype=float).reshape(-1, 1))
    return [int(border) for border in search.predict(pen=penalty)]


def _shift(at: int, before: Sequence[float], after: Sequence[float], spread: float, degrees: int, count: int) -> Shift:
    mean = statistics.fmean(after) - statistics.fmean(before)
    error = math.sqrt(spread * (1 / len(before) + 1 / len(after)))
    half = quantile(degrees, CONFIDENCE) * error
    interval = Interval(mean, mean - half, mean + half, error, degrees, count)
    return Shift(at, interval, min(1.0, interval.p_value * (count - 1)))
