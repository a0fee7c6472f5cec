"""Hosts are reached side by side, but never so many at once that an SSH server refuses one."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from rowpath.hosts import certificates, cluster, hosts_file, reach, setup
from rowpath.hosts.node import Answer, Request
from rowpath.machine import private_directories, processes
from rowpath.model.hosts import Host

MAX_STARTUPS = 10  # of an sshd with its own settings: it refuses further ones while so many are logging in
HOSTS = 12
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

    def carry_out(self, host: Host | None, request: Request) -> Answer:
        """As `reach` has it."""
        if host is not None:
            self.asked.setdefault(request.action, set()).add(host.name)
        return Answer()

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
    pair = certificates.Pair("", "")
    monkeypatch.setattr(certificates, "make", lambda addresses: ("", dict.fromkeys(addresses, pair)))
    return found


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
