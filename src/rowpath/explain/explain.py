"""Where the time of an operation goes: one path on one core, measured with and without a profiler in turn.

On one core client and server never work at the same time, so that what each had of it, what others had and what nobody
had must add up to the operation's time. Each is read from a clock of its own: the runner's, those of the threads,
those of all other processes, and the core's idle time. What is missing is shown, never distributed.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rowpath.analysis.statistics.intervals import student
from rowpath.engines import ENGINES
from rowpath.engines.base import Instance
from rowpath.errors import EnvironmentMissing
from rowpath.execution import quiet
from rowpath.execution.instances import EngineInstances
from rowpath.execution.prepared_phases import PhaseCache, PreparedPhase
from rowpath.execution.worker import Measured, Worker
from rowpath.explain import profile
from rowpath.explain.profile import Profile
from rowpath.journal.writer import RunDirectory, Scrubber
from rowpath.machine.counters import core_users
from rowpath.model.explanation import Explanation, Part
from rowpath.model.workload import PhaseName
from rowpath.planning.instance_key import key_of
from rowpath.planning.plan import Plan, PlannedPath
from rowpath.runners import manifest
from rowpath.runners.manifest import language
from rowpath.runners.process import RunnerFailure
from rowpath.text import printable

PAIRS = 5
BLOCK_S = 1.0  # long, because idle time is counted in hundredths of a second
WARM_LEAST_S = 0.5

CLIENT_CLOCK = "the loop thread's CPU clock"
SERVER_CLOCK = "CPU clocks of the server's processes"
IDLE_CLOCK = "the core's idle time in /proc/stat"
OTHERS_CLOCK = "CPU clocks of every other process that ran there"
SAMPLED = "its share by perf, {count:,} samples"
After = Callable[[Worker, PreparedPhase, Explanation, Mapping[str, Any]], None]  # the last: how the path is reached


@dataclass
class Block:
    """A block and what the core did meanwhile."""

    measured: Measured
    idle_ns: int
    others_ns: int


@dataclass
class Blocks:
    """Blocks of one kind, as sums over their operations."""

    blocks: list[Block] = field(default_factory=list)

    @property
    def operations(self) -> int:
        """Operations of all of them, those of lead-ins too: CPU clocks and the core's saw these."""
        return sum(block.measured.reply.operations + block.measured.reply.lead_in_operations for block in self.blocks)

    def each_ns(self) -> list[float]:
        """Time of an operation, by block."""
        return [block.measured.reply.ns / max(1, block.measured.reply.operations) for block in self.blocks]

    def of_operation(self, what: Callable[[Block], float]) -> float:
        """A sum over all blocks, for one operation."""
        return sum(map(what, self.blocks)) / max(1, self.operations)


def explained(
    plan: Plan,
    directory: RunDirectory,
    note: Callable[[str], None],
    failed: Callable[[str], None],
    timeout_s: float,
    after: After | None = None,
) -> Iterator[Explanation]:
    """Each path of the plan in each of its phases, which only read, one by one; `failed` gets what went wrong.

    `after`: called with each path's living worker when its figures are complete.
    What runners print is in `runners.log` of the directory's logs, without secrets.
    """
    phase_cache, scrubber = PhaseCache(directory.work / "parameters"), Scrubber()
    instances = EngineInstances(directory.work, phase_cache, scrubber.add)
    manifest.build(
        [(planned.adapter, planned.path.version) for planned in plan.paths], note, [one.path for one in plan.paths]
    )
    lines = (directory.logs / "runners.log").open("a", encoding="utf-8")

    def log(line: str) -> None:
        print(scrubber.clean(printable(line)), file=lines, flush=True)

    try:
        for planned in plan.paths:
            key = key_of(planned.path)
            if key not in instances:
                note(f"starting {planned.path.engine}")
                instances.bring_up(plan.paths, plan.workloads, key)
            for name in plan.experiment.phases:
                if name in planned.phases:
                    note(f"measuring {planned.name}, {name}")
                    workload = plan.workloads[PhaseName.of(name).workload]
                    work = phase_cache.prepared_workload(workload, planned.path.engine).phases[name]
                    way = instances.way_to(planned.path)
                    try:
                        found = explain(
                            planned, instances[key], work, directory.work, timeout_s, log, way=way, after=after
                        )
                    except RunnerFailure as failure:
                        failed(f"{planned.name}, {name}: {scrubber.clean(failure.text)}")
                    else:
                        yield found
    finally:
        instances.stop_all()
        lines.close()


def explain(
    planned: PlannedPath,
    instance: Instance,
    work: PreparedPhase,
    directory: Path,
    timeout_s: float,
    log: Callable[[str], None],
    *,
    way: Mapping[str, Any] = {},
    pairs: int = PAIRS,
    after: After | None = None,
) -> Explanation:
    """One path in one phase, with a process of its own, whose lines `log` gets. Errors: RunnerFailure."""
    worker = Worker(planned, instance, log=log, timeout_s=timeout_s, pinned=True)
    try:
        worker.open(**way)
        worker.notice_server()
        worker.prepare(work)
        warm_up(worker, work)
        why_not = profile.problem()
        bare, profiled, found = Blocks(), Blocks(), Profile()
        for _pair in range(pairs):
            bare.blocks.append(block(worker, work))
            if why_not:
                continue
            pids = [*worker.pids, *instance.pids()]
            languages = dict.fromkeys(worker.pids, planned.path.language)
            try:
                with profile.profiling(pids, worker.measured_cpus, languages, directory / "profile.data") as one:
                    profiled.blocks.append(block(worker, work))
            except EnvironmentMissing as error:
                why_not = f"{error.message} ({error.hint})"
            else:
                found.add(one)
        explanation = account(planned, instance, worker.pids, work.name, bare, profiled, found, why_not)
        if after is not None:
            after(worker, work, explanation, way)
        return explanation
    finally:
        worker.close()


def warm_up(worker: Worker, work: PreparedPhase) -> None:
    """Until the language's runtime has compiled what it will."""
    least_s = max(WARM_LEAST_S, *language(worker.planned.adapter.language).warm_least_s)
    if not worker.alone:
        least_s = max(least_s, ENGINES[worker.planned.path.engine].server_warm_s)
    worker.sample(work, "warm", duration_ns=int(least_s * 1e9))
    quiet.wait_for_compilers(lambda: [worker])


def block(worker: Worker, work: PreparedPhase) -> Block:
    """One long block, and the core's own clocks around it."""
    cpus, own = set(worker.measured_cpus), {*worker.pids, *worker.instance.pids()}
    before = core_users.look(cpus)
    measured = worker.sample(work, "steady", duration_ns=int(BLOCK_S * 1e9))
    after = core_users.look(cpus)
    others_ns = sum(user.ns for user in core_users.users(before, after, cpus, own) if user.kind != "ours")
    stolen_ns = after.stolen_ns - before.stolen_ns
    # The window lies inside the two looks; in the rest the core was idle or ours.
    around_ns = after.at_ns - before.at_ns - measured.reply.window_ns
    idle_ns = max(0, after.idle_ns - before.idle_ns - around_ns)
    return Block(measured, idle_ns, others_ns + stolen_ns)


def account(
    planned: PlannedPath, instance: Instance, client_pids: list[int], phase: str,
    bare: Blocks, profiled: Blocks, found: Profile, why_not: str,
) -> Explanation:  # fmt: skip
    """The parts, by the clocks of the bare blocks and the shares of the profiled ones."""
    client_ns = bare.of_operation(lambda one: (one.measured.client_cpu_ns or 0) - one.measured.client_helpers_cpu_ns)
    server_ns = bare.of_operation(lambda one: (one.measured.server_cpu_ns or 0) - one.measured.server_helpers_cpu_ns)
    each_ns = bare.each_ns()
    operation_ns = statistics.fmean(each_ns)
    interval = student([value / operation_ns - 1 for value in each_ns])
    half = operation_ns * (interval.high - interval.low) / 2 if interval else 0.0
    parts = [
        *divided("client", client_ns, CLIENT_CLOCK, found, client_pids),
        *divided("server", server_ns, SERVER_CLOCK, found, instance.pids()),
        Part("core", "other programs", bare.of_operation(lambda one: one.others_ns), OTHERS_CLOCK),
        Part("core", "waiting", bare.of_operation(lambda one: one.idle_ns), IDLE_CLOCK),
    ]
    longer = statistics.fmean(profiled.each_ns()) / operation_ns - 1 if profiled.blocks else None
    return Explanation(
        planned.name, planned.path.as_dict(), phase, operation_ns, operation_ns - half, operation_ns + half,
        bare.operations, tuple(part for part in parts if part.ns > 0), longer, why_not,
    )  # fmt: skip


def divided(side: str, ns: float, known_by: str, found: Profile, pids: list[int]) -> Iterator[Part]:
    """A side's CPU time as its parts; whole where nothing was sampled."""
    shares = found.shares(pids)
    count = sum(found.samples[pid].total() for pid in pids if pid in found.samples)
    if not shares:
        yield Part(side, "CPU", ns, known_by)  # type: ignore[arg-type]
    for name, share in shares.items():
        yield Part(side, name, share * ns, f"{known_by}; {SAMPLED.format(count=count)}")  # type: ignore[arg-type]
