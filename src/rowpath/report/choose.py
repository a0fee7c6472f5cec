"""The page's chapter Choose: one matrix, what it can be chosen by, and the figures from which a script makes others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from rowpath import text as fmt
from rowpath.analysis import projection, projection_points
from rowpath.analysis.lookup import Lookup
from rowpath.analysis.model import Analysis, Ranking, Result
from rowpath.analysis.projection import NO_PATH, NOT_HERE, NOT_MEASURED, Entry
from rowpath.analysis.projection_points import PATH, PHASE, REGIME, WORK, ProjectionPoint, values_of
from rowpath.analysis.wording import words
from rowpath.model.base import Frozen
from rowpath.model.grouping import grouped
from rowpath.model.metrics import shown_in, title
from rowpath.report.path_panel import FEW_PATHS
from rowpath.report.projection import ABSENT, Reasons, half_width, headline, ratio

LEADING = ("time", "group_rate", "paced_rate")
HIDDEN = "left out by the choice above"
MOST_DROPPED = 200  # whose reasons a page has room for

Hrefs = Mapping[tuple[str, str, str], str]  # where a path's row opens, by path id, workload and phase
Figure = tuple[str, str, str]  # the figure, half of its interval, its ratio to the fastest


class ShownCell(Frozen, frozen=True):
    """A cell of finished text; an empty one has its mark as figure, and its reason."""

    figure: str
    half: str = ""
    ratio: str = ""
    several: str = ""  # how many paths it holds
    name: str = ""  # of the path
    href: str = ""
    reason: str = ""


class Choose(Frozen, frozen=True):
    """The chapter: a matrix as text, the options of the selects, and the data from which a script makes others."""

    caption: str
    head: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[ShownCell, ...]], ...]
    note: str
    reasons: tuple[str, ...]
    apart: tuple[str, ...]  # sentences about paths that no ranking has beside the others
    tables: tuple[str, ...]  # what was done under which conditions; the first one is shown
    axes: tuple[tuple[str, str], ...]  # what rows and columns can be: name, words
    chosen: tuple[str, str]  # rows, columns
    metrics: tuple[tuple[str, str], ...]
    data: dict[str, Any]


def choose(analysis: Analysis, lookup: Lookup, hrefs: Hrefs) -> Choose | None:
    """The chapter; None where no coordinate tells two paths apart that have a figure."""
    analysis = _leading_first(analysis)
    have = projection_points.metrics(analysis)
    metric = next((name for name in LEADING if name in have), "")
    kept = projection_points.without_floors(projection_points.points(analysis, metric), {}) if metric else []
    few = len(analysis.names) <= FEW_PATHS
    if not few:  # the page has room for one metric, and for the first regime of each phase
        regimes = {point.at(PHASE): point.at(REGIME) for point in reversed(kept)}
        kept = [point for point in kept if point.at(REGIME) == regimes[point.at(PHASE)]]
    differing = projection_points.varying([point for point in kept if point.usable])
    if not differing:
        return None
    choice = projection.Choice(metric=metric, filters={} if few else {REGIME: tuple(values_of(REGIME, kept, {}))})
    shown = projection.project(analysis, choice, projection.to_the_fastest(analysis))
    axes = (PATH, *(axis for axis in WORK if len(values_of(axis, kept, {})) > 1), *differing)
    data = _Data(analysis, lookup, hrefs, kept, metric)
    reasons = Reasons()
    first = shown.matrices[0]
    absent = [f"{ABSENT} {NO_PATH}"] if any(entry.reason == NO_PATH for entry in first.entries) else []
    return Choose(
        caption=headline(shown),
        head=title(shown.rows[0]),
        columns=tuple(fmt.clean(" ".join(values)) or title(metric) for values in first.columns),
        rows=tuple(
            (fmt.clean(row.values[0]), tuple(_shown(entry, shown, reasons, hrefs) for entry in row.entries))
            for row in first.rows
        ),
        note=note(first),
        reasons=(*reasons.lines(), *absent),
        apart=tuple(f"Ranked apart: {fmt.clean(build)}." for build in shown.own_builds),
        tables=tuple(
            fmt.clean(
                " · ".join(value if axis in WORK else f"{axis}={value}" for axis, value in source if value != "none")
            )
            for source in data.sources
        ),
        axes=tuple((axis, title(axis)) for axis in axes),
        chosen=(shown.rows[0], shown.columns[0] if shown.columns else ""),
        metrics=tuple((name, title(name)) for name in (metric, *data.others)),
        data=data.embedded(axes, differing),
    )


def _leading_first(analysis: Analysis) -> Analysis:
    """The analysis with the rankings that answer the question first."""
    leading = [(one.workload, one.phase, one.regime, one.comparison) for one in analysis.answer.phases]
    phases = [phase for *phase, _regime, _comparison in leading]

    def place(ranking: Ranking) -> tuple[int, bool]:
        phase = [ranking.workload, ranking.phase]
        known = phases.index(phase) if phase in phases else len(phases)
        return known, (*phase, ranking.regime, ranking.comparison) not in leading

    return msgspec.structs.replace(analysis, rankings=tuple(sorted(analysis.rankings, key=place)))


def note(matrix: projection.Matrix) -> str:
    """What the cells of a matrix do not show."""
    sentences = []
    if matrix.several:
        within = f"; within them vary {words([title(axis) for axis in matrix.hidden])}" if matrix.hidden else ""
        sentences.append(f"Cells with several paths (of n) show the fastest{within}.")
    if matrix.beside:
        beside = words([title(axis) for axis in matrix.beside])
        sentences.append(f"Side by side here, but ranked apart: {beside}.")
    return " ".join(sentences)


def _shown(entry: Entry, shown: projection.Projection, reasons: Reasons, hrefs: Hrefs) -> ShownCell:
    if entry.median is None:
        return ShownCell(reasons.mark(entry), reason=fmt.clean(entry.reason))
    return ShownCell(
        figure=fmt.figure(entry.median, shown.unit),
        half=half_width(entry.median, entry.low, entry.high),
        ratio=ratio(entry),
        several=f"of {entry.paths}" if entry.paths > 1 else "",
        name=fmt.clean(entry.name),
        href=hrefs.get(entry.key[:3], ""),
    )


class _Data:
    """What the script makes matrices from: every path's figures by what was done, as finished text."""

    def __init__(
        self, analysis: Analysis, lookup: Lookup, hrefs: Hrefs, kept: Sequence[ProjectionPoint], metric: str
    ) -> None:
        self.analysis, self.lookup, self.hrefs, self.kept = analysis, lookup, hrefs, kept
        self.sources = grouped(kept, ProjectionPoint.source)
        self.ratios = projection.to_the_fastest(analysis) if metric == "time" else None
        self.numbers = {path_id: number for number, path_id in enumerate(analysis.names)}
        self.reasons: dict[str, int] = {}
        usable = [point for point in kept if point.usable]
        room = metric == "time" and len(analysis.names) <= FEW_PATHS
        self.others = tuple(
            name for name in shown_in("choose") if room and any(self._other(name, point)[0] for point in usable)
        )

    def embedded(self, axes: Sequence[str], differing: Sequence[str]) -> dict[str, Any]:
        """The data: `sources` hold a row for each path, fastest first.

        It is `[path, reason]` without a figure, else `[path, where its row opens, figures …]`, parts of a figure with a
        bar between. `at`: what most of these places begin with; they are then only the number that follows.
        """
        kept = self.kept
        sources = [self._source(source, points) for source, points in self.sources.items()]
        with_row = {path_id for path_id, _workload, _phase in self.hrefs}
        without_row = (point for point in kept if point.key[0] not in with_row)
        return {
            "names": {self.numbers.get(point.key[0], -1): fmt.clean(point.name) for point in without_row},
            "order": {axis: [fmt.clean(value) for value in values_of(axis, kept, {})] for axis in axes if axis != PATH},
            "apart": [axis for axis in projection_points.APART if any(axis in point.apart for point in kept)],
            "work": WORK,
            "sources": sources,
            "reasons": [*map(fmt.clean, self.reasons)],
            "differing": differing,
            "dropped": _dropped(self.analysis, differing),
            "words": {"absent": NO_PATH, "elsewhere": NOT_HERE, "unmeasured": NOT_MEASURED, "hidden": HIDDEN},
        }

    def _source(self, source: Sequence[tuple[str, str]], points: Sequence[ProjectionPoint]) -> dict[str, Any]:
        first = next((href for point in points if (href := self.hrefs.get(point.key[:3]))), "")
        at = first.rpartition("-")[0]
        rows = [self._row(point, f"{at}-") for point in points]
        return {"is": {axis: fmt.clean(value) for axis, value in source}, "at": at, "rows": rows}

    def _row(self, point: ProjectionPoint, at: str) -> list[Any]:
        number = self.numbers.get(point.key[0], -1)
        if not point.usable:
            return [number, self.reasons.setdefault(point.reason, len(self.reasons))]
        against = ratio(Entry(against=self.ratios(point.key, None))) if self.ratios else ""
        figures = [_figure(point.figure, against), *(self._other(name, point) for name in self.others)]
        href = self.hrefs.get(point.key[:3], "").removeprefix(at)
        return [number, href, *("|".join(parts).rstrip("|") for parts in figures)]

    def _other(self, metric: str, point: ProjectionPoint) -> Figure:
        if metric == "lines_of_code":
            return str(self.lookup.lines_of_code.get(point.name, "")), "", ""
        return _figure(self.lookup.measured(*point.key[1:]).result(metric, point.name))


def _figure(result: Result | None, against: str = "") -> Figure:
    if result is None or result.median is None:
        return "", "", ""
    return fmt.figure(result.median, result.unit), half_width(result.median, result.low, result.high), against


def _dropped(analysis: Analysis, differing: Sequence[str]) -> list[list[str]]:
    """Paths that did not run, dropped once: its values of what differs, and the reason."""
    reasons = {}
    for dropped in analysis.dropped:
        own = dropped.path.as_dict()
        reasons[tuple(fmt.clean(own.get(axis, "")) for axis in differing)] = fmt.clean(projection.not_run(dropped))
    return [[*values, reason] for values, reason in [*reasons.items()][:MOST_DROPPED]]
