"""What one sync costs on the disk of the run's directory: measured, once per run."""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

SYNCS = 40
WRITTEN_BYTES = 4096
CAP_S = 2.0  # a disk that takes 50 ms a sync is known well enough by then
METHOD = "fdatasync after an append of 4 KiB to a file in the run's work directory: median"


@dataclass(frozen=True)
class SyncCost:
    """The median of `syncs` appends with their fdatasync, in ns."""

    ns: float
    syncs: int
    method: str = METHOD


def measure(directory: Path) -> SyncCost:
    """The cost of one sync there; the file is gone afterwards. Errors: OSError when nothing can be written."""
    page = b"x" * WRITTEN_BYTES
    taken: list[int] = []
    begun_ns = time.monotonic_ns()
    with tempfile.TemporaryFile(dir=directory, buffering=0) as file:
        while len(taken) < SYNCS and time.monotonic_ns() - begun_ns < CAP_S * 1e9:
            before_ns = time.monotonic_ns()
            file.write(page)
            os.fdatasync(file.fileno())
            taken.append(time.monotonic_ns() - before_ns)
    return SyncCost(statistics.median(taken), len(taken))
