"""A pause of a path's own raises its mean and is found; a neighbour's is not held against it."""

import math
import random
import statistics

import pytest

from rowpath.analysis.statistics.periodic import BlockCost, excess

SETS, ROUNDS, BLOCK_NS = 6, 15, 10e6


def _sets(
    seed: int, pause_ns: float = 0.0, *, every: int = 20, burns: bool = True, waits: bool = False
) -> list[list[BlockCost]]:
    """Blocks of 10 ms; every `every`th takes `pause_ns` longer: burnt, slept, or spent waiting for the core."""
    rng = random.Random(seed)
    block = rng.randrange(every)
    made = []
    for _ in range(SETS):
        loads = []
        for _ in range(ROUNDS):
            own = BLOCK_NS * math.exp(rng.gauss(0, 0.01))
            extra = pause_ns if block % every == 0 else 0.0
            loads.append(BlockCost(own + extra, extra if waits else 1e4, own + (extra if burns else 0)))
            block += 1
        made.append(loads)
    return made


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("burns", [True, False])
def test_8_ms_in_each_twentieth_block_are_4_percent_of_the_mean_and_none_of_the_median(seed: int, burns: bool) -> None:
    made = _sets(seed, 8e6, burns=burns)
    quiet = _sets(seed)
    found = excess(made)
    assert found.found is not None
    assert found.wall is not None
    assert math.expm1(found.wall.mean) == pytest.approx(0.04, abs=0.01)
    middles = [statistics.median(block_cost.cost_ns for block_cost in loads) for loads in made]
    before = [statistics.median(block_cost.cost_ns for block_cost in loads) for loads in quiet]
    assert statistics.fmean(middles) == pytest.approx(statistics.fmean(before), rel=0.003)
    assert found.cpu is not None
    assert (math.expm1(found.cpu.mean) > 0.03) is burns


@pytest.mark.parametrize("seed", range(20))
def test_none_is_found_without_one(seed: int) -> None:
    assert excess(_sets(seed)).found is None


@pytest.mark.parametrize("seed", range(10))
def test_waiting_for_a_core_that_a_neighbour_holds_is_not_the_paths_cost(seed: int) -> None:
    assert excess(_sets(seed, 8e6, burns=False, waits=True)).found is None


def test_a_single_outlier_is_no_period() -> None:
    made = _sets(1)
    made[2][3] = BlockCost(BLOCK_NS * 5, 1e4, BLOCK_NS * 5)
    assert excess(made).found is None


def test_single_samples_say_nothing() -> None:
    assert excess([[BlockCost(1.0)], [BlockCost(2.0)]]).wall is None
