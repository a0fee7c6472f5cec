"""What the size of a block does: paths that differ in nothing but the n of `KIND:n`, against the fastest of them."""

from __future__ import annotations

from collections.abc import Iterator

from rowpath.analysis import metrics
from rowpath.analysis.cells import Cell
from rowpath.analysis.curves_model import Against, BlockSize, BlockSizes
from rowpath.analysis.evidence import Evidence
from rowpath.analysis.statistics.intervals import APART
from rowpath.model.base import Regime

LEAST_SIZES = 3
SIZED = ("fetch", "result")
REGIME: Regime = "steady"


def block_sizes(evidence: Evidence) -> tuple[BlockSizes, ...]:
    """One per phase and path of which at least three sizes were measured, steady."""
    families: dict[tuple[str, ...], dict[int, Cell]] = {}
    for cell in evidence.sound():
        if cell.regime != REGIME:
            continue
        for what, size, rest in _sized(cell):
            families.setdefault((cell.workload, cell.phase, what, rest), {})[size] = cell
    return tuple(
        _sizes(evidence, what, dict(sorted(family.items())))
        for (_workload, _phase, what, _rest), family in families.items()
        if len(family) >= LEAST_SIZES
    )


def _sized(cell: Cell) -> Iterator[tuple[str, int, str]]:
    """(`result=cursor`, n, all other coordinates) of each coordinate of the path that has a size."""
    for key in SIZED:
        kind, _, number = cell.path.get(key).partition(":")
        if number.isdigit():
            rest = sorted(item for item in cell.path.coordinates.items() if item[0] != key)
            yield f"{key}={kind}", int(number), repr(rest)


def _sizes(evidence: Evidence, what: str, family: dict[int, Cell]) -> BlockSizes:
    best = min(family.values(), key=lambda cell: cell.median or 0.0)
    sizes = tuple(_size(evidence, size, cell, best) for size, cell in family.items())
    first = next(iter(family.values()))
    kind = what.partition("=")[2]
    words = [word for word in first.path.name.split(" ") if not word.startswith(f"{kind}:")]
    return BlockSizes(first.workload, first.phase, REGIME, " ".join(words), what, sizes, _enough(sizes))


def _size(evidence: Evidence, size: int, cell: Cell, best: Cell) -> BlockSize:
    against = Against(1.0) if cell is best else evidence.against(cell, best)
    peak = metrics.middle(evidence.of_phase(cell).get("client_peak_memory"))
    return BlockSize(size, cell.path.name, cell.median or 0.0, against, peak)


def _enough(sizes: tuple[BlockSize, ...]) -> int | None:
    """The least size that is not surely slower than the fastest; None where a smaller one has no interval."""
    for each in sizes:
        if each.against is None or (each.against.low is None and each.against.ratio != 1):
            return None
        if each.against.low is None or each.against.low <= 1 + APART:
            return each.size
    return None
