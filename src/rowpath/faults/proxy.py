"""A proxy on loopback that breaks the connections through it, at a given byte or answer, in a given way.

Silence is made in the kernel: a socket filter drops every packet that comes for the proxy's socket, so that nothing is
acknowledged. A proxy that merely stops reading is not silent: its kernel goes on acknowledging.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import select
import socket
import struct
import termios
import threading
import time
from dataclasses import dataclass, field
from typing import Literal

LOOPBACK = "127.0.0.1"
CHUNK_BYTES = 1 << 16
KERNEL_BYTES = 1 << 16  # of a socket's buffer: what is on its way when the fault comes stays small
SO_ATTACH_FILTER, SO_DETACH_FILTER = 26, 27  # asm-generic/socket.h
TCP_REPAIR = 19  # linux/tcp.h: a socket that is closed in repair mode sends nothing
DROP_ALL = struct.pack("HBBI", 0x06, 0, 0, 0)  # one instruction of BPF: return 0 bytes of the packet
ACKNOWLEDGED_WITHIN_S = 0.5
DELAYED_ACKNOWLEDGEMENT_S = 0.1  # twice what Linux waits at most for data to send it along with
TLS_HANDSHAKE = b"\x16\x03\x01"  # how a client's first TLS record begins, maybe behind another message

Way = Literal["close", "reset", "silence", "forget", "stall", "late", "hold"]


@dataclass
class Break:
    """How, and when, a connection breaks: once `after_bytes` of the server's bytes, or `answers` whole answers, passed.

    `close`: FIN; `reset`: RST; `silence`: no packet is taken or sent any more; `forget`: the socket is gone without a
    word, so that the next packet is answered with RST (root); `stall`: the proxy stops reading; `late`: everything
    waits `seconds`; `hold`: nothing passes until `release`.
    """

    way: Way
    after_bytes: int = 0
    answers: int = 0
    seconds: float = 0.0
    in_handshake: bool = False  # counted from the client's first TLS record
    broken: threading.Event = field(default_factory=threading.Event)
    broken_ns: int = 0  # time.monotonic_ns; 0: not yet
    released: threading.Event = field(default_factory=threading.Event)


class FaultProxy:
    """One listener; every connection to it is carried to `to`, which may change. Threads end with `stop`."""

    def __init__(self, to: tuple[str, int], address: str = LOOPBACK, port: int = 0, bytes_per_s: int = 0) -> None:
        """`bytes_per_s`: how fast the server's bytes go on; 0: at once."""
        self.to = to
        self.bytes_per_s = bytes_per_s
        self.break_: Break | None = None
        self.stopped = threading.Event()
        self._connections: list[_Connection] = []
        self._listener = socket.socket()
        self._listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, KERNEL_BYTES)
        self._listener.bind((address, port))
        self._listener.listen(64)
        self.port: int = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, name="fault proxy", daemon=True).start()

    def arm(self, one: Break) -> Break:
        """Let the next bytes, counted from now, meet this break; the one before is forgotten."""
        for connection in self._connections:
            connection.count_anew()
        self.break_ = one
        return one

    def silence(self, new: bool = True) -> None:
        """Drop every packet of all connections, and of new ones too where `new`."""
        for connection in self._connections:
            connection.silence()
        if new:
            drop_packets(self._listener)

    def heal(self) -> None:
        """Let new connections pass; those that are broken stay so."""
        self.break_ = None
        with contextlib.suppress(OSError):
            self._listener.setsockopt(socket.SOL_SOCKET, SO_DETACH_FILTER, 0)

    def bytes_down(self) -> int:
        """Of the server, since the last `arm` or `count_anew`, on all connections."""
        return sum(connection.bytes_down for connection in self._connections)

    def answers(self) -> int:
        """How often the server answered what was sent, since then."""
        return sum(connection.answers for connection in self._connections)

    def count_anew(self) -> None:
        """Begin to count."""
        for connection in self._connections:
            connection.count_anew()

    def stop(self) -> None:
        """Close everything."""
        self.stopped.set()
        if self.break_ is not None:
            self.break_.released.set()
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for connection in self._connections:
            connection.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _address = self._listener.accept()
            except OSError:
                return
            server = socket.socket()
            server.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, KERNEL_BYTES)
            try:
                server.connect(self.to)
            except OSError:
                reset(client)  # as the kernel refuses where nothing listens
                server.close()
                continue
            connection = _Connection(self, client, server)
            self._connections.append(connection)  # before its first byte passes: `arm` and `silence` reach it
            connection.start()


class _Connection:
    """A client's connection and the one to the server, in one thread: nobody else holds a socket that it closes."""

    def __init__(self, proxy: FaultProxy, client: socket.socket, server: socket.socket) -> None:
        for end in (client, server):
            end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._proxy, self._client, self._server = proxy, client, server
        self._silent = False
        self._hello = False  # whether the client's TLS handshake has begun
        self.count_anew()

    def start(self) -> None:
        threading.Thread(target=self._carry, name="fault proxy", daemon=True).start()

    def count_anew(self) -> None:
        self.bytes_down = self.answers = 0
        self._asked = False

    def close(self) -> None:
        for end in (self._client, self._server):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)  # wakes the thread, which closes both

    def settle(self) -> None:
        """Wait until both kernels have acknowledged all: what was not would be sent again."""
        until = time.monotonic() + ACKNOWLEDGED_WITHIN_S
        time.sleep(DELAYED_ACKNOWLEDGEMENT_S)
        with contextlib.suppress(OSError):
            while _unsent_bytes(self._client) and time.monotonic() < until:
                time.sleep(0.001)

    def silence(self) -> None:
        self._silent = True
        with contextlib.suppress(OSError):
            drop_packets(self._client)

    def _carry(self) -> None:
        poll, client, server = select.poll(), self._client, self._server
        for end in (client, server):
            poll.register(end, select.POLLIN)
        try:
            while True:
                for number, _event in poll.poll():
                    end = client if number == client.fileno() else server
                    if not (self._up() if end is client else self._down()):
                        return
        except ConnectionError:  # one side was reset: so is the other
            for end in (client, server):
                if not self._silent or end is server:
                    reset(end)
        except OSError:
            pass
        finally:
            if self._silent:  # until `close`, no word of its end goes out
                self._proxy.stopped.wait()
            for end in (client, server):
                end.close()

    def _up(self) -> bool:
        """From the client to the server; False: the client has ended."""
        if not (data := self._client.recv(CHUNK_BYTES)):
            return False
        one = self._proxy.break_
        if one is not None and one.in_handshake and not self._hello and TLS_HANDSHAKE in data:
            self._hello, self.bytes_down = True, 0
        self._asked = True
        self._server.sendall(data)
        return True

    def _down(self) -> bool:
        """From the server to the client; False: the connection has ended."""
        data = self._server.recv(CHUNK_BYTES)
        if not data or self._silent:
            return False
        if self._asked:
            self._asked = False
            self.answers += 1
        one = self._proxy.break_
        if one is not None and not one.broken.is_set() and (at := self._breaks_at(one, data)) is not None:
            self._client.sendall(data[:at])
            if not self._broken(one):
                return False
            # An answer that was held is lost: its server ends meanwhile.
            data = b"" if one.way == "hold" and one.answers else data[at:]
        self.bytes_down += len(data)
        self._client.sendall(data)
        if self._proxy.bytes_per_s:
            time.sleep(len(data) / self._proxy.bytes_per_s)
        return True

    def _breaks_at(self, one: Break, data: bytes) -> int | None:
        """How many of these bytes still pass; None: all."""
        if one.in_handshake and not self._hello:
            return None
        if one.answers:
            return 0 if self.answers >= one.answers else None
        room = one.after_bytes - self.bytes_down
        return room if room < len(data) else None

    def _broken(self, one: Break) -> bool:
        """Break; whether the connection goes on afterwards."""
        if one.way in ("silence", "forget"):
            self.settle()
        one.broken_ns = time.monotonic_ns()
        if one.way == "silence":
            self._proxy.silence()
        elif one.way == "reset":
            reset(self._client)
        elif one.way == "forget":
            forget(self._client)
        one.broken.set()
        if one.way == "late":
            one.released.wait(one.seconds)
        elif one.way in ("hold", "stall"):
            one.released.wait()
        return one.way in ("late", "hold")


def drop_packets(end: socket.socket) -> None:
    """Let the kernel drop every packet that comes for this socket, unacknowledged."""
    program = ctypes.create_string_buffer(DROP_ALL)
    filter_ = struct.pack("HL", 1, ctypes.addressof(program))
    end.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER, filter_)


def reset(end: socket.socket) -> None:
    """End the connection with RST."""
    end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    end.close()


def forget(end: socket.socket) -> None:
    """Close the socket without a packet; what comes for it is answered with RST. Errors: PermissionError (no root)."""
    end.setsockopt(socket.IPPROTO_TCP, TCP_REPAIR, 1)
    end.close()


def _unsent_bytes(end: socket.socket) -> int:
    left = bytearray(4)
    fcntl.ioctl(end.fileno(), termios.TIOCOUTQ, left)
    return int.from_bytes(left, "little")
