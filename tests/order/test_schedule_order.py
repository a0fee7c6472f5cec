"""The order of a run, with recording engines and runners; and that all that was started is stopped once, in reverse."""

from __future__ import annotations

import itertools
import json
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from rowpath import fleet, invocation, schedule, work
from rowpath.collect import syncs
from rowpath.engines import ENGINES
from rowpath.engines.base import Settled
from rowpath.errors import EnvironmentMissing, RowpathError
from rowpath.experiments import Experiment, Measure
from rowpath.journal import Journal, RunDirectory, Scrubber
from rowpath.languages import Adapter, Command
from rowpath.model import Path as AccessPath
from rowpath.plan import Plan, PlannedPath
from rowpath.protocol import OpenReply, Sample, SampleReply
from rowpath.runners import Runner as RealRunner
from rowpath.runners import RunnerFailure
from rowpath.session import Silent
from rowpath.truth import Truth
from rowpath.workloads import load_workload

Event = tuple[str, ...]
RIGHT = "1:0000000000000000"
SETS, ROUNDS = 2, 4
ALL = ("a", "b", "c")


@dataclass
class World:
    """What happened, and what is to go wrong: `fault(event)` may raise."""

    events: list[Event] = field(default_factory=list)
    fault: Callable[[Event], None] = lambda _event: None
    active: int = 0
    instances: dict[str, Instance] = field(default_factory=dict)
    operation_ns: int = 1000
    lead_ins_ns: list[int] = field(default_factory=list)  # of steady samples

    def say(self, *event: str) -> None:
        self.events.append(event)
        self.fault(event)

    def happened(self, *words: str) -> list[Event]:
        """The events that begin with these words."""
        return [event for event in self.events if event[: len(words)] == words]

    def first(self, *words: str) -> int:
        return next(at for at, event in enumerate(self.events) if event[: len(words)] == words)

    def last(self, *words: str) -> int:
        return max(at for at, event in enumerate(self.events) if event[: len(words)] == words)


class Instance:
    """An engine that only notes what it is asked for."""

    version = "1"
    flush_statements = ("SELECT flush",)

    def __init__(self, world: World, name: str, deployment: str) -> None:
        self.world, self.name, self.deployment = world, name, deployment
        self.up = False
        world.instances[name] = self

    def start(self) -> None:
        self.up = True
        self.world.say("up", self.name)

    def check(self) -> bool:
        return self.up

    def stop(self) -> None:
        if self.up:
            self.up = False
            self.world.say("down", self.name)

    def pids(self) -> list[int]:
        return []

    def load(self, tables: dict[str, Any]) -> None:
        assert tables
        self.world.say("load", self.name, *sorted(tables))

    def options(self, path: AccessPath) -> dict[str, Any]:
        return {}

    def own_copy(self, path: AccessPath) -> None:
        self.world.say("copy", self.name, path.label)

    def settle(self, path: AccessPath) -> Settled:
        self.world.say("settle", self.name, path.label)
        return Settled(1)

    def commits(self) -> int | None:
        self.world.say("commits", self.name)
        return None

    def size_bytes(self) -> int:
        return 0

    def facts(self) -> dict[str, str]:
        return {}

    def secrets(self) -> list[str]:
        return []


class Engine:
    """A real engine in all that is only words, with an instance that only notes."""

    def __init__(self, world: World, name: str) -> None:
        self.world, self.name = world, name

    def __getattr__(self, attribute: str) -> Any:
        return getattr(ENGINES[self.name], attribute)

    def instance(self, deployment: str, _durability: str, _place: object) -> Instance:
        return Instance(self.world, self.name, deployment)


class Runner:
    """A runner that answers at once; its path's label is its name."""

    def __init__(self, world: World, name: str) -> None:
        self.world, self.name = world, name
        self.pid = self.loop_tid = os.getpid()
        self.noise: list[str] = []
        self.living = True
        world.say("start", name)

    def alive(self) -> bool:
        return self.living

    def stop(self) -> None:
        self.living = False
        self.world.say("stop", self.name)

    def hello(self, adapter: str, timeout_s: float, requires: tuple[str, ...] = ()) -> Any:
        return OpenReply(id=0, connect_ns=0)

    def request(self, message: type, timeout_s: float, *, expect: type, **fields: Any) -> Any:
        what = message.__name__.lower()
        assert self.living, f"{what} was asked of {self.name}, which is gone"
        assert self.world.active == 0, "one at a time"
        self.world.active += 1
        try:
            self.world.say(what, self.name, fields.get("regime", ""), str(fields.get("phase", "")))
        except RunnerFailure as failure:
            self.living = not failure.fatal
            raise
        finally:
            self.world.active -= 1
        if message is Sample:
            self.world.lead_ins_ns += [fields["lead_in_ns"]] if fields["regime"] == "steady" else []
            return sample_reply(fields["operations"] or 1, self.world.operation_ns)
        replies: dict[str, dict[str, Any]] = {
            "open": {"connect_ns": 1},
            "prepare": {"prepare_ns": 1},
            "verify": {"digest": RIGHT, "rows": 1, "touch": "0" * 16, "operations": 1},
        }
        return expect(id=0, **replies.get(what, {}))


def sample_reply(operations: int, ns: int) -> SampleReply:
    figures: dict[str, Any] = dict.fromkeys(("ns", "window_ns", "window_cpu_ns", "cpu_ns", "min_ns", "max_ns"), ns)
    counts: dict[str, Any] = {"operations": operations, "failed": 0, "rows": operations, "values": operations}
    return SampleReply(id=0, touch="0" * 16, first=0, lead_in_operations=0, **counts, **figures)


def planned(label: str, engine: str, deployment: str, phases: tuple[str, ...]) -> PlannedPath:
    coordinates = {"engine": engine, "deployment": deployment, "durability": "full", "placement": "same"}
    adapter = Adapter("fake", "fake", (engine,), (deployment,), ("1",), ("query", "execute"), {}, language="python")
    return PlannedPath(AccessPath.of(coordinates, label), adapter, phases, label)


def make_plan(seed: int = 5, phases: tuple[str, ...] = ("keyed.read",), **measure: Any) -> Plan:
    settings: dict[str, Any] = {"sets": SETS, "max_sets": 0, "rounds": ROUNDS, "settle_pause_ms": 0.0} | measure
    paths = (
        planned("a", "sqlite", "embedded", phases),
        planned("b", "postgresql", "server", phases),
        planned("c", "sqlite", "embedded", phases),
    )
    experiment = Experiment(1, "order", "Order", phases, (), measure=Measure(**settings))
    return Plan(experiment, {"keyed": load_workload("keyed")}, paths, (), (paths,), (), seed, {}, False)


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    made = World()
    engines = {name: Engine(made, name) for name in ("sqlite", "postgresql")}
    for module in (fleet, work, invocation):
        monkeypatch.setattr(module, "ENGINES", engines)
    monkeypatch.setattr(invocation, "command", lambda _adapter, _version, path: Command((path.label,)))
    started = classmethod(lambda _cls, command, *_rest, **_more: Runner(made, command.arguments[0]))
    monkeypatch.setattr(RealRunner, "start", started)
    monkeypatch.setattr(Truth, "verify_digest", lambda *_arguments: RIGHT)
    monkeypatch.setattr(Truth, "after_digest", lambda *_arguments: RIGHT)
    monkeypatch.setattr(syncs, "probe", lambda: "unavailable: not of interest here")
    affinity = os.sched_getaffinity(0)
    yield made
    os.sched_setaffinity(0, affinity)


def run(world: World, folder: Path, plan: Plan, measure: bool = True) -> list[dict[str, Any]]:
    """Run the plan; the journal's records, also when it ends in an exception (which is let through)."""
    directory = RunDirectory(folder / "run")
    directory.create()
    scrubber = Scrubber()
    journal = Journal(directory, scrubber)
    try:
        schedule.Schedule(plan, directory, journal, scrubber, Silent(), timeout_s=5.0).run(measure)
    finally:
        journal.close()
        assert not directory.work.exists()
    return journal_of(folder)


def journal_of(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "run" / "samples.jsonl").read_text().splitlines()]


def assert_all_stopped(world: World) -> None:
    """Engines are stopped once each and in reverse; so are the runners that lived at the same time."""
    for begin, end in (("up", "down"), ("start", "stop")):
        living: list[str] = []
        for event in world.events:
            if event[0] == begin:
                living.append(event[1])
            elif event[0] == end:
                assert living and living[-1] == event[1], f"{event} while {living} lived"
                living.pop()
        assert not living
    assert len(world.happened("start")) == len(world.happened("stop"))
    if world.happened("start"):
        assert world.last("stop") < world.last("down"), "runners go before the engines they use"


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


def test_the_proof_comes_before_any_set(world: World, tmp_path: Path) -> None:
    run(world, tmp_path, make_plan())
    assert len(world.happened("verify")) == len(ALL)
    assert world.last("verify") < world.first("sample", "a", "cold")
    records = journal_of(tmp_path)
    kinds = [record["record"] for record in records]
    assert max(at for at, kind in enumerate(kinds) if kind == "proven") < kinds.index("set")


def test_the_order_within_a_set(world: World, tmp_path: Path) -> None:
    run(world, tmp_path, make_plan(sets=1))
    began = world.last("copy") + 1 + len(_proof(world))
    events = world.events[began:]
    steps = [event[2] if event[0] == "sample" else event[0] for event in events]
    order = [step for step, _ in itertools.groupby(step for step in steps if step != "prepare")]
    middle = ["start", "open", "cold", "warm", "steady", "facts"]
    assert order[: len(middle)] == middle
    assert set(order[len(middle) :]) == {"close", "stop", "down"}
    for step in ("start", "open", "facts"):
        assert steps.count(step) == len(ALL)


def _proof(world: World) -> list[Event]:
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
    monkeypatch.setattr(invocation, "ACCOUNTED_LEAST", -1.0)
    monkeypatch.setattr(invocation, "WAIT_MOST", float("inf"))


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


@pytest.mark.parametrize(("operation_ns", "lead_in_ns"), [(1000, 1_000_000), (60_000_000, 0)])
def test_long_operations_have_no_lead_in(world: World, tmp_path: Path, operation_ns: int, lead_in_ns: int) -> None:
    world.operation_ns = operation_ns
    run(world, tmp_path, make_plan(sets=1))
    assert set(world.lead_ins_ns) == {lead_in_ns}


def test_every_cold_pass_comes_before_any_warming_up(world: World, tmp_path: Path) -> None:
    plan = make_plan(sets=1, phases=("keyed.read", "keyed.insert"))
    run(world, tmp_path, plan)
    after_proof = world.events[world.last("copy") + 1 + len(_proof(world)) :]
    samples = [event for event in after_proof if event[0] == "sample"]
    cold = [at for at, event in enumerate(samples) if event[2] == "cold" and event[3] == "keyed.read"]
    assert len(cold) == len(ALL)
    assert max(cold) < min(at for at, event in enumerate(samples) if event[2] in ("warm", "steady"))
    assert_all_stopped(world)


def test_proving_alone_measures_nothing(world: World, tmp_path: Path) -> None:
    run(world, tmp_path, make_plan(), measure=False)
    assert {event[2] for event in world.happened("sample")} == {"warm"}
    assert len(world.happened("start")) == len(ALL)
    assert_all_stopped(world)


def failing(what: str, who: str, error: BaseException, regime: str = "", times: int = 1) -> Callable[[Event], None]:
    left = [times]

    def fault(event: Event) -> None:
        if event[:2] == (what, who) and (not regime or event[2] == regime) and left[0]:
            left[0] -= 1
            raise error

    return fault


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
    assert len(world.happened("start", "b")) == 1 + schedule.FAILED_SETS_LIMIT
    assert len(world.happened("start", "a")) == 1 + 4


def test_a_runner_that_is_lost_in_one_phase_fails_in_those_after_it(world: World, tmp_path: Path) -> None:
    world.fault = failing("sample", "b", RunnerFailure("timeout", "no answer"), "steady")
    records = run(world, tmp_path, make_plan(sets=1, phases=("keyed.read", "keyed.insert")))
    assert_all_stopped(world)
    failures = [(r["phase"], r["kind"]) for r in records if r["record"] == "failure"]
    assert failures == [("read", "timeout"), ("insert", "crashed")]


def test_a_server_that_dies_during_the_proof_is_started_again(world: World, tmp_path: Path) -> None:
    def fault(event: Event) -> None:
        if event[:2] == ("verify", "a"):
            world.instances["postgresql"].stop()

    world.fault = fault
    records = run(world, tmp_path, make_plan(sets=1))
    life = [event[0] for event in world.events if event[1] == "postgresql" and event[0] in ("up", "down")]
    assert life == ["up", "down", "up", "down"]
    assert any("was started again" in record["text"] for record in records if record["record"] == "note")
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
