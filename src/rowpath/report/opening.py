"""What a chapter of the page begins with: one sentence that answers, and a picture."""

from __future__ import annotations

from markupsafe import Markup

from rowpath.model.base import Frozen
from rowpath.report.line_chart import Chart, draw
from rowpath.report.picture import Picture

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


def of_bars(sentence: str, bars: Picture | None) -> Opening:
    """A sentence over bars; over nothing where there are none."""
    return Opening(sentence, bars=bars)
