"""A run that loses a host: who goes on, who is left out, and when nothing can go on."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from rowpath.execution import lost_hosts
from rowpath.execution.lost_hosts import LostHosts
from rowpath.execution.several_hosts import HostLost
from rowpath.model.path import AccessPath


class World:
    """Paths on two clients' hosts, behind one server; what is said and forgotten."""

    def __init__(self, *hosts: tuple[str, ...], stages: tuple[Any, ...] = ()) -> None:
        self.notes: list[str] = []
        self.forgotten: list[str] = []
        self.paths = [self._path(f"path {number}", each) for number, each in enumerate(hosts)]
        self.paths.append(self._path("null", ("app2",), is_null=True))
        self.called: list[str] = []
        self.awaited: list[str] = []
        self.gone: dict[str, HostLost] = {}
        self.looks_before_back = 0
        self.there: dict[str, list[str]] = {}
        self.records: list[str] = []
        self.brought_up: list[str] = []
        experiment = SimpleNamespace(stages=stages, rate_search=None)
        context: Any = SimpleNamespace(
            plan=SimpleNamespace(paths=self.paths, experiment=experiment),
            journal=SimpleNamespace(write=self.records.append),
            runnable=lambda _planned: True,
            note=self.notes.append,
            now_ns=lambda: 3_000_000_000,
        )
        joined: Any = SimpleNamespace(
            needed_by=lambda planned: frozenset(planned.hosts),
            loads=lambda _planned, groups: frozenset(("load1", "load2") if "readers" in groups else ()),
            call_back=lambda lost: self.called.append(lost.host),
            wait_until_idle=self.awaited.append,
            back=self._back,
            lost=self.gone,
            wait_s=60.0,
        )
        self.hosts = joined
        self.lost = LostHosts(context, joined, self.forgotten.append, lambda key: self.brought_up.append(key[-1]))

    def _path(self, name: str, hosts: tuple[str, ...], *, is_null: bool = False) -> Any:
        coordinates = {
            "engine": "postgresql",
            "deployment": "server",
            "client_host": hosts[0],
            "server_host": hosts[-1],
        }
        path = AccessPath.of(coordinates | {"engine": "null"} if is_null else coordinates)
        return SimpleNamespace(name=name, hosts=hosts, path=path)

    def _back(self) -> dict[str, list[str]]:
        self.looks_before_back -= 1
        return self.there if self.looks_before_back < 0 else {}

    def lose(self, host: str) -> None:
        with self.lost.left_out():
            raise HostLost(host, "it is gone")


@pytest.fixture
def world() -> World:
    """Two paths that share only their server's host."""
    return World(("app1", "db"), ("app2", "db"))


def test_paths_that_do_not_need_the_host_go_on_and_the_run_is_not_complete(world: World) -> None:
    world.lost.end()
    world.lose("app2")
    assert [world.lost.needed_by(path) for path in world.paths] == [False, True, True]
    (note,) = world.notes
    assert note == (
        "host app2 was lost: it is gone; 3.0 s after the run's begin; "
        "all paths continue without it, except: path 1, null"
    )
    assert world.forgotten == ["app2"]
    assert world.called == world.awaited == ["app2"]
    with pytest.raises(HostLost, match="host app2 was lost"):
        world.lost.end()


def test_a_host_that_is_back_is_used_from_the_next_set_on_and_the_run_is_not_complete() -> None:
    world = World(("app1", "db1"), ("app1", "db2"))
    world.there = {"db2": ["what it is"]}
    world.lost.look("set 1")
    assert world.notes == []
    world.lose("db2")
    world.lost.look("set 3")
    assert world.notes[1:] == ["db2 is back: its paths are measured again from set 3 on"]
    assert world.brought_up == ["db2"]
    assert world.records == ["what it is"]
    assert not any(world.lost.needed_by(path) for path in world.paths)
    with pytest.raises(HostLost, match="host db2 was lost"):
        world.lost.end()


def test_without_a_load_host_stages_of_other_clients_go_on() -> None:
    stages = tuple(
        SimpleNamespace(name=name, client_groups=groups)
        for name, groups in {"one user": ["observer"], "mixed": ["observer", "readers"]}.items()
    )
    world = World(("app1", "db"), stages=stages)
    world.lose("load2")
    assert world.notes[0].endswith("all paths continue without it, except: stage 'mixed'")
    path = world.paths[0]
    assert not world.lost.needed_by(path)
    assert world.lost.load(path, ["observer", "readers"])
    assert not world.lost.load(path, ["observer"])
    world.lose("load1")
    assert world.notes[1].endswith("all paths continue without it, except: stage 'mixed'")
    with pytest.raises(HostLost, match="host load2 was lost"):
        world.lose("load2")


@pytest.mark.parametrize("host", ["controller", "app3"])
def test_a_run_ends_with_what_joins_the_hosts_and_with_a_host_of_none_of_its_paths(world: World, host: str) -> None:
    with pytest.raises(HostLost, match=f"host {host} was lost"):
        world.lose(host)
    assert world.forgotten == []


@pytest.fixture
def no_time(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """A clock that only sleeping moves: how long each sleep was."""
    slept: list[float] = []
    clock = SimpleNamespace(monotonic=lambda: sum(slept), sleep=slept.append)
    monkeypatch.setattr(lost_hosts, "time", clock)
    return slept


def test_without_the_last_host_a_run_waits_and_goes_on_with_the_next_set(world: World, no_time: list[float]) -> None:
    world.lose("db")
    assert world.notes == [
        "host db was lost: it is gone; 3.0 s after the run's begin; nothing can be measured without it"
    ]
    assert world.lost.leave_nothing
    assert world.called == []  # where no set follows it is not started again
    world.there, world.looks_before_back = {"db": ["what it is"]}, 100
    world.lost.look("set 2")
    assert world.notes[1:] == [
        "waiting for host db, at most 60 s",
        "db is back: its paths are measured again from set 2 on",
    ]
    assert world.called == ["db"]
    assert 0 < sum(no_time) < 60
    assert not world.lost.leave_nothing
    assert world.brought_up == ["db"]
    with pytest.raises(HostLost, match="host db was lost"):
        world.lost.end()


def test_a_run_ends_when_no_host_comes_back_in_time(world: World, no_time: list[float]) -> None:
    world.lose("app2")
    world.lose("app1")
    world.hosts.wait_s = 5.0
    with pytest.raises(HostLost, match="host app2 was lost"):
        world.lost.look("set 2")
    assert world.notes[2:] == ["waiting for hosts app2, app1, at most 5 s"]
    assert sum(no_time) == pytest.approx(5.0, abs=2 * lost_hosts.LOOK_S)


def test_one_of_two_lost_hosts_is_enough_to_go_on(world: World, no_time: list[float]) -> None:
    world.lose("app2")
    world.there = {"app2": []}
    world.lost.look("set 2")
    world.there = {}
    world.lose("app1")
    world.lose("app2")
    world.there, world.looks_before_back = {"app1": []}, 2
    world.lost.look("set 3")
    assert [world.lost.needed_by(path) for path in world.paths] == [False, True, True]
    with pytest.raises(HostLost, match="host app2 was lost"):
        world.lost.end()  # what is not back is named before what was lost first


def test_a_host_that_waits_for_a_lost_one_is_lost_with_it(world: World, no_time: list[float]) -> None:
    world.gone["app1"] = HostLost("app1", "it waits for host db")
    world.lose("db")
    assert world.forgotten == ["db", "app1"]
    world.there = {"db": [], "app1": []}
    world.lost.look("set 2")
    assert sorted(world.called) == ["app1", "db"]
    assert not any(world.lost.needed_by(path) for path in world.paths)


def test_a_host_of_none_of_its_paths_that_is_lost_too_ends_no_run(world: World) -> None:
    world.gone["app3"] = HostLost("app3", "it is gone")
    world.lose("app2")
    assert world.forgotten == ["app2"]


def test_a_run_that_must_not_wait_ends_at_once(world: World) -> None:
    world.hosts.wait_s = 0.0
    with pytest.raises(HostLost, match="host db was lost"):
        world.lose("db")


def test_a_run_ends_when_what_joins_the_hosts_ends_while_it_waits(world: World, no_time: list[float]) -> None:
    def ended() -> dict[str, list[str]]:
        raise HostLost("controller", "the head has ended")

    world.lose("db")
    world.hosts.back = ended
    with pytest.raises(HostLost, match="host controller was lost"):
        world.lost.look("set 2")
