"""The emulated link as a process: order and content of bytes, delay, back-pressure, endings, and its own end."""

from __future__ import annotations

import hashlib
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from rowpath.engines import ENGINES
from rowpath.engines.base import Place
from rowpath.engines.null import NullInstance
from rowpath.execution.emulated_link import LinkProxy, Links
from rowpath.machine import c_tools, processes
from rowpath.model.path import AccessPath
from rowpath.runners.process import RunnerFailure
from tests.waiting import PATIENCE_S, gone, nobody_listens

pytestmark = pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")
CHUNK = 1 << 16
TRIES = 3  # the quickest counts: a neighbour can only add
MANY = 40 << 20  # more than the link holds on its way


def receive_all(stream: socket.socket) -> bytes:
    parts = []
    while part := stream.recv(CHUNK):
        parts.append(part)
    return b"".join(parts)


class Server:
    """Serves each connection in a thread; `opened` are the times of the connections."""

    def __init__(self, serve: Callable[[socket.socket], None]) -> None:
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self.listener.getsockname()[1]
        self.opened: list[float] = []
        self._serve = serve
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                stream, _ = self.listener.accept()
            except OSError:
                return
            self.opened.append(time.monotonic())
            threading.Thread(target=self._serve, args=(stream,), daemon=True).start()


@pytest.fixture
def linked() -> Iterator[Callable[..., tuple[Server, socket.socket]]]:
    """A server behind a link of that value, and a client's connection."""
    started: list[LinkProxy] = []
    servers: list[Server] = []

    def make(serve: Callable[[socket.socket], None], value: str = "20ms") -> tuple[Server, socket.socket]:
        server = Server(serve)
        servers.append(server)
        link = LinkProxy(server.port, value)
        started.append(link)
        return server, socket.create_connection(("127.0.0.1", link.port), PATIENCE_S)

    yield make
    for link in started:
        link.stop()
    for server in servers:
        server.listener.close()


def echo(stream: socket.socket) -> None:
    with stream:
        while data := stream.recv(CHUNK):
            stream.sendall(data)


Make = Callable[..., tuple[Server, socket.socket]]


def test_each_round_trip_takes_the_stated_time_longer(linked: Make) -> None:
    _, client = linked(echo)
    took = []
    for _ in range(20):
        started = time.monotonic()
        client.sendall(b"x")
        assert client.recv(1) == b"x"
        took.append(time.monotonic() - started)
    assert min(took[1:]) >= 0.020
    assert min(took[1:]) < 0.030  # a neighbour can only add to it


def test_opening_a_connection_takes_a_round_trip_of_its_own(linked: Make) -> None:
    took = []
    for _ in range(TRIES):
        started = time.monotonic()
        server, client = linked(echo, "100ms")
        connected = time.monotonic()
        client.sendall(b"x")
        assert client.recv(1) == b"x"
        took.append(time.monotonic() - connected)
        assert server.opened[0] - started >= 0.15
    assert 0.2 <= min(took) < 0.28  # its own, and the first request's


def test_a_server_that_speaks_first_is_heard_two_round_trips_after_connecting(linked: Make) -> None:
    def greet(stream: socket.socket) -> None:
        stream.sendall(b"hello")
        stream.recv(1)

    took = []
    for _ in range(TRIES):
        _, client = linked(greet, "100ms")
        started = time.monotonic()
        assert client.recv(5) == b"hello"
        took.append(time.monotonic() - started)
    assert 0.19 <= min(took) < 0.28


def test_what_is_sent_at_once_crosses_at_once(linked: Make) -> None:
    """Requests that do not wait for answers share their delay: a link is no queue of one."""
    _, client = linked(echo, "40ms")
    client.sendall(b"x")
    assert client.recv(1) == b"x"
    started = time.monotonic()
    for _ in range(50):
        client.sendall(b"y")
        time.sleep(0.001)
    left = 50
    while left:
        left -= len(client.recv(left))
    assert time.monotonic() - started < 1  # one after the other they would take 2 s


def test_every_byte_arrives_in_order_beyond_what_the_link_holds(linked: Make) -> None:
    _, client = linked(echo, "2ms")
    sent, received = hashlib.sha256(), hashlib.sha256()
    generator = random.Random(7)
    blocks = [generator.randbytes(size) for size in (1, 3, 100, 4096, 70_001, 250_007)]
    left = [MANY]

    def send() -> None:
        while left[0] > 0:
            block = generator.choice(blocks)[: left[0]]
            sent.update(block)
            client.sendall(block)
            left[0] -= len(block)
        client.shutdown(socket.SHUT_WR)

    sender = threading.Thread(target=send)
    sender.start()
    time.sleep(0.3)  # nobody reads yet: the way back fills up
    while data := client.recv(CHUNK):
        received.update(data)
    sender.join(PATIENCE_S)
    assert received.digest() == sent.digest()
    assert left == [0]


def test_an_end_of_one_direction_leaves_the_other_open(linked: Make) -> None:
    def answer_at_the_end(stream: socket.socket) -> None:
        with stream:
            stream.sendall(str(len(receive_all(stream))).encode())

    _, client = linked(answer_at_the_end)
    client.sendall(b"z" * 100_000)
    client.shutdown(socket.SHUT_WR)
    assert receive_all(client) == b"100000"


def test_a_server_that_is_not_there_ends_the_connection() -> None:
    with nobody_listens() as port:
        link = LinkProxy(port, "2ms")
        try:
            with socket.create_connection(("127.0.0.1", link.port), PATIENCE_S) as client:
                assert client.recv(1) == b""
            assert link.alive()
        finally:
            link.stop()


def test_a_server_that_goes_away_ends_its_connections_alone(linked: Make) -> None:
    server, client = linked(echo)
    second = socket.create_connection(client.getpeername(), PATIENCE_S)

    def ask(stream: socket.socket) -> bytes:
        stream.sendall(b"q")
        return stream.recv(1)

    assert (ask(client), ask(second)) == (b"q", b"q")
    client.close()
    assert ask(second) == b"q"
    assert len(server.opened) == 2


def test_a_hundred_connections_at_once(linked: Make) -> None:
    _, client = linked(echo, "10ms")
    every = [socket.create_connection(client.getpeername(), PATIENCE_S) for _ in range(100)]
    for number, stream in enumerate(every):
        stream.sendall(bytes([number]))
    assert [stream.recv(1) for stream in every] == [bytes([number]) for number in range(100)]
    for stream in every:
        stream.close()


def test_it_listens_on_loopback_alone_and_ends_with_its_stdin() -> None:
    process = subprocess.Popen(c_tools.link_command(1, 1000), stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdin is not None
    assert process.stdout is not None
    port = int(process.stdout.readline().removeprefix(b"ready tcp="))
    listening = Path("/proc/net/tcp").read_text().splitlines()
    assert any(line.split()[1] == f"0100007F:{port:04X}" for line in listening)
    assert not any(line.split()[1] == f"00000000:{port:04X}" for line in listening)
    process.stdin.close()
    assert process.wait(PATIENCE_S) == 0


def test_it_dies_with_its_parent() -> None:
    child = (
        "import time; from rowpath.execution.emulated_link import LinkProxy; from rowpath.machine import processes;"
        "link = LinkProxy(1, '1ms'); print(*processes.living(), flush=True); time.sleep(600)"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    parent = subprocess.Popen([sys.executable, "-c", child], stdout=subprocess.PIPE, env=environment)
    assert parent.stdout is not None
    pids = [int(word) for word in parent.stdout.readline().split()]
    assert pids
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    assert gone(pids)


def test_a_server_of_another_machine_is_refused() -> None:
    class Elsewhere(NullInstance):
        def options(self, path: AccessPath) -> dict[str, Any]:
            return {"host": "db.example", "port": 1}

    path = AccessPath.of({"transport": "tcp", "link": "2ms"})
    with pytest.raises(RunnerFailure, match=r"not for db\.example") as told:
        Links().way_to("elsewhere", Elsewhere(), path)
    assert told.value.kind == "unsupported"


def test_a_server_that_comes_back_on_another_port_gets_a_new_link(tmp_path: Path) -> None:
    place = Place(tmp_path / "ping", tmp_path / "s", (max(os.sched_getaffinity(0)),))
    ping = ENGINES["null"].instance("server", "none", place)
    path = AccessPath.of({"engine": "null", "deployment": "server", "transport": "tcp", "link": "2ms"})
    links = Links()
    ping.start()
    try:
        first = links.way_to("ping", ping, path)
        assert links.way_to("ping", ping, path) == first
        assert links.way_to("ping", ping, AccessPath.of({"transport": "tcp"})) == {}
        with socket.create_connection((first["host"], first["port"]), PATIENCE_S) as client:
            client.sendall(b"x")
            assert client.recv(1) == b"x"
        before = processes.living()
        ping.stop()
        while True:  # a free port is seldom the same twice
            ping.start()
            if links.way_to("ping", ping, path) != first:
                break
            ping.stop()
        assert len(processes.living()) == len(before)  # the old link is gone
        with socket.create_connection((first["host"], links.way_to("ping", ping, path)["port"]), PATIENCE_S) as client:
            client.sendall(b"x")
            assert client.recv(1) == b"x"
    finally:
        links.stop_all()
        ping.stop()
    assert not set(before) & set(processes.living())
