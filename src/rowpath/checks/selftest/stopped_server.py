"""8: a server stopped for P seconds at R requests a second is a queue of R·P operations, seen in latency.

Closed loop sees one operation of it. A rate beyond what a path can do is told to be one that was not reached.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass

from rowpath.checks.selftest.bench import Bench, Verdict
from rowpath.checks.selftest.null_adapter import PHASE, missing
from rowpath.engines.base import Instance
from rowpath.execution.mixed_load.pacing import TAIL_S, due_before, reached
from rowpath.execution.mixed_load.shared_counters import SharedCounters, Snapshot
from rowpath.execution.prepared_phases import PreparedPhase
from rowpath.execution.worker import Worker
from rowpath.model import histogram
from rowpath.model.mixed_load import ClientGroupTable, StageTable
from rowpath.planning.plan import PlannedPath
from rowpath.runners.protocol import GroupSpec
from rowpath.workloads.workload_file import load_workload

RATE_PER_S = 1000.0
STOP_S = 2.0
BEFORE_S, AFTER_S = 1.0, 2.0
THRESHOLDS_S = (0.5, 1.0, 1.5)
BURN_NS = 1_000_000  # of an operation whose rate cannot be reached: 2000 are asked for where 1000 take all the time
BEYOND_PER_S = 2000.0
GROUP = "pings"
FINDING = "rate-not-reached"


@dataclass(frozen=True)
class Seen:
    """A group after its stage; the instants are those between which the server was stopped."""

    total: Snapshot
    stopped_s: float
    seconds: float


def check(bench: Bench, *, full: bool) -> list[Verdict]:
    """The same stop in open and in closed loop; then a rate that cannot be reached."""
    if skipped := missing(bench, "a stopped server"):
        return skipped
    verdicts = []
    for stop_s in (STOP_S, 2 * STOP_S) if full else (STOP_S,):
        verdicts += _open(_stopped(bench, "fixed", stop_s))
    return [*verdicts, *_closed(_stopped(bench, "closed", STOP_S)), *_beyond(bench)]


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
        verdicts.append(_within(f"open loop: operations later than {threshold_s:g} s", count, 0.97 * least, 1.1 * most))
    queue = RATE_PER_S * stop_s**2 / 2
    excess = (total.latency_ns - total.operations * service_s * 1e9) / 1e9
    verdicts.append(_within("open loop: excess of all latencies, s", excess, 0.97 * queue, 1.1 * queue * grown))
    longest = (histogram.percentile(total.latency, 100) or 0) / 1e9
    verdicts.append(_within("open loop: longest latency, s", longest, 0.98 * stop_s, 1.15 * stop_s))
    due = due_before("fixed", RATE_PER_S, 1, 0, round(seen.seconds * 1e9))
    tail = due - due_before("fixed", RATE_PER_S, 1, 0, round((seen.seconds - TAIL_S) * 1e9))
    told = reached(total.operations, due, tail)
    what = f"open loop: {total.operations:,} operations of {due:,} due: the rate"
    return [*verdicts, Verdict(told, what, "reached" if told else "not reached", "reached in the end")]


def _closed(seen: Seen) -> list[Verdict]:
    total = seen.total
    count = histogram.count_above(total.service, round(THRESHOLDS_S[0] * 1e9))
    longest = (histogram.percentile(total.service, 100) or 0) / 1e9
    return [
        Verdict(count == 1, f"closed loop: operations longer than {THRESHOLDS_S[0]:g} s", f"{count}", "1"),
        _within("closed loop: longest operation, s", longest, 0.98 * seen.stopped_s, 1.15 * seen.stopped_s),
    ]


def _beyond(bench: Bench) -> list[Verdict]:
    """A path that does at most half of the operations asked for, through a whole run and its analysis."""
    path = bench.path("c", "null", PHASE, placement="free", burn_ns=str(BURN_NS))
    groups = (ClientGroupTable(GROUP, PHASE, pacing="fixed", rate_per_s=BEYOND_PER_S),)
    stages = (StageTable("beyond", (GROUP,), 1.0),)
    analysis, _ = bench.run([path], PHASE, groups, stages, sets=1, max_sets=1, warm_cap_s=0.1)
    (seen,) = analysis.mixed_load.figures if analysis.mixed_load else ()
    told = "reached" if seen.reached else "not reached"
    withheld = "withheld" if seen.latency is None else "shown"
    raised = any(finding.id == FINDING for finding in analysis.findings)
    what = f"open loop: {BEYOND_PER_S:,.0f}/s asked for, {seen.rate_per_s:,.0f}/s done"
    return [
        Verdict(not seen.reached, f"{what}: the rate", told, "not reached"),
        Verdict(seen.latency is None, f"{what}: percentiles of latency", withheld, "withheld"),
        Verdict(raised, f"{what}: the finding {FINDING}", "raised" if raised else "absent", "raised"),
    ]


def _stopped(bench: Bench, pacing: str, stop_s: float) -> Seen:
    work = bench.phase_cache.prepared_workload(load_workload("null"), "null").phases[PHASE]
    planned = bench.path("c", "ping", PHASE, transport="tcp", placement="free", label=f"{pacing} {stop_s:g}")
    server = bench.instance("null", "server", f"{pacing}-{stop_s:g}")
    worker = _grouped(bench, planned, work, server)
    seconds = BEFORE_S + stop_s * 1.5 + AFTER_S
    (pid,) = server.pids()
    instants: list[float] = []

    def stop() -> None:
        time.sleep(BEFORE_S)
        os.kill(pid, signal.SIGSTOP)
        try:
            instants.append(time.monotonic())
            time.sleep(stop_s)
        finally:
            os.kill(pid, signal.SIGCONT)
        instants.append(time.monotonic())

    total = _at_work(worker, work, pacing, RATE_PER_S, seconds, stop)
    return Seen(total, instants[1] - instants[0], seconds)


def _grouped(bench: Bench, planned: PlannedPath, work: PreparedPhase, instance: Instance) -> Worker:
    worker = bench.worker(planned, instance, clients=1)
    worker.prepare(work)
    return worker


def _at_work(
    worker: Worker,
    work: PreparedPhase,
    pacing: str,
    rate_per_s: float,
    seconds: float,
    meanwhile: Callable[[], None] = lambda: None,
) -> Snapshot:
    """One client at work for so long: what the shared counters says in the end."""
    shared_counters = SharedCounters([(GROUP, 1, 0)])
    try:
        place = shared_counters.places[GROUP]
        spec = GroupSpec(
            name=GROUP,
            phase=work.name,
            first_client=0,
            clients=1,
            pacing=pacing,
            rate_per_s=0.0 if pacing == "closed" else rate_per_s,
            control=place.control,
            slots=place.slots,
            slot_bytes=place.slot_bytes,
        )
        worker.groups(shared_counters.file, [spec])
        begin_ns = time.monotonic_ns() + 10_000_000
        shared_counters.begin(GROUP, begin_ns)
        shared_counters.end(GROUP, begin_ns + round(seconds * 1e9))
        meanwhile()
        worker.groups_end(60.0 + seconds)
        return shared_counters.snapshot(GROUP, time.monotonic_ns())
    finally:
        shared_counters.close()


def _within(what: str, value: float, least: float, most: float) -> Verdict:
    digits = 0 if most > 100 else 2
    bar = f"{least:,.{digits}f} to {most:,.{digits}f}"
    return Verdict(least <= value <= most, what, f"{value:,.{digits}f}", bar)
