"""The model of a link, checked: time over it = time without it + round trips × what the link adds to each."""

from __future__ import annotations

import math
import statistics

from rowpath.analysis.cells import Cell
from rowpath.analysis.curves_model import AcrossLink
from rowpath.analysis.evidence import Evidence
from rowpath.analysis.statistics.intervals import student


def across_links(evidence: Evidence) -> tuple[AcrossLink, ...]:
    """Every sound cell over a link that was measured without it as well, in the order in which they were measured."""
    without = {_twin(cell): cell for cell in evidence.sound() if cell.path.link == "none"}
    found = []
    for cell in evidence.sound():
        twin = without.get(_twin(cell))
        if cell.path.link != "none" and twin is not None and cell.regime != "warm":
            found.append(_checked(evidence, cell, twin))
    return tuple(each for each in found if each is not None)


def _checked(evidence: Evidence, cell: Cell, twin: Cell) -> AcrossLink | None:
    link = evidence.journal.links.get((cell.path.link, cell.path.placement))
    trips = _round_trips(evidence, cell)
    if link is None or trips is None:
        return None
    added = max(0.0, link.round_trip_ns - link.direct_ns)
    pairs = _pairs(cell, twin, trips * added)
    interval = student([math.log(measured / predicted) for measured, predicted in pairs], evidence.cells.confidence)
    if interval is None:
        return None
    measured, predicted = (statistics.median(side) for side in zip(*pairs, strict=True))
    return AcrossLink(
        workload=cell.workload,
        phase=cell.phase,
        regime="cold" if cell.regime == "cold" else "steady",
        name=cell.path.name,
        link=link.link,
        added_ns=added,
        round_trips=trips,
        without_ns=predicted - trips * added,
        predicted_ns=predicted,
        measured_ns=measured,
        ratio=interval.ratio,
        low=interval.ratio_low,
        high=interval.ratio_high,
    )


def _pairs(cell: Cell, twin: Cell, more_ns: float) -> list[tuple[float, float]]:
    """(measured, predicted) by set; the two cells' medians where they share no set."""
    over, without = cell.set_medians, twin.set_medians
    shared = sorted(over.keys() & without.keys())
    if shared:
        return [(over[number], without[number] + more_ns) for number in shared]
    return [(cell.median, twin.median + more_ns)] if cell.median and twin.median else []


def _round_trips(evidence: Evidence, cell: Cell) -> float | None:
    """Per operation, as the proof pass counted them, and those that no turn of client and server shows.

    TCP takes one to open a connection; a server that speaks first hears of it half a round trip after the client does,
    and is heard another half later.
    """
    trips = evidence.per_operation(cell, "round_trips")
    if trips is None:
        return None
    return trips + sum(evidence.per_operation(cell, more) or 0 for more in ("connections", "greetings"))


def _twin(cell: Cell) -> tuple[object, ...]:
    """What two cells have in common that differ only in the link."""
    others = (each for each in cell.path.coordinates.items() if each[0] != "link" and each[1] != "none")
    return (*cell.key[1:], *sorted(others))
