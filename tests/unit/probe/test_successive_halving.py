"""Which candidates of a probe go on, and how they share sets."""

from __future__ import annotations

import math
import random

import pytest

from rowpath.probe.successive_halving import (
    CostEstimate,
    batches,
    best_of_each,
    contested,
    finalists,
    going_on,
    halved,
    needed,
    survivors,
)


def estimates(**ratios: tuple[float, float]) -> dict[str, CostEstimate]:
    """By name: ratio and the factor either way."""
    return {
        name: CostEstimate(math.log(ratio), math.log(ratio / doubt), math.log(ratio * doubt))
        for name, (ratio, doubt) in ratios.items()
    }


def test_the_better_half_goes_on_and_whoever_overlaps_the_cut_off() -> None:
    found = estimates(a=(1.0, 1.01), b=(1.2, 1.01), c=(1.21, 1.02), d=(2.0, 1.05), e=(2.2, 2.0))
    assert survivors(found, 2) == ["a", "b", "c", "e"]  # c and e may be as good as b, d surely is not
    assert survivors(found, 2, protected=["d"]) == ["a", "b", "c", "d", "e"]
    assert survivors(found, 5) == ["a", "b", "c", "d", "e"]


def test_halving_ends_at_a_few_of_each_language() -> None:
    assert [halved(count) for count in (100, 13, 7, 4, 3, 2)] == [50, 7, 4, 3, 3, 2]


def language(name: str) -> str:
    return name[0]


def test_each_language_goes_on_with_its_better_half_without_who_is_surely_behind() -> None:
    found = estimates(
        c1=(1.0, 1.01), c2=(1.5, 1.01), c3=(1.01, 1.05), p1=(5.0, 1.5), p2=(5.5, 1.5), p3=(6.0, 1.5), p4=(30.0, 1.1)
    )
    assert going_on(found, language, ["c1"]) == [
        "c1",
        "c3",
        "p1",
        "p2",
        "p3",
    ]  # c2 and p4 are behind their language's best
    assert going_on(found, language, ["c1", "p4"]) == ["c1", "c3", "p1", "p2", "p3", "p4"]


def test_a_challenger_is_contested_until_it_can_be_little_faster_and_only_in_its_language() -> None:
    apart = estimates(c1=(1.0, 1.01), c2=(1.5, 1.01), p1=(5.0, 1.01), p2=(7.0, 1.1))
    assert contested(apart, language, []) == []
    assert contested({}, language, []) == []
    assert not contested(estimates(c1=(1.0, 1.01), c2=(1.005, 1.01)), language, [])  # at most 1.5 % faster
    near = estimates(c1=(1.0, 1.02), c2=(1.005, 1.02))
    assert contested(near, language, []) == ["c1", "c2"]  # may be 3.5 % faster
    assert contested(apart | estimates(p3=(5.1, 1.1)), language, []) == ["p1", "p3"]
    assert not contested(estimates(c1=(1.0, 1.01), p1=(1.05, 1.1)), language, [])  # of two languages


def test_a_baseline_contests_nothing_for_it_is_in_the_full_sets() -> None:
    behind = estimates(c1=(1.0, 1.01), c2=(1.05, 1.01))
    equal = estimates(c1=(1.0, 1.01), c2=(1.005, 1.01))
    unknown = estimates(c1=(1.0, 1.01), c2=(1.05, 1.1))
    for each in (behind, equal, unknown):
        assert contested(each, language, ["c2"]) == []
    assert contested(unknown | estimates(c3=(1.1, 1.2)), language, ["c2"]) == ["c1", "c3"]
    assert contested(unknown, language, ["c1"]) == ["c1", "c2"]  # who may be faster than a baseline challenges it
    assert needed(behind, language, ["c2"]) == needed(unknown, language, ["c2"]) == ["c1", "c2"]
    assert needed(equal, language, ["c2"]) == ["c2"]  # nothing to gain from another
    assert needed(behind | estimates(p1=(3.0, 1.1), p2=(4.0, 1.1)), language, ["c1"]) == ["c1", "p1"]


def test_a_drift_of_the_machine_does_not_move_a_ratio_of_interleaved_blocks() -> None:
    shuffle = random.Random(5)
    drift = [1 + turn for turn in range(20)]  # the machine gets twenty times slower
    compared_with = {turn: drift[turn] * shuffle.uniform(0.99, 1.01) for turn in range(20)}
    twice = {turn: 2 * drift[turn] * shuffle.uniform(0.99, 1.01) for turn in range(20)}
    found = CostEstimate.of_rounds(twice, compared_with)
    assert found is not None
    assert found.ratio == pytest.approx(2.0, rel=0.02)
    low, high = found.ends
    assert low is not None and high is not None
    assert 1.95 < low <= found.ratio <= high < 2.05
    assert CostEstimate.of_rounds({1: 1.0}, {2: 1.0}) is None
    single = CostEstimate.of_rounds({1: 3.0}, {1: 1.0})
    assert single is not None and single.ratio == pytest.approx(3) and single.ends == (None, None)


def test_all_who_are_needed_are_finalists_and_others_where_there_is_room() -> None:
    ordered = ["c1", "c2", "c3", "c4", "p1", "c5", "c6", "j1"]
    assert best_of_each(ordered, language) == ["c1", "p1", "j1"]
    assert finalists(["c1", "p1", "j1"], ordered) == ["c1", "p1", "j1", "c2", "c3", "c4"]
    assert finalists(["c1", "p1", "j1"], ordered, 2) == ["c1", "p1", "j1"]


def test_sets_share_their_first_and_hold_no_more_connections_than_allowed() -> None:
    assert batches(list("abcdefg"), 4) == [list("abcd"), list("aefg")]
    assert batches(list("abc"), 2) == [list("ab"), list("ac")]
    assert batches(["a"], 4) == [["a"]]
    # Paths of one language are compared in one set where they fit.
    assert batches(["c1", "p1", "j1", "p2", "c2", "j2"], 3, language) == [
        ["c1", "p1", "p2"],
        ["c1", "j1", "j2"],
        ["c1", "c2"],
    ]
    assert batches(["c1", "p1", "c2", "p2", "p3", "p4"], 4, language) == [["c1", "p1", "p2", "p3"], ["c1", "p4", "c2"]]
