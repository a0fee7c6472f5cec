"""What the page draws over its tables: numbers for Observable Plot, from the same records as the tables."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from rowpath import text as fmt
from rowpath.analysis.model import Ranking
from rowpath.model.base import Frozen
from rowpath.report.grid import Grid, figure, line, of_lines, word
from rowpath.report.lookup import Lookup, Measured
from rowpath.report.ranking import is_ranked

# A floor further below the fastest path would squeeze the paths into a corner; the remark below the table has it.
FLOOR_DRAWN = 0.1

# More marks than this make a page slow and a picture black.
BLOCKS_DRAWN = 4000


class Figure(Frozen, frozen=True):
    """A drawing: its kind, its label for screen readers, and its numbers."""

    key: str
    kind: Literal["ranking", "cpu", "order", "clients", "scaling", "timeline"]
    label: str
    rows: tuple[dict[str, Any], ...]
    floor: float | None = None  # ranking: the floor relative to the fastest
    note: str = ""
    axis: dict[str, Any] | None = None  # timeline: seconds, stages, backups and kills that all rows share


def ranking_figure(key: str, ranking: Ranking, lookup: Lookup) -> Figure | None:
    """Cost relative to the fastest with its interval; None when fewer than two paths are ranked."""
    ranked = [row for row in ranking.rows if is_ranked(row) and row.ratio is not None]
    if len(ranked) < 2:
        return None
    rows = tuple(
        {
            "name": fmt.clean(row.name),
            "ratio": row.ratio,
            "low": row.ratio_low,
            "high": row.ratio_high,
            "text": fmt.ratio(row.ratio),
            "interval": "" if row.ratio_low == row.ratio_high else fmt.interval(row.ratio_low, row.ratio_high),
            "time": fmt.duration(row.cost_ns),
            "deployment": lookup.coordinate(row.name, "deployment"),
            "language": lookup.coordinate(row.name, "language"),
        }
        for row in ranked
    )
    fastest = ranked[0].cost_ns
    floor = ranking.floor_ns / fastest if ranking.floor_ns and fastest else None
    if floor is not None and floor < FLOOR_DRAWN:
        floor = None
    label = (
        f"{ranking.workload} {ranking.phase}, {ranking.regime}: cost relative to {rows[0]['name']}, "
        f"from 1 to {fmt.ratio(ranked[-1].ratio)} ({rows[-1]['name']}); the table below holds every figure"
    )
    return Figure(key, "ranking", label, rows, floor)


def cpu_figure(key: str, measured: Measured, names: Sequence[str]) -> Figure | None:
    """CPU per operation, client and server; None when it was not measured."""
    rows = []
    for name in names:
        client, server = measured.median("client_cpu", name), measured.median("server_cpu", name)
        if client is None and server is None:
            continue
        total = (client or 0) + (server or 0)
        rows.append(
            {"name": fmt.clean(name), "client": client or 0, "server": server or 0, "text": fmt.duration(total)}
        )
    if not rows:
        return None
    what = f"{measured.workload} {measured.phase}, {measured.regime}"
    label = f"{what}: CPU time per operation, client and server stacked; the table holds the figures"
    return Figure(key, "cpu", label, tuple(rows))


def order_figure(blocks: Sequence[Mapping[str, Any]]) -> Figure | None:
    """When each block of each path ran; None without blocks. Of many only one in n is drawn, which the note states."""
    if not blocks:
        return None
    step = math.ceil(len(blocks) / BLOCKS_DRAWN)
    paths: dict[str, dict[str, Any]] = {}
    for block in blocks:
        path = paths.setdefault(block["name"], {"name": block["name"], "at": [], "disturbed": []})
        path["disturbed" if block["disturbed"] else "at"].append(block["at"])
    for path in paths.values():
        path["at"] = path["at"][::step]
    label = f"Run order: {len(blocks)} blocks in the order in which they ran, one line per path"
    note = f"the figure shows one block in {step}, and every disturbed one" if step > 1 else ""
    return Figure("order-figure", "order", label, tuple(paths.values()), note=note)


def order_blocks(order: Any) -> list[dict[str, Any]]:
    """The blocks of the trust record `order`: name, `at` seconds since the run began, whether disturbed.

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
