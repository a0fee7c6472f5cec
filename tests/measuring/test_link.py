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
from rowpath.journal.records import LinkRecord
from rowpath.machine import c_tools, processes
from rowpath.model.path import AccessPath
from rowpath.planning import selection
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


@pytest.mark.parametrize("link", ["2ms", "2ms@1gbit"])
def test_every_byte_arrives_in_order_beyond_what_the_link_holds(linked: Make, link: str) -> None:
    _, client = linked(echo, link)
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


RATED, DELAY_S, BYTES_PER_S, SENT = "20ms@80mbit", 0.02, 10e6, 2_000_000


def answer_each(stream: socket.socket) -> None:
    """Ten digits: how many bytes follow; ten more: how many to answer."""
    with stream:
        while request := stream.recv(20, socket.MSG_WAITALL):
            stream.recv(int(request[:10]), socket.MSG_WAITALL)
            stream.sendall(bytes(int(request[10:])))


def exchanged(client: socket.socket, follow: int, answer: int) -> float:
    """Seconds of one exchange."""
    started = time.monotonic()
    client.sendall(f"{follow:010}{answer:010}".encode() + bytes(follow))
    while answer:
        answer -= len(client.recv(min(answer, CHUNK)))
    return time.monotonic() - started


@pytest.mark.parametrize(("follow", "answer"), [(SENT, 1), (0, SENT)])
def test_connections_share_the_rate_of_a_direction(linked: Make, follow: int, answer: int) -> None:
    _, client = linked(answer_each, RATED)
    least_s = DELAY_S + 2 * SENT / BYTES_PER_S
    with socket.create_connection(client.getpeername(), PATIENCE_S) as second:
        for stream in (client, second):
            exchanged(stream, 0, 1)  # both are open
        for _ in range(TRIES):
            beside = threading.Thread(target=exchanged, args=(second, follow, answer))
            started = time.monotonic()
            beside.start()
            exchanged(client, follow, answer)
            beside.join()
            took_s = time.monotonic() - started
            assert took_s >= least_s * 0.999
            if took_s <= 1.05 * DELAY_S + 1.02 * (least_s - DELAY_S):
                return
    pytest.fail(f"{took_s} s instead of {least_s} s")  # a neighbour can only add to it, and not each time


def test_directions_do_not_share_their_rate(linked: Make) -> None:
    _, client = linked(echo, RATED)
    exchanged_s = DELAY_S + SENT / BYTES_PER_S
    sender = threading.Thread(target=client.sendall, args=(bytes(SENT),))
    started = time.monotonic()
    sender.start()
    left = SENT
    while left:
        left -= len(client.recv(CHUNK))
    sender.join()
    assert exchanged_s <= time.monotonic() - started < 1.9 * exchanged_s


def test_a_long_send_delays_others_by_what_queues_and_no_more(linked: Make) -> None:
    _, client = linked(answer_each, RATED)
    with socket.create_connection(client.getpeername(), PATIENCE_S) as second:
        exchanged(second, 0, 1)
        beside = threading.Thread(target=exchanged, args=(client, 0, 3 * SENT))
        beside.start()
        took = [exchanged(second, 0, 1) for _ in range(10)]
        beside.join()
    assert DELAY_S <= min(took) < 2 * DELAY_S  # 10 ms of the rate may stand before it


def test_a_sender_that_is_faster_than_the_link_has_to_wait(linked: Make) -> None:
    sent = [0]

    def send(stream: socket.socket) -> None:
        stream.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, CHUNK)
        try:
            while stream.recv(1) and sent[0] < MANY:
                for _ in range(MANY // CHUNK):
                    sent[0] += stream.send(bytes(CHUNK))
        except OSError:
            return  # the test has seen enough

    _, client = linked(send, RATED)
    client.sendall(b"x")
    seen = -1
    while seen < sent[0] or not seen:
        seen = sent[0]
        time.sleep(0.2)
    client.close()
    assert seen < 2 << 20  # without a rate the link alone takes 16 MiB


@pytest.mark.parametrize(("more", "status"), [(0.99, 0), (1.01, 2)])
def test_it_takes_the_longest_links_that_a_plan_may_have(more: float, status: int) -> None:
    rate = more * selection.LINK_HOLDS_BYTES / (0.1 + selection.LINK_QUEUE_NS / 1e9)
    words = c_tools.link_command(1, 100_000_000, rate)
    assert subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, check=False).returncode == status


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


def test_a_link_that_was_late_hands_on_earlier(tmp_path: Path) -> None:
    place = Place(tmp_path / "ping", tmp_path / "s", (max(os.sched_getaffinity(0)),))
    ping = ENGINES["null"].instance("server", "none", place)
    path = AccessPath.of({"engine": "null", "deployment": "server", "transport": "tcp", "link": "2ms"})
    links = Links()

    def fastest_ns() -> int:
        """Of twenty round trips: a busy machine makes single ones longer."""
        way, took = links.way_to("ping", ping, path), []
        with socket.create_connection((way["host"], way["port"]), PATIENCE_S) as client:
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            for _round_trip in range(20):
                begun_ns = time.monotonic_ns()
                client.sendall(b"x")
                assert client.recv(1) == b"x"
                took.append(time.monotonic_ns() - begun_ns)
        return min(took)

    ping.start()
    try:
        as_it_is = fastest_ns()
        links.learn(LinkRecord(link="2ms", placement=path.placement, early_ns=300_000))
        assert fastest_ns() < as_it_is - 300_000
    finally:
        links.stop_all()
        ping.stop()
