"""2: a burn of d µs per answer shows with slope 1.00 ± 0.02, in the CPU of the side that burns and not of the other."""

from __future__ import annotations

import statistics

from rowpath.checks.selftest.bench import Bench, Verdict
from rowpath.execution.prepared_phases import PreparedPhase
from rowpath.execution.worker import Measured, Worker
from rowpath.workloads.workload_file import load_workload

BURNS_US = (0, 20, 50, 100, 200)
BLOCKS = 25


def slope(points: list[tuple[float, float]]) -> float:
    """Least squares."""
    return statistics.linear_regression([x for x, _ in points], [y for _, y in points]).slope


def check(bench: Bench, *, full: bool) -> list[Verdict]:
    """Server-side burn by the ping server, client-side burn by the null adapter."""
    if "c" not in bench.languages():
        return [Verdict(None, "burn", "the ping server needs a C compiler", "apt-get install gcc libc6-dev")]
    return _server_side(bench, full) + _client_side(bench, full)


def _measure(bench: Bench, side: str, full: bool) -> dict[str, list[tuple[float, float]]]:
    work = bench.phase_cache.prepared_workload(load_workload("null"), "null").phases["null.nothing"]
    runs = []
    for burn_us in BURNS_US:
        if side == "server":
            planned = bench.path("c", "ping", work.name, transport="tcp", label=f"burn {burn_us}")
            instance = bench.instance("null", "server", f"burn{burn_us}", burn_ns=burn_us * 1000)
        else:
            planned = bench.path("c", "null", work.name, burn_ns=str(burn_us * 1000))
            instance = bench.instance("null", "none", f"burn{burn_us}")
        worker = bench.worker(planned, instance)
        worker.prepare(work)
        worker.sample(work, "warm", duration_ns=50_000_000)
        runs.append((burn_us, worker))
    blocks: dict[int, list[tuple[float, float, float]]] = {burn_us: [] for burn_us in BURNS_US}
    for _ in range(BLOCKS * (4 if full else 1)):
        for burn_us, worker in runs:
            measured = _undisturbed(worker, work)
            reply = measured.reply
            all_operations = reply.operations + reply.lead_in_operations
            blocks[burn_us].append(
                (
                    reply.ns / reply.operations / 1000,
                    (measured.client_cpu_ns or 0) / all_operations / 1000,
                    (measured.server_cpu_ns or 0) / all_operations / 1000,
                )
            )
    names = ("latency", "client CPU", "server CPU")
    return {
        name: [(burn_us, statistics.median(block[column] for block in blocks[burn_us])) for burn_us in BURNS_US]
        for column, name in enumerate(names)
    }


def _undisturbed(worker: Worker, work: PreparedPhase) -> Measured:
    """A block that nothing else cut into, as far as outside evidence tells; the last one of ten otherwise."""
    for _ in range(10):
        measured = worker.sample(work, "steady", lead_in_ns=1_000_000, duration_ns=10_000_000)
        if not measured.disturbed:
            break
    return measured


def _server_side(bench: Bench, full: bool) -> list[Verdict]:
    seen = _measure(bench, "server", full)
    return [
        _near(1.0, 0.02, slope(seen["latency"]), "server burns: slope of the latency"),
        _near(1.0, 0.02, slope(seen["server CPU"]), "server burns: slope of the server's CPU"),
        _near(0.0, 0.02, slope(seen["client CPU"]), "server burns: slope of the client's CPU"),
    ]


def _client_side(bench: Bench, full: bool) -> list[Verdict]:
    seen = _measure(bench, "client", full)
    return [
        _near(1.0, 0.02, slope(seen["latency"]), "client burns: slope of the latency"),
        _near(1.0, 0.02, slope(seen["client CPU"]), "client burns: slope of the client's CPU"),
    ]


def _near(target: float, tolerance: float, value: float, what: str) -> Verdict:
    return Verdict(abs(value - target) <= tolerance, what, f"{value:.4f}", f"{target:.2f} ± {tolerance:.2f}")
