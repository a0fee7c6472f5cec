"""When a process sent, received and waited: stamps that a preloaded library keeps in a file, mapped by both."""

from __future__ import annotations

import contextlib
import mmap
import struct
from collections.abc import Iterator
from enum import IntEnum
from pathlib import Path
from typing import NamedTuple

from rowpath.machine import private_directories

VARIABLE = "ROWPATH_CALL_STAMPS"
ROOM = 1 << 19  # stamps: 16 MiB, of which only what is used takes room on the disk
HEAD = struct.Struct("<4Q32x")  # on, count, room, clocks
STAMP = struct.Struct("<QQIIHHi")


class Kind(IntEnum):
    """What was called, as runners/c/tools/call_stamps.c numbers it."""

    SENT = 1
    RECEIVED = 2
    WAITED = 3
    CLOCK = 4
    CONNECTION = 5
    CORES = 6


class Call(NamedTuple):
    """One call. Of a connection: its own port and the peer's stand for enter and exit (0: unix, the maker's pid)."""

    enter_ns: int
    exit_ns: int
    thread: int
    process: int
    descriptor: int
    kind: int
    result: int


def make_file(directory: Path, *, clocks: bool, user: str | None = None, room: int = ROOM) -> Path:
    """An empty file for stamps in a private folder of that user; `clocks`: readings of the clock are stamped too."""
    file = private_directories.home(directory, user) / "stamps"
    with file.open("wb") as stream:
        stream.write(HEAD.pack(0, 0, room, clocks))
        stream.truncate(HEAD.size + room * STAMP.size)
    file.chmod(0o600)
    private_directories.give(file, user)
    return file


@contextlib.contextmanager
def stamping(*files: Path) -> Iterator[None]:
    """Processes that mapped one of these files stamp their calls while the body runs."""
    with contextlib.ExitStack() as opened:
        streams = [opened.enter_context(file.open("r+b")) for file in files]
        maps = [opened.enter_context(mmap.mmap(stream.fileno(), HEAD.size)) for stream in streams]
        for mapped in maps:
            mapped[:8] = (1).to_bytes(8, "little")
        try:
            yield
        finally:
            for mapped in maps:
                mapped[:8] = bytes(8)


def read(file: Path) -> tuple[list[Call], bool]:
    """The calls in their order, and whether all of them had room."""
    with file.open("rb") as stream:
        _on, count, room, _clocks = HEAD.unpack(stream.read(HEAD.size))
        stamps = stream.read(min(count, room) * STAMP.size)
    return sorted(map(Call._make, STAMP.iter_unpack(stamps))), count <= room
