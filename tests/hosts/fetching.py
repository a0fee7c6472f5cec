"""Fetching so many bytes over TCP: few on a grown connection, the first of a new one, many of a grown one."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

TRIES = 3  # whoever takes the ends' core makes a measurement longer, never shorter
KEYED_BYTES, FIRST_BYTES, BULK_BYTES = 100, 256 << 10, 3 << 20
SERVER = """
import socket, sys
listener = socket.create_server((sys.argv[1], 0))
print(listener.getsockname()[1], flush=True)
while True:
    stream, _ = listener.accept()
    stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    with stream:
        while request := stream.recv(8, socket.MSG_WAITALL):
            stream.sendall(bytes(int.from_bytes(request, "big")))
"""
CLIENT = """
import json, socket, sys, time
def fetch(stream, size):
    begun = time.monotonic_ns()
    stream.sendall(size.to_bytes(8, "big"))
    while size:
        size -= len(stream.recv(size))
    return time.monotonic_ns() - begun
host, port, keyed, first, bulk = sys.argv[1], *map(int, sys.argv[2:])
with socket.create_connection((host, port)) as stream:
    stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    fetch(stream, keyed)  # its connection is open at both ends
    found = {"first": fetch(stream, first), "grown": fetch(stream, bulk), "bulk": fetch(stream, bulk)}
    found["keyed"] = min(fetch(stream, keyed) for _ in range(8))
print(json.dumps(found))
"""


@contextmanager
def serving(address: str, enter: Sequence[str] = ()) -> Iterator[int]:
    """The port of a server that answers a number with so many bytes."""
    words = [*enter, sys.executable, "-c", SERVER, address]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            yield int(server.stdout.readline())
        finally:
            server.kill()


def fetched(address: str, port: int, enter: Sequence[str] = ()) -> dict[str, int]:
    """The least ns of each fetch, each try on a connection of its own."""
    words = [*enter, sys.executable, "-c", CLIENT, address, *map(str, (port, KEYED_BYTES, FIRST_BYTES, BULK_BYTES))]
    tries = [
        json.loads(subprocess.run(words, capture_output=True, text=True, check=True, timeout=60).stdout)
        for _ in range(TRIES)
    ]
    return {name: min(each[name] for each in tries) for name in tries[0]}
