"""17: each runner's figure from 10 ms blocks lies within 2 % of its own from 500 ms blocks."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rowpath.analysis.statistics.intervals import student
from rowpath.checks.selftest.bench import Bench, Verdict
from rowpath.engines.base import Instance
from rowpath.execution.prepared_phases import PreparedPhase
from rowpath.model.experiment import Measure
from rowpath.runners.protocol import SampleReply
from rowpath.workloads.workload_file import load_workload

LEAD_IN_NS = int(Measure().lead_in_ms * 1e6)  # of every experiment that names none
TOLERANCE = 0.02
WIDEST = 0.06  # half of the interval: a wider one decides nothing
NARROW = WIDEST / 2  # half of the interval: with it no more rounds are needed
ROUNDS, FULL_ROUNDS, MOST_ROUNDS = 6, 30, 60
TOGETHER = 3  # runners that take turns: with more between them, each block begins with cold caches


def check(bench: Bench, *, full: bool) -> list[Verdict]:
    """Keyed reads of SQLite; short and long blocks alternate, other runners alive in between."""
    made = bench.phase_cache.prepared_workload(load_workload("keyed"), "sqlite")
    work = made.phases["keyed.read"]
    instance = bench.instance("sqlite", "embedded", "", "full")
    instance.load(made.loaded_tables())
    verdicts: list[Verdict] = []
    drivers = list(bench.sqlite_drivers())
    for begin in range(0, len(drivers), TOGETHER):
        together = drivers[begin : begin + TOGETHER]
        verdicts += _compared(bench, work, instance, together, FULL_ROUNDS if full else ROUNDS)
    return verdicts


def _compared(
    bench: Bench, work: PreparedPhase, instance: Instance, drivers: Sequence[tuple[str, str]], rounds: int
) -> list[Verdict]:
    """The verdicts on these runners, which take turns."""
    workers = {}
    for name, driver in drivers:
        planned = bench.path(name, driver, work.name)
        instance.own_copy(planned.path)
        workers[name] = bench.worker(planned, instance)
        workers[name].prepare(work)
        workers[name].sample(work, "warm", duration_ns=1_000_000_000)
    log_ratios: dict[str, list[float]] = {name: [] for name in workers}
    while open_ := [name for name in workers if not _known(log_ratios[name], rounds)]:
        # A round's time over its operations: a collector that comes every few blocks belongs to both figures.
        short, long = ({name: list[SampleReply]() for name in workers} for _ in range(2))
        # The long block stands in the middle of the short ones, so that a drifting machine slows both equally.
        # A runner whose figure is known goes on with short blocks: those of others come after other runners.
        for replies, blocks, duration_ns, names in (
            (short, 10, 10_000_000, list(workers)),
            (long, 1, 500_000_000, open_),
            (short, 10, 10_000_000, list(workers)),
        ):
            for _ in range(blocks):
                for name in names:
                    measured = workers[name].sample(work, "steady", lead_in_ns=LEAD_IN_NS, duration_ns=duration_ns)
                    replies[name].append(measured.reply)
        for name in open_:
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


def _known(log_ratios: Sequence[float], rounds: int) -> bool:
    """Whether the rounds suffice and the interval is narrow; in any case after the most rounds."""
    interval = student(log_ratios)
    narrow = interval is not None and interval.half_width <= NARROW
    return len(log_ratios) >= MOST_ROUNDS or (len(log_ratios) >= rounds and narrow)
