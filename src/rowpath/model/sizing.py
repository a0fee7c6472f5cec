"""How many connections a user's program needs, as it was asked and measured, with no I/O: docs/probe.md."""

from __future__ import annotations

from rowpath.model import histogram
from rowpath.model.base import Frozen

KEPT_UP = 0.97  # of what was due in a block
GROWS, GROWS_BY = 0.01, 1.5  # of what was due waits at a block's end, and as many times more than at its half


class SizingQuestion(Frozen, frozen=True):
    """What was asked, and what may be taken; `rate_per_s` 0: each caller asks again as soon as it has its answer."""

    callers: int
    rate_per_s: float
    most: int  # connections that may be tried
    path: str  # in words: its driver and settings
    title: str  # of its language
    yours: bool  # the user's own driver
    free: str  # connections, in words
    instead: str = ""  # the user's own driver where that could not be used, and why
    others: int = 0  # sessions that were active


class SizeBlock(Frozen, frozen=True):
    """Some seconds with that many connections; `latency`: from an arrival to its end, as a histogram."""

    size: int
    seconds: float
    operations: int  # successful
    failed: int = 0
    due: int = 0  # arrivals; 0: there was no rate
    waiting_half: int = 0  # arrivals that nobody had begun at the block's half
    waiting: int = 0  # and at its end
    latency: dict[str, int] = {}

    @property
    def p50_ns(self) -> int | None:
        """The median of the latency."""
        return histogram.percentile(histogram.decode(self.latency), 50)

    @property
    def p99_ns(self) -> int | None:
        """The latency's 99th percentile."""
        return histogram.percentile(histogram.decode(self.latency), 99)

    @property
    def rate_per_s(self) -> float:
        """Successful operations in a second."""
        return self.operations / self.seconds

    @property
    def kept_up(self) -> bool:
        """Whether what was due was done, and the queue did not grow."""
        if not self.due:
            return True
        grows = self.waiting >= max(GROWS * self.due, GROWS_BY * self.waiting_half, 2 * self.size)
        return self.operations >= KEPT_UP * self.due and not grows


class SizingStop(Frozen, frozen=True):
    """Why a sizing ended early: with so many connections an empty query took longer than it did before."""

    size: int
    before_ns: int
    took_ns: int
