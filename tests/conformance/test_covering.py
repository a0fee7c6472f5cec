"""The covering array leaves out no case of an adapter, no value, and no value that meets a case in the full product."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from tests.conformance.covering import covering, shaping_values
from tests.conformance.selection import project_paths, selected_cases

from rowpath.checks.conformance.paths import Case, default_paths
from rowpath.planning.plan import PlannedPath

PATHS = project_paths()
COVERING, FULL = selected_cases(False), selected_cases(True)
Met = set[tuple[object, ...]]


def adapter(path: PlannedPath) -> tuple[str, str]:
    return path.adapter.language, path.adapter.driver


def place(path: PlannedPath) -> tuple[str, ...]:
    return (*adapter(path), path.path.get("engine"), path.path.get("deployment"))


def of_first_engines() -> list[PlannedPath]:
    return [path for path in PATHS if path.path.get("engine") == path.adapter.engines[0]]


def cases_met(chosen: dict[str, tuple[Case, ...]]) -> Met:
    return {(*place(path), case.name) for path in PATHS for case in chosen[path.path.id]}


def values_met(chosen: dict[str, tuple[Case, ...]]) -> Met:
    own = ((path, ("version", *path.adapter.coordinates)) for path in PATHS if chosen[path.path.id])
    return {(*place(path), key, path.path.get(key)) for path, keys in own for key in keys}


def values_with_cases(chosen: dict[str, tuple[Case, ...]], paths: Iterable[PlannedPath]) -> Met:
    return {
        (*place(path), value, case.name)
        for path in paths
        for value in shaping_values(path)
        for case in chosen[path.path.id]
    }


def test_every_case_of_an_adapter_is_met_on_each_engine() -> None:
    assert cases_met(FULL)
    assert cases_met(COVERING) == cases_met(FULL)


def test_every_value_of_an_adapter_is_met_on_each_engine() -> None:
    assert values_met(FULL)
    assert values_met(COVERING) == values_met(FULL)


def test_every_value_that_shapes_a_statement_meets_every_case_on_the_first_engine() -> None:
    full = values_with_cases(FULL, of_first_engines())
    # A path that differs only in what does not touch a statement repeats the default's values.
    assert full
    assert values_with_cases(COVERING, of_first_engines()) == full


def test_every_path_meets_a_case_that_it_can_run() -> None:
    """So each two values that shape a statement, which the paths are chosen for, meet in a case."""
    for path in PATHS:
        assert bool(COVERING[path.path.id]) == bool(FULL[path.path.id]), path.name
        assert {case.name for case in COVERING[path.path.id]} <= {case.name for case in FULL[path.path.id]}, path.name


def test_a_default_path_meets_all_its_cases() -> None:
    for path in default_paths(PATHS):
        assert COVERING[path.path.id] == FULL[path.path.id]


def test_the_array_is_much_smaller_than_the_product() -> None:
    size, product = (sum(map(len, chosen.values())) for chosen in (COVERING, FULL))
    assert size < product * 0.6


def test_no_case_is_chosen_twice_on_a_path() -> None:
    for id_, found in covering(PATHS).items():
        assert max(Counter(case.name for case in found).values(), default=1) == 1, id_


def test_a_seventh_of_the_adapters_meets_every_case_on_every_path() -> None:
    for path in PATHS:
        whole = [FULL[path.path.id] == selected_cases(False, number)[path.path.id] for number in range(7)]
        assert any(whole), path.name
    sevenths = [sum(map(len, selected_cases(False, number).values())) for number in range(7)]
    covering_array, full = (sum(map(len, chosen.values())) for chosen in (COVERING, FULL))
    assert sum(each - covering_array for each in sevenths) == full - covering_array
