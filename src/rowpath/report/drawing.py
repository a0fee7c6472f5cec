"""Scalable drawings that need no script: lengths are shares of the width, so that one drawing fits every screen."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from markupsafe import Markup

TICKS = 6  # at most, so that their texts do not touch on a telephone
STEPS = ((1, 2, 5), (1, 3), (1,))
LINEAR = 4  # below this ratio of the ends a logarithmic axis has the ticks of a linear one
WIDE, HIGH = 1000, 100  # of what is stretched to its place
MIDDLE = 8  # of a bar's height


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
            return _round_steps(self.low, self.high)
        powers = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
        found: list[float] = []
        for steps in STEPS:
            found = [
                step * 10.0**power for power in powers for step in steps if self.low <= step * 10.0**power <= self.high
            ]
            if len(found) <= TICKS:
                return found
        return found[:: math.ceil(len(found) / TICKS)]


def _round_steps(low: float, high: float) -> list[float]:
    rough = (high - low) / (TICKS - 1)
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(step * power for step in (1, 2, 5, 10) if step * power >= rough)
    return [step * number for number in range(math.ceil(low / step), math.floor(high / step) + 1) if number > 0]


def bar(end: float, parts: Iterable[tuple[str, float]], whisker: tuple[float, float] | None) -> Markup:
    """A bar to `end` % of the width, split into parts by their shares of its length; a whisker over its interval."""
    pieces = []
    at = 0.0
    for kind, share in parts:
        length = round(end * share, 2)
        if length > 0:
            pieces.append(f'<rect class="{kind}" x="{at:g}%" y="2" width="{length:g}%" height="12"/>')
        at = round(at + end * share, 2)
    if whisker:
        low, high = whisker
        pieces.append(f'<line x1="{low:g}%" x2="{high:g}%" y1="{MIDDLE}" y2="{MIDDLE}"/>')
        pieces += [f'<line x1="{x:g}%" x2="{x:g}%" y1="4" y2="12"/>' for x in (low, high)]
    return Markup(f'<svg class="bar" aria-hidden="true">{"".join(pieces)}</svg>')


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


def blocks(found: Sequence[Block], label: str) -> Markup:
    """The blocks of a path in the order in which they ran, on a logarithmic axis of cost; a line between sets."""
    least, most = min(each.cost_ns for each in found), max(each.cost_ns for each in found)
    height = math.log(most / least) if most > least else 1.0
    across = WIDE / len(found)

    def points(disturbed: bool) -> str:
        return "".join(
            f"M{round((at + 0.5) * across)} {round(HIGH * (1 - math.log(each.cost_ns / least) / height))}h0"
            for at, each in enumerate(found)
            if each.disturbed == disturbed
        )

    borders = "".join(
        f"M{round(at * across)} 0v{HIGH}" for at in range(1, len(found)) if found[at].set != found[at - 1].set
    )
    drawn = [("border", borders), ("block", points(False)), ("disturbed", points(True))]
    paths = "".join(f'<path class="{kind}" d="{data}"/>' for kind, data in drawn if data)
    return Markup(
        '<svg class="blocks" role="img" aria-label="{}" viewBox="0 -4 {} {}" preserveAspectRatio="none">{}</svg>'
    ).format(label, WIDE, HIGH + 8, Markup(paths))
