"""How a path's time grows with its rows: time = fixed + rows × per row, where two paths cross, which batch leads."""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from rowpath import text as fmt
from rowpath.analysis.answer_model import Sentence
from rowpath.analysis.chapter import Chapter
from rowpath.analysis.chapters import cost_models
from rowpath.analysis.chapters.cost_models import Coefficient
from rowpath.analysis.evidence import Evidence
from rowpath.analysis.lookup import Lookup
from rowpath.analysis.statistics.intervals import SETS_FOR_CLAIMS, Interval, student
from rowpath.drawing.grid import Grid, figure, line, of_lines, without_empty, word
from rowpath.drawing.line_chart import Chart, Curve, Point, of_curves
from rowpath.drawing.section import Section, of_chart
from rowpath.journal.records import PathRecord
from rowpath.model.base import Frozen
from rowpath.model.grouping import grouped

LEAST_SIZES = 3
REGIME = "steady"
INSERTS = ("multi-row", "batch", "executemany")  # the bulk ways that store rows by an INSERT of values


class SweepLine(Frozen, frozen=True):
    """A path's time over the size of the result: fixed + rows × row."""

    name: str
    fixed: Coefficient
    row: Coefficient
    sets: int


class Leader(Frozen, frozen=True):
    """The fastest path from this many rows on; the interval is of that number, None where it is not certain."""

    name: str
    from_rows: float
    low: float | None
    high: float | None


class BreakEven(Frozen, frozen=True):
    """The least size from which on a driver's bulk way surely leads its INSERT of values; None: from none."""

    name: str
    insert: str
    from_rows: int | None


class Sweep(Frozen, frozen=True):
    """How the paths of one comparison grow with the size of the result, and which leads from which size on."""

    comparison: str
    least_rows: int
    most_rows: int
    lines: tuple[SweepLine, ...]
    leaders: tuple[Leader, ...]
    break_evens: tuple[BreakEven, ...] = ()


@dataclass(frozen=True)
class FittedLine:
    """A path's time over the size of its result: (fixed ns, ns per row) by set."""

    path: PathRecord
    comparison: str
    by_set: dict[int, tuple[float, float]]

    @property
    def mean(self) -> tuple[float, float]:
        """Fixed ns and ns per row, the means over the sets."""
        fixed, row = zip(*self.by_set.values(), strict=True)
        return statistics.fmean(fixed), statistics.fmean(row)

    @property
    def shown(self) -> SweepLine:
        """The line with the intervals of its two coefficients."""
        fixed, row = zip(*self.by_set.values(), strict=True)
        return SweepLine(self.path.name, Coefficient.of(list(fixed)), Coefficient.of(list(row)), len(self.by_set))

    def at(self, rows: float) -> float:
        """ns for a result of this many rows."""
        fixed, row = self.mean
        return fixed + row * rows


def sizes_of(evidence: Evidence) -> dict[str, int]:
    """The phases of the experiment's sweep with the rows that an operation delivers; empty when it has none."""
    sweep = evidence.journal.run.experiment.sweep
    known = evidence.journal.run.workloads.get(sweep.workload) if sweep else None
    return {phase.name: phase.rows_per_operation for phase in (known.phases if known else ())}


def fitted_lines(evidence: Evidence) -> list[FittedLine]:
    """The lines of all paths that were measured in at least three sizes."""
    sizes = sizes_of(evidence)
    sweep = evidence.journal.run.experiment.sweep
    workload = sweep.workload if sweep else ""
    lines = []
    for path_id, path in evidence.journal.paths.items():
        cells = {
            rows: cell
            for phase, rows in sizes.items()
            if (cell := evidence.sound_cell(path_id, workload, phase, REGIME))
        }
        if len(cells) < LEAST_SIZES:
            continue
        sets = sorted(set.intersection(*(set(cell.set_medians) for cell in cells.values())))
        by_set = {number: fit({rows: cell.set_medians[number] for rows, cell in cells.items()}) for number in sets}
        if by_set:
            lines.append(FittedLine(path, evidence.comparison(path), by_set))
    return lines


def fit(costs_ns: Mapping[int, float]) -> tuple[float, float]:
    """Fixed ns and ns per row, neither below 0, that make the sum of squared relative errors least.

    `costs_ns`: ns of an operation by its rows.
    """
    fixed, row = cost_models.fit([(1.0, rows) for rows in costs_ns], list(costs_ns.values()))
    return fixed, row


def crossing(one: FittedLine, other: FittedLine) -> Interval | None:
    """ln of the rows at which two lines cross; None when they do not in every set that they share."""
    values = []
    for number in sorted(one.by_set.keys() & other.by_set.keys()):
        (fixed, row), (other_fixed, other_row) = one.by_set[number], other.by_set[number]
        if (other_fixed - fixed) * (row - other_row) <= 0:
            return None
        values.append(math.log((other_fixed - fixed) / (row - other_row)))
    return student(values) if values else None


def sweeps(evidence: Evidence) -> tuple[Sweep, ...]:
    """One per comparison: every path's line, and which of them leads from which size on."""
    sizes = sorted(sizes_of(evidence).values())
    together = grouped(fitted_lines(evidence), lambda fitted: fitted.comparison)
    return tuple(
        Sweep(
            comparison=comparison,
            least_rows=sizes[0],
            most_rows=sizes[-1],
            lines=tuple(fitted.shown for fitted in sorted(group, key=lambda fitted: fitted.at(sizes[-1]))),
            leaders=tuple(_leaders(group, sizes[0], sizes[-1])),
            break_evens=tuple(_break_evens(evidence, sorted(group, key=lambda fitted: fitted.at(sizes[-1])))),
        )
        for comparison, group in together.items()
    )


def _leaders(group: list[FittedLine], least: int, most: int) -> Iterator[Leader]:
    """The lower envelope of the lines from the least to the most rows."""
    leader = min(group, key=lambda fitted: (fitted.at(least), fitted.mean[1]))
    yield Leader(leader.path.name, float(least), None, None)
    rows = float(least)
    while True:
        fixed, row = leader.mean
        crossings = [((other.mean[0] - fixed) / (row - other.mean[1]), other) for other in group if other.mean[1] < row]
        following = [(at, other) for at, other in crossings if rows < at <= most]
        if not following:
            return
        rows, successor = min(following, key=lambda pair: pair[0])
        interval, leader = crossing(leader, successor), successor
        yield Leader(leader.path.name, rows, *(interval.ratios[1:] if interval else (None, None)))


def _break_evens(evidence: Evidence, fastest_first: list[FittedLine]) -> Iterator[BreakEven]:
    """Each bulk way against each INSERT of values by the same driver, where enough sets decide."""
    paths = [fitted.path for fitted in fastest_first]
    inserts = [path for path in paths if path.get("bulk") in INSERTS]
    others = [path for path in paths if path.get("bulk") not in (*INSERTS, "none")]
    for insert, other in itertools.product(inserts, others):
        leads = list(_leads(evidence, other, insert)) if _beside(insert) == _beside(other) else []
        if leads:
            at_the_end = itertools.takewhile(lambda size: size[1], reversed(leads))
            yield BreakEven(other.name, insert.name, min((rows for rows, _leads in at_the_end), default=None))


def _beside(path: PathRecord) -> dict[str, str]:
    """What two paths have in common that store the same rows by the same driver."""
    return {key: value for key, value in path.coordinates.items() if key not in ("bulk", "statement")}


def _leads(evidence: Evidence, path: PathRecord, insert: PathRecord) -> Iterator[tuple[int, bool]]:
    """The sizes in order, and whether the path surely takes less time than the INSERT."""
    sweep = evidence.journal.run.experiment.sweep
    for phase, rows in sorted(sizes_of(evidence).items(), key=lambda size: size[1]):
        workload = sweep.workload if sweep else ""
        one, two = (evidence.sound_cell(each.path_id, workload, phase, REGIME) for each in (path, insert))
        interval = evidence.cells.interval(one, two) if one and two else None
        if interval and interval.sets >= SETS_FOR_CLAIMS:
            yield rows, interval.high < 0


def _sections(swept: tuple[Sweep, ...], lookup: Lookup) -> Iterator[Section]:
    for number, sweep in enumerate(swept):
        named = [f"{fmt.clean(name)} ({sizes})" for name, sizes in leading(sweep)]
        sentence = f"Fastest by number of rows: {', then '.join(named)}." if named else ""
        yield Section(f"sweep-{number}", grid(sweep), of_chart(sentence, _chart(sweep, lookup)), leading=True)
        if sweep.break_evens:
            answer = of_chart(" ".join(sentence.text for sentence in _sentences((sweep,))))
            yield Section(f"break-even-{number}", break_even_grid(sweep), answer, leading=True)


def grid(sweep: Sweep) -> Grid:
    """What a result costs on each path whatever its size, what each row adds, and between which sizes a path leads."""
    leads = dict(leading(sweep))
    lines = (
        line(
            word("path", path.name),
            figure("fixed", path.fixed.text()),
            figure("per row", path.row.text()),
            word("leads", leads.get(path.name, fmt.MISSING)),
        )
        for path in sweep.lines
    )
    note = (
        "Time per operation = fixed + rows × per row, fitted to least relative error in each set over the sizes "
        f"{sweep.least_rows} to {sweep.most_rows}; intervals over the sets. ≈ 0: not distinguishable from 0."
    )
    return without_empty(of_lines(f"Growth of time with the number of rows{_where(sweep)}", lines, note))


def _sentences(swept: tuple[Sweep, ...]) -> Iterator[Sentence]:
    """Each bulk way's break-even with the fastest INSERT of values by its driver, the earliest first."""
    for sweep in swept:
        where = f"{fmt.clean(sweep.comparison)}: " if len(swept) > 1 else ""
        with_fastest = {found.name: found for found in reversed(sweep.break_evens)}.values()
        for found in sorted(with_fastest, key=lambda one: one.from_rows or math.inf):
            yield Sentence("batches", where + in_words(found))


def in_words(found: BreakEven) -> str:
    """From how many rows on one leads the other, as a sentence."""
    name, insert = fmt.clean(found.name), fmt.clean(found.insert)
    if found.from_rows is None:
        return f"{name} does not surely lead {insert}."
    rows = f"{fmt.count(found.from_rows)} row{'' if found.from_rows == 1 else 's'}"
    return f"{name} surely leads {insert} from {rows} a batch on."


def break_even_grid(sweep: Sweep) -> Grid:
    """A line for each bulk way and INSERT of values."""
    lines = (
        line(
            word("path", found.name),
            word("INSERT of values", found.insert),
            figure("leads from rows a batch", fmt.count(found.from_rows)),
        )
        for found in sweep.break_evens
    )
    note = "The least measured size at which, as at every greater one, the ratio's interval lies below 1."
    return of_lines(f"Break-even with an INSERT of values{_where(sweep)}", lines, note)


def _where(sweep: Sweep) -> str:
    return f" ({fmt.clean(sweep.comparison)})" if sweep.comparison != "all paths" else ""


def leading(sweep: Sweep) -> Iterator[tuple[str, str]]:
    """Each leader's name and the sizes at which it leads, in words."""
    ends = [*(leader.from_rows for leader in sweep.leaders[1:]), None]
    for leader, end in zip(sweep.leaders, ends, strict=True):
        interval = f" ({fmt.count(leader.low)}–{fmt.count(leader.high)})" if leader.low and leader.high else ""
        start = f"from {fmt.count(leader.from_rows)}{interval}"
        if end is None:
            yield leader.name, "all sizes" if len(sweep.leaders) == 1 else f"{start} rows on"
        else:
            yield leader.name, f"{start} to {fmt.count(end)} rows"


def _chart(sweep: Sweep, lookup: Lookup) -> Chart | None:
    """Measured time per operation over the size of the result, one curve per path."""
    run = lookup.analysis.run
    workload = run.workloads.get(run.experiment.sweep.workload) if run.experiment.sweep else None
    if workload is None:
        return None
    curves = []
    for path in sweep.lines:
        points = (
            Point(phase.rows_per_operation, result.median, result.low, result.high)
            for phase in workload.phases
            if phase.rows_per_operation > 0
            if (result := lookup.measured(workload.name, phase.name, REGIME).result("time", path.name))
            if result.median
        )
        curves.append(Curve(fmt.clean(path.name), tuple(sorted(points))))
    return of_curves(
        "Time per operation by number of rows; the table holds the fitted figures",
        "time per operation",
        "rows of a batch" if any(phase.kind == "load" for phase in workload.phases) else "rows of a result",
        curves,
        fmt.duration,
        "A point is the median time of the sets.",
    )


CHAPTER = Chapter("sweeps", sweeps, _sections, _sentences)
