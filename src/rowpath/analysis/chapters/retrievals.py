"""Bulk retrieval: each way of taking a whole table out of an engine, against its floor and the engine's own work."""

from __future__ import annotations

import math
from collections.abc import Iterator

from rowpath import text as fmt
from rowpath.analysis import metrics
from rowpath.analysis.answer_model import Sentence
from rowpath.analysis.cells import Cell, CellKey
from rowpath.analysis.chapter import Chapter
from rowpath.analysis.evidence import Evidence
from rowpath.analysis.lookup import Lookup
from rowpath.analysis.model import Against
from rowpath.analysis.wording import ratio_text
from rowpath.analysis.wording import words as listed
from rowpath.drawing.grid import Grid, Line, figure, line, of_lines, ratio, without_empty, words
from rowpath.drawing.picture import Picture, PlainBar, plain
from rowpath.drawing.section import Opening, Section
from rowpath.model.base import Frozen, OfMeasuredPhase, Regime
from rowpath.model.grouping import grouped

DRAIN, NETCAT = "drain", "netcat"
FORMS = {"row": "rows", "block": "blocks", "columnar": "columns", "copy": "COPY", DRAIN: "floor"}
# What separates retrievals: a path is compared with the floor that had the same way.
ALIKE = ("engine", "engine_version", "deployment", "storage", "placement", "transport", "link", "tls", "compression")
WIRE = ("placement", "transport", "link")  # what a path and a netcat have in common: it knows no engine
ENGINE = 4  # the first of them, which it shares with the aggregates of its engine
NO_FLOOR = {
    "embedded": "no bytes cross a connection, and this engine's files hold more than the table",
    "server": "no floor of this server was measured over the same transport",
    "file": "no raw read of the file was measured",
}
Where = tuple[str, str, Regime]


class RetrievalPath(Frozen, frozen=True):
    """One way out; CPU is per row, everything else of the whole table; None where it was not measured."""

    name: str
    form: str  # what a call hands over: rows, blocks, columns, COPY, nothing (a floor)
    cost_ns: float
    rows_per_s: float | None
    drain: str  # the floor that its bytes are nearest to; empty: there is none
    to_drain: Against | None
    to_netcat: Against | None
    to_aggregate: Against | None
    client_cpu_ns: float | None
    server_cpu_ns: float | None
    waiting: float | None  # share of the time in which the client had nothing to do
    first_row_ns: float | None
    client_peak_bytes: float | None
    bytes_per_row: float | None


class Retrieval(OfMeasuredPhase, frozen=True):
    """All ways of taking one table out of one engine under the same conditions; fastest first within each form."""

    engine: str
    deployment: str
    conditions: str  # "placement=split, transport=tcp"
    rows: float
    paths: tuple[RetrievalPath, ...]
    floors: tuple[RetrievalPath, ...]  # the one that ratios are to comes first, but for paths with bytes like another
    netcat: RetrievalPath | None  # the table's text through a socket, without a database
    no_floor: str  # why there is none
    aggregate: str  # the path by which the engine computed one row over the same table; empty: none
    aggregate_ns: float | None


def retrievals(evidence: Evidence) -> tuple[Retrieval, ...]:
    """One per whole-table phase, engine and conditions, of runs with a floor or with an aggregate of the same table."""
    made = []
    for where in _phases(evidence):
        cells = (cell for cell in evidence.sound_in.get(where, ()) if not cell.is_null)
        alike = grouped(cells, lambda cell: tuple(map(cell.path.get, ALIKE)))
        netcats = {_wire(cell): cell for cell in evidence.sound_in.get(where, ()) if cell.path.driver == NETCAT}
        # The fastest aggregate of the table on each engine, however it was reached.
        aggregates: dict[tuple[str, ...], Cell] = {}
        for name in _aggregates(evidence, *where[:2]):
            for cell in evidence.sound_in.get((where[0], name, where[2]), ()):
                engine = tuple(map(cell.path.get, ALIKE[:ENGINE]))
                aggregates[engine] = min(aggregates.get(engine, cell), cell, key=lambda cell: cell.median or 0.0)
        for key, together in sorted(alike.items(), key=lambda item: item[1][0].path.compression != "none"):
            netcat = netcats.get(_wire(together[0]))
            made.append(_retrieval(evidence, where, together, netcat, aggregates.get(key[:ENGINE])))
    return tuple(retrieval for retrieval in made if retrieval.paths)


def _phases(evidence: Evidence) -> Iterator[Where]:
    """Whole tables with something to hold them against; steady where it was measured."""
    regimes = {where[:2]: where[2] for where in evidence.cells.phases()}  # steady comes after cold
    for (workload, phase), regime in regimes.items():
        defined = evidence.journal.run.phase(workload, phase)
        drained = any(map(_is_floor, evidence.cells.by_phase[workload, phase]))
        if defined and defined.scan and (drained or _aggregates(evidence, workload, phase)):
            yield workload, phase, "steady" if regime == "steady" else "cold"


def _is_floor(cell: Cell) -> bool:
    """Whether the path takes bytes and parses nothing."""
    return cell.path.fetch_form == DRAIN


def _aggregates(evidence: Evidence, workload: str, phase: str) -> list[str]:
    """The phases that compute one row over the whole of the table that this one reads."""
    defined = evidence.journal.run.phase(workload, phase)
    if defined is None:
        return []
    return [
        computed.name
        for computed in evidence.journal.run.workloads[workload].phases
        if computed.expected == "aggregate" and computed.table == defined.table and computed.parameters is None
    ]


def _wire(cell: Cell) -> tuple[str, ...]:
    return tuple(map(cell.path.get, WIRE))


def _retrieval(
    evidence: Evidence, where: Where, cells: list[Cell], netcat: Cell | None, aggregate: Cell | None
) -> Retrieval:
    like = cells[0].path
    split = like.placement == "split"
    # A sleeping reader makes the server pay for waking it: across cores the busy one is the reference.
    busy = {cell.key: cell.path.coordinates.get("poll", "busy") == "busy" for cell in cells}
    floors = sorted(filter(_is_floor, cells), key=lambda cell: (busy[cell.key] != split, cell.median or 0.0))
    order = list(FORMS.values())
    contenders = [cell for cell in cells if not _is_floor(cell)]
    contenders.sort(key=lambda cell: (order.index(_form(cell)), cell.median or 0.0))
    conditions = [f"{key}={like.get(key)}" for key in ALIKE[3:] if like.get(key) not in ("none", "off")]
    rows = max((metrics.rows_each(cell) for cell in contenders), default=0.0)

    def described(cell: Cell) -> RetrievalPath:
        drain = None if cell is netcat else _nearest(evidence, cell, floors, busy)
        return _path(evidence, cell, drain, netcat, aggregate, rows)

    return Retrieval(
        *where,
        like.engine,
        like.deployment,
        ", ".join(conditions),
        rows,
        paths=tuple(map(described, contenders)),
        floors=tuple(map(described, floors)),
        netcat=described(netcat) if netcat is not None else None,
        no_floor="" if floors else NO_FLOOR.get(like.deployment, ""),
        aggregate=aggregate.path.name if aggregate else "",
        aggregate_ns=aggregate.median if aggregate else None,
    )


def _nearest(evidence: Evidence, cell: Cell, floors: list[Cell], busy: dict[CellKey, bool]) -> Cell | None:
    """The floor that waits as the first one does and takes the bytes most like the path's: text, binary.

    Rows stand beside rows, COPY beside COPY, columns beside either: the driver chooses how they travel.
    """
    alike = [floor for floor in floors if busy[floor.key] == busy[floors[0].key]]
    if cell.path.fetch_form != "columnar":
        copy = cell.path.fetch_form == "copy"
        alike = [floor for floor in alike if floor.path.get("fetch").endswith(":copy") == copy] or alike
    received = evidence.per_operation(cell, "bytes_received")
    sizes = {floor.key: metrics.middle(metrics.of_cell(floor).get("bytes_drained")) for floor in alike}
    if cell in floors or not received or not all(sizes.values()):
        return floors[0] if floors else None
    return min(alike, key=lambda floor: abs(math.log((sizes[floor.key] or 1.0) / received)), default=None)


def _form(cell: Cell) -> str:
    """What a call hands over."""
    return FORMS.get(cell.path.fetch_form, "rows")


def _path(
    evidence: Evidence, cell: Cell, drain: Cell | None, netcat: Cell | None, aggregate: Cell | None, rows: float
) -> RetrievalPath:
    measured = metrics.of_cell(cell)
    both = metrics.cpu_shares(cell)
    cost = cell.median or 0.0
    # The bytes on the wire, as the proxy counted them; of a file, those that its raw read took.
    received = evidence.per_operation(cell, "bytes_received")
    if received is None and drain is not None and not cell.served:
        received = metrics.middle(metrics.of_cell(drain).get("bytes_drained"))
    return RetrievalPath(
        cell.path.name,
        _form(cell),
        cost,
        rows * 1e9 / cost if rows and cost else None,
        drain=drain.path.name if drain is not None else "",
        to_drain=evidence.against(cell, drain) if drain is not cell else Against(1.0),
        to_netcat=evidence.against(cell, netcat) if netcat is not cell else Against(1.0),
        to_aggregate=evidence.against(cell, aggregate),
        client_cpu_ns=metrics.per_row(measured.get("client_cpu"), rows),
        server_cpu_ns=metrics.per_row(measured.get("server_cpu"), rows),
        waiting=max(0.0, 1 - both[0]) if both else None,
        first_row_ns=metrics.middle(measured.get("first_row")),
        client_peak_bytes=metrics.middle(evidence.of_phase(cell).get("client_peak_memory")),
        bytes_per_row=received / rows if received and rows else None,
    )


def _sentences(retrieved: tuple[Retrieval, ...]) -> Iterator[Sentence]:
    """Per engine, of the largest table: the fastest of each form, where its time goes, what the database's work is."""
    by_workload = grouped(retrieved, lambda retrieval: retrieval.workload)
    largest = {workload: max(retrieval.rows for retrieval in every) for workload, every in by_workload.items()}
    chosen = [retrieval for retrieval in retrieved if retrieval.rows == largest[retrieval.workload]]
    for retrieval in chosen:
        yield from _sentences_of(retrieval)
    for of_workload in grouped(chosen, lambda retrieval: retrieval.workload).values():
        # The aggregates of all engines and files beside each other.
        known = {one.engine: (one.aggregate_ns, one.aggregate) for one in of_workload if one.aggregate_ns}
        if len(known) > 1:
            side_by_side = listed(f"{name} {fmt.duration(ns)}" for ns, name in sorted(known.values()))
            where = f"{of_workload[0].workload}.{of_workload[0].phase}"
            yield Sentence("reading", f"{where}, one row of sums over the whole table: {side_by_side}.", weight=2)


def _sentences_of(retrieval: Retrieval) -> Iterator[Sentence]:
    named: dict[str, str] = {}
    for path in retrieval.paths:
        distance = ""
        if retrieval.floors and (drain := path.to_drain):
            ends = fmt.interval(drain.low, drain.high)
            distance = f", {fmt.ratio(drain.ratio)}{f' ({ends})' if ends else ''} of {path.drain}"
        if retrieval.netcat and path.to_netcat:
            distance += f", {fmt.ratio(path.to_netcat.ratio)} of {retrieval.netcat.name}"
        fastest = f"by {path.form} {path.name} is the fastest, {fmt.duration(path.cost_ns)}{distance}"
        named.setdefault(path.form, fastest)
    where = f"{retrieval.workload}.{retrieval.phase} from {retrieval.engine} ({_conditions(retrieval)})"
    yield Sentence("retrieval", f"{where}: {listed(named.values())}.")
    first = retrieval.paths[0]
    sides = {"server": first.server_cpu_ns, "client": first.client_cpu_ns}
    shares = {side: cpu * retrieval.rows / first.cost_ns for side, cpu in sides.items() if cpu is not None}
    both = len(shares) > 1 and sum(shares.values()) > 1.02
    parts = [f"{side} CPU {fmt.share(share)}" for side, share in shares.items()]
    parts += [] if first.waiting is None else [f"waiting {fmt.share(first.waiting)}"]
    if parts:
        said = f"{where}: {first.name}: {listed(parts)}{' (overlapping)' if both else ''}."
        yield Sentence("time", said, weight=2)
    if retrieval.aggregate_ns and first.to_aggregate:
        took = f"{fmt.duration(retrieval.aggregate_ns)} ({retrieval.aggregate})"
        ratio, compared = first.to_aggregate.ratio, ", as long as retrieving all rows"
        if ratio > 1:
            compared = f": {fmt.share(1 - 1 / ratio)} of the retrieval is not the engine's reading"
        yield Sentence("reading", f"{where}: one row of sums over the same table takes {took}{compared}.", weight=1)


def _conditions(retrieval: Retrieval) -> str:
    return ", ".join(filter(None, (retrieval.regime, retrieval.conditions)))


def _sections(retrieved: tuple[Retrieval, ...], _lookup: Lookup) -> Iterator[Section]:
    for number, retrieval in enumerate(retrieved):
        opening = Opening(_sentence(retrieval), bars=_picture(retrieval))
        yield Section(f"retrieval-{number}", grid(retrieval), opening, leading=True)


def grid(retrieval: Retrieval) -> Grid:
    """One row per path, forms one after the other, floors last."""
    netcat = (retrieval.netcat,) if retrieval.netcat else ()
    drains = list(dict.fromkeys(path.drain for path in retrieval.paths if path.drain))
    lines = [_line(path, len(drains) > 1, bool(netcat)) for path in (*retrieval.paths, *retrieval.floors, *netcat)]
    source = f"{retrieval.engine}, {retrieval.deployment} ({_conditions(retrieval)})"
    title = f"{retrieval.workload}.{retrieval.phase} from {source}"
    notes = ["Rows, blocks, columns and COPY are different work: compare within one form."]
    if len(drains) > 1:
        notes.append("The drain is that of the path's own format: it reads the same bytes and parses nothing.")
    elif retrieval.floors:
        notes.append(f"The drain is {fmt.clean(retrieval.floors[0].name)}: it reads the same bytes and parses nothing.")
    elif retrieval.no_floor:
        notes.append(f"No drain: {retrieval.no_floor}.")
    if retrieval.netcat:
        notes.append(f"{fmt.clean(retrieval.netcat.name)}: the table as text through a socket, without a database.")
    if retrieval.aggregate_ns is not None:
        name, took = fmt.clean(retrieval.aggregate), fmt.duration(retrieval.aggregate_ns)
        notes.append(f"The aggregate is one row of sums over the same table: {name}, {took}.")
    return without_empty(of_lines(title, lines, " ".join(notes)))


def _picture(retrieval: Retrieval) -> Picture | None:
    """Every way out as a bar, fastest first, its note the form; × is the distance to the drain."""
    drained = bool(retrieval.floors)
    netcat = (retrieval.netcat,) if retrieval.netcat else ()
    meaning = " × is the time relative to the drain, with its 95 % interval." if drained else ""
    return plain(
        "retrieval",
        f"{retrieval.engine}, {retrieval.deployment}: {retrieval.workload}.{retrieval.phase}",
        (
            PlainBar(
                name=fmt.clean(path.name),
                value=path.cost_ns,
                text=fmt.duration(path.cost_ns),
                ratio=fmt.ratio(path.to_drain.ratio) if path.to_drain else "",
                interval=fmt.interval(path.to_drain.low, path.to_drain.high) if path.to_drain else "",
                note=path.form,
            )
            for path in sorted((*retrieval.paths, *retrieval.floors, *netcat), key=lambda path: path.cost_ns)
        ),
        fmt.duration,
        f"Time of the whole table on a logarithmic axis: shorter is better.{meaning}",
    )


def _sentence(retrieval: Retrieval) -> str:
    """The fastest path of each form, with its distance to the drain."""
    fastest: dict[str, str] = {}
    for path in sorted(retrieval.paths, key=lambda path: path.cost_ns):
        drain = path.to_drain
        of_drain = f", {ratio_text(drain.ratio, drain.low, drain.high)} of the drain" if drain else ""
        fastest.setdefault(path.form, f"{path.form} by {fmt.clean(path.name)}{of_drain}")
    return f"Fastest of each form, by medians: {'; '.join(fastest.values())}." if fastest else ""


def _line(path: RetrievalPath, drains: bool, netcats: bool) -> Line:
    drain, netcat = path.to_drain or Against(0.0), path.to_netcat or Against(0.0)
    return line(
        *words(path=path.name, form=path.form),
        figure("time", fmt.duration(path.cost_ns)),
        figure("rows/s", fmt.rate(path.rows_per_s)),
        *ratio("of the drain", drain.ratio or None, drain.low, drain.high, 3),
        *(words(drain=path.drain) if drains else ()),
        *(ratio("of netcat", netcat.ratio or None, netcat.low, netcat.high, 3) if netcats else ()),
        figure("client CPU s per million rows", _seconds(path.client_cpu_ns), 1),
        figure("server CPU s per million rows", _seconds(path.server_cpu_ns), 1),
        figure("waiting", fmt.MISSING if path.waiting is None else fmt.share(path.waiting), 2),
        figure("first row", fmt.duration(path.first_row_ns), 3),
        figure("peak memory", fmt.figure(path.client_peak_bytes, "bytes"), 4),
        figure("bytes per row", fmt.count(path.bytes_per_row), 3),
        figure("of the aggregate", fmt.ratio(path.to_aggregate.ratio if path.to_aggregate else None), 2),
    )


def _seconds(ns_per_row: float | None) -> str:
    """CPU seconds of a million rows."""
    return fmt.MISSING if ns_per_row is None else f"{ns_per_row / 1000:.2f}"


CHAPTER = Chapter("retrievals", retrievals, _sections, _sentences)
