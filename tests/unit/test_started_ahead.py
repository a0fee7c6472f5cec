"""Processes that count round trips: the next one comes up meanwhile, and each is closed."""

from __future__ import annotations

import contextlib

from typing_extensions import override

from rowpath.model.path import AccessPath
from rowpath.planning.plan import PlannedPath
from rowpath.probe.round_trips import started_ahead
from rowpath.probe.throttled_worker import ThrottledWorker
from rowpath.runners.manifest import adapter_of
from rowpath.runners.process import RunnerFailure

NAMES = ("a", "b", "c")


class Told(ThrottledWorker):
    """Only says what happens to it."""

    def __init__(self, name: str, told: list[str]) -> None:
        self.name, self.told = name, told

    @override
    def close(self) -> None:
        if f"close {self.name}" not in self.told:
            self.told.append(f"close {self.name}")


class World:
    """Starts processes, but not that of `broken`."""

    def __init__(self, broken: str = "") -> None:
        self.told: list[str] = []
        self._broken = broken
        adapter = adapter_of("c", "null")
        self.paths = [PlannedPath(AccessPath.of({}, name), adapter, (), name) for name in NAMES]

    def start(self, planned: PlannedPath) -> ThrottledWorker:
        """Errors: RunnerFailure."""
        if planned.name == self._broken:
            raise RunnerFailure("crashed", planned.name)
        self.told.append(f"start {planned.name}")
        return Told(planned.name, self.told)


def test_the_next_one_starts_before_one_counts_and_each_is_closed_after() -> None:
    world = World()
    for found in started_ahead(world.paths, world.start):
        assert isinstance(found, Told)
        world.told.append(f"count {found.name}")
    expected = "start a, start b, count a, close a, start c, count b, close b, count c, close c"
    assert ", ".join(world.told) == expected


def test_one_that_does_not_start_is_told_in_its_place() -> None:
    world = World("b")
    found = list(started_ahead(world.paths, world.start))
    assert [each.name if isinstance(each, Told) else type(each) for each in found] == ["a", RunnerFailure, "c"]
    assert world.told == ["start a", "close a", "start c", "close c"]


def test_all_are_closed_when_nobody_goes_on() -> None:
    world = World()
    with contextlib.closing(started_ahead(world.paths, world.start)) as all_of_them:
        next(all_of_them)
    assert sorted(world.told) == ["close a", "close b", "start a", "start b"]
