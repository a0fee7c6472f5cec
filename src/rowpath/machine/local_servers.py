"""Processes here of servers that others run: the path's own side, though nothing of theirs is ever touched."""

from __future__ import annotations

import functools
import ipaddress
import os
import socket
from collections.abc import Collection

from rowpath.machine import processes


def serving(host: str, programs: Collection[str]) -> list[int]:
    """The living processes with one of these names, where the host is this machine; none elsewhere."""
    return named(programs) if programs and is_here(host) else []


@functools.cache
def is_here(host: str) -> bool:
    """Whether a host is this machine; an empty one is. No packet is sent; False for a name that is not known."""
    if host in ("", "localhost"):
        return True
    try:
        found = socket.getaddrinfo(host, 9, type=socket.SOCK_DGRAM)
    except OSError:
        return False
    for family, kind, protocol, _name, address in found:
        if ipaddress.ip_address(address[0]).is_loopback:
            return True
        with socket.socket(family, kind, protocol) as attempt:
            try:
                attempt.connect(address)  # of a datagram: only the route is looked up
                if attempt.getsockname()[0] == address[0]:
                    return True
            except OSError:
                continue
    return False


def named(programs: Collection[str]) -> list[int]:
    """Every living process with one of these names; of every server, where several run."""
    pids = (int(name) for name in os.listdir("/proc") if name.isdigit())  # noqa: PTH208
    return [pid for pid in pids if processes.name(pid) in programs]
