"""17: each runner's figure from 10 ms blocks lies within 2 % of its own from 500 ms blocks."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from rowpath.analysis.statistics.intervals import student
from rowpath.checks.selftest.bench import Bench, Verdict
from rowpath.runners.protocol import SampleReply
from rowpath.workloads.workload_file import load_workload

TOLERANCE = 0.02
WIDEST = 0.06  # half of the interval: a wider one decides nothing
ROUNDS, MOST_ROUNDS = 10, 60


def check(bench: Bench, *, full: bool) -> list[Verdict]:
    """Keyed reads of SQLite; short and long blocks alternate, other runners alive in between."""
    made = bench.phase_cache.prepared_workload(load_workload("keyed"), "sqlite")
    work = made.phases["keyed.read"]
    instance = bench.instance("sqlite", "embedded", "", "full")
    instance.load(made.loaded_tables())
    workers = {}
    for name, driver in bench.sqlite_drivers():
        planned = bench.path(name, driver, work.name)
        instance.own_copy(planned.path)
        workers[name] = bench.worker(planned, instance)
        workers[name].prepare(work)
        workers[name].sample(work, "warm", duration_ns=1_000_000_000)
    log_ratios: dict[str, list[float]] = {name: [] for name in workers}
    while not _known(log_ratios, ROUNDS * (3 if full else 1)):
        # A round's time over its operations: a collector that comes every few blocks belongs to both figures.
        short, long = ({name: list[SampleReply]() for name in workers} for _ in range(2))
        # The long block stands in the middle of the short ones, so that a machine that drifts slows both alike.
        for replies, blocks, duration_ns in ((short, 10, 10_000_000), (long, 1, 500_000_000), (short, 10, 10_000_000)):
            for _ in range(blocks):
                for name, worker in workers.items():
                    measured = worker.sample(work, "steady", lead_in_ns=1_000_000, duration_ns=duration_ns)
                    replies[name].append(measured.reply)
        for name in workers:
            log_ratios[name].append(math.log(_operation_ns(short[name]) / _operation_ns(long[name])))
    return [judge(name, values) for name, values in log_ratios.items()]


def _operation_ns(replies: list[SampleReply]) -> float:
    return sum(reply.ns for reply in replies) / sum(reply.operations for reply in replies)


def judge(name: str, log_ratios: Sequence[float]) -> Verdict:
    """Missed when the interval of short over long, one logarithm per round, lies wholly outside the tolerance.

    A single round's ratio would judge the neighbours, which spread it by a tenth. A wide interval is a miss too.
    """
    interval = student(log_ratios)
    assert interval is not None
    reaches = interval.low <= math.log(1 + TOLERANCE) and interval.high >= math.log(1 - TOLERANCE)
    return Verdict(
        reaches and interval.half_width <= WIDEST,
        f"10 ms blocks against 500 ms blocks, {name}",
        f"{interval.ratio:.4f} [{math.exp(interval.low):.4f}, {math.exp(interval.high):.4f}]",
        f"interval reaches within {TOLERANCE:.0%} of 1 and is at most ±{WIDEST:.0%} wide",
    )


def _known(log_ratios: Mapping[str, Sequence[float]], rounds: int) -> bool:
    """Whether the rounds suffice and each interval is as narrow as the tolerance; in any case after the most rounds."""
    intervals = [student(values) for values in log_ratios.values()]
    done = min((interval.sets if interval else 0 for interval in intervals), default=MOST_ROUNDS)
    narrow = all(interval is not None and interval.half_width <= TOLERANCE for interval in intervals)
    return done >= MOST_ROUNDS or (done >= rounds and narrow)
