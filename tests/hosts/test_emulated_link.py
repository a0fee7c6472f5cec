"""The emulated link beside real TCP over a switch of the same delay and rate: where they agree, and where not."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from rowpath.analysis.chapters import links
from rowpath.execution.emulated_link import LinkProxy
from rowpath.machine.counters.core_users import OtherPrograms
from rowpath.model.path import link_bytes_per_s, link_ns
from tests.hosts import delaying_switch, lab
from tests.known_answers import TOO_BUSY

LINK = "20ms@100mbit"
WITHIN = 0.10
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


def test_it_takes_what_real_tcp_takes_but_for_the_first_bytes_of_a_connection(tmp_path: Path) -> None:
    if why := lab.missing() or delaying_switch.missing():
        pytest.skip(why)
    others, trip_ns, rate = OtherPrograms(), link_ns(LINK), link_bytes_per_s(LINK)
    with lab.in_namespaces(tmp_path, delays=True) as hosts:
        assert hosts.switch is not None
        hosts.switch.ways(trip_ns / 2e9, rate)
        there = hosts.addresses["db"]
        with serving(there, hosts.commands["db"]) as port:
            real = fetched(there, port, hosts.commands["app1"])
    with serving("127.0.0.1") as port:
        link = LinkProxy(port, LINK)
        try:
            ours = fetched("127.0.0.1", link.port)
        finally:
            link.stop()
    for found in (real, ours):  # whatever else runs: nothing is faster than light and wire
        assert found["keyed"] >= trip_ns
        assert found["bulk"] >= trip_ns + 0.98 * BULK_BYTES * 1e9 / rate
    ratios = {name: real[name] / ours[name] for name in real}
    across = links.AcrossLink(
        "w", "p", "steady", "n", LINK, trip_ns, 1, 1, 1, 1, 1, None, None, FIRST_BYTES * 1e9 / rate
    )
    said = links.slow_start(across)
    assert "no slow start here" in said
    doublings = int(said.partition("up to ")[2].split()[0])
    agree = all(abs(ratios[name] - 1) <= WITHIN for name in ("keyed", "bulk"))
    slower = ratios["first"] > 1 + WITHIN and real["first"] <= (1 + WITHIN) * (ours["first"] + doublings * trip_ns)
    if not (agree and slower) and (busy := others.busy()):
        pytest.skip(f"{TOO_BUSY}{busy}")
    assert agree and slower, (ratios, real, ours, said)
