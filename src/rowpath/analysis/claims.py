"""Published claims and figures beside the measured ones, and what became of their order; docs/claims.md."""

from __future__ import annotations

import functools
import itertools
import math
import statistics
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from rowpath import text
from rowpath.analysis import metrics
from rowpath.analysis.cells import Cell
from rowpath.analysis.chapters import sweeps
from rowpath.analysis.client_groups import interval as interval_of
from rowpath.analysis.evidence import Evidence
from rowpath.analysis.model import ClaimCheck, Published
from rowpath.analysis.statistics.intervals import SETS_FOR_CLAIMS, Interval, difference, student
from rowpath.model.claims import Check, Claim, PublishedColumn, PublishedRow, Selector
from rowpath.model.metrics import METRICS, is_of_groups

ClaimOutcome = Literal["holds", "does not hold", "uncertain"]
UNCERTAIN: ClaimOutcome = "uncertain"
MEASURED_AT = ("workload", "phase", "regime")


def check_claims(evidence: Evidence, claims: Iterable[Claim]) -> tuple[ClaimCheck, ...]:
    """Every claim with its outcome and figure."""
    return tuple(ClaimCheck(claim.id, claim.claim, *_check(evidence, claim.check)) for claim in claims)


def published(evidence: Evidence, columns: Iterable[PublishedColumn]) -> Iterator[Published]:
    """Every published figure beside the measured one, both also as ratio to their column's reference row."""
    for column in columns:
        reference = next((row for row in column.rows if row.row == column.reference), column.rows[0])
        measured = {row.row: _measured(evidence, column, row) for row in column.rows}
        base = measured[reference.row]
        for row in column.rows:
            own = measured[row.row]
            missing = "" if own or not row.path else "not measured in this run"
            yield Published(
                column=column.column,
                row=row.row,
                value=row.value,
                unit=column.unit,
                ratio=row.value / reference.value if reference.value else None,
                measured_name=own[0] if own else "",
                measured_value=own[1] if own else None,
                measured_ratio=own[1] / base[1] if own and base and base[1] else None,
                note="; ".join(part for part in (row.note, missing, column.note) if part),
            )


def _check(evidence: Evidence, check: Check) -> tuple[ClaimOutcome, str]:
    if check.kind == "not-testable":
        return UNCERTAIN, check.reason
    if check.kind in ("ratio", "equal"):
        interval, figure = _ratio(evidence, check, {})
        judge = _bounded if check.kind == "ratio" else _equal
        return (judge(interval, check) if interval else UNCERTAIN), figure
    if check.kind == "crossover":
        return _crossover(evidence, check)
    if check.kind == "figure":
        return _figure(evidence, check)
    if check.kind == "never-above":
        return _never_above(evidence, check)
    (first, one), (second, other) = (_ratio(evidence, check, side) for side in (check.first, check.second))
    figure = f"{in_words(check.first)}: {one}; {in_words(check.second)}: {other}"
    if first is None or second is None or min(first.sets, second.sets) < SETS_FOR_CLAIMS:
        return UNCERTAIN, figure
    outcomes = {"flip": _flipped, "shrinks": _shrunk, "appears": _appears}
    return outcomes[check.kind](first, second), figure


def _figure(evidence: Evidence, check: Check) -> tuple[ClaimOutcome, str]:
    """Whether the interval of the best path's own figure lies within the bounds."""
    best = best_of(evidence, check.metric, _asked(check, check.numerator))
    if best is None:
        return UNCERTAIN, _unmeasured(check, in_words(check.numerator))
    interval = interval_of(best.values.values(), evidence.cells.confidence)
    if interval is None:
        return UNCERTAIN, f"{best.name} has no {check.metric}"
    ends = " to ".join(
        text.figure(end, best.unit) for end in (interval.ratio_low, interval.ratio_high) if end is not None
    )
    return _bounded(interval, check), f"{text.figure(interval.ratio, best.unit)} ({ends or 'no interval'}): {best.name}"


def _never_above(evidence: Evidence, check: Check) -> tuple[ClaimOutcome, str]:
    """Whether no set of any path that matches had more: one counterexample decides, and so do all without one."""
    found = candidates(evidence, check.metric, _asked(check, check.numerator))
    if not found:
        return UNCERTAIN, _unmeasured(check, in_words(check.numerator))
    worst = max(found, key=lambda best: max(best.values.values()))
    most = max(worst.values.values())
    cases = sum(len(best.values) for best in found)
    outcome: ClaimOutcome = "holds" if check.at_most is None or most <= check.at_most else "does not hold"
    return (
        outcome,
        f"at most {text.figure(most, worst.unit)} in each of {cases} cases (highest: {worst.name}, {worst.location})",
    )


def _equal(interval: Interval, check: Check) -> ClaimOutcome:
    """The interval contains 1 and lies within the bounds; it surely does not hold where it excludes 1."""
    if interval.sets < SETS_FOR_CLAIMS:
        return UNCERTAIN
    if not interval.low <= 0 <= interval.high:
        return "does not hold"
    return "holds" if _bounded(interval, check) == "holds" else UNCERTAIN


def _appears(first: Interval, second: Interval) -> ClaimOutcome:
    """Neither is surely ahead in the first ratio, one is in the second."""
    if not first.low <= 0 <= first.high:
        return "does not hold"
    return UNCERTAIN if second.low <= 0 <= second.high else "holds"


def _asked(check: Check, added: Selector) -> dict[str, str | tuple[str, ...]]:
    return {**{key: getattr(check, key) for key in MEASURED_AT}, **added}


def _crossover(evidence: Evidence, check: Check) -> tuple[ClaimOutcome, str]:
    """Whether the numerator's line is lower on small results and the denominator's on large ones, in the sweep."""
    found = [(side, _line(evidence, side)) for side in (check.numerator, check.denominator)]
    missing = [in_words(side) for side, line in found if line is None]
    (_, small), (_, large) = found
    if small is None or large is None:
        return UNCERTAIN, f"no row sweep was measured for {' and '.join(missing)}"
    sizes = sorted(sweeps.sizes_of(evidence).values())
    figure = "; ".join(f"{line.path.name}: {_terms(line)}" for line in (small, large))
    interval = sweeps.crossing(small, large)
    if min(len(small.by_set), len(large.by_set)) < SETS_FOR_CLAIMS:
        return UNCERTAIN, figure
    if interval is None:
        ahead = min((small, large), key=lambda line: line.at(sizes[-1]))
        return "does not hold", f"{figure}: no certain crossing, {ahead.path.name} leads at {sizes[-1]} rows"
    ends = text.interval(interval.ratio_low, interval.ratio_high) or "no interval"
    figure = f"{figure}: they cross at {text.count(interval.ratio)} rows ({ends})"
    right = small.mean[0] < large.mean[0] and interval.low > 0 and interval.high < math.log(sizes[-1])
    return ("holds" if right else "does not hold"), figure


def _line(evidence: Evidence, selector: Selector) -> sweeps.FittedLine | None:
    """The matching line that is lowest in the middle of the sweep."""
    sizes = sorted(sweeps.sizes_of(evidence).values())
    lines = [
        line
        for line in sweeps.fitted_lines(evidence)
        if selected(line.path.coordinates | {"name": line.path.name}, selector)
    ]
    return min(lines, key=lambda line: line.at(math.sqrt(sizes[0] * sizes[-1])), default=None)


def _terms(line: sweeps.FittedLine) -> str:
    fixed, row = line.mean
    return f"{text.duration(fixed)} + {text.duration(row)} a row"


def _bounded(interval: Interval, check: Check) -> ClaimOutcome:
    if interval.sets < SETS_FOR_CLAIMS:
        return UNCERTAIN
    least = math.log(check.at_least) if check.at_least is not None else -math.inf
    most = math.log(check.at_most) if check.at_most is not None else math.inf
    if interval.high < least or interval.low > most:
        return "does not hold"
    return "holds" if interval.low >= least and interval.high <= most else UNCERTAIN


def _flipped(first: Interval, second: Interval) -> ClaimOutcome:
    """Surely on different sides of 1, or surely on the same."""
    sides = [1 if each.low > 0 else -1 if each.high < 0 else 0 for each in (first, second)]
    if 0 in sides:
        return UNCERTAIN
    return "holds" if sides[0] != sides[1] else "does not hold"


def _shrunk(first: Interval, second: Interval) -> ClaimOutcome:
    """The second ratio is surely nearer to the first one's side of 1, or surely not."""
    if first.mean < 0:
        first, second = first.inverse, second.inverse
    change = difference(first, second)
    return "holds" if change.low > 0 else "does not hold" if change.high < 0 else UNCERTAIN


def _unmeasured(check: Check, where: str) -> str:
    if is_of_groups(check.metric):
        return f"no {check.metric} of any path was measured for {where}"
    return f"no path has a ranked figure for {where}"


def _ratio(evidence: Evidence, check: Check, added: Selector) -> tuple[Interval | None, str]:
    """The ratio of the best path of each side with its interval, and both in words."""
    sides = [
        best_of(evidence, check.metric, _asked(check, {**side, **added}))
        for side in (check.numerator, check.denominator)
    ]
    numerator, denominator = sides
    if numerator is None or denominator is None:
        missing = [side for side, best in zip((check.numerator, check.denominator), sides, strict=True) if best is None]
        return None, _unmeasured(check, " and ".join(in_words({**side, **added}) for side in missing))
    interval = _interval(evidence, check.metric, numerator, denominator)
    if interval is None:
        return None, "no set holds both paths"
    ends = text.interval(interval.ratio_low, interval.ratio_high) or "no interval"
    counted = "1 set" if interval.sets == 1 else f"{interval.sets} sets"
    provisional = "" if interval.sets >= SETS_FOR_CLAIMS else f", provisional: {counted}"
    alike = numerator.location == denominator.location
    names = " / ".join(side.name if alike else f"{side.name} in {side.location}" for side in (numerator, denominator))
    return interval, f"{text.ratio(interval.ratio)} ({ends}{provisional}): {names}"


def _interval(evidence: Evidence, metric: str, a: Selected, b: Selected) -> Interval | None:
    if a.cell is not None and b.cell is not None and (metric == "time" or METRICS[metric].more_is_better):
        interval = evidence.cells.interval(a.cell, b.cell)
        if interval is None or metric == "time":
            return interval
        rows = metrics.rows_each(a.cell) / metrics.rows_each(b.cell) if metric == "row_rate" else 1.0
        shift, turned = math.log(rows), interval.inverse
        return replace(turned, mean=turned.mean + shift, low=turned.low + shift, high=turned.high + shift)
    if a.counted and b.counted and b.figure > 0 and a.figure > 0:
        ratio = math.log(a.figure / b.figure)
        return Interval(ratio, ratio, ratio, 0.0, math.inf, SETS_FOR_CLAIMS)
    shared = [n for n in sorted(a.values.keys() & b.values.keys()) if a.values[n] > 0 and b.values[n] > 0]
    return student([math.log(a.values[n] / b.values[n]) for n in shared], evidence.cells.confidence)


def _measured(evidence: Evidence, column: PublishedColumn, row: PublishedRow) -> tuple[str, float] | None:
    """Name and figure, in the published unit, of the best path that stands for a published row."""
    if not row.path:
        return None
    place = {key: getattr(column, key) for key in MEASURED_AT}
    best = best_of(evidence, column.metric, place | row.path)
    if best is None:
        return None
    figure = best.figure
    if column.statistic == "best_of_five":
        choose = max if METRICS[column.metric].more_is_better else min
        figure = choose(best.values[number] for number in sorted(best.values)[: metrics.BEST_OF])
    return best.name, figure * column.scale


Wanted = Mapping[str, str | tuple[str, ...]]


@dataclass(frozen=True)
class Selected:
    """A cell or a group that a selector matches, with a metric's values by set."""

    name: str
    location: str
    values: dict[int, float]
    cell: Cell | None = None
    unit: str = ""
    counted: bool = False  # exact: the same in every set

    @property
    def figure(self) -> float:
        return statistics.median(self.values.values())


def best_of(evidence: Evidence, metric: str, selector: Wanted) -> Selected | None:
    """The best of those that match, by the metric's median."""
    choose = max if METRICS[metric].more_is_better else min
    return choose(candidates(evidence, metric, selector), key=lambda each: each.figure, default=None)


def candidates(evidence: Evidence, metric: str, selector: Wanted) -> list[Selected]:
    """The sound cells, or for metrics of groups the sound groups, that match and have the metric."""
    if is_of_groups(metric) or selector.keys() & {"stage", "client_group"}:
        wanted = {key: value for key, value in selector.items() if key != "regime"}
        return [
            Selected(
                each.path.name,
                f"{each.client_group or 'all groups'} in '{each.stage}'",
                each.values,
                unit=METRICS[metric].unit,
            )
            for each in evidence.group_values
            if each.metric == metric
            and each.values
            and selected(each.coordinates, wanted)
            and evidence.path_statuses.of(*each.where).status == "ok"
        ]
    cells = [cell for cell in evidence.sound() if matches(cell, selector)]
    return [found for cell in cells if (found := _valued(evidence, cell, metric)) is not None]


def matches(cell: Cell, selector: Wanted) -> bool:
    """Whether a cell has one of the named values everywhere; empty values ask for nothing."""
    own = cell.path.coordinates | {"name": cell.path.name}
    return selected(own | {"workload": cell.workload, "phase": cell.phase, "regime": cell.regime}, selector)


def selected(own: Mapping[str, str], selector: Wanted) -> bool:
    wanted = ((key, (value,) if isinstance(value, str) else value) for key, value in selector.items() if value)
    return all(own.get(key, "none") in values for key, values in wanted)


def _valued(evidence: Evidence, cell: Cell, metric: str) -> Selected | None:
    category, unit = METRICS[metric].category, METRICS[metric].unit
    made = functools.partial(Selected, cell.path.name, f"{cell.workload}.{cell.phase}", cell=cell, unit=unit)
    if category == "code":
        lines = getattr(cell.path, metric)
        return made({0: float(lines)}, counted=True) if lines else None
    if category == "counted":
        value = metrics.exact(evidence.counted.get(cell.key[:3])).get(metric)
        return made({0: value}, counted=True) if value is not None else None
    values = metrics.of_cell(cell).get(metric) or evidence.of_phase(cell).get(metric)
    return made({number: statistics.median(each) for number, each in values.items()}) if values else None


def in_words(selector: Wanted) -> str:
    values = {key: value if isinstance(value, str) else "|".join(value) for key, value in selector.items()}
    return ", ".join(f"{key}={value}" for key, value in values.items()) or "any path"


LEAST_ROWS = 3  # of a column, for its order to be worth a sentence


def order_sentences(published: tuple[Published, ...]) -> Iterator[str]:
    """One sentence per published column of which at least three rows were measured."""
    columns = dict.fromkeys(row.column for row in published)
    for column in columns:
        rows = [row for row in published if row.column == column]
        here = [row for row in rows if row.measured_value]
        if len(here) >= LEAST_ROWS:
            yield _order_sentence(column, rows, here)


def _order_sentence(column: str, rows: list[Published], here: list[Published]) -> str:
    more_is_better = rows[0].unit.endswith("/s")
    there = sorted(rows, key=lambda row: row.value, reverse=more_is_better)
    found = sorted(here, key=lambda row: row.measured_value or 0.0, reverse=more_is_better)
    pairs = list(itertools.combinations(sorted(here, key=there.index), 2))
    kept = sum(found.index(first) < found.index(second) for first, second in pairs)
    places = [row for row in there if row in here]
    moved = max(found, key=lambda row: abs(found.index(row) - places.index(row)))
    king, now = there[0], found[0]
    if king.row == now.row:
        lead = f"the article's fastest row, {king.row}, is fastest here too ({now.measured_name}"
    else:
        lead = f"the article's fastest row is {king.row}, here it is {now.row} ({now.measured_name}"
    sentence = (
        f"Published, {column}: {lead}, {text.figure(now.measured_value, now.unit)}); of the {len(pairs)} pairs of "
        f"rows with a counterpart here, {kept} keep their order ({text.share(kept / len(pairs))})"
    )
    if moved in (king, now) or found.index(moved) == places.index(moved):
        return f"{sentence}."
    return f"{sentence}; {moved.row} moved from place {places.index(moved) + 1} to {found.index(moved) + 1}."
