"""Bars on one logarithmic axis, with the texts beside them: rows of a ranking, or of plain values."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Protocol

import msgspec
from markupsafe import Markup

from rowpath.drawing.scale import LogAxis, axis, bar, grid_lines, short, with_intervals
from rowpath.model.base import Frozen

PARTS = {"client": "client CPU", "pooler": "pooler CPU", "server": "server CPU", "waiting": "waiting"}
SHOWN = 10  # rows; the others fold out


class PanelDifference(Frozen, frozen=True):
    """One coordinate, setting or version that a path and its neighbour do not share."""

    name: str
    here: str
    there: str


class Panel(Frozen, frozen=True):
    """The inside of a row; everything in it is finished text."""

    coordinates: str  # those that vary in this run
    neighbour: str
    against: str  # this path's time relative to its neighbour's, with its interval
    differences: tuple[PanelDifference, ...]
    versions: str
    figures: tuple[tuple[str, str], ...]
    query: str
    program: str  # the id of a program on this page that does the same; empty: none
    adapter: str  # the file whose text is on this page; empty: none
    code: str  # the id of that text
    command: str
    trust: str
    blocks: Markup
    blocks_text: str


class Mark(Frozen, frozen=True):
    """A mark beside a row: the findings about its path."""

    href: str
    severity: str
    text: str


class PlainBar(Frozen, frozen=True):
    """A row: a value as a bar, the texts beside it, and what it opens to; a picture draws it.

    `parts`: kinds of the style sheet by their share of the bar's length. `border`: the value at which the first of two
    ends instead. `tie`: where it stands in a bracket.
    """

    name: str
    value: float
    text: str
    low: float | None = None  # its interval
    high: float | None = None
    ratio: str = ""
    interval: str = ""  # of the ratio
    note: str = ""
    parts: tuple[tuple[str, float], ...] = (("all", 1.0),)
    border: float | None = None
    path: int = -1  # its number among the run's paths, for the filters; −1: none
    rank: str = ""  # empty: its place in the picture
    tie: str = ""
    drawing: Markup = Markup("")
    key: str = ""  # of its panel here
    href: str = ""  # of its panel elsewhere
    panel: Panel | None = None
    marks: tuple[Mark, ...] = ()


class Picture(Frozen, frozen=True):
    """A ranking as bars, what lies behind them, and how to read it."""

    key: str
    title: str
    rows: tuple[PlainBar, ...]
    more: tuple[PlainBar, ...]  # after the first `SHOWN`
    left_out: int
    lines: Markup
    axis: Markup
    legend: tuple[tuple[str, str], ...]
    how_to_read: str
    explained: bool = False  # by an earlier picture of the page, in the same words


class Divided(Protocol):
    """A bar whose length may be divided by kinds of time."""

    @property
    def parts(self) -> tuple[tuple[str, float], ...]:
        """Kinds and their shares."""


def legend(bars: Iterable[Divided]) -> tuple[tuple[str, str], ...]:
    """The kinds of time that any of these bars is divided into, with their words."""
    kinds = {kind for bar in bars for kind, _share in bar.parts}
    return tuple((kind, words) for kind, words in PARTS.items() if kind in kinds)


def plain(
    key: str,
    title: str,
    bars: Iterable[PlainBar],
    text: Callable[[float], str],
    how_to_read: str,
    legend: tuple[tuple[str, str], ...] = (),
    *,
    uncut: bool = False,
    floor: tuple[float | None, str] = (None, ""),
    most: int | None = None,
) -> Picture | None:
    """Bars in this order on one logarithmic axis whose values `text` words; None when none is above 0.

    `uncut`: the axis reaches to the ends of all lines, however far they are. `floor`: a value with a line of its own
    where it lies on the axis, and the sentence that explains it. `most`: so many rows are drawn.
    """
    above = [one for one in bars if one.value > 0]
    if not above:
        return None
    values, lines = [one.value for one in above], [(one.low, one.high) for one in above]
    if uncut:
        values += [end for line in lines for end in line if end]
    scale = LogAxis.over(with_intervals(values, lines))
    ticks = [(scale.at(value), short(text(value))) for value in scale.ticks()]
    at_floor = scale.at(floor[0]) if floor[0] and floor[0] >= scale.low else None
    rows = []
    for at, one in enumerate(above[:most], 1):
        whisker = (scale.at(one.low), scale.at(one.high)) if one.low and one.high else None
        parts, length = one.parts, scale.at(one.value)
        if one.border is not None and length:
            share = scale.at(one.border) / length
            parts = ((parts[0][0], share), (parts[1][0], 1 - share))
        drawing = bar(length, parts, whisker)
        rows.append(msgspec.structs.replace(one, rank=one.rank or str(at), drawing=drawing))
    return Picture(
        key=key,
        title=title,
        rows=tuple(rows[:SHOWN]),
        more=tuple(rows[SHOWN:]),
        left_out=len(above) - len(rows),
        lines=grid_lines([x for x, _ in ticks], at_floor),
        axis=axis(ticks),
        legend=legend,
        how_to_read=how_to_read if at_floor is None else f"{how_to_read} {floor[1]}",
    )
