"""A port of 127.0.0.1 for a server: the one asked for, or any that is free."""

from __future__ import annotations

from collections.abc import Callable

from rowpath.errors import EnvironmentMissing, UsageError
from rowpath.machine import private_directories

TRIES = 5


def start_on_one(title: str, wanted: int, last: int, start: Callable[[int], bool]) -> int:
    """Start a server on a port and return it: `wanted`, else (0) the one it had `last`, else any that is free.

    `start` says False when that port is taken. Errors: UsageError when `wanted` is, EnvironmentMissing when all are.
    """
    for attempt in range(TRIES):
        port = wanted or (last if attempt == 0 else 0) or private_directories.free_port()
        if not private_directories.port_taken(port) and start(port):
            return port
        if wanted:
            raise UsageError(
                f"port {port} of 127.0.0.1 is in use", f"free it (ss -ltnp 'sport = :{port}') or set no port"
            )
    raise EnvironmentMissing(f"{title} found no free port in {TRIES} tries", "ss -ltn")
