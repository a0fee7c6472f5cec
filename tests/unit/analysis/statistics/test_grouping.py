"""Order, ties and differences, by simulation of whole rankings."""

import math
import random

from rowpath.analysis.statistics.grouping import RankedItem, ranked_in_tiers
from rowpath.analysis.statistics.intervals import Interval, student


def _ranking(rng: random.Random, truths: list[float], sets: int = 6, spread: float = 0.008) -> list[RankedItem[int]]:
    """Place paths of these true costs from noisy sets (spread per path: 0.8 %, as between processes)."""
    speed = [rng.gauss(0, 0.05) for _ in range(sets)]
    logs = [[math.log(truth) + drift + rng.gauss(0, spread) for drift in speed] for truth in truths]

    def compare(a: int, b: int) -> Interval | None:
        return student([x - y for x, y in zip(logs[a], logs[b], strict=True)])

    return ranked_in_tiers(list(range(len(truths))), lambda item: math.exp(logs[item][0]), compare)


def test_the_same_path_under_two_names_differs_in_5_and_is_apart_in_none_of_100() -> None:
    rng = random.Random(1)
    placed = [_ranking(rng, [1.0, 1.0]) for _ in range(2_000)]
    assert 0.035 <= sum(each[1].differs for each in placed) / 2_000 <= 0.065
    assert all(each[1].tier == 0 and each[1].rank == 1 for each in placed)


def test_a_family_of_equal_paths_has_a_false_difference_in_at_most_5_of_100() -> None:
    rng = random.Random(2)
    placed = [_ranking(rng, [1.0] * 8) for _ in range(1_000)]
    assert sum(any(item.differs for item in each) for each in placed) / 1_000 <= 0.065
    assert sum(any(item.tier for item in each) for each in placed) <= 2


def test_a_true_3_percent_differs_in_at_least_90_of_100() -> None:
    rng = random.Random(3)
    placed = [_ranking(rng, [1.03, 1.0]) for _ in range(500)]
    assert sum(each[1].differs and each[0].item == 1 for each in placed) / 500 >= 0.9


def test_ranks_groups_and_ratios() -> None:
    placed = _ranking(random.Random(4), [2.0, 1.0, 4.0, 1.001, 2.002], spread=0.001)
    assert {item.item for item in placed[:2]} == {1, 3}
    assert [item.rank for item in placed] == [1, 1, 3, 3, 5]
    assert [item.tier for item in placed] == [0, 0, 1, 1, 2]
    last = placed[-1].to_fastest
    assert last is not None
    assert abs(last.ratio - 4) < 0.05
    assert placed[2].differs
    assert not placed[0].differs


def test_with_fewer_than_6_sets_nothing_differs() -> None:
    placed = _ranking(random.Random(5), [1.0, 2.0], sets=5, spread=0.001)
    assert [item.differs for item in placed] == [False, False]
    assert [item.rank for item in placed] == [1, 2]


def test_one_set_ties_everything_and_nothing_is_no_error() -> None:
    assert [item.rank for item in _ranking(random.Random(6), [1.0, 9.0], sets=1)] == [1, 1]
    assert ranked_in_tiers([], lambda item: 1.0, lambda a, b: None) == []


def test_paths_that_never_met_are_not_ranked_apart() -> None:
    placed = ranked_in_tiers(
        ["a", "b"], {"a": 1.0, "b": 5.0}.__getitem__, lambda a, b: student([0.0, 0.0]) if a == b else None
    )
    assert [(item.item, item.rank, item.to_fastest is None) for item in placed] == [("a", 1, False), ("b", 1, True)]
