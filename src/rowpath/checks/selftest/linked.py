"""18: over an emulated link an operation takes its time without it and its round trips' time, no more and no less."""

from __future__ import annotations

import statistics
import time

from rowpath.analysis.chapters import links
from rowpath.checks.selftest.bench import NOTHING, Bench, Verdict
from rowpath.engines import ENGINES

LINK = "2ms"
ADDED_AT_MOST = 0.25  # more than stated: two more processes have to wake up on each way
WAKE_UPS = 6  # of a round trip over the link: two delays, and four processes; each as late as a sleep is here
SLEEPS, SLEEP_S = 101, 0.001
SESSIONS = {
    "ping": ("null", NOTHING, 1),
    "libpq": ("postgresql", "keyed.read", 1),
}  # driver → engine, phase, round trips of an operation
WITHIN = 0.10


def check(bench: Bench, *, full: bool) -> list[Verdict]:
    """The ping-pong and a keyed read from C, each with and without the link."""
    if verdicts := bench.without_compiler("the link"):
        return verdicts
    for driver, (engine, phase, trips) in SESSIONS.items():
        here = ENGINES[engine].availability()
        if not here.ok:
            verdicts.append(Verdict(None, f"{driver} over the link", here.reason, here.remedy))
            continue
        paths = [
            bench.path("c", driver, phase, name=f"{driver} {link}", transport="tcp", link=link)
            for link in ("none", LINK)
        ]
        analysis, records = bench.run(paths, phase, sets=6 if full else 4, rounds=10, warm_cap_s=0.3)
        checked = links.CHAPTER.of(analysis)
        if len(checked) != 1:
            verdicts.append(Verdict(False, f"{driver} over the link", "not both of its paths were measured"))
            continue
        (found,) = checked
        link = next(iter(records.links.values()))
        more = link.round_trip_ns / link.stated_ns - 1
        at_most = max(ADDED_AT_MOST, WAKE_UPS * _lateness_ns() / link.stated_ns)
        verdicts += [
            Verdict.within("the link's round trip beyond the stated", more, 0, at_most, ".1%"),
            Verdict.exactly(f"round trips, {driver}", found.round_trips, trips),
            Verdict.within(f"measured over predicted, {driver}", _nearest_to_one(found), 1 - WITHIN, 1 + WITHIN, ".3f"),
        ]
    return verdicts


def _nearest_to_one(found: links.AcrossLink) -> float:
    """The value of the interval that is nearest to 1: a machine that wakes processes late makes it wide, not wrong."""
    low, high = found.low or found.ratio, found.high or found.ratio
    return min(max(1.0, low), high)


def _lateness_ns() -> float:
    """How late a sleeping process wakes up on this machine, in the middle of some sleeps."""
    late = []
    for _ in range(SLEEPS):
        begun_ns = time.monotonic_ns()
        time.sleep(SLEEP_S)
        late.append(time.monotonic_ns() - begun_ns - SLEEP_S * 1e9)
    return statistics.median(late)
