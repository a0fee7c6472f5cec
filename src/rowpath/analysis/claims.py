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
from rowpath.journal.records import PathRecord
from rowpath.model.claims import Check, Claim, PublishedColumn, PublishedRow, Selector
from rowpath.model.grouping import grouped
from rowpath.model.metrics import METRICS, is_of_groups

ClaimOutcome = Literal["holds", "does not hold", "uncertain"]
UNCERTAIN: ClaimOutcome = "uncertain"
MEASURED_AT = ("workload", "phase", "regime")
# All that a claim or a published figure takes of a path to a stand-in; docs/stand-in.md.
CLIENT_SIDE = {"client_cpu", "client_peak_memory", "round_trips", "bytes_sent"}


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
                note="; ".join(filter(None, (row.note, missing, column.note))),
            )


def _check(evidence: Evidence, check: Check) -> tuple[ClaimOutcome, str]:
    if check.kind == "not-testable":
        return UNCERTAIN, check.reason
    if check.kind in ("ratio", "equal"):
        interval, figure = _ratio(evidence, check, {})
        outcome = _bounded(interval, check) if interval else UNCERTAIN
        if check.kind == "ratio" or interval is None or interval.sets < SETS_FOR_CLAIMS:
            return outcome, figure
        # Equal is what contains 1 and lies within the bounds; it surely does not hold where the interval excludes 1.
        return ("does not hold" if _side(interval) else "holds" if outcome == "holds" else UNCERTAIN), figure
    other_kinds = {"crossover": _crossover, "figure": _figure, "never-above": _never_above}
    if check.kind in other_kinds:
        return other_kinds[check.kind](evidence, check)
    (first, one), (second, other) = (_ratio(evidence, check, side) for side in (check.first, check.second))
    figure = f"{in_words(check.first)}: {one}; {in_words(check.second)}: {other}"
    if first is None or second is None or min(first.sets, second.sets) < SETS_FOR_CLAIMS:
        return UNCERTAIN, figure
    return _of_two(check.kind, first, second), figure


def ratio(evidence: Evidence, metric: str, numerator: Wanted, denominator: Wanted) -> Interval | None:
    """The ratio of the best paths of two selectors; None when one has no figure or they never met."""
    a, b = (best_of(evidence, metric, side) for side in (numerator, denominator))
    return _interval(evidence, metric, a, b) if a is not None and b is not None else None


def _side(interval: Interval) -> int:
    """On which side of 1 the ratio surely is: 1 above, −1 below, 0 not known."""
    return (interval.low > 0) - (interval.high < 0)


def _of_two(kind: str, first: Interval, second: Interval) -> ClaimOutcome:
    sides = _side(first), _side(second)
    if kind == "appears":  # neither is surely ahead in the first ratio, one is in the second
        return "does not hold" if sides[0] else "holds" if sides[1] else UNCERTAIN
    if kind == "flip":  # surely on different sides of 1, or surely on the same
        return UNCERTAIN if 0 in sides else "holds" if sides[0] != sides[1] else "does not hold"
    # The second ratio is surely nearer to the first one's side of 1, or surely not.
    change = difference(first, second) if first.mean >= 0 else difference(first.inverse, second.inverse)
    return "holds" if change.low > 0 else "does not hold" if change.high < 0 else UNCERTAIN


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
    matching = candidates(evidence, check.metric, _asked(check, check.numerator))
    if not matching:
        return UNCERTAIN, _unmeasured(check, in_words(check.numerator))
    worst = max(matching, key=lambda one: max(one.values.values()))
    most, cases = max(worst.values.values()), sum(len(one.values) for one in matching)
    figure = f"{text.figure(most, worst.unit)} in each of {cases} cases (highest: {worst.name}, {worst.location})"
    return ("holds" if check.at_most is None or most <= check.at_most else "does not hold"), f"at most {figure}"


def _asked(check: Check, added: Selector) -> dict[str, str | tuple[str, ...]]:
    return {**{key: getattr(check, key) for key in MEASURED_AT}, **added}


def _crossover(evidence: Evidence, check: Check) -> tuple[ClaimOutcome, str]:
    """Whether the numerator's line is lower on small results and the denominator's on large ones, in the sweep."""
    sizes = sorted(sweeps.sizes_of(evidence).values())

    def lowest(selector: Selector) -> sweeps.FittedLine | None:
        """The matching line that is lowest in the middle of the sweep."""
        lines = [line for line in sweeps.fitted_lines(evidence) if selected(_named(line.path), selector)]
        return min(lines, key=lambda line: line.at(math.sqrt(sizes[0] * sizes[-1])), default=None)

    small, large = lowest(check.numerator), lowest(check.denominator)
    if small is None or large is None:
        sides = (check.numerator, small), (check.denominator, large)
        missing = " and ".join(in_words(side) for side, line in sides if line is None)
        return UNCERTAIN, f"no row sweep was measured for {missing}"
    figure = "; ".join(
        f"{line.path.name}: {text.duration(line.mean[0])} + {text.duration(line.mean[1])} a row"
        for line in (small, large)
    )
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


def _bounded(interval: Interval, check: Check) -> ClaimOutcome:
    if interval.sets < SETS_FOR_CLAIMS:
        return UNCERTAIN
    least = math.log(check.at_least) if check.at_least is not None else -math.inf
    most = math.log(check.at_most) if check.at_most is not None else math.inf
    if interval.high < least or interval.low > most:
        return "does not hold"
    return "holds" if interval.low >= least and interval.high <= most else UNCERTAIN


def _unmeasured(check: Check, where: str) -> str:
    if is_of_groups(check.metric):
        return f"no {check.metric} of any path was measured for {where}"
    return f"no path has a ranked figure for {where}"


def _ratio(evidence: Evidence, check: Check, added: Selector) -> tuple[Interval | None, str]:
    """The ratio of the best path of each side with its interval, and both in words."""
    wanted: list[Selector] = [{**side, **added} for side in (check.numerator, check.denominator)]
    numerator, denominator = sides = [best_of(evidence, check.metric, _asked(check, side)) for side in wanted]
    if numerator is None or denominator is None:
        missing = [in_words(side) for side, best in zip(wanted, sides, strict=True) if best is None]
        return None, _unmeasured(check, " and ".join(missing))
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
    place = {key: getattr(column, key) for key in MEASURED_AT}
    best = best_of(evidence, column.metric, place | row.path) if row.path else None
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
    return choose(candidates(evidence, metric, selector), key=lambda candidate: candidate.figure, default=None)


def candidates(evidence: Evidence, metric: str, selector: Wanted) -> list[Selected]:
    """The sound cells, or for metrics of groups the sound groups, that match and have the metric."""
    if is_of_groups(metric) or selector.keys() & {"stage", "client_group"}:
        wanted = {key: value for key, value in selector.items() if key != "regime"}
        unit = METRICS[metric].unit
        return [
            Selected(one.path.name, f"{one.client_group or 'all groups'} in '{one.stage}'", one.values, unit=unit)
            for one in evidence.group_values
            if one.metric == metric
            and one.values
            and selected(one.coordinates, wanted)
            and not one.path.stands_in
            and evidence.path_statuses.of(*one.where).status == "ok"
        ]
    cells = [
        cell
        for cell in evidence.sound()
        if matches(cell, selector) and (metric in CLIENT_SIDE or not cell.path.stands_in)
    ]
    return [own for cell in cells if (own := _valued(evidence, cell, metric)) is not None]


def matches(cell: Cell, selector: Wanted) -> bool:
    """Whether a cell has one of the named values everywhere; empty values ask for nothing."""
    return selected(_named(cell.path) | dict(zip(MEASURED_AT, cell.key[1:], strict=True)), selector)


def _named(path: PathRecord) -> dict[str, str]:
    return path.coordinates | {"name": path.name}


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
    for column, rows in grouped(published, lambda row: row.column).items():
        here = [row for row in rows if row.measured_value]
        if len(here) >= LEAST_ROWS:
            yield _order_sentence(column, rows, here)


def _order_sentence(column: str, rows: list[Published], here: list[Published]) -> str:
    more_is_better = rows[0].unit.endswith("/s")
    there = sorted(rows, key=lambda row: row.value, reverse=more_is_better)
    own = sorted(here, key=lambda row: row.measured_value or 0.0, reverse=more_is_better)
    places = [row for row in there if row in here]
    pairs = list(itertools.combinations(places, 2))
    kept = sum(own.index(first) < own.index(second) for first, second in pairs)
    moved = max(own, key=lambda row: abs(own.index(row) - places.index(row)))
    king, now = there[0], own[0]
    same = f", {king.row}, is fastest here too" if king.row == now.row else f" is {king.row}, here it is {now.row}"
    sentence = (
        f"Published, {column}: the article's fastest row{same} ({now.measured_name}, "
        f"{text.figure(now.measured_value, now.unit)}); of the {len(pairs)} pairs of rows "
        f"with a counterpart here, {kept} keep their order ({text.share(kept / len(pairs))})"
    )
    if moved in (king, now) or own.index(moved) == places.index(moved):
        return f"{sentence}."
    return f"{sentence}; {moved.row} moved from place {places.index(moved) + 1} to {own.index(moved) + 1}."
