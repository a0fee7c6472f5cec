"""Queues whose mean waiting is known: Poisson arrivals, a service of one length, k servers (M/D/k)."""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable

NEGLIGIBLE = 1e-12


def mean_waiting(load: float, servers: int) -> float:
    """The mean waiting of M/D/k in units of the service time; `load` in Erlangs (arrivals in one service time).

    Crommelin's series (C. D. Crommelin: Delay probability formulae when the holding times are constant, Post Office
    Electrical Engineers' Journal 25, 1932, and 26, 1934). Services of one length end in the order of their begin, so
    arrival j + k gets the server of arrival j: W(j + k) = max(0, W(j) + 1 - T), T the sum of k distances. By Spitzer's
    identity the mean of W is the sum over w >= 1 of E[max(0, w - T_w)] / w, T_w the sum of wk distances. With
    P(T_w <= w) = P(N >= wk), N Poisson with mean w·load, that is the sum of P(N >= wk) - k/load · P(N >= wk + 1).
    """
    if not 0 < load < servers:
        raise ValueError(f"{load} Erlangs for {servers} servers: the queue grows for ever")
    total, w = 0.0, 0
    while True:
        w += 1
        at_least, beyond = _tails(w * load, w * servers)
        term = at_least - servers / load * beyond
        total += term
        if term < NEGLIGIBLE * total:
            return total


def simulated_waiting(dues: Iterable[float], service: float, servers: int) -> float:
    """The mean waiting of these arrivals, in turn, each by the server that gets free first; units as in `dues`."""
    free = [-math.inf] * servers
    waited = arrivals = 0.0
    for due in dues:
        begin = max(due, free[0])
        heapq.heapreplace(free, begin + service)
        waited += begin - due
        arrivals += 1
    return waited / arrivals


def _tails(mean: float, least: int) -> tuple[float, float]:
    """P(N >= least) and P(N >= least + 1) of a Poisson variable with a mean below `least`."""
    term = first = math.exp(least * math.log(mean) - mean - math.lgamma(least + 1))
    beyond, count = 0.0, least
    while term > NEGLIGIBLE * first:
        count += 1
        term *= mean / count
        beyond += term
    return first + beyond, beyond
