"""What the size of a block does: paths that differ in nothing but the n of `KIND:n`, against the fastest of them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from rowpath import text as fmt
from rowpath.analysis import metrics
from rowpath.analysis.cells import Cell
from rowpath.analysis.chapter import Chapter
from rowpath.analysis.evidence import Evidence
from rowpath.analysis.lookup import Lookup
from rowpath.analysis.model import Against
from rowpath.analysis.statistics.intervals import APART
from rowpath.drawing.grid import figure, line, of_lines, word
from rowpath.drawing.line_chart import Chart, Curve, Point, of_curves
from rowpath.drawing.section import Section, of_chart
from rowpath.model.base import Frozen, OfMeasuredPhase, Regime

LEAST_SIZES = 3
SIZED = ("fetch", "result")
REGIME: Regime = "steady"


class BlockSize(Frozen, frozen=True):
    """One size of the block in which rows are requested; the ratio is to the fastest size."""

    size: int
    name: str
    cost_ns: float
    against: Against | None
    client_peak_bytes: float | None


class BlockSizes(OfMeasuredPhase, frozen=True):
    """What the size of a block does to one path.

    `enough`: the least size that is not shown to be slower than the fastest; None where intervals are missing.
    """

    name: str  # of the path, without its size
    what: str  # "result=cursor"
    sizes: tuple[BlockSize, ...]  # smallest first
    enough: int | None


def block_sizes(evidence: Evidence) -> tuple[BlockSizes, ...]:
    """One per phase and path of which at least three sizes were measured, steady."""
    families: dict[tuple[str, ...], dict[int, Cell]] = {}
    for cell, key in product(evidence.sound(), SIZED):
        kind, _, number = cell.path.get(key).partition(":")
        if cell.regime == REGIME and number.isdigit():
            rest = repr(sorted(item for item in cell.path.coordinates.items() if item[0] != key))
            families.setdefault((cell.workload, cell.phase, f"{key}={kind}", rest), {})[int(number)] = cell
    return tuple(
        _sizes(evidence, what, dict(sorted(family.items())))
        for (_workload, _phase, what, _rest), family in families.items()
        if len(family) >= LEAST_SIZES
    )


def _sizes(evidence: Evidence, what: str, family: dict[int, Cell]) -> BlockSizes:
    best = min(family.values(), key=lambda cell: cell.median or 0.0)
    sizes = []
    for size, cell in family.items():
        against = Against(1.0) if cell is best else evidence.against(cell, best)
        peak = metrics.middle(evidence.of_phase(cell).get("client_peak_memory"))
        sizes.append(BlockSize(size, cell.path.name, cell.median or 0.0, against, peak))
    first = next(iter(family.values()))
    kind = what.partition("=")[2]
    words = [word for word in first.path.name.split(" ") if not word.startswith(f"{kind}:")]
    return BlockSizes(first.workload, first.phase, REGIME, " ".join(words), what, tuple(sizes), _enough(sizes))


def _enough(sizes: list[BlockSize]) -> int | None:
    """The least size that is not surely slower than the fastest; None where a smaller one has no interval."""
    for size in sizes:
        if size.against is None or (size.against.low is None and size.against.ratio != 1):
            return None
        if size.against.low is None or size.against.low <= 1 + APART:
            return size.size
    return None


def _sections(families: tuple[BlockSizes, ...], _lookup: Lookup) -> Iterator[Section]:
    """Each path's cost over the size of its blocks, and from which size on nothing is gained."""
    every = sorted({size.size for family in families for size in family.sizes})
    lines = []
    for family in families:
        ratios = {size.size: fmt.ratio(size.against.ratio) for size in family.sizes if size.against}
        lines.append(
            line(
                word("path", family.name),
                word("phase", f"{family.workload} · {family.phase}", 1),
                word("what the size sets", family.what),
                figure("enough from", fmt.count(family.enough)),
                *(figure(f"n = {size:,}", ratios.get(size, fmt.MISSING)) for size in every),
            )
        )
    note = (
        "Time relative to the path's fastest size, steady. Enough: the smallest size not shown to be more than "
        "2 % slower."
    )
    known = [(family.enough, fmt.clean(family.name)) for family in families if family.enough is not None]
    most, name = max(known, default=(0, ""))
    where = "on every path" if len(known) == len(families) else f"on {len(known)} of {len(families)} paths"
    sentence = f"{most:,} rows per block are enough {where}; {name} needs most." if known else ""
    sentence = f"{name}: {most:,} rows per block are enough." if len(known) == 1 else sentence
    grid = of_lines("Rows per fetch or batch", lines, note)
    yield Section("block-sizes", grid, of_chart(sentence, _chart(families)), leading=True)


def _chart(families: tuple[BlockSizes, ...]) -> Chart | None:
    """Each path's time relative to its fastest block size, over the size."""
    curves = []
    for family in families:
        points = tuple(
            Point(size.size, size.against.ratio, size.against.low, size.against.high)
            for size in family.sizes
            if size.against and size.size > 0
        )
        curves.append(Curve(fmt.clean(f"{family.name}, {family.what}"), points))
    return of_curves(
        "Time relative to each path's fastest block size, by size; the table holds the figures",
        "time, relative to the fastest size",
        "rows per fetch or batch",
        curves,
        fmt.ratio,
        "A point is the time relative to the path's fastest size.",
        least=2,
    )


CHAPTER = Chapter("block_sizes", block_sizes, _sections)
