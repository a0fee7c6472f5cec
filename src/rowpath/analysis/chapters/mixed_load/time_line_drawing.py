"""Time lines as drawings: lanes under one another, all over one axis of time."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from markupsafe import Markup, escape

from rowpath import text as fmt
from rowpath.analysis.chapters.mixed_load.time_line import Second, Series, TimeLine, table, thinned
from rowpath.drawing.scale import SIDE, LogAxis, Span, line_colour, round_steps, short, stretched
from rowpath.drawing.section import Opening, Section, TimeLines
from rowpath.model.grouping import grouped

SECONDS_DRAWN = 600  # more would be narrower than a pixel
PROCESSES = ("client", "server", "backup", "controller")  # have colours of their own


class SeriesCurve(NamedTuple):
    """A series as it is drawn; without a label where its lane's title names it."""

    series: Series
    label: str
    colour: str
    dashed: bool = False


class Lane(NamedTuple):
    """One quantity over time; `failed`, `stalled`: the spans in which operations of a group did."""

    title: str
    curves: tuple[SeriesCurve, ...]
    log: bool = False
    failed: tuple[Span, ...] = ()
    stalled: tuple[Span, ...] = ()


class Time(NamedTuple):
    """The axis that all lanes share, in seconds."""

    begin: float
    end: float

    def at(self, second: float) -> float:
        """Where a moment lies, in per cent of the width."""
        return round(100 * (second - self.begin) / ((self.end - self.begin) or 1.0), 2)

    def span(self, span: Span) -> str:
        """Place and width of a span, as attributes."""
        begin, end = map(self.at, span)
        return f'x="{begin:g}%" width="{max(0.3, end - begin):.2f}%"'


def by_path(lines: Iterable[TimeLine]) -> tuple[TimeLines, ...]:
    """The time lines of client groups, path by path: a drawing and a table of each set."""
    sections = (
        (fmt.clean(line.name), Section(f"time-line-{number}", table(line), Opening(curves=draw(line))))
        for number, line in enumerate(lines)
    )
    return tuple(
        TimeLines(name, tuple(section for _name, section in listed))
        for name, listed in grouped(sections, lambda item: item[0]).items()
    )


def draw(line: TimeLine) -> Markup:
    """The lanes of a time line with their legend, as HTML; nothing without a second."""
    if not line.at_s:
        return Markup("")
    shown, step = thinned(line, SECONDS_DRAWN)
    seconds = shown.seconds
    lanes = _lanes(shown, seconds)
    ends = [end for second in seconds for end in (second.begin, second.end)]
    ends += [end for _name, *span in shown.stages for end in span]
    time = Time(min(ends), max(ends))
    label = (
        f"Time line of {fmt.clean(line.name)}, set {line.set + 1}: {len(line.at_s)} seconds in "
        f"{len(line.stages)} stages; the table below it holds the figures"
    )
    # The stages' numbers over the lanes: the legend has their names.
    stages = "".join(
        f'<svg {time.span((begin, end))} height="18"><text x="4" y="13">{at}</text></svg>'
        for at, (_name, begin, end) in enumerate(shown.stages, 1)
    )
    drawn = "".join(_drawn(lane, shown, seconds, time) for lane in lanes)
    return Markup(
        f'{_legend(shown, lanes, step)}<div class="time-line" role="img" aria-label="{escape(label)}">'
        f'<svg class="stages">{stages}</svg>{drawn}{_axis(time)}</div>'
    )


def _legend(line: TimeLine, lanes: Sequence[Lane], step: int) -> str:
    stages = " · ".join(f"{at}: {fmt.clean(name)}" for at, (name, *_span) in enumerate(line.stages, 1))
    signs = (
        ("backup", "backup under way", bool(line.backups)),
        ("kill", "engine killed", bool(line.kills)),
        ("stalled", "stalled: an operation under way for over 1 s", any(lane.stalled for lane in lanes)),
        ("failed", "failed operations", any(lane.failed for lane in lanes)),
    )
    items = [f"<li>{escape(stages)}</li>"]
    items += [f'<li><span class="sign {kind}"></span>{text}</li>' for kind, text, shown in signs if shown]
    items += [f"<li>each point shows {step} seconds</li>"] if step > 1 else []
    return f'<ul class="legend">{"".join(items)}</ul>'


def _drawn(lane: Lane, line: TimeLine, seconds: Sequence[Second], time: Time) -> str:
    values = [value for curve in lane.curves for value in curve.series.values if value and value > 0]
    high = max(values, default=1.0)
    scale = _Up(0.0, high * 1.08, log=False)
    if lane.log:
        powers = math.floor(math.log10(min(values, default=1.0))), math.ceil(math.log10(high * 1.01))
        scale = _Up(10.0 ** powers[0], 10.0 ** powers[1], log=True)
    size, unit = _unit(lane, values)
    behind = [
        f'<rect class="backup" {time.span(span)} height="100%"><title>backup, {span[1] - span[0]:.1f} s</title></rect>'
        for span in line.backups
    ]
    behind += [_upright("border", time.at(begin)) for _name, begin, _end in line.stages]
    behind += [
        f'<line class="grid" x2="100%" y1="{y:g}%" y2="{y:g}%"/><text class="up" x="-6" y="{y:g}%" dy="4">{text}</text>'
        for y, text in scale.ticks(size)
    ]
    ways = "".join(_way(curve, seconds, time, scale) for curve in lane.curves)
    over = [
        f'<rect class="stalled" {time.span(span)} y="94%" height="6%">'
        f"<title>stalled {span[1] - span[0]:.1f} s</title></rect>"
        for span in lane.stalled
    ]
    over += [
        f'<text class="failed" x="{time.at((begin + end) / 2):g}%" y="10">×<title>failed operations</title></text>'
        for begin, end in lane.failed
    ]
    over += [_upright("kill", time.at(at), f"killed at {at:.1f} s") for at in line.kills]
    names = "".join(
        f' <span class="c-{curve.colour}">{"╌" if curve.dashed else "━"} {escape(curve.label)}</span>'
        for curve in lane.curves
        if curve.label
    )
    title = f"{lane.title}, {unit}"
    return f'<p>{escape(title)}{names}</p><svg class="lane">{"".join(behind)}{stretched(ways)}{"".join(over)}</svg>'


def _upright(kind: str, x: float, title: str = "") -> str:
    return f'<line class="{kind}" x1="{x:g}%" x2="{x:g}%" y2="100%">{f"<title>{title}</title>" if title else ""}</line>'


def _axis(time: Time) -> str:
    texts = "".join(
        f'<text x="{time.at(tick):g}%" y="12">{tick:g}</text>' for tick in [0.0, *round_steps(time.begin, time.end)]
    )
    below = '<p class="across">seconds since the first stage began</p>'
    return f'<svg class="axis" aria-hidden="true">{texts}</svg>{below}'


class _Up(NamedTuple):
    """The vertical axis of a lane."""

    low: float
    high: float
    log: bool

    def at(self, value: float) -> float:
        """Where a value lies, in per cent of the height from above."""
        if self.log:
            return round(100 - LogAxis(self.low, self.high).at(value), 1)
        return round(100 * (1 - min(1.0, value / self.high)), 1)

    def ticks(self, size: float) -> Iterator[tuple[float, str]]:
        """Places and texts of at most four round values, in units of `size`."""
        if self.log:
            powers = range(round(math.log10(self.low)), round(math.log10(self.high)) + 1)
            values = [10.0**power for power in powers][:: math.ceil(len(powers) / 4)]
        else:
            values = [0.0, *(step * size for step in round_steps(0.0, self.high / size, 4))]
        return ((self.at(value), _number(value / size)) for value in values)


def _number(value: float) -> str:
    return short(fmt.count(value)) if value < 1000 else f"{short(fmt.count(value / 1000))} k"


def _way(curve: SeriesCurve, seconds: Sequence[Second], time: Time, scale: _Up) -> str:
    """Each second as a step of its whole length; a gap where one is not known."""
    drawn: list[str] = []
    before: float | None = None
    for value, second in zip(curve.series.values, seconds, strict=True):
        if value is None or (scale.log and value <= 0):
            continue
        y = round(SIDE * scale.at(value) / 100)
        begin, end = (round(SIDE * time.at(at) / 100) for at in (second.begin, second.end))
        drawn.append(f"V{y}H{end}" if before == second.begin else f"M{begin} {y}H{end}")
        before = second.end
    kind = f"c-{curve.colour}{' dashed' if curve.dashed else ''}"
    return f'<path class="{kind}" d="{"".join(drawn)}"/>'


_UNITS: dict[str, tuple[tuple[float, str], ...]] = {
    "ns": ((1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1.0, "ns")),
    "bytes": ((2.0**30, "GiB"), (2.0**20, "MiB"), (2.0**10, "KiB"), (1.0, "B")),
}


def _unit(lane: Lane, values: Sequence[float]) -> tuple[float, str]:
    """The unit that makes the lane's numbers short: its size in the series' own, and its name."""
    base, per, by = lane.curves[0].series.unit.partition("/")
    typical = math.sqrt(min(values) * max(values)) if lane.log and values else max(values, default=1.0)
    size, unit = next((unit for unit in _UNITS.get(base, ()) if typical >= unit[0]), (1.0, base))
    return size, f"{unit}{per}{by}"


def _lanes(line: TimeLine, seconds: Sequence[Second]) -> list[Lane]:
    """A lane for each group's rate, then one for each other quantity that is known."""
    known = (series for series in line.series if any(value is not None for value in series.values))
    by_quantity = grouped(known, lambda series: series.quantity)
    groups = {series.of: number for number, series in enumerate(by_quantity.get("rate", []))}
    lanes = [
        Lane(
            fmt.clean(series.of),
            (SeriesCurve(series, "", line_colour(groups[series.of])),),
            failed=_spans(by_quantity.get("failed", []), series.of, seconds),
            stalled=_spans(by_quantity.get("stall", []), series.of, seconds),
        )
        for series in by_quantity.get("rate", [])
    ]
    slow = [
        SeriesCurve(series, fmt.clean(series.of), line_colour(groups.get(series.of, len(groups))))
        for series in by_quantity.get("p99", [])
    ]
    others = {
        "99th percentile": slow,
        "CPU": _of_processes(by_quantity.get("cpu", [])),
        "memory": _of_processes(by_quantity.get("memory", [])),
        "our connections": _pair(by_quantity, "sent", "received"),
        "disk writes (╌ reads)": _pair(by_quantity, "written", "read"),
    }
    return lanes + [Lane(title, tuple(curves), log=curves is slow) for title, curves in others.items() if curves]


def _spans(listed: Iterable[Series], of: str, seconds: Sequence[Second]) -> tuple[Span, ...]:
    """Consecutive seconds in which this group's series is worth showing."""
    spans: list[Span] = []
    for series in listed:
        for value, second in zip(series.values if series.of == of else (), seconds, strict=False):
            if not series.shows(value):
                continue
            begin = spans.pop()[0] if spans and spans[-1][1] == second.begin else second.begin
            spans.append((begin, second.end))
    return tuple(spans)


def _of_processes(listed: Iterable[Series]) -> list[SeriesCurve]:
    return [SeriesCurve(series, fmt.clean(series.of), _process(series.of, at)) for at, series in enumerate(listed)]


def _process(name: str, number: int) -> str:
    return name if name in PROCESSES else line_colour(number)


def _pair(by_quantity: dict[str, list[Series]], first: str, second: str) -> list[SeriesCurve]:
    """Two quantities in one lane, the second dashed; where there are several processes each has its colour."""
    listed = [*by_quantity.get(first, []), *by_quantity.get(second, [])]
    processes = list(dict.fromkeys(series.of for series in listed))
    curves = []
    for series in listed:
        dashed = series.quantity == second
        label, colour = series.quantity, line_colour(dashed)
        if len(processes) > 1:
            label, colour = "" if dashed else fmt.clean(series.of), _process(series.of, processes.index(series.of))
        curves.append(SeriesCurve(series, label, colour, dashed))
    return curves
