"""What the pages of a site hold: pictures, tables, charts and links, made from the runs that were accepted."""

from __future__ import annotations

import hashlib
import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import msgspec
from markupsafe import Markup, escape

from rowpath import text as fmt
from rowpath.analysis.answer_model import Bar, PhaseAnswer
from rowpath.analysis.chapters.factors import TakenApart
from rowpath.analysis.model import ClaimCheck
from rowpath.drawing.picture import Picture, PlainBar, legend, plain
from rowpath.drawing.scale import LogAxis
from rowpath.model.base import Frozen
from rowpath.model.grouping import grouped
from rowpath.planning.claim_file import PublishedClaim, load_claim, names
from rowpath.report.ranking import rows
from rowpath.site.histories import LEAST_POINTS, History, histories
from rowpath.site.read import Examined, Machine, SitePath, SiteRun, slug
from rowpath.site.standings import Standing, standings

MOST = 50  # rows of a picture, and of its table
DRAWN = 24  # histories of a driver
PLACES = 6  # of one change
LEAST_RUNS = 2  # that a chart needs
HEIGHT = 150  # of the plot, in pixels
BELOW = 34  # for versions and dates
SCALE = 52  # width of the ratios beside the plot
EDGE = 4.0  # per cent of the width, left and right of the points
VERSIONS = 5  # named below the axis; the others stand in the table
FEW = 40  # points, which may be large
NAME = 14  # characters of a version
LEAST_SPAN = 1.1  # of the axis: noise must not look like an event


class PageLink(Frozen, frozen=True):
    """A page of the site; `href` from its top."""

    text: str
    href: str


class StandingRow(Frozen, frozen=True):
    """A path in a picture and in its table."""

    bar: PlainBar
    driver: PageLink
    engine: str
    run: PageLink


class StandingPicture(Frozen, frozen=True):
    """A ranking as bars, with the run that it is from."""

    drawn: Picture
    rows: tuple[StandingRow, ...]
    run: PageLink
    source: str


class HistoryChart(Frozen, frozen=True):
    """A history, drawn."""

    key: str
    history: History
    sentences: tuple[str, ...]
    machine: str
    drawing: Markup


class ClaimRow(Frozen, frozen=True):
    """A published claim, with its verdict in the newest run that can decide it; without a run it has none."""

    claim: PublishedClaim
    verdict: str
    checks: tuple[ClaimCheck, ...]
    factors: tuple[TakenApart, ...]
    run: PageLink | None


class Changed(Frozen, frozen=True):
    """What changed, and in which histories by how much, the greatest first."""

    what: str
    date: str  # of the first run after it
    places: tuple[tuple[str, PageLink], ...]
    left_out: int


@dataclass
class Site:
    """Everything that the pages show, from the runs that were accepted and those that were not."""

    runs: list[SiteRun]
    refused: list[Examined] = field(default_factory=list)
    with_pages: bool = True

    @cached_property
    def machines(self) -> dict[Machine, str]:
        """Each machine's short name, in the order in which they first ran."""
        in_order = dict.fromkeys(run.machine for run in sorted(self.runs, key=lambda run: (run.started, run.id)))
        return {machine: f"M{number}" for number, machine in enumerate(in_order, 1)}

    @cached_property
    def standings(self) -> list[Standing]:
        """The ranking of every phase."""
        return standings(self.runs)

    @cached_property
    def histories(self) -> list[History]:
        """Every history, with what changed."""
        return histories(self.runs, self.machines)

    @cached_property
    def by_id(self) -> dict[str, SiteRun]:
        """The runs by their ids."""
        return {run.id: run for run in self.runs}

    @cached_property
    def paths(self) -> list[tuple[SiteRun, SitePath]]:
        """Every path of every run that reaches an engine."""
        return [(run, path) for run in self.runs for path in run.paths.values() if not path.is_null]

    @cached_property
    def engines(self) -> list[str]:
        """Every engine's name."""
        return sorted({path.engine for _run, path in self.paths})

    @cached_property
    def drivers(self) -> list[tuple[str, str]]:
        """Every driver, as language and name."""
        return sorted({path.driver_key for _run, path in self.paths})

    @cached_property
    def languages(self) -> dict[str, str]:
        """Every language by its name, as people write it."""
        return {path.language: path.language_as_written for _run, path in self.paths}

    @cached_property
    def experiments(self) -> list[str]:
        """Every experiment's name."""
        return sorted({run.experiment for run in self.runs})

    @cached_property
    def claims(self) -> list[ClaimRow]:
        """Every published claim."""
        return [self._claim(load_claim(name)) for name in names()]

    def _claim(self, claim: PublishedClaim) -> ClaimRow:
        """By the newest run that decides it; a later one of fewer sets or paths does not."""
        found = ClaimRow(claim, "not measured", (), (), None)
        for run in sorted(self.runs, key=lambda run: run.started):
            if run.experiment != claim.experiment:
                continue
            checks = {check.id: check for check in run.claims}
            verdict = claim.verdict({id_: check.outcome for id_, check in checks.items()})
            if verdict != "uncertain" or found.verdict in ("uncertain", "not measured"):
                rests_on = tuple(checks[id_] for id_ in claim.ids if id_ in checks)
                found = ClaimRow(claim, verdict, rests_on, run.factors, self.run_link(run))
        return found

    @property
    def left_out(self) -> list[tuple[str, str]]:
        """Name and reasons of every run that was refused; its directory stays private."""
        named = [(Path(run.directory).name, run) for run in self.refused]
        return [(name, "; ".join(run.problems).replace(run.directory, name)) for name, run in named]

    def page_of(self, kind: str, name: str) -> str:
        """The address of an engine, a driver (`language/name`) or an experiment."""
        return self._addresses[kind, name]

    @cached_property
    def _addresses(self) -> dict[tuple[str, str], str]:
        """By kind and name; of those whose letters collide all but the first get a part of a digest."""
        names = {"engines": self.engines, "drivers": map("/".join, self.drivers), "experiments": self.experiments}
        addresses: dict[tuple[str, str], str] = {}
        for kind, named in names.items():
            taken: set[str] = set()
            for name in named:
                digest = hashlib.sha256(name.encode()).hexdigest()[:6]
                address = slug(name) if slug(name) not in taken else f"{slug(name)}-{digest}"
                taken.add(address)
                addresses[kind, name] = f"{kind}/{address}.html"
        return addresses

    def run_link(self, run: SiteRun) -> PageLink:
        """The run's report, or its row in the list of runs."""
        return PageLink(run.date, f"runs/{run.id}/index.html" if self.with_pages else f"runs.html#{run.id}")

    def driver_link(self, driver: tuple[str, str]) -> PageLink:
        """A driver's page."""
        return PageLink(f"{driver[1]} ({self.languages[driver[0]]})", self.page_of("drivers", "/".join(driver)))

    def pictures(self, standing: Standing, bars: Sequence[Bar]) -> Iterator[StandingPicture]:
        """These bars of a ranking on one axis; none without bars."""
        drawn = plain("", title(standing.phase), _rows(bars), fmt.duration, "", legend(bars), uncut=True, most=MOST)
        if drawn:
            machine = self.machines[standing.run.machine]
            drawn_bars = zip((*drawn.rows, *drawn.more), bars, strict=False)
            rows = tuple(self._row(standing, row, bar) for row, bar in drawn_bars)
            yield StandingPicture(drawn, rows, self.run_link(standing.run), f"{machine}, {standing.run.trust.line}")

    def _row(self, standing: Standing, row: PlainBar, bar: Bar) -> StandingRow:
        path = standing.run.paths[bar.path_id]
        driver = PageLink(path.driver, "") if path.is_null else self.driver_link(path.driver_key)
        return StandingRow(row, driver, path.engine, self.run_link(standing.run))

    def works(self, standing_of: Iterable[tuple[Standing, list[Bar]]]) -> list[tuple[PageLink, str, StandingRow]]:
        """The experiment, the phase, and the row among all bars of the phase, for each of these bars."""
        works = []
        for standing, bars in standing_of:
            experiment = PageLink(standing.experiment, self.page_of("experiments", standing.experiment))
            ranked = zip(_rows(standing.phase.bars), standing.phase.bars, strict=True)
            of_paths = {bar.path_id: self._row(standing, row, bar) for row, bar in ranked}
            works += [(experiment, title(standing.phase), of_paths[bar.path_id]) for bar in bars]
        return works

    def changed(self, of_histories: Iterable[History]) -> list[Changed]:
        """Every change of these histories, the newest first; what changed in several places is said once."""
        every = [(history, change) for history in of_histories for change in history.changes]
        changed = []
        for (_driver, what), same in grouped(every, lambda item: (item[0].driver, item[1].what)).items():
            same.sort(key=lambda item: -abs(math.log(item[1].ratio)))
            places = []
            for history, change in same[:PLACES]:
                drawn = any(one is history for one in self.drawn[history.driver])
                href = f"{self.driver_link(history.driver).href}#{chart_key(history) if drawn else 'histories'}"
                places.append((change.how_much, PageLink(history.title, href)))
            date = max(history.points[change.at].date for history, change in same)
            changed.append(Changed(what, date, tuple(places), len(same[PLACES:])))
        return sorted(changed, key=lambda change: (change.date, change.what), reverse=True)

    @cached_property
    def drawn(self) -> dict[tuple[str, str], list[History]]:
        """The histories that are drawn, by driver: those with a change, and the fastest path's of each phase."""
        long = [history for history in self.histories if len(history.points) >= LEAST_RUNS]
        of_phases = grouped(long, lambda one: (one.driver, one.experiment, one.where, one.machine))
        leading = {id(min(same, key=lambda one: one.level())) for same in of_phases.values()}
        chosen = [history for history in long if history.changes or id(history) in leading]
        chosen.sort(key=lambda one: (-len(one.changes), -len(one.points)))
        by_driver = grouped(chosen, lambda history: history.driver)
        return {driver: by_driver.get(driver, [])[:DRAWN] for driver in self.drivers}

    def charts(self, driver: tuple[str, str]) -> tuple[list[HistoryChart], int]:
        """The charts of a driver, and how many of its histories are not drawn."""
        machines = {name: machine.words for machine, name in self.machines.items()}
        charts = [
            HistoryChart(chart_key(one), one, tuple(_sentences(one)), machines[one.machine], history_chart(one))
            for one in self.drawn[driver]
        ]
        return charts, sum(history.driver == driver for history in self.histories) - len(charts)


def chart_key(history: History) -> str:
    """An anchor that stays the same when runs are added."""
    named = "|".join((history.experiment, *history.where, history.path_key, history.machine))
    return f"history-{hashlib.sha256(named.encode()).hexdigest()[:8]}"


def _sentences(history: History) -> Iterator[str]:
    runs = len(history.points)
    if history.changes:
        yield from (f"{change.text}." for change in history.changes)
    elif runs < LEAST_POINTS:
        yield f"{runs} runs: too few to find a change, which takes {LEAST_POINTS}."
    else:
        yield f"No change is shown over {runs} runs."
    if history.left_out:
        yield f"Not shown: {fmt.counted(history.left_out, 'run')} without the reference."


def title(phase: PhaseAnswer) -> str:
    comparison = "" if phase.comparison == "all paths" else f", {phase.comparison}"
    return fmt.clean(f"{phase.title}, {phase.regime}{comparison}")


def _rows(bars: Sequence[Bar]) -> Iterator[PlainBar]:
    """Bars as rows, tied with those beside them that share their tier."""
    before = (None, *(bar.tier for bar in bars))
    tied = [msgspec.structs.replace(bar, tied=bar.tier == tier) for tier, bar in zip(before, bars, strict=False)]
    return rows(tied, all_provisional=True)


def history_chart(history: History) -> Markup:
    """Ratio over runs with 95 % intervals; a dashed line where a version begins, a step where the level changes."""
    low = min(math.exp(point.low) for point in history.points) / 1.02
    high = max(math.exp(point.high) for point in history.points) * 1.02
    middle, half = math.sqrt(low * high), math.sqrt(max(high / low, LEAST_SPAN))
    axis = LogAxis(middle / half, middle * half)
    last = len(history.points) - 1
    # Runs stand at equal distances; one in the middle.
    places = [round(EDGE + (100 - 2 * EDGE) * at / last, 2) if last else 50.0 for at in range(last + 1)]
    ticks = [(f"{tick:.4g}×", _down(axis, math.log(tick))) for tick in axis.ticks()]
    grid = [f'<line class="grid" x1="0" x2="100%" y1="{y}" y2="{y}"/>' for _text, y in ticks]
    scale = "".join(f'<text x="{SCALE - 6}" y="{y + 4:g}" text-anchor="end">{text}</text>' for text, y in ticks)
    drawn = [*grid, *_versions(history, places), *_levels(history, places, axis), *_points(history, places, axis)]
    height = HEIGHT + BELOW
    return Markup(
        f'<div class="history" aria-hidden="true"><svg width="{SCALE}" height="{height}">{scale}</svg>'
        f'<svg class="plot" height="{height}">{"".join(drawn)}</svg></div>'
    )


def _down(axis: LogAxis, logarithm: float) -> float:
    return round(HEIGHT * (1 - axis.at(math.exp(logarithm)) / 100), 1)


def _versions(history: History, places: Sequence[float]) -> Iterator[str]:
    """Where each version begins; as many names as fit beside each other, the first and the last among them."""
    starts = [
        at for at, point in enumerate(history.points) if not at or point.version != history.points[at - 1].version
    ]
    step = max(1, math.ceil(len(starts) / VERSIONS))
    changes = {change.at for change in history.changes}
    named = {starts[at] for at in range(0, len(starts), step)} | (changes & set(starts) if len(changes) < 3 else set())
    shown_until = -100.0
    for at in starts:
        x = places[at] if not at else round((places[at] + places[at - 1]) / 2, 2)
        if at:
            yield f'<line class="version" x1="{x}%" x2="{x}%" y1="0" y2="{HEIGHT}"/>'
        if at in named and x - shown_until >= 100 / VERSIONS - 2:
            shown_until = x
            anchor = ' text-anchor="end"' if x > 85 else ""
            point = history.points[at]
            yield f'<text x="{x}%" y="{HEIGHT + 14}"{anchor}>{escape(_short(point.version))}</text>'
            yield f'<text x="{x}%" y="{HEIGHT + 28}"{anchor}>{escape(point.date)}</text>'
    if places[-1] - shown_until > 2 * 100 / VERSIONS:
        date = escape(history.points[-1].date)
        yield f'<text x="{places[-1]}%" y="{HEIGHT + 28}" text-anchor="end">{date}</text>'


def _short(version: str) -> str:
    """What fits below the axis: `3.40.1` of `sqlite3 of Python, SQLite 3.40.1`."""
    short = version if len(version) <= NAME else version.rsplit(maxsplit=1)[-1]
    return short if len(short) <= NAME else short[: NAME - 1] + "…"


def _levels(history: History, places: Sequence[float], axis: LogAxis) -> Iterator[str]:
    """The mean of each level, where there is more than one."""
    borders = [0, *(change.at for change in history.changes), len(history.points)]
    for begin, end in itertools.pairwise(borders) if history.changes else ():
        y = _down(axis, history.level(begin, end))
        yield f'<line class="level" x1="{places[begin]}%" x2="{places[end - 1]}%" y1="{y}" y2="{y}"/>'


def _points(history: History, places: Sequence[float], axis: LogAxis) -> Iterator[str]:
    changed = {change.at for change in history.changes}
    radius = 3 if len(places) <= FEW else 1.5
    before = None
    for at, (x, point) in enumerate(zip(places, history.points, strict=True)):
        y, low, high = (_down(axis, value) for value in (point.mean, point.low, point.high))
        if before is not None:
            yield f'<line class="between" x1="{before[0]}%" y1="{before[1]}" x2="{x}%" y2="{y}"/>'
        yield f'<line class="interval" x1="{x}%" x2="{x}%" y1="{low}" y2="{high}"/>'
        kind = "changed" if at in changed else "point"
        yield f'<circle class="{kind}" cx="{x}%" cy="{y}" r="{radius + (at in changed)}"/>'
        before = x, y
