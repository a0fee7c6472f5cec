"""Hosts are reached side by side, but never so many at once that an SSH server refuses one."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

import msgspec
import pytest

from rowpath.errors import RowpathError
from rowpath.hosts import cluster, hosts_file, reach, setup
from rowpath.hosts.node import NodeAnswer, NodeRequest
from rowpath.machine import private_directories, processes
from rowpath.model.hosts import Host

MAX_STARTUPS = 10  # of an sshd with its own settings: it refuses further ones while so many are logging in
HOSTS = 12
SOURCE = Path(__file__).parents[3] / "src"
HOST = """
[[host]]
name = "h{number}"
address = "127.0.1.{number}"
ssh = "h{number}"
roles = ["client", "server"]
"""


class Reached:
    """Hosts that answer at once: what each was asked, and how many were asked side by side."""

    def __init__(self) -> None:
        self.asked: dict[str, set[str]] = {}
        self.at_most: list[int] = []
        self._side_by_side = processes.side_by_side

    def carry_out(self, host: Host | None, request: NodeRequest) -> NodeAnswer:
        """As `reach` has it."""
        if host is not None:
            self.asked.setdefault(request.action, set()).add(host.name)
        return NodeAnswer()

    def side_by_side(self, todo: Iterable[Callable[[], object]], at_most: int = 0) -> None:
        """As `processes` has it."""
        self.at_most.append(at_most)
        self._side_by_side(todo, at_most)


@pytest.fixture
def reached(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Reached:
    """They are there without any network."""
    found = Reached()
    monkeypatch.setenv("ROWPATH_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(reach, "carry_out", found.carry_out)
    monkeypatch.setattr(processes, "side_by_side", found.side_by_side)
    monkeypatch.setattr(setup, "require", lambda: None)
    monkeypatch.setattr(private_directories, "port_taken", lambda _port, _address: False)
    pair = cluster.CertifiedKey("", "")
    monkeypatch.setattr(cluster, "make", lambda addresses: ("", dict.fromkeys(addresses, pair)))
    return found


@pytest.fixture
def over_ssh(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Host:
    """A host whose login has an environment and a cache of its own, behind a program `ssh` that needs no server."""
    home = tmp_path / "home"
    own = f"HOME='{home}' ROWPATH_CACHE='{home}/login' PYTHONPATH='{SOURCE}'"
    programs = {"ssh": f'for last; do :; done; exec env -i PATH="$PATH" {own} sh -c "$last"'}
    programs["rowpath"] = f"exec '{sys.executable}' -P -m rowpath \"$@\""
    for name, text in programs.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{text}\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setenv("ROWPATH_CACHE", str(tmp_path / "ours"))
    return Host("db", "10.0.0.10", ("server",), ssh="db", rowpath=str(tmp_path / "rowpath"))


@pytest.mark.parametrize(
    ("cache", "used", "hint"),
    [
        ("", "home/login", "rowpath hosts setup"),
        ("{folder}/o'clock $HOME", "o'clock $HOME", "ROWPATH_CACHE='{folder}/o'\"'\"'clock $HOME' rowpath hosts setup"),
        ("~/my cache", "home/my cache", "ROWPATH_CACHE=~/'my cache' rowpath hosts setup"),
    ],
)
def test_what_runs_on_a_host_has_the_cache_of_the_file_else_of_the_login(
    over_ssh: Host, tmp_path: Path, cache: str, used: str, hint: str
) -> None:
    places = [tmp_path / place / "hosts" / "c" / "db" for place in {"ours", "home/login", used}]
    for each in places:
        each.mkdir(parents=True)
    host = msgspec.structs.replace(over_ssh, cache=cache.format(folder=tmp_path))
    reach.carry_out(host, NodeRequest("stop", "c", "db"))
    assert [each for each in places if not each.exists()] == [tmp_path / used / "hosts" / "c" / "db"]
    with pytest.raises(RowpathError, match="is not installed") as raised:
        reach.carry_out(host, NodeRequest("start", "c", "db"))
    assert raised.value.hint == "on host db: " + hint.format(folder=tmp_path)


def test_hosts_are_reached_side_by_side_but_not_all_at_once(reached: Reached, tmp_path: Path) -> None:
    file = tmp_path / "hosts.toml"
    file.write_text("schema_version = 1\n" + "".join(HOST.format(number=each) for each in range(1, HOSTS + 1)))
    hosts = hosts_file.read(file)
    cluster.up(file, hosts, lambda _text: None)
    cluster.status(file)
    cluster.down(file, hosts, lambda _text: None)
    every = {host.name for host in hosts.host}
    assert reached.asked == {"look": every, "start": every, "stop": every}
    assert reached.at_most == 4 * [reach.AT_ONCE]
    assert 1 < reach.AT_ONCE < MAX_STARTUPS
