"""Before anything is measured: other programs leave, paths are warmed up (after Barrett et al., OOPSLA 2017)."""

from __future__ import annotations

import itertools
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from rowpath.execution.measured import Measured, capped
from rowpath.execution.mixed_load.shared_counters import Snapshot
from rowpath.journal.records import WarmRecord
from rowpath.machine.counters.core_users import look, users
from rowpath.model.choices import WAIT_FOR_QUIET_S

BACKLOG_WINDOW_S = 0.1
BACKLOG_WINDOWS = 2  # in a row: one may be a lull
BACKLOG_SHARE = 0.05  # of one core, by all runtimes together
BACKLOG_CAP_S = 6.0
OTHERS_WINDOW_S = 0.5
OTHERS_SHARE = 0.05  # of the cores, by any process: none of our own runs then
Shape = Literal["flat", "warm-up", "slowdown", "no steady state"]
TOLERANCE = 0.10  # 3 to 5 % is below what a machine drifts by itself
WINDOWS = 24  # a series is judged by the medians of about this many windows
FEW = 8  # windows of a short series: of single blocks where there are no more
FLAT_BLOCKS = 9  # this many last blocks must keep one level before a path counts as warm
LAST = 3  # windows that must agree before a level counts as reached
COMPILERS_NS = 200e6  # of the last blocks: a runtime's compilers must have come to rest in them
COMPILERS_SHARE = 0.1  # of their time, at most
LOOK_NS = 100_000_000


def wait_for_compilers(spent_ns: Callable[[], int | None]) -> None:
    """Wait until no compiler has a backlog, BACKLOG_CAP_S at most: what it compiles changes what is measured next.

    `spent_ns`: as `helpers_cpu_ns`, of those that are not lost meanwhile.
    """
    begun = time.monotonic()
    quiet = 0
    before: int | None = None
    while quiet < BACKLOG_WINDOWS and time.monotonic() - begun < BACKLOG_CAP_S:
        if (now := spent_ns()) is None:
            return
        if before is not None:
            quiet = quiet + 1 if now - before < BACKLOG_SHARE * BACKLOG_WINDOW_S * 1e9 else 0
        before = now
        time.sleep(BACKLOG_WINDOW_S)


@dataclass
class Patience:
    """How long a run still waits for other programs."""

    left_s: float = WAIT_FOR_QUIET_S

    def wait_for_quiet(self, cpus: frozenset[int], note: Callable[[str], None]) -> bool:
        """Wait until no process uses these cores; whether they are quiet now. What it waits for is noted."""
        noted = not cpus  # of paths on other hosts: nothing here is measured
        while cpus and self.left_s > 0:
            before = look(cpus)
            time.sleep(OTHERS_WINDOW_S)
            after = look(cpus)
            self.left_s -= OTHERS_WINDOW_S
            elapsed_ns = (after.at_ns - before.at_ns) * len(cpus)
            busy = 1 - (after.idle_ns - before.idle_ns) / elapsed_ns
            if busy <= OTHERS_SHARE:
                return True
            if not noted:
                noted = True
                named = capped(users(before, after, cpus, frozenset()), elapsed_ns)
                who = ", ".join(user.name for user in named) or "another program"
                at_most = f"waiting until it is quiet, at most {self.left_s:.0f} s"
                note(f"the measured core is {busy:.0%} busy ({who}): {at_most}")
        return False


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


class Warming:
    """Called at every look of a warm-up: whether it is enough."""

    def __init__(self, at_least_s: float) -> None:
        self._least_ns = time.monotonic_ns() + round(at_least_s * 1e9)
        self._last: dict[str, Snapshot] = {}
        self._ns: dict[str, list[float]] = {}  # of an operation, by group, for each look

    def __call__(self, now: dict[str, Snapshot]) -> bool:
        """Whether every group has kept one level for some looks; one that did nothing since the last has not."""
        for name, snapshot in now.items():
            done = snapshot.since(self._last.get(name))
            ns = done.service_ns / done.operations if done.operations else float("inf")
            self._ns.setdefault(name, []).append(ns)
        self._last = now
        if time.monotonic_ns() < self._least_ns:
            return False
        lasts = [blocks[-FLAT_BLOCKS:] for blocks in self._ns.values()]
        return all(len(last) == FLAT_BLOCKS and max(last) < float("inf") and is_flat(last) for last in lasts)
