"""Runners that cost what a test says, and a search over them."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from typing_extensions import override

from rowpath.execution.measured import Measured
from rowpath.execution.prepared_phases import PreparedPhase
from rowpath.model.path import AccessPath
from rowpath.model.workload import Phase
from rowpath.own_database.candidates import Wanted, candidates
from rowpath.own_database.throttled_worker import WHOLE, Budget, RowConsistency, ThrottledWorker, work_of
from rowpath.planning.plan import PlannedPath
from rowpath.probe.search import Search
from rowpath.probe.worker_pool import WorkerPool as AnyPool
from rowpath.runners.process import RunnerFailure
from rowpath.runners.protocol import SampleReply, VerifyReply

RIGHT = "7:00000000000000aa"


class Machine:
    """A clock that moves as fakes work, and a count of the connections that are open."""

    def __init__(self, cost: Cost, digest: Callable[[AccessPath], str] = lambda _path: RIGHT) -> None:
        self.now = 0.0
        self.cost, self.digest = cost, digest
        self.open = self.most_open = 0
        self.blocks: list[tuple[str, str]] = []  # (what, path id)

    def clock(self) -> float:
        return self.now


class Runner(ThrottledWorker):
    """A worker that costs what its machine says."""

    def __init__(self, machine: Machine, planned: PlannedPath) -> None:
        self.machine, self.planned = machine, planned
        self.fresh, self.connected = True, False

    @override
    def turn_to(self, planned: PlannedPath) -> None:
        self.planned, self.connected = planned, True
        self.machine.open += 1
        self.machine.most_open = max(self.machine.most_open, self.machine.open)
        if self.machine.cost(planned.path) <= 0:
            raise RunnerFailure("unsupported", "the fake takes no such setting")

    @override
    def prepare(self, work: PreparedPhase) -> int:
        return 0

    @override
    def verify(self, work: PreparedPhase, first: int, count: int, max_rows: int = WHOLE, keep: str = "") -> VerifyReply:
        self.machine.now += 2 * self.machine.cost(self.planned.path)
        self.machine.blocks.append(("verify", self.planned.path.id))
        digest = self.machine.digest(self.planned.path)
        return VerifyReply(id=1, digest=digest, rows=7, touch="0000000000000005", operations=1)

    @override
    def sample(self, work: PreparedPhase, regime: str, **how: int) -> Measured:
        each = self.machine.cost(self.planned.path)
        count = how.get("operations") or max(1, int(how.get("duration_ns", 0) / 1e9 / each))
        self.machine.now += 2 * count * each  # and as long a rest
        self.machine.blocks.append(("sample", self.planned.path.id))
        ns = int(count * each * 1e9)
        reply = SampleReply(
            id=1, ns=ns, operations=count, failed=0, rows=7 * count, values=7 * count, touch=f"{5 * count:016x}",
            first=0, lead_in_operations=0, window_ns=ns, window_cpu_ns=ns, cpu_ns=ns, min_ns=ns, max_ns=ns,
        )  # fmt: skip
        return Measured(reply, None, None, None, None, [])


class WorkerPool(AnyPool):
    """Lends such workers; none of them is kept."""

    def __init__(self, machine: Machine) -> None:
        super().__init__(lambda planned: Runner(machine, planned))
        self.machine = machine

    @override
    @contextmanager
    def several(self, paths: list[PlannedPath]) -> Iterator[list[ThrottledWorker]]:
        runners: list[ThrottledWorker] = [Runner(self.machine, planned) for planned in paths]
        try:
            yield runners
        finally:
            self.machine.open -= sum(runner.connected for runner in runners)


def a_search(machine: Machine, budget_s: float = 60.0, connections: int = 3) -> Search:
    found = candidates(Wanted("sqlite", "embedded", Phase("query", "query", "SELECT 1"), languages=("c", "python")))
    work = work_of("SELECT 1", ())
    return Search(
        work,
        WorkerPool(machine),
        Budget(budget_s, 0.5, machine.clock),
        RowConsistency(),
        connections,
        1,
        lambda _text: None,
        found.paths,
        Path(),
    )


def distinct_costs() -> Cost:
    """Every path has a cost of its own, by the order in which they are met the first is the slowest."""
    known: dict[str, float] = {}
    numbers = itertools.count()
    return lambda path: known.setdefault(path.id, 0.002 * (1 + 0.9 ** next(numbers)))


Cost = Callable[[AccessPath], float]  # seconds of an execution
