"""Which number of connections suffices, from repeated blocks of several: what a search and every report decide by."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Mapping, Sequence

from rowpath.analysis.statistics.intervals import Interval, difference, student
from rowpath.model.base import Frozen
from rowpath.model.grouping import grouped
from rowpath.model.sizing import SizeBlock

LEAST_BLOCKS = 3  # of a size that can be the answer
LONGEST = 1.25  # times the best size's p99, of the one found: where blocks differ much, nothing is surely longer
NEAR = math.log(LONGEST)


class SizeFigures(Frozen, frozen=True):
    """What one size came to over its blocks: p99 with its interval; `behind`: surely longer than the best size's."""

    size: int
    blocks: int
    rate_per_s: float
    kept_up: bool
    p50_ns: float | None
    p99_ns: float | None
    low_ns: float | None
    high_ns: float | None
    behind: bool = False


class SizeChoice(Frozen, frozen=True):
    """The sizes in order, the best one, the smallest that cannot be told from it, the largest that does not keep up."""

    sizes: tuple[SizeFigures, ...] = ()
    best: int | None = None
    found: int | None = None
    broken: int | None = None

    def of(self, size: int | None) -> SizeFigures | None:
        """The figures of a size; None where it was not tried."""
        return next((one for one in self.sizes if one.size == size), None)


def by_size(blocks: Iterable[SizeBlock]) -> dict[int, list[SizeBlock]]:
    """The blocks of each size, the smallest first."""
    return dict(sorted(grouped(blocks, lambda block: block.size).items()))


def chosen(blocks: Iterable[SizeBlock], least: int = LEAST_BLOCKS) -> SizeChoice:
    """What the blocks say; a size with fewer than `least` blocks is neither best nor found.

    What repeated blocks of one size differ by is how far two sizes may differ by chance (Welch's interval).
    """
    sizes = by_size(blocks)
    known = {size: interval for size, alike in sizes.items() if (interval := of_p99(alike)) is not None}
    good = [size for size, alike in sizes.items() if keeps_up(alike) and size in known and len(alike) >= least]
    best = min(good, key=lambda size: known[size].mean, default=None)
    behind = {size for size in known if best is not None and surely_longer(known[size], known[best])}
    broken = [size for size, alike in sizes.items() if not keeps_up(alike)]
    near = (size for size in good if size not in behind and known[size].mean - known[best or size].mean <= NEAR)
    found = min(near, default=None)
    limit = found if found is not None else math.inf
    return SizeChoice(
        tuple(_figures(size, alike, known, size in behind) for size, alike in sizes.items()),
        best,
        found,
        max((size for size in broken if size < limit), default=None),
    )


def keeps_up(alike: Sequence[SizeBlock]) -> bool:
    """Whether most blocks of a size did what was due."""
    return 2 * sum(block.kept_up for block in alike) > len(alike)


def of_p99(alike: Sequence[SizeBlock]) -> Interval | None:
    """The interval of a size's p99, as logarithms; None where no operation ended."""
    values = [p99 for block in alike if (p99 := block.p99_ns)]
    return student([math.log(value) for value in values])


def surely_longer(one: Interval, other: Interval) -> bool:
    """Whether the first is longer by more than chance."""
    return one is not other and difference(one, other).low > 0


def _figures(size: int, alike: Sequence[SizeBlock], known: Mapping[int, Interval], behind: bool) -> SizeFigures:
    p50 = [block.p50_ns for block in alike if block.p50_ns]
    p99_ns, low_ns, high_ns = known[size].ratios if size in known else (None, None, None)
    return SizeFigures(
        size,
        len(alike),
        statistics.fmean(block.rate_per_s for block in alike),
        keeps_up(alike),
        statistics.median(p50) if p50 else None,
        p99_ns,
        low_ns,
        high_ns,
        behind,
    )
