"""Student's t over sets: coverage by simulation, and the joining of ratios."""

import math

import numpy
import pytest
from scipy import stats

from rowpath.analysis.statistics.intervals import Interval, difference, student

TRIALS = 4_000


def _simulated(sets: int, mean: float = 0.0, spread: float = 0.0113, seed: int = 1) -> list[Interval]:
    draws = numpy.random.default_rng(seed).normal(mean, spread, (TRIALS, sets))
    found = [student([float(value) for value in row]) for row in draws]
    return [interval for interval in found if interval is not None]


@pytest.mark.parametrize("sets", [3, 6, 14])
def test_the_interval_covers_the_truth_in_95_of_100_runs(sets: int) -> None:
    covered = sum(interval.low <= 0.03 <= interval.high for interval in _simulated(sets, mean=0.03)) / TRIALS
    # Three standard errors of a share of 0.95 in 4,000 trials are 1 %.
    assert 0.94 <= covered <= 0.96


def test_aa_differs_in_5_of_100_runs_and_is_never_apart_at_the_usual_spread() -> None:
    found = _simulated(6)
    assert 0.04 <= sum(interval.p_value < 0.05 for interval in found) / TRIALS <= 0.06
    assert not any(interval.apart for interval in found)


def test_a_true_3_percent_is_found_with_6_sets() -> None:
    assert sum(interval.p_value < 0.05 for interval in _simulated(6, mean=0.03)) / TRIALS >= 0.9


def test_stopping_on_width_is_paid_for_by_a_wider_interval() -> None:
    """Peeking after every set from 6 to 14 loses coverage at 95 %; the 97.5 % interval keeps it."""
    draws = numpy.random.default_rng(7).normal(0, 0.02, (1_500, 14))
    covered = {0.95: 0, 0.975: 0}
    for row in draws:
        for confidence in covered:
            for sets in range(6, 15):
                interval = student([float(value) for value in row[:sets]], confidence)
                assert interval is not None
                if interval.half_width <= 0.015 or sets == 14:
                    covered[confidence] += interval.low <= 0 <= interval.high
                    break
    assert covered[0.95] / 1_500 < covered[0.975] / 1_500
    assert covered[0.975] / 1_500 >= 0.945


def test_it_agrees_with_scipy() -> None:
    values = [0.01, 0.03, 0.02, 0.05, 0.00, 0.04]
    interval = student(values)
    assert interval is not None
    low, high = stats.t.interval(0.95, 5, loc=numpy.mean(values), scale=stats.sem(values))
    assert (interval.low, interval.high) == pytest.approx((low, high))
    assert interval.p_value == pytest.approx(stats.ttest_1samp(values, 0).pvalue)


def test_one_set_has_no_interval_and_none_has_no_estimate() -> None:
    one = student([0.5])
    assert one is not None
    assert (one.ratio_low, one.ratio_high, one.p_value, one.apart) == (None, None, 1.0, False)
    assert math.isinf(one.half_width)
    assert student([]) is None


def test_equal_sets_have_an_interval_of_no_width() -> None:
    interval = student([0.1, 0.1, 0.1])
    assert interval is not None
    assert interval.p_value == pytest.approx(0.0)
    assert interval.apart


def test_ratios_joined_through_an_anchor_cover_the_truth() -> None:
    random = numpy.random.default_rng(3)
    covered = 0
    for _ in range(TRIALS):
        one = student([float(value) for value in random.normal(0.5, 0.01, 6)])
        other = student([float(value) for value in random.normal(0.2, 0.03, 6)])
        assert one is not None
        assert other is not None
        joined = difference(one, other)
        covered += joined.low <= 0.3 <= joined.high
    assert 0.94 <= covered / TRIALS <= 0.965
