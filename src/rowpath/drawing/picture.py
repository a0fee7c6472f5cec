"""Bars on one logarithmic axis, with the texts beside them: rows of a ranking, or of plain values."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from markupsafe import Markup

from rowpath.drawing.scale import LogAxis, axis, bar, grid_lines, short, with_intervals
from rowpath.model.base import Frozen

PARTS = {"client": "client CPU", "server": "server CPU", "waiting": "waiting"}
SHOWN = 10  # rows; the others fold out


class Difference(Frozen, frozen=True):
    """One coordinate, setting or version that a path and its neighbour do not share."""

    name: str
    here: str
    there: str


class Panel(Frozen, frozen=True):
    """The inside of a row; everything in it is finished text."""

    coordinates: str  # those that vary in this run
    neighbour: str
    against: str  # this path's time relative to its neighbour's, with its interval
    differences: tuple[Difference, ...]
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


class PictureRow(Frozen, frozen=True):
    """A path's bar with its figures; `tie`: where it stands in a bracket."""

    key: str  # of its panel here
    path: int  # its number among the run's paths, for the filters; −1: none
    name: str
    rank: str
    note: str
    figure: str
    ratio: str
    interval: str
    tie: str
    drawing: Markup
    href: str = ""  # of its panel elsewhere on the page
    panel: Panel | None = None
    marks: tuple[Mark, ...] = ()


class Picture(Frozen, frozen=True):
    """A ranking as bars, what lies behind them, and how to read it."""

    key: str
    title: str
    rows: tuple[PictureRow, ...]
    more: tuple[PictureRow, ...]  # after the first `SHOWN`
    left_out: int  # after the first `MOST`
    lines: Markup
    axis: Markup
    legend: tuple[tuple[str, str], ...]
    how_to_read: str
    explained: bool  # by an earlier picture of the page, in the same words


class PlainBar(Frozen, frozen=True):
    """A value as a bar, with the texts beside it; `parts`: kinds of the style sheet by their share of its length."""

    name: str
    value: float
    text: str
    low: float | None = None  # its interval
    high: float | None = None
    ratio: str = ""
    interval: str = ""  # of the ratio
    note: str = ""
    parts: tuple[tuple[str, float], ...] = (("all", 1.0),)
    path: int = -1


def plain(
    key: str,
    title: str,
    bars: Iterable[PlainBar],
    text: Callable[[float], str],
    how_to_read: str,
    legend: tuple[tuple[str, str], ...] = (),
    *,
    uncut: bool = False,
) -> Picture | None:
    """Bars in this order on one logarithmic axis whose values `text` words; None when none is above 0.

    `uncut`: the axis reaches to the ends of all lines, however far they are.
    """
    drawn = [plain_bar for plain_bar in bars if plain_bar.value > 0]
    if not drawn:
        return None
    values, lines = [plain_bar.value for plain_bar in drawn], [(plain_bar.low, plain_bar.high) for plain_bar in drawn]
    if uncut:
        values += [end for line in lines for end in line if end]
    scale = LogAxis.over(with_intervals(values, lines))
    ticks = [(scale.at(value), short(text(value))) for value in scale.ticks()]
    rows = []
    for at, plain_bar in enumerate(drawn):
        ends = (scale.at(plain_bar.low), scale.at(plain_bar.high)) if plain_bar.low and plain_bar.high else None
        row = PictureRow(
            key="",
            path=plain_bar.path,
            name=plain_bar.name,
            rank=str(at + 1),
            note=plain_bar.note,
            figure=plain_bar.text,
            ratio=plain_bar.ratio,
            interval=plain_bar.interval,
            tie="",
            drawing=bar(scale.at(plain_bar.value), plain_bar.parts, ends),
        )
        rows.append(row)
    return Picture(
        key=key,
        title=title,
        rows=tuple(rows[:SHOWN]),
        more=tuple(rows[SHOWN:]),
        left_out=0,
        lines=grid_lines([x for x, _ in ticks], None),
        axis=axis(ticks),
        legend=legend,
        how_to_read=how_to_read,
        explained=False,
    )
