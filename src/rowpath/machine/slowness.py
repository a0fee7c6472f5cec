"""How slow this machine is against the one that the constants of estimates are from."""

from __future__ import annotations

import functools
import math
import time

TURNS = 100_000
TURNS_S = 0.003  # of the loop below, on that machine
TRIES = 12  # the quickest counts: what else runs must not look like a slow machine
LEAST, MOST = 0.25, 4.0


@functools.cache
def slowness() -> float:
    """1: as fast as that machine; 2: the same work takes twice as long. Measured once, in well under 0.1 s.

    The square root: where a loop took 5 times as long, starting processes and reading files took 2 to 2.6 times.
    """
    return min(MOST, max(LEAST, math.sqrt(min(_loop_s() for _ in range(TRIES)) / TURNS_S)))


def _loop_s() -> float:
    began_s = time.perf_counter()
    for _ in range(TURNS):
        pass
    return time.perf_counter() - began_s
