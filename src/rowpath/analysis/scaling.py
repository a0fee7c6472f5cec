"""What a retrieval in parts gains: speed-up, efficiency and CPU by the number of clients, and the law through them."""

from __future__ import annotations

import statistics
from collections.abc import Iterator

from rowpath.analysis import metrics
from rowpath.analysis.cells import Cell
from rowpath.analysis.curves_model import Scaling, ScalingLaw, ScalingLevel
from rowpath.analysis.evidence import Evidence
from rowpath.analysis.statistics import usl
from rowpath.journal.records import PathRecord
from rowpath.model.base import Regime
from rowpath.model.workload import PhaseName

REGIMES: tuple[Regime, ...] = ("steady", "cold")
Family = dict[int, PathRecord]  # by clients


def scalings(evidence: Evidence) -> tuple[Scaling, ...]:
    """One per union phase and per paths that differ only in the number of clients; steady where that was measured."""
    return tuple(
        _scaling(evidence, workload, phase, family)
        for workload, phase in _unions(evidence)
        for family in _families(evidence)
        if any(_regime(evidence, path, workload, phase) for path in family.values())
        or any(evidence.path_statuses.of(path.path_id, workload, phase).status != "ok" for path in family.values())
    )


def _unions(evidence: Evidence) -> list[tuple[str, str]]:
    run = evidence.journal.run
    return [
        (workload, phase)
        for workload, phase in map(PhaseName.of, run.experiment.phases)
        if (defined := run.phase(workload, phase)) is not None and defined.union
    ]


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
    regime = next((found for path in paths if (found := _regime(evidence, path, workload, phase))), REGIMES[0])
    sound = {
        clients: cell
        for clients, path in family.items()
        if (cell := evidence.sound_cell(path.path_id, workload, phase, regime))
    }
    bound = _bound(evidence, workload, phase, regime, paths[0])
    bound_ns = bound.median if bound else None
    law, no_law = _law(evidence, sound)
    return Scaling(
        workload=workload,
        phase=phase,
        regime=regime,
        name=without_clients(paths[0].name, min(family)),
        ranges=paths[0].ranges,
        placement=paths[0].placement,
        cores=_cores(evidence, paths[0]),
        levels=tuple(_level(evidence, workload, phase, path, sound, bound_ns) for path in paths),
        law=law,
        no_law=no_law,
        bound_ns=bound_ns,
        bound_name=bound.path.name if bound else "",
    )


def without_clients(name: str, clients: int) -> str:
    """A path's name without its number of clients."""
    return name.replace(f" {clients} client{'s' if clients != 1 else ''}", "")


def _cores(evidence: Evidence, path: PathRecord) -> int:
    """How many cores client and server together could use where they were placed; 0: a server elsewhere."""
    if path.placement == "none" and path.served:
        return 0
    if path.placement == "free":
        return max(1, len(evidence.journal.run.environment.get("cores_used") or ()))
    return 2 if path.placement == "split" and path.served else 1


def _bound(evidence: Evidence, workload: str, phase: str, regime: Regime, like: PathRecord) -> Cell | None:
    """What finding one bound was measured to cost on the engine, by the path that has most in common with this one."""
    name = f"{phase.removesuffix('-ranges')}-bounds"
    if like.ranges != "bounds":
        return None
    found = [cell for cell in evidence.sound_in.get((workload, name, regime), ()) if cell.path.engine == like.engine]
    return max(found, key=lambda cell: len(cell.path.coordinates.items() & like.coordinates.items()), default=None)


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
    found = metrics.of_cell(cell)
    return ScalingLevel(
        clients=clients,
        name=path.name,
        status="ok",
        cost_ns=cost_ns,
        rate=rows * 1e9 / cost_ns,
        speed_up=gain.ratio if gain else None,
        low=gain.low if gain else None,
        high=gain.high if gain else None,
        efficiency=gain.ratio / clients if gain else None,
        client_cpu_ns=metrics.per_row(found.get("client_cpu"), rows),
        server_cpu_ns=metrics.per_row(found.get("server_cpu"), rows),
        idle=_idle(cell),
        finding_bounds_ns=(clients - 1) * bound_ns if bound_ns is not None and clients > 1 else None,
    )


def _idle(cell: Cell) -> float | None:
    shares = [
        max(0.0, 1 - statistics.fmean(client["ns"] for client in sample.clients) / sample.ns)
        for sample in cell.samples
        if sample.clients and sample.ns
    ]
    return statistics.fmean(shares) if shares else None


def _law(evidence: Evidence, sound: dict[int, Cell]) -> tuple[ScalingLaw | None, str]:
    """The law over the sets that have every level; else why there is none."""
    numbers = ", ".join(map(str, sound)) or "none"
    if len(sound) < usl.LEAST_LEVELS:
        return None, f"a law needs {usl.LEAST_LEVELS} client counts; verified and measured here: {numbers}"
    medians = {clients: cell.set_medians for clients, cell in sound.items()}
    shared = sorted(set.intersection(*(set(found) for found in medians.values())))
    rows = {clients: metrics.rows_each(cell) for clients, cell in sound.items()}
    by_set = [{n: rows[n] * 1e9 / found[number] for n, found in medians.items()} for number in shared]
    law = usl.law(by_set, evidence.cells.confidence)
    if law is None:
        return None, f"no set has all of {numbers} clients"
    return (
        ScalingLaw(
            levels=len(sound),
            rate_of_one=law.rate_of_one.value,
            contention=law.contention.value,
            contention_low=law.contention.low,
            contention_high=law.contention.high,
            coherence=law.coherence.value,
            coherence_low=law.coherence.low,
            coherence_high=law.coherence.high,
            peak=law.peak,
            worst=law.worst,
        ),
        "",
    )


def sentences(found: tuple[Scaling, ...]) -> Iterator[str]:
    """The verdict on each retrieval in parts: the most that it gained, with how many clients, on how many cores."""
    for scaling in found:
        gains = [level for level in scaling.levels if level.speed_up is not None]
        if not gains:
            continue
        best = max(gains, key=lambda level: level.speed_up or 0.0)
        interval = f" ({best.low:.2f}–{best.high:.2f})" if best.low is not None and best.high is not None else ""
        gain = f"{best.speed_up:.2f}{interval} times as fast as in one"
        if best.low is None or best.low <= 1:
            gain += ", not a significant gain"
        yield (
            f"{scaling.workload}.{scaling.phase} ({scaling.regime}): {scaling.name} in {best.clients} parts at once is "
            f"{gain}; {cores_text(scaling)}."
        )


def cores_text(scaling: Scaling) -> str:
    """What cores there were, in words."""
    if not scaling.cores:
        return "the server's number of cores is unknown"
    return f"client and server together had {scaling.cores} core{'s' if scaling.cores > 1 else ''}"
