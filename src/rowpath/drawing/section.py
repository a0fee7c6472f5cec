"""A section of a report: a table, begun with one sentence that answers and a picture."""

from __future__ import annotations

from markupsafe import Markup

from rowpath.drawing.grid import Grid
from rowpath.drawing.line_chart import Chart, draw
from rowpath.drawing.picture import Picture
from rowpath.model.base import Frozen

NOTHING = Markup("")


class Opening(Frozen, frozen=True):
    """A sentence, and a picture: either of curves, as finished HTML, or of bars.

    `beside`: the chapter's table stands beside the curves, else folded below them.
    """

    sentence: str = ""
    curves: Markup = NOTHING
    bars: Picture | None = None
    beside: bool = False


def of_chart(sentence: str, *charts: Chart | None) -> Opening:
    """A sentence over curves; over nothing where there are none."""
    return Opening(sentence, NOTHING.join(draw(chart) for chart in charts if chart))


class Section(Frozen, frozen=True):
    """A table and what its chapter begins with."""

    key: str
    grid: Grid
    opening: Opening = Opening()
    leading: bool = False  # what the experiment is about: the terminal shows it too
    left_out: int = 0  # rows


class TimeLines(Frozen, frozen=True):
    """The time lines of one path, a section for each set."""

    name: str
    sections: tuple[Section, ...]


def section_key(*parts: str) -> str:
    """The id of a section on the page."""
    text = "-".join(part for part in parts if part)
    return "".join(character if character.isalnum() else "-" for character in text.lower())
