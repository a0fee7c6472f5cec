"""Warming up, and its shapes (after Barrett et al., OOPSLA 2017): a simple search for the last change of level."""

from __future__ import annotations

import itertools
import statistics
import time
from collections.abc import Callable, Sequence
from typing import Literal

from rowpath.execution.measured import Measured
from rowpath.journal.records import WarmRecord

Shape = Literal["flat", "warm-up", "slowdown", "no steady state"]

TOLERANCE = 0.10  # 3 to 5 % is below what a machine drifts by itself
WINDOWS = 24  # a series is judged by the medians of about this many windows
FEW = 8  # windows of a short series: of single blocks where there are no more
FLAT_BLOCKS = 9  # this many last blocks must keep one level before a path counts as warm
LAST = 3  # windows that must agree before a level counts as reached
COMPILERS_NS = 200e6  # of the last blocks: a runtime's compilers must have come to rest in them
COMPILERS_SHARE = 0.1  # of their time, at most


def warm_up(block: Callable[[], Measured], least_ns: float, cap_ns: float) -> WarmRecord:
    """Take blocks until the last ones keep one level and compilers rest, for `least_ns` at least, at most `cap_ns`."""
    blocks: list[float] = []
    windows_ns: list[int] = []
    helpers_cpu_ns: list[int] = []
    operations = 0
    settled = False
    begun_ns = time.monotonic_ns()
    while not settled and time.monotonic_ns() - begun_ns < cap_ns:
        measured = block()
        reply = measured.reply
        operations += reply.operations
        windows_ns.append(reply.window_ns)
        helpers_cpu_ns.append(measured.helpers_cpu_ns)
        blocks.append(reply.ns / max(1, reply.operations))
        long_enough = time.monotonic_ns() - begun_ns >= least_ns
        flat = long_enough and len(blocks) >= FLAT_BLOCKS and is_flat(blocks[-FLAT_BLOCKS:])
        settled = flat and compilers_rest(windows_ns, helpers_cpu_ns)
    return WarmRecord(
        operations=operations,
        ns=time.monotonic_ns() - begun_ns,
        shape=classify(blocks),
        first_block_ns_per_operation=blocks[0],
        last_block_ns_per_operation=blocks[-1],
        settled=settled,
    )


def is_flat(last_blocks: Sequence[float]) -> bool:
    """Whether the last blocks (ns/operation) keep one level: the medians of their thirds lie within the tolerance.

    Fewer than three blocks are not enough to say so.
    """
    if len(last_blocks) < LAST:
        return False
    return _level(_windows(last_blocks, LAST))


def compilers_rest(window_ns: Sequence[int], helpers_cpu_ns: Sequence[int]) -> bool:
    """Whether a runtime's compilers had little to do in the last blocks, each with its window and their CPU time."""
    seen_ns = busy_ns = 0
    for window, busy in zip(reversed(window_ns), reversed(helpers_cpu_ns), strict=True):
        seen_ns, busy_ns = seen_ns + window, busy_ns + busy
        if seen_ns >= COMPILERS_NS:
            break
    return busy_ns <= COMPILERS_SHARE * seen_ns


def classify(blocks: Sequence[float]) -> Shape:
    """The shape of a worker's blocks (ns/operation) from its first operation on.

    `flat`: one level from the start; `warm-up`: it ends on its least level; `slowdown`: it ends on one that it had
    beaten before; `no steady state`: its end keeps no level. Up to two blocks can show no change: flat if they agree.
    """
    if len(blocks) < LAST:
        return "flat" if not blocks or _level(list(blocks)) else "no steady state"
    count = min(WINDOWS, max(FEW, len(blocks) // LAST))
    windows = _windows(blocks, count)
    smooth = _smoothed(windows)
    # A median of three blocks withstands one that sticks out; single blocks need smoothing to.
    ending = (windows if len(blocks) >= LAST * count else smooth)[-max(LAST, len(windows) // 3) :]
    final = statistics.median(ending)
    if not _level(ending):
        return "no steady state"
    start = len(smooth)
    while start > 0 and final / (1 + TOLERANCE) <= smooth[start - 1] <= final * (1 + TOLERANCE):
        start -= 1
    if start == 0:
        return "flat"
    return "slowdown" if min(smooth[:start]) * (1 + TOLERANCE) < final else "warm-up"


def _windows(blocks: Sequence[float], count: int) -> list[float]:
    """Medians of `count` windows of nearly equal length."""
    count = min(count, len(blocks))
    edges = [round(position * len(blocks) / count) for position in range(count + 1)]
    return [statistics.median(blocks[start:end]) for start, end in itertools.pairwise(edges)]


def _smoothed(windows: list[float]) -> list[float]:
    """Without single windows that stick out (a collection, a neighbour): running median of three; the first stays."""
    inner = [statistics.median(windows[position - 1 : position + 2]) for position in range(1, len(windows) - 1)]
    last = statistics.median([windows[-1], windows[-2], windows[-3]])
    return [windows[0], *inner, last]


def _level(windows: Sequence[float]) -> bool:
    return max(windows) <= min(windows) * (1 + TOLERANCE)
