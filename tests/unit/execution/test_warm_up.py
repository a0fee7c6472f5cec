"""Shapes of warming up."""

import math
import random
from collections.abc import Callable

import pytest

from rowpath.execution.warm_up import classify, compilers_rest, is_flat


def _series(level: Callable[[float], float], blocks: int, seed: int, noise: float = 0.02) -> list[float]:
    rng = random.Random(seed)
    return [level(position / blocks) * math.exp(rng.gauss(0, noise)) for position in range(blocks)]


SHAPES: dict[str, Callable[[float], float]] = {
    "flat": lambda at: 10.0,
    "warm-up": lambda at: 10.0 + 90 * math.exp(-at * 25),
    "slowdown": lambda at: 10.0 if at < 0.5 else 13.0,
    "no steady state": lambda at: 10.0 * (1 + at),
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("blocks", [24, 100, 400])
@pytest.mark.parametrize("seed", range(5))
def test_each_shape_is_told_under_noise(shape: str, blocks: int, seed: int) -> None:
    assert classify(_series(SHAPES[shape], blocks, seed)) == shape


def test_steps_of_a_compiler_are_a_warm_up() -> None:
    assert classify(_series(lambda at: 100 if at < 0.1 else 40 if at < 0.3 else 10, 100, 1)) == "warm-up"


def test_alternating_levels_are_no_steady_state() -> None:
    assert classify(_series(lambda at: 10 if int(at * 10) % 2 else 13, 100, 1)) == "no steady state"


def test_a_collection_now_and_then_leaves_it_flat() -> None:
    series = _series(lambda at: 10.0, 100, 1)
    series[20::20] = [18.0] * len(series[20::20])
    assert classify(series) == "flat"


def test_a_first_block_that_is_slow_is_a_warm_up() -> None:
    assert classify([30.0, 10.0, 10.1, 10.0, 9.9, 10.0, 10.1]) == "warm-up"


def test_few_blocks() -> None:
    assert classify([]) == "flat"
    assert classify([10.0]) == "flat"
    assert classify([10.0, 10.5]) == "flat"
    assert classify([10.0, 20.0]) == "no steady state"


def test_is_flat() -> None:
    assert not is_flat([10.0, 10.0])
    assert is_flat([10.0, 10.5, 10.2])
    assert is_flat(_series(lambda at: 10.0, 12, 1))
    assert not is_flat(_series(lambda at: 15 - 5 * at, 12, 1))
    assert is_flat([10.0, 10.0, 10.0, 10.0, 30.0, 10.0, 10.0, 10.0, 10.0]), "one block that sticks out is not a level"


def test_compilers_rest_when_the_last_blocks_had_little_of_them() -> None:
    blocks_ns = [10_000_000] * 60
    assert compilers_rest(blocks_ns, [9_000_000] * 40 + [0] * 20)
    assert not compilers_rest(blocks_ns, [9_000_000] * 50 + [0] * 10)  # a lull of a tenth of a second
    assert compilers_rest(blocks_ns[:1], [0])
    assert not compilers_rest([500_000_000], [100_000_000])
