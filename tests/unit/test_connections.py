"""Bytes of our own connections against known bytes over real sockets."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Iterator

import pytest

from rowpath.machine.counters import connections
from tests.waiting import until

FAMILIES = ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::ffff:127.0.0.1"))
GREETING = 1  # TCP's own


@contextlib.contextmanager
def connected(
    port: int, family: int, host: str, server: socket.socket
) -> Iterator[tuple[socket.socket, socket.socket]]:
    with socket.socket(family, socket.SOCK_STREAM) as client:
        client.connect((host, port))
        accepted, _ = server.accept()
        with accepted:
            yield client, accepted


def pass_on(source: socket.socket, target: socket.socket, count: int) -> None:
    source.sendall(bytes(count))
    left = count
    while left:
        left -= len(target.recv(left))


def bytes_of(port: int) -> tuple[int, int] | None:
    """Bytes to and from the server on all connections to that port; None: unavailable."""
    each = connections.of_each(port)
    return None if each is None else (sum(sent for sent, _ in each.values()), sum(got for _, got in each.values()))


def settled(port: int, wanted: tuple[int, int]) -> tuple[int, int] | None:
    """What is told once the last acknowledgements are in."""
    with contextlib.suppress(AssertionError):
        until(lambda: bytes_of(port) == wanted, "last acknowledgement")
    return bytes_of(port)


@pytest.mark.parametrize(("family", "host"), FAMILIES)
def test_known_bytes(family: int, host: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        with connected(port, family, host, server) as (client, accepted):
            pass_on(client, accepted, 1000)
            pass_on(accepted, client, 7000)
            assert settled(port, (1000 + GREETING, 7000)) == (1000 + GREETING, 7000)


def test_several_connections_are_summed_and_no_others() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_server(("127.0.0.1", 0)) as other:
        port, others = server.getsockname()[1], other.getsockname()[1]
        with contextlib.ExitStack() as cleanup:
            for count, (family, host) in zip((100, 200), FAMILIES, strict=True):
                client, accepted = cleanup.enter_context(connected(port, family, host, server))
                pass_on(client, accepted, count)
            client, accepted = cleanup.enter_context(connected(others, *FAMILIES[0], other))
            pass_on(client, accepted, 5000)
            assert settled(port, (300 + 2 * GREETING, 0)) == (300 + 2 * GREETING, 0)


def test_growth_counts_from_one_look_to_the_next() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        with connected(port, *FAMILIES[0], server) as (client, accepted):
            growth = connections.Growth(port)
            pass_on(client, accepted, 300)
            pass_on(accepted, client, 40)
            settled(port, (300 + GREETING, 40))
            assert growth.since() == (300, 40)
            assert growth.since() == (0, 0)
            with connected(port, *FAMILIES[1], server) as (late, taken):
                pass_on(late, taken, 50)
                settled(port, (350 + 2 * GREETING, 40))
                assert growth.since() == (50 + GREETING, 0), "a new connection is new from its first byte"
            assert growth.since() == (0, 0), "what ended takes nothing back"
        assert growth.since() is None, "without a connection nothing can be told"


def test_the_probe_names_its_means() -> None:
    assert connections.probe() == connections.MEANS
