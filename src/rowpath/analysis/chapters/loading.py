"""Ways of loading a table: rows a second of every path by each of them."""

from __future__ import annotations

from collections.abc import Iterator

from rowpath import text as fmt
from rowpath.analysis.chapter import Chapter
from rowpath.analysis.lookup import Lookup
from rowpath.drawing.grid import figure, line, of_lines, word, words
from rowpath.drawing.line_chart import Chart, Curve, Point, of_curves
from rowpath.drawing.section import Section, of_chart, section_key

Rates = dict[str, dict[str, float | None]]  # rows a second by path and way of loading


def _sections(_nothing: None, lookup: Lookup) -> Iterator[Section]:
    """One per workload with several ways."""
    for workload in dict.fromkeys(ranking.workload for ranking in lookup.analysis.rankings):
        rates = _rates(lookup, workload)
        lines = []
        for name, by_way in rates.items():
            known = [rate for rate in by_way.values() if rate]
            row = line(
                *words(path=name, durability=lookup.coordinate(name, "durability")),
                word("bulk way", lookup.coordinate(name, "bulk")),
                *(figure(f"{phase}, rows/s", fmt.rate(rate), 1) for phase, rate in by_way.items()),
                figure("fastest ÷ slowest", fmt.ratio(max(known) / min(known) if len(known) > 1 else None), 2),
            )
            lines.append(row)
        grid = of_lines(f"Loading ({workload}): rows a second by way, steady", lines)
        opening = of_chart(_sentence(rates), _chart(rates, workload))
        yield Section(section_key(workload, "loading"), grid, opening, leading=True)


def _rates(lookup: Lookup, workload: str) -> Rates:
    """Of the measured phases that store rows into one table; {} when there are not several, or none is a load."""
    rankings = [ranking for ranking in lookup.analysis.rankings if ranking.workload == workload]
    measured = {ranking.phase for ranking in rankings}
    known = lookup.analysis.run.workloads.get(workload)
    storing = [phase for phase in (known.phases if known else ()) if phase.after and phase.name in measured]
    rows_each = {
        phase.name: phase.rows_per_operation if phase.kind == "load" else 1
        for phase in storing
        if phase.kind in ("execute", "load")
    }
    if len(rows_each) < 2 or not any(phase.kind == "load" for phase in storing):
        return {}
    names = dict.fromkeys(row.name for ranking in rankings for row in ranking.rows if row.is_ranked)
    return {
        name: {
            phase: rate * rows if (rate := lookup.measured(workload, phase, "steady").median("rate", name)) else None
            for phase, rows in rows_each.items()
        }
        for name in names
    }


def _chart(rates: Rates, workload: str) -> Chart | None:
    """Rows a second over the ways of loading, one curve per path."""
    curves = [
        Curve(fmt.clean(name), tuple(Point(at, rate) for at, rate in enumerate(by_way.values()) if rate))
        for name, by_way in rates.items()
    ]
    curves.sort(key=lambda curve: max((point.y for point in curve.points), default=0.0), reverse=True)
    ways = list(next(iter(rates.values()), ()))
    label = f"{workload}: rows a second by way of loading; the table holds the figures"
    explanation = "A point is the median rate of the sets."
    return of_curves(label, "rows/s", "way of loading", curves, fmt.rate, explanation, names=ways)


def _sentence(rates: Rates) -> str:
    """The fastest way of loading, and how many times as fast as the same path's slowest."""
    known = [(rate, name, way) for name, by_way in rates.items() for way, rate in by_way.items() if rate]
    if not known:
        return ""
    most, name, way = max(known)
    least, slowest = min((rate, way) for way, rate in rates[name].items() if rate)
    return (
        f"Fastest, by medians: {fmt.clean(name)} by {fmt.clean(way)}, {fmt.rate(most)}; "
        f"its slowest way is {fmt.clean(slowest)}, {fmt.rate(least)}."
    )


CHAPTER: Chapter[None] = Chapter("loading", sections=_sections)
