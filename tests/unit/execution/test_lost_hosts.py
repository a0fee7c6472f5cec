"""A run that loses a host: who goes on, who is left out, and when nothing can go on."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from rowpath.execution import several_hosts
from rowpath.execution.several_hosts import HostLost
from rowpath.model.experiment import StageTable
from tests.unit.execution.lost_hosts_world import WHAT, World


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
    assert world.hosts.called == world.hosts.awaited == ["app2"]
    with pytest.raises(HostLost, match="host app2 was lost"):
        world.lost.end()


def test_a_host_that_is_back_is_used_from_the_next_set_on_and_the_run_is_not_complete() -> None:
    world = World(("app1", "db1"), ("app1", "db2"))
    world.hosts.there = {"db2": [WHAT]}
    world.lost.look("set 1")
    assert world.notes == []
    world.lose("db2")
    world.lost.look("set 3")
    assert world.notes[1:] == ["db2 is back: its paths are measured again from set 3 on"]
    assert world.brought_up == ["db2"]
    assert world.journal.written.count(WHAT) == 1
    assert not any(world.lost.needed_by(path) for path in world.paths)
    with pytest.raises(HostLost, match="host db2 was lost"):
        world.lost.end()


def test_without_a_load_host_stages_of_other_clients_go_on() -> None:
    stages = (StageTable("one user", ("observer",)), StageTable("mixed", ("observer", "readers")))
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
    monkeypatch.setattr(several_hosts, "time", clock)
    return slept


def test_without_the_last_host_a_run_waits_and_goes_on_with_the_next_set(world: World, no_time: list[float]) -> None:
    world.lose("db")
    assert world.notes == [
        "host db was lost: it is gone; 3.0 s after the run's begin; nothing can be measured without it"
    ]
    assert world.lost.leave_nothing
    assert world.hosts.called == []  # where no set follows it is not started again
    world.hosts.there, world.hosts.looks_before_back = {"db": [WHAT]}, 100
    world.lost.look("set 2")
    assert world.notes[1:] == [
        "waiting for host db, at most 60 s",
        "db is back: its paths are measured again from set 2 on",
    ]
    assert world.hosts.called == ["db"]
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
    assert sum(no_time) == pytest.approx(5.0, abs=2 * several_hosts.LOOK_S)


def test_one_of_two_lost_hosts_is_enough_to_go_on(world: World, no_time: list[float]) -> None:
    world.lose("app2")
    world.hosts.there = {"app2": []}
    world.lost.look("set 2")
    world.hosts.there = {}
    world.lose("app1")
    world.lose("app2")
    world.hosts.there, world.hosts.looks_before_back = {"app1": []}, 2
    world.lost.look("set 3")
    assert [world.lost.needed_by(path) for path in world.paths] == [False, True, True]
    with pytest.raises(HostLost, match="host app2 was lost"):
        world.lost.end()  # what is not back is named before what was lost first


def test_a_host_that_waits_for_a_lost_one_is_lost_with_it(world: World, no_time: list[float]) -> None:
    world.hosts.lost["app1"] = HostLost("app1", "it waits for host db")
    world.lose("db")
    assert world.forgotten == ["db", "app1"]
    world.hosts.there = {"db": [], "app1": []}
    world.lost.look("set 2")
    assert sorted(world.hosts.called) == ["app1", "db"]
    assert not any(world.lost.needed_by(path) for path in world.paths)


def test_a_host_of_none_of_its_paths_that_is_lost_too_ends_no_run(world: World) -> None:
    world.hosts.lost["app3"] = HostLost("app3", "it is gone")
    world.lose("app2")
    assert world.forgotten == ["app2"]


def test_a_run_that_must_not_wait_ends_at_once(world: World) -> None:
    world.hosts.wait_s = 0.0
    with pytest.raises(HostLost, match="host db was lost"):
        world.lose("db")


def test_a_run_ends_when_what_joins_the_hosts_ends_while_it_waits(world: World, no_time: list[float]) -> None:
    world.lose("db")
    world.hosts.ended = HostLost("controller", "the head has ended")
    with pytest.raises(HostLost, match="host controller was lost"):
        world.lost.look("set 2")
