"""When the operations of an open loop are due, computed again from the requests to the runners."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

REACHED_SHARE = 0.99
TAIL_S = 0.01  # of a stage, in which an operation that is due need not have ended; or as long as the longest took

_GAMMA = np.uint64(0x9E3779B97F4A7C15)


def due_before(pacing: str, rate_per_s: float, clients: int, seed: int, elapsed_ns: int, most: int = 0) -> int:
    """How many operations of a group are due before that time since its begin, by all of its clients together.

    `most`: of each client; 0: no limit. runners/PROTOCOL.md defines how they are drawn.
    """
    if elapsed_ns <= 0:
        return 0
    each = [_due(pacing, rate_per_s, clients, seed, number, elapsed_ns) for number in range(clients)]
    return sum(min(count, most) if most else count for count in each)


def reached(operations: int, due: int, due_in_tail: int) -> bool:
    """Whether a rate was reached: of the operations due before the stage's tail 99 % have succeeded."""
    return operations >= REACHED_SHARE * (due - due_in_tail)


def _due(pacing: str, rate_per_s: float, clients: int, seed: int, number: int, elapsed_ns: int) -> int:
    distance_ns = clients / rate_per_s * 1e9
    if pacing == "fixed":
        return max(0, int(np.ceil((elapsed_ns - number / clients * distance_ns) / distance_ns)))
    state = (seed + number) % (1 << 64)
    counted, reached_ns = 0, 0.0
    size = int(elapsed_ns / distance_ns * 1.1) + 64
    while True:
        sums = reached_ns + np.cumsum(_distances(state, counted, size) * distance_ns)
        within = int(np.searchsorted(sums, elapsed_ns))
        counted += within
        if within < size:
            return counted
        reached_ns = float(sums[-1])


def _distances(seed: int, first: int, count: int) -> NDArray[np.float64]:
    """Exponential draws `[first, first + count)` with mean 1, from SplitMix64 (Steele, Lea, Flood 2014)."""
    with np.errstate(over="ignore"):
        mixed = np.uint64(seed) + np.arange(first + 1, first + count + 1, dtype=np.uint64) * _GAMMA
        mixed = (mixed ^ mixed >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ mixed >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
        mixed ^= mixed >> np.uint64(31)
    return -np.log1p(-(mixed >> np.uint64(11)).astype(np.float64) / 2**53)
