"""Which cases each path meets by default: a covering array of an adapter's coordinate values and the cases.

The default path of each engine and deployment meets every case that it can run. On an adapter's first engine every case
meets every other value that shapes a statement or its result, and every version of the driver. Where values do not
touch the cases (TLS, clients, …), and on further engines, each value and each case is met, but not each pair of them.
"""

from __future__ import annotations

from collections.abc import Iterable

from rowpath.checks.conformance.checks import is_eligible
from rowpath.checks.conformance.paths import VARIED_ONE_AT_A_TIME, Case, cases, default_paths, place_of
from rowpath.planning.plan import PlannedPath

Value = tuple[str, str]


def covering(paths: Iterable[PlannedPath]) -> dict[str, tuple[Case, ...]]:
    """The cases of each path, by its id; `paths`: with the default of each adapter, engine and deployment first."""
    paths = tuple(paths)
    chosen: dict[str, list[Case]] = {}
    for default in default_paths(paths):
        chosen[default.path.id] = [case for case in cases() if is_eligible(case, default)]
        others = [path for path in paths if path is not default and place_of(path) == place_of(default)]
        chosen |= _of_others(default, others)
    return {id_: tuple(found) for id_, found in chosen.items()}


def shaping_values(planned: PlannedPath) -> frozenset[Value]:
    """The path's values that shape a statement or its result, and its driver's version."""
    keys = [key for key in planned.adapter.coordinates if key not in VARIED_ONE_AT_A_TIME]
    return frozenset((key, planned.path.get(key)) for key in ("version", *keys))


def differing(planned: PlannedPath, default: PlannedPath) -> tuple[str, ...]:
    """The coordinates in which the path is not its default; the engine's version only where it is the one."""
    keys = [key for key, value in planned.path.coordinates if value != default.path.get(key)]
    return tuple(key for key in keys if key != "engine_version") or tuple(keys)


def _of_others(default: PlannedPath, others: list[PlannedPath]) -> dict[str, list[Case]]:
    chosen: dict[str, list[Case]] = {path.path.id: [] for path in others}
    alike: dict[tuple[str, ...], list[PlannedPath]] = {}
    for path in others:
        keys = differing(path, default)
        beside = set(keys) <= set(VARIED_ONE_AT_A_TIME) - {"version"}
        alike.setdefault(keys if beside else (), []).append(path)
    first_engine = default.path.get("engine") == default.adapter.engines[0]
    for keys, group in alike.items():
        for case in cases():
            serving = [path for path in group if is_eligible(case, path)]
            if keys and not set(keys) & set(case.beside):
                picked = []
            elif "bulk" in keys:  # each way of its own takes every kind of value
                picked = serving
            elif keys or not first_engine:
                picked = sorted(serving, key=lambda path: len(chosen[path.path.id]))[:1]
            else:
                known = shaping_values(default) if is_eligible(case, default) else frozenset()
                picked = _with_every_value(serving, known, chosen)
            for path in picked:
                chosen[path.path.id].append(case)
    for path in others:
        chosen[path.path.id] = chosen[path.path.id] or [case for case in cases() if is_eligible(case, path)][:1]
    return chosen


def _with_every_value(
    serving: list[PlannedPath], known: frozenset[Value], chosen: dict[str, list[Case]]
) -> list[PlannedPath]:
    """Few paths that have every value of them all; of those that bring as much, the one with the fewest cases."""
    missing = {value for path in serving for value in shaping_values(path)} - known
    found = []
    while missing:
        best = max(serving, key=lambda path: (len(missing & shaping_values(path)), -len(chosen[path.path.id])))
        found.append(best)
        missing -= shaping_values(best)
    return found
