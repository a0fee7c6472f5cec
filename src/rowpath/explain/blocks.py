"""Long blocks of a warm path on one core, with what the core did during them, and short ones with stamped calls."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from msgspec import structs

from rowpath.engines import ENGINES
from rowpath.engines.base import External
from rowpath.errors import RowpathError
from rowpath.execution.in_turn import helpers_cpu_ns
from rowpath.execution.instances import EngineInstances
from rowpath.execution.measured import Measured
from rowpath.execution.prepared_phases import PreparedPhase
from rowpath.execution.warm_up import wait_for_compilers
from rowpath.execution.worker import Worker
from rowpath.explain import hops
from rowpath.explain.hops import Unknown
from rowpath.machine import c_tools, private_directories
from rowpath.machine.counters import call_stamps, core_users
from rowpath.model.explanation import Explanation, Hops
from rowpath.planning.plan import PlannedPath, key_of
from rowpath.runners.manifest import language
from rowpath.runners.process import RunnerFailure
from rowpath.runners.protocol import SampleReply

WARM_LEAST_S = 0.5
MOST_OTHERS = 0.05  # of a block: where other programs had more, another is taken instead; PAIRS such blocks end it
BLOCK_S = 1.0  # long, because idle time is counted in hundredths of a second
MOST_OPERATIONS = 2_000
MOST_TOGETHER = 20_000  # operations in pipelines: there is room for their calls
BLOCKS = 9  # stamped ones, in turn with as many bare: the median ratio of two neighbours is what stamps cost
LEAST_EACH = 20  # operations, or pipelines, of a block: its first may be lost
MOST_S = 4.0  # of either
Start = Callable[[dict[str, str]], Worker]  # with this added to the environment


def warm_up(worker: Worker, work: PreparedPhase) -> None:
    """Until the language's runtime has compiled what it will."""
    least_s = max(WARM_LEAST_S, *language(worker.planned.adapter.language).warm_least_s)
    if not worker.alone:
        least_s = max(least_s, ENGINES[worker.planned.path.engine].server_warm_s)
    worker.sample(work, "warm", duration_ns=int(least_s * 1e9))
    wait_for_compilers(lambda: helpers_cpu_ns([worker]))


@dataclass
class CoreBlock:
    """A block and what the core did during it."""

    measured: Measured
    idle_ns: int
    others_ns: int
    served_ns: int = 0  # CPU of a server of others on this machine that is no other program, whichever its core

    @property
    def disturbed(self) -> bool:
        """Whether other programs had too much of the core."""
        return self.others_ns > MOST_OTHERS * self.measured.reply.window_ns

    @property
    def waited_ns(self) -> int:
        """The time in which the client's core was idle, or busy with that server."""
        reply = self.measured.reply
        client_ns = (self.measured.client_cpu_ns or 0) - self.measured.client_helpers_cpu_ns
        missing_ns = reply.window_ns - client_ns - self.others_ns - self.idle_ns
        return self.idle_ns + min(max(0, missing_ns), self.served_ns)


@dataclass
class Blocks:
    """Blocks of one kind, as sums over their operations."""

    blocks: list[CoreBlock] = field(default_factory=list)

    @property
    def operations(self) -> int:
        """Operations of all of them, those of lead-ins too: CPU clocks and the core's saw these."""
        return sum(block.measured.reply.operations + block.measured.reply.lead_in_operations for block in self.blocks)

    def each_ns(self) -> list[float]:
        """Time of an operation, by block."""
        return [block.measured.reply.ns / max(1, block.measured.reply.operations) for block in self.blocks]

    def of_operation(self, what: Callable[[CoreBlock], float]) -> float:
        """A sum over all blocks, for one operation."""
        return sum(map(what, self.blocks)) / max(1, self.operations)


def explained_cpus(worker: Worker) -> tuple[int, ...]:
    """The core of client and server; a server of others is wherever it is."""
    return worker.measured_cpus if worker.instance.pids() else worker.cpus


def block(worker: Worker, work: PreparedPhase, serving_pid: int = 0) -> CoreBlock:
    """One long block, and the core's own clocks around it; `serving_pid`: of a server of others on this machine."""
    cpus, own = set(explained_cpus(worker)), {*worker.pids, *worker.instance.pids(), serving_pid}
    before = core_users.look(cpus)
    measured = worker.sample(work, "steady", duration_ns=int(BLOCK_S * 1e9))
    after = core_users.look(cpus)
    others_ns = sum(user.ns for user in core_users.users(before, after, cpus, own) if user.kind != "ours")
    stolen_ns = after.stolen_ns - before.stolen_ns
    # The window lies inside the two looks; in the rest the core was idle or ours.
    around_ns = after.at_ns - before.at_ns - measured.reply.window_ns
    idle_ns = max(0, after.idle_ns - before.idle_ns - around_ns)
    served_ns = after.process_ns.get(serving_pid, 0) - before.process_ns.get(serving_pid, 0)
    return CoreBlock(measured, idle_ns, others_ns + stolen_ns, served_ns)


def with_hops(
    explanation: Explanation,
    planned: PlannedPath,
    instances: EngineInstances,
    work: PreparedPhase,
    directory: Path,
    timeout_s: float,
    log: Callable[[str], None],
) -> Explanation:
    """The explanation of a path with a server, and its hops, or why they are not known. Errors: RowpathError.

    A private server is restarted before, so that its calls are stamped, and after.
    """
    key = key_of(planned.path)
    ours = not isinstance(instances[key], External)

    def start(environment: dict[str, str]) -> Worker:
        return Worker(planned, instances[key], log=log, timeout_s=timeout_s, environment=environment, pinned=True)

    def taken() -> Hops:
        file = server_file(directory) if ours else None
        if file is not None:
            instances.restart(key, stamping_environment(file))
        return stamped_hops(start, work, explanation.operation_ns, directory, file, instances.way_to(planned.path))

    complete = hops_or_why(explanation, taken)
    if ours:
        instances.restart(key)
    return complete


def server_file(directory: Path) -> Path:
    """A file for the stamps of a private server."""
    return call_stamps.make_file(directory / "server-stamps", clocks=False, user=private_directories.server_user())


def stamping_environment(file: Path) -> dict[str, str]:
    """What a process's environment needs so that its calls are stamped into `file`.

    The library that is preloaded is built when needed. Errors: EnvironmentMissing without a C compiler.
    """
    return {"LD_PRELOAD": str(c_tools.call_stamps_library()), call_stamps.VARIABLE: str(file)}


def hops_or_why(explanation: Explanation, taken: Callable[[], Hops]) -> Explanation:
    """The explanation with what `taken` returns, or with the reason why it failed."""
    try:
        return structs.replace(explanation, hops=taken())
    except Unknown as unknown:
        why = str(unknown)
    except RunnerFailure as failure:
        why = failure.text
    except RowpathError as error:
        why = f"{error.message} ({error.hint})"
    return structs.replace(explanation, no_hops=why)


def stamped_hops(
    start: Start,
    work: PreparedPhase,
    operation_ns: float,
    directory: Path,
    server: Path | None,
    way: Mapping[str, Any] = {},
) -> Hops:
    """The hops of a fresh worker's operations; `server`: the file of its server's stamps, None: of others.

    `operation_ns`: what an operation takes without stamps. Errors: Unknown, RunnerFailure, EnvironmentMissing.
    """
    work = replace(work, phase=structs.replace(work.phase, stamps=False))  # the loop reads its clock once an operation
    client = call_stamps.make_file(directory / "client-stamps", clocks=True)
    worker = start(stamping_environment(client))
    path = worker.planned.path
    size = path.pipeline if work.parameter_count else 1  # a statement without parameters is never in a pipeline
    bare: list[SampleReply] = []
    replies: list[SampleReply] = []
    files = [client, *([server] if server else [])]
    try:
        worker.open(**way)
        worker.notice_server()
        worker.prepare(work)
        warm_up(worker, work)
        units = max(1, min(MOST_OPERATIONS, MOST_TOGETHER // size, int(MOST_S * 1e9 / (operation_ns * size))))
        blocks = max(1, min(BLOCKS, units // LEAST_EACH))
        operations = units // blocks * size
        for _number in range(blocks):
            bare.append(worker.sample(work, "steady", operations=operations).reply)
            with call_stamps.stamping(*files):
                replies.append(worker.sample(work, "steady", operations=operations).reply)
    finally:
        worker.close()
    read = [call_stamps.read(file) for file in files]
    if not all(whole for _calls, whole in read):
        raise Unknown(f"{blocks * operations} operations make more calls than there is room for")
    one_core = server is not None and path.placement == "same" and path.link == "none"
    longer = statistics.median(one.ns / other.ns for one, other in zip(replies, bare, strict=True)) - 1
    done = [reply.operations // size for reply in replies]
    return hops.hops(
        read[0][0], read[1][0] if server else None, done, one_core=one_core, stamping_share=longer, pipeline=size
    )
