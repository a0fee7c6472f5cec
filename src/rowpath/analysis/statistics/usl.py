"""The Universal Scalability Law: how a rate grows with the number of clients (Gunther 2007).

X(n) = λn / (1 + σ(n − 1) + κn(n − 1)): λ is one client's rate, σ what clients wait for each other (contention), κ what
each must settle with each other one (coherence).
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rowpath.analysis.statistics.intervals import CONFIDENCE, mean_with_ends

LEAST_LEVELS = 6  # with fewer three parameters follow the noise
LEAST_DENOMINATOR = 1e-9


@dataclass(frozen=True)
class ClientsCurve:
    """One fitted law."""

    rate_of_one: float
    contention: float
    coherence: float

    def rate(self, n: float) -> float:
        """X(n)."""
        return self.rate_of_one * n / (1 + self.contention * (n - 1) + self.coherence * n * (n - 1))


@dataclass(frozen=True)
class Parameter:
    """The mean of a parameter over the sets with its interval; None with fewer than two sets."""

    value: float
    low: float | None
    high: float | None

    @property
    def known(self) -> bool:
        """Whether it is surely above 0."""
        return self.low is not None and self.low > 0


@dataclass(frozen=True)
class Law:
    """The law fitted in each set on its own."""

    rate_of_one: Parameter
    contention: Parameter
    coherence: Parameter
    most: int  # the greatest number of clients that was measured
    worst: float  # the greatest |fitted ÷ measured − 1| of a level's mean over the sets

    @property
    def peak(self) -> float | None:
        """The number of clients with the greatest rate, where coherence is known and it lies within the measured."""
        if not self.coherence.known or self.contention.value >= 1:
            return None
        at = math.sqrt((1 - self.contention.value) / self.coherence.value)
        return at if 1 <= at <= self.most else None


def fit(rates: Mapping[int, float]) -> ClientsCurve:
    """The law that makes the sum of squared relative errors (of logarithms) of the rates by clients least.

    Gauss-Newton from the solution of the law's reciprocal, which is linear: n/X = (1 + σ(n−1) + κn(n−1)) / λ. σ and κ
    are not held above 0, so that noise about 0 does not become a bias.
    """
    from scipy.optimize import least_squares

    n, x = np.array(sorted(rates), dtype=float), np.array([rates[level] for level in sorted(rates)])
    terms = np.stack([np.ones(len(n)), n - 1, n * (n - 1)], axis=1)
    start = np.linalg.lstsq(terms * (x / n)[:, None], np.ones(len(n)), rcond=None)[0]

    def errors(parameters: NDArray[np.float64]) -> NDArray[np.float64]:
        scale, contention, coherence = parameters
        bottom = np.maximum(1 + contention * (n - 1) + coherence * n * (n - 1), LEAST_DENOMINATOR)
        return np.asarray(scale + np.log(n / bottom / x))

    begin = [-math.log(max(start[0], LEAST_DENOMINATOR)), start[1] / start[0], start[2] / start[0]]
    scale, contention, coherence = least_squares(errors, begin).x
    return ClientsCurve(math.exp(scale), float(contention), float(coherence))


def law(by_set: Sequence[Mapping[int, float]], confidence: float = CONFIDENCE) -> Law | None:
    """The law of the rates by clients, one mapping per set, with intervals from the spread over the sets (Student's t).

    None with fewer than six numbers of clients in every set.
    """
    common = set.intersection(*(set(rates) for rates in by_set)) if by_set else set()
    if len(common) < LEAST_LEVELS:
        return None
    curves = [fit({n: rates[n] for n in common}) for rates in by_set]
    worst = max(
        abs(statistics.fmean(curve.rate(n) / rates[n] for curve, rates in zip(curves, by_set, strict=True)) - 1)
        for n in common
    )
    rate_of_one, contention, coherence = (
        Parameter(*mean_with_ends([getattr(curve, name) for curve in curves], confidence))
        for name in ("rate_of_one", "contention", "coherence")
    )
    return Law(rate_of_one, contention, coherence, max(common), worst)
