"""In which order a probe tries settings: single changes first, then the combinations of those that promise most."""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Iterable, Iterator, Mapping

from rowpath.model.path import AccessPath
from rowpath.planning.plan import PlannedPath

Setting = tuple[str, str]


def differences(path: AccessPath, other: AccessPath) -> frozenset[Setting]:
    """The coordinates in which a path is another than this one."""
    return frozenset((key, value) for key, value in path.coordinates if other.get(key) != value)


def in_order(
    candidates: Iterable[PlannedPath],
    in_place: Container[str],
    times_ns: Callable[[], Mapping[str, float]],
    kind: Callable[[PlannedPath], str],
) -> Iterator[PlannedPath]:
    """The candidates as they stand, but those that change several coordinates of their driver's first one come last.

    `in_place`: path ids that keep their place all the same.

    These are ordered by what their changes did one by one: by the time to expect, relative to the least time of their
    kind so far. `times_ns`: of the tries so far, by path id; read when the single changes have been tried.
    """
    first: dict[str, AccessPath] = {}
    several: list[tuple[PlannedPath, AccessPath, frozenset[Setting]]] = []
    single: dict[tuple[str, Setting], str] = {}
    kinds: dict[str, str] = {}
    for planned in candidates:
        driver = f"{planned.adapter.language} {planned.adapter.driver}"
        likeliest = first.setdefault(driver, planned.path)
        changed = differences(planned.path, likeliest)
        if len(changed) > 1 and planned.path.id not in in_place:
            several.append((planned, likeliest, changed))
            continue
        kinds[planned.path.id] = kind(planned)
        if len(changed) == 1:
            single |= {(likeliest.id, each): planned.path.id for each in changed}
        yield planned
    known = times_ns()
    least: dict[str, float] = {}
    for path_id, name in kinds.items():
        least[name] = min(least.get(name, math.inf), known.get(path_id, math.inf))

    def promise(each: tuple[PlannedPath, AccessPath, frozenset[Setting]]) -> float:
        planned, likeliest, changed = each
        begin = known.get(likeliest.id, math.inf)
        factors = (known.get(single.get((likeliest.id, change), ""), begin) / begin for change in changed)
        return begin * math.prod(factors) / least.get(kind(planned), begin) if begin < math.inf else math.inf

    for planned, *_rest in sorted(several, key=promise):
        yield planned
