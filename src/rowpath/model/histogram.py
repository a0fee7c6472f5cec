"""Histograms of durations with HdrHistogram's buckets: 1 ns to 2⁶³ ns, two significant digits, no upper cap.

Source: G. Tene, HdrHistogram (http://hdrhistogram.org): lowest discernible value 1, two significant digits.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

COUNTS = 7296
HALF = 128  # buckets of one power of two
PACKED = [("index", "<u2"), ("count", "<u8")]

Counts = NDArray[np.uint64]


def index_of(value_ns: int) -> int:
    """Where a value is counted; of 0 ≤ value < 2⁶³."""
    bucket = max(0, value_ns.bit_length() - 8)
    return bucket * HALF + (value_ns >> bucket)


def empty() -> Counts:
    """No values."""
    return np.zeros(COUNTS, dtype=np.uint64)


def lowest_of(index: int) -> int:
    """The least value that is counted there, in ns."""
    bucket = max(0, index // HALF - 1)
    return (index - bucket * HALF) << bucket


def highest_of(index: int) -> int:
    """The greatest value that is counted there, in ns."""
    bucket = max(0, index // HALF - 1)
    return lowest_of(index) + (1 << bucket) - 1


def percentile(counts: Counts, percent: float) -> int | None:
    """The least value (upper end of its bucket), in ns, that this many per cent do not exceed; None of no values."""
    total = int(counts.sum())
    if total == 0:
        return None
    wanted = max(1, int(np.ceil(total * percent / 100)))
    return highest_of(int(np.searchsorted(np.cumsum(counts), wanted)))


def count_above(counts: Counts, value_ns: int) -> int:
    """How many values were counted in buckets above the value's own."""
    return int(counts[index_of(value_ns) + 1 :].sum())


def encode(counts: Counts) -> dict[str, int]:
    """Encode for the journal: index → count, without empty ones."""
    return {str(int(index)): int(counts[index]) for index in np.flatnonzero(counts)}


def decode(kept: dict[str, int]) -> Counts:
    """What `encode` made."""
    counts = empty()
    counts[[int(index) for index in kept]] = list(kept.values())
    return counts


def pack(counts: Counts) -> bytes:
    """Pack for the way between hosts: index and count without empty ones, ten bytes each."""
    used = np.flatnonzero(counts)
    packed = np.empty(len(used), dtype=PACKED)
    packed["index"], packed["count"] = used, counts[used]
    return packed.tobytes()


def unpack(packed: bytes) -> Counts:
    """What `pack` made."""
    found, counts = np.frombuffer(packed, dtype=PACKED), empty()
    counts[found["index"]] = found["count"]
    return counts
