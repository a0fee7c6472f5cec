"""The connection that watches a server under our load: it executes an empty query, and we stop when that takes long."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from rowpath.execution.mixed_load.shared_counters import Snapshot
from rowpath.model import histogram

LONGER = 2.0  # times what an empty query took before the load
WINDOW_NS = 500_000_000  # of which the median counts
LEAST_READINGS = 3  # in a window; of a server that is far away there are no more
LEAST_SHARE = 0.5  # of the readings that there would be at twice the time: with fewer, it is longer
PAUSE_S = 0.005  # between two of its executions


@dataclass
class Sentinel:
    """What an empty query takes: its median over the last half second, against what it took before the load."""

    before_ns: int
    took_ns: int = 0  # once it took too long; 0: it did not
    _seen: deque[Snapshot] = field(default_factory=deque)

    def begin(self) -> None:
        """A new block: its counters begin from 0."""
        self._seen.clear()

    def too_long(self, now: Snapshot) -> bool:
        """Whether an empty query takes twice as long as before, or does not return at all."""
        self._seen.append(now)
        while len(self._seen) > 1 and now.at_ns - self._seen[1].at_ns >= WINDOW_NS:
            self._seen.popleft()
        oldest = self._seen[0]
        window = now.since(oldest)
        passed_ns = now.at_ns - oldest.at_ns
        expected = passed_ns / (LONGER * self.before_ns + PAUSE_S * 1e9)
        if now.under_way_ns > max(WINDOW_NS, LONGER * self.before_ns):
            self.took_ns = now.under_way_ns
        elif passed_ns >= WINDOW_NS and window.operations < LEAST_SHARE * expected:
            self.took_ns = passed_ns // (window.operations + 1)
        elif passed_ns >= WINDOW_NS and window.operations >= LEAST_READINGS:
            median_ns = histogram.percentile(window.service, 50) or 0
            self.took_ns = median_ns if median_ns >= LONGER * self.before_ns else 0
        return self.took_ns > 0
