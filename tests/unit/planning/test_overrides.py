"""What `-R`, `--p99` and `--seconds` change in an experiment's groups."""

from __future__ import annotations

import msgspec
import pytest

from rowpath.errors import UsageError
from rowpath.model.experiment import ClientGroupTable, Experiment
from rowpath.planning.experiment_file import load_experiment
from rowpath.planning.overrides import changed_groups


@pytest.fixture
def experiment() -> Experiment:
    return load_experiment("reads-writes-backup").experiment


def group(experiment: Experiment, name: str) -> ClientGroupTable:
    return next(each for each in experiment.client_groups if each.name == name)


def test_nothing_asked_changes_nothing(experiment: Experiment) -> None:
    assert changed_groups(experiment, [], "", 0.0) is experiment


def test_a_rate_of_all_groups_with_an_operation(experiment: Experiment) -> None:
    paced = changed_groups(experiment, ["2000"], "", 0.0)
    told = {each.name: (each.pacing, each.rate_per_s) for each in paced.client_groups}
    assert told["readers"] == told["writers"] == ("poisson", 2000.0)
    assert told["backup"] == ("closed", 0.0)


def test_a_rate_of_one_group_at_equal_distances_in_every_stage(experiment: Experiment) -> None:
    stages = tuple(msgspec.structs.replace(each, rates={"readers": 9.0, "writers": 7.0}) for each in experiment.stages)
    paced = changed_groups(msgspec.structs.replace(experiment, stages=stages), ["readers=500,fixed"], "", 0.0)
    assert (group(paced, "readers").pacing, group(paced, "readers").rate_per_s) == ("fixed", 500.0)
    assert group(paced, "writers").pacing == "closed"
    assert {tuple(each.rates.items()) for each in paced.stages} == {(("writers", 7.0),)}
    again = changed_groups(paced, ["readers=600"], "", 0.0)
    assert (group(again, "readers").pacing, group(again, "readers").rate_per_s) == ("fixed", 600.0), "it stays fixed"


def test_a_bound_makes_a_search(experiment: Experiment) -> None:
    paced = changed_groups(experiment, ["readers=300"], "readers=2.5", 0.0)
    assert paced.rate_search is not None
    assert (paced.rate_search.client_group, paced.rate_search.p99_ms, paced.rate_search.begin_per_s) == (
        "readers",
        2.5,
        300.0,
    )
    assert group(paced, "readers").pacing == "poisson"


def test_seconds_leave_what_waits_for_something(experiment: Experiment) -> None:
    paced = changed_groups(experiment, [], "", 1.5)
    before = {each.name: each.seconds for each in experiment.stages}
    for each in paced.stages:
        assert each.seconds == (before[each.name] if each.until else 1.5)
    assert any(each.until for each in paced.stages)


@pytest.mark.parametrize(
    ("rates", "p99", "seconds", "message", "hint"),
    [
        (["readrs=5"], "", 0.0, "unknown group 'readrs'", "did you mean 'readers'"),
        (["backup=5"], "", 0.0, "unknown group 'backup' with operations", "readers"),
        (["readers=fast"], "", 0.0, "invalid number 'fast'", "-R readers=500"),
        (["-1"], "", 0.0, "invalid number '-1'", "-R"),
        (["readers=5,fixd"], "", 0.0, "unknown open loop 'fixd'", "did you mean 'fixed'"),
        (["readers=5,"], "", 0.0, "unknown open loop ''", "poisson"),
        ([], "readers", 0.0, "--p99 readers: expected a group and a bound in milliseconds", "--p99 readers=5"),
        ([], "readers=0", 0.0, "invalid number '0'", "--p99 readers=5"),
        ([], "", -2.0, "--seconds -2", "--seconds 10"),
    ],
)
def test_what_cannot_be(
    experiment: Experiment, rates: list[str], p99: str, seconds: float, message: str, hint: str
) -> None:
    with pytest.raises(UsageError) as raised:
        changed_groups(experiment, rates, p99, seconds)
    assert message in raised.value.message
    assert hint in raised.value.hint


def test_an_experiment_without_groups() -> None:
    with pytest.raises(UsageError, match="-R: 'tour' has no client groups") as raised:
        changed_groups(load_experiment("tour").experiment, ["5"], "", 0.0)
    assert raised.value.hint == "rowpath run reads-writes-backup"
