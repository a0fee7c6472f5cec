"""Which paths are worth another set: those whose interval is still wider than the experiment requests."""

from __future__ import annotations

from pathlib import Path

from rowpath.analysis.rankings import half_width, ranked
from rowpath.journal.reader import Records


def paths_to_repeat(records: Records, at_most: int) -> set[str]:
    """The paths with a steady ratio to the fastest that is too wide, with the fastest they are compared to; ids.

    `records`: as they were written. Too wide: beyond the experiment's `target_half_width`. At most what one set holds,
    widest first. Empty when every interval is narrow enough.
    """
    target = records.run.experiment.measure.target_half_width
    widths: dict[str, float] = {}
    fastest: set[str] = set()
    for ranking in ranked(Path(), records.numbered()).rankings:
        rows = [row for row in ranking.rows if row.rank]
        for row in rows[1:] if ranking.regime == "steady" else []:
            width = half_width(row)
            if width is not None and width > target:
                widths[row.path_id] = max(width, widths.get(row.path_id, 0.0))
                fastest.add(rows[0].path_id)
    room = max(0, at_most - len(fastest))
    widest = sorted(widths, key=lambda path_id: -widths[path_id])[:room]
    return {*widest, *fastest} if widest else set()
