"""Bulk retrieval: each way of taking a whole table out of an engine, against its floor and the engine's own work."""

from __future__ import annotations

from collections.abc import Iterator

from rowpath import text
from rowpath.analysis import metrics
from rowpath.analysis.answer_model import Sentence
from rowpath.analysis.cells import Cell
from rowpath.analysis.curves_model import Against, Retrieval, RetrievalPath
from rowpath.analysis.evidence import Evidence
from rowpath.analysis.verdict import shares
from rowpath.analysis.wording import words
from rowpath.model.base import Regime
from rowpath.model.grouping import grouped

DRAIN = "drain"
FORMS = {"row": "rows", "block": "blocks", "columnar": "columns", "copy": "COPY", DRAIN: "floor"}
# What separates retrievals: a path is compared with the floor that had the same way.
ALIKE = ("engine", "engine_version", "deployment", "storage", "placement", "transport", "link", "tls")
ENGINE = 4  # the first of them, which it shares with the aggregates of its engine
NO_FLOOR = {
    "embedded": "no bytes cross a connection, and this engine's files hold more than the table",
    "server": "no floor of this server was measured over the same transport",
    "file": "no raw read of the file was measured",
}
Where = tuple[str, str, Regime]


def retrievals(evidence: Evidence) -> tuple[Retrieval, ...]:
    """One per whole-table phase, engine and conditions, of runs with a floor or with an aggregate of the same table."""
    found = []
    for where in _phases(evidence):
        cells = (cell for cell in evidence.sound_in.get(where, ()) if not cell.is_null)
        alike = grouped(cells, lambda cell: tuple(map(cell.path.get, ALIKE)))
        aggregates = _fastest_aggregates(evidence, where)
        found += [
            _retrieval(evidence, where, together, aggregates.get(key[:ENGINE])) for key, together in alike.items()
        ]
    return tuple(each for each in found if each.paths)


def _phases(evidence: Evidence) -> Iterator[Where]:
    """Whole tables with something to hold them against; steady where it was measured."""
    regimes = {where[:2]: where[2] for where in evidence.cells.phases()}  # steady comes after cold
    for (workload, phase), regime in regimes.items():
        defined = evidence.journal.run.phase(workload, phase)
        if defined is None or not defined.scan:
            continue
        drained = any(map(is_floor, evidence.cells.by_phase[workload, phase]))
        if drained or _aggregates(evidence, workload, phase):
            yield workload, phase, "steady" if regime == "steady" else "cold"


def is_floor(cell: Cell) -> bool:
    """Whether the path takes bytes and parses nothing."""
    return cell.path.fetch_form == DRAIN


def _aggregates(evidence: Evidence, workload: str, phase: str) -> list[str]:
    """The phases that compute one row over the whole of the table that this one reads."""
    defined = evidence.journal.run.phase(workload, phase)
    if defined is None:
        return []
    aggregates = (each for each in evidence.journal.run.workloads[workload].phases if each.expected == "aggregate")
    return [each.name for each in aggregates if each.table == defined.table and each.parameters is None]


def _retrieval(evidence: Evidence, where: Where, cells: list[Cell], aggregate: Cell | None) -> Retrieval:
    like = cells[0].path
    split = like.placement == "split"
    floors = sorted(filter(is_floor, cells), key=lambda cell: (_polls(cell) != split, cell.median or 0.0))
    order = list(FORMS.values())
    contenders = sorted(
        (cell for cell in cells if not is_floor(cell)), key=lambda cell: (order.index(form(cell)), cell.median)
    )
    drain = floors[0] if floors else None
    conditions = [f"{key}={like.get(key)}" for key in ALIKE[3:] if like.get(key) not in ("none", "off")]
    rows = max((metrics.rows_each(cell) for cell in contenders), default=0.0)
    return Retrieval(
        *where,
        engine=like.engine,
        deployment=like.deployment,
        conditions=", ".join(conditions),
        rows=rows,
        paths=tuple(_path(evidence, cell, drain, aggregate, rows) for cell in contenders),
        floors=tuple(_path(evidence, cell, drain, aggregate, rows) for cell in floors),
        no_floor="" if floors else NO_FLOOR.get(like.deployment, ""),
        aggregate=aggregate.path.name if aggregate else "",
        aggregate_ns=aggregate.median if aggregate else None,
    )


def _polls(cell: Cell) -> bool:
    """A sleeping reader makes the server pay for waking it: across cores the busy one is the reference."""
    return cell.path.coordinates.get("poll", "busy") == "busy"


def form(cell: Cell) -> str:
    """What a call hands over."""
    return FORMS.get(cell.path.fetch_form, "rows")


def _fastest_aggregates(evidence: Evidence, where: Where) -> dict[tuple[str, ...], Cell]:
    """The fastest aggregate of the table on each engine, however it was reached."""
    names = _aggregates(evidence, *where[:2])
    found = (cell for name in names for cell in evidence.sound_in.get((where[0], name, where[2]), ()))
    by_engine = grouped(found, lambda cell: tuple(map(cell.path.get, ALIKE[:ENGINE])))
    return {engine: min(cells, key=lambda cell: cell.median or 0.0) for engine, cells in by_engine.items()}


def _path(evidence: Evidence, cell: Cell, drain: Cell | None, aggregate: Cell | None, rows: float) -> RetrievalPath:
    found = metrics.of_cell(cell)
    both = shares(cell)
    cost = cell.median or 0.0
    return RetrievalPath(
        name=cell.path.name,
        form=form(cell),
        cost_ns=cost,
        rows_per_s=rows * 1e9 / cost if rows and cost else None,
        to_drain=evidence.against(cell, drain) if drain is not cell else Against(1.0),
        to_aggregate=evidence.against(cell, aggregate),
        client_cpu_ns=metrics.per_row(found.get("client_cpu"), rows),
        server_cpu_ns=metrics.per_row(found.get("server_cpu"), rows),
        waiting=max(0.0, 1 - both[0]) if both else None,
        first_row_ns=metrics.middle(found.get("first_row")),
        client_peak_bytes=metrics.middle(evidence.of_phase(cell).get("client_peak_memory")),
        bytes_per_row=_bytes(evidence, cell, drain, rows),
    )


def _bytes(evidence: Evidence, cell: Cell, drain: Cell | None, rows: float) -> float | None:
    """The bytes per row on the wire, as the proxy counted them; of a file, the bytes that its raw read took."""
    received = evidence.per_operation(cell, "bytes_received")
    if received is None and drain is not None and not cell.served:
        received = metrics.middle(metrics.of_cell(drain).get("bytes_drained"))
    return received / rows if received and rows else None


def sentences(found: tuple[Retrieval, ...]) -> Iterator[Sentence]:
    """Per engine, of the largest table: the fastest of each form, where its time goes, what the database's work is."""
    by_workload = grouped(found, lambda each: each.workload)
    largest = {workload: max(each.rows for each in every) for workload, every in by_workload.items()}
    chosen = [each for each in found if each.rows == largest[each.workload]]
    for each in chosen:
        yield from _sentences_of(each)
    for workload in largest:
        for sentence in _side_by_side([each for each in chosen if each.workload == workload]):
            yield Sentence("reading", sentence, weight=2)


def _sentences_of(each: Retrieval) -> Iterator[Sentence]:
    best: dict[str, RetrievalPath] = {}
    for path in each.paths:
        best.setdefault(path.form, path)
    conditions = ", ".join(filter(None, (each.regime, each.conditions)))
    where = f"{each.workload}.{each.phase} from {each.engine} ({conditions})"
    named = [
        f"by {kind} {path.name} is the fastest, {text.duration(path.cost_ns)}{_distance(path, each)}"
        for kind, path in best.items()
    ]
    yield Sentence("retrieval", f"{where}: {words(named)}.")
    first = next(iter(best.values()))
    parts = []
    for side, cpu in (("server", first.server_cpu_ns), ("client", first.client_cpu_ns)):
        if cpu is not None:
            parts.append(f"{side} CPU {text.share(cpu * each.rows / first.cost_ns)}")
    if first.waiting is not None:
        parts.append(f"waiting {text.share(first.waiting)}")
    if parts:
        yield Sentence("time", f"{where}: {first.name}: {words(parts)}{_both(first, each)}.", weight=2)
    if each.aggregate_ns and first.to_aggregate:
        took = (
            f"{where}: one row of sums over the same table takes {text.duration(each.aggregate_ns)} ({each.aggregate})"
        )
        ratio = first.to_aggregate.ratio
        if ratio > 1:
            share = text.share(1 - 1 / ratio)
            yield Sentence("reading", f"{took}: {share} of the retrieval is not the engine's reading.", weight=1)
        else:
            yield Sentence("reading", f"{took}, as long as retrieving all rows.", weight=1)


def _both(path: RetrievalPath, each: Retrieval) -> str:
    if path.client_cpu_ns is None or path.server_cpu_ns is None:
        return ""
    sides = path.client_cpu_ns + path.server_cpu_ns
    return " (overlapping)" if sides * each.rows > 1.02 * path.cost_ns else ""


def _distance(path: RetrievalPath, each: Retrieval) -> str:
    if path.to_drain is None or not each.floors:
        return ""
    ends = text.interval(path.to_drain.low, path.to_drain.high)
    return f", {text.ratio(path.to_drain.ratio)}{f' ({ends})' if ends else ''} of {each.floors[0].name}"


def _side_by_side(chosen: list[Retrieval]) -> Iterator[str]:
    """The aggregates of all engines and files beside each other."""
    known = {each.engine: (each.aggregate_ns, each.aggregate) for each in chosen if each.aggregate_ns}
    if len(known) > 1:
        listed = words(f"{name} {text.duration(ns)}" for ns, name in sorted(known.values()))
        yield f"{chosen[0].workload}.{chosen[0].phase}, one row of sums over the whole table: {listed}."
