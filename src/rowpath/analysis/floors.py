"""Floors: the least that any client could spend, from the null operation and the ping-pong of the same run."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from rowpath.analysis.cells import Cell, Cells
from rowpath.analysis.statistics.intervals import Interval

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
    get = cell.path.coordinates.get
    if get("deployment") == "server":
        where = ("ping-pong", get("placement", ""), get("transport", ""), get("link", ""))
        return " ".join(part for part in where if part and part != "none")
    return f"null operation {get('language', '')}".strip()


def floors(cells: Cells) -> list[Cell]:
    """The steady cells of the null engine."""
    return [
        cell
        for cell in cells.cells.values()
        if cell.path.coordinates.get("engine") == "null" and cell.regime == "steady" and cell.median is not None
    ]


def floor_of(cells: Cells, cell: Cell) -> Cell | None:
    """The floor of a steady cell: the ping-pong of its placement and transport for a server, else its language's null
    operation, or the least null operation where its language has none. None for floors themselves and cold cells."""
    get = cell.path.coordinates.get
    if get("engine") == "null" or cell.regime != "steady":
        return None
    every = floors(cells)
    if get("deployment") == "server":
        alike = [
            floor
            for floor in every
            if all(
                floor.path.coordinates.get(key, "none") == get(key, "none")
                for key in ("deployment", "placement", "transport", "link")
            )
        ]
        if alike:
            return min(alike, key=_cost)
    nulls = [floor for floor in every if floor.path.coordinates.get("deployment") != "server"]
    own = [floor for floor in nulls if floor.path.coordinates.get("language") == get("language")]
    return min(own or nulls, key=_cost, default=None)


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
