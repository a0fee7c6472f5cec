"""The ladder: what each layer above a driver adds to the same operation written by hand on that driver."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rowpath import text as fmt
from rowpath.analysis.answer_model import Sentence
from rowpath.analysis.cells import Cell
from rowpath.analysis.chapter import Chapter
from rowpath.analysis.evidence import Evidence
from rowpath.analysis.lookup import Lookup
from rowpath.analysis.model import Against
from rowpath.drawing.grid import Grid, Line, figure, line, of_lines, ratio, without_empty, words
from rowpath.drawing.picture import Picture, PlainBar, plain
from rowpath.drawing.section import Opening, Section
from rowpath.model.base import Frozen, OfMeasuredPhase, Regime
from rowpath.model.grouping import grouped
from rowpath.model.path import BY_HAND, MAPPED, RAW

CONDITIONS = ("engine", "placement", "transport", "link")
ALIKE = ("engine_version", "deployment", "language", "driver", "version", *CONDITIONS)
Where = tuple[str, str, Regime]
# The colours of a bar's parts, as the style sheet calls them.
FLOOR, LAYER = "server", "client"


class Rung(Frozen, frozen=True):
    """A layer, or a technique by hand: its operation, and what it sends for one; None where it was not counted."""

    name: str
    profile: str
    technique: str  # by hand, or of a layer with a query of the user's own; else `none`
    time_ns: float
    to_floor: Against | None
    statements: float | None
    round_trips: float | None
    bytes_received: float | None
    user_lines: int | None = None  # that the user writes for the operation
    mapping_lines: int | None = None  # and for the mapping that it uses


class Ladder(OfMeasuredPhase, frozen=True):
    """One operation on one driver: `floor` by hand, other techniques, and the layers; fastest first."""

    driver: str
    conditions: str  # "engine=postgresql, transport=unix"
    floor: Rung
    techniques: tuple[Rung, ...]
    layers: tuple[Rung, ...]


def ladders(evidence: Evidence) -> tuple[Ladder, ...]:
    """One per phase and driver for which a floor and a layer were measured steadily."""
    made = []
    for workload, phase, regime in evidence.cells.phases():
        defined = evidence.journal.run.phase(workload, phase)
        if defined is None or regime != "steady":
            continue
        cells = evidence.sound_in.get((workload, phase, regime), ())
        if defined.kind != "objects":
            cells = _above_or_beneath(cells)
        where: Where = workload, phase, "steady"
        for together in grouped(cells, lambda cell: tuple(map(cell.path.get, ALIKE))).values():
            if one := _ladder(evidence, where, sorted(together, key=lambda cell: cell.median or 0.0)):
                made.append(one)
    return tuple(made)


def _above_or_beneath(cells: Iterable[Cell]) -> list[Cell]:
    """The layers with a query of the user's own, and the paths whose coordinates are theirs without the layer."""
    above = [cell for cell in cells if cell.path.technique in (RAW, MAPPED)]
    bare = {_bare(cell) for cell in above}
    return [*above, *(cell for cell in cells if cell.path.layer == BY_HAND and _bare(cell) in bare)]


def _bare(cell: Cell) -> tuple[tuple[str, str], ...]:
    """The coordinates of a path without a layer."""
    return tuple(pair for pair in cell.path.coordinates.items() if pair[0] not in ("layer", "technique"))


def _ladder(evidence: Evidence, where: Where, cells: list[Cell]) -> Ladder | None:
    by_hand = [cell for cell in cells if cell.path.layer == BY_HAND]
    above = [cell for cell in cells if cell.path.layer != BY_HAND]
    if not by_hand or not above:
        return None

    def sent(cell: Cell) -> float:
        return evidence.per_operation(cell, "statements") or 0.0

    # The floor is fair: it uses the technique of the fastest layer, as far as the number of statements tells.
    floor = min(by_hand, key=lambda cell: abs(sent(cell) - sent(above[0])))
    like = floor.path
    conditions = ", ".join(f"{key}={like.get(key)}" for key in CONDITIONS if like.get(key) != "none")
    return Ladder(
        *where,
        f"{like.language} {like.driver}",
        conditions,
        _rung(evidence, floor, floor),
        tuple(_rung(evidence, cell, floor) for cell in by_hand if cell is not floor),
        tuple(_rung(evidence, cell, floor) for cell in above),
    )


def _rung(evidence: Evidence, cell: Cell, floor: Cell) -> Rung:
    path = cell.path
    return Rung(
        _called(path.layer, path.technique),
        path.profile,
        path.technique,
        cell.median or 0.0,
        Against(1.0) if cell is floor else evidence.against(cell, floor),
        evidence.per_operation(cell, "statements"),
        evidence.per_operation(cell, "round_trips"),
        evidence.per_operation(cell, "bytes_received"),
        *path.user_lines.get(f"{cell.workload}.{cell.phase}", (None, None)),
    )


def _called(layer: str, technique: str) -> str:
    """`django`, `django, mapped`, `by hand, queries`; of a bare driver with a query `by hand`."""
    return ", ".join(word for word in ("by hand" if layer == BY_HAND else layer, technique) if word != "none")


def _name(ladder: Ladder, rung: Rung) -> str:
    """With its profile where there are several."""
    several = len({one.profile for one in (ladder.floor, *ladder.techniques, *ladder.layers)}) > 1
    return f"{rung.name} ({rung.profile})" if several else rung.name


def _added(ladder: Ladder, rung: Rung) -> str:
    """`+12.0 µs`, `−3.00 µs`, in what it adds to the floor; by the ratio within sets, where there is one."""
    if rung.to_floor is None:
        return fmt.MISSING
    more_ns = (rung.to_floor.ratio - 1) * ladder.floor.time_ns
    return f"{'−' if more_ns < 0 else '+'}{fmt.duration(abs(more_ns))}"


def _interval(ladder: Ladder, rung: Rung) -> str:
    """The 95 % interval of what it adds."""
    against = rung.to_floor
    if against is None or against.low is None or against.high is None:
        return fmt.MISSING
    low, high = ((end - 1) * ladder.floor.time_ns for end in (against.low, against.high))
    return " to ".join(f"{'−' if end < 0 else ''}{fmt.duration(abs(end))}" for end in (low, high))


def _half_width(ladder: Ladder, rung: Rung) -> str:
    """` ± 3.00 µs`: half of that interval; empty where there is none."""
    against = rung.to_floor
    if against is None or against.low is None or against.high is None:
        return ""
    return f" ± {fmt.duration((against.high - against.low) / 2 * ladder.floor.time_ns)}"


def _sentence(ladder: Ladder) -> str:
    """`python psycopg 61 µs · sqlalchemy-core +12 µs ± 300 ns · django +58 µs ± 1.1 µs`."""
    rungs = (f"{_name(ladder, rung)} {_added(ladder, rung)}{_half_width(ladder, rung)}" for rung in ladder.layers)
    link = next((f" {each}" for each in ladder.conditions.split(", ") if each.startswith("link=")), "")
    return " · ".join((f"{ladder.driver}{link} {fmt.duration(ladder.floor.time_ns)}", *rungs))


def _sentences(made: tuple[Ladder, ...]) -> Iterator[Sentence]:
    for ladder in made:
        yield Sentence("layers", f"{ladder.workload}.{ladder.phase}: {_sentence(ladder)}.")


def _sections(made: tuple[Ladder, ...], _lookup: Lookup) -> Iterator[Section]:
    for number, ladder in enumerate(made):
        opening = Opening(f"{_sentence(ladder)}.", bars=_picture(ladder))
        yield Section(f"ladder-{number}", grid(ladder), opening, leading=True)


def grid(ladder: Ladder) -> Grid:
    """One row for the floor, each further technique and each layer."""
    lines = [_line(ladder, rung) for rung in (ladder.floor, *ladder.techniques, *ladder.layers)]
    title = f"{ladder.workload}.{ladder.phase} above {ladder.driver} ({ladder.regime}, {ladder.conditions})"
    note = (
        "Added is the difference to the first row. Statements include BEGIN, COMMIT and ROLLBACK. Lines are those that "
        "the user writes."
    )
    return without_empty(of_lines(title, lines, note))


def _line(ladder: Ladder, rung: Rung) -> Line:
    against = rung.to_floor or Against(0.0)
    return line(
        *words(layer=_name(ladder, rung)),
        figure("time", fmt.duration(rung.time_ns)),
        figure("added", "" if rung is ladder.floor else _added(ladder, rung)),
        figure("95 %", "" if rung is ladder.floor else _interval(ladder, rung), 1),
        *ratio("of the floor", against.ratio or None, against.low, against.high, 3),
        figure("statements", fmt.count(rung.statements)),
        figure("round trips", fmt.count(rung.round_trips)),
        figure("bytes received", fmt.count(rung.bytes_received), 2),
        figure("lines", fmt.count(rung.user_lines)),
        figure("of mapping", fmt.count(rung.mapping_lines)),
    )


def _picture(ladder: Ladder) -> Picture | None:
    floor_ns = ladder.floor.time_ns

    def bar(rung: Rung) -> PlainBar:
        adds = rung in ladder.layers and rung.time_ns > floor_ns
        against = rung.to_floor
        return PlainBar(
            name=fmt.clean(_name(ladder, rung)),
            value=rung.time_ns,
            text=fmt.duration(rung.time_ns),
            ratio=fmt.ratio(against.ratio) if against else "",
            interval=fmt.interval(against.low, against.high) if against else "",
            note="" if rung.statements is None else fmt.counted(round(rung.statements), "statement"),
            parts=((FLOOR, 0.0), (LAYER, 0.0)) if adds else ((FLOOR, 1.0),),
            border=floor_ns if adds else None,
        )

    return plain(
        "ladder",
        f"{ladder.driver}: {ladder.workload}.{ladder.phase}",
        map(bar, (ladder.floor, *ladder.techniques, *ladder.layers)),
        fmt.duration,
        "Time of one operation on a logarithmic axis: shorter is better. × is relative to the first bar, with its 95 % "
        "interval; a layer's part begins where that bar ends.",
        ((FLOOR, "the driver by hand"), (LAYER, "what the layer adds")),
    )


CHAPTER = Chapter("ladders", ladders, _sections, _sentences)
