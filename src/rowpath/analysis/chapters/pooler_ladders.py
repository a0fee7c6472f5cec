"""Poolers: what each adds to the same path without one, what fails behind it, and what becomes of a session there."""

from __future__ import annotations

from collections.abc import Iterator

from rowpath import text as fmt
from rowpath.analysis import metrics
from rowpath.analysis.answer_model import Sentence
from rowpath.analysis.cells import Cell
from rowpath.analysis.chapter import Chapter
from rowpath.analysis.chapters.added import added, interval, with_half_width
from rowpath.analysis.evidence import Evidence
from rowpath.analysis.lookup import Lookup
from rowpath.analysis.model import Against
from rowpath.drawing.grid import Grid, Line, figure, line, of_lines, ratio, without_empty, word, words
from rowpath.drawing.section import Opening, Section
from rowpath.journal.records import PathRecord, PoolerRecord
from rowpath.model.base import Frozen, OfMeasuredPhase
from rowpath.model.grouping import grouped

NONE = "none"
OF_A_POOLER = ("pooler", "pooler_mode")
SHOWN = ("statement", "transport", "tls", "placement", "clients")


class PoolerRung(Frozen, frozen=True):
    """A path behind a pooler in one phase; ns per operation, None where it was not measured."""

    pooler: str  # "pgbouncer transaction"
    path: str
    time_ns: float | None = None
    to_direct: Against | None = None
    client_cpu_ns: float | None = None
    pooler_cpu_ns: float | None = None
    server_cpu_ns: float | None = None
    failed: str = ""  # the error with which it failed


class PoolerLadder(OfMeasuredPhase, frozen=True):
    """One phase of one driver: the path without a pooler, and the same behind each."""

    driver: str
    conditions: str
    direct_ns: float
    direct: PoolerRung
    rungs: tuple[PoolerRung, ...]


class Behaviour(Frozen, frozen=True):
    """What two clients of a path met behind its pooler; None where it could not be tried."""

    path: str
    pooler: str
    version: str
    statement: str
    statement_stays: bool | None
    set_stays: bool | None
    set_leaks: bool | None
    cancel_heard: bool | None
    text: str


class Poolers(Frozen, frozen=True):
    """Every ladder, and every behaviour that was tried."""

    ladders: tuple[PoolerLadder, ...] = ()
    behaviours: tuple[Behaviour, ...] = ()


def poolers(evidence: Evidence) -> Poolers:
    """One ladder per phase and path without a pooler that was measured steadily and stands behind one too."""
    families = grouped(evidence.journal.paths.values(), alone)
    ladders = []
    for cell in evidence.sound():
        behind = [path for path in families[alone(cell.path)] if path.pooler != NONE]
        if cell.path.pooler == NONE and cell.regime == "steady" and behind:
            ladders.append(_ladder(evidence, cell, behind))
    behaviours = (_behaviour(evidence, record) for record in evidence.journal.all(PoolerRecord))
    return Poolers(tuple(ladders), tuple(behaviours))


def alone(path: PathRecord) -> tuple[tuple[str, str], ...]:
    """The coordinates of a path without its pooler's."""
    return tuple(pair for pair in sorted(path.coordinates.items()) if pair[0] not in OF_A_POOLER)


def called(path: PathRecord) -> str:
    """`pgbouncer transaction`, `haproxy`."""
    return " ".join(word for word in (path.pooler, path.get("pooler_mode")) if word != NONE)


def _ladder(evidence: Evidence, direct: Cell, behind: list[PathRecord]) -> PoolerLadder:
    path, where = direct.path, direct.key[1:3]
    rungs = []
    for other in behind:
        status = evidence.path_statuses.of(other.path_id, *where)
        if cell := evidence.sound_cell(other.path_id, *where, "steady"):
            rungs.append(_rung(evidence, cell, direct))
        elif status.reason:
            rungs.append(PoolerRung(called(other), other.name, failed=status.reason))
    conditions = ", ".join(f"{key}={path.get(key)}" for key in SHOWN if path.get(key) != NONE)
    driver = f"{path.language} {path.driver}"
    return PoolerLadder(
        *where, "steady", driver, conditions, direct.median or 0.0, _rung(evidence, direct, direct), tuple(rungs)
    )


def _rung(evidence: Evidence, cell: Cell, direct: Cell) -> PoolerRung:
    measured = metrics.of_cell(cell)
    return PoolerRung(
        called(cell.path),
        cell.path.name,
        cell.median,
        Against(1.0) if cell is direct else evidence.against(cell, direct),
        client_cpu_ns=metrics.middle(measured.get("client_cpu")),
        pooler_cpu_ns=metrics.middle(measured.get("pooler_cpu")),
        server_cpu_ns=metrics.middle(measured.get("server_cpu")),
    )


def _behaviour(evidence: Evidence, record: PoolerRecord) -> Behaviour:
    path = evidence.journal.paths[record.path_id]
    return Behaviour(
        path.name,
        called(path),
        record.version,
        path.statement,
        record.statement_stays,
        record.set_stays,
        record.set_leaks,
        record.cancel_heard,
        record.statement_text or record.cancel_text,
    )


def _sentence(ladder: PoolerLadder) -> str:
    """`c libpq 17 µs · pgbouncer session +9 µs ± 300 ns · pgbouncer transaction failed`."""
    rungs = (
        f"{rung.pooler} failed" if rung.failed else f"{rung.pooler} {with_half_width(ladder.direct_ns, rung.to_direct)}"
        for rung in ladder.rungs
    )
    return " · ".join((f"{ladder.driver} {fmt.duration(ladder.direct_ns)}", *rungs))


def _sentences(found: Poolers) -> Iterator[Sentence]:
    for ladder in found.ladders:
        yield Sentence("poolers", f"{ladder.workload}.{ladder.phase} ({ladder.conditions}): {_sentence(ladder)}.")


def _sections(found: Poolers, _lookup: Lookup) -> Iterator[Section]:
    for number, ladder in enumerate(found.ladders):
        yield Section(f"poolers-{number}", grid(ladder), Opening(f"{_sentence(ladder)}."), leading=True)
    if found.behaviours:
        yield Section("pooler-behaviours", behaviours_grid(found.behaviours), leading=True)


def grid(ladder: PoolerLadder) -> Grid:
    """One row for the path without a pooler, and one for each pooler and mode."""
    title = f"{ladder.workload}.{ladder.phase} by {ladder.driver} ({ladder.regime}, {ladder.conditions})"
    note = "Added is the difference to the first row, within sets. The pooler's CPU is no part of the server's."
    return without_empty(of_lines(title, [_line(ladder, rung) for rung in (ladder.direct, *ladder.rungs)], note))


def _line(ladder: PoolerLadder, rung: PoolerRung) -> Line:
    against, first = rung.to_direct or Against(0.0), rung is ladder.direct
    return line(
        *words(pooler=rung.pooler or "none"),
        figure("time", fmt.duration(rung.time_ns)),
        figure("added", "" if first else added(ladder.direct_ns, rung.to_direct)),
        figure("95 %", "" if first else interval(ladder.direct_ns, rung.to_direct), 1),
        *ratio("of the direct path", against.ratio or None, against.low, against.high, 2),
        figure("client CPU", fmt.duration(rung.client_cpu_ns), 3),
        figure("pooler CPU", fmt.duration(rung.pooler_cpu_ns)),
        figure("server CPU", fmt.duration(rung.server_cpu_ns), 3),
        word("failed with", fmt.clean(rung.failed)),
    )


def behaviours_grid(behaviours: tuple[Behaviour, ...]) -> Grid:
    """What becomes of a statement, a SET and a cancel behind each pooler, by path."""
    lines = (
        line(
            *words(path=one.path, pooler=f"{one.pooler} ({one.version})" if one.version else one.pooler),
            word("statement goes on working", _yes(one.statement_stays)),
            word("SET stays", _yes(one.set_stays)),
            word("SET reaches another client", _yes(one.set_leaks)),
            word("cancel heard", _yes(one.cancel_heard)),
            word("error", fmt.clean(one.text), 1),
        )
        for one in behaviours
    )
    note = "Tried by two clients: one begins a transaction, and so may get the server connection that the other had."
    return without_empty(of_lines("Behind a pooler", lines, note))


def _yes(observed: bool | None) -> str:
    return fmt.MISSING if observed is None else "yes" if observed else "no"


CHAPTER = Chapter("poolers", poolers, _sections, _sentences, nothing=Poolers())
