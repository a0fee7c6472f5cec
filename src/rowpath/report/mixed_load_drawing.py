"""Client groups at work at once as pictures, each with the sentence that it shows."""

from __future__ import annotations

from collections.abc import Sequence

from rowpath import text as fmt
from rowpath.analysis.wording import ratio_text
from rowpath.analysis.mixed_load.model import (
    AcknowledgedCheck,
    BackupEffect,
    BackupFigures,
    GroupFigures,
    GroupRatio,
    Latency,
    MixedLoadReport,
    RateSearch,
)
from rowpath.drawing.line_chart import Chart, Curve, Point, named, valued
from rowpath.drawing.picture import Picture, PlainBar, plain
from rowpath.drawing.section import Opening, of_bars, of_chart
from rowpath.model.grouping import grouped

PERCENTILES = {"50 %": "p50_ns", "90 %": "p90_ns", "99 %": "p99_ns", "99.9 %": "p999_ns", "longest": "most_ns"}
MOST_CURVES = 5  # of a chart: each has a colour of its own


def openings(report: MixedLoadReport) -> dict[str, Opening]:
    """What each table of client groups begins with, by the table's key."""
    found = {
        "ratios": of_bars(ratios_sentence(report.ratios), ratios_picture(report.ratios)),
        "backups": Opening(backups_sentence(report.backups)),
        "effects": of_bars(effects_sentence(report.effects), effects_picture(report.effects)),
        "acknowledged": Opening(acknowledged_sentence(report.checks)),
    }
    by_path = grouped(report.figures, lambda each: each.name)
    for number, (name, figures) in enumerate(by_path.items()):
        found[f"path-{number}"] = of_chart(latency_sentence(figures), *latency_charts(name, figures))
    for number, search in enumerate(report.rate_searches):
        found[f"rates-{number}"] = of_chart(rate_search_sentence(search), rate_search_chart(search))
    return found


def latency_charts(name: str, figures: Sequence[GroupFigures]) -> list[Chart | None]:
    """Percentile curves of a path's groups: one chart, or one of each group where that has too many curves."""
    if len(figures) <= MOST_CURVES:
        return [latency_chart(name, figures)]
    of_each = grouped(figures, lambda each: each.client_group)
    return [latency_chart(f"{name}, {group}", of_group, f"{group}: ") for group, of_group in of_each.items()]


def latency_chart(name: str, figures: Sequence[GroupFigures], whose: str = "") -> Chart | None:
    """Percentile curves of every group of a path; of an open loop the service time and, dashed, the response time."""
    curves = []
    for each in figures:
        if not each.reached:
            continue
        who = fmt.clean(each.stage if whose else f"{each.client_group}, {each.stage}")
        response = f"{who}: response" if each.latency else who
        if each.latency:
            curves.append(Curve(f"{who}: service", _percentiles(each.service)))
        found = each.latency or each.service
        curves.append(Curve(response, _percentiles(found), dashed=each.latency is not None))
    if not any(curve.points for curve in curves):
        return None
    return Chart(
        label=f"{fmt.clean(name)}: percentiles of each client group's times; the table holds the figures",
        up=f"{fmt.clean(whose)}time of an operation",
        across=named("share of operations that took at most this", list(PERCENTILES)),
        curves=tuple(curves),
        text=fmt.duration,
        explanation="A point is a percentile over the operations of all sets; it has no interval.",
    )


def _percentiles(found: Latency) -> tuple[Point, ...]:
    values = ((at, getattr(found, field)) for at, field in enumerate(PERCENTILES.values()))
    return tuple(Point(at, value) for at, value in values if value)


def latency_sentence(figures: Sequence[GroupFigures]) -> str:
    """The group with the longest 99th percentile, and how far that is from its median."""
    known = [
        (found.p99_ns, found.p50_ns, each)
        for each in figures
        if each.reached and (found := each.latency or each.service).p99_ns and found.p50_ns
    ]
    if not known:
        return ""
    p99_ns, p50_ns, each = max(known, key=lambda one: one[0] or 0)
    return (
        f"Longest 99th percentile over all sets: {fmt.clean(each.client_group)} in {fmt.clean(each.stage)}, "
        f"{fmt.duration(p99_ns)}, "
        f"{fmt.ratio((p99_ns or 0) / (p50_ns or 1))} of its median."
    )


def rate_search_chart(search: RateSearch) -> Chart | None:
    """Percentiles of the response time over the rates that were tried and reached, with the bound."""
    tries = sorted((each for each in search.tries if each.reached), key=lambda each: each.rate_per_s)
    curves = tuple(
        Curve(text, tuple(Point(each.rate_per_s, value) for each in tries if (value := getattr(each, field))))
        for text, field in list(PERCENTILES.items())[:4]
        if field != "p90_ns"
    )
    if not tries or not any(curve.points for curve in curves):
        return None
    begin, end = (Point(each.rate_per_s, search.bound_ns) for each in (tries[0], tries[-1]))
    return Chart(
        label=f"{fmt.clean(search.name)}: response time by rate; the table holds the figures",
        up="response time",
        across=valued("operations/s requested", (each.rate_per_s for each in tries), fmt.rate),
        curves=curves,
        text=fmt.duration,
        explanation="A point is a percentile of one try; tries that did not reach their rate have none.",
        lines=(Curve(f"bound, {fmt.duration(search.bound_ns)}", (begin, end)),),
    )


def rate_search_sentence(search: RateSearch) -> str:
    """The highest rate at which the bound was kept."""
    who = f"{fmt.clean(search.client_group)} on {fmt.clean(search.name)}"
    if search.highest_per_s is None:
        return f"No rate that was tried kept the bound: {who}."
    more = "" if search.bounded else " or more: no higher rate was tried"
    return f"The bound is kept up to {fmt.rate(search.highest_per_s)}{more}: {who}."


def ratios_picture(found: Sequence[GroupRatio]) -> Picture | None:
    """Each group's rate behind a server relative to embedded."""
    return plain(
        "ratios",
        "Rate behind a server ÷ embedded",
        (
            _ratio_bar(f"{each.client_group}, {each.stage}", each, each.server)
            for each in sorted(found, key=lambda each: -each.ratio)
        ),
        fmt.ratio,
        "Rate behind a server ÷ the same engine's embedded, on a logarithmic axis: below 1 the server is slower. "
        "The line at a bar's end is its 95 % interval.",
    )


def _ratio_bar(name: str, each: GroupRatio | BackupEffect, note: str = "") -> PlainBar:
    return PlainBar(
        name=fmt.clean(name),
        value=each.ratio,
        text="",
        low=each.low,
        high=each.high,
        ratio=fmt.ratio(each.ratio),
        interval=fmt.interval(each.low, each.high),
        note=fmt.clean(note),
    )


def ratios_sentence(found: Sequence[GroupRatio]) -> str:
    """The range of the server's rates, relative to embedded."""
    if not found:
        return ""
    low, high = (chosen(found, key=lambda each: each.ratio) for chosen in (min, max))
    ends = [f"{_ratio(each)} for {fmt.clean(each.client_group)} in {fmt.clean(each.stage)}" for each in (low, high)]
    return f"Rates behind a server ÷ embedded: {' to '.join(dict.fromkeys(ends))}."


def _ratio(each: GroupRatio | BackupEffect) -> str:
    return ratio_text(each.ratio, each.low, each.high)


def effects_picture(found: Sequence[BackupEffect]) -> Picture | None:
    """Each group's rate during a backup relative to without one."""
    return plain(
        "effects",
        "Rate during a backup ÷ without one",
        (_ratio_bar(f"{each.name}: {each.client_group}", each) for each in sorted(found, key=lambda each: each.ratio)),
        fmt.ratio,
        "Rate while a backup runs ÷ rate without one, on a logarithmic axis: below 1 the backup slows the "
        "group. The line at a bar's end is its 95 % interval.",
    )


def effects_sentence(found: Sequence[BackupEffect]) -> str:
    """Whose rate a backup changes most, among those that it is shown to change."""
    if not found:
        return ""
    known = [each for each in found if each.low is not None and each.high is not None]
    changed = [each for each in known if not (each.low or 0) <= 1 <= (each.high or 0)]
    worst = min(changed or found, key=lambda each: each.ratio)
    who = f"{fmt.clean(worst.client_group)} on {fmt.clean(worst.name)}"
    if not changed:
        return (
            f"No rate is shown to change during a backup; the lowest is {who}: {_ratio(worst)} of the rate without one."
        )
    return f"A backup changes {who} most: {_ratio(worst)} of the rate without one."


def backups_sentence(found: Sequence[BackupFigures]) -> str:
    """How many backups were made, and how many of them restored."""
    made, restored = sum(each.made for each in found), sum(each.restored for each in found)
    return f"{restored} of {made} backups were restored and delivered every row." if made else ""


def acknowledged_sentence(found: Sequence[AcknowledgedCheck]) -> str:
    """Whether an acknowledged write was lost."""
    if not found:
        return ""
    lost, writes = sum(each.lost for each in found), sum(each.writes for each in found)
    return (
        f"{lost:,} of {writes:,} acknowledged writes were lost."
        if lost
        else f"None of {writes:,} acknowledged writes was lost."
    )
