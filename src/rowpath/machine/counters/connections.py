"""Our own TCP connections: their bytes, from the kernel, and whether TCP_NODELAY is set on them.

The bytes (sock_diag) are of no others, and no packet is looked at. Sockets are borrowed to be asked, never changed.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import socket
import struct
from collections.abc import Iterator
from pathlib import Path

METHOD = "tcp_info's bytes_acked and bytes_received of the connections to the server's port (sock_diag); only TCP"
NO_DELAY_METHOD = "read from the client's own sockets, duplicated with pidfd_getfd(2)"

_PIDFD_GETFD = 438  # the same on every architecture
_NETLINK_SOCK_DIAG = 4
_SOCK_DIAG_BY_FAMILY = 20
_REQUEST_DUMP = 0x301  # NLM_F_REQUEST | NLM_F_DUMP
_ERROR, _DONE = 2, 3
_INET_DIAG_INFO = 2
_ESTABLISHED = 1 << 1
_LOOPBACK = "127.0.0.1"
_HEADER = struct.Struct("=IHHII")  # nlmsghdr
_ASK = struct.Struct("=BBBBI")  # inet_diag_req_v2 up to its socket id
_ID_BYTES = 48
_MESSAGE_BYTES = 72  # inet_diag_msg, its attributes behind it
_BYTES = struct.Struct("=QQ")
_BYTES_AT = 120  # of tcpi_bytes_acked in tcp_info; tcpi_bytes_received follows

Each = dict[bytes, tuple[int, int]]  # by the kernel's cookie of a connection: bytes to and from the server


def of_each(port: int, address: str = _LOOPBACK) -> Each | None:
    """Bytes of each connection from here to that port of an IPv4 address that is established now; None: unavailable.

    Each counts one byte more to the server than was sent: the greeting of TCP.
    """
    bytes_: Each = {}
    try:
        for family, names in _peers(address).items():
            bytes_.update(_dump(family, port, names))
    except OSError:
        return None
    return bytes_


class Growth:
    """Bytes that went over the connections to a port since the last call; what ended in between is not seen."""

    def __init__(self, port: int, address: str = _LOOPBACK) -> None:
        self._port = port
        self._address = address
        self._last: Each = of_each(port, address) or {}

    def since(self) -> tuple[int, int] | None:
        """The bytes to and from the server since the last call; None: unavailable, or no connection."""
        now = of_each(self._port, self._address) or {}
        last, self._last = self._last, now
        if not now:
            return None
        both = [(bytes_, last.get(cookie, (0, 0))) for cookie, bytes_ in now.items()]
        return sum(after[0] - before[0] for after, before in both), sum(after[1] - before[1] for after, before in both)


def probe() -> str:
    """The method that works here: METHOD, or why there is none."""
    with contextlib.ExitStack() as cleanup:
        listening = cleanup.enter_context(socket.create_server(("127.0.0.1", 0)))
        port = listening.getsockname()[1]
        cleanup.enter_context(socket.create_connection(("127.0.0.1", port), timeout=5))
        own = of_each(port)
    return METHOD if own else "unavailable: the kernel does not report its connections (sock_diag)"


def _peers(address: str) -> dict[socket.AddressFamily, tuple[bytes, ...]]:
    """What a peer there is called: by an IPv4 socket, by an IPv6 one (a JVM opens those), and ::1."""
    mapped = (socket.inet_pton(socket.AF_INET6, f"::ffff:{address}"),)
    also = (socket.inet_pton(socket.AF_INET6, "::1"),) if address == _LOOPBACK else ()
    return {socket.AF_INET: (socket.inet_aton(address) + bytes(12),), socket.AF_INET6: mapped + also}


def _dump(family: int, port: int, names: tuple[bytes, ...]) -> Iterator[tuple[bytes, tuple[int, int]]]:
    wanted = bytes(2) + port.to_bytes(2, "big") + bytes(_ID_BYTES - 12) + b"\xff" * 8  # any cookie
    body = _ASK.pack(family, socket.IPPROTO_TCP, 1 << (_INET_DIAG_INFO - 1), 0, _ESTABLISHED) + wanted
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW | socket.SOCK_CLOEXEC, _NETLINK_SOCK_DIAG) as link:
        link.send(_HEADER.pack(_HEADER.size + len(body), _SOCK_DIAG_BY_FAMILY, _REQUEST_DUMP, 1, 0) + body)
        while True:
            data = link.recv(1 << 18)
            at = 0
            while at + _HEADER.size <= len(data):
                length, kind, *_ = _HEADER.unpack_from(data, at)
                if kind == _DONE:
                    return
                if kind == _ERROR:
                    raise OSError("sock_diag refuses")
                yield from _connection(data[at + _HEADER.size : at + length], port, names)
                at += (length + 3) & ~3


def _connection(message: bytes, port: int, names: tuple[bytes, ...]) -> Iterator[tuple[bytes, tuple[int, int]]]:
    """The connection in one message, when it is a client's."""
    identity = message[4 : 4 + _ID_BYTES]
    if identity[2:4] != port.to_bytes(2, "big") or identity[20:36] not in names:
        return
    at = _MESSAGE_BYTES
    while at + 4 <= len(message):
        size, kind = struct.unpack_from("=HH", message, at)
        if kind == _INET_DIAG_INFO and size >= 4 + _BYTES_AT + _BYTES.size:
            yield identity[40:48], _BYTES.unpack_from(message, at + 4 + _BYTES_AT)
        at += max(4, (size + 3) & ~3)


def no_delay(pid: int) -> bool | None:
    """Whether every TCP connection of the process has TCP_NODELAY; None: it has none, or the kernel lends no socket.

    The kernel lends those of our own children (5.6 and newer; ptrace_scope 0 or 1).
    """
    with contextlib.suppress(OSError):
        set_on = [bool(end.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)) for end in _connections(pid)]
        return all(set_on) if set_on else None
    return None


def _connections(pid: int) -> Iterator[socket.socket]:
    """The process's TCP sockets that have a peer, each open as long as it is looked at."""
    libc = ctypes.CDLL(None, use_errno=True)
    with contextlib.ExitStack() as cleanup:
        process = os.pidfd_open(pid)
        cleanup.callback(os.close, process)
        for entry in Path(f"/proc/{pid}/fd").iterdir():
            try:
                if not str(entry.readlink()).startswith("socket:"):
                    continue
            except FileNotFoundError:  # it has been closed
                continue
            borrowed: int = libc.syscall(_PIDFD_GETFD, process, int(entry.name), 0)
            if borrowed < 0:
                raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
            with socket.socket(fileno=borrowed) as end:
                if end.family not in (socket.AF_INET, socket.AF_INET6) or end.type != socket.SOCK_STREAM:
                    continue
                try:
                    end.getpeername()
                except OSError:
                    continue
                yield end
