"""Projections: the figures of a run as matrices over chosen axes, with the reason of every empty cell.

A cell that holds several paths shows its fastest one; in what these paths differ is stated, never averaged away.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from rowpath.analysis.cells import CellKey
from rowpath.analysis.evidence import Evidence
from rowpath.analysis.model import Analysis, RankedPath
from rowpath.analysis.projection_points import (
    APART,
    NO_REGIME,
    OWN_AXES,
    PATH,
    WORK,
    ProjectionPoint,
    in_order,
    metrics,
    points,
    values_of,
    varying,
    without_floors,
)
from rowpath.errors import UsageError
from rowpath.model.base import Frozen
from rowpath.model.grouping import grouped
from rowpath.model.metrics import METRICS
from rowpath.model.path import Dropped, fetch_form
from rowpath.toml_file import suggest

MOST_COLUMNS = 14  # of an axis that the user has not named

NO_PATH = "no such path in this run"
FILTERED = "left out by the filter"
NOT_MEASURED = "not measured"
NOT_HERE = "only in other tables"


Compare = Callable[[CellKey, "CellKey | None"], "CellRatio | None"]  # of a cell and the first one of its row


def measured_ratios(evidence: Evidence) -> Compare:
    """Ratios over the sets that two cells share, else through anchors; none between different phases."""

    def compare(own: CellKey, base: CellKey | None) -> CellRatio | None:
        if base is None or own == base or own[1:3] != base[1:3]:
            return None
        cell, other = evidence.cells.get(*own), evidence.cells.get(*base)
        compared = evidence.cells.compare(cell, other) if cell is not None and other is not None else None
        if compared is None:
            return None
        return CellRatio(*compared.interval.ratios, compared.through_anchor)

    return compare


def to_the_fastest(analysis: Analysis) -> Compare:
    """Ratios to the fastest path of each cell's own ranking."""
    rows: dict[CellKey, RankedPath] = {}
    for ranking in analysis.rankings:
        ranked = [row for row in ranking.rows if row.rank]
        for row in ranked if len(ranked) > 1 else ():  # one that is ranked with no other has no ratio
            rows.setdefault((row.path_id, ranking.workload, ranking.phase, ranking.regime), row)

    def compare(own: CellKey, _base: CellKey | None) -> CellRatio | None:
        row = rows.get(own)
        if row is None or row.ratio is None:
            return None
        ends = (None, None) if row.is_fastest else (row.ratio_low, row.ratio_high)
        return CellRatio(row.ratio, *ends, row.through_anchor)

    return compare


def project(analysis: Analysis, choice: Choice, compare: Compare) -> Projection:
    """The matrices of a choice; UsageError for an axis, a value or a metric that the run does not have."""
    metric = _metric(analysis, choice.metric)
    every = points(analysis, metric)
    axes = _check_axes(choice, every)
    kept = [point for point in every if _passes(point, choice.filters)]
    if not kept:
        words = " ".join(f"{axis}={','.join(wanted)}" for axis, wanted in choice.filters.items())
        raise UsageError(f"nothing to show: no path has {words}", "leave out one --filter")
    kept = without_floors(kept, choice.filters)
    for axis in (ignored for ignored in choice.ignored if ignored in WORK):
        values = values_of(axis, kept, {})
        if len(values) > 1:
            raise UsageError(
                f"--ignore {axis} would put different work into one cell: {', '.join(values)}",
                f"--filter {axis}={values[0]}",
            )
    rows, columns = choose_axes(kept, choice)
    named = (*rows, *columns, *choice.tables, *choice.ignored)
    tables = (*(axis for axis in WORK if axis in axes and axis not in named), *choice.tables)
    free = tuple(axis for axis in APART if axis not in named)
    every = without_floors(every, choice.filters)
    maker = _Matrices(analysis.dropped, every, kept, metric, rows, columns, tables, free, choice, compare)
    matrices = tuple(made for key, held in maker.by_table().items() if (made := maker.matrix(key, held)))
    return Projection(
        metric=metric,
        unit=METRICS[metric].unit,
        rows=rows,
        columns=columns,
        matrices=matrices,
        own_builds=tuple(dict.fromkeys(point.own_build for point in kept if point.own_build and point.usable)),
        provisional=any(entry.provisional for matrix in matrices for entry in matrix.entries),
    )


def _metric(analysis: Analysis, wanted: str) -> str:
    known = metrics(analysis)
    if not known:
        raise UsageError("this run has no figures to show", "rowpath show DIR --tables")
    if not wanted:
        return next((name for name in ("time", "group_rate", "paced_rate") if name in known), known[0])
    if wanted not in known:
        what = "unknown metric" if wanted not in METRICS else "this run has no figure of the metric"
        raise UsageError(f"{what} '{wanted}'", f"one of: {', '.join(known)}")
    return wanted


def _check_axes(choice: Choice, every: Sequence[ProjectionPoint]) -> tuple[str, ...]:
    """All axes of the run in their order; UsageError for one that it does not have, or that is named twice."""
    have = {axis for point in every for axis in point.axes}
    known = (*(axis for axis in OWN_AXES if axis in have), *in_order(have - set(OWN_AXES)))
    places = {"--row": choice.rows, "--col": choice.columns, "--table": choice.tables, "--ignore": choice.ignored}
    seen: dict[str, str] = {}
    for option, axes in (*places.items(), ("--filter", tuple(choice.filters))):
        for axis in axes:
            if axis not in have:
                raise UsageError(f"unknown coordinate '{axis}' in {option}", f"one of: {', '.join(known)}")
            if option == "--filter":
                continue
            if axis in seen:
                raise UsageError(f"{axis} is named twice: in {seen[axis]} and {option}", f"name {axis} only once")
            seen[axis] = option
    for axis, wanted in choice.filters.items():
        values = values_of(axis, every, {})
        for value in wanted:
            if value not in values:
                raise UsageError(f"no path has {axis}={value}", suggest(value, values))
    return known


def _passes(point: ProjectionPoint, filters: Mapping[str, tuple[str, ...]]) -> bool:
    return all(point.at(axis) in values for axis, values in filters.items())


def choose_axes(kept: Sequence[ProjectionPoint], choice: Choice) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Rows and columns: the named ones, else the first coordinates that vary and are not named elsewhere."""
    usable = [point for point in kept if point.usable] or list(kept)
    free = [axis for axis in varying(usable) if axis not in (*choice.columns, *choice.tables, *choice.ignored)]
    rows = choice.rows or tuple(free[:1]) or (PATH,)
    if choice.columns and not choice.rows:  # what follows from the columns would only make a diagonal
        rows = _splitting(free, choice.columns, usable) or (
            ("language",) if "engine" in choice.columns else ("engine",)
        )
    return rows, choice.columns or _splitting([axis for axis in free if axis not in rows], rows, usable)


def _splitting(free: Sequence[str], axes: Sequence[str], kept: Sequence[ProjectionPoint]) -> tuple[str, ...]:
    """The first of these in which paths differ that share the values of `axes`, if there are not too many values."""
    shared = grouped(kept, lambda point: tuple(map(point.at, axes))).values()
    for axis in free:
        several = any(len({point.at(axis) for point in same}) > 1 for same in shared)
        if several and len({point.at(axis) for point in kept}) <= MOST_COLUMNS:
            return (axis,)
    return ()


TableKey = tuple[tuple[str, ...], tuple[tuple[str, str], ...]]  # values of the table axes; what is ranked apart


@dataclass
class _Matrices:
    """Makes the matrices of one projection."""

    dropped: Sequence[Dropped]
    every: Sequence[ProjectionPoint]
    kept: Sequence[ProjectionPoint]
    metric: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    tables: tuple[str, ...]
    free: tuple[str, ...]  # axes that split tables although the user has not named them
    choice: Choice
    compare: Compare

    def __post_init__(self) -> None:
        axes = (*self.rows, *self.columns)
        self._order = {axis: values_of(axis, self.kept, self.choice.filters) for axis in axes}
        self._coordinates = tuple(axis for axis in axes if axis not in WORK)
        self._known: dict[tuple[str, ...], bool] = {}  # coordinates that paths have → whether the filter keeps one
        for point in self.every:
            at = tuple(map(point.at, self._coordinates))
            self._known[at] = self._known.get(at, False) or _passes(point, self.choice.filters)

    def by_table(self) -> dict[TableKey, list[ProjectionPoint]]:
        """The points of each table."""

        def table(point: ProjectionPoint) -> TableKey:
            apart = tuple((axis, point.apart[axis]) for axis in self.free if axis in point.apart)
            return tuple(map(point.at, self.tables)), apart

        return grouped(self.kept, table)

    def matrix(self, key: TableKey, points: list[ProjectionPoint]) -> Matrix | None:
        """One table; None where nothing in it has this metric."""
        if not any(point.figure or not point.usable for point in points):
            return None
        rows, columns = (self._sorted(axes, points) for axes in (self.rows, self.columns))
        by_cell = grouped(points, lambda point: (tuple(map(point.at, self.rows)), tuple(map(point.at, self.columns))))
        entries: dict[tuple[str, ...], list[Entry]] = {}
        for row in rows:
            base: Entry | None = None
            for column in columns:
                entry = self._entry(key, row, column, by_cell.get((row, column), []), base)
                base = base or entry
                entries.setdefault(row, []).append(entry)
        named = [(axis, value) for axis, value in zip(self.tables, key[0], strict=True) if (axis, value) != NO_REGIME]
        titles = [value if axis in WORK else f"{axis}={value}" for axis, value in named]
        titles += [f"{axis}={value}" for axis, value in key[1]]
        made = tuple(MatrixRow(row, tuple(entries[row])) for row in rows)
        apart = (axis for axis in APART if axis not in (*self.free, *self.tables))
        beside = tuple(axis for axis in apart if len({point.apart.get(axis) for point in points}) > 1)
        # The coordinates in which paths of one cell differ, but for those that may.
        may = {*OWN_AXES, *self.rows, *self.columns, *self.tables, *self.choice.ignored}
        hidden: set[str] = set()
        for held in by_cell.values():
            usable = [point for point in held if point.usable]
            axes = {axis for point in usable for axis in point.axes} - may - hidden
            hidden |= {axis for axis in axes if len({point.at(axis) for point in usable}) > 1}
        return Matrix(tuple(titles), tuple(columns), made, tuple(in_order(hidden)), beside)

    def _sorted(self, axes: tuple[str, ...], points: Sequence[ProjectionPoint]) -> list[tuple[str, ...]]:
        seen = dict.fromkeys(tuple(map(point.at, axes)) for point in points)
        return sorted(
            seen, key=lambda values: [self._order[axis].index(v) for axis, v in zip(axes, values, strict=True)]
        )

    def _entry(
        self,
        key: TableKey,
        row: tuple[str, ...],
        column: tuple[str, ...],
        held: list[ProjectionPoint],
        base: Entry | None,
    ) -> Entry:
        usable = [point for point in held if point.usable]
        if not usable:
            return Entry(reason=self._reason(key, (*row, *column), held))
        best = min(usable, key=lambda point: point.cost)
        if best.figure is None:
            return Entry(best.name, best.key, paths=len(usable), reason=NOT_MEASURED)
        return Entry(
            name=best.name,
            key=best.key,
            median=best.figure.median,
            low=best.figure.low,
            high=best.figure.high,
            paths=len(usable),
            against=self._against(best, base),
            provisional=best.provisional,
        )

    def _against(self, best: ProjectionPoint, base: Entry | None) -> CellRatio | None:
        """The ratio to `base`: times over the shared sets, counts by division; nothing else has an honest interval."""
        if self.metric == "time":
            return self.compare(best.key, base.key if base is not None and base.median is not None else None)
        figure = best.figure.median if best.figure else None
        exact = METRICS[self.metric].category in ("counted", "code")
        if exact and base is not None and base.median and figure is not None:
            return CellRatio(figure / base.median)
        return None

    def _reason(self, key: TableKey, values: tuple[str, ...], held: Sequence[ProjectionPoint]) -> str:
        """Why a cell is empty: what befell its paths, else why there are none."""
        if held:
            reasons = list(dict.fromkeys(point.reason for point in held))
            return "; ".join(reasons[:2]) + (f"; {len(reasons) - 2} more" if len(reasons) > 2 else "")
        named = zip((*self.rows, *self.columns), values, strict=True)
        wanted = {axis: value for axis, value in named if axis in self._coordinates}
        at = tuple(wanted.values())
        if at in self._known:
            return NOT_HERE if self._known[at] else FILTERED
        tables = {axis: value for axis, value in zip(self.tables, key[0], strict=True) if axis not in WORK}
        would_be = (path for path in self.dropped if _would_be(path, wanted | tables, dict(key[1])))
        return next(map(not_run, would_be), NO_PATH)


def not_run(dropped: Dropped) -> str:
    """Why a path did not run, and the command that would enable it."""
    return f"not run: {dropped.reason}" + (f" → {dropped.remedy}" if dropped.remedy else "")


def _would_be(dropped: Dropped, wanted: Mapping[str, str], apart: Mapping[str, str]) -> bool:
    """Whether a path that did not run has these values, and nothing that would have ranked it apart."""
    own = dropped.path.as_dict()
    if any(own.get(axis) != value for axis, value in wanted.items()):
        return False
    forms = own | ({"fetch": fetch_form(own["fetch"])} if "fetch" in own else {})
    return all(forms.get(axis, "none") in ("none", value) for axis, value in apart.items())


class Choice(Frozen, frozen=True):
    """What a projection shows: axes by name (a coordinate, `path`, `phase`, `regime`, `stage`, `client_group`).

    Rows and columns without a name are chosen among the axes that vary; the first column is what ratios are to.
    """

    rows: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    tables: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()  # may vary within a cell without a note
    filters: dict[str, tuple[str, ...]] = {}  # axis → values; their order is that of rows and columns
    metric: str = ""  # empty: time, or what groups at work at once reached


class CellRatio(Frozen, frozen=True):
    """A figure relative to another one, with its interval where it has one."""

    ratio: float
    low: float | None = None
    high: float | None = None
    through_anchor: bool = False


class Entry(Frozen, frozen=True):
    """A cell: the figure of its fastest path, or why there is none."""

    name: str = ""  # of the path
    key: CellKey = ("", "", "", "")
    median: float | None = None
    low: float | None = None  # 95 % interval
    high: float | None = None
    paths: int = 0  # that have a figure here
    against: CellRatio | None = None
    provisional: bool = False
    reason: str = ""


class MatrixRow(Frozen, frozen=True):
    """One row: the values of the row axes, and a cell for each column."""

    values: tuple[str, ...]
    entries: tuple[Entry, ...]


class Matrix(Frozen, frozen=True):
    """One table of a projection; `title` names what all of it has in common: `keyed.read`, `placement=same`."""

    title: tuple[str, ...]
    columns: tuple[tuple[str, ...], ...]  # the values of the column axes
    rows: tuple[MatrixRow, ...]
    hidden: tuple[str, ...] = ()  # coordinates that vary within a cell
    beside: tuple[str, ...] = ()  # coordinates whose values are ranked apart and stand side by side here

    @property
    def entries(self) -> Iterator[Entry]:
        """Every cell."""
        return (entry for row in self.rows for entry in row.entries)

    @property
    def several(self) -> bool:
        """Whether a cell holds more than one path."""
        return any(entry.paths > 1 for entry in self.entries)


class Projection(Frozen, frozen=True):
    """The matrices of a run."""

    metric: str
    unit: str
    rows: tuple[str, ...]  # axes
    columns: tuple[str, ...]
    matrices: tuple[Matrix, ...]
    own_builds: tuple[str, ...] = ()  # of engines, by which paths are ranked apart, in words
    provisional: bool = False

    @property
    def hidden(self) -> tuple[str, ...]:
        """Coordinates that vary within a cell of any matrix."""
        return tuple(in_order({axis for matrix in self.matrices for axis in matrix.hidden}))

    @property
    def beside(self) -> tuple[str, ...]:
        """Coordinates whose values are ranked apart and stand side by side in a matrix."""
        return tuple(axis for axis in APART if any(axis in matrix.beside for matrix in self.matrices))
