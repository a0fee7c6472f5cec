"""The layer's part in `rowpath explain` against the difference of two paths: the layer's, and its floor by hand.

The difference is of blocks without a profiler, in turn with each other, after both paths are explained. It also holds
what the layer makes others do: the driver's, kernel's and server's parts change too. So two ratios are printed: of the
layer's part, and of all changes. A layer of known work, which is otherwise the program by hand, changes nothing else.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import msgspec

from bench.figure import Figure
from rowpath.analysis.statistics.intervals import student
from rowpath.checks.selftest.bench import Bench
from rowpath.cli.explain import chosen
from rowpath.cli.plan import plan_for
from rowpath.execution.prepared_phases import PreparedPhase
from rowpath.execution.worker import Worker
from rowpath.explain.blocks import block, warm_up
from rowpath.explain.explain import explained
from rowpath.explain.flames import Sampled
from rowpath.journal.writer import RunDirectory
from rowpath.model.explanation import Explanation
from rowpath.model.path import BY_HAND, AccessPath
from rowpath.planning.plan import PlannedPath
from rowpath.runners.manifest import Layer
from rowpath.text import duration, share

LEAST, MOST = 0.9, 1.1
BLOCKS = int(os.environ.get("ROWPATH_BENCH_RUNS", "10"))  # of either path
PAIRS = 5
TIMEOUT_S = 120.0
PHASES = ("films.search", "films.user")  # whose statements are the same by hand and by these layers
LAYERS = {
    "orm-python": {"driver": ("psycopg",), "layer": (BY_HAND, "sqlalchemy-core", "peewee", "django")},
    "orm-java": {"driver": ("pgjdbc",), "layer": (BY_HAND, "spring-jdbc", "jooq", "hibernate")},
}
KNOWN = "known-work"
KNOWN_PACKAGE = """
import random

def work():
    random.Random(7).choices((1, 2), k=2000)
"""
KNOWN_LAYER = """
import sys
sys.path.insert(0, {packages!r})

import known_work

from layers import by_hand

class Adapter(by_hand.Adapter):
    def prepare(self, phase, parameters):
        super().prepare(phase, parameters)
        deliver = getattr(self, phase.access)

        def slower(*row):
            known_work.work()
            return deliver(*row)

        setattr(self, f"tuned_{{phase.access}}", slower)
        return by_hand.LayerAdapter.prepare(self, phase, parameters)
"""


@dataclass(frozen=True)
class Difference:
    """By which an operation of the layer's path takes longer, in blocks that alternate."""

    ns: float
    low_ns: float
    high_ns: float

    @property
    def known(self) -> bool:
        """Whether its interval is narrow enough to compare with."""
        return self.high_ns - self.low_ns <= (MOST - LEAST) * self.ns


def measure(bench: Bench) -> Iterator[Figure]:
    """Of each layer and operation: its part, and all changes, over the difference of the two paths."""
    for experiment, filters in LAYERS.items():
        for phase in PHASES:
            every = filters | {"technique": ("queries", "none"), "placement": ("same",), "link": ("none",)}
            plan = chosen(plan_for(experiment, every, seed=1), [phase])
            floor = next(planned for planned in plan.paths if planned.path.layer == BY_HAND)
            ordered = sorted(plan.paths, key=lambda planned: planned is not floor)
            if floor.path.language == "python":
                ordered.append(known(bench, floor))
            differences: dict[str, Difference] = {}

            def after(
                worker: Worker,
                work: PreparedPhase,
                one: Explanation,
                way: Mapping[str, Any],
                _client: Sampled | None,
                floor: PlannedPath = floor,
                differences: dict[str, Difference] = differences,
            ) -> None:
                if worker.planned is not floor:
                    differences[one.name] = alternating(worker, floor, work, way)

            directory = RunDirectory(bench.directory / f"{experiment}-{phase}")
            directory.create()
            failures: list[str] = []
            plan = replace(plan, paths=tuple(ordered))
            found = list(explained(plan, directory, lambda _text: None, failures.append, TIMEOUT_S, PAIRS, after))
            for failure in failures:
                yield Figure("explain_layer", failure, "", False)
            by_name = {planned.name: planned for planned in plan.paths}
            for one in found:
                if one.name in differences and found[0].name == floor.name:
                    yield from figures(by_name[one.name], one, found[0], differences[one.name])


def known(bench: Bench, floor: PlannedPath) -> PlannedPath:
    """The path of a layer that does known work in a package of its own, and else what the floor does."""
    packages = bench.directory / "site-packages"
    packages.mkdir(exist_ok=True)
    (packages / "known_work.py").write_text(KNOWN_PACKAGE, encoding="utf-8")
    source = bench.directory / "known_layer.py"
    source.write_text(KNOWN_LAYER.format(packages=str(packages)), encoding="utf-8")
    over: dict[str, tuple[str, ...]] = {floor.path.driver: (floor.path.engine,)}
    layer = Layer(KNOWN, str(source), over, "query layer", modules=("known_work",), techniques=(floor.path.technique,))
    path = AccessPath.of(floor.path.as_dict() | {"layer": KNOWN})
    return replace(floor, path=path, adapter=msgspec.structs.replace(floor.adapter, layers=(layer,)), name=KNOWN)


def alternating(worker: Worker, floor: PlannedPath, work: PreparedPhase, way: Mapping[str, Any]) -> Difference:
    """Blocks of a living worker of a layer's path in turn with those of its floor, without a profiler."""
    other = Worker(floor, worker.instance, log=worker.log, timeout_s=worker.timeout_s, pinned=True)
    try:
        other.open(**way)
        other.notice_server()
        other.prepare(work)
        warm_up(other, work)
        warm_up(worker, work)
        longer, disturbed = list[float](), list[float]()
        while len(longer) < BLOCKS and len(disturbed) < BLOCKS:
            pair = {each: block(each, work) for each in ((worker, other) if len(longer) % 2 else (other, worker))}
            took = {each: one.measured.reply.ns / one.measured.reply.operations for each, one in pair.items()}
            kept = disturbed if any(one.disturbed for one in pair.values()) else longer
            kept.append(took[worker] - took[other])
    finally:
        other.close()
    if len(longer) < BLOCKS:  # the machine is busy: the interval says so
        longer += disturbed
    interval = student(longer)
    assert interval is not None
    return Difference(sum(longer) / len(longer), interval.low, interval.high)


def figures(planned: PlannedPath, one: Explanation, floor: Explanation, difference: Difference) -> Iterator[Figure]:
    """The two rows of a layer's operation."""
    layer = planned.adapter.layer_of(planned.path)
    assert layer is not None
    changes: dict[tuple[str, str], float] = {}
    for explanation, sign in ((one, 1), (floor, -1)):
        for part in explanation.parts:
            if part.side != "core":  # what others had of it is no change of the path
                changes[part.side, part.name] = changes.get((part.side, part.name), 0.0) + sign * part.ns
    own_ns = changes.pop(("client", layer.modules[0]), 0.0)
    interval = f"{duration(difference.low_ns)} to {duration(difference.high_ns)}"
    whole = f"{duration(difference.ns)} (95 %: {interval})"
    greatest = sorted(changes.items(), key=lambda change: -abs(change[1]))[:4]
    others = ", ".join(f"{name} ({side}) {'-' if ns < 0 else '+'}{duration(abs(ns))}" for (side, name), ns in greatest)
    name = f"{one.name}, {one.phase}"
    bar = f"{share(LEAST)} to {share(MOST)}"
    ratios = {
        f"the part {layer.modules[0]} ÷ the difference of the paths": own_ns / difference.ns,
        "that part and the changes of the others ÷ the difference": (own_ns + sum(changes.values())) / difference.ns,
    }
    values = (f"{duration(own_ns)} of {whole}", others)
    for (what, ratio), value in zip(ratios.items(), values, strict=True):
        doubt = "" if one.adds_up and floor.adds_up else "; the parts do not add up"
        doubt += "" if difference.known else "; the difference is not known that well"
        yield Figure(
            f"{name}: {what}", f"{share(ratio)}: {value}{doubt}", bar, None if doubt else LEAST <= ratio <= MOST
        )
