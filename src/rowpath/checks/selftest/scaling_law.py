"""12: made rates of a known Universal Scalability Law, with noise: its parameters come back, their intervals cover.

A law with four numbers of clients is refused, one that is straight shows neither contention nor coherence.
"""

from __future__ import annotations

import random
import statistics
from typing import NamedTuple

from scipy import stats

from rowpath.analysis.statistics.usl import ClientsCurve, Law, law
from rowpath.checks.selftest.bench import Bench, Verdict

CLIENTS = (1, 2, 3, 4, 6, 8)
SETS = 6
NOISE, DRIFT = 0.01, 0.02  # of a block within its set; of the whole machine from set to set
TRIALS = {False: 100, True: 400}
CURVES = {
    "contention and coherence": ClientsCurve(1_000_000, 0.05, 0.01),
    "only contention": ClientsCurve(300_000, 0.30, 0.0),
    "straight": ClientsCurve(50_000, 0.0, 0.0),
}


class Bias(NamedTuple):
    """How far from the truth a parameter may lie on average: λ as a share of it, σ and κ as they are."""

    rate_of_one: float = 0.01
    contention: float = 0.005
    coherence: float = 0.001


def made(curve: ClientsCurve, seed: str, clients: tuple[int, ...] = CLIENTS) -> list[dict[int, float]]:
    """Rates by clients, one mapping per set, with noise and drift."""
    noise = random.Random(seed)
    sets = []
    for _ in range(SETS):
        speed = noise.gauss(1.0, DRIFT)
        sets.append({n: curve.rate(n) * speed * noise.gauss(1.0, NOISE) for n in clients})
    return sets


def check(bench: Bench, *, full: bool) -> list[Verdict]:
    """Every curve many times: no bias, intervals that cover, and no law from too little."""
    trials = TRIALS[full]
    # How often 95 % intervals cover at least, with 99 % certainty for all of them together.
    parameters = len(CURVES) * len(Bias._fields)
    least = int(stats.binom.ppf(0.01 / parameters, trials, 0.95))
    verdicts = []
    for name, curve in CURVES.items():
        found = [fitted for seed in range(trials) if (fitted := law(made(curve, f"{name}/{seed}"))) is not None]
        for parameter, bias in Bias()._asdict().items():
            verdicts.append(_covering(name, parameter, curve, found, least))
            verdicts.append(_unbiased(name, parameter, curve, found, bias))
    four = law(made(CURVES["straight"], "four", CLIENTS[:4]))
    verdicts.append(Verdict.either("four numbers of clients", four is not None, False, ("a law", "no law")))
    seen = sum(
        fitted.coherence.known for seed in range(trials) if (fitted := law(made(CURVES["straight"], f"seen/{seed}")))
    )
    most = int(stats.binom.ppf(0.99, trials, 0.025))
    verdicts.append(Verdict(seen <= most, "straight: coherence claimed", f"{seen} of {trials}", f"at most {most}"))
    return verdicts


def _covering(name: str, parameter: str, curve: ClientsCurve, found: list[Law], least: int) -> Verdict:
    truth = getattr(curve, parameter)
    intervals = [getattr(fitted, parameter) for fitted in found]
    covering = sum(each.low is not None and each.low <= truth <= each.high for each in intervals)
    return Verdict(
        covering >= least, f"{name}, {parameter} in its interval", f"{covering} of {len(found)}", f"at least {least}"
    )


def _unbiased(name: str, parameter: str, curve: ClientsCurve, found: list[Law], bias: float) -> Verdict:
    truth = getattr(curve, parameter)
    scale = truth if parameter == "rate_of_one" else 1.0
    off = (statistics.fmean(getattr(fitted, parameter).value for fitted in found) - truth) / scale
    return Verdict.within(f"{name}, {parameter} off on average", off, -bias, bias, "+.4f")
