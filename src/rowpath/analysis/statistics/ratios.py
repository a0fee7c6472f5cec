"""Ratios of one set: the median of the within-round log ratios, robust against what hits single blocks."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping

ENOUGH = 0.5  # share of a set's rounds that both paths need for the set to count


def set_log_ratio(a: Mapping[int, float], b: Mapping[int, float]) -> float | None:
    """ln(cost a / cost b) of one set from costs by round; None when fewer than half of the rounds have both."""
    shared = [math.log(a[number] / b[number]) for number in a.keys() & b.keys() if a[number] > 0 and b[number] > 0]
    if not shared or len(shared) < ENOUGH * max(len(a), len(b)):
        return None
    return statistics.median(shared)


def log_ratios(
    a: Mapping[int, Mapping[int, float]], b: Mapping[int, Mapping[int, float]], within_rounds: bool = True
) -> dict[int, float]:
    """ln(cost a / cost b) by set, from costs by set and round.

    Without `within_rounds` (two phases, whose rounds were not interleaved): the ratio of the sets' medians.
    """
    found: dict[int, float] = {}
    for number in sorted(a.keys() & b.keys()):
        if within_rounds:
            value = set_log_ratio(a[number], b[number])
        elif a[number] and b[number]:
            value = math.log(statistics.median(a[number].values()) / statistics.median(b[number].values()))
        else:
            value = None
        if value is not None:
            found[number] = value
    return found
