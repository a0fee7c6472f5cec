"""How findings name a place: `keyed.read`, `keyed.read and scan.read`."""

from __future__ import annotations

from collections.abc import Iterable

from rowpath.cells import Cell
from rowpath.journal_reader import InSet


def phase_text(at: InSet | Cell) -> str:
    """`workload.phase`."""
    return f"{at.workload}.{at.phase}"


def phases_text(many: Iterable[InSet | Cell]) -> str:
    """Every phase once, as a list in words."""
    return words(dict.fromkeys(phase_text(each) for each in many))


def words(items: Iterable[str]) -> str:
    """`a`, `a and b`, `a, b and c`; with semicolons where a name holds a comma itself."""
    listed = list(items)
    mark = "; " if any("," in item for item in listed) else ", "
    return " and ".join([mark.join(listed[:-1]), listed[-1]]) if len(listed) > 1 else "".join(listed)
