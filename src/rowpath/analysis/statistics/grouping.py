"""Order and tiers: paths that are not ranked apart from the first of a tier belong to it; Holm's procedure."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from rowpath.analysis.statistics.intervals import ALPHA, SETS_FOR_CLAIMS, Interval

Item = TypeVar("Item", bound=Hashable)


@dataclass(frozen=True)
class RankedItem(Generic[Item]):
    """An item of a ranking: `to_fastest` is None only where the two were never compared."""

    item: Item
    rank: int  # of the first of its tier: 1, 1, 3, …
    tier: int
    to_fastest: Interval | None
    differs: bool  # from the item directly before it


def ranked_in_tiers(
    items: Sequence[Item], cost: Callable[[Item], float], compare: Callable[[Item, Item], Interval | None]
) -> list[RankedItem[Item]]:
    """Fastest first, in tiers; `compare(a, b)` gives ln(cost a / cost b), `cost` a first guess at the order.

    The family of Holm's procedure is the neighbours of the ranking. With fewer than 6 sets nothing differs.
    """
    if not items:
        return []
    ordered = _ordered(items, cost, compare)
    neighbours = [compare(ordered[position], ordered[position - 1]) for position in range(1, len(ordered))]
    usable = [interval is not None and interval.sets >= SETS_FOR_CLAIMS for interval in neighbours]
    family = [
        interval.p_value for interval, use in zip(neighbours, usable, strict=True) if use and interval is not None
    ]
    verdicts = iter(holm(family))
    differs = [False, *(next(verdicts) if use else False for use in usable)]
    ranked: list[RankedItem[Item]] = []
    leader, rank, tier = ordered[0], 1, 0
    for position, item in enumerate(ordered):
        if position:
            step = compare(item, leader)
            if step is not None and step.apart:
                leader, rank, tier = item, position + 1, tier + 1
        ranked.append(RankedItem(item, rank, tier, compare(item, ordered[0]), differs[position]))
    return ranked


def _ordered(
    items: Sequence[Item], cost: Callable[[Item], float], compare: Callable[[Item, Item], Interval | None]
) -> list[Item]:
    """Sorted by the ratio to one reference, which is the fastest itself (its ratios decide, not the raw costs)."""
    reference = min(items, key=cost)
    for _ in range(len(items)):
        ratios = {
            item: interval.mean if (interval := compare(item, reference)) else math.log(cost(item) / cost(reference))
            for item in items
        }
        fastest = min(items, key=lambda item: ratios[item])
        if fastest == reference or ratios[fastest] >= 0:
            break
        reference = fastest
    return sorted(items, key=lambda item: (item != reference, ratios[item]))


def holm(p_values: Sequence[float]) -> list[bool]:
    """Which hypotheses of the family are rejected, in the order given; step-down (Holm 1979).

    The chance of any false difference in the family stays below ALPHA.
    """
    rejected = [False] * len(p_values)
    for tested, position in enumerate(sorted(range(len(p_values)), key=lambda index: p_values[index])):
        if p_values[position] > ALPHA / (len(p_values) - tested):
            break
        rejected[position] = True
    return rejected
