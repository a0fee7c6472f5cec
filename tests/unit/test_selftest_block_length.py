"""The judgement of the known answer `block-length`: noise passes, a true difference does not."""

from __future__ import annotations

import math

from rowpath.checks.selftest.block_length import judge


def test_noise_around_one_passes() -> None:
    assert judge("c", [-0.10, 0.12, 0.03, -0.08, 0.05, -0.02, 0.09, -0.06, 0.04, 0.01]).passed


def test_short_blocks_that_cost_a_tenth_more_miss() -> None:
    verdict = judge("c", [math.log(1.10) + noise for noise in (-0.05, 0.06, 0.01, -0.04, 0.02, -0.01, 0.04, -0.03)])
    assert verdict.passed is False
    assert verdict.figure.startswith("1.1")


def test_one_and_a_half_percent_passes_and_three_miss_where_the_rounds_agree() -> None:
    assert judge("c", [math.log(1.015) + noise for noise in (-0.002, 0.002, 0.001, -0.001)]).passed
    assert judge("c", [math.log(1.03) + noise for noise in (-0.002, 0.002, 0.001, -0.001)]).passed is False


def test_an_interval_too_wide_to_tell_anything_misses() -> None:
    assert judge("c", [-0.3, 0.3, 0.2, -0.2, 0.1, -0.1]).passed is False
