"""The order of a run, with recording engines and runners; and that all that was started is stopped once, in reverse."""

from __future__ import annotations

import itertools
from pathlib import Path

import msgspec
import pytest

from rowpath.errors import EnvironmentMissing, RowpathError
from rowpath.execution import measured, run_context, worker
from rowpath.machine.counters import syncs
from rowpath.runners import manifest
from rowpath.runners.process import RunnerFailure
from tests.order.order_world import (
    ALL,
    ROUNDS,
    SETS,
    Event,
    World,
    assert_all_stopped,
    failing,
    journal_of,
    make_plan,
    run,
)

STEPS = (("up", "postgresql"), ("down", "postgresql"), ("start", "b"), ("stop", "b"))


def test_the_order_of_a_run(world: World, tmp_path: Path) -> None:
    run(world, tmp_path, make_plan())
    names = [event[:3] for event in world.events]
    assert names[:7] == [
        ("up", "sqlite"),
        ("load", "sqlite", "mydata2"),
        ("copy", "sqlite", "a"),
        ("copy", "sqlite", "c"),
        ("up", "postgresql"),
        ("load", "postgresql", "mydata2"),
        ("copy", "postgresql", "b"),
    ]
    assert names[-2:] == [("down", "postgresql"), ("down", "sqlite")]
    starts = [event[1] for event in world.happened("start")]
    assert starts == [*ALL, *ALL * SETS], "the proof pass one by one, then every set all together"
    stops = [event[1] for event in world.happened("stop")]
    assert stops == [*ALL, *tuple(reversed(ALL)) * SETS]
    assert_all_stopped(world)


def test_the_verification_pass_comes_before_any_set(world: World, tmp_path: Path) -> None:
    run(world, tmp_path, make_plan())
    assert len(world.happened("verify")) == len(ALL)
    assert world.last("verify") < world.first("sample", "a", "cold")
    records = journal_of(tmp_path)
    kinds = [record["record"] for record in records]
    assert max(at for at, kind in enumerate(kinds) if kind == "verified") < kinds.index("set")


def test_a_server_that_is_written_to_counts_its_syncs_while_paths_are_verified(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(syncs, "method", lambda: syncs.METHOD)
    monkeypatch.setattr(syncs, "environment", lambda _file: {})
    records = run(world, tmp_path, make_plan(phases=("keyed.insert",)))
    steps = [event[0] for event in world.events if event[:2] in STEPS]
    assert steps[:7] == ["up", "down", "up", "start", "stop", "down", "up"], "with the library, then without it"
    counted = [record["syncs"] for record in records if record["record"] == "counted"]
    assert counted == [None, 0, None], "the runners of embedded paths did not load the library"


def test_where_syncs_are_not_counted_no_server_is_restarted_for_that(world: World, tmp_path: Path) -> None:
    records = run(world, tmp_path, make_plan(phases=("keyed.insert",)))
    assert [event[0] for event in world.events if event[:2] in STEPS][:3] == ["up", "start", "stop"]
    (methods,) = {record["method"]["syncs"] for record in records if record["record"] == "counted"}
    assert methods == "unavailable: not of interest here"


def test_the_order_within_a_set(world: World, tmp_path: Path) -> None:
    run(world, tmp_path, make_plan(sets=1))
    began = world.last("copy") + 1 + len(_verification(world))
    events = world.events[began:]
    steps = [event[2] if event[0] == "sample" else event[0] for event in events]
    order = [step for step, _ in itertools.groupby(step for step in steps if step != "prepare")]
    middle = ["start", "open", "cold", "warm", "steady", "facts"]
    assert order[: len(middle)] == middle
    assert set(order[len(middle) :]) == {"close", "stop", "down"}
    for step in ("start", "open", "facts"):
        assert steps.count(step) == len(ALL)


def _verification(world: World) -> list[Event]:
    """The events of the proof pass: until the third runner of it has been stopped."""
    begin = world.last("copy") + 1
    stopped = [at for at, event in enumerate(world.events) if event[0] == "stop"]
    return world.events[begin : stopped[len(ALL) - 1] + 1]


def steady_rounds(world: World) -> list[tuple[str, ...]]:
    """Who was asked in every round of steady blocks, in order."""
    asked = [event[1] for event in world.happened("sample") if event[2] == "steady"]
    return [tuple(asked[at : at + len(ALL)]) for at in range(0, len(asked), len(ALL))]


def undisturbed(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """No block is repeated."""
    monkeypatch.setattr(measured, "ACCOUNTED_LEAST", -1.0)
    monkeypatch.setattr(measured, "WAIT_MOST", float("inf"))


def test_steady_blocks_are_in_a_random_but_seeded_order(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    undisturbed(world, monkeypatch)
    orders = []
    for number, seed in enumerate((5, 5, 6)):
        world.events.clear()
        folder = tmp_path / str(number)
        run(world, folder, make_plan(seed))
        rounds = steady_rounds(world)
        assert len(rounds) == SETS * ROUNDS
        assert all(sorted(each) == sorted(ALL) for each in rounds), "everyone once a round"
        assert len(set(rounds)) > 1, "not the same order in every round"
        orders.append(rounds)
    assert orders[0] == orders[1] != orders[2]


@pytest.mark.parametrize(("operation_ns", "lead_in_ns"), [(1000, 2_000_000), (60_000_000, 0)])
def test_long_operations_have_no_lead_in(world: World, tmp_path: Path, operation_ns: int, lead_in_ns: int) -> None:
    world.operation_ns = operation_ns
    run(world, tmp_path, make_plan(sets=1))
    assert set(world.lead_ins_ns) == {lead_in_ns}


@pytest.mark.parametrize(("operation_ns", "lead_in_ns"), [(1000, 25_000_000), (60_000_000, 0)])
def test_a_lead_in_is_no_shorter_than_its_language_needs(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, operation_ns: int, lead_in_ns: int
) -> None:
    slow = msgspec.structs.replace(manifest.language("python"), lead_in_least_ns=25_000_000)
    monkeypatch.setattr(worker, "language", lambda _name: slow)
    world.operation_ns = operation_ns
    run(world, tmp_path, make_plan(sets=1))
    assert set(world.lead_ins_ns) == {lead_in_ns}


def test_every_cold_pass_comes_before_any_warming_up(world: World, tmp_path: Path) -> None:
    plan = make_plan(sets=1, phases=("keyed.read", "keyed.insert"))
    run(world, tmp_path, plan)
    after_verification = world.events[world.last("copy") + 1 + len(_verification(world)) :]
    samples = [event for event in after_verification if event[0] == "sample"]
    cold = [at for at, event in enumerate(samples) if event[2] == "cold" and event[3] == "keyed.read"]
    assert len(cold) == len(ALL)
    assert max(cold) < min(at for at, event in enumerate(samples) if event[2] in ("warm", "steady"))
    assert_all_stopped(world)


def test_proving_alone_measures_nothing(world: World, tmp_path: Path) -> None:
    run(world, tmp_path, make_plan(), measure=False)
    assert {event[2] for event in world.happened("sample")} == {"warm"}
    assert len(world.happened("start")) == len(ALL)
    assert_all_stopped(world)


@pytest.mark.parametrize("what", ["up", "load"])
@pytest.mark.parametrize("error", [EnvironmentMissing("it will not start", "try"), RowpathError("broken")])
def test_an_engine_that_cannot_be_brought_up(world: World, tmp_path: Path, what: str, error: RowpathError) -> None:
    world.fault = failing(what, "postgresql", error)
    records = run(world, tmp_path, make_plan())
    assert_all_stopped(world)
    failures = [record for record in records if record["record"] == "failure"]
    assert [(f["status"], f["text"]) for f in failures] == [("failed", str(error))]
    assert "label=b" in failures[0]["path_id"]
    assert {event[1] for event in world.happened("sample")} == {"a", "c"}, "the others go on"
    assert len([record for record in records if record["record"] == "set-end"]) == SETS


def test_a_runner_that_crashes_in_cold(world: World, tmp_path: Path) -> None:
    world.fault = failing("sample", "b", RunnerFailure("crashed", "it fell"), "cold")
    records = run(world, tmp_path, make_plan())
    assert_all_stopped(world)
    failures = [record for record in records if record["record"] == "failure"]
    assert [(f["set"], f["status"], f["kind"], f["text"]) for f in failures] == [(0, "failed", "crashed", "it fell")]
    in_set = {(r["set"], r["path_id"][-1]) for r in records if r["record"] == "sample" and r["regime"] == "steady"}
    assert in_set == {(0, "a"), (0, "c"), (1, "a"), (1, "b"), (1, "c")}, "it is started again for the next set"


def test_a_runner_that_crashes_in_every_set_is_given_up(world: World, tmp_path: Path) -> None:
    world.fault = failing("sample", "b", RunnerFailure("crashed", "it fell"), "cold", times=9)
    run(world, tmp_path, make_plan(sets=4))
    assert_all_stopped(world)
    assert len(world.happened("start", "b")) == 1 + run_context.FAILED_SETS_LIMIT
    assert len(world.happened("start", "a")) == 1 + 4


def test_a_runner_that_is_lost_in_one_phase_fails_in_those_after_it(world: World, tmp_path: Path) -> None:
    world.fault = failing("sample", "b", RunnerFailure("timeout", "no answer"), "steady")
    records = run(world, tmp_path, make_plan(sets=1, phases=("keyed.read", "keyed.insert")))
    assert_all_stopped(world)
    failures = [(r["phase"], r["kind"]) for r in records if r["record"] == "failure"]
    assert failures == [("read", "timeout"), ("insert", "crashed")]


def test_a_server_that_dies_during_the_verification_pass_is_started_again(world: World, tmp_path: Path) -> None:
    def fault(event: Event) -> None:
        if event[:2] == ("verify", "a"):
            world.instances["postgresql"].stop()

    world.fault = fault
    records = run(world, tmp_path, make_plan(sets=1))
    life = [event[0] for event in world.events if event[1] == "postgresql" and event[0] in ("up", "down")]
    assert life == ["up", "down", "up", "down"]
    assert any("was restarted" in record["text"] for record in records if record["record"] == "note")
    assert not [record for record in records if record["record"] == "failure"]


@pytest.mark.parametrize("what", ["prepare", "open", "facts"])
def test_a_request_that_is_refused(world: World, tmp_path: Path, what: str) -> None:
    world.fault = failing(what, "c", RunnerFailure("sql", "no such table", "42P01"), times=99)
    records = run(world, tmp_path, make_plan())
    assert_all_stopped(world)
    failures = [record for record in records if record["record"] == "failure"]
    assert failures and all("label=c" in record["path_id"] for record in failures)
    assert {record["code"] for record in failures} == {"42P01"}
    assert len([record for record in records if record["record"] == "set-end"]) == SETS


@pytest.mark.parametrize("what", ["settle", "commits"])
def test_a_server_that_is_gone_when_it_is_asked_something(world: World, tmp_path: Path, what: str) -> None:
    error = RowpathError("psql failed: it is gone", "read its log")
    world.fault = failing(what, "postgresql", error, times=99)
    records = run(world, tmp_path, make_plan(phases=("keyed.read", "keyed.insert")))
    assert_all_stopped(world)
    failures = [record for record in records if record["record"] == "failure"]
    assert failures and all("label=b" in record["path_id"] for record in failures)
    assert any("psql failed: it is gone" in record["text"] for record in failures)
    steady = {r["path_id"][-1] for r in records if r["record"] == "sample" and r["regime"] == "steady"}
    assert steady >= {"a", "c"}, "the others go on"


@pytest.mark.parametrize(
    ("what", "who", "regime"),
    [
        ("up", "postgresql", ""),
        ("load", "sqlite", ""),
        ("verify", "b", ""),
        ("start", "c", ""),
        ("open", "b", ""),
        ("sample", "a", "cold"),
        ("sample", "b", "steady"),
        ("facts", "a", ""),
        ("stop", "c", ""),
    ],
)
def test_an_interruption(world: World, tmp_path: Path, what: str, who: str, regime: str) -> None:
    world.fault = failing(what, who, KeyboardInterrupt(), regime)
    with pytest.raises(KeyboardInterrupt):
        run(world, tmp_path, make_plan())
    if what == "start":  # what did not even become a process has nothing to be stopped
        world.events.remove(("start", who))
    assert_all_stopped(world)
    assert journal_of(tmp_path) is not None, "the journal can be read"
