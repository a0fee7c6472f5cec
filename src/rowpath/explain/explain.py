"""Where the time of an operation goes: one path on one core, measured with and without a profiler in turn.

On one core client and server never work at the same time, so that what each had of it, what others had and what no one
had must add up to the operation's time. Each is read from a clock of its own: the runner's, those of the threads,
those of all other processes, and the core's idle time. What is missing is shown, never distributed.
"""

from __future__ import annotations

import contextlib
import statistics
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from msgspec import structs

from rowpath.analysis.statistics.intervals import student
from rowpath.engines.base import External, Instance
from rowpath.errors import EnvironmentMissing
from rowpath.execution.instances import EngineInstances
from rowpath.execution.prepared_phases import PhaseCache, PreparedPhase
from rowpath.execution.worker import Worker
from rowpath.explain import async_profiler, perf
from rowpath.explain.blocks import Blocks, CoreBlock, block, explained_cpus, warm_up
from rowpath.explain.flames import Sampled, client_stacks
from rowpath.explain.packages import Packages
from rowpath.explain.perf import Profile
from rowpath.explain.round_trips import Unknown
from rowpath.explain.stamping import Stamping, once_an_operation, server_file, stamping_environment
from rowpath.journal.writer import RunDirectory
from rowpath.machine import jvm
from rowpath.model.explanation import Explanation, Hops, Part, Side, Stack
from rowpath.model.path import AccessPath
from rowpath.model.workload import PhaseName
from rowpath.planning.plan import Plan, PlannedPath, key_of
from rowpath.runners import manifest
from rowpath.runners.process import RunnerFailure
from rowpath.scrubber import Scrubber
from rowpath.text import printable

PAIRS = 5
CLIENT_CLOCK = "the loop thread's CPU clock"
POOLER_CLOCK = "CPU clocks of the pooler's processes"
SERVER_CLOCK = "CPU clocks of the server's processes"
WAITING = "waiting"
IDLE_CLOCK = "the core's idle time in /proc/stat"
OTHERS_CLOCK = "CPU clocks of every other process that ran there"
READY = "waiting for the core"
READY_CLOCK = "the loop thread's run-queue wait in /proc/PID/schedstat"
SLEEP_CLOCK = "the rest of the window: the loop's thread slept"
# Gets how the path is reached too, and what was sampled of the client already.
After = Callable[[Worker, PreparedPhase, Explanation, Mapping[str, Any], Sampled | None], None]


def explained(
    plan: Plan,
    directory: RunDirectory,
    note: Callable[[str], None],
    failed: Callable[[str], None],
    timeout_s: float,
    pairs: int = PAIRS,
    after: After | None = None,
    *,
    hops: bool = False,
) -> Generator[Explanation]:
    """Each path of the plan in each of its phases, which only read, one by one; `failed` gets what went wrong.

    `after`: called with each path's living worker when its figures are complete. `hops`: calls of both sides are
    stamped, for which a server of ours is restarted before and after.
    What runners print is in `runners.log` of the directory's logs, without secrets.
    """
    phase_cache, scrubber, place = PhaseCache(directory.work / "parameters"), Scrubber(), directory.work
    instances = EngineInstances(place, phase_cache, scrubber.add)
    manifest.build([(path.adapter, path.path.version) for path in plan.paths], note, [path.path for path in plan.paths])
    lines = (directory.logs / "runners.log").open("a", encoding="utf-8")

    def log(line: str) -> None:
        print(scrubber.clean_own(printable(line)), file=lines, flush=True)

    try:
        for planned in plan.paths:
            key = key_of(planned.path)
            if key not in instances:
                note(f"starting {planned.path.engine}")
                instances.bring_up(plan.paths, plan.workloads, key)
            for name in plan.experiment.phases:
                if name not in planned.phases:
                    continue
                note(f"measuring {planned.name}, {name}")
                workload = plan.workloads[PhaseName.of(name).workload]
                work = phase_cache.prepared_workload(workload, planned.path.engine).phases[name]
                how: dict[str, Any] = {"pairs": pairs, "after": after}
                no_hops = ""
                try:
                    if hops and planned.path.served:
                        how["stamping"], no_hops = stamping_of(place, instances, planned)
                    how |= {"way": instances.way_to(planned.path), "pooler_pids": instances.pooler_pids}
                    explanation = explain(planned, instances[key], work, place, timeout_s, log, **how)
                except RunnerFailure as failure:
                    failed(f"{planned.name}, {name}: {failure.text}")
                    continue
                finally:
                    if how.get("stamping") is not None:
                        instances.restart(key)
                yield structs.replace(explanation, no_hops=explanation.no_hops or no_hops)
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
    pooler_pids: Callable[[AccessPath], list[int]] = lambda _path: [],
    pairs: int = PAIRS,
    after: After | None = None,
    stamping: Stamping | None = None,
) -> Explanation:
    """One path in one phase, with a process of its own, whose lines `log` gets. Errors: RunnerFailure.

    `stamping`: server and pooler that it names have been started with the library already.
    """
    environment = stamping.environment() if stamping else None
    worker = Worker(planned, instance, log=log, timeout_s=timeout_s, environment=environment, pinned=True)
    worker.pooler_pids = lambda: pooler_pids(planned.path)
    try:
        worker.open(**way)
        worker.notice_server()
        if stamping:
            work = once_an_operation(work)
        worker.prepare(work)
        packages = Packages.of(planned)
        if packages is not None and async_profiler.is_jvm(worker.pids[0]):
            with contextlib.suppress(EnvironmentMissing):  # sampling says why
                async_profiler.load(worker.pids[0])
        evidence = taken_apart(worker, work, directory, pairs, stamping=stamping)
        if packages is not None:
            try:
                evidence.client = client_stacks(worker, work, directory, pairs)
            except EnvironmentMissing as error:
                evidence.no_packages = f"the layer's part is unknown: {error.message} ({error.hint})"
        explanation = account(worker, work.name, evidence)
        if after is not None:
            after(worker, work, explanation, way, evidence.client)
        return explanation
    finally:
        worker.close()


def stamping_of(directory: Path, instances: EngineInstances, planned: PlannedPath) -> tuple[Stamping | None, str]:
    """What stamps the calls of a path, its server restarted for that; None and why, where nothing can."""
    key = key_of(planned.path)
    try:
        server = None if isinstance(instances[key], External) else server_file(directory, "server")
        pooler = None if planned.path.pooler == "none" else server_file(directory, "pooler")
        stamping = Stamping.begun(directory, server, pooler)
        stamping.environment()
        if server is not None:
            instances.restart(key, stamping_environment(server), stamping_environment(pooler) if pooler else {})
    except EnvironmentMissing as error:
        return None, f"{error.message} ({error.hint})"
    return stamping, ""


class Take(Protocol):
    """Takes a block of a worker, one of that many operations where a number is given."""

    def __call__(self, worker: Worker, work: PreparedPhase, *, operations: int = 0) -> CoreBlock:
        """Errors: RunnerFailure."""


@dataclass
class BlockEvidence:
    """Bare blocks and profiled ones of a path, and what the profiler saw in these."""

    bare: Blocks = field(default_factory=Blocks)
    profiled: Blocks = field(default_factory=Blocks)
    profile: Profile = field(default_factory=Profile)
    why_not: str = ""  # profiled
    disturbed: int = 0  # blocks that others were taken instead of
    hops: Hops | None = None
    no_hops: str = ""  # why they are not known, where they were wanted
    stamped: Blocks = field(default_factory=Blocks)
    client: Sampled | None = None  # its stacks, of a path of objects
    no_packages: str = ""  # why there are none


def taken_apart(
    worker: Worker,
    work: PreparedPhase,
    directory: Path,
    pairs: int = PAIRS,
    take: Take = block,
    stamping: Stamping | None = None,
) -> BlockEvidence:
    """A warm path in bare blocks, stamped and profiled ones in turn; `take` takes a block. Errors: RunnerFailure."""
    warm_up(worker, work)
    evidence, disturbed = BlockEvidence(why_not=perf.problem()), Blocks()
    while len(evidence.bare.blocks) < pairs and len(disturbed.blocks) < pairs:
        bare = take(worker, work)
        (disturbed if bare.disturbed else evidence.bare).blocks.append(bare)
        if stamping is not None:
            reply, done = bare.measured.reply, len(evidence.bare.blocks) + len(disturbed.blocks)
            operation_ns = reply.ns / max(1, reply.operations)
            stamping.go_on(worker, work, operation_ns, done / pairs, lambda count: take(worker, work, operations=count))
        if evidence.why_not:
            continue
        pids = [*worker.pids, *worker.pooler_pids(), *worker.instance.pids()]
        languages = dict.fromkeys(worker.pids, worker.planned.path.language)
        languages |= dict.fromkeys(filter(async_profiler.is_jvm, worker.instance.pids()), jvm.LANGUAGE)
        try:
            with perf.profiling(pids, explained_cpus(worker), languages, directory / "profile.data") as profile:
                evidence.profiled.blocks.append(take(worker, work))
        except EnvironmentMissing as error:
            evidence.why_not = f"{error.message} ({error.hint})"
        else:
            evidence.profile.add(profile)
    if len(evidence.bare.blocks) < pairs:  # the machine is busy: what is kept says so
        evidence.bare.blocks += disturbed.blocks
    else:
        evidence.disturbed = len(disturbed.blocks)
    if stamping is not None:
        evidence.stamped = stamping.stamped
        try:
            evidence.hops = stamping.hops(worker)
        except Unknown as unknown:
            evidence.no_hops = str(unknown)
    return evidence


def account(worker: Worker, phase: str, evidence: BlockEvidence) -> Explanation:
    """The parts, by the clocks of the bare blocks and the shares of the profiled ones.

    A server of others is pinned nowhere, so that it may have a speed in each block: there the parts and the hops are of
    the same blocks, those with stamps.
    """
    planned, profiled, profile = worker.planned, evidence.profiled, evidence.profile
    of_others = not worker.alone and not worker.instance.pids()
    timed = evidence.stamped if of_others and evidence.hops is not None else evidence.bare
    client_ns = timed.of_operation(lambda one: one.client_ns)
    pooler_ns = timed.of_operation(lambda one: one.measured.pooler_cpu_ns or 0)
    server_ns = timed.of_operation(lambda one: (one.measured.server_cpu_ns or 0) - one.measured.server_helpers_cpu_ns)
    each_ns = timed.each_ns()
    interval = student(each_ns) if len(each_ns) > 1 else None
    low_ns, high_ns = (interval.low, interval.high) if interval else (None, None)
    parts = [
        *divided("client", client_ns, CLIENT_CLOCK, profile, worker.pids, Packages.of(planned), evidence.client),
        *divided("pooler", pooler_ns, POOLER_CLOCK, profile, worker.pooler_pids()),
        *divided("server", server_ns, SERVER_CLOCK, profile, worker.instance.pids()),
    ]
    if of_others and all(one.ready_ns is not None for one in timed.blocks):
        parts.append(Part("core", READY, timed.of_operation(lambda one: one.ready_ns or 0), READY_CLOCK))
        parts.append(Part("core", WAITING, timed.of_operation(lambda one: one.slept_ns), SLEEP_CLOCK))
    else:
        parts.append(Part("core", "other programs", timed.of_operation(lambda one: one.others_ns), OTHERS_CLOCK))
        parts.append(Part("core", WAITING, timed.of_operation(lambda one: one.waited_ns), IDLE_CLOCK))
    bare_ns = evidence.bare.operation_ns()
    longer = statistics.fmean(profiled.each_ns()) / bare_ns - 1 if profiled.blocks else None
    return Explanation(
        planned.name, planned.path.as_dict(), phase, timed.operation_ns(), low_ns, high_ns,
        timed.operations, tuple(part for part in parts if part.ns > 0), longer,
        evidence.why_not or evidence.no_packages,
        hops=evidence.hops, no_hops=evidence.no_hops, stamped=timed is evidence.stamped,
        disturbed_blocks=0 if timed is evidence.stamped else evidence.disturbed,
    )  # fmt: skip


def divided(
    side: Side,
    ns: float,
    known_by: str,
    profile: Profile,
    pids: list[int],
    packages: Packages | None = None,
    sampled: Sampled | None = None,
) -> Iterator[Part]:
    """A side's CPU time as its parts; whole where nothing was sampled.

    `packages`, `sampled`: of a path of objects, so that what perf sees as the language has the names of packages.
    """
    shares = profile.shares(pids)
    count = sum(profile.samples[pid].total() for pid in pids if pid in profile.samples)
    by = f"its share by perf, {count:,} samples"
    if packages is not None and sampled is not None:
        stacks = sum((sampled.stacks.get(pid, Counter()) for pid in pids), Counter[Stack]())
        shares = packages.divided(shares, stacks)
        by += f", and by {sampled.how}, {stacks.total():,} stacks"
    if not shares:
        yield Part(side, "CPU", ns, known_by)
    for name, share in shares.items():
        yield Part(side, name, share * ns, f"{known_by}; {by}")
