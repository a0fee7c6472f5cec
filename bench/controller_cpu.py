"""CPU that the controller takes while a sample is under way, over the wall time in between; nothing is subtracted.

The process's own CPU clock (all threads) is read when a request has been sent, when the wait for its reply is over
(falling asleep and waking up included: the bar), and when the reply has been read and decoded, after the block.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

from bench.figure import Figure
from rowpath.checks.selftest.bench import Bench
from rowpath.execution.prepared_phases import PreparedPhase
from rowpath.execution.worker import Worker
from rowpath.workloads.workload_file import load_workload

BAR = 0.005
BLOCKS = 200
LEAD_IN_NS = 1_000_000  # what a block has before it in every run


def measure(bench: Bench) -> Iterator[Figure]:
    """One figure for blocks of 10 ms, the usual ones, and one for blocks of 100 ms."""
    planned = bench.path(bench.languages()[0], "null", "null.nothing")
    work = bench.phase_cache.prepared_workload(load_workload("null"), "null").phases["null.nothing"]
    worker = bench.worker(planned, bench.instance("null", "none"))
    worker.prepare(work)
    for block_ms in (10, 100):
        inside, taken = cpu_shares(worker, work, block_ms, BLOCKS * 10 // block_ms)
        value = f"{inside:.2%} until the reply is there, {taken:.2%} until it is decoded"
        yield Figure(
            f"controller's CPU inside blocks of {block_ms} ms", value, f"at most {BAR:.1%} inside", inside <= BAR
        )


class Clocked:
    """Adds up the process's CPU time and the wall time of what it is put around."""

    def __init__(self) -> None:
        self.cpu_ns = self.wall_ns = 0

    def around(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function, counted."""

        def counted(*arguments: Any) -> Any:
            wall_ns, cpu_ns = time.perf_counter_ns(), time.process_time_ns()
            result = function(*arguments)
            self.cpu_ns += time.process_time_ns() - cpu_ns
            self.wall_ns += time.perf_counter_ns() - wall_ns
            return result

        return counted


class Poll:
    """The runner's poll object, its waiting counted."""

    def __init__(self, poll: Any, clocked: Clocked) -> None:
        self.poll = clocked.around(poll.poll)
        self.unregister = poll.unregister


def cpu_shares(worker: Worker, work: PreparedPhase, block_ms: int, blocks: int) -> tuple[float, float]:
    """CPU over wall time from requests sent: until their replies are there, and until they are decoded."""
    runner: Any = worker.runner
    waiting, receiving = Clocked(), Clocked()
    poll = runner._poll
    runner._poll, runner.receive = Poll(poll, waiting), receiving.around(runner.receive)
    try:
        for _ in range(blocks):
            worker.sample(work, "steady", lead_in_ns=LEAD_IN_NS, duration_ns=block_ms * 1_000_000)
    finally:
        runner._poll = poll
        del runner.receive
    return waiting.cpu_ns / receiving.wall_ns, receiving.cpu_ns / receiving.wall_ns
