"""What is left of a run, renewed by what its steps really took."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rowpath.cli.plan import plan_for
from rowpath.machine import describe
from rowpath.model.progress import Step, TimeEstimate
from rowpath.planning.estimate import RATE_SEARCH, estimate, estimate_s
from rowpath.planning.overrides import Overrides
from rowpath.report.live import TimeLeft, TimeLeftOfBudget

SETS = 4
PHASES = {"read · cold": 1.0, "read · warm": 5.0, "read · steady": 4.0}
BEFORE_S = 20.0


def planned() -> TimeEstimate:
    steps = [Step(-1, "", BEFORE_S)]
    for set_number in range(SETS):
        steps += [Step(set_number, name, seconds) for name, seconds in PHASES.items()]
    return TimeEstimate(tuple(steps))


def test_on_plan_it_counts_down() -> None:
    left = TimeLeft(planned(), 0.0)
    assert left.seconds(0.0) == planned().total_s == 60.0
    assert left.seconds(5.0) == 55.0
    left.begins("read · cold", 20.0, 0)
    assert left.seconds(20.5) == 39.5


@pytest.mark.parametrize("slower", [0.5, 2.0])
def test_after_one_set_it_is_right_however_wrong_the_plan_was(slower: float) -> None:
    left, now = TimeLeft(planned(), 0.0), BEFORE_S * 3
    for set_number in range(2):
        for name, seconds in PHASES.items():
            left.begins(name, now, set_number)
            if set_number:
                still_s = slower * sum(PHASES.values()) * (SETS - 1) - (now - BEFORE_S * 3 - slower * 10.0)
                assert left.seconds(now) == pytest.approx(still_s)
            now += slower * seconds


def test_a_step_that_goes_on_too_long_adds_nothing_but_never_takes_away() -> None:
    left = TimeLeft(planned(), 0.0)
    assert left.seconds(1000.0) == 40.0, "what comes after the overdue beginning"
    left.begins("read · cold", 1000.0, 0)
    assert left.seconds(1000.0) == 40.0, "a slow beginning says nothing of the sets"


def test_a_step_far_enough_is_estimated_by_its_own_pace() -> None:
    left = TimeLeft(planned(), 0.0)
    for name, begins_s in zip(PHASES, (50.0, 51.0, 56.0), strict=True):
        left.begins(name, begins_s, SETS - 1)
    left.done(0.1)
    assert left.seconds(58.0) == 2.0, "by the plan"
    left.done(0.5)
    assert left.seconds(86.0) == 30.0, "half took 30 s"
    left.done(1.0)
    assert left.seconds(120.0) == 0.0


def test_a_time_is_all_that_is_known_before_there_are_sets() -> None:
    left = TimeLeftOfBudget(60.0, 10.0)
    assert left.seconds(30.0) == 40.0
    assert left.seconds(71.0) is None
    left.begins(70.0, 0, 6)
    assert left.seconds(71.0) is None
    left.begins(80.0, 1, 6)
    assert left.seconds(80.0) == pytest.approx(50.0)
    left.done(0.5)
    assert left.seconds(85.0) == pytest.approx(45.0)


def test_what_was_left_out_of_a_set_does_not_come_any_more() -> None:
    left = TimeLeft(planned(), 0.0)
    left.begins("read · cold", 20.0, 0)
    left.begins("read · cold", 21.0, 1)
    assert left.seconds(21.0) == 30.0
    left.begins("never planned", 22.0, 1)
    assert left.seconds(22.0) == 29.0


def test_no_one_knows_how_long_sets_for_wide_intervals_take() -> None:
    left = TimeLeft(planned(), 0.0)
    left.begins("read · cold", 60.0, SETS)
    assert left.seconds(60.0) is None


def test_stages_of_paths_in_any_order_are_known_by_name() -> None:
    steps = [Step(number, f"{path} · reads", 10.0) for number in range(2) for path in "ab"]
    left = TimeLeft(TimeEstimate((Step(-1, "", 5.0), *steps)), 0.0)
    left.begins("b · reads", 5.0)
    left.begins("a · reads", 25.0)
    assert left.seconds(25.0) == pytest.approx(20.0 + 2 * 10.0 * 40 / 30), "b takes twice as long; so may a, a little"


def test_a_rate_search_that_no_one_is_told_of_counts_down_after_the_last_stage() -> None:
    steps = (Step(-1, "", 5.0), Step(0, "a · reads", 10.0), Step(1, "a · search", 30.0, announced=False))
    left = TimeLeft(TimeEstimate(steps), 0.0)
    left.begins("a · reads", 5.0)
    assert left.seconds(10.0) == 35.0
    assert left.seconds(25.0) == 20.0
    assert left.seconds(100.0) == 0.0


def test_the_steps_of_a_plan_are_those_that_the_progress_is_told_of() -> None:
    tour = estimate(plan_for("tour", {"engine": ("sqlite", "null")}, Overrides(sets=2), seed=1))
    regimes = ("cold", "warm", "steady")
    phases = ("keyed · read", "scan · read", "null · nothing")
    assert [step.name for step in tour.steps if step.set_number == 1] == [
        *(f"{phase} · cold" for phase in phases),
        *(f"{phase} · {regime}" for phase in phases for regime in regimes[1:]),
    ]
    assert {step.set_number for step in tour.steps} == {-1, 0, 1}
    groups = plan_for("reads-writes-backup", {"deployment": ("embedded",)}, Overrides(sets=1, p99="readers=5"), seed=1)
    stages = [stage.name for stage in groups.experiment.stages if not stage.extended]
    names = [step.name for step in estimate(groups).steps if step.name.startswith(groups.paths[0].name)]
    assert [name.partition(" · ")[2] for name in names] == [*stages, RATE_SEARCH]


def test_complete_sets_are_not_estimated_again() -> None:
    plan = plan_for("tour", {"engine": ("sqlite", "null")}, Overrides(sets=3), seed=1)
    rest = estimate(plan, done={(0, 0), (0, 1)})
    assert {step.set_number for step in rest.steps} == {-1, 2}
    assert rest.total_s < estimate_s(plan)


def test_a_slower_machine_takes_longer_but_blocks_take_what_they_take() -> None:
    plan = replace(plan_for("tour", {"engine": ("sqlite", "null")}, Overrides(sets=1), seed=1), slowness=1.0)
    usual, slow = estimate(plan), estimate(replace(plan, slowness=2.0))
    work_s = slow.total_s - usual.total_s
    assert 0 < work_s < usual.total_s
    assert slow.steps[0].seconds == pytest.approx(2 * usual.steps[0].seconds)  # before the first set: work only


def test_the_slowness_of_this_machine_is_a_ratio_within_its_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    loops_s = iter([4 * describe.TURNS_S, 9 * describe.TURNS_S] * describe.TRIES)
    monkeypatch.setattr(describe, "_loop_s", lambda: next(loops_s))
    assert describe.slowness.__wrapped__() == pytest.approx(2.0)
    monkeypatch.setattr(describe, "_loop_s", lambda: 1e9)
    assert describe.slowness.__wrapped__() == describe.MOST_SLOWNESS
