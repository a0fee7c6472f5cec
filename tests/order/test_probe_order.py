"""The order of a search, with runners that answer at once: who is tried, who goes on, how many are connected."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from rowpath.execution.prepared_phases import PreparedPhase
from rowpath.execution.worker import Measured
from rowpath.model.path import AccessPath
from rowpath.model.workload import Phase
from rowpath.planning.plan import PlannedPath
from rowpath.probe.budget import Budget
from rowpath.probe.candidates import candidates
from rowpath.probe.row_consistency import RowConsistency
from rowpath.probe.row_diff import first_difference
from rowpath.probe.search import Search
from rowpath.probe.throttled_worker import work_of
from rowpath.runners.process import RunnerFailure
from rowpath.runners.protocol import DescribedColumn, SampleReply, VerifyReply

Cost = Callable[[AccessPath], float]  # seconds of an execution
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


class Runner:
    def __init__(self, machine: Machine, planned: PlannedPath) -> None:
        self.machine, self.planned = machine, planned
        self.fresh, self.connected, self.execution_s = True, False, 0.0

    def turn_to(self, planned: PlannedPath) -> None:
        self.planned, self.connected = planned, True
        self.machine.open += 1
        self.machine.most_open = max(self.machine.most_open, self.machine.open)
        if self.machine.cost(planned.path) <= 0:
            raise RunnerFailure("unsupported", "the fake takes no such setting")

    def prepare(self, _work: PreparedPhase) -> int:
        return 0

    def verify(self, _work: PreparedPhase, _first: int, _count: int) -> VerifyReply:
        self.execution_s = self.machine.cost(self.planned.path)
        self.machine.now += 2 * self.execution_s
        self.machine.blocks.append(("verify", self.planned.path.id))
        digest = self.machine.digest(self.planned.path)
        return VerifyReply(id=1, digest=digest, rows=7, touch="0000000000000005", operations=1)

    def sample(self, _work: PreparedPhase, _regime: str, **how: Any) -> Measured:
        each = self.machine.cost(self.planned.path)
        count = how.get("operations") or max(1, int(how.get("duration_ns", 0) / 1e9 / each))
        self.machine.now += 2 * count * each  # and as long a rest
        self.machine.blocks.append(("sample", self.planned.path.id))
        ns = int(count * each * 1e9)
        reply = SampleReply(
            id=1, ns=ns, operations=count, failed=0, rows=7 * count, values=7 * count, touch=f"{5 * count:016x}",
            first=0, lead_in_operations=0, window_ns=ns, window_cpu_ns=ns, cpu_ns=ns, min_ns=ns, max_ns=ns,
        )  # fmt: skip
        return Measured(reply, None, None, None, None, "")


class WorkerPool:
    def __init__(self, machine: Machine) -> None:
        self.machine = machine

    @contextmanager
    def turned_to(self, planned: PlannedPath) -> Iterator[Runner]:
        with self.several([planned]) as (runner,):
            runner.turn_to(planned)
            yield runner

    @contextmanager
    def several(self, paths: list[PlannedPath]) -> Iterator[list[Runner]]:
        runners = [Runner(self.machine, planned) for planned in paths]
        try:
            yield runners
        finally:
            self.machine.open -= sum(runner.connected for runner in runners)

    def start_s(self, _planned: PlannedPath) -> float:
        return 0.0


def a_search(machine: Machine, budget_s: float = 60.0, connections: int = 3) -> Search:
    found = candidates("sqlite", "embedded", Phase("query", "query", "SELECT 1"), languages=("c", "python"))
    programs: Any = WorkerPool(machine)
    work = work_of("SELECT 1", ())
    return Search(
        work,
        programs,
        Budget(budget_s, 0.5, machine.clock),
        RowConsistency(),
        connections,
        1,
        lambda _text: None,
        found.paths,
    )


def distinct_costs() -> Cost:
    """Every path has a cost of its own, by the order in which they are met the first is the slowest."""
    known: dict[str, float] = {}
    numbers = itertools.count()
    return lambda path: known.setdefault(path.id, 0.002 * (1 + 0.9 ** next(numbers)))


def test_the_best_path_is_found_and_never_more_are_connected_than_allowed() -> None:
    cost = distinct_costs()
    machine = Machine(cost)
    search = a_search(machine)
    search.try_all()
    search.halve()
    best = min(search.tried, key=lambda path_id: cost(search.tried[path_id].planned.path))
    assert search.alive()[0] == best
    assert machine.most_open == 3
    assert machine.open == 0
    assert all(each.step for each in search.tried.values())


def test_who_is_left_behind_got_fewer_blocks_than_who_goes_on() -> None:
    machine = Machine(distinct_costs())
    search = a_search(machine)
    search.try_all()
    search.halve()
    counts = {path_id: sum(1 for what, each in machine.blocks if each == path_id) for path_id in search.tried}
    going, left = search.alive(), [each for each in search.tried.values() if each.left == "behind after round 1"]
    assert left
    assert min(counts[path_id] for path_id in going) > max(counts[each.planned.path.id] for each in left)


def test_a_query_of_which_one_execution_is_a_twentieth_of_the_budget_is_tried_once() -> None:
    machine = Machine(lambda _path: 4.0)
    search = a_search(machine)
    search.try_all()
    assert search.slow
    assert len(machine.blocks) == 1
    assert [bool(each.step) for each in search.tried.values()].count(True) == 1


def test_the_time_for_tries_is_kept_but_every_driver_is_looked_at() -> None:
    machine = Machine(lambda _path: 0.5)
    search = a_search(machine, budget_s=40.0)
    search.try_all()
    looked = {(t.planned.adapter.language, t.planned.adapter.driver) for t in search.tried.values() if t.step}
    assert looked == {(p.adapter.language, p.adapter.driver) for p in search.candidates}
    assert any("time for tries" in each.left for each in search.tried.values())
    assert machine.now < 0.7 * 40


def test_a_path_that_delivers_other_rows_than_most_goes_no_further() -> None:
    odd: list[str] = []

    def digest(path: AccessPath) -> str:
        odd.extend([path.id] if not odd else [])
        return "7:00000000000000bb" if path.id == odd[0] else RIGHT

    machine = Machine(distinct_costs(), digest)
    search = a_search(machine)
    search.try_all()
    assert "different rows" in search.tried[odd[0]].left
    assert odd[0] not in search.alive()
    assert next(len(members) for members in search.digests().values()) == 1


def test_rows_that_change_by_themselves_are_no_fault_of_any_path() -> None:
    numbers = itertools.count()
    machine = Machine(distinct_costs(), lambda _path: f"7:{next(numbers):016x}")
    search = a_search(machine)
    search.try_all()
    assert search.sameness.changed
    assert len(search.alive()) == sum(1 for each in search.tried.values() if each.execution_ns)


@pytest.mark.parametrize("differing", [0, 1, 4, 6])
def test_the_first_column_that_differs_is_found_by_asking_for_the_first_columns(differing: int) -> None:
    class Narrow(Runner):
        def prepare(self, work: PreparedPhase) -> int:
            self.width = len(work.columns)
            return 0

        def verify(self, _work: PreparedPhase, _first: int, _count: int) -> VerifyReply:
            odd = self.planned.path.get("driver") == "sqlite3" and self.width > differing
            self.machine.now += 1
            return VerifyReply(id=1, digest="odd" if odd else RIGHT, rows=7, touch="0", operations=1)

    class Narrowing(WorkerPool):
        @contextmanager
        def several(self, paths: list[PlannedPath]) -> Iterator[list[Runner]]:
            yield [Narrow(self.machine, planned) for planned in paths]

    machine = Machine(lambda _path: 0.001)
    found = a_search(machine).candidates
    pair = tuple(next(p for p in found if p.adapter.driver == name) for name in ("sqlite", "sqlite3"))
    columns = tuple(DescribedColumn(name=f"c{number}", type="integer") for number in range(7))
    programs: Any = Narrowing(machine)
    assert first_difference(programs, pair, work_of("SELECT 1", columns), "sqlite") == f"c{differing}"  # type: ignore[arg-type]
    assert machine.now <= 2 * 4  # by halves, not one column after the other
    twice = (*columns, columns[0])
    assert first_difference(programs, pair, work_of("SELECT 1", twice), "sqlite") == "not known"  # type: ignore[arg-type]


def test_a_driver_that_refuses_three_settings_alike_is_not_asked_again() -> None:
    machine = Machine(lambda path: 0.0 if path.get("driver") == "libsqliteodbc" else 0.002)
    search = a_search(machine)
    search.try_all()
    mine = [each for each in search.tried.values() if each.planned.adapter.driver == "libsqliteodbc"]
    if mine:  # the driver is there
        assert sum(1 for each in mine if each.step) == 3
        assert all("no such setting" in each.left for each in mine)
    assert search.alive()
