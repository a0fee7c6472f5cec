"""A projection as words: what its terminal, Markdown and page have in common."""

from __future__ import annotations

from collections.abc import Iterator

from rowpath import text as fmt
from rowpath.analysis.projection import NO_PATH
from rowpath.analysis.projection_model import Entry, Matrix, Projection
from rowpath.analysis.wording import words
from rowpath.model.metrics import MIXED_LOAD_METRICS

ABSENT = "·"  # no such path: the commonest reason, which needs no number


class Reasons:
    """Numbers the reasons of empty cells as they come."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}

    def mark(self, entry: Entry) -> str:
        """What an empty cell shows: a dash with the number of its reason."""
        if entry.reason == NO_PATH:
            return ABSENT
        return f"{fmt.MISSING} [{self.numbers.setdefault(entry.reason, len(self.numbers) + 1)}]"

    def lines(self) -> Iterator[str]:
        """The reasons, numbered."""
        for reason, number in self.numbers.items():
            yield f"[{number}] {fmt.clean(reason)}"


def headline(projection: Projection) -> str:
    """`time by engine and language`."""
    axes = words([fmt.metric(axis) for axis in (*projection.rows, *projection.columns)])
    return f"{fmt.metric(projection.metric)} by {axes}"


def caption(matrix: Matrix) -> str:
    """`keyed.read · steady · placement=same`."""
    return fmt.clean(" · ".join(matrix.title))


def notes(projection: Projection) -> Iterator[str]:
    """What ratios are to, what a cell does not show, and what stands side by side although it is ranked apart."""
    entries = [entry for each in projection.matrices for entry in each.entries]
    if any(half_width(entry.median, entry.low, entry.high) for entry in entries):
        yield "±: half of the 95 % interval."
    if any(entry.against for entry in entries):
        anchored = any(entry.against and entry.against.through_anchor for entry in entries)
        yield f"×: relative to the first column of the row{' (a: through an anchor path)' if anchored else ''}."
    if any(each.several for each in projection.matrices):
        best = "best" if projection.metric in MIXED_LOAD_METRICS else "fastest"
        within = f"; within cells vary {words(projection.hidden)}" if projection.hidden else ""
        yield f"A cell with several paths shows the {best} of them (of n){within}."
    if projection.beside:
        yield f"Side by side here, but ranked apart, because work or conditions differ: {words(projection.beside)}."
    for each in projection.own_builds:
        yield f"Ranked apart: {fmt.clean(each)}."
    if projection.provisional:
        yield "Provisional: too few sets for a claim."
    if any(entry.reason == NO_PATH for entry in entries):
        yield f"{ABSENT} {NO_PATH}."


def cell_lines(entry: Entry, unit: str, reasons: Reasons) -> tuple[str, str]:
    """A cell's two lines: the figure with its interval, and its ratio to the first column."""
    if entry.median is None:
        return reasons.mark(entry), ""
    several = f"(of {entry.paths})" if entry.paths > 1 else ""
    figure = fmt.figure(entry.median, unit)
    return " ".join(filter(None, (figure, half_width(entry.median, entry.low, entry.high), several))), ratio(entry)


def half_width(median: float | None, low: float | None, high: float | None) -> str:
    """`±1.2 %`: half of an interval's width relative to its figure; empty of a counted one, or without an interval."""
    if not median or low is None or high is None or low == high:
        return ""
    half = (high - low) / 2 / abs(median)
    return f"±{fmt.share(half)}" if half <= 1 else "±>100 %"


def ratio(entry: Entry) -> str:
    """`1.20× (1.14–1.27)`, with `a` when it goes through an anchor path; empty where there is none."""
    against = entry.against
    if against is None:
        return ""
    interval = fmt.interval(against.low, against.high)
    return f"{fmt.ratio(against.ratio)}{f' ({interval})' if interval else ''}{' a' if against.through_anchor else ''}"
