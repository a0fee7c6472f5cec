from __future__ import annotations

import msgspec
import pytest

from rowpath.cli.plan import plan_for
from rowpath.engines import ENGINES
from rowpath.engines.base import BacksUp
from rowpath.errors import UsageError
from rowpath.model.experiment import ClientGroupTable, Experiment, Selection, StageTable
from rowpath.planning.client_groups import stages_left_out, stages_of
from rowpath.planning.estimate import described, estimate_s
from rowpath.planning.experiment_file import load_experiment, load_workloads
from rowpath.planning.make_plan import SET_LIMIT, make_plan
from rowpath.planning.plan import Plan

GROUPS = (
    ClientGroupTable("readers", "keyed.read"),
    ClientGroupTable("writers", "tab1.update"),
    ClientGroupTable("backup", action="backup"),
)
STRETCHES = (
    StageTable("reads", ("readers",), 5.0),
    StageTable("with a backup", ("readers", "backup"), until="backup"),
    StageTable("killed", ("writers",), 4.0, kill_s=1.5),
    StageTable("more", ("readers",), extended=True),
)


def planned(*selects: dict[str, str | tuple[str, ...]], groups: tuple[ClientGroupTable, ...] = GROUPS) -> Plan:
    phases = ("keyed.read", "tab1.update")
    stages = STRETCHES if groups else ()
    selections = tuple(Selection(select=select) for select in selects)
    experiment = Experiment(1, "t", "t", phases, selections, client_groups=groups, stages=stages)
    return make_plan(experiment, load_workloads(experiment), {}, seed=1)


def test_every_path_stands_once_however_many_there_are() -> None:
    every: dict[str, str | tuple[str, ...]] = {"engine": "postgresql", "statement": "*", "result": "*"}
    assert len(planned(every, groups=()).batches) > 1
    plan = planned(every)
    assert len(plan.paths) > SET_LIMIT
    assert (plan.batches, plan.anchors) == ((plan.paths,), ())


@pytest.mark.parametrize(
    ("select", "why"),
    [
        ({"engine": "lmdb"}, "lmdb has only one connection"),
        ({"engine": "cobol"}, "gnucobol has only one connection"),
        ({"engine": "postgresql", "driver": "ecpg"}, "ecpg has only one connection"),
    ],
)
def test_who_has_no_place_in_a_group_is_left_out_with_words(select: dict[str, str | tuple[str, ...]], why: str) -> None:
    # Where a driver is not here, that is what the plan says of it.
    alone, here = planned(select, groups=()), planned(select)
    assert not here.paths
    assert len(here.dropped) == len(alone.dropped) + len(alone.paths)
    assert sum(dropped.reason.startswith(why) for dropped in here.dropped) == len(alone.paths)


def test_stages_that_a_path_cannot_run_are_named_with_the_reason() -> None:
    unnamed = planned({"engine": "sqlite", "driver": "sqlite"})
    assert [each[1:] for each in stages_left_out(unnamed)] == [
        ("'with a backup'", "its selection names no backup method (backup = '*')")
    ]
    assert [each.name for each in stages_of(unnamed.experiment, unnamed.paths[0], unnamed.extended)] == [
        "reads",
        "killed",
    ]
    assert not list(stages_left_out(planned({"engine": "sqlite", "driver": "sqlite", "backup": "api"})))


def test_the_plan_says_how_a_stage_ends() -> None:
    text = described(planned({"engine": "sqlite", "driver": "sqlite", "backup": "api"}))
    assert text == (
        "6 sets of 3 stages (reads 5 s, with a backup until backup is done, killed 4 s, the engine killed after 1.5 s)"
    )


def test_all_brings_in_every_engine_that_can_be_backed_up_and_extended_stages() -> None:
    experiment = load_experiment("reads-writes-backup").experiment
    stages = tuple(
        msgspec.structs.replace(each, extended=each.name.startswith("4 readers")) for each in experiment.stages
    )
    experiment = msgspec.structs.replace(experiment, stages=stages)
    few, every = (
        make_plan(experiment, load_workloads(experiment), {}, seed=1, extended=each) for each in (False, True)
    )
    able = {
        engine.name
        for engine in ENGINES.values()
        if isinstance(engine, BacksUp) and any(map(engine.backup_ways, engine.deployments))
    }
    assert {planned.path.get("engine") for planned in few.paths} == {"derby"}
    coordinates = [planned.path for planned in every.paths] + [dropped.path for dropped in every.dropped]
    assert {path.get("engine") for path in coordinates} == able
    assert [each.path for each in every.paths[: len(few.paths)]] == [each.path for each in few.paths]
    assert not list(stages_left_out(every))
    assert "4 readers" in described(every)
    assert "4 readers" not in described(few)
    assert estimate_s(every) > estimate_s(few)


def test_who_asks_for_an_engine_that_only_all_takes_is_told_of_it() -> None:
    with pytest.raises(UsageError) as raised:
        plan_for("reads-writes-backup", {"engine": ("h2",)}, seed=1)
    assert raised.value.hint == "rowpath run reads-writes-backup --all engine=h2"
