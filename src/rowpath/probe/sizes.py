"""Which numbers of connections are tried next: doubling first, then between the promising ones, until it is decided."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, field

from rowpath.analysis.size_choice import LEAST_BLOCKS, by_size, keeps_up, of_p99, surely_longer
from rowpath.analysis.statistics.intervals import difference
from rowpath.model.sizing import SizeBlock

MOST_BLOCKS = 8  # of a size
PROMISING, MAYBE = 1.5, 3.0  # times the least p99: what is tried again; with one block only
CLOSE = 1.2  # sizes that are no further apart are not split again, beside those that keep up or do not
SURE = 0.05  # half the interval of a ratio that need not be narrower
CONTENDERS = 5  # sizes that are tried again in one round
CERTAINLY = 2  # blocks that show whether a size keeps up


@dataclass
class SizeSearch:
    """The search among 1 to `most` connections, from the blocks so far."""

    most: int
    blocks: list[SizeBlock] = field(default_factory=list)

    def next_sizes(self) -> list[int]:
        """The sizes of the next round, of each one block, in any order; none: it is decided."""
        tried = by_size(self.blocks)
        for size in doubled(self.most):
            if size not in tried:
                return [size]
        near = self._near(tried)
        again, new = self._contenders(near, tried), self._between(near, tried)
        open_ends = [size for size in self._edge(tried) if len(tried[size]) < CERTAINLY]
        repeated = [self.most] if len(tried[self.most]) < LEAST_BLOCKS else []
        return sorted({*again, *new, *open_ends, *repeated})

    def _edge(self, tried: dict[int, list[SizeBlock]]) -> list[int]:
        """The largest size that does not keep up below the ones that do, and the next one tried; none: all keep up."""
        good = [size for size in tried if keeps_up(tried[size])]
        broken = [size for size in tried if size not in good and size < max(good, default=math.inf)]
        return [max(broken), *sorted(size for size in good if size > max(broken))[:1]] if broken else []

    def _near(self, tried: dict[int, list[SizeBlock]]) -> list[int]:
        """The best size first, then the smallest that may be as good, then others that may, the best before others."""
        known = {size: interval for size, alike in tried.items() if keeps_up(alike) and (interval := of_p99(alike))}
        if not known:
            return []
        best = min(known, key=lambda size: known[size].mean)
        near = [
            size
            for size, interval in known.items()
            if interval.mean - known[best].mean <= math.log(MAYBE if len(tried[size]) == 1 else PROMISING)
            and not (len(tried[size]) >= LEAST_BLOCKS and surely_longer(interval, known[best]))
        ]
        return list(dict.fromkeys([best, min(near), *sorted(near, key=lambda size: known[size].mean)]))

    def _contenders(self, near: list[int], tried: dict[int, list[SizeBlock]]) -> list[int]:
        """Those that are not known well enough, with the best one, to which they are compared."""
        known = {size: interval for size in near[:CONTENDERS] if (interval := of_p99(tried[size]))}
        again = [
            size
            for size, interval in known.items()
            if len(tried[size]) < LEAST_BLOCKS
            or (size != near[0] and difference(interval, known[near[0]]).half_width > SURE)
        ]
        again = [size for size in again if len(tried[size]) < MOST_BLOCKS]
        return [*again, near[0]] if again and len(tried[near[0]]) < MOST_BLOCKS else again

    def _between(self, near: list[int], tried: dict[int, list[SizeBlock]]) -> list[int]:
        """Sizes that were not tried: at the edge of what keeps up, and beside the best and the smallest that may do."""
        edge = self._edge(tried)
        new = [_middle(*edge)] if len(edge) == 2 and edge[1] - edge[0] > 1 else []
        sizes = [size for size in tried if not edge or size >= edge[0]]
        for low, high in itertools.pairwise(sizes):
            if {low, high} & set(near[:2]) and high - low > 1 and high / low > CLOSE:
                new.append(_middle(low, high))
        return new


def doubled(most: int) -> list[int]:
    """1, 2, 4, … and `most`."""
    return [1 << power for power in range(most.bit_length()) if 1 << power < most] + [most]


def _middle(low: int, high: int) -> int:
    """The geometric middle, between both."""
    return min(high - 1, max(low + 1, round(math.sqrt(low * high))))
