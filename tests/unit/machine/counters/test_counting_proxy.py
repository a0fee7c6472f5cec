"""The counting proxy: bytes and round trips exactly, both kinds of socket, both directions at once, its end."""

from __future__ import annotations

import os
import socket
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from rowpath.errors import InternalError
from rowpath.machine import processes
from rowpath.machine.counters import counting_proxy as proxy_module
from rowpath.machine.counters.counting_proxy import Counters, Proxy
from tests.unit.insides import process_of
from tests.waiting import PATIENCE_S


def serve(listener: socket.socket, size: int) -> None:
    """Answer every byte with `size` bytes until the client is gone; one client."""
    connection, _ = listener.accept()
    with connection:
        while connection.recv(1):
            connection.sendall(b"y" * size)


def receive(connection: socket.socket, size: int) -> None:
    while size:
        size -= len(connection.recv(min(size, 1 << 16)))


@pytest.fixture
def server() -> Iterator[tuple[socket.socket, int]]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener, listener.getsockname()[1]


def test_counts_a_session_of_known_size_exactly(server: tuple[socket.socket, int]) -> None:
    listener, port = server
    threading.Thread(target=serve, args=(listener, 7), daemon=True).start()
    proxy = Proxy(port)
    with socket.create_connection(("127.0.0.1", proxy.port)) as client:
        for _ in range(100):
            client.sendall(b"x")
            receive(client, 7)
        assert proxy.read() == Counters(bytes_sent=100, bytes_received=700, round_trips=100, connections=1)
        assert proxy.reset().round_trips == 100
        client.sendall(b"x")
        receive(client, 7)
        assert proxy.read() == Counters(bytes_sent=1, bytes_received=7, round_trips=1, connections=0)
    proxy.stop()


def test_what_a_server_says_first_is_a_greeting_and_no_round_trip(server: tuple[socket.socket, int]) -> None:
    listener, port = server

    def greet() -> None:
        stream, _ = listener.accept()
        with stream:
            stream.sendall(b"hello")
            stream.sendall(stream.recv(1))

    threading.Thread(target=greet, daemon=True).start()
    proxy = Proxy(port)
    with socket.create_connection(("127.0.0.1", proxy.port)) as client:
        receive(client, 5)
        client.sendall(b"x")
        receive(client, 1)
        assert proxy.read() == Counters(1, 6, round_trips=1, connections=1, greetings=1)
    proxy.stop()


def test_patience_counts_what_a_client_waits_for(server: tuple[socket.socket, int]) -> None:
    """Answers that come while the client still sends are no round trips of their own."""
    listener, port = server
    threading.Thread(target=serve, args=(listener, 7), daemon=True).start()
    proxy = Proxy(port)
    with socket.create_connection(("127.0.0.1", proxy.port)) as client:
        proxy.patience(3600)  # no machine is so slow that a piece comes later
        for piece in range(1, 11):
            client.sendall(b"x")
            while proxy.read().bytes_sent < piece:
                pass
        assert proxy.read() == Counters(bytes_sent=10, connections=1)
        proxy.patience(0)  # hands on what was held back
        receive(client, 70)
        assert proxy.read() == Counters(bytes_sent=10, bytes_received=70, round_trips=1, connections=1)
        proxy.patience(0.01)
        for _ in range(3):
            client.sendall(b"x")
            receive(client, 7)
        assert proxy.read().round_trips == 4
    proxy.stop()


def test_a_server_that_leaves_is_heard_to_the_end(server: tuple[socket.socket, int]) -> None:
    listener, port = server

    def leave() -> None:
        stream, _ = listener.accept()
        with stream:
            stream.sendall(stream.recv(1) * 5)

    threading.Thread(target=leave, daemon=True).start()
    proxy = Proxy(port)
    with socket.create_connection(("127.0.0.1", proxy.port)) as client:
        proxy.patience(3600)
        client.sendall(b"x")
        receive(client, 5)
        assert client.recv(1) == b""
        assert proxy.read().round_trips == 1
    proxy.stop()


def test_unix_sockets(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "server"))
        listener.listen()
        threading.Thread(target=serve, args=(listener, 1), daemon=True).start()
        proxy = Proxy(tmp_path / "server", tmp_path / "proxy")
        assert (tmp_path / "proxy").stat().st_mode & 0o077 == 0
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(str(tmp_path / "proxy"))
            client.sendall(b"x")
            receive(client, 1)
            assert proxy.read() == Counters(1, 1, 1, 1)
        proxy.stop()


def test_a_flood_in_both_directions_at_once_does_not_block(server: tuple[socket.socket, int]) -> None:
    listener, port = server
    size, arrived = 20_000_000, threading.Event()

    def flood() -> None:
        connection, _ = listener.accept()
        with connection:
            sender = threading.Thread(target=connection.sendall, args=(b"y" * size,), daemon=True)
            sender.start()
            receive(connection, size)
            arrived.set()
            sender.join(PATIENCE_S)

    threading.Thread(target=flood, daemon=True).start()
    proxy = Proxy(port)
    with socket.create_connection(("127.0.0.1", proxy.port)) as client:
        client.sendall(b"x" * size)  # nobody reads the answer meanwhile
        receive(client, size)
        assert arrived.wait(PATIENCE_S)
        counted = proxy.read()
    assert (counted.bytes_sent, counted.bytes_received) == (size, size)
    proxy.stop()


def test_ends_with_its_stdin(server: tuple[socket.socket, int]) -> None:
    proxy = Proxy(server[1])
    process = process_of(proxy)
    assert process.stdin is not None
    process.stdin.close()
    assert processes.wait(process, PATIENCE_S)
    assert process.returncode == 0
    proxy.stop()


def test_listens_on_loopback_only(server: tuple[socket.socket, int]) -> None:
    proxy = Proxy(server[1])
    hexadecimal = f"{proxy.port:04X}"
    lines = Path("/proc/net/tcp").read_text().splitlines()[1:]
    listening = [line.split()[1] for line in lines if line.split()[3] == "0A"]
    assert [each for each in listening if each.endswith(f":{hexadecimal}")] == [f"0100007F:{hexadecimal}"]
    assert os.path.exists(f"/proc/{process_of(proxy).pid}")  # noqa: PTH110
    proxy.stop()


def test_counts_a_text_that_the_client_sends_in_any_encoding_and_across_borders(
    server: tuple[socket.socket, int],
) -> None:
    text = "FROM mydata2 WHERE ä = "
    listener, port = server
    threading.Thread(target=serve_all, args=(listener,), daemon=True).start()
    proxy = Proxy(port)
    proxy.watch(text)
    for encoding in ("utf-8", "utf-16-le", "utf-16-be"):
        sent = b"\0" + text.encode(encoding) * 2 + text.encode(encoding)[:-4]
        with socket.create_connection(("127.0.0.1", proxy.port)) as client:
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            for at in range(0, len(sent), 7):
                client.sendall(sent[at : at + 7])
                receive(client, len(sent[at : at + 7]))
            counted = proxy.reset()  # what the server sends back is not counted
        assert (encoding, counted.texts_sent, counted.bytes_sent) == (encoding, 2, len(sent))
    assert proxy.watch("").texts_sent == 0
    proxy.stop()


def serve_all(listener: socket.socket) -> None:
    """Echo, one client after another, until the listener is closed."""
    while True:
        try:
            connection, _ = listener.accept()
        except OSError:
            return
        with connection:
            while data := connection.recv(1 << 16):
                connection.sendall(data)


def test_one_that_is_not_ready_in_time_is_an_error_and_gone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    never_ready = tmp_path / "python"
    never_ready.write_text("#!/bin/sh\nexec sleep 60\n")
    never_ready.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(never_ready))
    monkeypatch.setattr(proxy_module, "READY_TIMEOUT_S", 0.0)
    before = processes.living()
    with pytest.raises(InternalError, match="was not ready after 0 s"):
        Proxy(1)
    assert processes.living() == before
