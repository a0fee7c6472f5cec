"""3: a session of known size: the counting proxy, the kernel's own counters and the client agree to the byte."""

from __future__ import annotations

import socket
import struct
import threading

from rowpath.checks.selftest.bench import Bench, Verdict
from rowpath.machine.counters import counting_proxy

TURNS = ((1, 1), (7, 4096), (65_536, 1), (100, 100), (1, 1_000_000))
TCP_INFO_BYTES_ACKED, TCP_INFO_BYTES_RECEIVED = 120, 128  # offsets in struct tcp_info (linux/tcp.h)


def check(bench: Bench, *, full: bool) -> list[Verdict]:
    """A talk of known turns through the proxy."""
    repeats = 50 if full else 10
    listener = socket.create_server(("127.0.0.1", 0))
    server = threading.Thread(target=_serve, args=(listener, repeats), daemon=True)
    counting = counting_proxy.Proxy(listener.getsockname()[1])
    try:
        server.start()
        with socket.create_connection(("127.0.0.1", counting.port)) as client:
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            for _ in range(repeats):
                for sent, received in TURNS:
                    client.sendall(bytes(sent))
                    _receive(client, received)
            info = client.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 256)
            counts = counting.read()
    finally:
        counting.stop()
        listener.close()
    server.join(10)
    sent = repeats * sum(turn[0] for turn in TURNS)
    received = repeats * sum(turn[1] for turn in TURNS)
    acked = struct.unpack_from("<Q", info, TCP_INFO_BYTES_ACKED)[0]
    arrived = struct.unpack_from("<Q", info, TCP_INFO_BYTES_RECEIVED)[0]
    return [
        Verdict.exactly("bytes sent, by the proxy", counts.bytes_sent, sent),
        Verdict.exactly("bytes received, by the proxy", counts.bytes_received, received),
        Verdict.exactly("round trips, by the proxy", counts.round_trips, repeats * len(TURNS)),
        Verdict.exactly("bytes received, by the kernel (TCP_INFO)", arrived, received),
        # The kernel counts the connection's opening as one acknowledged byte.
        Verdict.exactly("bytes sent, by the kernel (TCP_INFO)", acked - 1, sent),
    ]


def _receive(stream: socket.socket, count: int) -> None:
    while count:
        count -= len(stream.recv(min(count, 1 << 16)))


def _serve(listener: socket.socket, repeats: int) -> None:
    stream, _ = listener.accept()
    with stream:
        stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for _ in range(repeats):
            for sent, received in TURNS:
                _receive(stream, sent)
                stream.sendall(bytes(received))
        stream.recv(1)  # until the client closes: our end of stream would count as a byte that it received
