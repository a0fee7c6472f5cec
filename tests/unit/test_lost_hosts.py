"""A run that loses a host: who goes on, who is left out, and when nothing can go on."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

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
            back=lambda: self.there,
        )
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
        "host app2 was lost: it is gone; 3.0 s after the run's begin; without it go on all but: path 1, null"
    )
    assert world.forgotten == ["app2"]
    assert world.called == ["app2"]
    with pytest.raises(HostLost, match="host app2 was lost"):
        world.lost.end()


def test_a_host_that_is_back_is_used_from_the_next_set_on_and_the_run_is_not_complete() -> None:
    world = World(("app1", "db1"), ("app1", "db2"))
    world.there = {"db2": ["what it is"]}
    world.lost.look("set 1")
    assert world.notes == []
    world.lose("db2")
    world.lost.look("set 3")
    assert world.notes[1:] == ["db2 is back: its paths take part from set 3 on"]
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
    assert world.notes[0].endswith("without it go on all but: stage 'mixed'")
    path = world.paths[0]
    assert not world.lost.needed_by(path)
    assert world.lost.load(path, ["observer", "readers"])
    assert not world.lost.load(path, ["observer"])
    with pytest.raises(HostLost, match="host load2 was lost"):
        world.lose("load2")


@pytest.mark.parametrize("host", ["db", "controller"])
def test_a_run_ends_when_no_path_is_left_that_delivers_rows(world: World, host: str) -> None:
    with pytest.raises(HostLost, match=f"host {host} was lost"):
        world.lose(host)
    assert world.forgotten == []


def test_a_run_ends_with_the_last_host(world: World) -> None:
    world.lose("app2")
    with pytest.raises(HostLost, match="host app1 was lost"):
        world.lose("app1")
