"""Ratios of two sides of runs: an unchanged path is seldom called changed, whatever the machine's drift."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass

import pytest

from rowpath.analysis.comparison.compare import LEAST_UNCHANGED, Drift, compare_sides, drift_of
from rowpath.analysis.statistics.grouping import holm
from rowpath.analysis.statistics.intervals import Interval

TRIALS = 100
FAMILY = 0.05
# The 99 % limit of a true 5 % in 100 trials.
MOST_FALSE = 0.11
Sides = tuple[tuple[float, ...], ...]


@dataclass(frozen=True)
class World:
    """Standard deviations of logarithms."""

    run: float  # of the machine's speed, from run to run
    path_in_run: float  # of one path beside it
    set: float  # of the machine's speed within a run, from set to set
    path_in_set: float


QUIET = World(run=0.005, path_in_run=0.003, set=0.005, path_in_set=0.006)
WORLDS = {
    "quiet": QUIET,
    "drifting": World(run=0.03, path_in_run=0.01, set=0.02, path_in_set=0.01),
    "each run a level of its own": World(run=0.1, path_in_run=0.002, set=0.02, path_in_set=0.01),
    "each path a level of its own": World(run=0.0, path_in_run=0.03, set=0.02, path_in_set=0.01),
}


def compared(world: World, seed: int, *, paths: int = 10, runs: int = 1, change: float = 0.0) -> list[Interval]:
    """Intervals of the paths; the first one changed by the factor exp(change)."""
    rng = random.Random(seed)

    def side(changed: float) -> list[Sides]:
        levels = [
            [rng.gauss(0, world.run), *(rng.gauss(0, world.path_in_run) for _ in range(paths))] for _ in range(runs)
        ]
        sets = [[rng.gauss(0, world.set) for _ in range(6)] for _ in range(runs)]
        return [
            tuple(
                tuple(
                    levels[run][0] + levels[run][1 + path] + each + rng.gauss(0, world.path_in_set)
                    + (changed if path == 0 else 0.0)
                    for each in sets[run]
                )
                for run in range(runs)
            )
            for path in range(paths)
        ]  # fmt: skip

    base, head = side(0.0), side(change)
    drift = drift_of(list(zip(base, head, strict=True)))
    found = [compare_sides(one, other, drift) for one, other in zip(base, head, strict=True)]
    return [interval for interval in found if interval is not None]


def claims(intervals: list[Interval]) -> list[bool]:
    return holm([interval.p_value for interval in intervals])


@pytest.mark.parametrize("runs", [1, 2])
@pytest.mark.parametrize("world", WORLDS.values(), ids=WORLDS.keys())
def test_unchanged_paths_are_claimed_within_the_level(world: World, runs: int) -> None:
    false = sum(any(claims(compared(world, seed, runs=runs))) for seed in range(TRIALS))
    assert false <= MOST_FALSE * TRIALS


def test_sets_without_the_drift_between_runs_would_claim_too_much() -> None:
    """What the guard is for: the same data with a drift of 0 calls unchanged paths changed."""
    world = WORLDS["each run a level of its own"]
    false = 0
    for seed in range(TRIALS):
        rng = random.Random(seed)
        levels = rng.gauss(0, world.run), rng.gauss(0, world.run)
        sides = [tuple(level + rng.gauss(0, world.set) for _ in range(6)) for level in levels]
        interval = compare_sides((sides[0],), (sides[1],), Drift(0.0, LEAST_UNCHANGED))
        false += interval is not None and interval.p_value < FAMILY
    assert false > 0.5 * TRIALS


def test_five_per_cent_is_found_on_a_quiet_machine() -> None:
    five = math.log(1.05)
    found = [compared(QUIET, seed, runs=2, change=five) for seed in range(TRIALS)]
    assert sum(claims(intervals)[0] for intervals in found) >= 0.75 * TRIALS
    assert sum(any(claims(intervals)[1:]) for intervals in found) <= MOST_FALSE * TRIALS
    assert sum(intervals[0].low <= five <= intervals[0].high for intervals in found) >= 0.9 * TRIALS


def test_a_change_of_a_minority_is_not_taken_for_drift() -> None:
    rng = random.Random(1)
    sides = [tuple(rng.gauss(0, 0.001) for _ in range(6)) for _ in range(20)]
    moved = [tuple(value + (0.5 if path < 4 else 0) for value in side) for path, side in enumerate(sides[10:])]
    drift = drift_of([((one,), (other,)) for one, other in zip(sides[:10], moved, strict=True)])
    assert drift.known and drift.variance < 0.001**2


def test_a_common_shift_widens_every_interval() -> None:
    rng = random.Random(1)
    sides = [tuple(rng.gauss(0, 0.001) for _ in range(6)) for _ in range(20)]
    moved = [tuple(value + 0.1 for value in side) for side in sides[10:]]
    drift = drift_of([((one,), (other,)) for one, other in zip(sides[:10], moved, strict=True)])
    interval = compare_sides((sides[0],), (moved[0],), drift)
    assert interval is not None and interval.low < 0 < interval.high
    assert interval.mean == pytest.approx(0.1, abs=0.005)  # nothing is divided out


def test_few_unchanged_paths_and_one_run_a_side_give_no_interval() -> None:
    pair = ((0.0, 0.01, 0.02),), ((0.1, 0.11, 0.12),)
    interval = compare_sides(*pair, drift_of([pair] * (LEAST_UNCHANGED - 1)))
    assert interval is not None and not math.isfinite(interval.high) and interval.p_value == 1.0


def test_repeated_runs_suffice_without_unchanged_paths() -> None:
    base, head = ((0.0, 0.001), (0.002, 0.001)), ((0.2, 0.201), (0.202, 0.201))
    interval = compare_sides(base, head, Drift(0.0, 0))
    assert interval is not None and interval.low > 0.15 and interval.high < 0.25 and interval.degrees == 2


def test_a_side_without_values_has_no_ratio() -> None:
    assert compare_sides((), ((0.0, 0.1),), Drift(0.0, 9)) is None
