"""Recording engines and runners for the order of a run, and the check that all that was started is stopped."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from typing_extensions import override

from rowpath.engines import ENGINES
from rowpath.engines.base import Instance as AnyInstance
from rowpath.engines.base import Settled
from rowpath.execution import schedule
from rowpath.execution.run_options import RunOptions
from rowpath.journal import reader
from rowpath.journal.writer import Journal, RunDirectory
from rowpath.model.experiment import Experiment, Measure
from rowpath.model.path import AccessPath
from rowpath.model.progress import Silent
from rowpath.model.workload import Table
from rowpath.planning.plan import Plan, PlannedPath
from rowpath.runners.manifest import Adapter
from rowpath.runners.process import AnyReply, RunnerFailure
from rowpath.runners.process import Runner as AnyRunner
from rowpath.runners.protocol import CODEC, PROTOCOL, HelloReply, Sample, SampleReply
from rowpath.scrubber import Scrubber
from rowpath.workloads.workload_file import load_workload

Event = tuple[str, ...]
RIGHT = "1:0000000000000000"
SETS, ROUNDS = 2, 4
ALL = ("a", "b", "c")
HELLO = HelloReply(
    id=0, protocol=PROTOCOL, codec=CODEC, language="python", runner="fake", adapter="fake", pid=1, loop_tid=1,
    clock_read_ns=1.0,
)  # fmt: skip


@dataclass
class World:
    """What happened, and what is to go wrong: `fault(event)` may raise."""

    events: list[Event] = field(default_factory=list)
    fault: Callable[[Event], None] = lambda _event: None
    active: int = 0
    instances: dict[str, Instance] = field(default_factory=dict)
    runners: dict[str, Runner] = field(default_factory=dict)  # the last one started of each path
    instance_type: type[Instance] | None = None  # other fakes than those of this file
    runner_type: type[Runner] | None = None
    program: tuple[str, ...] = ()  # that makes a backup
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


class Instance(AnyInstance):
    """An engine that only notes what it is asked for."""

    version = "1"
    flush_statements: tuple[str, ...] = ("SELECT flush",)

    def __init__(self, world: World, name: str, deployment: str) -> None:
        self.world, self.name, self.deployment = world, name, deployment
        self.up = False
        world.instances[name] = self

    @override
    def start(self) -> None:
        self.up = True
        self.world.say("up", self.name)

    @override
    def check(self) -> bool:
        return self.up

    @override
    def stop(self) -> None:
        if self.up:
            self.up = False
            self.world.say("down", self.name)

    @override
    def load(self, tables: dict[str, Table]) -> None:
        assert tables
        self.world.say("load", self.name, *sorted(tables))

    @override
    def own_copy(self, path: AccessPath) -> None:
        self.world.say("copy", self.name, path.label)

    @override
    def settle(self, path: AccessPath) -> Settled:
        self.world.say("settle", self.name, path.label)
        return Settled(1)

    @override
    def commits(self) -> int | None:
        self.world.say("commits", self.name)
        return None


class Engine:
    """A real engine in all that is only words, with an instance that only notes."""

    def __init__(self, world: World, name: str) -> None:
        self.world, self.name = world, name

    def __getattr__(self, attribute: str) -> Any:
        return getattr(ENGINES[self.name], attribute)

    def instance(self, deployment: str, _durability: str, _place: object) -> Instance:
        return (self.world.instance_type or Instance)(self.world, self.name, deployment)


class Runner(AnyRunner):
    """A runner that answers at once; its path's label is its name."""

    def __init__(self, world: World, name: str) -> None:
        self.world, self.name = world, name
        self.pid = self.loop_tid = os.getpid()
        self.noise: list[str] = []
        self.living = True
        world.runners[name] = self
        world.say("start", name)

    @override
    def alive(self) -> bool:
        return self.living

    @override
    def stop(self) -> None:
        self.living = False
        self.world.say("stop", self.name)

    @override
    def listen(self) -> None:
        """It says nothing."""

    @override
    def hello(self, adapter: str, timeout_s: float = 60.0, requires: tuple[str, ...] = ()) -> HelloReply:
        return HELLO

    @override
    def request(self, message: type, timeout_s: float, *, expect: type[AnyReply], **fields: Any) -> AnyReply:
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
            return cast(AnyReply, sample_reply(fields["operations"] or 1, self.world.operation_ns))
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
    settings: dict[str, Any] = {
        "sets": SETS,
        "max_sets": 0,
        "rounds": ROUNDS,
        "settle_pause_ms": 0.0,
        "warm_cap_s": 0.01,
    } | measure
    paths = (
        planned("a", "sqlite", "embedded", phases),
        planned("b", "postgresql", "server", phases),
        planned("c", "sqlite", "embedded", phases),
    )
    experiment = Experiment(1, "order", "Order", phases, (), measure=Measure(**settings))
    return Plan(experiment, {"keyed": load_workload("keyed")}, paths, (), (paths,), (), seed, {}, False)


def run(
    world: World, folder: Path, plan: Plan, measure: bool = True, done: reader.Done | None = None
) -> list[dict[str, Any]]:
    """Run the plan; the journal's records, also when it ends in an exception (which is let through)."""
    directory = RunDirectory(folder / "run")
    directory.create()
    scrubber = Scrubber()
    journal = Journal(directory, scrubber)
    try:
        options, before = RunOptions(timeout_s=5.0), done or reader.Done()
        schedule.Schedule(plan, options, directory, journal, scrubber, Silent(), done=before).run(measure)
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


def failing(what: str, who: str, error: BaseException, regime: str = "", times: int = 1) -> Callable[[Event], None]:
    left = [times]

    def fault(event: Event) -> None:
        if event[:2] == (what, who) and (not regime or event[2] == regime) and left[0]:
            left[0] -= 1
            raise error

    return fault
