"""The order of a probe's tries: what promises most comes first, and no language takes time from others."""

from __future__ import annotations

from collections.abc import Callable

from rowpath.model.workload import Phase
from rowpath.own_database.candidates import Wanted, candidates
from rowpath.planning.plan import PlannedPath
from rowpath.probe.tries import in_order, kind_of

QUERY = Phase("query", "query", "SELECT 1")
FIRST_NS = 1e6
FASTER = {("result", "single-row"): 0.6, ("format", "binary"): 0.8}


def time_of(planned: PlannedPath) -> float:
    """As if each setting changed the time by a factor of its own; ODBC is three times slower."""
    time_ns = FIRST_NS * (3.0 if planned.adapter.driver == "psqlodbc" else 1.0)
    for setting, factor in FASTER.items():
        time_ns *= factor if setting in planned.path.coordinates else 1.0
    return time_ns


def tried(listed: tuple[PlannedPath, ...], time: Callable[[PlannedPath], float | None]) -> list[PlannedPath]:
    """All of them, in the order of the tries; each takes its own time, none when it fails."""
    times_ns: dict[str, float] = {}
    clock_s = [0.0]
    order: list[PlannedPath] = []
    for planned in in_order(listed, (), lambda: times_ns, lambda: clock_s[0]):
        order.append(planned)
        time_ns = time(planned)
        clock_s[0] += time_ns or 1.0
        if time_ns is not None:
            times_ns[planned.path.id] = time_ns
    return order


def test_the_best_combination_is_tried_before_the_settings_of_a_slow_driver() -> None:
    listed = candidates(Wanted("postgresql", "server", QUERY, languages=("c",), transport="tcp")).paths
    order = tried(listed, time_of)
    assert {each.path.id for each in order} == {each.path.id for each in listed}
    assert len(order) == len(listed)
    best = next(place for place, each in enumerate(order) if FASTER.keys() <= set(each.path.coordinates))
    slow = [
        place for place, each in enumerate(order) if each.adapter.driver == "psqlodbc" and kind_of(each) == "c rows"
    ]
    assert slow[0] <= 1 and best < slow[1], "each driver has its first try, then the quick one is explored"


def test_a_driver_that_always_fails_comes_last() -> None:
    listed = candidates(Wanted("postgresql", "server", QUERY, languages=("c",), transport="tcp")).paths
    order = tried(listed, lambda planned: time_of(planned) if planned.adapter.driver == "libpq" else None)
    drivers = [each.adapter.driver for each in order]
    assert drivers[:2].count("psqlodbc") == 1
    assert set(drivers[2 : 1 + drivers.count("libpq")]) == {"libpq"}


def test_a_slow_language_takes_no_time_from_others() -> None:
    listed = candidates(Wanted("postgresql", "server", QUERY, drivers=("libpq", "psycopg"), transport="tcp")).paths
    order = tried(listed, lambda planned: FIRST_NS * (10 if planned.adapter.language == "python" else 1))
    languages = [each.adapter.language for each in order[2:24]]
    assert 1 <= languages.count("python") <= 3
