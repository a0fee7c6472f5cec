"""18: over an emulated link an operation takes its time without it and its round trips' time, no more and no less."""

from __future__ import annotations

from rowpath.checks.selftest.bench import Bench, Verdict
from rowpath.checks.selftest.null_adapter import PHASE, missing
from rowpath.engines import ENGINES

LINK = "2ms"
ADDED_AT_MOST = 0.25  # more than stated: two more processes have to wake up on each way
SESSIONS = {
    "ping": ("null", PHASE, 1),
    "libpq": ("postgresql", "keyed.read", 1),
}  # driver → engine, phase, round trips of an operation
WITHIN = 0.10


def check(bench: Bench, *, full: bool) -> list[Verdict]:
    """The ping-pong and a keyed read from C, each with and without the link."""
    verdicts = missing(bench, "the link")
    if verdicts:
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
        if len(analysis.across_links) != 1:
            verdicts.append(Verdict(False, f"{driver} over the link", "not both of its paths were measured", ""))
            continue
        (found,) = analysis.across_links
        link = next(record for record in records if record["record"] == "link")
        more = link["round_trip_ns"] / link["stated_ns"] - 1
        verdicts += [
            Verdict(0 <= more <= ADDED_AT_MOST, "the link's round trip over the stated", f"{more:.1%}", "0 to 25 %"),
            Verdict(found.round_trips == trips, f"round trips, {driver}", f"{found.round_trips:g}", f"exactly {trips}"),
            Verdict(
                abs(found.ratio - 1) <= WITHIN,
                f"measured over predicted, {driver}",
                f"{found.ratio:.3f}",
                f"within {WITHIN:.0%} of 1",
            ),
        ]
    return verdicts
