"""What became of a published table's order: its best row and the best here, and how many pairs kept their order."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from rowpath import text
from rowpath.analysis.model import Published

LEAST_ROWS = 3  # of a column, for its order to be worth a sentence


def sentences(published: tuple[Published, ...]) -> Iterator[str]:
    """One sentence per published column of which at least three rows were measured."""
    columns = dict.fromkeys(row.column for row in published)
    for column in columns:
        rows = [row for row in published if row.column == column]
        here = [row for row in rows if row.measured_value]
        if len(here) >= LEAST_ROWS:
            yield _sentence(column, rows, here)


def _sentence(column: str, rows: list[Published], here: list[Published]) -> str:
    more_is_better = rows[0].unit.endswith("/s")
    there = sorted(rows, key=lambda row: row.value, reverse=more_is_better)
    found = sorted(here, key=lambda row: row.measured_value or 0.0, reverse=more_is_better)
    pairs = list(itertools.combinations(sorted(here, key=there.index), 2))
    kept = sum(found.index(first) < found.index(second) for first, second in pairs)
    places = [row for row in there if row in here]
    moved = max(found, key=lambda row: abs(found.index(row) - places.index(row)))
    king, now = there[0], found[0]
    if king.row == now.row:
        lead = f"the article's fastest row, {king.row}, is fastest here too ({now.measured_name}"
    else:
        lead = f"the article's fastest row is {king.row}, here it is {now.row} ({now.measured_name}"
    sentence = (
        f"Published, {column}: {lead}, {text.figure(now.measured_value, now.unit)}); of the {len(pairs)} pairs of "
        f"rows with a counterpart here, {kept} keep their order ({text.share(kept / len(pairs))})"
    )
    if moved in (king, now) or found.index(moved) == places.index(moved):
        return f"{sentence}."
    return f"{sentence}; {moved.row} moved from place {places.index(moved) + 1} to {found.index(moved) + 1}."
