"""A projection as words, as its terminal, Markdown and page show it; and as CSV, one line per cell."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from typing import TextIO

from rich.console import Console
from rich.table import Table
from rich.text import Text

from rowpath import text as fmt
from rowpath.analysis.projection import NO_PATH, Entry, Matrix, Projection
from rowpath.analysis.wording import words
from rowpath.model.metrics import is_of_groups, title
from rowpath.report.long_table import cell_text

ABSENT = "·"  # no such path: the commonest reason, which needs no number
GAP = 2


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
    axes = words([title(axis) for axis in (*projection.rows, *projection.columns)])
    return f"{title(projection.metric)} by {axes}"


def caption(matrix: Matrix) -> str:
    """`keyed.read · steady · placement=same`."""
    return fmt.clean(" · ".join(matrix.title))


def notes(projection: Projection) -> Iterator[str]:
    """What ratios are to, what a cell does not show, and what stands side by side although it is ranked apart."""
    entries = [entry for matrix in projection.matrices for entry in matrix.entries]
    if any(half_width(entry.median, entry.low, entry.high) for entry in entries):
        yield "±: half of the 95 % interval."
    if any(entry.against for entry in entries):
        anchored = any(entry.against and entry.against.through_anchor for entry in entries)
        yield f"×: relative to the first column of the row{' (a: through an anchor path)' if anchored else ''}."
    if any(matrix.several for matrix in projection.matrices):
        best = "best" if is_of_groups(projection.metric) else "fastest"
        within = f"; within cells vary {words(projection.hidden)}" if projection.hidden else ""
        yield f"A cell with several paths shows the {best} of them (of n){within}."
    if projection.beside:
        yield f"Side by side here, but ranked apart, because work or conditions differ: {words(projection.beside)}."
    yield from (f"Ranked apart: {fmt.clean(build)}." for build in projection.own_builds)
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


def render(projection: Projection, console: Console) -> None:
    """Prints every matrix, its columns in several parts where the terminal is narrow; then reasons and notes."""
    reasons = Reasons()
    console.print(Text(headline(projection)))
    console.print()
    for matrix in projection.matrices:
        if matrix.title:
            console.print(Text(caption(matrix), style="bold"))
        for table in _parts(projection, matrix, reasons, console.width):
            console.print(table)
            console.print()
    for line in (*reasons.lines(), *notes(projection)):
        console.print(Text(line, style="dim"))


def _parts(projection: Projection, matrix: Matrix, reasons: Reasons, width: int) -> Iterator[Table]:
    """Tables of as many columns as have room; each has the row's values again."""
    titles = [" · ".join(map(fmt.clean, values)) or title(projection.metric) for values in matrix.columns]
    cells = [[cell_lines(entry, projection.unit, reasons) for entry in row.entries] for row in matrix.rows]
    heads = [title(axis) for axis in projection.rows]
    labels = [[fmt.clean(value) for value in row.values] for row in matrix.rows]
    label_widths = [
        min(max(len(head), *(len(row[at]) for row in labels)), max(12, width // (3 * len(heads))))
        for at, head in enumerate(heads)
    ]
    widths = [
        max(*map(len, heading.split(" ")), *(len(line) for row in cells for line in row[at]))
        for at, heading in enumerate(titles)
    ]
    room = width - sum(label_widths) - GAP * len(heads)
    positions: list[list[int]] = [[]]  # of the columns of each part, at least one
    for at, needed in enumerate(widths):
        if positions[-1] and needed + sum(widths[before] + GAP for before in positions[-1]) > room:
            positions.append([])
        positions[-1].append(at)
    for part in positions:
        table = Table(box=None, padding=(0, GAP, 0, 0), pad_edge=False, header_style="dim")
        for head, wide in zip(heads, label_widths, strict=True):
            table.add_column(Text(head), overflow="fold", width=wide)
        for at in part:
            table.add_column(Text(titles[at]), justify="right", overflow="fold", width=min(widths[at], room))
        for label, row in zip(labels, cells, strict=True):
            shown = (row[at] for at in part)
            texts = (Text(figure).append(f"\n{against}" if against else "", style="dim") for figure, against in shown)
            table.add_row(*map(Text, label), *texts)
        yield table


def write_csv(projection: Projection, file: TextIO) -> None:
    """Writes one line per cell with a heading: a column per axis of rows and columns, empty where unknown."""
    writer = csv.writer(file, lineterminator="\r\n")
    titles = ("metric", "unit", "name", "paths", "median", "low", "high", "ratio", "ratio_low", "ratio_high", "reason")
    writer.writerow(["table", *projection.rows, *projection.columns, *titles])
    for matrix in projection.matrices:
        for row in matrix.rows:
            for column, entry in zip(matrix.columns, row.entries, strict=True):
                against = entry.against
                ratio = (against.ratio, against.low, against.high) if against else (None, None, None)
                figures = (entry.paths, entry.median, entry.low, entry.high, *ratio, entry.reason)
                words = (" · ".join(matrix.title), *row.values, *column, projection.metric, projection.unit, entry.name)
                writer.writerow(map(cell_text, (*words, *figures)))
