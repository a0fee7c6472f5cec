"""A projection as Markdown, to paste into a document, and as CSV, one line per cell."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from typing import TextIO

from rowpath import text as fmt
from rowpath.analysis.projection_model import Projection
from rowpath.model.metrics import title
from rowpath.report.csv import cell_text
from rowpath.report.markdown import escaped
from rowpath.report.projection import Reasons, caption, cell_lines, headline, notes

FIELDS = ("metric", "unit", "name", "paths", "median", "low", "high")
AFTER = ("ratio", "ratio_low", "ratio_high", "reason")


def write_markdown(projection: Projection, file: TextIO) -> None:
    """Writes every matrix as a table, then why cells are empty and what they do not show."""
    reasons = Reasons()
    parts = [f"**{escaped(headline(projection))}**"]
    for matrix in projection.matrices:
        columns = [" · ".join(values) or title(projection.metric) for values in matrix.columns]
        titles = [*map(title, projection.rows), *map(fmt.clean, columns)]
        lines = [_line(titles), _line([":--"] * len(projection.rows) + ["--:"] * len(columns), plain=True)]
        for row in matrix.rows:
            cells = (" ".join(filter(None, cell_lines(each, projection.unit, reasons))) for each in row.entries)
            lines.append(_line([*map(fmt.clean, row.values), *cells]))
        parts += [*([escaped(caption(matrix))] if matrix.title else []), "\n".join(lines)]
    below = [*reasons.lines(), *notes(projection)]
    parts += ["\n".join(f"- {escaped(line)}" for line in below)] if below else []
    file.write("\n\n".join(parts) + "\n")


def _line(cells: Sequence[str], plain: bool = False) -> str:
    return f"| {' | '.join(cells if plain else map(escaped, cells))} |"


def write_csv(projection: Projection, file: TextIO) -> None:
    """Writes one line per cell with a heading: a column per axis of rows and columns, empty where unknown."""
    writer = csv.writer(file, lineterminator="\r\n")
    writer.writerow(["table", *projection.rows, *projection.columns, *FIELDS, *AFTER])
    for matrix in projection.matrices:
        for row in matrix.rows:
            for column, entry in zip(matrix.columns, row.entries, strict=True):
                against = entry.against
                ratio = (against.ratio, against.low, against.high) if against else (None, None, None)
                figures = (entry.paths, entry.median, entry.low, entry.high, *ratio, entry.reason)
                words = (" · ".join(matrix.title), *row.values, *column, projection.metric, projection.unit, entry.name)
                writer.writerow(map(cell_text, (*words, *figures)))
