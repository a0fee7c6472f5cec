"""Another program's loop against ours: pieces of equal numbers of operations alternate, one first then the other first.

Each piece of either side is a fresh process with a fresh connection, whose opening is not counted.
"""

from __future__ import annotations

import contextlib
import math
import os
from collections.abc import Callable, Iterator
from pathlib import Path

from bench.figure import Figure
from rowpath.analysis.statistics.intervals import student
from rowpath.checks.selftest.bench import Bench
from rowpath.engines.base import Instance
from rowpath.errors import RowpathError
from rowpath.execution.prepared_phases import PreparedPhase
from rowpath.machine import cpus as cores
from rowpath.machine import processes
from rowpath.model.workload import Column, Parameters, Phase
from rowpath.planning.plan import PlannedPath
from rowpath.workloads import generators
from rowpath.workloads.codec import write_rows

BAR = 0.97
PAIRS = 32
PIECE_NS = 200_000_000
FIRST_OPERATIONS = 2000  # of the piece that tells how many operations take PIECE_NS
TheirPiece = Callable[[int, str, tuple[int, ...]], float]  # operations, transport, CPUs → ns per operation


def keyed_read(name: str, sql: str, answer: Column, key: Column, rows: int, file: Path) -> PreparedPhase:
    """What such programs do, with uniform keys from the codec's own sequence, written to `file`."""
    draws = generators.parameter_indexes(Parameters("uniform", count=rows, n=rows))
    count = write_rows(file, ((index + 1,) for index in draws), (key,))
    return PreparedPhase(name, Phase("select", "query", sql), sql, (answer,), (key,), file, count)


def figures(
    bench: Bench, server: Instance, drivers: tuple[str, str, str], work: PreparedPhase, theirs: TheirPiece
) -> Iterator[Figure]:
    """One figure per transport and placement; `drivers`: engine, our C driver, what the other program is called."""
    engine, driver, other = drivers
    placements = ("same", "split") if len(cores.usable()) > 1 else ("same",)
    for transport in ("unix", "tcp"):
        for placement in placements:
            how = {"engine": engine, "statement": "prepared", "transport": transport, "placement": placement}
            yield _compare(bench, bench.path("c", driver, work.name, **how), server, work, theirs, other)


def _compare(
    bench: Bench, planned: PlannedPath, server: Instance, work: PreparedPhase, theirs: TheirPiece, other: str
) -> Figure:
    """Our rate over theirs."""
    path = planned.path
    transport, placement = path.get("transport"), path.get("placement")
    cpus = cores.client_cpus(placement)
    operations = round(PIECE_NS / theirs(FIRST_OPERATIONS, transport, cpus))
    logs = []
    for pair in range(PAIRS):
        costs = dict.fromkeys(("theirs", "ours") if pair % 2 == 0 else ("ours", "theirs"), 0.0)
        for side in costs:
            costs[side] = (
                theirs(operations, transport, cpus)
                if side == "theirs"
                else _piece_ns(bench, planned, server, work, operations)
            )
        logs.append(math.log(costs["theirs"] / costs["ours"]))
    interval = student(logs)
    assert interval is not None
    value = f"{interval.ratio:.3f} [{math.exp(interval.low):.3f}, {math.exp(interval.high):.3f}], {PAIRS} pairs"
    name = f"C {path.get('driver')} prepared / {other}, {transport}, {placement}"
    return Figure(name, value, f"interval reaches {BAR}", math.exp(interval.high) >= BAR)


def _piece_ns(bench: Bench, planned: PlannedPath, server: Instance, work: PreparedPhase, operations: int) -> float:
    """Nanoseconds per operation of one piece of ours, by the runner's clock."""
    worker = bench.worker(planned, server)
    try:
        worker.prepare(work)
        reply = worker.sample(work, "steady", operations=operations, first=0).reply
    finally:
        worker.close()
    if reply.failed or reply.rows != operations:
        raise RowpathError(f"{reply.failed} of {operations} operations failed, {reply.rows} rows came")
    return reply.ns / reply.operations


def run_pinned(command: list[str | Path], cpus: tuple[int, ...], environment: dict[str, str]) -> str:
    """What a program prints that runs on these CPUs alone (all when there are none). RowpathError when it fails."""
    with _pinned(cpus):
        done = processes.run(command, environment=environment)
    if done.returncode != 0:
        raise RowpathError(f"{command[0]} failed: {(done.stderr or done.stdout).strip()[-300:]}")
    return done.stdout


@contextlib.contextmanager
def _pinned(cpus: tuple[int, ...]) -> Iterator[None]:
    """A child starts where we are."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, set(cpus) or before)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)
