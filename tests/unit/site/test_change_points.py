"""Change points with known answers: a step is found where it is, pure noise and a wandering machine have none."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence

import pytest

from rowpath.site.histories import LEAST_POINTS, Shift, shifts, significant

NOISE = 0.01  # standard deviation between runs
SETS = 0.004  # what the sets within a run show of it


def series(seed: int, points: int, steps: dict[int, float], noise: float = NOISE) -> list[float]:
    """Logarithms of ratios; `steps`: the point from which on the level is changed by a factor."""
    made = random.Random(seed)
    return [
        made.gauss(0, noise) + sum(math.log(factor) for at, factor in steps.items() if place >= at)
        for place in range(points)
    ]


def found(values: Sequence[float], tested: int = 1) -> list[Shift]:
    return significant([shifts(values, [SETS] * len(values))], tested)[0]


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("factor", [1.08, 1 / 1.08])
def test_a_step_of_8_percent_is_found_where_it_is(seed: int, factor: float) -> None:
    (shift,) = found(series(seed, 12, {7: factor}))
    assert shift.at == 7
    assert shift.interval.low < math.log(factor) < shift.interval.high
    assert shift.interval.ratio == pytest.approx(factor, abs=0.02)


def test_two_steps_are_two_changes() -> None:
    assert [shift.at for shift in found(series(1, 20, {6: 1.2, 14: 0.8}))] == [6, 14]


@pytest.mark.parametrize("points", [6, 10, 30])
def test_pure_noise_has_a_change_in_at_most_1_of_20_series(points: int) -> None:
    called = sum(bool(found(series(seed, points, {}, 0.03))) for seed in range(200))
    assert called <= 10


def test_many_series_are_a_family() -> None:
    noise = [shifts(series(seed, 10, {}, 0.03), [SETS] * 10) for seed in range(100)]
    assert not any(significant(noise, len(noise)))
    stepped = shifts(series(3, 12, {6: 1.3}), [SETS] * 12)
    assert significant([*noise, stepped], 101)[-1][0].at == 6


def test_a_change_under_2_percent_is_not_called_one() -> None:
    values = series(1, 40, {20: 1.015}, noise=0.001)
    assert shifts(values, [0.0005] * 40)
    assert not found(values)


def test_noise_that_only_the_sets_show_hides_a_step() -> None:
    values = series(1, 8, {4: 1.03}, noise=0.001)
    assert [shift.at for shift in shifts(values, [0.001] * 8)] == [4]
    assert shifts(values, [0.05] * 8) == []


def test_too_few_points_or_no_noise_at_all_say_nothing() -> None:
    assert shifts(series(1, LEAST_POINTS - 1, {3: 2.0}), [SETS] * (LEAST_POINTS - 1)) == []
    assert shifts([0.0] * 10, [0.0] * 10) == []
