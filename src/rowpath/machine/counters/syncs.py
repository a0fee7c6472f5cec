"""How often a process requested its writes to be on disk: counters that a preloaded library keeps in a file."""

from __future__ import annotations

import os
import shutil
import struct
from dataclasses import dataclass
from pathlib import Path

from rowpath.machine import private_directories

METHOD = "a preloaded library counts fsync, fdatasync, sync_file_range, msync and writes to synchronous descriptors"
VARIABLE = "ROWPATH_SYNC_COUNT_FILE"
COUNTERS = 8
NAMES = ("fsync", "fdatasync", "sync_file_range", "msync", "sync_writes")


@dataclass(frozen=True)
class SyncCount:
    """How many syncs a process requested so far; None where they are not counted. `method`: by what, or why not."""

    total: int | None = None
    method: str = ""


def make_file(directory: Path) -> Path:
    """A counter file, all zero, in a private folder that the servers' user can reach too."""
    user = private_directories.server_user()
    file = private_directories.home(directory, user) / "syncs"
    file.write_bytes(bytes(8 * COUNTERS))
    file.chmod(0o600)
    private_directories.give(file, user)
    return file


def counts(file: Path, pid: int) -> bool:
    """Whether that process counts its syncs in the file: a statically linked program loads no library."""
    try:
        return str(file.resolve()) in Path(f"/proc/{pid}/maps").read_text()
    except OSError:
        return False


def read(file: Path) -> dict[str, int]:
    """The counters by name; `total` is their sum."""
    values = struct.unpack(f"<{COUNTERS}Q", file.read_bytes()[: 8 * COUNTERS])
    counted = dict(zip(NAMES, values, strict=False))
    return counted | {"total": sum(counted.values())}


def probe() -> str:
    """The method that works here: METHOD, or why there is none."""
    compiler = os.environ.get("CC", "cc")
    return METHOD if shutil.which(compiler.split()[0]) else "unavailable: the library needs a C compiler"
