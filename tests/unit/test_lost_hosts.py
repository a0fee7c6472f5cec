"""A run that loses a host: who goes on, who is left out, and when nothing can go on."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from rowpath.execution.lost_hosts import LostHosts
from rowpath.execution.several_hosts import HostLost


class World:
    """Paths on two clients' hosts, behind one server; what is said and forgotten."""

    def __init__(self, *hosts: tuple[str, ...]) -> None:
        self.notes: list[str] = []
        self.forgotten: list[str] = []
        self.paths = [self._path(f"path {number}", each) for number, each in enumerate(hosts)]
        self.paths.append(self._path("null", ("app2",), is_null=True))
        context: Any = SimpleNamespace(
            plan=SimpleNamespace(paths=self.paths),
            runnable=lambda _planned: True,
            note=self.notes.append,
            now_ns=lambda: 3_000_000_000,
        )
        joined: Any = SimpleNamespace(needed_by=lambda planned: frozenset(planned.hosts))
        self.lost = LostHosts(context, joined, self.forgotten.append)

    def _path(self, name: str, hosts: tuple[str, ...], *, is_null: bool = False) -> Any:
        return SimpleNamespace(name=name, hosts=hosts, path=SimpleNamespace(is_null=is_null))

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
    with pytest.raises(HostLost, match="host app2 was lost"):
        world.lost.end()


@pytest.mark.parametrize("host", ["db", "controller"])
def test_a_run_ends_when_no_path_is_left_that_delivers_rows(world: World, host: str) -> None:
    with pytest.raises(HostLost, match=f"host {host} was lost"):
        world.lose(host)
    assert world.forgotten == []


def test_a_run_ends_with_the_last_host(world: World) -> None:
    world.lose("app2")
    with pytest.raises(HostLost, match="host app1 was lost"):
        world.lose("app1")
