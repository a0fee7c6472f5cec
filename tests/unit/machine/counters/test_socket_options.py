"""Whether another process's connections have TCP_NODELAY, read from its own sockets."""

from __future__ import annotations

import socket
import subprocess
import sys

import pytest

from rowpath.machine.counters import connections

CLIENT = """
import socket, sys
peers = [socket.create_connection(("127.0.0.1", int(sys.argv[1]))) for _ in sys.argv[2:]]
for peer, wanted in zip(peers, sys.argv[2:]):
    peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, int(wanted))
listening, other = socket.create_server(("127.0.0.1", 0)), socket.socketpair()
print("ready", flush=True)
print([peer.getblocking() for peer in peers], sys.stdin.readline(), flush=True)
"""


@pytest.mark.parametrize(("options", "expected"), [("1", True), ("0", False), ("10", False), ("11", True), ("", None)])
def test_no_delay_of_a_process(options: str, expected: bool | None) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        command = [sys.executable, "-c", CLIENT, str(server.getsockname()[1]), *options]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as client:
            assert client.stdin is not None
            assert client.stdout is not None
            assert client.stdout.readline() == "ready\n"
            assert connections.no_delay(client.pid) is expected
            client.stdin.close()
            assert "False" not in client.stdout.read()  # its sockets are as they were


def test_a_process_that_is_gone() -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as gone:
        gone.wait()
    assert connections.no_delay(gone.pid) is None
