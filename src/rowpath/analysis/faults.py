"""What cells of a matrix of faults mean: a word and a grade for each, and the findings."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

from rowpath import text as fmt
from rowpath.model.fault import Cell
from rowpath.model.grouping import grouped

Grade = Literal["good", "slow", "bad", "none"]

SOON_S = 5.0  # an error that comes later leaves people waiting
LEAKS = 10  # descriptors or threads, after a hundred faults


class Shown(NamedTuple):
    """A cell in short."""

    words: str
    grade: Grade


class FaultFinding(NamedTuple):
    """A statement about drivers, with the cells that show it."""

    id: str
    statement: str
    cells: tuple[Cell, ...]


def shown(cell: Cell) -> Shown:
    """Its time and a word, and whether that is good."""
    if cell.end == "not applicable":
        return Shown("–", "none")
    time = "" if cell.end_ns is None else f"{fmt.duration(max(0, cell.end_ns))} "
    if lost(cell):
        return Shown(f"{time}lost", "bad")
    if twice(cell):
        return Shown(f"{time}done twice", "bad")
    if cell.end == "error":
        late = cell.end_ns is not None and cell.end_ns > SOON_S * 1e9
        return Shown(f"{time}error", "slow" if late or cell.connection == "broken" else "good")
    if cell.end == "stopped":
        return Shown(f"{time}stopped", "bad" if cell.server_goes_on else "good")
    if cell.end == "whole":
        return Shown(f"{time}whole", "good")
    words = {
        "truncated": "cut, taken for whole",
        "no end": "no end",
        "ended": "process ended",
        "not heard": "not heard",
    }
    return Shown((time if cell.end in ("truncated", "ended") else "") + words[cell.end], "bad")


def lost(cell: Cell) -> bool:
    """Whether a write was acknowledged and is not there."""
    return cell.stored is not None and cell.acknowledged is not None and cell.acknowledged > cell.stored


def twice(cell: Cell) -> bool:
    """Whether a write is there more often than it was asked for."""
    return cell.stored is not None and cell.stored > 1


def leaks(cell: Cell) -> bool:
    """Whether a hundred faults left descriptors or threads behind."""
    return max(cell.leaked_descriptors or 0, cell.leaked_threads or 0) >= LEAKS


def findings(cells: Sequence[Cell]) -> list[FaultFinding]:
    """The findings, the worst first."""
    tests = (
        ("truncated-without-error", "takes a result that was cut for whole", lambda cell: cell.end == "truncated"),
        ("acknowledged-lost", "acknowledged a write that is not there", lost),
        ("retries-a-write", "writes again by itself: the row is there twice", twice),
        ("no-end", "never notices", lambda cell: cell.end == "no end"),
        ("cancel-not-heard", "goes on after a cancel or a timeout", _goes_on),
        ("leaks-on-fault", "leaves descriptors or threads behind at each fault", leaks),
    )
    found = []
    for id_, words, test in tests:
        for driver, seen in grouped((cell for cell in cells if test(cell)), lambda cell: cell.path).items():
            where = ", ".join(dict.fromkeys(f"{cell.fault} ({cell.work})" for cell in seen))
            cured = cures(cells, seen)
            found.append(FaultFinding(id_, f"{driver} {words}: fault {where}{cured}", tuple(seen)))
    return found


def _goes_on(cell: Cell) -> bool:
    return cell.end == "not heard" or bool(cell.server_goes_on)


def cures(cells: Iterable[Cell], bad: Sequence[Cell]) -> str:
    """The settings with which the same driver met the same faults well, each with those faults, in words."""
    same = {(cell.path_id, cell.fault, cell.work) for cell in bad if not cell.settings}
    cured = [one for one in cells if one.settings and (one.path_id, one.fault, one.work) in same]
    good = grouped((one for one in cured if shown(one).grade == "good"), lambda one: " ".join(one.settings.split("\n")))
    each = (f"{settings} ({', '.join(dict.fromkeys(one.fault for one in ones))})" for settings, ones in good.items())
    words = ", ".join(each)
    return f"; cured by {words}" if words else ""
