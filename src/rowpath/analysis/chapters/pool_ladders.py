"""Pools: what each adds to the same path without one, and how many connections suffice for more clients."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rowpath import text as fmt
from rowpath.analysis import metrics
from rowpath.analysis.answer_model import Sentence
from rowpath.analysis.cells import Cell
from rowpath.analysis.chapter import Chapter
from rowpath.analysis.chapters.added import added, interval, with_half_width
from rowpath.analysis.evidence import Evidence
from rowpath.analysis.lookup import Lookup
from rowpath.analysis.model import Against
from rowpath.drawing.grid import Grid, Line, figure, line, of_lines, ratio, words
from rowpath.drawing.section import Opening, Section
from rowpath.journal.records import PathRecord
from rowpath.model.base import Frozen, OfMeasuredPhase
from rowpath.model.grouping import grouped

OF_A_POOL = ("pool", "pool_size", "validation")
LEAST_SIZES = 2


class PoolRung(Frozen, frozen=True):
    """A path above a pool; ns per operation."""

    pool: str  # "hikaricp", "hikaricp validating"
    path: str
    time_ns: float
    to_direct: Against
    borrow_ns: float | None
    return_ns: float | None


class PoolLadder(OfMeasuredPhase, frozen=True):
    """One phase of one driver: the path without a pool, and the same above each."""

    driver: str
    clients: int
    direct_ns: float
    rungs: tuple[PoolRung, ...]


class PoolSizes(OfMeasuredPhase, frozen=True):
    """One pool at several sizes: ns per operation by number of connections; `enough`: more are not surely faster."""

    driver: str
    pool: str
    clients: int
    time_ns: dict[int, float]
    enough: int


class Pools(Frozen, frozen=True):
    """Every ladder, and every pool with several sizes."""

    ladders: tuple[PoolLadder, ...] = ()
    sizes: tuple[PoolSizes, ...] = ()


def pools(evidence: Evidence) -> Pools:
    """One ladder per phase and path without a pool that was measured steadily and stands above one too."""
    steady = [cell for cell in evidence.sound() if cell.regime == "steady"]
    ladders, sizes = [], []
    for alike in grouped(steady, lambda cell: (cell.key[1:3], _but(cell.path, OF_A_POOL))).values():
        above = [cell for cell in alike if cell.path.pooled]
        ladders += [_ladder(evidence, cell, above) for cell in alike if above and not cell.path.pooled]
        for one in grouped(above, lambda cell: _but(cell.path, ("pool_size",))).values():
            if len(one) >= LEAST_SIZES:
                sizes.append(_sizes(evidence, one))
    return Pools(tuple(ladders), tuple(sizes))


def _but(path: PathRecord, left_out: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """The coordinates of a path without some."""
    return tuple(pair for pair in sorted(path.coordinates.items()) if pair[0] not in left_out)


def _ladder(evidence: Evidence, direct: Cell, above: list[Cell]) -> PoolLadder:
    rungs = []
    for cell in sorted(above, key=lambda cell: cell.median or 0.0):
        if (against := evidence.against(cell, direct)) is None:
            continue
        measured = metrics.of_cell(cell)
        borrow_ns, return_ns = (metrics.middle(measured.get(name)) for name in ("borrow", "return"))
        rungs.append(PoolRung(_called(cell.path), cell.path.name, cell.median or 0.0, against, borrow_ns, return_ns))
    path = direct.path
    driver = f"{path.language} {path.driver}"
    return PoolLadder(*direct.key[1:3], "steady", driver, path.clients, direct.median or 0.0, tuple(rungs))


def _called(path: PathRecord) -> str:
    return path.pool if path.get("validation") == "none" else f"{path.pool} validating"


def _sizes(evidence: Evidence, cells: list[Cell]) -> PoolSizes:
    """The smallest size is taken from which on no larger one is surely faster."""
    in_order = sorted(cells, key=lambda cell: cell.path.connections)

    def suffices(cell: Cell) -> bool:
        larger = (other for other in in_order if other.path.connections > cell.path.connections)
        found = (evidence.cells.interval(other, cell) for other in larger)
        return not any(one is not None and one.high < 0 for one in found)

    enough = next(cell for cell in in_order if suffices(cell))
    path = enough.path
    times = {cell.path.connections: cell.median or 0.0 for cell in in_order}
    driver = f"{path.language} {path.driver}"
    where = enough.key[1:3]
    return PoolSizes(*where, "steady", driver, _called(path), path.clients, times, path.connections)


def _timed_ns(rung: PoolRung) -> float | None:
    """Borrowing and returning together."""
    return rung.borrow_ns + rung.return_ns if rung.borrow_ns is not None and rung.return_ns is not None else None


def _sentence(ladder: PoolLadder) -> str:
    """`java pgjdbc 17.7 µs · hikaricp +1.7 µs ± 60 ns, 266 ns of it borrowing and returning`; the quickest first."""
    named = []
    for rung in ladder.rungs:
        timed_ns = _timed_ns(rung)
        of_it = f", {fmt.duration(timed_ns)} of it borrowing and returning" if timed_ns is not None else ""
        named.append(f"{rung.pool} {with_half_width(ladder.direct_ns, rung.to_direct)}{of_it}")
    return " · ".join((f"{ladder.driver} {fmt.duration(ladder.direct_ns)}", *named))


def _sentences(found: Pools) -> Iterator[Sentence]:
    for (workload, phase, clients), alike in grouped(
        found.sizes, lambda one: (one.workload, one.phase, one.clients)
    ).items():
        needs = ", ".join(f"{one.driver} {one.pool} {one.enough}" for one in alike)
        yield Sentence("pools", f"{workload}.{phase}, {clients} clients: connections that suffice: {needs}.")
    for ladder in found.ladders:
        yield Sentence("pools", f"{ladder.workload}.{ladder.phase}: {_sentence(ladder)}.")


def _sections(found: Pools, _lookup: Lookup) -> Iterator[Section]:
    for number, ladder in enumerate(found.ladders):
        yield Section(f"pools-{number}", grid(ladder), Opening(f"{_sentence(ladder)}."), leading=True)
    if found.sizes:
        yield Section("pool-sizes", sizes_grid(found.sizes), leading=True)


def grid(ladder: PoolLadder) -> Grid:
    """One row for the path without a pool, and one for each pool."""
    clients = f", {ladder.clients} clients" if ladder.clients > 1 else ""
    title = f"{ladder.workload}.{ladder.phase} by {ladder.driver} ({ladder.regime}{clients})"
    note = "Added is the difference to the first row, within sets. Borrowing and returning are timed by themselves."
    direct = PoolRung("none", "", ladder.direct_ns, Against(1.0), None, None)
    return of_lines(title, [_line(ladder, rung) for rung in (direct, *ladder.rungs)], note)


def _line(ladder: PoolLadder, rung: PoolRung) -> Line:
    against, is_direct = rung.to_direct, not rung.path
    return line(
        *words(pool=rung.pool),
        figure("time", fmt.duration(rung.time_ns)),
        figure("added", "" if is_direct else added(ladder.direct_ns, against)),
        figure("95 %", "" if is_direct else interval(ladder.direct_ns, against), 1),
        *ratio("of the path without", against.ratio, against.low, against.high, 2),
        figure("borrow", fmt.duration(rung.borrow_ns), 1),
        figure("return", fmt.duration(rung.return_ns), 1),
    )


def sizes_grid(every: Sequence[PoolSizes]) -> Grid:
    """The time of an operation at each size of each pool."""
    sizes = sorted({size for one in every for size in one.time_ns})
    lines = (
        line(
            *words(pool=f"{one.driver} {one.pool}"),
            figure("clients", str(one.clients)),
            *(figure(f"{size} connections", fmt.duration(one.time_ns.get(size)), 1) for size in sizes),
            figure("suffices", str(one.enough)),
        )
        for one in every
    )
    note = "The smallest number suffices from which on no larger one is surely faster."
    return of_lines("Time of an operation by the size of its pool", lines, note)


CHAPTER = Chapter("pools", pools, _sections, _sentences, nothing=Pools())
