"""The order in which the blocks of a run took place, by path."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from typing import Any

from rowpath import text as fmt
from rowpath.drawing.grid import Grid, figure, line, of_lines, word


def order_blocks(order: Any) -> list[dict[str, Any]]:
    """The blocks of the diagnostics `order`: name, `at` seconds since the run began, whether disturbed.

    Empty when the record has another shape: it is then shown as it is.
    """
    if not isinstance(order, list | tuple):
        return []
    blocks = []
    for each in order:
        if not isinstance(each, Mapping) or "name" not in each or ("at_s" not in each and "at_ns" not in each):
            return []
        at_s = each["at_s"] if "at_s" in each else each["at_ns"] / 1e9
        blocks.append(
            {"name": fmt.clean(str(each["name"])), "at": round(at_s, 2), "disturbed": bool(each.get("disturbed"))}
        )
    return blocks


def order_grid(caption: str, blocks: Sequence[Mapping[str, Any]]) -> Grid:
    """The blocks by path. Where a path stood in the order on average: near 50 % when the order was fair."""
    positions: dict[str, list[float]] = {}
    disturbed: dict[str, int] = {}
    for position, block in enumerate(blocks):
        positions.setdefault(block["name"], []).append((position + 0.5) / len(blocks))
        disturbed[block["name"]] = disturbed.get(block["name"], 0) + block["disturbed"]
    lines = (
        line(
            word("path", name),
            figure("blocks", str(len(found))),
            figure("mean position", fmt.share(statistics.fmean(found))),
            figure("disturbed", str(disturbed[name])),
        )
        for name, found in positions.items()
    )
    note = "Mean position: near 50 % if the path's blocks are spread evenly over the run."
    return of_lines(caption, lines, note)
