"""Rate searches: the highest rate at which a group's 99th percentile stays under a bound."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rowpath import text as fmt
from rowpath.analysis.chapters.mixed_load.groups import PERCENTILES
from rowpath.analysis.client_groups import OfPath, of_metric, tries
from rowpath.analysis.evidence import Evidence
from rowpath.drawing.grid import Grid, figure, line, of_lines
from rowpath.drawing.line_chart import Chart, Curve, Point, of_curves
from rowpath.drawing.section import Opening, of_chart
from rowpath.model.base import Frozen


class RateTry(Frozen, frozen=True):
    """One rate of a rate search."""

    rate_per_s: float
    reached: bool
    p50_ns: int | None
    p99_ns: int | None
    p999_ns: int | None


class RateSearch(OfPath, frozen=True):
    """The highest rate found at which the 99th percentile stays under the bound; None: not even the first did."""

    client_group: str
    bound_ns: int
    highest_per_s: float | None
    tries: tuple[RateTry, ...]

    @property
    def bounded(self) -> bool:
        """Whether a higher rate was tried and did not hold; otherwise the tries ended before the path did."""
        return self.highest_per_s is not None and any(tried.rate_per_s > self.highest_per_s for tried in self.tries)

    @property
    def in_order(self) -> list[RateTry]:
        """Its tries, the lowest rate first."""
        return sorted(self.tries, key=lambda tried: tried.rate_per_s)


def searches(evidence: Evidence) -> Iterator[RateSearch]:
    """The rate searches by path and group; the lowest result of several sets, the rate that held each time."""
    highest = of_metric(evidence.group_values, "highest_rate")
    for (path_id, group), by_set in tries(evidence.journal).items():
        held = highest.get((path_id, "", group), {})
        tried = [record for _number, records in sorted(by_set.items()) for record in records]
        yield RateSearch(
            evidence.name(path_id),
            path_id,
            group,
            bound_ns=tried[0].bound_ns,
            highest_per_s=min(held.values()) if len(held) == len(by_set) else None,
            tries=tuple(RateTry(one.rate_per_s, one.reached, one.p50_ns, one.p99_ns, one.p999_ns) for one in tried),
        )


def verdict_sentences(searches: Iterable[RateSearch]) -> Iterator[str]:
    """Up to which rate each search's bound is kept."""
    for search in searches:
        bound = f"a p99 latency under {fmt.duration(search.bound_ns)}"
        if search.highest_per_s is None:
            yield f"{search.name}: no tried rate of {search.client_group} kept {bound}."
        else:
            more = "" if search.bounded else ", the highest rate tried: the path may reach more"
            yield f"{search.name}: {search.client_group} keep {bound} up to {fmt.rate(search.highest_per_s)}{more}."


def tables(searches: Iterable[RateSearch]) -> Iterator[tuple[Grid, Opening]]:
    """A table of each search, begun with the highest rate and its percentiles as curves."""
    return ((search_grid(search), of_chart(_sentence(search), _chart(search))) for search in searches)


def search_grid(search: RateSearch) -> Grid:
    """Every rate that was tried, and the highest that kept the bound."""
    lines = (
        line(
            figure("rate", fmt.rate(tried.rate_per_s)),
            figure("reached", "yes" if tried.reached else "no"),
            figure("p50", fmt.duration(tried.p50_ns if tried.reached else None), 1),
            figure("p99", fmt.duration(tried.p99_ns if tried.reached else None)),
            figure("p99.9", fmt.duration(tried.p999_ns if tried.reached else None), 1),
            figure("bound kept", "yes" if tried.reached and _within(tried.p99_ns, search.bound_ns) else "no"),
        )
        for tried in search.in_order
    )
    highest = "none of the rates tried" if search.highest_per_s is None else fmt.rate(search.highest_per_s)
    highest += "" if search.bounded or search.highest_per_s is None else " or more, no higher rate was tried"
    who = f"{fmt.clean(search.name)}: highest rate of {fmt.clean(search.client_group)}"
    return of_lines(f"{who} with p99 latency under {fmt.duration(search.bound_ns)}: {highest}", lines)


def _within(p99_ns: int | None, bound_ns: int) -> bool:
    return p99_ns is not None and p99_ns <= bound_ns


def _chart(search: RateSearch) -> Chart | None:
    """Percentiles of the response time over the rates that were tried and reached, with the bound."""
    reached = [tried for tried in search.in_order if tried.reached]
    curves = (
        Curve(text, tuple(Point(tried.rate_per_s, value) for tried in reached if (value := getattr(tried, field))))
        for text, field in PERCENTILES.items()
        if field in RateTry.__struct_fields__
    )
    ends = tuple(Point(tried.rate_per_s, search.bound_ns) for tried in (*reached[:1], *reached[-1:]))
    return of_curves(
        f"{fmt.clean(search.name)}: response time by rate; the table holds the figures",
        "response time",
        "operations/s requested",
        curves,
        fmt.duration,
        "A point is a percentile of one try; tries that did not reach their rate have none.",
        worded=fmt.rate,
        lines=(Curve(f"bound, {fmt.duration(search.bound_ns)}", ends),),
    )


def _sentence(search: RateSearch) -> str:
    """The highest rate at which the bound was kept."""
    who = f"{fmt.clean(search.client_group)} on {fmt.clean(search.name)}"
    if search.highest_per_s is None:
        return f"No rate that was tried kept the bound: {who}."
    more = "" if search.bounded else " or more: no higher rate was tried"
    return f"The bound is kept up to {fmt.rate(search.highest_per_s)}{more}: {who}."
