"""Floors: the least that any client could spend, from the null operation and the ping-pong of the same run."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from rowpath.analysis.cells import Cell, Cells
from rowpath.analysis.statistics.intervals import Interval

PING_PONG = ("deployment", "placement", "transport", "link")  # what a server's path and its ping-pong have in common
NOISE = math.log(0.98)  # a path surely below this ratio to its floor beats it; up to the floor it is inside its noise


@dataclass(frozen=True)
class AgainstFloor:
    """A cell compared with its floor."""

    floor: Cell
    name: str
    cost_ns: float
    interval: Interval
    verdict: Literal["above", "inside noise", "beats"]


def floor_name(cell: Cell) -> str:
    """What a floor is called: `null operation c`, `ping-pong same unix`."""
    path = cell.path
    if path.served:
        where = ("ping-pong", path.placement, path.transport, path.link)
        return " ".join(part for part in where if part != "none")
    return f"null operation {path.language}"


def floor_of(cells: Cells, cell: Cell) -> Cell | None:
    """The floor of a steady cell: the ping-pong of its placement and transport for a server, else its language's null
    operation, or the least null operation where its language has none. None for floors themselves and cold cells.

    A pipelined operation may well take less than a ping-pong of its own: the null operation is its floor.
    """
    if cell.is_null or cell.regime != "steady":
        return None

    def alike(floor: Cell, *keys: str) -> bool:
        return all(floor.path.get(key) == cell.path.get(key) for key in keys)

    awaited = cell.served and cell.path.pipeline == 1
    served = [floor for floor in cells.floors if awaited and alike(floor, *PING_PONG)]
    nulls = [floor for floor in cells.floors if not floor.served]
    own = [floor for floor in nulls if alike(floor, "language")]
    return min(served or own or nulls, key=_cost, default=None)


def against_floor(cells: Cells, cell: Cell) -> AgainstFloor | None:
    """How a cell stands to its floor; None when it has none or the two never met in a set."""
    floor = floor_of(cells, cell)
    interval = cells.interval(cell, floor) if floor is not None else None
    if floor is None or interval is None:
        return None
    low = interval.low if math.isfinite(interval.low) else interval.mean + NOISE
    high = interval.high if math.isfinite(interval.high) else interval.mean
    verdict: Literal["above", "inside noise", "beats"] = "above"
    if high < NOISE:
        verdict = "beats"
    elif low <= 0:
        verdict = "inside noise"
    return AgainstFloor(floor, floor_name(floor), _cost(floor), interval, verdict)


def _cost(cell: Cell) -> float:
    return cell.median or math.inf
