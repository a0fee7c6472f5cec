"""Holm's step-down procedure: the chance of any false difference in a family stays below alpha."""

from __future__ import annotations

from collections.abc import Sequence

from rowpath.analysis.statistics.intervals import ALPHA


def holm(p_values: Sequence[float], alpha: float = ALPHA) -> list[bool]:
    """Which hypotheses of the family are rejected, in the order given (Holm 1979)."""
    rejected = [False] * len(p_values)
    for tested, position in enumerate(sorted(range(len(p_values)), key=lambda index: p_values[index])):
        if p_values[position] > alpha / (len(p_values) - tested):
            break
        rejected[position] = True
    return rejected
