"""Single-row reads of embedded Derby by an indexed column: a reader of ours in closed loop against JMeter's sampler.

One thread each on the same core, the same Derby, JVM options, database directory, query and keys; pieces alternate, one
first then the other first, each a fresh process whose first seconds of CPU time do not count. JMeter reports to nothing
but its summary, whose counts are taken.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from bench import jmeter_program
from bench.figure import Figure
from bench.jmeter_program import Piece
from rowpath.analysis.statistics.intervals import Interval, student
from rowpath.checks.selftest.bench import Bench
from rowpath.engines.base import Instance
from rowpath.errors import RowpathError
from rowpath.execution.mixed_load.shared_counters import SharedCounters
from rowpath.execution.prepared_phases import PreparedPhase
from rowpath.machine import cpus as cores
from rowpath.machine import maven
from rowpath.machine.counters import cpu
from rowpath.planning.plan import PlannedPath, key_of
from rowpath.runners import protocol
from rowpath.runners.manifest import toolchain
from rowpath.workloads import generators
from rowpath.workloads.workload_file import at_scale, load_workload

java: Any = toolchain("java")

# The bar by the number of keys: the pages of so few stay in Derby's page cache, those of more do not.
KEYS = {200: 3.0, 2000: 0.0}
PAIRS = 3
SCALE = 0.1  # 100,000 rows
SPANS_S = [8.0, 8.0]  # of the process's CPU time: warming up, measured
LOOK_S = 0.2
QUIET_HAD = 0.9  # of its core, in time
PHASE = "library.read"
GROUP = "reader"


def measure(bench: Bench) -> Iterator[Figure]:
    """Our rate over JMeter's, one figure for each number of keys."""
    jmeter_program.home()
    planned = bench.path("java", "derby", PHASE, deployment="embedded", durability="none")
    bench.build(planned)
    workload = at_scale(load_workload("library"), SCALE)
    work = bench.phase_cache.prepared_workload(workload, "derby").phases[PHASE]
    instance = bench.engine_instances.bring_up((planned,), {"library": workload}, key_of(planned.path))
    keys = [str(key) for (key,) in generators.parameter_rows(workload, work.phase)[1]]
    for number, bar in KEYS.items():
        file = bench.directory / f"{number}.keys"
        file.write_text("".join(f"{key}\n" for key in keys[:number]))
        some = replace(work, parameter_count=number)
        pieces: dict[str, list[Piece]] = {"JMeter": [], "ours": []}
        for pair in range(PAIRS):
            for side in ("JMeter", "ours") if pair % 2 == 0 else ("ours", "JMeter"):
                how = (bench, planned, instance, some)
                pieces[side].append(ours(*how) if side == "ours" else theirs(*how, file))
        yield figure(number, bar, pieces)


def figure(keys: int, bar: float, pieces: dict[str, list[Piece]]) -> Figure:
    """Our rate over JMeter's; not asked where the machine left them too little of the core to tell."""
    whole, on_cpu = (ratio(pieces, of) for of in ("ns", "cpu_ns"))
    rates = "; ".join(
        f"{side} {', '.join(f'{piece.operations * 1e9 / piece.ns:,.0f}' for piece in found)} /s"
        for side, found in pieces.items()
    )
    had = min(piece.cpu_ns / piece.ns for found in pieces.values() for piece in found)
    value = f"{shown(whole)}, {len(pieces['ours'])} pairs: {rates}; per second of CPU {shown(on_cpu)}"
    name = f"Derby embedded, {PHASE} of {keys:,} keys, 1 reader / JMeter {jmeter_program.VERSION}"
    if not bar:
        return Figure(name, value, "none: Derby's reading of pages is most of both", None)
    if had < QUIET_HAD:
        value += f"; the machine was not quiet: one of them had its core for {had:.0%} of the time"
        return Figure(name, value, f"at least {bar:g}", None)
    return Figure(name, value, f"at least {bar:g}", whole.ratio >= bar)


def ratio(pieces: dict[str, list[Piece]], of: str) -> Interval:
    """Ours over theirs, of operations by the wall clock (`ns`) or by CPU time (`cpu_ns`)."""
    logs = {
        side: [math.log(piece.operations / getattr(piece, of)) for piece in found] for side, found in pieces.items()
    }
    interval = student([mine - other for mine, other in zip(logs["ours"], logs["JMeter"], strict=True)])
    assert interval is not None
    return interval


def shown(interval: Interval) -> str:
    """Ratio and interval."""
    return f"{interval.ratio:.2f} [{math.exp(interval.low):.2f}, {math.exp(interval.high):.2f}]"


def ours(bench: Bench, planned: PlannedPath, instance: Instance, work: PreparedPhase) -> Piece:
    """What one client does in a process of its own."""
    worker = bench.worker(planned, instance, clients=1)
    shared_counters = SharedCounters([(GROUP, 1, 0)])
    place = shared_counters.client_groups[GROUP]
    try:
        worker.prepare(work)
        worker.take_cores()
        spec = protocol.GroupSpec(
            name=GROUP,
            phase=work.name,
            first_client=0,
            clients=1,
            pacing="closed",
            control=place.control,
            slots=place.slots,
            slot_bytes=place.slot_bytes,
        )
        worker.groups(shared_counters.file, [spec])
        shared_counters.begin(GROUP, time.monotonic_ns())
        used_ns = cpu.total_ns(worker.pids)
        marks: list[tuple[int, int, int]] = []
        for seconds in SPANS_S:
            until_ns = used_ns + seconds * 1e9
            while (used_ns := cpu.total_ns(worker.pids)) < until_ns:
                time.sleep(LOOK_S)
            now_ns = time.monotonic_ns()
            marks.append((shared_counters.snapshot(GROUP, now_ns).operations, now_ns, used_ns))
        shared_counters.end(GROUP, time.monotonic_ns())
        total = worker.groups_end(60.0)[0]
    finally:
        worker.close()
        shared_counters.close()
    if total.failed or total.rows != total.operations:
        raise RowpathError(f"{total.failed} operations failed, {total.rows} rows came of {total.operations}")
    return Piece(*(after - before for after, before in zip(marks[1], marks[0], strict=True)))


def theirs(_bench: Bench, planned: PlannedPath, instance: Instance, work: PreparedPhase, keys: Path) -> Piece:
    """What JMeter's one thread does."""
    settings = {"database": instance.options(planned.path)["path"], "keys": str(keys), "query": work.sql}
    drivers = maven.fetch(java.artefacts(planned.adapter, planned.path.get("version")))
    options = ["-Dderby.system.durability=test", "-Dderby.stream.error.file=/dev/null"]  # as ours has them
    cpus = cores.client_cpus(planned.path.get("placement"))
    return jmeter_program.piece(settings, drivers, options, cpus, SPANS_S)
