"""What a retrieval in parts gains: speed-up, efficiency and CPU by the number of clients, and the law through them."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence

from rowpath import text as fmt
from rowpath.analysis import metrics
from rowpath.analysis.answer_model import Sentence
from rowpath.analysis.cells import Cell
from rowpath.analysis.chapter import Chapter
from rowpath.analysis.evidence import Evidence
from rowpath.analysis.lookup import Lookup
from rowpath.analysis.statistics import usl
from rowpath.analysis.wording import ratio_text
from rowpath.drawing.grid import Grid, figure, line, of_lines, ratio, without_empty
from rowpath.drawing.line_chart import Chart, Curve, Point, of_curves
from rowpath.drawing.section import Opening, Section, of_chart, section_key
from rowpath.journal.records import PathRecord
from rowpath.model.base import Frozen, OfMeasuredPhase, Regime, Status
from rowpath.model.grouping import grouped
from rowpath.model.workload import PhaseName

REGIMES: tuple[Regime, ...] = ("steady", "cold")
Family = dict[int, PathRecord]  # by clients


class ScalingLevel(Frozen, frozen=True):
    """One retrieval done in this many parts at once; ratios are against the same path with one client.

    Speed-up and all that follows from it is None where the path was not proven right, or one client was not measured.
    """

    clients: int
    name: str
    status: Status
    reason: str = ""
    cost_ns: float | None = None  # of the whole retrieval
    rate: float | None = None  # rows per second
    speed_up: float | None = None
    low: float | None = None  # its interval
    high: float | None = None
    efficiency: float | None = None  # speed-up ÷ clients
    client_cpu_ns: float | None = None  # per row
    server_cpu_ns: float | None = None  # per row
    idle: float | None = None  # share of the time in which a client was not at its part, on average
    finding_bounds_ns: float | None = None  # what finding the n − 1 bounds costs beside it


class ScalingLaw(Frozen, frozen=True):
    """The Universal Scalability Law fitted to the levels; intervals over the sets."""

    levels: int
    rate_of_one: float  # λ, rows per second
    contention: float  # σ
    contention_low: float | None
    contention_high: float | None
    coherence: float  # κ
    coherence_low: float | None
    coherence_high: float | None
    peak: float | None  # clients with the greatest rate, where it is known and within those measured
    worst: float  # the greatest |fitted ÷ measured − 1| of a level


class Scaling(OfMeasuredPhase, frozen=True):
    """How one path's retrieval of a table speeds up with the number of parts in which it is done."""

    name: str  # of the path, without its number of clients
    ranges: str
    placement: str
    cores: int  # that client and server together could use; 0: not known
    levels: tuple[ScalingLevel, ...]  # fewest clients first
    law: ScalingLaw | None
    no_law: str  # why there is none
    bound_ns: float | None = None  # what finding one bound takes
    bound_name: str = ""  # the path by which that was measured


def scalings(evidence: Evidence) -> tuple[Scaling, ...]:
    """One per union phase and per paths that differ only in the number of clients; steady where that was measured."""
    return tuple(
        _scaling(evidence, workload, phase, family)
        for workload, phase in map(PhaseName.of, evidence.journal.run.experiment.phases)
        if (defined := evidence.journal.run.phase(workload, phase)) is not None and defined.union
        for family in _families(evidence)
        if any(_regime(evidence, path, workload, phase) for path in family.values())
        or any(evidence.path_statuses.of(path.path_id, workload, phase).status != "ok" for path in family.values())
    )


def _families(evidence: Evidence) -> list[Family]:
    """Paths that retrieve in parts, together with those that differ from them only in their number of clients."""
    families: dict[tuple[tuple[str, str], ...], Family] = {}
    for path in evidence.journal.paths.values():
        if path.ranges != "none":
            alike = tuple(sorted(item for item in path.coordinates.items() if item[0] != "clients"))
            families.setdefault(alike, {})[path.clients] = path
    return [dict(sorted(family.items())) for family in families.values()]


def _regime(evidence: Evidence, path: PathRecord, workload: str, phase: str) -> Regime | None:
    return next((regime for regime in REGIMES if evidence.cells.get(path.path_id, workload, phase, regime)), None)


def _scaling(evidence: Evidence, workload: str, phase: str, family: Family) -> Scaling:
    paths = list(family.values())
    first = paths[0]
    if first.placement == "none" and first.served:
        cores = 0
    elif first.placement == "free":
        cores = max(1, len(evidence.journal.run.environment.get("cores_used") or ()))
    else:
        cores = 2 if first.placement == "split" and first.served else 1
    regimes = (_regime(evidence, path, workload, phase) for path in paths)
    regime: Regime = next(filter(None, regimes), REGIMES[0])
    sound = {
        clients: cell
        for clients, path in family.items()
        if (cell := evidence.sound_cell(path.path_id, workload, phase, regime))
    }
    bound = _bound(evidence, workload, phase, regime, first)
    bound_ns = bound.median if bound else None
    levels = tuple(_level(evidence, workload, phase, path, sound, bound_ns) for path in paths)
    like = without_clients(first.name, min(family)), first.ranges, first.placement
    bound_name = bound.path.name if bound else ""
    return Scaling(workload, phase, regime, *like, cores, levels, *_law(evidence, sound), bound_ns, bound_name)


def without_clients(name: str, clients: int) -> str:
    """A path's name without its number of clients."""
    return name.replace(f" {fmt.counted(clients, 'client')}", "")


def _bound(evidence: Evidence, workload: str, phase: str, regime: Regime, like: PathRecord) -> Cell | None:
    """What finding one bound was measured to cost on the engine, by the path that has most in common with this one."""
    name = f"{phase.removesuffix('-ranges')}-bounds"
    if like.ranges != "bounds":
        return None
    bounds = [cell for cell in evidence.sound_in.get((workload, name, regime), ()) if cell.path.engine == like.engine]
    return max(bounds, key=lambda cell: len(cell.path.coordinates.items() & like.coordinates.items()), default=None)


def _level(
    evidence: Evidence, workload: str, phase: str, path: PathRecord, sound: dict[int, Cell], bound_ns: float | None
) -> ScalingLevel:
    clients = path.clients
    cell, one = sound.get(clients), sound.get(1)
    cost_ns = cell.median if cell else None
    if cell is None or not cost_ns:
        path_status = evidence.path_statuses.of(path.path_id, workload, phase)
        status = path_status.status if path_status.status != "ok" else "failed"
        return ScalingLevel(clients, path.name, status, path_status.reason or "no retrieval completed")
    rows = metrics.rows_each(cell)
    gain = evidence.against(one, cell) if one is not None and clients > 1 else None
    measured = metrics.of_cell(cell)
    # The share of the time in which a client was not at its part, of each sample.
    idle = [
        max(0.0, 1 - statistics.fmean(client["ns"] for client in sample.clients) / sample.ns)
        for sample in cell.samples
        if sample.clients and sample.ns
    ]
    return ScalingLevel(
        clients,
        path.name,
        status="ok",
        cost_ns=cost_ns,
        rate=rows * 1e9 / cost_ns,
        speed_up=gain.ratio if gain else None,
        low=gain.low if gain else None,
        high=gain.high if gain else None,
        efficiency=gain.ratio / clients if gain else None,
        client_cpu_ns=metrics.per_row(measured.get("client_cpu"), rows),
        server_cpu_ns=metrics.per_row(measured.get("server_cpu"), rows),
        idle=statistics.fmean(idle) if idle else None,
        finding_bounds_ns=(clients - 1) * bound_ns if bound_ns is not None and clients > 1 else None,
    )


def _law(evidence: Evidence, sound: dict[int, Cell]) -> tuple[ScalingLaw | None, str]:
    """The law over the sets that have every level; else why there is none."""
    numbers = ", ".join(map(str, sound)) or "none"
    if len(sound) < usl.LEAST_LEVELS:
        return None, f"a law needs {usl.LEAST_LEVELS} client counts; verified and measured here: {numbers}"
    medians = {clients: cell.set_medians for clients, cell in sound.items()}
    shared = sorted(set.intersection(*map(set, medians.values())))
    rows = {clients: metrics.rows_each(cell) for clients, cell in sound.items()}
    by_set = [{n: rows[n] * 1e9 / by_number[number] for n, by_number in medians.items()} for number in shared]
    law = usl.law(by_set, evidence.cells.confidence)
    if law is None:
        return None, f"no set has all of {numbers} clients"
    sigma, kappa = law.contention, law.coherence
    parameters = sigma.value, sigma.low, sigma.high, kappa.value, kappa.low, kappa.high
    return ScalingLaw(len(sound), law.rate_of_one.value, *parameters, law.peak, law.worst), ""


def _sentences(scaled: tuple[Scaling, ...]) -> Iterator[Sentence]:
    """The verdict on each retrieval in parts: the most that it gained, with how many clients, on how many cores."""
    for scaling in scaled:
        gains = [level for level in scaling.levels if level.speed_up is not None]
        if not gains:
            continue
        best = max(gains, key=lambda level: level.speed_up or 0.0)
        interval = f" ({best.low:.2f}–{best.high:.2f})" if best.low is not None and best.high is not None else ""
        gain = f"{best.speed_up:.2f}{interval} times as fast as in one"
        if best.low is None or best.low <= 1:
            gain += ", not a significant gain"
        lead = f"{scaling.workload}.{scaling.phase} ({scaling.regime}): {scaling.name} in {best.clients} parts at once"
        yield Sentence("parts", f"{lead} is {gain}; {_cores_text(scaling)}.")


def _cores_text(scaling: Scaling) -> str:
    """What cores there were, in words."""
    if not scaling.cores:
        return "the server's number of cores is unknown"
    return f"client and server together had {fmt.counted(scaling.cores, 'core')}"


def _sections(scaled: tuple[Scaling, ...], _lookup: Lookup) -> Iterator[Section]:
    """A table per path retrieving in parts; the first of a phase begins with the chart of all of them."""
    together = grouped(scaled, lambda scaling: (scaling.workload, scaling.phase))
    for names, of_phase in together.items():
        for number, scaling in enumerate(of_phase):
            opening = Opening() if number else of_chart(sentence(of_phase), chart(of_phase))
            yield Section(section_key(*names, "parts", str(number)), grid(scaling), opening, leading=True)


def grid(scaling: Scaling) -> Grid:
    """Time, speed-up, efficiency and CPU per row of one path by the number of clients."""
    one = next((level.cost_ns for level in scaling.levels if level.clients == 1), None)
    with_bounds = {  # speed-ups where finding the bounds is part of the retrieval
        level.clients: one / (level.cost_ns + level.finding_bounds_ns)
        for level in scaling.levels
        if one and level.cost_ns and level.finding_bounds_ns is not None
    }
    lines = (
        line(
            figure("clients", str(level.clients)),
            figure("time", fmt.duration(level.cost_ns)),
            figure("rows/s", fmt.rate(level.rate), 1),
            *ratio("speed-up", level.speed_up, level.low, level.high),
            figure("efficiency", fmt.share(level.efficiency), 1),
            figure("client CPU per row", fmt.duration(level.client_cpu_ns), 1),
            figure("server CPU per row", fmt.duration(level.server_cpu_ns), 1),
            figure("idle", fmt.share(level.idle), 2),
            figure("n−1 bounds cost", fmt.duration(level.finding_bounds_ns), 2),
            figure("speed-up with them", fmt.ratio(with_bounds.get(level.clients)), 3),
            status=level.status,
            reason=fmt.clean(f"{level.status}: {level.reason}") if level.status != "ok" else "",
        )
        for level in scaling.levels
    )
    how = f"{scaling.regime}, ranges={scaling.ranges}"
    how += f", placement={scaling.placement}" if scaling.placement != "none" else ""
    caption = f"{fmt.clean(scaling.name)}: {scaling.workload}.{scaling.phase} in parts at once ({how})"
    return without_empty(of_lines(caption, lines, " ".join(_notes(scaling))))


def _notes(scaling: Scaling) -> Iterator[str]:
    cores = _cores_text(scaling)
    yield f"{cores[0].upper()}{cores[1:]}."
    for level in scaling.levels:
        if level.status != "ok":
            yield f"{fmt.counted(level.clients, 'client')}: {level.status}, {fmt.clean(level.reason)}."
    if scaling.bound_ns is not None:
        took = f"{fmt.duration(scaling.bound_ns)} each, as measured by {fmt.clean(scaling.bound_name)}"
        yield f"The time to find the n − 1 bounds is not included: {took}."
    if (law := scaling.law) is None:
        yield f"No Universal Scalability Law: {scaling.no_law}."
        return
    # The law's parameters in words, and nothing beyond the numbers of clients that were measured.
    most = scaling.levels[-1].clients
    contention = _parameter("contention σ", law.contention, law.contention_low, law.contention_high)
    coherence = _parameter("coherence κ", law.coherence, law.coherence_low, law.coherence_high)
    yield (
        f"Universal Scalability Law over {law.levels} client counts, fitted in each set: {contention}; "
        f"{coherence}; one client {fmt.rate(law.rate_of_one)}; no level more than {fmt.share(law.worst)} off."
    )
    if law.peak is not None:
        yield f"Its peak rate is at {law.peak:.1f} clients."
    if most > scaling.cores > 0:
        yield (
            f"Beyond {scaling.cores} clients they shared cores, so σ includes the lack of cores: "
            "no prediction for more cores or clients."
        )
    else:
        yield f"No prediction for more than {most} clients."


def _parameter(name: str, value: float, low: float | None, high: float | None) -> str:
    if low is None or high is None:
        return f"{name} {value:.4f} (one set: no interval)"
    if low <= 0 <= high:
        return f"{name} is not distinguishable from 0 ({low:.4f} to {high:.4f})"
    return f"{name} {value:.4f} ({low:.4f} to {high:.4f})"


def chart(scalings: Sequence[Scaling]) -> Chart | None:
    """Speed-up with its interval over the number of clients, one curve per path; None without two levels of any."""
    curves = []
    for scaling in scalings:
        points = tuple(
            Point(level.clients, level.speed_up if level.clients > 1 and level.speed_up else 1.0, level.low, level.high)
            for level in scaling.levels
            if level.status == "ok" and (level.speed_up is not None or level.clients == 1)
        )
        if len(points) > 1:
            curves.append(Curve(fmt.clean(scaling.name), points))
    most = max((curve.points[-1].x for curve in curves), default=1)
    return of_curves(
        f"{scalings[0].workload} {scalings[0].phase}: speed-up by number of clients; the tables hold the figures",
        "speed-up",
        "clients at once",
        curves,
        fmt.ratio,
        "A point is the speed-up against the same path with one client.",
        lines=(Curve("ideal", (Point(1, 1), Point(most, most))),),
    )


def sentence(scalings: Sequence[Scaling]) -> str:
    """The greatest speed-up that was measured, and how many clients it took."""
    known = [
        (level.speed_up, level, fmt.clean(scaling.name))
        for scaling in scalings
        for level in scaling.levels
        if level.speed_up is not None and level.clients > 1
    ]
    if not known:
        return ""
    speed_up, level, name = max(known, key=lambda gain: gain[0])
    gained = f"{ratio_text(speed_up, level.low, level.high)} with {level.clients} clients."
    if level.low is not None and level.low <= 1:
        return f"No gain is shown; the highest is {name}: {gained}"
    return f"{name} gains most: {gained}"


CHAPTER = Chapter("scalings", scalings, _sections, _sentences)
