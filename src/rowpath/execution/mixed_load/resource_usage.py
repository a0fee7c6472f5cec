"""What processes used within each second of a time line: CPU, memory, disk; and the bytes of Rowpath's connections."""

from __future__ import annotations

import os
from collections.abc import Callable

from rowpath.journal.mixed_load_records import ConnectionsSecond, ProcessSecond
from rowpath.machine.counters import cpu, disk, memory
from rowpath.machine.counters.connections import Growth

Pids = Callable[[], list[int]]


class ProcessUse:
    """What some processes used since the last look; they may be others by then."""

    def __init__(self, pids: Pids, own: bool = False) -> None:
        """`own`: this process, without those that it started and has seen end."""
        self._pids = pids
        self._own = own
        self._cpu_ns = 0
        self._disk: disk.Bytes | None = None
        self.since()

    def since(self) -> ProcessSecond | None:
        """CPU and disk of the time since, and what is resident now; None: none is alive.

        `memory_bytes` is the processes' own; what they map of files and share is beside it.
        """
        pids = self._pids()
        last_cpu_ns, last = self._cpu_ns, self._disk
        self._cpu_ns, self._disk = self._used(pids)
        held = memory.resident(pids)
        if held is None:
            return None
        now = self._disk
        # What ended in between without its parent's being among them would make a sum fall.
        return ProcessSecond(
            cpu_ns=max(0, self._cpu_ns - last_cpu_ns),
            memory_bytes=held.anonymous,
            file_bytes=held.file,
            shared_bytes=held.shared,
            read_bytes=max(0, now.read_bytes - last.read_bytes) if now and last else None,
            written_bytes=max(0, now.write_bytes - last.write_bytes) if now and last else None,
        )

    def _used(self, pids: list[int]) -> tuple[int, disk.Bytes | None]:
        if self._own:
            return cpu.process_ns(pids[0]) or 0, disk.of(pids[0], alone=True)
        return cpu.total_ns(pids), disk.total(pids)


class Usage:
    """The processes of one path with the connections between them."""

    def __init__(self, client_pids: Pids, server_pids: Pids, backup_pids: Pids, port: int) -> None:
        """`backup_pids`: of programs that make backups; `port`: of the server on 127.0.0.1, 0: no TCP."""
        sides = {"client": client_pids, "server": server_pids, "backup": backup_pids}
        self._sides = {name: ProcessUse(pids) for name, pids in sides.items()}
        self._sides["controller"] = ProcessUse(lambda: [os.getpid()], own=True)
        self._growth = Growth(port) if port else None

    def since(self) -> tuple[dict[str, ProcessSecond], ConnectionsSecond | None]:
        """What the processes of each side used, and what the connections carried (None: no TCP)."""
        used = {name: found for name, side in self._sides.items() if (found := side.since())}
        bytes_ = self._growth.since() if self._growth else None
        return used, ConnectionsSecond(*bytes_) if bytes_ else None
