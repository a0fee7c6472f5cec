"""How often a process requested its writes to be on disk, and what one such sync costs here.

A preloaded library keeps the counters in a file; the cost is measured, once per run.
"""

from __future__ import annotations

import os
import statistics
import struct
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from rowpath.errors import EnvironmentMissing
from rowpath.machine import c_compiler, c_tools, private_directories

METHOD = "a preloaded library counts fsync, fdatasync, sync_file_range, msync and writes to synchronous descriptors"
VARIABLE = "ROWPATH_SYNC_COUNT_FILE"
COUNTERS = 8
NAMES = ("fsync", "fdatasync", "sync_file_range", "msync", "sync_writes")
COST_METHOD = "fdatasync after an append of 4 KiB to a file in the run's work directory: median"
COST_SYNCS = 40
COST_BYTES = 4096
COST_CAP_S = 2.0  # a disk that takes 50 ms a sync is known well enough by then


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
    made = c_compiler.problem() is None or c_compiler.precompiled(c_tools.SYNC_COUNT)
    return METHOD if made else "unavailable: the library needs a C compiler"


def method() -> str:
    """The method by which syncs are counted here, after building the library; else `unavailable: …`."""
    try:
        if (usual := probe()) == METHOD:
            c_tools.sync_count_library()
        return usual
    except EnvironmentMissing as error:
        return f"unavailable: {error.message}"


def environment(file: Path) -> dict[str, str]:
    """What to add to the environment of the process to be counted. Errors: EnvironmentMissing without a C compiler."""
    return {"LD_PRELOAD": str(c_tools.sync_count_library()), VARIABLE: str(file)}


@dataclass(frozen=True)
class SyncCost:
    """The median of `syncs` appends with their fdatasync, in ns."""

    ns: float
    syncs: int
    method: str = COST_METHOD


def measure_cost(directory: Path) -> SyncCost:
    """The cost of one sync there; the file is gone afterwards. Errors: OSError when nothing can be written."""
    page = b"x" * COST_BYTES
    taken: list[int] = []
    begun_ns = time.monotonic_ns()
    with tempfile.TemporaryFile(dir=directory, buffering=0) as file:
        while len(taken) < COST_SYNCS and time.monotonic_ns() - begun_ns < COST_CAP_S * 1e9:
            before_ns = time.monotonic_ns()
            file.write(page)
            os.fdatasync(file.fileno())
            taken.append(time.monotonic_ns() - before_ns)
    return SyncCost(statistics.median(taken), len(taken))
