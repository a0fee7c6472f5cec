"""Blocks of a warm path on one core, with what the core did during them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from rowpath.engines import ENGINES
from rowpath.execution.in_turn import helpers_cpu_ns
from rowpath.execution.measured import Measured
from rowpath.execution.prepared_phases import PreparedPhase
from rowpath.execution.warm_up import wait_for_compilers
from rowpath.execution.worker import Worker
from rowpath.machine.counters import core_users
from rowpath.runners.manifest import language

WARM_LEAST_S = 0.5
MOST_OTHERS = 0.05  # of a block: where other programs had more, another is taken instead; PAIRS such blocks end it
BLOCK_S = 1.0  # long, because idle time is counted in hundredths of a second


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
    ready_ns: int | None = None  # in which the client was ready without the core; None: the kernel does not count it

    @property
    def disturbed(self) -> bool:
        """Whether other programs had too much of the core."""
        return self.others_ns > MOST_OTHERS * self.measured.reply.window_ns

    @property
    def waited_ns(self) -> int:
        """The time in which the client's core was idle, or busy with that server."""
        missing_ns = self.measured.reply.window_ns - self.client_ns - self.others_ns - self.idle_ns
        return self.idle_ns + min(max(0, missing_ns), self.served_ns)

    @property
    def client_ns(self) -> int:
        """CPU time of the client on its core."""
        return (self.measured.client_cpu_ns or 0) - self.measured.client_helpers_cpu_ns

    @property
    def slept_ns(self) -> int:
        """The time in which the client neither had its core nor was ready for it."""
        return max(0, self.measured.reply.window_ns - self.client_ns - (self.ready_ns or 0))


@dataclass
class Blocks:
    """Blocks of one kind, as sums over their operations."""

    blocks: list[CoreBlock] = field(default_factory=list)

    def operation_ns(self) -> float:
        """The mean time of all operations but those of lead-ins."""
        replies = [block.measured.reply for block in self.blocks]
        return sum(reply.ns for reply in replies) / max(1, sum(reply.operations for reply in replies))

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


def block(worker: Worker, work: PreparedPhase, serving_pid: int = 0, operations: int = 0) -> CoreBlock:
    """One long block, or one of that many operations, and the core's own clocks around it.

    `serving_pid`: of a server of others on this machine.
    """
    cpus, own = set(explained_cpus(worker)), {*worker.pids, *worker.pooler_pids(), *worker.instance.pids(), serving_pid}
    before = core_users.look(cpus)
    duration_ns = 0 if operations else int(BLOCK_S * 1e9)
    measured = worker.sample(work, "steady", duration_ns=duration_ns, operations=operations)
    after = core_users.look(cpus)
    others_ns = sum(user.ns for user in core_users.users(before, after, cpus, own) if user.kind != "ours")
    stolen_ns = after.stolen_ns - before.stolen_ns
    # The window lies inside the two looks; in the rest the core was idle or ours.
    around_ns = after.at_ns - before.at_ns - measured.reply.window_ns
    idle_ns = max(0, after.idle_ns - before.idle_ns - around_ns)
    served_ns = after.process_ns.get(serving_pid, 0) - before.process_ns.get(serving_pid, 0)
    ready_ns = None if measured.wait_ns is None else max(0, measured.wait_ns)
    return CoreBlock(measured, idle_ns, others_ns + stolen_ns, served_ns, ready_ns)
