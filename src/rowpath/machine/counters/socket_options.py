"""TCP_NODELAY as it is set on a process's own connections: the sockets are borrowed to be asked, never changed."""

from __future__ import annotations

import contextlib
import ctypes
import os
import socket
from collections.abc import Iterator
from pathlib import Path

METHOD = "read from the client's own sockets, duplicated with pidfd_getfd(2)"

_PIDFD_GETFD = 438  # the same on every architecture


def no_delay(pid: int) -> bool | None:
    """Whether every TCP connection of the process has TCP_NODELAY; None: it has none, or the kernel lends no socket.

    The kernel lends those of our own children (5.6 and newer; ptrace_scope 0 or 1).
    """
    with contextlib.suppress(OSError):
        set_on = [bool(each.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)) for each in _connections(pid)]
        return all(set_on) if set_on else None
    return None


def _connections(pid: int) -> Iterator[socket.socket]:
    """The process's TCP sockets that have a peer, each open as long as it is looked at."""
    with contextlib.ExitStack() as cleanup:
        process = os.pidfd_open(pid)
        cleanup.callback(os.close, process)
        for entry in Path(f"/proc/{pid}/fd").iterdir():
            if _is_socket(entry):
                with socket.socket(fileno=_borrowed(process, int(entry.name))) as found:
                    if _is_connection(found):
                        yield found


def _is_socket(entry: Path) -> bool:
    try:
        return str(entry.readlink()).startswith("socket:")
    except FileNotFoundError:  # it has been closed
        return False


def _borrowed(process: int, descriptor: int) -> int:
    libc = ctypes.CDLL(None, use_errno=True)
    found: int = libc.syscall(_PIDFD_GETFD, process, descriptor, 0)
    if found < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return found


def _is_connection(found: socket.socket) -> bool:
    if found.family not in (socket.AF_INET, socket.AF_INET6) or found.type != socket.SOCK_STREAM:
        return False
    try:
        found.getpeername()
    except OSError:
        return False
    return True
