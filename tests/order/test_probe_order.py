"""The order of a search, with runners that answer at once: who is tried, who goes on, how many are connected."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from rowpath.execution.measured import Measured
from rowpath.execution.prepared_phases import PreparedPhase
from rowpath.model.path import AccessPath
from rowpath.own_database.throttled_worker import ThrottledWorker
from rowpath.planning.plan import PlannedPath
from rowpath.probe.search import Search
from rowpath.probe.tries import Setting, differences
from tests.order.probe_machine import RIGHT, Machine, Runner, WorkerPool, a_search, distinct_costs


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
    cost, noise = distinct_costs(), random.Random(3)
    machine = Machine(lambda path: cost(path) * noise.uniform(0.95, 1.05))
    search = a_search(machine)
    search.try_all()
    search.halve()
    counts = {path_id: sum(1 for what, each in machine.blocks if each == path_id) for path_id in search.tried}
    last = f"round {search.rounds}"
    going = [path_id for path_id in search.alive() if search.tried[path_id].step == last]
    shared = {each.compared_with for each in search.tried.values()}  # in every set of a round
    behind = (path_id for path_id, each in search.tried.items() if each.left == "behind after round 1")
    left = [path_id for path_id in behind if path_id not in shared]
    assert going and left and search.rounds > 1
    assert min(counts[path_id] for path_id in going) > max(counts[path_id] for path_id in left)


@pytest.mark.parametrize(("execution_s", "blocks"), [(4.0, 2), (20.0, 1)])
def test_a_query_of_which_one_execution_is_a_twentieth_of_the_budget_is_tried_once(
    execution_s: float, blocks: int
) -> None:
    """A second execution decides, unless the first took a quarter."""
    machine = Machine(lambda _path: execution_s)
    search = a_search(machine)
    search.try_all()
    assert search.slow
    assert len(machine.blocks) == blocks
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
    # Its siblings have the same touch sum, so they were digested themselves: they are not accused with it.
    digests = Counter(each.digest for each in search.tried.values())
    assert digests == {RIGHT: len(search.tried) - 1, "7:00000000000000bb": 1}


def test_every_driver_has_its_first_try_before_any_has_a_second() -> None:
    search = a_search(Machine(distinct_costs()))
    search.try_all()
    tries = [each.planned for each in search.tried.values() if each.step]
    drivers = [f"{planned.adapter.language} {planned.adapter.driver}" for planned in tries]
    every = {f"{planned.adapter.language} {planned.adapter.driver}" for planned in search.candidates}
    assert set(drivers[: len(every)]) == every and len(drivers) > len(every)
    first: dict[tuple[str, str], AccessPath] = {}
    by_itself: set[tuple[tuple[str, str], Setting]] = set()
    combined = 0
    for planned in tries:
        driver = planned.adapter.language, planned.adapter.driver
        changed = differences(planned.path, first.setdefault(driver, planned.path))
        if len(changed) == 1:
            by_itself |= {(driver, change) for change in changed}
        elif changed:
            combined += 1
            assert any((driver, change) in by_itself for change in changed), "nothing promises anything yet"
    assert combined


def test_quick_languages_try_settings_where_first_tries_take_all_the_time() -> None:
    machine = Machine(lambda path: 0.9 if path.language == "python" else 0.01)
    search = a_search(machine, budget_s=20.0)
    search.try_all()
    further = {"c": 0, "python": 0}
    for each in search.defaults():
        further[each.planned.adapter.language] -= 1
    for each in search.tried.values():
        further[each.planned.adapter.language] += bool(each.execution_ns)
    assert further["c"] > 0, "nothing but each driver's first setting was tried"
    assert search.budget.spent_s > 0.6 * search.budget.search_s(search.full_sets_s())


def test_a_slow_language_takes_no_time_from_a_fast_one() -> None:
    machine = Machine(lambda path: 0.5 if path.language == "python" else 0.01)
    search = a_search(machine)
    search.try_all()
    tries = Counter(each.planned.path.language for each in search.tried.values() if each.step)
    begun = {
        language: sum(1 for each in search.defaults() if each.planned.path.language == language) for language in tries
    }
    every = sum(1 for planned in search.candidates if planned.path.language == "c")
    assert tries["c"] == every  # none was left out for want of time
    assert begun["python"] < tries["python"] < every


def test_combinations_of_the_settings_that_helped_by_themselves_come_first() -> None:
    helps = {"statement": "text", "fetch": "block:100"}
    machine = Machine(lambda path: 0.004 * 0.7 ** sum(path.get(key) == value for key, value in helps.items()))
    search = a_search(machine)
    search.try_all()
    tries = [each.planned for each in search.tried.values() if each.step and each.planned.adapter.driver == "sqlite3"]
    several = [each.path for each in tries if len(differences(each.path, tries[0].path)) > 1]
    assert several and helps.items() <= several[0].as_dict().items()


def test_a_baseline_keeps_its_place_however_many_settings_it_changes() -> None:
    search = a_search(Machine(distinct_costs()))
    first: dict[str, AccessPath] = {}
    for planned in search.candidates:
        first.setdefault(planned.adapter.driver, planned.path)
    several = [p for p in search.candidates if len(differences(p.path, first[p.adapter.driver])) > 1]
    baseline = several[-1]
    search.candidates = (search.candidates[0], baseline, *(p for p in search.candidates[1:] if p is not baseline))
    search.baselines = {baseline.path.id: "yours"}
    search.try_all()
    assert list(search.tried)[1] == baseline.path.id
    assert list(search.tried)[-1] != baseline.path.id


def test_rows_are_digested_once_for_each_driver_and_fetch_form() -> None:
    machine = Machine(distinct_costs())
    search = a_search(machine)
    search.try_all()
    kinds = {
        path_id: (p.adapter.language, p.adapter.driver, p.path.fetch_form)
        for path_id, p in ((each.planned.path.id, each.planned) for each in search.tried.values())
    }
    digested = [kinds[path_id] for what, path_id in machine.blocks if what == "verify"]
    assert sorted(digested) == sorted(set(kinds.values()))
    assert all(each.digest == RIGHT for each in search.tried.values() if each.execution_ns)


def test_a_setting_with_another_touch_sum_is_digested_itself() -> None:
    class Odd(Runner):
        def sample(self, work: PreparedPhase, regime: str, **how: Any) -> Measured:
            measured = super().sample(work, regime, **how)
            if self.planned.path.get("fetch") == "block:100":
                measured.reply.touch = f"{6 * measured.reply.operations:016x}"
            return measured

    class OddPool(WorkerPool):
        @contextmanager
        def several(self, paths: list[PlannedPath]) -> Iterator[list[ThrottledWorker]]:
            yield [Odd(self.machine, planned) for planned in paths]

    machine = Machine(distinct_costs())
    search = a_search(machine)
    search.worker_pool = OddPool(machine)
    search.try_all()
    digested = {path_id for what, path_id in machine.blocks if what == "verify"}
    odd = [
        each for each in search.tried.values() if each.execution_ns and each.planned.path.get("fetch") == "block:100"
    ]
    assert odd and all(each.planned.path.id in digested for each in odd)


def test_the_budget_begins_with_the_first_try() -> None:
    machine = Machine(distinct_costs())
    search = a_search(machine)
    machine.now += 1000
    search.try_all()
    assert all(each.step for each in search.tried.values())


def test_a_setting_that_makes_a_driver_slower_is_not_tried_with_others() -> None:
    def cost(path: AccessPath) -> float:
        return 0.004 if path.get("statement") == "text" else 0.002

    machine = Machine(cost)
    search = a_search(machine)
    search.try_all()
    slower = [each for each in search.tried.values() if each.planned.path.get("statement") == "text"]
    alone = [each for each in slower if each.step]
    assert alone and any(each.left == "not tried: statement=text made the driver slower" for each in slower)


def test_what_delivers_columns_drives_out_no_path_of_rows() -> None:
    noise = random.Random(3)
    machine = Machine(lambda path: (0.001 if path.fetch_form == "columnar" else 0.02) * noise.uniform(0.9, 1.1))
    search = a_search(machine)
    search.try_all()
    search.halve()
    going = [search.tried[path_id].planned for path_id in search.alive() if search.language(path_id) == "python"]
    assert going[0].path.fetch_form == "columnar"
    assert any(planned.path.fetch_form == "row" for planned in going if planned.path.id not in search.needed())


def test_a_search_whose_longest_round_changed_nothing_ends() -> None:
    noise = random.Random(3)
    machine = Machine(lambda _path: 0.0001 * noise.uniform(0.5, 2.0))  # all alike, and never decided
    search = a_search(machine, budget_s=10_000.0)
    search.try_all()
    search.halve()
    assert search.contested()
    assert search.rounds <= 3


def form_of(path_id: str, search: Search) -> str:
    return search.tried[path_id].planned.path.fetch_form


def test_a_slow_language_is_no_fault_of_its_paths() -> None:
    cost = distinct_costs()
    machine = Machine(lambda path: (3 if path.language == "c" else 1) * cost(path))
    search = a_search(machine)
    search.try_all()
    ordered = search.by_promise(search.alive())
    costs = {path_id: machine.cost(search.tried[path_id].planned.path) for path_id in ordered}
    kinds = {path_id: (search.language(path_id), form_of(path_id, search) == "row") for path_id in ordered}
    best = {kinds[path_id]: costs[path_id] for path_id in sorted(ordered, key=lambda name: -costs[name])}
    behind = [costs[path_id] / best[kinds[path_id]] for path_id in ordered]
    assert behind == pytest.approx(sorted(behind))
    assert [search.language(path_id) for path_id in search.alive()].index("c") > 2  # by their costs they come later


def test_a_search_ends_as_soon_as_it_is_decided() -> None:
    machine = Machine(distinct_costs())
    search = a_search(machine, budget_s=10_000.0)
    search.try_all()
    assert search.contested()
    search.halve()
    assert not search.contested()
    assert search.rounds == 1
    assert machine.now < 100


def test_the_baselines_and_the_best_of_each_language_are_never_left_behind() -> None:
    machine = Machine(distinct_costs())
    search = a_search(machine)
    slowest = search.candidates[0].path.id  # by its cost
    search.baselines = {slowest: "yours"}
    search.try_all()
    search.halve()
    assert slowest in search.alive() and slowest in search.needed()
    short = a_search(machine, budget_s=0.5)  # hardly time for a round
    short.baselines = {slowest: "yours"}
    short.try_all()
    short.halve()
    assert short.rounds <= 1 and slowest in short.needed()
    assert {search.language(path_id) for path_id in search.needed()} == {"c", "python"}
    assert len(search.needed()) <= 3


def test_rows_that_change_by_themselves_are_no_fault_of_any_path() -> None:
    numbers = itertools.count()
    machine = Machine(distinct_costs(), lambda _path: f"7:{next(numbers):016x}")
    search = a_search(machine)
    search.try_all()
    assert search.row_consistency.changed
    assert len(search.alive()) == sum(1 for each in search.tried.values() if each.execution_ns)


def test_a_driver_that_refuses_three_settings_alike_is_not_asked_again() -> None:
    machine = Machine(lambda path: 0.0 if path.get("driver") == "libsqliteodbc" else 0.002)
    search = a_search(machine)
    search.try_all()
    mine = [each for each in search.tried.values() if each.planned.adapter.driver == "libsqliteodbc"]
    if mine:  # the driver is there
        assert sum(1 for each in mine if each.step) == 3
        assert all("no such setting" in each.left for each in mine)
    assert search.alive()
