"""Known answers 7, 8, 16 and 18: where time goes that an operation waits: stalls, a stopped server, pauses, a link."""

from __future__ import annotations

import contextlib
import math
import os
import signal
import statistics
import time
from collections.abc import Iterator
from dataclasses import dataclass

from rowpath.analysis.chapters import links
from rowpath.analysis.chapters.mixed_load import report_of
from rowpath.checks.selftest.bench import NOTHING, Bench, Verdict, beside, samples
from rowpath.engines import ENGINES
from rowpath.execution.mixed_load.group_totals import TAIL_S, due_before, reached
from rowpath.execution.mixed_load.shared_counters import SharedCounters, Snapshot
from rowpath.machine import cpus
from rowpath.model import histogram
from rowpath.model.experiment import ClientGroupTable, StageTable

BURN_NS = 20_000
STALL_NS = 20_000_000
STALL_EVERY = 100
STALL_TOLERANCE = 0.10
# A block ends at the first operation past its end, which is mostly a stall, and the lead-in after it has none: short
# blocks hold more stalls than their share. These hold 22. Without a stall any block will do.
STALL_BLOCK_MS = {True: 500, False: 50}
STALL_FINDING = "closed-loop-hides-stall"


def stalls(bench: Bench, *, full: bool) -> Iterator[Verdict]:
    """7: a stall in each hundredth operation shows in the maximum and, by its share, in the mean.

    Measure the same path with the stall and without it.
    """
    name = bench.languages()[0]
    for stalls in (True, False):
        costs = {"stall_ns": str(STALL_NS), "stall_every": str(STALL_EVERY)} if stalls else {}
        label = "stalls" if stalls else "calm"
        path = bench.path(name, "null", NOTHING, label=label, burn_ns=str(BURN_NS), **costs)
        sets, block_ms = 6 if full else 2, STALL_BLOCK_MS[stalls]
        analysis, records = bench.run([path], NOTHING, sets=sets, rounds=6, block_ms=block_ms, warm_cap_s=0.3)
        raised = any(finding.id == STALL_FINDING and path.name in finding.paths for finding in analysis.findings)
        what = f"the finding {STALL_FINDING}, {'with' if stalls else 'without'} the stall"
        yield Verdict.either(what, raised, stalls)
        if not stalls:
            continue
        blocks = samples(records, path)
        longest = min(block.max_ns for block in blocks)  # of each block: a busy machine makes some longer
        # Waiting for the core after a sleep is the machine's doing.
        mean = sum(block.ns - (block.wait_ns or 0) for block in blocks) / sum(block.operations for block in blocks)
        share = (mean - BURN_NS) / (STALL_NS / STALL_EVERY)
        least_ms, most_ms = STALL_NS / 1e6, 1.5 * STALL_NS / 1e6
        yield Verdict.within("the least of the blocks' longest operations, ms", longest / 1e6, least_ms, most_ms, ".1f")
        yield Verdict.within("the stalls' share in the mean", share, 1 - STALL_TOLERANCE, 1 + STALL_TOLERANCE, ".3f")


RATE_PER_S = 1000.0
STOP_S = 2.0
BEFORE_S, AFTER_S = 0.5, 1.0
THRESHOLDS_S = (0.5, 1.0, 1.5)
SLOW_NS = 1_000_000  # of an operation whose rate cannot be reached: 1000 take the whole second
BEYOND_PER_S = 2000.0
GROUP = "pings"
RATE_FINDING = "rate-not-reached"
REACHED = ("reached", "not reached")


@dataclass(frozen=True)
class StoppedGroup:
    """A group after its stage, and for how long the server was stopped."""

    total: Snapshot
    stopped_s: float
    seconds: float


def stopped_server(bench: Bench, *, full: bool) -> Iterator[Verdict]:
    """8: a server stopped for P seconds at R requests a second is a queue of R·P operations, group in latency.

    Closed loop sees one operation of it. A rate beyond what a path can do is reported as not reached.

    Measure the same stop in open and in closed loop, then a rate that cannot be reached.
    """
    bench.require_compiler("a stopped server")
    for stop_s in (STOP_S, 2 * STOP_S) if full else (STOP_S,):
        yield from _open(_stopped(bench, "fixed", stop_s))
    closed = _stopped(bench, "closed", STOP_S / 2)
    count = histogram.count_above(closed.total.service, round(THRESHOLDS_S[0] * 1e9))
    yield Verdict.exactly(f"closed loop: operations longer than {THRESHOLDS_S[0]:g} s", count, 1)
    longest = (histogram.percentile(closed.total.service, 100) or 0) / 1e9
    stop_s = closed.stopped_s
    yield Verdict.within("closed loop: longest operation, s", longest, 0.98 * stop_s, 1.15 * stop_s)
    yield from _beyond(bench)


def _open(group: StoppedGroup) -> Iterator[Verdict]:
    """The queue that a stop of P seconds makes, and the time that it takes to go: R·P / (1 − R·s) operations wait."""
    stop_s, total = group.stopped_s, group.total
    held_s = histogram.count_above(total.service, round(stop_s * 5e8))  # operations that the stop itself held up
    normal = max(1, total.operations - held_s)
    service_s = max(0.0, total.service_ns / 1e9 - stop_s * held_s) / normal
    grown = 1 / max(0.05, 1 - RATE_PER_S * service_s)
    for threshold_s in THRESHOLDS_S:
        count = histogram.count_above(total.latency, round(threshold_s * 1e9))
        least, most = RATE_PER_S * (stop_s - threshold_s), RATE_PER_S * (stop_s - threshold_s) * grown
        what = f"open loop: operations later than {threshold_s:g} s"
        yield Verdict.within(what, count, 0.97 * least, 1.1 * most, ",.0f")
    queue = RATE_PER_S * stop_s**2 / 2
    excess = (total.latency_ns - total.operations * service_s * 1e9) / 1e9
    yield Verdict.within("open loop: excess of all latencies, s", excess, 0.97 * queue, 1.1 * queue * grown)
    longest = (histogram.percentile(total.latency, 100) or 0) / 1e9
    yield Verdict.within("open loop: longest latency, s", longest, 0.98 * stop_s, 1.15 * stop_s)
    due = due_before("fixed", RATE_PER_S, 1, 0, round(group.seconds * 1e9))
    tail = due - due_before("fixed", RATE_PER_S, 1, 0, round((group.seconds - TAIL_S) * 1e9))
    what = f"open loop: {total.operations:,} operations of {due:,} due: the rate"
    yield Verdict.either(what, reached(total.operations, due, tail), words=REACHED)


def _beyond(bench: Bench) -> list[Verdict]:
    """A path that does at most half of the requested operations, through a whole run and its analysis."""
    path = bench.path("c", "null", NOTHING, placement="free", burn_ns=str(SLOW_NS))
    groups = (ClientGroupTable(GROUP, NOTHING, pacing="fixed", rate_per_s=BEYOND_PER_S),)
    stages = (StageTable("beyond", (GROUP,), 1.0),)
    analysis, _ = bench.run([path], NOTHING, groups, stages, sets=1, max_sets=1, warm_cap_s=0.1)
    (group,) = report_of(analysis).figures
    raised = any(finding.id == RATE_FINDING for finding in analysis.findings)
    what = f"open loop: {BEYOND_PER_S:,.0f}/s requested, {group.rate_per_s:,.0f}/s done"
    return [
        Verdict.either(f"{what}: the rate", group.reached, False, REACHED),
        Verdict.either(f"{what}: percentiles of latency", group.latency is not None, False, ("shown", "withheld")),
        Verdict.either(f"{what}: the finding {RATE_FINDING}", raised),
    ]


def _stopped(bench: Bench, pacing: str, stop_s: float) -> StoppedGroup:
    """One client at work while the server is stopped: what the shared counters hold in the end."""
    work = bench.work(NOTHING, "null")
    planned = bench.path("c", "ping", NOTHING, transport="tcp", placement="free", label=f"{pacing} {stop_s:g}")
    server = bench.instance("null", "server", f"{pacing}-{stop_s:g}")
    worker = bench.worker(planned, server, clients=1)
    worker.prepare(work)
    seconds = BEFORE_S + stop_s * 1.5 + AFTER_S
    (pid,) = server.pids()
    with contextlib.closing(SharedCounters([(GROUP, 1, 0)])) as shared_counters:
        spec = shared_counters.spec(GROUP, work.name)
        spec.pacing, spec.rate_per_s = pacing, 0.0 if pacing == "closed" else RATE_PER_S
        worker.groups(shared_counters.file, [spec])
        begin_ns = time.monotonic_ns() + 10_000_000
        shared_counters.begin(GROUP, begin_ns)
        shared_counters.end(GROUP, begin_ns + round(seconds * 1e9))
        time.sleep(BEFORE_S)
        os.kill(pid, signal.SIGSTOP)
        try:
            stopped_s = time.monotonic()
            time.sleep(stop_s)
        finally:
            os.kill(pid, signal.SIGCONT)
        stopped_s = time.monotonic() - stopped_s
        worker.groups_end(60.0 + seconds)
        return StoppedGroup(shared_counters.snapshot(GROUP, time.monotonic_ns()), stopped_s, seconds)


BLOCK_NS = 10_000_000
PAUSE_NS = 8_000_000
PAUSE_EVERY_BLOCKS = 20
PAUSE_SHARE = PAUSE_NS / (PAUSE_EVERY_BLOCKS * BLOCK_NS)
# A neighbour that takes the core for 8 ms in every 240.
PAUSING_NEIGHBOUR = """
import time
while True:
    end = time.perf_counter() + 0.008
    while time.perf_counter() < end:
        pass
    time.sleep(0.232)
"""


def periodic_pause(bench: Bench, *, full: bool) -> list[Verdict]:
    """16: a periodic pause of a path's own raises mean and CPU by its share and the finding; a neighbour's does not.

    A path that pauses beside one that does not; then two that do not, beside a neighbour that takes the core.
    """
    name = bench.languages()[0]
    every = PAUSE_EVERY_BLOCKS * BLOCK_NS // BURN_NS
    quiet = {"burn_ns": str(BURN_NS)}
    pausing = quiet | {"pause_ns": str(PAUSE_NS), "pause_every": str(every)}
    paths = [
        bench.path(name, "null", NOTHING, name="pauses", label="pauses", **pausing),
        bench.path(name, "null", NOTHING, name="steady", label="steady", **quiet),
    ]
    sets = 12 if full else 4
    own, _ = bench.run(paths, NOTHING, sets=sets, rounds=100, warm_cap_s=0.1)
    values = {(result.name, result.metric): result for result in own.results if result.regime == "steady"}

    def excess(metric: str, form: str) -> float:
        """How much dearer the path that pauses is; no number where all blocks of one of them were disturbed."""
        pauses, steady = (getattr(values.get((name, metric)), form, None) for name in ("pauses", "steady"))
        return float(pauses / steady - 1) if pauses and steady else math.nan

    raised = any(finding.id == "periodic-cost" for finding in own.findings)
    with beside(PAUSING_NEIGHBOUR, cpus.server_cpus()):
        disturbed, _ = bench.run([paths[1]], NOTHING, sets=sets, rounds=100, warm_cap_s=0.1)
    foreign = any(finding.id == "periodic-cost" for finding in disturbed.findings)
    least, most = 0.5 * PAUSE_SHARE, 1.5 * PAUSE_SHARE
    return [
        Verdict.within("own pause: the median", excess("time", "median"), -0.01, 0.01, "+.1%"),
        Verdict.within("own pause: the mean", excess("time", "mean"), least, most, "+.1%"),
        Verdict.within("own pause: CPU per operation", excess("client_cpu", "mean"), least, most, "+.1%"),
        Verdict.either("own pause: the finding periodic-cost", raised),
        Verdict.either("a neighbour's: the finding periodic-cost", foreign, expected=False),
    ]


LINK = "2ms"
LINK_ADDED_AT_MOST = 0.25  # more than stated: two more processes have to wake up on each way
WAKE_UPS = 6  # of a round trip over the link: two delays, and four processes; each as late as a sleep is here
SLEEPS, SLEEP_S = 101, 0.001
LINK_SESSIONS = {
    "ping": ("null", NOTHING, 1),
    "libpq": ("postgresql", "keyed.read", 1),
}  # driver → engine, phase, round trips of an operation
LINK_WITHIN = (0.90, 1.10)


def linked(bench: Bench, *, full: bool) -> Iterator[Verdict]:
    """18: over an emulated link an operation takes its time without it and its round trips' time, no more and no less.

    The ping-pong and a keyed read from C, each with and without the link.
    """
    bench.require_compiler("the link")
    for driver, (engine, phase, trips) in LINK_SESSIONS.items():
        here = ENGINES[engine].availability()
        if not here.ok:
            yield Verdict(None, f"{driver} over the link", here.reason, here.remedy)
            continue
        paths = [
            bench.path("c", driver, phase, name=f"{driver} {link}", transport="tcp", link=link)
            for link in ("none", LINK)
        ]
        analysis, records = bench.run(paths, phase, sets=6 if full else 4, rounds=10, warm_cap_s=0.3)
        if len(links.CHAPTER.of(analysis)) != 1:
            yield Verdict(False, f"{driver} over the link", "not both of its paths were measured")
            continue
        (across,) = links.CHAPTER.of(analysis)
        # The value of the interval that is nearest to 1: a machine that wakes processes late makes it wide, not wrong.
        nearest_to_one = min(max(1.0, across.low or across.ratio), across.high or across.ratio)
        link = next(iter(records.links.values()))
        more = link.round_trip_ns / link.stated_ns - 1
        late_ns = []
        for _ in range(SLEEPS):
            begun_ns = time.monotonic_ns()
            time.sleep(SLEEP_S)
            late_ns.append(time.monotonic_ns() - begun_ns - SLEEP_S * 1e9)
        at_most = max(LINK_ADDED_AT_MOST, WAKE_UPS * statistics.median(late_ns) / link.stated_ns)
        yield Verdict.within("the link's round trip beyond the stated", more, 0, at_most, ".1%")
        yield Verdict.exactly(f"round trips, {driver}", across.round_trips, trips)
        yield Verdict.within(f"measured over predicted, {driver}", nearest_to_one, *LINK_WITHIN, ".3f")
