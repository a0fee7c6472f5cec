"""2: a burn of d µs per answer shows with slope 1.00 ± 0.02, in the CPU of the side that burns and not of the other."""

from __future__ import annotations

import statistics

from rowpath.checks.selftest.bench import NOTHING, Bench, Verdict
from rowpath.execution.measured import Measured
from rowpath.execution.prepared_phases import PreparedPhase
from rowpath.execution.worker import Worker

BURNS_US = (0, 20, 50, 100, 200)
BLOCKS = 25
TOLERANCE = 0.02


def check(bench: Bench, *, full: bool) -> list[Verdict]:
    """Server-side burn by the ping server, client-side burn by the null adapter."""
    return bench.without_compiler("burn") or [
        *_slopes(bench, full, "server", {"the latency": 1, "the server's CPU": 1, "the client's CPU": 0}),
        *_slopes(bench, full, "client", {"the latency": 1, "the client's CPU": 1}),
    ]


def _slopes(bench: Bench, full: bool, side: str, expected: dict[str, int]) -> list[Verdict]:
    """Check the slopes of the blocks' medians over the burns, by least squares."""
    seen = _measure(bench, side, full)
    slopes = {what: statistics.linear_regression(BURNS_US, seen[what]).slope for what in expected}
    return [
        Verdict.within(f"{side} burns: slope of {what}", slopes[what], slope - TOLERANCE, slope + TOLERANCE, ".4f")
        for what, slope in expected.items()
    ]


def _measure(bench: Bench, side: str, full: bool) -> dict[str, list[float]]:
    """Microseconds per operation at each burn."""
    runs = [_started(bench, side, burn_us) for burn_us in BURNS_US]
    blocks: list[list[tuple[float, float, float]]] = [[] for _ in BURNS_US]
    for _ in range(BLOCKS * (4 if full else 1)):
        for found, (worker, work) in zip(blocks, runs, strict=True):
            measured = _undisturbed(worker, work)
            reply = measured.reply
            all_operations = reply.operations + reply.lead_in_operations
            client_cpu_ns, server_cpu_ns = measured.client_cpu_ns or 0, measured.server_cpu_ns or 0
            found.append((reply.ns / reply.operations, client_cpu_ns / all_operations, server_cpu_ns / all_operations))
    return {
        what: [statistics.median(block[column] for block in found) / 1000 for found in blocks]
        for column, what in enumerate(("the latency", "the client's CPU", "the server's CPU"))
    }


def _started(bench: Bench, side: str, burn_us: int) -> tuple[Worker, PreparedPhase]:
    if side == "server":
        planned = bench.path("c", "ping", NOTHING, transport="tcp", label=f"burn {burn_us}")
        instance = bench.instance("null", "server", f"burn{burn_us}", burn_ns=burn_us * 1000)
        worker, work = bench.worker(planned, instance), bench.work(NOTHING, "null")
        worker.prepare(work)
    else:
        worker, work = bench.null_worker(burn_ns=burn_us * 1000)
    worker.sample(work, "warm", duration_ns=50_000_000)
    return worker, work


def _undisturbed(worker: Worker, work: PreparedPhase) -> Measured:
    """A block that nothing else cut into, as far as outside evidence shows; the last one of ten otherwise."""
    for _ in range(10):
        measured = worker.sample(work, "steady", lead_in_ns=1_000_000, duration_ns=10_000_000)
        if not measured.disturbed:
            break
    return measured
