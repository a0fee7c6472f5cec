"""In which order a probe tries settings: each driver once, then the language that had the least time so far."""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Iterable, Iterator, Mapping

from rowpath.model.grouping import grouped
from rowpath.model.path import AccessPath
from rowpath.planning.plan import PlannedPath

Setting = tuple[str, str]


def differences(path: AccessPath, other: AccessPath) -> frozenset[Setting]:
    """The coordinates in which a path is another than this one."""
    return frozenset((key, value) for key, value in path.coordinates if other.get(key) != value)


def in_order(
    candidates: Iterable[PlannedPath],
    early: Container[str],
    times_ns: Callable[[], Mapping[str, float]],
    clock: Callable[[], float],
    kind: Callable[[PlannedPath], str],
) -> Iterator[PlannedPath]:
    """The first candidate of every driver and the `early` ones (path ids); then languages in turn.

    It is the turn of the language whose tries took the least since then, by `clock`, until the next was asked for: a
    slow one takes no time from others. Within a language single changes of a driver's first candidate come in their
    order, then combinations: by the time to expect from what their changes did one by one, relative to the least of
    their kind.
    `times_ns`: of the tries so far, by path id; read when a language's single changes have been tried.
    """
    listed = list(candidates)
    first: dict[str, PlannedPath] = {}
    for planned in listed:
        first.setdefault(_driver(planned), planned)
    begun = {planned.path.id for planned in first.values()}
    for planned in listed:
        if planned.path.id in begun or planned.path.id in early:
            begun.add(planned.path.id)
            yield planned
    further = grouped(listed, lambda planned: planned.adapter.language)
    spent_s = dict.fromkeys(further, 0.0)
    queues = {language: _of_language(mine, first, begun, times_ns, kind) for language, mine in further.items()}
    while queues:
        language = min(queues, key=lambda each: spent_s[each])
        chosen = next(queues[language], None)
        if chosen is None:
            del queues[language]
            continue
        began_s = clock()
        yield chosen
        spent_s[language] += clock() - began_s


def _of_language(
    candidates: list[PlannedPath],
    first: Mapping[str, PlannedPath],
    begun: Container[str],
    times_ns: Callable[[], Mapping[str, float]],
    kind: Callable[[PlannedPath], str],
) -> Iterator[PlannedPath]:
    single: dict[tuple[str, Setting], str] = {}
    several: list[tuple[PlannedPath, frozenset[Setting]]] = []
    for planned in candidates:
        changed = differences(planned.path, first[_driver(planned)].path)
        if len(changed) == 1:
            single |= {(_driver(planned), each): planned.path.id for each in changed}
        if planned.path.id in begun:
            continue
        if len(changed) > 1:
            several.append((planned, changed))
        else:
            yield planned
    known = times_ns()
    least: dict[str, float] = {}
    for planned in candidates:
        least[kind(planned)] = min(least.get(kind(planned), math.inf), known.get(planned.path.id, math.inf))

    def promise(each: tuple[PlannedPath, frozenset[Setting]]) -> float:
        planned, changed = each
        begin = known.get(first[_driver(planned)].path.id, math.inf)
        if begin == math.inf:
            return math.inf
        factors = (known.get(single.get((_driver(planned), change), ""), begin) / begin for change in changed)
        return begin * math.prod(factors) / min(least[kind(planned)], begin)

    for planned, _changed in sorted(several, key=promise):
        yield planned


def _driver(planned: PlannedPath) -> str:
    return f"{planned.adapter.language} {planned.adapter.driver}"
