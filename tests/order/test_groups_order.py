"""The order of an experiment of groups, with clients that work only on the shared counters, under every fault."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import msgspec
import pytest

from rowpath.errors import RowpathError
from rowpath.execution.mixed_load import durability
from rowpath.execution.mixed_load.durability import Restored
from rowpath.journal.mixed_load_records import AcknowledgedRecord, BackupCheck
from rowpath.journal.reader import Done
from rowpath.model.experiment import ClientGroupTable, Experiment, Measure, RateSearchTable, StageTable
from rowpath.model.path import AccessPath
from rowpath.planning.plan import Plan, PlannedPath
from rowpath.runners.process import RunnerFailure
from rowpath.workloads.workload_file import load_workload
from tests.order.groups_world import OPERATIONS, BackedUpInstance, GroupsRunner
from tests.order.order_world import Event, World, assert_all_stopped, failing, journal_of, planned, run

PHASES = ("library.read", "library.write")
READERS = ClientGroupTable(name="readers", phase="library.read", clients=2)
WRITERS = ClientGroupTable(name="writers", phase="library.write")
BACKUP = ClientGroupTable(name="backup", action="backup", times=2)
LATER = ClientGroupTable(name="later", phase="library.read", after="backup.end", times=3)
BOTH = StageTable(name="both", client_groups=("readers", "writers"), seconds=0.05)
WITH_BACKUP = StageTable(name="with a backup", client_groups=("readers", "backup"), seconds=5.0, until="backup")


@pytest.fixture
def groups(world: World, monkeypatch: pytest.MonkeyPatch) -> World:
    """The world with clients on the shared counters, and checks that always find what they look for."""
    world.runner_type, world.instance_type = GroupsRunner, BackedUpInstance

    def checked(*_arguments: object) -> AcknowledgedRecord:
        world.say("checked", "")
        return AcknowledgedRecord(rows=1, writes=1, lost=0, doubled=0, in_doubt=0, digest="", ok=True)

    def restoring(*_arguments: object) -> Restored:
        world.say("restoring", "")
        return Restored(ok=True, checked=BackupCheck(tables=1))

    monkeypatch.setattr(durability, "check", checked)
    monkeypatch.setattr(durability, "restore_check", restoring)
    return world


def make_plan(*stages: StageTable, sets: int = 1, sweep: RateSearchTable | None = None, **coordinates: str) -> Plan:
    paths = tuple(_path(*each, coordinates) for each in (("a", "sqlite", "embedded"), ("b", "postgresql", "server")))
    experiment = Experiment(
        1,
        "order",
        "Order",
        PHASES,
        (),
        measure=Measure(sets=sets, max_sets=sets, warm_cap_s=0.0),
        client_groups=(READERS, WRITERS, BACKUP, LATER),
        stages=stages,
        rate_search=sweep,
    )
    workload = load_workload("library")
    small = {name: msgspec.structs.replace(table, rows=20) for name, table in workload.tables.items()}
    phases = tuple(_small(phase) for phase in workload.phases if phase.name != "read-many")
    workload = msgspec.structs.replace(workload, tables=small, phases=phases)
    return Plan(experiment, {"library": workload}, paths, (), (paths,), (), 5, {}, False)


def _path(label: str, engine: str, deployment: str, more: dict[str, str]) -> PlannedPath:
    made = planned(label, engine, deployment, PHASES)
    coordinates = made.path.as_dict() | {"backup": "way", "placement": "free"} | more
    coordinates.pop("label")
    return PlannedPath(AccessPath.of(coordinates, label), made.adapter, PHASES, label)


def _small(phase: Any) -> Any:
    return msgspec.structs.replace(phase, parameters=msgspec.structs.replace(phase.parameters, n=20, count=20))


def of(records: list[dict[str, Any]], kind: str, label: str = "") -> list[dict[str, Any]]:
    return [
        r for r in records if r["record"] == kind and r.get("path_id", "").endswith(f"label={label}" if label else "")
    ]


def after_verification(world: World) -> list[Event]:
    last = max(at for at, event in enumerate(world.events) if event[0] == "verify")
    return [event for event in world.events[last:] if event[0] not in ("listen", "commits")]


def test_every_path_goes_through_all_stages_in_turn(groups: World, tmp_path: Path) -> None:
    only = StageTable(name="reads", client_groups=("readers",), seconds=0.05)
    records = run(groups, tmp_path, make_plan(only, BOTH, sets=2))
    assert_all_stopped(groups)
    for label in ("a", "b"):
        told = [(r["set"], r["stage"], r["client_group"]) for r in of(records, "client-group", label)]
        one = [("reads", "readers"), ("both", "readers"), ("both", "writers")]
        assert told == [(number, *each) for number in (0, 1) for each in one]
        starts = groups.happened("start", label)
        assert len(starts) == 1 + 2, "the proof, then one process in each set"
    assert {r["operations"] for r in of(records, "client-group") if r["client_group"] == "writers"} == {OPERATIONS}
    assert {r["operations"] for r in of(records, "client-group") if r["client_group"] == "readers"} == {2 * OPERATIONS}
    units = [(r["record"], r["set"], r["batch"]) for r in records if r["record"] in ("set", "set-end")]
    assert units[::2] == [("set", *each[1:]) for each in units[1::2]], "a path in a set is a unit of its own"
    assert sorted(units[1::2]) == [("set-end", number, path) for number in (0, 1) for path in (0, 1)]
    assert len(of(records, "acknowledged")) == 2 * 2


def test_what_is_written_is_looked_for_after_the_last_stage(groups: World, tmp_path: Path) -> None:
    run(groups, tmp_path, make_plan(BOTH))
    kinds = [event[0] for event in after_verification(groups)]
    assert (
        kinds.index("checked") > kinds.index("clientgroupsend") > kinds.index("clientgroups") > kinds.index("prepare")
    )


def test_a_server_is_reset_and_an_embedded_path_gets_a_new_copy(groups: World, tmp_path: Path) -> None:
    run(groups, tmp_path, make_plan(BOTH))
    events = after_verification(groups)
    assert [event[1] for event in events if event[0] == "runstatements"] == ["b"]
    assert [event[2] for event in events if event[0] == "copy"] == ["a"]


def test_groups_have_a_process_each_where_the_path_says_so(groups: World, tmp_path: Path) -> None:
    records = run(groups, tmp_path, make_plan(BOTH, processes="own"))
    assert_all_stopped(groups)
    assert len(groups.happened("start", "b")) == 1 + 2
    assert {g["client_group"]: g["process"] for r in of(records, "stage", "b") for g in r["client_groups"]} == {
        "readers": 0,
        "writers": 1,
    }


def test_a_backup_is_made_twice_then_restored(groups: World, tmp_path: Path) -> None:
    table = StageTable(name="then", client_groups=("backup", "later", "writers"), seconds=5.0, until="later")
    records = run(groups, tmp_path, make_plan(table))
    begun = [event[1] for event in groups.happened("begun")]
    assert begun[: len(begun) // 2] == ["writers", "backup-1", "backup-2", "later"]
    for label in ("a", "b"):
        made = of(records, "backup", label)
        assert [(r["number"], r["ok"], r["restored"]) for r in made] == [(1, True, True), (2, True, True)]
        assert made[0]["ended_ns"] <= made[1]["begun_ns"]
        assert set(made[0]["inside"]) == {"writers", "later"}
    kinds = [event[0] for event in after_verification(groups) if event[0] in ("clientgroupsend", "restoring")]
    assert kinds == ["clientgroupsend", "restoring", "restoring"] * 2, "outside every stage"


def test_a_backup_program_that_fails_is_a_failed_backup(groups: World, tmp_path: Path) -> None:
    groups.program = ("/bin/sh", "-c", "echo no room >&2; exit 3")
    records = run(groups, tmp_path, make_plan(WITH_BACKUP))
    assert_all_stopped(groups)
    made = of(records, "backup")
    assert [(r["ok"], r["restored"], r["reason"]) for r in made] == [
        (False, None, "sh ended with status 3: no room")
    ] * 4
    assert not groups.happened("restoring")


def test_a_runner_that_dies_in_a_stage(groups: World, tmp_path: Path) -> None:
    def dies(event: Event) -> None:
        if event[:2] == ("listen", "a") and "readers" in event:
            groups.runners["a"].living = False

    groups.fault = dies
    records = run(groups, tmp_path, make_plan(BOTH, StageTable(name="more", client_groups=("readers",), seconds=0.05)))
    assert [(r["stage"], r["cut"]) for r in of(records, "client-group", "a")] == [("both", True), ("both", True)]
    assert [(f["kind"], f["set"]) for f in of(records, "failure", "a")] == [("crashed", 0)]
    assert {r["stage"] for r in of(records, "client-group", "b")} == {"both", "more"}, "the others go on"


def test_a_server_that_dies_in_a_stage_is_started_again(groups: World, tmp_path: Path) -> None:
    def dies(event: Event) -> None:
        if event[:2] == ("clientgroupsend", "b"):
            groups.instances["postgresql"].stop()

    groups.fault = dies
    records = run(groups, tmp_path, make_plan(BOTH, StageTable(name="more", client_groups=("readers",), seconds=0.05)))
    assert_runners_stopped(groups)
    assert {r["stage"] for r in of(records, "client-group", "b")} == {"both"}
    life = [event[0] for event in groups.events if event[1:2] == ("postgresql",) and event[0] in ("up", "down")]
    assert life == ["up", "down", "up", "down"]
    assert len(of(records, "acknowledged", "b")) == 1, "what was promised is looked for all the same"


@pytest.mark.parametrize("label", ["a", "b"])
def test_a_kill_on_purpose(groups: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, label: str) -> None:
    def killed(instance: Any, workers: list[Any]) -> tuple[list[int], int]:
        groups.say("killed", instance.name)
        if instance.deployment == "server":
            instance.up = False
        else:
            workers[0].runner.living = False
        return [1], time.monotonic_ns()

    monkeypatch.setattr(durability, "kill", killed)
    crashing = StageTable(name="crash", client_groups=("writers",), seconds=5.0, kill_s=0.03)
    records = run(groups, tmp_path, make_plan(crashing, BOTH))
    assert [(r["stage"], r["pids"], r["reason"]) for r in of(records, "kill", label)] == [("crash", [1], "")]
    assert [r["when"] for r in of(records, "acknowledged", label)] == ["kill", "end"]
    assert {r["stage"] for r in of(records, "client-group", label)} == {"crash", "both"}, "and it goes on"
    assert not of(records, "failure")
    assert len(groups.happened("start", label)) == 4, "the proof, before, to look, after"


@pytest.mark.parametrize(("what", "who"), [("open", "a"), ("clientgroups", "b"), ("prepare", "a")])
def test_a_request_that_is_refused(groups: World, tmp_path: Path, what: str, who: str) -> None:
    refused = failing(what, who, RunnerFailure("unsupported", "not by this driver"), times=99)
    groups.fault = lambda event: refused(event) if len(groups.happened("stop")) >= len("ab") else None  # once proven
    records = run(groups, tmp_path, make_plan(BOTH))
    assert_all_stopped(groups)
    assert [(f["kind"], f["path_id"][-1]) for f in of(records, "failure")] == [("unsupported", who)]
    assert of(records, "client-group", "b" if who == "a" else "a")


def test_an_engine_that_cannot_say_how_it_is_backed_up(groups: World, tmp_path: Path) -> None:
    groups.fault = failing("backup", "postgresql", RowpathError("no such program", "install it"), times=9)
    records = run(groups, tmp_path, make_plan(WITH_BACKUP))
    assert_all_stopped(groups)
    assert [f["text"] for f in of(records, "failure", "b")] == ["no such program"]
    assert of(records, "backup", "a")


@pytest.mark.parametrize(
    ("what", "who"), [("begun", "readers"), ("clientgroups", "a"), ("clientgroupsend", "b"), ("checked", "")]
)
def test_an_interruption(groups: World, tmp_path: Path, what: str, who: str) -> None:
    groups.fault = failing(what, who, KeyboardInterrupt())
    seconds = 60.0 if what == "begun" else 0.05
    with pytest.raises(KeyboardInterrupt):
        run(groups, tmp_path, make_plan(msgspec.structs.replace(BOTH, seconds=seconds)))
    assert_all_stopped(groups)
    records = journal_of(tmp_path)
    if who == "readers":
        kept = of(records, "client-group")
        assert [(r["client_group"], r["cut"]) for r in kept] == [("readers", True), ("writers", True)]
        assert not of(records, "acknowledged")


def test_an_interruption_in_a_backup(groups: World, tmp_path: Path) -> None:
    groups.fault = failing("begun", "backup-1", KeyboardInterrupt())
    with pytest.raises(KeyboardInterrupt):
        run(groups, tmp_path, make_plan(WITH_BACKUP))
    assert_all_stopped(groups)
    made = of(journal_of(tmp_path), "backup")
    assert [(r["number"], r["ok"], r["restored"]) for r in made] == [(1, False, None), (2, False, None)]
    assert {r["reason"] for r in made} == {"the run was interrupted"}


def test_a_resumed_run_repeats_no_unit(groups: World, tmp_path: Path) -> None:
    plan = make_plan(BOTH, sets=2)
    done = Done(sets={(0, 0), (1, 0), (0, 1)})
    records = run(groups, tmp_path, plan, done=done)
    assert {(r["set"], r["path_id"][-1]) for r in of(records, "client-group")} == {(1, "b")}


def test_a_rate_search_comes_last_and_each_path_alone(groups: World, tmp_path: Path) -> None:
    sweep = RateSearchTable(client_group="readers", p99_ms=1.0, begin_per_s=100.0, seconds=0.05, tries=2)
    records = run(groups, tmp_path, make_plan(BOTH, sweep=sweep))
    assert_all_stopped(groups)
    tries = of(records, "rate-try")
    assert [(r["set"], r["path_id"][-1]) for r in tries] in ([(1, x)] * 2 + [(1, y)] * 2 for x, y in ("ab", "ba"))
    first = next(at for at, r in enumerate(records) if r["record"] == "rate-try")
    assert max(at for at, r in enumerate(records) if r["record"] == "client-group") < first


def assert_runners_stopped(world: World) -> None:
    assert len(world.happened("start")) == len(world.happened("stop"))
