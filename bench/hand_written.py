"""Each row path against a program of one file that does the same by hand (bench/hand_written), in the same run.

Both programs live at once on the same core, warmed up alike; blocks of as many operations as take ours BLOCK_NS
alternate, first one then the other first. What both delivered must add up to the same touch sum. A couple of fresh
processes gives one figure, the median ratio of its pairs; the interval is over couples, as a run's is over sets.

ROWPATH_BENCH_HAND_WRITTEN=c,pgx keeps some languages or drivers, ROWPATH_BENCH_HAND_WRITTEN_COUPLES=2 does fewer.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import msgspec

from bench.figure import Figure
from bench.hand_written_program import Program, command
from bench.hand_written_rivals import RIVALS, Rival
from rowpath.analysis.statistics.intervals import set_log_ratio, student
from rowpath.checks.selftest.bench import Bench
from rowpath.engines.base import Instance
from rowpath.errors import RowpathError, UsageError
from rowpath.execution.prepared_phases import PreparedPhase
from rowpath.execution.worker import Worker
from rowpath.machine import cpus
from rowpath.model.workload import PhaseName, Workload
from rowpath.planning.availability import ineligible_reason, unavailable
from rowpath.planning.plan import PlannedPath, key_of
from rowpath.runners.manifest import Command, language
from rowpath.workloads import generators
from rowpath.workloads.workload_file import load_workload

CHOSEN = tuple(name for name in os.environ.get("ROWPATH_BENCH_HAND_WRITTEN", "").split(",") if name)
COUPLES = int(os.environ.get("ROWPATH_BENCH_HAND_WRITTEN_COUPLES", "5"))
PAIRS = 6  # of each couple
BLOCK_NS = 100_000_000
WARM_S = {"c": 0.3, "python": 0.3, "java": 3.0, "go": 0.5, "rust": 0.3, "node": 2.0}
PHASES = ("keyed.read", "scan.read")


def measure(bench: Bench) -> Iterator[Figure]:
    """One figure per path and phase. UsageError for a name that is neither a language nor a driver here."""
    names = {name for rival in RIVALS for name in (rival.language, rival.driver)}
    if unknown := sorted(set(CHOSEN) - names):
        raise UsageError(f"unknown path by hand '{unknown[0]}'", f"known: {', '.join(sorted(names))}")
    for rival in RIVALS:
        if not CHOSEN or rival.language in CHOSEN or rival.driver in CHOSEN:
            yield from compare(bench, rival)


def compare(bench: Bench, rival: Rival) -> Iterator[Figure]:
    """Our time over that of the program by hand."""
    ours = bench.path(rival.language, rival.driver, "", rival.name, **rival.coordinates)
    ours = replace(ours, phases=tuple(phase for phase in PHASES if serves(ours, phase)))
    reason, _remedy = unavailable(ours.adapter, ours.path)
    if reason:
        yield Figure(f"{ours.name} over a loop by hand", reason, rival.bar_text, None)
        return
    instance, theirs = bring_up(bench, ours)
    bench.build(ours)
    program = command(bench.directory, rival, ours)
    for phase in ours.phases:
        workload = load_workload(PhaseName.of(phase).workload)
        work = bench.phase_cache.prepared_workload(workload, ours.path.get("engine")).phases[phase]
        settings = rival.settings(instance.options(theirs.path), ours) | {
            "sql": work.sql.replace("?", rival.placeholder)
        }
        if work.phase.parameters is not None:
            settings["keys"] = str(keys_file(bench.directory / f"{phase}.keys", workload, work))
        logs = [couple(bench, ours, instance, work, program, settings) for _ in range(COUPLES)]
        interval = student(logs)
        assert interval is not None
        between = f"[{interval.ratio_low or 0:.3f}, {interval.ratio_high or math.inf:.3f}]"
        value = f"{interval.ratio:.3f} {between}, {COUPLES} × {PAIRS} pairs"
        yield Figure(f"{ours.name}, {phase}, over a loop by hand", value, rival.bar_text, rival.is_met(interval))


def serves(planned: PlannedPath, name: str) -> bool:
    """Whether the path has that phase."""
    asked = PhaseName.of(name)
    found = next(phase for phase in load_workload(asked.workload).phases if phase.name == asked.phase)
    return not ineligible_reason(planned.adapter, planned.path, name, found)


def bring_up(bench: Bench, ours: PlannedPath) -> tuple[Instance, PlannedPath]:
    """The loaded engine, a server once for all, and the path that stands for the program by hand.

    It is a path of its own, so that of an embedded database each of the two gets a copy.
    """
    theirs = replace(ours, path=msgspec.structs.replace(ours.path, label="by hand"))
    key = key_of(ours.path)
    if key in bench.engine_instances and ours.path.get("deployment") == "server":
        return bench.engine_instances[key], theirs
    workloads = {name: load_workload(name) for name in (PhaseName.of(phase).workload for phase in ours.phases)}
    return bench.engine_instances.bring_up((ours, theirs), workloads, key), theirs


def keys_file(file: Path, workload: Workload, work: PreparedPhase) -> Path:
    """The phase's parameters, a key a line."""
    _columns, rows = generators.parameter_rows(workload, work.phase)
    file.write_text("".join(f"{key}\n" for (key,) in rows))
    return file


def couple(
    bench: Bench, ours: PlannedPath, instance: Instance, work: PreparedPhase, program: Command, settings: dict[str, str]
) -> float:
    """ln(ours / theirs) of two fresh processes: the median over their pairs of blocks."""
    theirs = Program(program, settings)
    worker = bench.worker(ours, instance)
    try:
        worker.prepare(work)
        operations = warm_up(worker, work, theirs, WARM_S[ours.path.get("language")])
        blocks = (lambda: our_block(worker, work, operations)), (lambda: their_block(worker, theirs, operations))
        costs: tuple[dict[int, float], dict[int, float]] = {}, {}
        for pair in range(PAIRS):
            touches = set()
            for side in (0, 1) if pair % 2 else (1, 0):
                ns, touch = blocks[side]()
                costs[side][pair] = ns / operations
                touches.add(touch)
            if len(touches) != 1:
                raise RowpathError(f"{ours.name}, {work.name}: the touch sums differ: {sorted(touches)}")
    finally:
        worker.close()
        theirs.close()
    ratio = set_log_ratio(*costs)
    assert ratio is not None
    return ratio


def warm_up(worker: Worker, work: PreparedPhase, theirs: Program, least_s: float) -> int:
    """Run both, in blocks by turns, for so long each; how many operations ours then does in BLOCK_NS."""
    operations = 1
    spent_ns = 0
    while spent_ns < least_s * 1e9:
        reply = worker.sample(work, "warm", duration_ns=BLOCK_NS // 2).reply
        spent_ns += reply.ns
        operations = max(1, round(BLOCK_NS * reply.operations / reply.ns))
        their_block(worker, theirs, max(1, operations // 2))
    return operations


def our_block(worker: Worker, work: PreparedPhase, operations: int) -> tuple[int, int]:
    """Nanoseconds and touch of the first so many operations."""
    reply = worker.sample(work, "steady", operations=operations, first=0).reply
    if reply.failed or reply.operations != operations:
        raise RowpathError(f"{reply.failed} of {operations} operations failed")
    return reply.ns, int(reply.touch, 16)


def their_block(worker: Worker, theirs: Program, operations: int) -> tuple[int, int]:
    """The same of theirs."""
    ns, touch, *_own = their_figures(worker, theirs, operations)
    return ns, touch


def their_figures(worker: Worker, theirs: Program, operations: int) -> list[int]:
    """What theirs answers: where ours is measured, and away from there before and after, as ours is."""
    worker.take_cores()  # and with it the server, which serves both
    theirs.pin(worker.cpus, language(worker.planned.adapter.language).helper_threads)
    try:
        return theirs.figures(operations)
    finally:
        theirs.pin(cpus.spare_cpus())
        worker.leave_cores()
