"""What the cells of a projection can hold: each path in each phase, and the axes that tell them apart."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from rowpath.analysis.cells import CellKey
from rowpath.analysis.model import Analysis, RankedPath, Ranking, Result
from rowpath.model.choices import TOGETHER
from rowpath.model.grouping import grouped
from rowpath.model.metrics import METRICS, is_of_groups, of_category
from rowpath.model.path import COORDINATES, fetch_form

PATH, PHASE, REGIME, STAGE, GROUP = "path", "phase", "regime", "stage", "client_group"
WORK = (STAGE, GROUP, PHASE, REGIME)  # what was done: figures of different work share no cell
NO_REGIME = (REGIME, "none")
OWN_AXES = (PATH, *WORK)
APART = ("durability", *TOGETHER)  # paths that differ in one of these are ranked apart
FIRST_CHOICE = ("engine", "language", "driver", "deployment")  # of the axes that the user has not named
ALL_PATHS = "all paths"  # a comparison that nothing is ranked apart from
_NUMBERED = re.compile(r"((?:[a-z-]+:)?)(\d+(?:\.\d+)?)(?:ms)?")


@dataclass(frozen=True)
class ProjectionPoint:
    """A path in one phase and regime, or in one stage and client group: what a cell can hold."""

    name: str
    key: CellKey
    axes: Mapping[str, str]
    apart: Mapping[str, str]  # what it is ranked apart by
    cost: float  # less is better; inf: it has no figure that counts
    figure: Result | None
    reason: str = ""
    provisional: bool = False
    own_build: str = ""  # of the engine, which its driver carries

    def at(self, axis: str) -> str:
        """Its value of an axis, `none` where it has none."""
        return self.axes.get(axis, "none")

    def source(self) -> tuple[tuple[str, str], ...]:
        """What all points that may share a table have in common: what was done, and what they are ranked apart by."""
        return (*((axis, self.axes[axis]) for axis in WORK if axis in self.axes), *self.apart.items())

    @property
    def usable(self) -> bool:
        """Whether it may stand for a cell."""
        return math.isfinite(self.cost)


def points(analysis: Analysis, metric: str) -> list[ProjectionPoint]:
    """All that a cell can hold, steady before cold, fastest first."""
    if is_of_groups(metric):
        return _points_of_groups(analysis, metric)
    figures: dict[tuple[str, str, str], dict[str, Result]] = {}
    paths: dict[str, Mapping[str, str]] = {}
    for result in analysis.results:
        paths.setdefault(result.name, result.path)
        if result.metric == metric and not result.stage:
            figures.setdefault((result.name, result.workload, result.phase), {})[result.regime] = result
    steady_first = [
        ranking
        for rankings in grouped(analysis.rankings, lambda ranking: (ranking.workload, ranking.phase)).values()
        for ranking in sorted(rankings, key=lambda ranking: ranking.regime != "steady")
    ]
    every = _fastest_first(_point(row, ranking, paths, figures) for ranking in steady_first for row in ranking.rows)
    if any(point.figure and point.figure.regime != "none" for point in every):
        return every
    # Counts belong to no regime: once is enough.
    once = {point.key[:3]: point for point in reversed(every)}
    return [replace(point, axes={**point.axes, REGIME: "none"}) for point in every if once[point.key[:3]] is point]


def _point(
    row: RankedPath,
    ranking: Ranking,
    paths: Mapping[str, Mapping[str, str]],
    figures: Mapping[tuple[str, str, str], Mapping[str, Result]],
) -> ProjectionPoint:
    own = figures.get((row.name, ranking.workload, ranking.phase), {})
    whole = figures.get((row.name, "none", "none"), {})  # connecting, lines of code
    figure = own.get(ranking.regime) or own.get("none") or next(iter(whole.values()), None)
    reason = "" if row.rank else f"{row.status}: {row.reason}" if row.status != "ok" else f"not ranked: {row.reason}"
    parts = [part.partition("=") for part in ranking.comparison.split(", ")]
    return ProjectionPoint(
        name=row.name,
        key=(row.path_id, ranking.workload, ranking.phase, ranking.regime),
        axes={
            **paths.get(row.name, {}),
            PATH: row.name,
            PHASE: f"{ranking.workload}.{ranking.phase}",
            REGIME: ranking.regime,
        },
        apart={name: value for name, equals, value in parts if equals and name in APART},
        cost=row.cost_ns if row.rank and row.cost_ns is not None else math.inf,
        figure=figure if figure is not None and figure.median is not None else None,
        reason=reason,
        provisional=row.provisional,
        own_build=", ".join(name for name, equals, _ in parts if not equals and name != ALL_PATHS),
    )


def _points_of_groups(analysis: Analysis, metric: str) -> list[ProjectionPoint]:
    """The points of groups at work at once, best first; those without a figure have their reason."""
    ids = {name: path_id for path_id, name in analysis.names.items()}
    sign = -1 if METRICS[metric].more_is_better else 1
    listed = [result for result in analysis.results if result.metric == metric]
    forms = [result.path | {"fetch": fetch_form(result.path.get("fetch", "none"))} for result in listed]
    differing = [axis for axis in APART if len({form.get(axis, "none") for form in forms}) > 1]

    def point(result: Result, form: Mapping[str, str]) -> ProjectionPoint:
        own = {STAGE: result.stage, GROUP: result.client_group or "all", PATH: result.name}
        return ProjectionPoint(
            name=result.name,
            key=(ids.get(result.name, ""), result.workload, result.phase, result.regime),
            axes={**result.path, **own, PHASE: f"{result.workload}.{result.phase}", REGIME: result.regime},
            apart={axis: form.get(axis, "none") for axis in differing},
            cost=math.inf if result.median is None else sign * result.median,
            figure=result if result.median is not None else None,
            reason="" if result.median is not None else result.reason or result.status,
        )

    return _fastest_first(map(point, listed, forms))


def _fastest_first(points: Iterable[ProjectionPoint]) -> list[ProjectionPoint]:
    """Sort the points of each source by cost, the fastest first; sources keep their order."""
    together = grouped(points, ProjectionPoint.source)
    return [point for same in together.values() for point in sorted(same, key=lambda point: point.cost)]


def metrics(analysis: Analysis) -> tuple[str, ...]:
    """The metrics of which the run has a figure."""
    known = {result.metric for result in analysis.results if result.median is not None}
    if not analysis.rankings:
        known &= set(of_category("group"))  # others belong to rows of a ranking
    return tuple(name for name in METRICS if name in known)


def in_order(axes: Iterable[str]) -> list[str]:
    """Coordinates in canonical order, those of an adapter after them."""
    return sorted(axes, key=lambda axis: (COORDINATES.index(axis) if axis in COORDINATES else len(COORDINATES), axis))


def without_floors(kept: list[ProjectionPoint], filters: Mapping[str, tuple[str, ...]]) -> list[ProjectionPoint]:
    """Paths that reach no engine or parse nothing are left out, unless a filter names them or there are no others."""

    def floor(point: ProjectionPoint) -> bool:
        null = point.at("engine") == "null" and not filters.keys() & {"engine", PATH, "driver"}
        return null or (point.at("fetch") == "drain" and not filters.keys() & {"fetch", PATH, "driver"})

    return [point for point in kept if not floor(point)] or kept


def varying(kept: Sequence[ProjectionPoint]) -> list[str]:
    """The coordinates in which these differ, those that most people ask for first, what is ranked apart last."""
    axes = {axis for point in kept for axis in point.axes} - {*OWN_AXES, "label"}
    differing = in_order(axis for axis in axes if len({point.at(axis) for point in kept}) > 1)
    first = [axis for axis in FIRST_CHOICE if axis in differing]
    last = [axis for axis in differing if axis in APART]
    return [*first, *(axis for axis in differing if axis not in (*first, *last)), *last]


def values_of(axis: str, kept: Sequence[ProjectionPoint], filters: Mapping[str, tuple[str, ...]]) -> list[str]:
    """The values of an axis: as the filter names them, by number where all are numbers, else as they first come."""
    seen = list(dict.fromkeys(point.at(axis) for point in kept))
    if axis in filters:
        return [value for value in filters[axis] if value in seen]
    matched = {value: _NUMBERED.fullmatch(value) for value in seen}
    numbers = {value: float(match[2]) for value, match in matched.items() if match}
    if len({match[1] for match in matched.values() if match}) == 1 and len(numbers) >= len(seen) - ("none" in seen):
        return sorted(seen, key=lambda value: numbers.get(value, -1.0))
    return seen
