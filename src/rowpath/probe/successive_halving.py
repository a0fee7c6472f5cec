"""Successive halving, without I/O: what is known of each candidate, and which of them go on."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass

from rowpath.analysis.statistics.intervals import student
from rowpath.model.grouping import grouped
from rowpath.model.probe import LEAST_GAIN

TRY_DOUBT = 1.3  # a single short try may be off by this factor either way
FINALISTS = 6  # of all languages together, where fewer are needed
FEWEST = 3  # of one language go on at least, while they are not decided
TIED = math.log(1 + LEAST_GAIN)
Kind = Callable[[str], str]


@dataclass(frozen=True)
class CostEstimate:
    """A candidate's cost relative to a common one, as ln(ratio), and how far it may lie from that."""

    middle: float
    low: float
    high: float

    @classmethod
    def of_try(cls, relative: float) -> CostEstimate:
        """Estimate from one short try: cost ÷ the least cost of all tries."""
        middle, doubt = math.log(relative), math.log(TRY_DOUBT)
        return cls(middle, middle - doubt, middle + doubt)

    @classmethod
    def of_rounds(cls, costs: Mapping[int, float], compared_with: Mapping[int, float]) -> CostEstimate | None:
        """Estimate from interleaved blocks: the median of the within-round ratios to the other, with its interval.

        None when the two share no round.
        """
        values = [math.log(costs[turn] / compared_with[turn]) for turn in sorted(costs.keys() & compared_with.keys())]
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

    def behind(self, best: CostEstimate) -> bool:
        """Whether it is surely slower than that one."""
        return self.low > best.high

    def settled(self, best: CostEstimate) -> bool:
        """Whether at most 3 % are lost by choosing that one instead."""
        return best.high - self.low <= TIED


def _ordered(estimates: Mapping[str, CostEstimate]) -> list[str]:
    return sorted(estimates, key=lambda name: estimates[name].middle)


def _of_each(
    estimates: Mapping[str, CostEstimate], kind: Kind, chosen: Callable[[list[str]], Iterable[str]]
) -> list[str]:
    """What is chosen of each kind's names, which come best first; best first."""
    ordered = _ordered(estimates)
    kept = {name for names in grouped(ordered, kind).values() for name in chosen(names)}
    return [name for name in ordered if name in kept]


def halved(count: int) -> int:
    """How many of this many go on at the most, intervals aside."""
    return max(FEWEST, math.ceil(count / 2)) if count > FEWEST else count


def survivors(estimates: Mapping[str, CostEstimate], keep: int, protected: Iterable[str] = ()) -> list[str]:
    """The `keep` best, those whose interval still overlaps the cut-off, and the protected ones; best first."""
    ordered = _ordered(estimates)
    if len(ordered) <= keep:
        return ordered
    cut_off, guarded = estimates[ordered[keep - 1]].high, set(protected)
    late = [name for name in ordered[keep:] if name in guarded or estimates[name].low <= cut_off]
    return ordered[:keep] + late


def contested(estimates: Mapping[str, CostEstimate], kind: Kind, baselines: Container[str]) -> list[str]:
    """The best of each undecided kind and its challengers, which may be faster; best first.

    A baseline challenges no path: it is in the full sets, which decide between it and the best.
    """

    def undecided(names: list[str]) -> list[str]:
        best = estimates[names[0]]
        challengers = [name for name in names[1:] if name not in baselines and not estimates[name].settled(best)]
        return [names[0], *challengers] if challengers else []

    return _of_each(estimates, kind, undecided)


def needed(estimates: Mapping[str, CostEstimate], language: Kind, baselines: Container[str]) -> list[str]:
    """The best of each language and its baselines, best first; only those where the best is no better than they are."""

    def kept(names: list[str]) -> list[str]:
        best, present = estimates[names[0]], [name for name in names if name in baselines]
        return present if any(best.settled(estimates[name]) for name in present) else [names[0], *present]

    return _of_each(estimates, language, kept)


def going_on(estimates: Mapping[str, CostEstimate], language: Kind, protected: Iterable[str]) -> list[str]:
    """The better half of each language, without paths that are surely behind its best; best first."""
    guarded = set(protected)

    def kept(names: list[str]) -> list[str]:
        close = [name for name in names if name in guarded or not estimates[name].behind(estimates[names[0]])]
        return survivors({name: estimates[name] for name in close}, halved(len(close)), guarded)

    return _of_each(estimates, language, kept)


def best_of_each(ordered: Iterable[str], kind: Kind) -> list[str]:
    """The first of every value of a kind (language), in the given order."""
    return [names[0] for names in grouped(ordered, kind).values()]


def finalists(needed: Sequence[str], wished: Iterable[str], room: int = FINALISTS) -> list[str]:
    """The candidates of the full sets: all that are needed, then as many others as there is room for."""
    return list(dict.fromkeys([*needed, *wished]))[: max(room, len(needed))]


def batches(names: Sequence[str], size: int, language: Kind = str) -> list[list[str]]:
    """Sets of at most `size` (two at least) that all begin with the same anchor, the first name.

    The others of one language meet in one set where they fit.
    """
    anchor, room = names[0], size - 1
    sets: list[list[str]] = []
    for alike in grouped(names[1:], language).values():
        for at in range(0, len(alike), room):
            part = alike[at : at + room]
            fitting = next((members for members in sets if len(members) + len(part) <= room), None)
            if fitting is None:
                sets.append(part)
            else:
                fitting.extend(part)
    return [[anchor, *members] for members in sets] or [[anchor]]
