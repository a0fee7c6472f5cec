"""Scalable drawings that need no script: lengths are shares of the width, so that one drawing fits every screen."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from markupsafe import Markup

TICKS = 6  # at most, so that their texts do not touch on a telephone
STEPS = ((1, 2, 5), (1, 3), (1,))
LINEAR = 4  # below this ratio of the ends a logarithmic axis has the ticks of a linear one
BEYOND = 4.0  # times the greatest value, or this part of the least: where an interval is cut
Span = tuple[float, float]
SIDE = 1000  # of the square that lines are stretched from
COLOURS = 5
WIDE, HIGH = 1000, 100  # of what is stretched to its place


class LogAxis(NamedTuple):
    """A logarithmic axis from one value to another."""

    low: float
    high: float

    @classmethod
    def over(cls, values: Sequence[float]) -> LogAxis:
        """The axis of bars over these values: it begins so far below the least that its bar can be seen."""
        least, most = min(values), max(values)
        span = max(most / least, 2.0)
        return cls(least / span**0.25, most * span**0.03)

    def at(self, value: float) -> float:
        """Where a value lies, in per cent of the width; never outside."""
        share = math.log(value / self.low) / math.log(self.high / self.low) if value > 0 else 0.0
        return round(100 * min(1.0, max(0.0, share)), 2)

    def ticks(self) -> list[float]:
        """Round values, at most `TICKS` of them."""
        if self.high / self.low < LINEAR:
            return round_steps(self.low, self.high)
        powers = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
        ticks: list[float] = []
        for steps in STEPS:
            ticks = [
                tick for power in powers for step in steps if self.low <= (tick := step * 10.0**power) <= self.high
            ]
            if len(ticks) <= TICKS:
                return ticks
        return ticks[:: math.ceil(len(ticks) / TICKS)]


def with_intervals(values: Sequence[float], intervals: Iterable[tuple[float | None, float | None]]) -> Span:
    """The span of an axis for values and their intervals: what lies too far beyond the values is cut."""
    least, most = min(values), max(values)
    ends = [end for interval in intervals for end in interval if end and least / BEYOND < end < most * BEYOND]
    return min([least, *ends]), max([most, *ends])


def round_steps(low: float, high: float, most: int = TICKS) -> list[float]:
    """At most this many round values above 0 at equal distances between two."""
    rough = (high - low) / (most - 1)
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(step * power for step in (1, 2, 5, 10) if step * power >= rough)
    return [step * number for number in range(math.ceil(low / step), math.floor(high / step) + 1) if number > 0]


def short(text: str) -> str:
    """A tick's text without digits that say nothing: `10 µs` of `10.0 µs`, `5 k/s` of `5.00 k/s`."""
    digits = len(text) - len(text.lstrip("0123456789.,"))
    return f"{float(text[:digits].replace(',', '')):g}{text[digits:]}"


def line_colour(number: int) -> str:
    """The colour of the style sheet of the line with this number, from 0; they repeat."""
    return f"line-{number % COLOURS + 1}"


def stretched(paths: str) -> str:
    """Paths in a square of `SIDE`, stretched over all of the drawing that they are in."""
    return f'<svg viewBox="0 0 {SIDE} {SIDE}" preserveAspectRatio="none">{paths}</svg>'


def bar(end: float, parts: Iterable[tuple[str, float]], whisker: tuple[float, float] | None) -> Markup:
    """A bar to `end` % of the width, split into parts by their shares of its length; a whisker over its interval.

    Heights and the whisker's caps are the style sheet's: a page holds hundreds of these.
    """
    pieces = []
    at = 0.0
    for kind, share in parts:
        begin, at = at, at + end * share
        if round(at - begin, 1) > 0:
            place = f' x="{begin:.1f}%"' if begin else ""
            pieces.append(f'<rect class="{kind}"{place} width="{at - begin:.1f}%"/>')
    if whisker:
        pieces.append('<line x1="{:.1f}%" x2="{:.1f}%"/>'.format(*whisker))
    return Markup(f'<svg class="bar">{"".join(pieces)}</svg>')


def grid_lines(positions: Iterable[float], floor: float | None) -> Markup:
    """The lines behind all bars of a picture, the floor's dashed."""
    lines = [f'<line x1="{x:g}%" x2="{x:g}%" y1="0" y2="100%"/>' for x in positions]
    if floor is not None:
        lines.append(f'<line class="floor" x1="{floor:g}%" x2="{floor:g}%" y1="0" y2="100%"/>')
    return Markup(f'<svg class="lines" aria-hidden="true">{"".join(lines)}</svg>')


def axis(ticks: Iterable[tuple[float, str]]) -> Markup:
    """The texts under a picture."""
    texts = [f'<text x="{x:g}%" y="12">{text}</text>' for x, text in ticks]
    return Markup(f'<svg class="axis" aria-hidden="true">{"".join(texts)}</svg>')


class Block(NamedTuple):
    """One block of a path: what an operation took, whether it was disturbed."""

    set: int
    cost_ns: float
    disturbed: bool


def blocks(listed: Sequence[Block], *, borders: bool = True) -> Markup:
    """The blocks of a path as they ran, on a logarithmic axis of cost; `borders`: with a line between sets."""
    least, most = min(block.cost_ns for block in listed), max(block.cost_ns for block in listed)
    height = math.log(most / least) if most > least else 1.0
    across = WIDE / len(listed)

    drawn = {"border": "", "block": "", "disturbed": ""}
    for at, block in enumerate(listed):
        if borders and at and block.set != listed[at - 1].set:
            drawn["border"] += f"M{round(at * across)} 0v{HIGH}"
        y = round(HIGH * (1 - math.log(block.cost_ns / least) / height))
        drawn["disturbed" if block.disturbed else "block"] += f"M{round((at + 0.5) * across)} {y}h0"
    paths = "".join(f'<path class="{kind}" d="{data}"/>' for kind, data in drawn.items() if data)
    view = f'viewBox="0 -4 {WIDE} {HIGH + 8}" preserveAspectRatio="none"'
    return Markup(f'<svg class="blocks" aria-hidden="true" {view}>{paths}</svg>')


def caps() -> Markup:
    """What the whiskers of all bars end with; once on a page."""
    return Markup(
        '<svg class="unseen" aria-hidden="true"><marker id="cap" refX="1" refY="4" markerWidth="2" markerHeight="8" '
        'markerUnits="userSpaceOnUse"><path d="M1 0v8"/></marker></svg>'
    )
