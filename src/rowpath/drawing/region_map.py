"""A map over two logarithmic axes: which of several leads where, with its value at round places; needs no script."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from markupsafe import Markup, escape

from rowpath.drawing.scale import LogAxis, line_colour
from rowpath.model.base import Frozen

ROWS = 60  # of the map: each is exact along its middle


class RegionMap(Frozen, frozen=True):
    """Leaders over both axes; `leaders` and `value` are asked for any place inside them.

    `leaders(y)`: (number of a name, from x) along the row at y, ascending from the least x.
    """

    label: str
    across: str
    up: str
    names: tuple[str, ...]
    x_ticks: tuple[tuple[float, str], ...]  # from the least to the greatest x
    y_ticks: tuple[tuple[float, str], ...]
    leaders: Callable[[float], Sequence[tuple[int, float]]]
    value: Callable[[int, float, float], str]  # of a name's number at (x, y)


def draw(shown: RegionMap) -> Markup:
    """The map with the list of its names, as HTML."""
    x, y = (LogAxis(ticks[0][0], ticks[-1][0]) for ticks in (shown.x_ticks, shown.y_ticks))
    drawn = "".join([*_runs(shown, x, y), *_texts(shown, x, y)])
    svg = f'<svg class="map" role="img" aria-label="{escape(shown.label)}">{drawn}</svg>'
    titles = f"<span>{escape(shown.up)}</span><span>{escape(shown.across)}</span>"
    legend = "".join(
        f'<li><svg class="c-{line_colour(at)}"><circle cx="7" cy="7" r="4.5"/></svg>{at + 1}: {escape(name)}</li>'
        for at, name in enumerate(shown.names)
    )
    charted = f'<div class="charted">{svg}<p aria-hidden="true">{titles}</p></div>'
    how = f"{shown.label}. A colour is the one that leads there, a text its value. Both axes are logarithmic."
    return Markup(f'<ul class="legend">{legend}</ul>{charted}<figcaption class="how">{escape(how)}</figcaption>')


def _runs(shown: RegionMap, x: LogAxis, y: LogAxis) -> Iterator[str]:
    """Each row as one rectangle for each of its leaders."""
    for row in range(ROWS):
        leaders = shown.leaders(y.low * (y.high / y.low) ** ((row + 0.5) / ROWS))
        ends = [*(x.at(start) for _number, start in leaders[1:]), 100.0]
        top, height = round(100 - 100 * (row + 1) / ROWS, 3), round(100 / ROWS, 3)
        for (number, start), end in zip(leaders, ends, strict=True):
            begin = x.at(start)
            place = f'x="{begin:g}%" y="{top:g}%" width="{end - begin:.2f}%" height="{height:g}%"'
            yield f'<rect class="c-{line_colour(number)}" {place}/>'


def _texts(shown: RegionMap, x: LogAxis, y: LogAxis) -> Iterator[str]:
    """The ticks, and the leader's number and value where two of them meet."""
    for place, text in shown.x_ticks:
        yield f'<text class="across" x="{x.at(place):g}%" y="100%" dy="18">{escape(text)}</text>'
    for height, text in shown.y_ticks:
        up = 100 - y.at(height)
        yield f'<text class="up" x="-8" y="{up:g}%" dy="4">{escape(text)}</text>'
        leaders = shown.leaders(height)
        for at, (place, _text) in enumerate(shown.x_ticks):
            number = [number for number, start in leaders if start <= place][-1]
            anchor = "start" if at == 0 else "end" if at == len(shown.x_ticks) - 1 else "middle"
            shift = 14 if up < 1 else -6
            words = f"{number + 1}: {shown.value(number, place, height)}"
            where = f'x="{x.at(place):g}%" y="{up:g}%" dy="{shift}" text-anchor="{anchor}"'
            yield f"<text {where}>{escape(words)}</text>"
