"""Which paths are worth another set: those whose interval is still wider than the experiment asks for."""

from __future__ import annotations

from pathlib import Path

from rowpath.analysis.analyse import gather


def paths_to_repeat(run_directory: Path, target_half_width: float, most: int) -> set[str]:
    """The paths whose steady ratio to the fastest is not known to the target, with the fastest they are compared to.

    At most `most` paths, widest first. Empty when every interval is narrow enough.
    """
    widths: dict[str, float] = {}
    fastest: set[str] = set()
    for ranking in gather(run_directory).rankings:
        ranked = [row for row in ranking.rows if row.rank]
        for row in ranked if ranking.regime == "steady" else []:
            if row.ratio and row.ratio_low and row.ratio_high:
                width = (row.ratio_high - row.ratio_low) / (2 * row.ratio)
                if width > target_half_width and row.path_id != ranked[0].path_id:
                    widths[row.path_id] = max(width, widths.get(row.path_id, 0.0))
                    fastest.add(ranked[0].path_id)
    room = max(0, most - len(fastest))
    widest = sorted(widths, key=lambda path_id: -widths[path_id])[:room]
    return {*widest, *fastest} if widest else set()
