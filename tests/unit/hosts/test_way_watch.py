"""The watch over a way: a refusal is an answer, silence after answers is a loss, silence from the first is none."""

from __future__ import annotations

import os
import resource
import socket
from collections.abc import Iterator

import pytest

from rowpath.execution.several_hosts import HostLost
from rowpath.hosts import network
from rowpath.hosts.network import WayWatch
from tests import waiting
from tests.unit.insides import answered, pending, watch_port

FD_SETSIZE = 1024  # of select(): descriptors from there on do not fit
HERE = {"db": "127.0.0.1"}


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(network, "EACH_S", 0.0)
    monkeypatch.setattr(network, "SILENT_S", 0.2)


@pytest.fixture
def silent_port() -> Iterator[int]:
    """One that takes no further connection: the kernel drops every request."""
    with socket.create_server(("127.0.0.1", 0), backlog=0) as listening:
        port = listening.getsockname()[1]
        taken = []
        for _ in range(3):
            each = socket.socket()
            each.setblocking(False)
            each.connect_ex(("127.0.0.1", port))
            taken.append(each)
        yield port
        for each in taken:
            each.close()


def _closed_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return int(listening.getsockname()[1])


def _answered(watch: WayWatch) -> bool:
    watch.look(["db"])
    return "db" in answered(watch)


def test_a_refusal_is_an_answer_and_silence_after_it_a_loss(silent_port: int) -> None:
    watch = WayWatch("app1", HERE, _closed_port())
    waiting.until(lambda: _answered(watch), "answer")
    watch_port(watch, silent_port)
    seen: list[HostLost] = []

    def lost() -> bool:
        try:
            watch.look(["db"])
        except HostLost as error:
            seen.append(error)
        return bool(seen)

    waiting.until(lost, "loss")
    assert (seen[0].host, seen[0].text) == ("db", "the network between it and app1 broke")
    watch.close()


@pytest.fixture
def many_files() -> Iterator[None]:
    """Every descriptor up to 1,023 is taken."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < 2 * FD_SETSIZE:
        pytest.skip(f"at most {hard} files may be open")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 2 * FD_SETSIZE), hard))
    taken = [os.open(os.devnull, os.O_RDONLY)]
    try:
        while taken[-1] < FD_SETSIZE:
            taken.append(os.dup(taken[0]))
        yield
    finally:
        for each in taken:
            os.close(each)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_a_way_is_watched_by_a_process_with_many_files(many_files: None) -> None:
    watch = WayWatch("app1", HERE, _closed_port())
    watch.look(["db"])
    assert pending(watch)["db"][0] >= FD_SETSIZE
    waiting.until(lambda: _answered(watch), "answer")
    watch.close()


def test_a_host_that_never_answered_is_not_lost(silent_port: int) -> None:
    watch = WayWatch("app1", HERE, silent_port)
    asked: set[float] = set()

    def asked_again() -> bool:
        watch.look(["db"])
        asked.update(since_s for _asked, since_s in pending(watch).values())
        return len(asked) > 2

    waiting.until(asked_again, "further request")
    assert not answered(watch)
    watch.close()
