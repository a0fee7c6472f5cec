"""A projection in a terminal: matrices, below them why cells are empty and what they do not show."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from rowpath import text as fmt
from rowpath.analysis.projection_model import Matrix, Projection
from rowpath.model.metrics import title
from rowpath.report.projection import Reasons, caption, cell_lines, headline, notes

GAP = 2


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
        max(*map(len, head.split(" ")), *(len(line) for row in cells for line in row[at]))
        for at, head in enumerate(titles)
    ]
    room = width - sum(label_widths) - GAP * len(heads)
    for part in _fitting(widths, room):
        table = Table(box=None, padding=(0, GAP, 0, 0), pad_edge=False, header_style="dim")
        for head, wide in zip(heads, label_widths, strict=True):
            table.add_column(Text(head), overflow="fold", width=wide)
        for at in part:
            table.add_column(Text(titles[at]), justify="right", overflow="fold", width=min(widths[at], room))
        for label, row in zip(labels, cells, strict=True):
            table.add_row(*map(Text, label), *(_cell(*row[at]) for at in part))
        yield table


def _cell(figure: str, ratio: str) -> Text:
    return Text(figure).append(f"\n{ratio}", style="dim") if ratio else Text(figure)


def _fitting(widths: Sequence[int], room: int) -> list[list[int]]:
    """Positions of columns in parts that have room, at least one in each."""
    parts: list[list[int]] = []
    left = -1
    for at, width in enumerate(widths):
        if width > left:
            parts.append([])
            left = room
        parts[-1].append(at)
        left -= width + GAP
    return parts
