"""Medians of within-round log ratios: robust against blocks, blind to periodic costs."""

import math
import random
import statistics

import pytest

from rowpath.analysis.statistics.intervals import log_ratios, set_log_ratio


def test_the_median_of_the_rounds_ratios() -> None:
    a, b = {0: 2.0, 1: 4.0, 2: 8.0}, {0: 1.0, 1: 1.0, 2: 1.0}
    assert set_log_ratio(a, b) == pytest.approx(math.log(4))


def test_rounds_are_paired_so_that_a_drifting_machine_cancels() -> None:
    speed = [1 + 0.1 * turn for turn in range(15)]
    a = {turn: 3.0 * speed[turn] for turn in range(15)}
    b = {turn: 2.0 * speed[turn] for turn in range(15)}
    assert set_log_ratio(a, b) == pytest.approx(math.log(1.5))


def test_outliers_in_a_third_of_the_blocks_move_it_by_less_than_1_percent() -> None:
    rng = random.Random(5)
    ratios, means = [], []
    for _ in range(200):
        a = {turn: math.exp(rng.gauss(0, 0.01)) for turn in range(15)}
        b = {turn: math.exp(rng.gauss(0, 0.01)) for turn in range(15)}
        for turn in rng.sample(range(15), 5):
            a[turn] *= rng.uniform(1.5, 5)
        ratios.append(set_log_ratio(a, b) or 0.0)
        means.append(math.log(statistics.fmean(a.values()) / statistics.fmean(b.values())))
    assert statistics.fmean(ratios) == pytest.approx(0, abs=0.01)
    assert statistics.fmean(means) > 0.4


def test_a_set_counts_only_when_half_of_its_rounds_have_both() -> None:
    a = dict.fromkeys(range(10), 2.0)
    assert set_log_ratio(a, dict.fromkeys(range(5), 1.0)) == pytest.approx(math.log(2))
    assert set_log_ratio(a, dict.fromkeys(range(4), 1.0)) is None
    assert set_log_ratio(a, {}) is None


def test_only_shared_sets_are_compared() -> None:
    a = {0: {0: 2.0}, 1: {0: 4.0}}
    b = {1: {0: 2.0}, 2: {0: 1.0}}
    assert log_ratios(a, b) == {1: pytest.approx(math.log(2))}


def test_two_phases_are_compared_by_their_sets_medians() -> None:
    a = {0: {0: 2.0, 1: 4.0, 2: 100.0}}
    b = {0: {7: 1.0, 8: 2.0}}
    assert log_ratios(a, b, within_rounds=False) == {0: pytest.approx(math.log(4 / 1.5))}
