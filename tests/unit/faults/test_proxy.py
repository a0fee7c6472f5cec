"""The proxy that breaks connections, between two sockets of ours: what each way looks like from the client's end."""

from __future__ import annotations

import contextlib
import os
import socket
import threading
from collections.abc import Iterator

import pytest

from rowpath.faults.proxy import LOOPBACK, Break, FaultProxy, Way
from tests.waiting import PATIENCE_S

ANSWER = b"z" * 200_000
MIDDLE = 100_001
LATE_S = 0.2
QUIET_S = 0.5


@pytest.fixture
def server() -> Iterator[tuple[str, int]]:
    """Answers each byte with ANSWER."""
    listener = socket.create_server((LOOPBACK, 0))

    def serve(connection: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while connection.recv(1):
                connection.sendall(ANSWER)

    def accept() -> None:
        with contextlib.suppress(OSError):
            while True:
                threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    yield listener.getsockname()
    listener.close()


@pytest.fixture
def proxy(server: tuple[str, int]) -> Iterator[FaultProxy]:
    proxy = FaultProxy(server)
    yield proxy
    proxy.stop()


def connected(proxy: FaultProxy) -> socket.socket:
    client = socket.create_connection((LOOPBACK, proxy.port), 10)
    asked(client)
    return client


def asked(client: socket.socket, sure: int = 0) -> tuple[int, str]:
    """The bytes of an answer, and how it ended; the first `sure` of them come, if late on a busy machine."""
    got, patience_s = 0, client.gettimeout()
    try:
        client.sendall(b"q")
        while got < len(ANSWER):
            client.settimeout(PATIENCE_S if got < sure else patience_s)
            data = client.recv(1 << 16)
            if not data:
                return got, "closed"
            got += len(data)
    except ConnectionError:
        return got, "reset"
    except TimeoutError:
        return got, "silent"
    return got, "whole"


@pytest.mark.parametrize(
    ("way", "end", "then"),
    [
        ("close", "closed", "closed"),
        ("reset", "reset", "reset"),
        ("silence", "silent", "silent"),
        ("stall", "silent", "silent"),
        ("hold", "silent", "silent"),
        pytest.param("forget", "silent", "reset", marks=pytest.mark.skipif(os.geteuid() != 0, reason="needs root")),
    ],
)
def test_a_connection_breaks_at_the_byte(proxy: FaultProxy, way: Way, end: str, then: str) -> None:
    client = connected(proxy)
    client.settimeout(QUIET_S)
    broken = proxy.arm(Break(way, after_bytes=MIDDLE))
    got, seen = asked(client, sure=MIDDLE)
    assert seen == end and broken.broken_ns
    assert got <= MIDDLE if way == "reset" else got == MIDDLE  # a reset throws away what was not read yet
    assert asked(client) == (0, then)


def test_what_is_late_comes_whole(proxy: FaultProxy) -> None:
    client = connected(proxy)
    proxy.arm(Break("late", after_bytes=MIDDLE, seconds=LATE_S))
    assert asked(client) == (len(ANSWER), "whole")


def test_the_last_answer_is_lost(proxy: FaultProxy) -> None:
    client = connected(proxy)
    proxy.arm(Break("close", answers=2))
    assert asked(client) == (len(ANSWER), "whole")
    assert asked(client) == (0, "closed")


def test_a_silence_swallows_new_connections_until_it_heals(proxy: FaultProxy) -> None:
    old = connected(proxy)
    old.settimeout(QUIET_S)
    proxy.silence()
    with pytest.raises(TimeoutError):
        socket.create_connection((LOOPBACK, proxy.port), QUIET_S)
    proxy.heal()
    connected(proxy)
    assert asked(old) == (0, "silent")


def test_a_box_between_forgets_only_idle_connections(proxy: FaultProxy) -> None:
    old = connected(proxy)
    old.settimeout(QUIET_S)
    proxy.silence(new=False)
    connected(proxy)
    assert asked(old) == (0, "silent")


def test_where_no_server_listens_a_connection_is_refused(proxy: FaultProxy) -> None:
    with socket.create_server((LOOPBACK, 0)) as gone:
        proxy.to = gone.getsockname()
    with pytest.raises(ConnectionError), socket.create_connection((LOOPBACK, proxy.port), 10) as client:
        client.recv(1)
