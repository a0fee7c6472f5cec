"""`--within` while a run goes on: a delayed run begins no set that would outlast it, and says so."""

from __future__ import annotations

import pytest

from rowpath.execution import run_options
from rowpath.execution.run_options import TimeLimit


class Clock:
    """Stands in for the clock: sets last as long as the test says."""

    def __init__(self) -> None:
        self.now_s = 100.0

    def monotonic(self) -> float:
        return self.now_s


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(run_options, "time", made)
    return made


def measured(limit: TimeLimit, clock: Clock, each_s: list[float]) -> tuple[list[int], list[str]]:
    """The sets that began, and what was said."""
    begun, notes = [], []
    for number in limit.sets(len(each_s), notes.append):
        begun.append(number)
        clock.now_s += each_s[number]
    return begun, notes


def test_without_a_limit_every_set_begins(clock: Clock) -> None:
    assert measured(TimeLimit(None), clock, [1e6, 1e6, 1e6]) == ([0, 1, 2], [])


def test_sets_that_fit_all_begin(clock: Clock) -> None:
    assert measured(TimeLimit(60.0), clock, [20.0, 20.0, 20.0]) == ([0, 1, 2], [])


def test_a_delayed_run_begins_no_set_that_would_outlast_the_limit(clock: Clock) -> None:
    limit = TimeLimit(60.0)
    clock.now_s += 15  # engines took longer than estimated
    begun, notes = measured(limit, clock, [20.0, 20.0, 20.0])
    assert begun == [0, 1]
    assert notes == ["2 of 3 sets measured: another would exceed --within 1 min 00 s"]


def test_the_longest_set_is_what_the_next_is_expected_to_take(clock: Clock) -> None:
    assert measured(TimeLimit(60.0), clock, [30.0, 5.0, 5.0])[0] == [0, 1]


def test_the_first_set_always_begins(clock: Clock) -> None:
    limit = TimeLimit(5.0)
    clock.now_s += 10
    assert measured(limit, clock, [1.0, 1.0])[0] == [0]


def test_what_was_spent_before_and_what_comes_after_are_a_part_of_the_limit(clock: Clock) -> None:
    limit = TimeLimit(60.0, spent_s=15.0)
    limit.keep(10.0)
    assert measured(limit, clock, [17.0, 17.0, 17.0])[0] == [0, 1]
    assert measured(TimeLimit(60.0), clock, [17.0, 17.0, 17.0])[0] == [0, 1, 2]
