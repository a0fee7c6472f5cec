"""`--within`: the most certain run that ends in time, what it costs in words, and the least time there is."""

from __future__ import annotations

from dataclasses import replace

import msgspec
import pytest

from rowpath.analysis.statistics.intervals import SETS_FOR_CLAIMS
from rowpath.cli import arguments
from rowpath.cli.plan import plan_for, plan_within
from rowpath.errors import UsageError
from rowpath.planning import overrides
from rowpath.planning.estimate import estimate_s
from rowpath.planning.experiment_file import load_experiment, names
from rowpath.planning.overrides import Overrides, overridden
from rowpath.planning.plan import Plan

FEW = {"language": ("c",), "engine": ("sqlite", "null")}
NOTHING = Overrides()
DEFAULT_S = 600.0


def fitted(seconds: float, asked: Overrides = NOTHING, name: str = "tour") -> tuple[Plan, str]:
    return plan_within(name, FEW, asked, seconds, seed=1)


def least_s(name: str, filters: dict[str, tuple[str, ...]]) -> float:
    """The least that the refusal names."""
    with pytest.raises(UsageError) as raised:
        plan_within(name, filters, NOTHING, 1.0, seed=1)
    return float(raised.value.hint.partition("--within ")[2].partition("s")[0])


def test_it_ends_in_time_and_more_time_is_never_less_certain() -> None:
    last = (0, 0, 0.0)
    for seconds in range(round(least_s("tour", FEW)), 120, 3):
        plan, said = fitted(seconds)
        measure = plan.experiment.measure
        assert estimate_s(plan) * overrides.MARGIN <= seconds
        assert measure.max_sets == measure.sets
        now = (measure.sets, measure.rounds, measure.warm_cap_s)
        if measure.sets == last[0]:
            assert now >= last, said
        assert now[0] >= last[0]
        last = now
    assert last[0] == overrides.MOST_SETS


def test_what_it_costs_is_said() -> None:
    usual_s = estimate_s(plan_for("tour", FEW, seed=1)) * overrides.MARGIN
    three = estimate_s(plan_for("tour", FEW, Overrides(sets=3), seed=1)) * overrides.MARGIN
    assert "10 sets instead of 6" in fitted(600.0)[1]
    assert fitted(usual_s + 0.1)[1].endswith("measured as without --within")
    plan, said = fitted(three + 0.1)
    assert plan.experiment.measure.sets >= 3
    if plan.experiment.measure.sets < 6:
        assert "instead of 6 (provisional: no difference is claimed)" in said
    assert overrides.CLAIM_SETS == SETS_FOR_CLAIMS


def test_too_little_names_the_least_which_then_suffices() -> None:
    with pytest.raises(UsageError, match="is too short for the 3 paths of 'tour'") as raised:
        fitted(2.0)
    assert raised.value.hint.startswith("rowpath run tour --within ")
    least = least_s("tour", FEW)
    plan, said = fitted(least)
    assert plan.experiment.measure.sets == 1
    assert said.startswith("within ")
    with pytest.raises(UsageError):
        fitted(least - 2)


def test_sizes_shrink_where_there_are_any_and_what_was_asked_for_stays() -> None:
    rows = {"engine": ("sqlite",)}
    least = least_s("bulk-retrieval", rows)
    small, said = plan_within("bulk-retrieval", rows, NOTHING, least, seed=1)
    assert small.experiment.scale < 0.1
    assert f"scale {small.experiment.scale:g} instead of 0.1" in said
    assert small.workloads["tpch"].tables["orders"].rows == round(1_500_000 * small.experiment.scale)
    asked = Overrides(scale=0.05, warm_cap_s=0.6)
    kept, said = plan_within("bulk-retrieval", rows, asked, 60.0, seed=1)
    assert (kept.experiment.scale, kept.experiment.measure.warm_cap_s) == (0.05, 0.6)
    assert "scale" not in said


def test_stages_shrink_but_not_those_that_wait_for_something() -> None:
    filters = {"deployment": ("embedded",)}
    least = least_s("reads-writes-backup", filters)
    plan, said = plan_within("reads-writes-backup", filters, NOTHING, least, seed=1)
    assert {stage.seconds for stage in plan.experiment.stages if not stage.until} == {overrides.LEAST_STAGE_S}
    assert {stage.seconds for stage in plan.experiment.stages if stage.until} == {120.0}
    assert "1 s of a stage instead of 2" in said


@pytest.mark.parametrize("name", names())
def test_every_default_ends_within_ten_minutes(name: str) -> None:
    assert estimate_s(replace(plan_for(name, {}, seed=1), slowness=1.0)) <= DEFAULT_S


def test_rigorous_has_the_long_one() -> None:
    file = load_experiment("reads-writes-backup")
    usual, long = overridden(file, NOTHING), overridden(file, Overrides(sets=10, rigorous=True))
    assert (usual.scale, long.scale) == (0.1, 1.0)
    assert [stage.seconds for stage in long.stages if not stage.until] == [3.0] * (len(long.stages) - 1)
    asked = overridden(file, Overrides(rigorous=True, scale=0.5, seconds=1.0))
    assert (asked.scale, asked.stages[0].seconds) == (0.5, 1.0)
    bare = msgspec.structs.replace(file.experiment, name="bare")
    assert overridden(load_experiment("tour"), Overrides(rigorous=True)) == load_experiment("tour").experiment
    assert bare.rigorous.scale == 1.0


@pytest.mark.parametrize(("text", "seconds"), [("3m", 180.0), ("90s", 90.0), ("90", 90.0), ("1.5min", 90.0)])
def test_durations_as_elsewhere(text: str, seconds: float) -> None:
    assert arguments.parse(["run", "tour", "--within", text]).within_s == seconds


@pytest.mark.parametrize("text", ["3x", "soon", "-1", "0s", "inf", "nan"])
def test_no_duration(text: str) -> None:
    with pytest.raises(UsageError, match="--within"):
        arguments.parse(["run", "tour", f"--within={text}"])


@pytest.mark.parametrize("other", [["--fast"], ["--rigorous"], ["-r", "2"]])
def test_it_chooses_the_sets_itself(other: list[str]) -> None:
    with pytest.raises(UsageError, match="not allowed with"):
        arguments.parse(["run", "tour", "--within", "3m", *other])
