"""Successive halving, without I/O: what is known of each candidate, and which of them go on."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from rowpath.analysis.statistics.intervals import student

TRY_DOUBT = 1.5  # a single short try may be off by this factor either way
FINALISTS = 6


@dataclass(frozen=True)
class Estimate:
    """A candidate's cost relative to a common one, as ln(ratio), and how far it may lie from that."""

    middle: float
    low: float
    high: float

    @classmethod
    def of_try(cls, relative: float) -> Estimate:
        """From one short try: cost ÷ the least cost of all tries."""
        middle, doubt = math.log(relative), math.log(TRY_DOUBT)
        return cls(middle, middle - doubt, middle + doubt)

    @classmethod
    def of_rounds(cls, costs: Mapping[int, float], anchor: Mapping[int, float]) -> Estimate | None:
        """From interleaved blocks by round: the median of the within-round ratios to the anchor, its interval around.

        None when the two share no round.
        """
        values = [math.log(costs[turn] / anchor[turn]) for turn in sorted(costs.keys() & anchor.keys())]
        interval = student(values)
        if interval is None:
            return None
        middle = statistics.median(values)
        return cls(middle, min(middle, interval.low), max(middle, interval.high))

    @property
    def ratio(self) -> float:
        """The cost ratio itself."""
        return math.exp(self.middle)

    @property
    def ends(self) -> tuple[float | None, float | None]:
        """Both ends of the ratio's interval; None where it has none."""
        low, high = (math.exp(end) if math.isfinite(end) else None for end in (self.low, self.high))
        return low, high


def halved(count: int) -> int:
    """How many of this many go on at the most, intervals aside."""
    return max(FINALISTS, math.ceil(count / 2)) if count > FINALISTS else count


def survivors(estimates: Mapping[str, Estimate], keep: int, protected: Iterable[str] = ()) -> list[str]:
    """The `keep` best, those whose interval still overlaps the cut-off, and the protected ones; best first."""
    ordered = sorted(estimates, key=lambda name: estimates[name].middle)
    if len(ordered) <= keep:
        return ordered
    cut_off = estimates[ordered[keep - 1]].high
    guarded = set(protected)
    return [
        name
        for position, name in enumerate(ordered)
        if position < keep or name in guarded or estimates[name].low <= cut_off
    ]


def best_of_each(ordered: Sequence[str], kinds: Sequence[Callable[[str], str]]) -> list[str]:
    """The first of every value of every kind (language, fetch form), in the given order."""
    found = {name for kind in kinds for name in {kind(name): name for name in reversed(ordered)}.values()}
    return [name for name in ordered if name in found]


def finalists(ordered: Sequence[str], kinds: Sequence[Callable[[str], str]], room: int = FINALISTS) -> list[str]:
    """The candidates of the full sets, the indispensable ones first: a shorter list drops the rest.

    The two best of all, because the probe must distinguish them; the best of each kind; the best of the rest.
    """
    first = list(ordered[:2])
    chosen = dict.fromkeys([*first, *best_of_each(ordered, kinds)])
    for name in ordered:
        if len(chosen) >= room:
            break
        chosen.setdefault(name, None)
    return list(chosen)


def batches(names: Sequence[str], size: int) -> list[list[str]]:
    """Sets of at most `size` (two at least) that all begin with the same anchor, the first name."""
    anchor, rest = names[0], list(names[1:])
    step = size - 1
    return [[anchor, *rest[at : at + step]] for at in range(0, len(rest), step)] or [[anchor]]
