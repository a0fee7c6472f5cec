"""Holm's procedure."""

import numpy

from rowpath.analysis.statistics.grouping import holm


def test_by_hand() -> None:
    # 0.01 < 0.05 / 4, 0.015 < 0.05 / 3, then 0.03 > 0.05 / 2 stops it.
    assert holm([0.03, 0.01, 0.5, 0.015]) == [False, True, False, True]
    assert holm([]) == []
    assert holm([0.04]) == [True]
    assert holm([0.04, 0.04]) == [False, False]


def test_the_chance_of_any_false_difference_stays_below_5_percent() -> None:
    random = numpy.random.default_rng(11)
    trials = 4_000
    plain = sum(bool((random.uniform(size=11) < 0.05).any()) for _ in range(trials))
    held = sum(any(holm([float(p) for p in random.uniform(size=11)])) for _ in range(trials))
    assert plain / trials > 0.35
    assert held / trials <= 0.06
