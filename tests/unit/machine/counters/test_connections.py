"""Bytes of our connections to one address, as the kernel counts them."""

from __future__ import annotations

import socket

import pytest

from rowpath.machine.counters import connections


@pytest.mark.skipif(connections.probe() != connections.METHOD, reason=connections.probe())
@pytest.mark.parametrize("address", ["127.0.0.1", "127.0.0.9"])
def test_only_connections_to_the_address_grow(address: str) -> None:
    with socket.create_server((address, 0)) as listening:
        port = listening.getsockname()[1]
        growth, elsewhere = connections.Growth(port, address), connections.Growth(port, "127.0.0.8")
        with socket.create_connection((address, port)) as client, listening.accept()[0] as server:
            growth.since()
            client.sendall(bytes(300))
            server.sendall(bytes(7))
            assert len(server.recv(300, socket.MSG_WAITALL)) == 300
            assert len(client.recv(7, socket.MSG_WAITALL)) == 7
            assert growth.since() == (300, 7)
            assert elsewhere.since() is None
