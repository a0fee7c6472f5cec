"""A comparison as one HTML file: verdict, every path's interval as a picture, what changed, why rows are missing."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rowpath.analysis.comparison.model import ComparedRow
from rowpath.analysis.wording import ratio_text
from rowpath.drawing.scale import LogAxis
from rowpath.errors import UsageError
from rowpath.model.grouping import grouped
from rowpath.report import comparison as words
from rowpath.report.comparison import ComparisonOutcome
from rowpath.report.self_contained import rendered

FOLDER = Path(__file__).parent
LEAST_REACH = math.log(1.1)  # of the axis on both sides of 1
MOST_REACH = math.log(2)
TICKS = (0.5, 0.67, 0.8, 0.9, 0.95, 1.0, 1.05, 1.1, 1.25, 1.5, 2.0)
MARGIN = 1.15


@dataclass(frozen=True)
class ChangeBar:
    """A row of the picture; places are in per cent of the axis."""

    row: ComparedRow
    band_from: float  # the noise about 1
    band_to: float
    low: float
    high: float
    ratio: float

    @property
    def words(self) -> str:
        """`1.05× (1.04–1.06)`."""
        return ratio_text(self.row.ratio, self.row.low, self.row.high)


def write(outcome: ComparisonOutcome, path: Path) -> None:
    """Writes the page in UTF-8; UsageError when the file cannot be written."""
    try:
        path.write_text(page(outcome), encoding="utf-8", newline="\n")
    except OSError as error:
        raise UsageError(
            f"can't write the page {str(path)!r}: {error.strerror or error}", "name another file with -o FILE"
        ) from error


def page(outcome: ComparisonOutcome) -> str:
    """The page's text; it has no script and loads nothing."""
    comparison = outcome.comparison
    timed = [row for row in comparison.rows if row.metric == "time" and row.low is not None]
    axis = _axis(timed)
    return rendered(
        FOLDER,
        "comparison.html.j2",
        "comparison.css",
        outcome=outcome,
        comparison=comparison,
        words=words,
        ticks=[(f"{tick:g}×", axis.at(tick)) for tick in _ticks(axis)],
        one=axis.at(1.0),
        pictures={title: [_bar(row, axis) for row in rows] for title, rows in grouped(timed, words.place).items()},
        refused=[row for row in comparison.rows if row.outcome == "not comparable"],
        compared=[row for row in comparison.rows if row.outcome != "not comparable"],
    )


def _axis(rows: Sequence[ComparedRow]) -> LogAxis:
    """As far on both sides of 1: what changed fits, and most of the rest."""
    changed = [abs(math.log(end)) for row in rows if row.changed for end in (row.low, row.high) if end]
    noises = sorted(math.log1p(row.noise) for row in rows if row.noise is not None)
    usual = noises[3 * len(noises) // 4] if noises else 0.0
    reach = min(max(LEAST_REACH, MARGIN * max([usual, *changed])), max(MOST_REACH, MARGIN * max(changed, default=0.0)))
    return LogAxis(math.exp(-reach), math.exp(reach))


def _ticks(axis: LogAxis) -> list[float]:
    """1 and the outermost round ratio on each side: more would not fit beside each other on a phone."""
    inside = [tick for tick in TICKS if abs(math.log(tick)) < 0.97 * math.log(axis.high)]
    return sorted({min(inside), 1.0, max(inside)})


def _bar(row: ComparedRow, axis: LogAxis) -> ChangeBar:
    noise = 1 + (row.noise or 0.0)
    places = (axis.at(value) for value in (1 / noise, noise, row.low or 1.0, row.high or 1.0, row.ratio or 1.0))
    return ChangeBar(row, *places)
