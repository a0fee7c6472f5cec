"""A history as a line chart that needs no script: places across are shares of the width, heights are fixed."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence

from markupsafe import Markup, escape

from rowpath.drawing.scale import LogAxis
from rowpath.site.model import History

HEIGHT = 150  # of the plot, in pixels
BELOW = 34  # for versions and dates
SCALE = 52  # width of the ratios beside the plot
EDGE = 4.0  # per cent of the width, left and right of the points
VERSIONS = 5  # named below the axis; the others stand in the table
FEW = 40  # points, which may be large
NAME = 14  # characters of a version
LEAST_SPAN = 1.1  # of the axis: noise must not look like an event


def history_chart(history: History) -> Markup:
    """Ratio over runs with 95 % intervals; a dashed line where a version begins, a step where the level changes."""
    axis = _axis(history)
    places = _places(len(history.points))
    ticks = [(f"{tick:.4g}×", _down(axis, math.log(tick))) for tick in axis.ticks()]
    grid = [f'<line class="grid" x1="0" x2="100%" y1="{y}" y2="{y}"/>' for _text, y in ticks]
    scale = "".join(f'<text x="{SCALE - 6}" y="{y + 4:g}" text-anchor="end">{text}</text>' for text, y in ticks)
    drawn = [*grid, *_versions(history, places), *_levels(history, places, axis), *_points(history, places, axis)]
    height = HEIGHT + BELOW
    return Markup(
        f'<div class="history" aria-hidden="true"><svg width="{SCALE}" height="{height}">{scale}</svg>'
        f'<svg class="plot" height="{height}">{"".join(drawn)}</svg></div>'
    )


def _axis(history: History) -> LogAxis:
    lows = [math.exp(point.low) for point in history.points]
    highs = [math.exp(point.high) for point in history.points]
    low, high = min(lows) / 1.02, max(highs) * 1.02
    middle = math.sqrt(low * high)
    half = math.sqrt(max(high / low, LEAST_SPAN))
    return LogAxis(middle / half, middle * half)


def _places(count: int) -> list[float]:
    """Per cent of the width; runs stand at equal distances."""
    if count == 1:
        return [50.0]
    return [round(EDGE + (100 - 2 * EDGE) * at / (count - 1), 2) for at in range(count)]


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
    if len(borders) == 2:
        return
    for begin, end in itertools.pairwise(borders):
        level = math.fsum(point.mean for point in history.points[begin:end]) / (end - begin)
        y = _down(axis, level)
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
