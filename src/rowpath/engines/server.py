"""What private servers have in common: a folder, sockets, a port of 127.0.0.1, processes stopped by pid."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from pathlib import Path

from typing_extensions import override

from rowpath.engines.base import Instance, Place, Settled
from rowpath.errors import RowpathError
from rowpath.machine import private_directories, processes
from rowpath.machine.counters import disk


class PrivateServer(Instance):
    """A server of ours; `title` names it in errors."""

    stop_steps: processes.Steps

    def __init__(self, title: str, durability: str, place: Place) -> None:
        self.deployment = "server"
        self.durability = durability
        self._title = title
        self._place = place
        self._user = private_directories.server_user()
        self._home: Path | None = None
        self._sockets: Path | None = None
        self._port = 0
        self._process: processes.Process | None = None

    @override
    def stop(self) -> None:
        """Stop it by pid; harmless when stopped already. Its data stays for another start."""
        if self._process is not None:
            processes.stop(self._process, self.stop_steps)
            self._process = None
        if self._sockets is not None and self._sockets != self._place.socket_directory:
            shutil.rmtree(self._sockets, ignore_errors=True)
        self._sockets = None

    @override
    def pids(self) -> list[int]:
        return [self._process.pid] if self._process is not None and self._process.poll() is None else []

    def home(self) -> Path | None:
        """The folder with everything of it but its socket; None before its first start."""
        return self._home

    def _files(self) -> Path:
        if self._home is None:
            raise RowpathError(f"{self._title} has not been started", "call start first")
        return self._home

    def _settled(self, work: Callable[[], int | None], method: str) -> Settled:
        """How long `work` took (or the ns that it returns), and the bytes that the server wrote meanwhile."""
        pids = self.pids()
        before = disk.written_bytes(pids)
        started_ns = time.monotonic_ns()
        own_ns = work()
        ns = time.monotonic_ns() - started_ns if own_ns is None else own_ns
        after = disk.written_bytes(pids)
        if before is None or after is None:
            return Settled(ns, None, f"{method}; /proc/PID/io cannot be read")
        return Settled(ns, after - before, f"{method}; /proc/PID/io of the server")
