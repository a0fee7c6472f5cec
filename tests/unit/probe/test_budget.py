"""A probe's budget: what fits, what is left for the full sets, how it is given."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from rowpath.cli.options import duration_s
from rowpath.cli.probe import LEAST_BUDGET_S
from rowpath.errors import UsageError
from rowpath.model.path import AccessPath
from rowpath.own_database.throttled_worker import FULL_SETS_MOST, Budget, DatabaseRest
from rowpath.probe import full_sets
from rowpath.probe.full_sets import affordable, blocks_of_round, plan_full_sets, set_s

PATH = AccessPath.of({"result": "whole"})


def a_clock() -> tuple[list[float], Callable[[], float]]:
    now = [100.0]
    return now, lambda: now[0]


def test_a_budget_counts_down_and_never_below_nothing() -> None:
    now, clock = a_clock()
    budget = Budget(60.0, 0.5, clock)
    budget.begin()
    now[0] += 15
    assert (budget.spent_s, budget.left_s) == (15, 45)
    now[0] += 100
    assert budget.left_s == 0


def test_a_budget_begins_with_the_first_try_and_only_once() -> None:
    now, clock = a_clock()
    budget = Budget(60.0, 1.0, clock)
    now[0] += 500  # building, connecting, describing
    assert (budget.spent_s, budget.left_s) == (0, 60)
    budget.begin()
    now[0] += 10
    budget.begin()
    assert (budget.spent_s, budget.left_s) == (10, 50)


def test_a_rest_follows_each_block_and_other_things_are_done_in_it() -> None:
    now, clock = a_clock()
    slept: list[float] = []
    rest = DatabaseRest(Budget(60.0, 0.5), clock, slept.append)
    rest.wait()
    rest.after(PATH, now[0], 3.0, 1)
    now[0] += 2  # a process was started meanwhile
    rest.wait()
    rest.after(PATH, now[0], 0.0, 1)  # what did nothing does not shorten it
    rest.wait()
    now[0] += 5
    rest.wait()
    assert slept == [1.0, 1.0]
    unlimited = DatabaseRest(Budget(60.0), clock, slept.append)
    unlimited.after(PATH, now[0], 3.0, 1)
    unlimited.wait()
    assert len(slept) == 2


def test_the_search_leaves_time_for_the_full_sets_but_never_all_of_it() -> None:
    budget = Budget(120.0)
    assert budget.search_s(20) == 100
    assert budget.search_s(1000) == pytest.approx((1 - FULL_SETS_MOST) * 120)


def test_a_twentieth_of_the_budget_is_too_long_for_one_execution_and_half_of_the_time_is_rest() -> None:
    budget = Budget(60.0, 0.5)
    assert not budget.too_long(3.0)
    assert budget.too_long(3.01)
    assert [budget.maybe_too_long(first_s) for first_s in (3.0, 3.01, 15.0)] == [False, True, False]
    assert budget.wall_s(PATH, 1.0) == 2.0


def test_a_rest_is_no_longer_than_the_server_takes_to_deliver_the_rows() -> None:
    budget = Budget(60.0, 0.5, delivery_s=0.02)
    assert budget.rest_s(PATH, 0.03, 2) == 0.03  # a client as fast as the server
    assert budget.rest_s(PATH, 0.34, 2) == 0.04
    assert budget.wall_s(PATH, 0.17) == pytest.approx(0.19)
    cursor = AccessPath.of({"result": "cursor:1000"})
    assert budget.rest_s(cursor, 0.34, 2) == 0.34  # more work than a drain
    assert Budget(60.0).rest_s(PATH, 0.34, 2) == 0  # a file's reader rests never


def test_what_fits_is_counted_in_order() -> None:
    assert affordable([1, 2, 3], 3.5) == 2
    assert affordable([1, 2, 3], 100) == 3
    assert affordable([50, 2], 1) == 1  # one at least
    assert blocks_of_round([0.5, 0.5], 10, 4, 32) == 10
    assert blocks_of_round([5, 5], 10, 4, 32) == 4
    assert blocks_of_round([0.001], 10, 4, 32) == 32


@pytest.mark.parametrize("left_s", [2.0, 20.0, 200.0])
@pytest.mark.parametrize("block_s", [0.01, 0.2, 1.0])
def test_the_last_stage_fits_into_what_is_left_or_gives_up_sets(left_s: float, block_s: float) -> None:
    plan = plan_full_sets([2 * block_s] * 6, [0.05] * 6, left_s, 0.0, 2, 6)
    assert 1 <= plan.sets <= full_sets.FULL_SETS
    least = 1 if 2 * block_s > full_sets.LONG_BLOCK_S else full_sets.LEAST_BLOCKS
    assert least <= plan.rounds <= full_sets.MOST_BLOCKS
    busy_s = plan.sets * plan.finalists * (0.05 + block_s * (plan.rounds + 1) / 0.5)
    if plan.sets > 1:
        assert busy_s <= left_s * 1.5  # the first block of each counts as warming up
    if plan.finalists > 2:
        assert plan.sets == full_sets.FULL_SETS  # candidates are given up before sets


def test_who_is_needed_gets_six_sets_beyond_the_budget_and_others_do_not() -> None:
    late = plan_full_sets([1.0] * 6, [0.5] * 6, 0.0, 100.0, 4, 6)
    assert (late.finalists, late.sets, late.rounds) == (4, full_sets.FULL_SETS, 1), "a long block averages by itself"
    quick = plan_full_sets([0.05] * 6, [0.5] * 6, 0.0, 100.0, 4, 6)
    assert (quick.finalists, quick.sets, quick.rounds) == (4, full_sets.FULL_SETS, full_sets.LEAST_BLOCKS)
    much_later = plan_full_sets([10.0] * 6, [0.5] * 6, 0.0, 100.0, 4, 6)
    assert (much_later.finalists, much_later.rounds) == (4, 1)
    assert much_later.sets < full_sets.FULL_SETS


def test_six_cheap_candidates_all_get_six_sets() -> None:
    plan = plan_full_sets([0.02] * 6, [0.1] * 6, 40.0, 60.0, 2, 6)
    assert (plan.finalists, plan.sets) == (6, 6)
    assert plan.rounds == full_sets.MOST_BLOCKS


@pytest.mark.parametrize(("text", "wanted"), [("60s", 60), ("2min", 120), ("90", 90), ("1.5m", 90), ("5000ms", 5)])
def test_a_budget_is_read_with_its_unit(text: str, wanted: float) -> None:
    assert duration_s("--budget", text, LEAST_BUDGET_S) == wanted


@pytest.mark.parametrize("text", ["", "s", "1s", "nan", "60 parsecs", "-5s", "infs"])
def test_a_budget_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="--budget"):
        duration_s("--budget", text, LEAST_BUDGET_S)


def test_a_full_set_of_several_batches_repeats_its_first_member() -> None:
    one = set_s([0.1] * 5, [0.2] * 5, 1, 5)
    three = set_s([0.1] * 5, [0.2] * 5, 1, 3)  # the first and two others at once
    assert one == pytest.approx(5 * (0.2 + 2 * 0.1) + full_sets.BATCH_S)
    assert three == pytest.approx(one + (0.2 + 2 * 0.1) + full_sets.BATCH_S)
    assert set_s([], [], 1, 3) == 0
