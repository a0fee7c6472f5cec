"""8: a server stopped for P seconds at R requests a second is a queue of R·P operations, seen in latency.

Closed loop sees one operation of it. A rate beyond what a path can do is reported as not reached.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from dataclasses import dataclass

from rowpath.analysis.chapters.mixed_load import report_of
from rowpath.checks.selftest.bench import NOTHING, Bench, Verdict
from rowpath.execution.mixed_load.pacing import TAIL_S, due_before, reached
from rowpath.execution.mixed_load.shared_counters import SharedCounters, Snapshot
from rowpath.model import histogram
from rowpath.model.mixed_load import ClientGroupTable, StageTable

RATE_PER_S = 1000.0
STOP_S = 2.0
BEFORE_S, AFTER_S = 0.5, 1.0
THRESHOLDS_S = (0.5, 1.0, 1.5)
BURN_NS = 1_000_000  # of an operation whose rate cannot be reached: 1000 take the whole second
BEYOND_PER_S = 2000.0
GROUP = "pings"
FINDING = "rate-not-reached"
REACHED = ("reached", "not reached")


@dataclass(frozen=True)
class Seen:
    """A group after its stage, and for how long the server was stopped."""

    total: Snapshot
    stopped_s: float
    seconds: float


def check(bench: Bench, *, full: bool) -> list[Verdict]:
    """Measure the same stop in open and in closed loop, then a rate that cannot be reached."""
    if skipped := bench.without_compiler("a stopped server"):
        return skipped
    verdicts = []
    for stop_s in (STOP_S, 2 * STOP_S) if full else (STOP_S,):
        verdicts += _open(_stopped(bench, "fixed", stop_s))
    return [*verdicts, *_closed(_stopped(bench, "closed", STOP_S / 2)), *_beyond(bench)]


def _open(seen: Seen) -> list[Verdict]:
    """The queue that a stop of P seconds makes, and the time that it takes to go: R·P / (1 − R·s) operations wait."""
    stop_s, total = seen.stopped_s, seen.total
    held_s = histogram.count_above(total.service, round(stop_s * 5e8))  # operations that the stop itself held up
    normal = max(1, total.operations - held_s)
    service_s = max(0.0, total.service_ns / 1e9 - stop_s * held_s) / normal
    grown = 1 / max(0.05, 1 - RATE_PER_S * service_s)
    verdicts = []
    for threshold_s in THRESHOLDS_S:
        count = histogram.count_above(total.latency, round(threshold_s * 1e9))
        least, most = RATE_PER_S * (stop_s - threshold_s), RATE_PER_S * (stop_s - threshold_s) * grown
        what = f"open loop: operations later than {threshold_s:g} s"
        verdicts.append(Verdict.within(what, count, 0.97 * least, 1.1 * most, ",.0f"))
    queue = RATE_PER_S * stop_s**2 / 2
    excess = (total.latency_ns - total.operations * service_s * 1e9) / 1e9
    what = "open loop: excess of all latencies, s"
    verdicts.append(Verdict.within(what, excess, 0.97 * queue, 1.1 * queue * grown))
    longest = (histogram.percentile(total.latency, 100) or 0) / 1e9
    verdicts.append(Verdict.within("open loop: longest latency, s", longest, 0.98 * stop_s, 1.15 * stop_s))
    due = due_before("fixed", RATE_PER_S, 1, 0, round(seen.seconds * 1e9))
    tail = due - due_before("fixed", RATE_PER_S, 1, 0, round((seen.seconds - TAIL_S) * 1e9))
    what = f"open loop: {total.operations:,} operations of {due:,} due: the rate"
    return [*verdicts, Verdict.either(what, reached(total.operations, due, tail), words=REACHED)]


def _closed(seen: Seen) -> list[Verdict]:
    total = seen.total
    count = histogram.count_above(total.service, round(THRESHOLDS_S[0] * 1e9))
    longest = (histogram.percentile(total.service, 100) or 0) / 1e9
    return [
        Verdict.exactly(f"closed loop: operations longer than {THRESHOLDS_S[0]:g} s", count, 1),
        Verdict.within("closed loop: longest operation, s", longest, 0.98 * seen.stopped_s, 1.15 * seen.stopped_s),
    ]


def _beyond(bench: Bench) -> list[Verdict]:
    """A path that does at most half of the requested operations, through a whole run and its analysis."""
    path = bench.path("c", "null", NOTHING, placement="free", burn_ns=str(BURN_NS))
    groups = (ClientGroupTable(GROUP, NOTHING, pacing="fixed", rate_per_s=BEYOND_PER_S),)
    stages = (StageTable("beyond", (GROUP,), 1.0),)
    analysis, _ = bench.run([path], NOTHING, groups, stages, sets=1, max_sets=1, warm_cap_s=0.1)
    (seen,) = report_of(analysis).figures
    raised = any(finding.id == FINDING for finding in analysis.findings)
    what = f"open loop: {BEYOND_PER_S:,.0f}/s requested, {seen.rate_per_s:,.0f}/s done"
    return [
        Verdict.either(f"{what}: the rate", seen.reached, False, REACHED),
        Verdict.either(f"{what}: percentiles of latency", seen.latency is not None, False, ("shown", "withheld")),
        Verdict.either(f"{what}: the finding {FINDING}", raised),
    ]


def _stopped(bench: Bench, pacing: str, stop_s: float) -> Seen:
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
        return Seen(shared_counters.snapshot(GROUP, time.monotonic_ns()), stopped_s, seconds)
