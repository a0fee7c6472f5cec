"""What the open-loop generator of the C runner is late with 200,000 operations due a second, on no engine.

One client on one core, the controller on another. As the operation has nothing in it, whatever an operation is later
than due is the generator's doing or the machine's; so the bar is held against the time from due to end of every
operation, and the lateness (of operations that found the client idle) stands beside it.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator

from bench.figure import Figure
from rowpath.checks.selftest.bench import Bench
from rowpath.execution.mixed_load.shared_counters import SharedCounters, Snapshot
from rowpath.execution.worker import Worker
from rowpath.machine import cpus, processes
from rowpath.machine.counters import cpu, noise
from rowpath.model import histogram
from rowpath.runners import protocol
from rowpath.workloads.workload_file import load_workload

RATE_PER_S = 200_000
SECONDS = 10
SPIN_NS = 50_000
BAR_NS = 100_000
QUIET_LOST = 0.01  # of the time, to others on the core: with more, more than 1 % of operations are late for their sake
PHASE = "null.nothing"


def measure(bench: Bench) -> Iterator[Figure]:
    """One figure for each pacing."""
    own = os.sched_getaffinity(0)
    if len(cpus.usable()) < 2:
        yield Figure("open loop, C", "the controller and the client need a core each", "", None)
        return
    work = bench.phase_cache.prepared_workload(load_workload("null"), "null").phases[PHASE]
    worker = bench.worker(bench.path("c", "null", PHASE), bench.instance("null", "none"))
    worker.prepare(work)
    os.sched_setaffinity(0, cpus.controller_cpus())
    try:
        for pacing in ("fixed", "poisson"):
            yield figure(pacing, *at_work(worker, pacing))
    finally:
        os.sched_setaffinity(0, own)


def at_work(worker: Worker, pacing: str) -> tuple[Snapshot, float, float]:
    """The client's last word, operations a second, and the share of the time in which others had its core."""
    shared_counters = SharedCounters([("one", 1, 0)])
    place = shared_counters.client_groups["one"]
    spec = protocol.GroupSpec(
        name="one",
        phase=PHASE,
        first_client=0,
        clients=1,
        pacing=pacing,
        rate_per_s=RATE_PER_S,
        spin_ns=SPIN_NS,
        seed=1,
        control=place.control,
        slots=place.slots,
        slot_bytes=place.slot_bytes,
    )
    threads = set(processes.threads(worker.runner.pid))
    worker.groups(shared_counters.file, [spec])
    client = (set(processes.threads(worker.runner.pid)) - threads).pop()
    begin_ns = time.monotonic_ns() + 100_000_000
    end_ns = begin_ns + SECONDS * 1_000_000_000
    shared_counters.begin("one", begin_ns)
    shared_counters.end("one", end_ns)
    before_ns = not_had_ns(worker, client)
    time.sleep(SECONDS - 0.5)  # while the thread still lives
    lost = (not_had_ns(worker, client) - before_ns) / (SECONDS * 1e9)
    total = worker.groups_end(60.0)[0]
    snapshot = shared_counters.snapshot("one", end_ns)
    shared_counters.close()
    return snapshot, total.operations / SECONDS, lost


def not_had_ns(worker: Worker, client: int) -> int:
    """How long so far the client's thread was ready but others had the core, or the hypervisor had any."""
    clocks = cpu.clocks(worker.runner.pid, client)
    waited_ns = clocks.threads[client][1] if clocks else 0
    return waited_ns + (noise.steal_ticks() or 0) * noise.NS_PER_TICK


def figure(pacing: str, seen: Snapshot, per_s: float, lost: float) -> Figure:
    """Met or not; not asked where the machine was not quiet enough to tell."""
    late, whole = (
        "/".join(f"{(histogram.percentile(counts, percent) or 0) / 1e3:,.1f}" for percent in (50, 99, 99.9, 100))
        for counts in (seen.lateness, seen.latency)
    )
    value = (
        f"{per_s:,.0f}/s; from due to end p50/p99/p99.9/max {whole} us; lateness {late} us of"
        f" {int(seen.lateness.sum()) / max(1, seen.operations):.0%} that found the client idle"
    )
    p99_ns = histogram.percentile(seen.latency, 99)
    met: bool | None = per_s >= 0.99 * RATE_PER_S and p99_ns is not None and p99_ns < BAR_NS
    if not met and lost > QUIET_LOST:
        met = None
        value += f"; the machine was not quiet: others had its core for {lost:.1%} of the time"
    return Figure(f"open loop, C, {pacing}, {RATE_PER_S:,}/s on one core", value, "p99 below 100 us", met)
