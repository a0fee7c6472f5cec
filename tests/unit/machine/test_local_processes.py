"""Which processes of others' servers run here, and whether a host is this machine."""

from __future__ import annotations

import os
import socket

import pytest

from rowpath.engines import ENGINES
from rowpath.machine import processes
from rowpath.own_database.instances import ProbedServer
from rowpath.own_database.target import Target


@pytest.mark.parametrize("host", ["", "localhost", "127.0.0.1", "127.9.9.9", "::1"])
def test_this_machine_is_here(host: str) -> None:
    if host == "::1" and not socket.has_ipv6:
        pytest.skip("no IPv6")
    assert processes.is_here(host)


@pytest.mark.parametrize("host", ["192.0.2.1", "no-such-host.invalid"])
def test_others_are_not(host: str) -> None:
    assert not processes.is_here(host)


def test_processes_are_found_by_name() -> None:
    mine = processes.name(os.getpid())
    assert os.getpid() in processes.named((mine,))
    assert processes.named(("no such program",)) == []


@pytest.mark.parametrize(("host", "found"), [("127.0.0.1", [7]), ("192.0.2.1", [])])
def test_a_probed_server_has_processes_where_it_is_here(
    host: str, found: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(processes, "named", lambda programs: [7] if "postgres" in programs else [])
    assert ProbedServer(Target("postgresql", "server", host=host, port=5432, shown="…")).others_pids() == found


def test_every_server_with_a_url_says_how_its_processes_are_called() -> None:
    served = [engine for engine in ENGINES.values() if engine.probe.schemes and engine.probe.port]
    assert {engine.name for engine in served if engine.probe.server_programs} >= {"postgresql", "mariadb", "mysql"}
