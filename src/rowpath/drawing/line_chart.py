"""Curves over a shared axis as a drawing that needs no script: places are shares of its size, so it fits every screen.

Each curve has a number at its end and in the list above it, so that no colour is needed to tell curves apart.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from markupsafe import Markup, escape

from rowpath import text as fmt
from rowpath.drawing.scale import SIDE, LogAxis, line_colour, stretched, with_intervals
from rowpath.model.base import Frozen

NUMBERS_APART = 5.0  # per cent of the height
TICKS = 8
MOST_CURVES = 10  # more cannot be told apart


class Point(NamedTuple):
    """A value over its place on the horizontal axis, with its interval."""

    x: float
    y: float
    low: float | None = None
    high: float | None = None


class Curve(Frozen, frozen=True):
    """Points in the order of their x; or a line that was not measured, from one point to another: an ideal, a bound."""

    name: str
    points: tuple[Point, ...]
    dashed: bool = False


class Axis(Frozen, frozen=True):
    """The horizontal axis: names side by side, or values on a logarithmic axis."""

    title: str
    ticks: tuple[tuple[float, str], ...]  # of names: their numbers from 0
    low: float = 0.0  # both 0: names
    high: float = 0.0

    def at(self, value: float) -> float:
        """Where a value or a name's number lies, in per cent of the width."""
        if not self.high:
            return round(100 * (value + 0.5) / len(self.ticks), 2)
        return LogAxis(self.low, self.high).at(value) if self.high > self.low else 50.0


class Chart(Frozen, frozen=True):
    """Curves, their axes, and what a screen reader says of all; the vertical axis is logarithmic."""

    label: str
    up: str  # title of the vertical axis
    across: Axis
    curves: tuple[Curve, ...]  # the most telling first: see `draw`
    text: Callable[[float], str]  # of a value of the vertical axis
    explanation: str  # what a point is, as a sentence
    lines: tuple[Curve, ...] = ()  # that were not measured


def named(title: str, names: Sequence[str]) -> Axis:
    """An axis of names."""
    return Axis(title, tuple(enumerate(names)))


def valued(title: str, values: Iterable[float], text: Callable[[float], str]) -> Axis:
    """A logarithmic axis from the least to the greatest value; each is a tick, every other one if they are too many."""
    ordered = sorted(set(values))
    step = -(-len(ordered) // TICKS)
    return Axis(title, tuple((value, text(value)) for value in ordered[::step]), ordered[0], ordered[-1])


def of_curves(
    label: str,
    up: str,
    across: str,
    curves: Iterable[Curve],
    text: Callable[[float], str],
    explanation: str,
    *,
    names: Sequence[str] = (),
    worded: Callable[[float], str] = fmt.count,
    lines: tuple[Curve, ...] = (),
    least: int = 1,
) -> Chart | None:
    """The chart of the curves that have `least` points, over names or over values as they are worded; None of none."""
    kept = tuple(curve for curve in curves if len(curve.points) >= least)
    if not kept:
        return None
    places = (point.x for curve in (*kept, *lines) for point in curve.points)
    axis = named(across, names) if names else valued(across, places, worded)
    return Chart(label, up, axis, kept, text, explanation, lines)


def draw(chart: Chart) -> Markup:
    """The chart with the list of its curves, as HTML; first in the list is the curve that ends uppermost.

    Of more than `MOST_CURVES` the longest are drawn, of equally long ones the first, and the others are counted.
    """
    by_length = sorted((curve for curve in chart.curves if curve.points), key=lambda curve: -len(curve.points))
    curves = sorted(by_length[:MOST_CURVES], key=lambda curve: -curve.points[-1].y)
    points = [point for curve in (*curves, *chart.lines) for point in curve.points]
    least, most = with_intervals([point.y for point in points], [(point.low, point.high) for point in points])
    margin = max(most / least, 1.5) ** 0.06
    scale = LogAxis(least / margin, most * margin)
    unmeasured = (_way("unmeasured", chart, line.points, scale) for line in chart.lines)
    ways = (
        _way(f"c-{line_colour(at)}{' dashed' if curve.dashed else ''}", chart, curve.points, scale)
        for at, curve in enumerate(curves)
    )
    drawn = [
        *_ticks(chart, scale),
        stretched("".join([*unmeasured, *ways])),
        *(_marks(chart, curve, line_colour(at), scale) for at, curve in enumerate(curves)),
        *_numbers(chart, curves, scale),
    ]
    svg = f'<svg class="chart" role="img" aria-label="{escape(chart.label)}">{"".join(drawn)}</svg>'
    titles = f"<span>{escape(chart.up)}</span><span>{escape(chart.across.title)}</span>"
    charted = f'<div class="charted">{svg}<p aria-hidden="true">{titles}</p></div>'
    legend = _legend(chart, curves, len(by_length) - len(curves))
    return Markup(f'{legend}{charted}<figcaption class="how">{_how_to_read(chart)}</figcaption>')


def _how_to_read(chart: Chart) -> str:
    sentences = [chart.explanation]
    if any(point.low and point.high for curve in chart.curves for point in curve.points):
        sentences.append("The line through it is its 95 % interval.")
    sentences.append("Both axes are logarithmic." if chart.across.high else "The vertical axis is logarithmic.")
    return str(escape(" ".join(sentences)))


def _up(scale: LogAxis, value: float) -> float:
    """Where a value lies, in per cent of the height from above."""
    return round(100 - scale.at(value), 2)


def _ticks(chart: Chart, scale: LogAxis) -> Iterator[str]:
    for value in scale.ticks():
        y = _up(scale, value)
        yield f'<line class="grid" x1="0" x2="100%" y1="{y:g}%" y2="{y:g}%"/>'
        yield f'<text class="up" x="-8" y="{y:g}%" dy="4">{escape(chart.text(value))}</text>'
    for place, text in chart.across.ticks:
        x = chart.across.at(place)
        yield f'<line class="grid" x1="{x:g}%" x2="{x:g}%" y1="0" y2="100%"/>'
        yield f'<text class="across" x="{x:g}%" y="100%" dy="18">{escape(text)}</text>'


def _way(kind: str, chart: Chart, points: Sequence[Point], scale: LogAxis) -> str:
    places = (f"{chart.across.at(point.x) * SIDE / 100:.0f} {_up(scale, point.y) * SIDE / 100:.0f}" for point in points)
    return f'<path class="{kind}" d="M{"L".join(places)}"/>'


def _marks(chart: Chart, curve: Curve, colour: str, scale: LogAxis) -> str:
    """A dot for each point of a curve, a line over its interval; a pointer on it shows its value."""
    drawn = []
    for point in curve.points:
        x, y = chart.across.at(point.x), _up(scale, point.y)
        if point.low and point.high:
            ends = f'y1="{_up(scale, point.low):g}%" y2="{_up(scale, point.high):g}%"'
            drawn.append(f'<line x1="{x:g}%" x2="{x:g}%" {ends}/>')
        title = f"<title>{escape(curve.name)}: {escape(chart.text(point.y))}</title>"
        drawn.append(f'<circle cx="{x:g}%" cy="{y:g}%" r="4">{title}</circle>')
    return f'<g class="c-{colour}">{"".join(drawn)}</g>'


def _numbers(chart: Chart, curves: Sequence[Curve], scale: LogAxis) -> list[str]:
    """Each curve's number beside its last point."""
    if len(curves) < 2:
        return []
    heights = _apart([_up(scale, curve.points[-1].y) for curve in curves])
    return [
        f'<text x="{chart.across.at(curve.points[-1].x):g}%" dx="9" y="{height:.1f}%" dy="4">{at}</text>'
        for at, (curve, height) in enumerate(zip(curves, heights, strict=True), 1)
    ]


def _apart(places: Sequence[float]) -> list[float]:
    """Ascending places moved so that they are `NUMBERS_APART`: those that would touch spread about their mean."""
    together: list[list[float]] = []
    for place in places:
        together.append([place])
        while len(together) > 1 and _spread(together[-2])[-1] + NUMBERS_APART > _spread(together[-1])[0]:
            last = together.pop()
            together[-1] += last
    return [place for group in together for place in _spread(group)]


def _spread(places: Sequence[float]) -> list[float]:
    begin = sum(places) / len(places) - NUMBERS_APART * (len(places) - 1) / 2
    return [begin + NUMBERS_APART * at for at in range(len(places))]


def _legend(chart: Chart, curves: Sequence[Curve], left_out: int) -> str:
    items = [
        f'<li><svg class="c-{line_colour(at)}"><circle cx="7" cy="7" r="4.5"/></svg>'
        f"{f'{at + 1}: ' if len(curves) > 1 else ''}{escape(curve.name)}{' (dashed)' if curve.dashed else ''}</li>"
        for at, curve in enumerate(curves)
    ]
    items += [f"<li>grey, dashed: {escape(line.name)}</li>" for line in chart.lines]
    items += [f"<li>{left_out} more in the table</li>"] if left_out else []
    return f'<ul class="legend">{"".join(items)}</ul>'
