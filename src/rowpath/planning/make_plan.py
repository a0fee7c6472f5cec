"""A plan of an experiment: paths with their names and comparisons, dropped ones with reasons, batches."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from rowpath.engines import ENGINES
from rowpath.model.choices import TOGETHER
from rowpath.model.experiment import Experiment
from rowpath.model.grouping import grouped
from rowpath.model.path import WITHOUT, AccessPath, Dropped
from rowpath.model.workload import Workload, phase_of
from rowpath.planning.availability import unavailable
from rowpath.planning.candidates import candidates, eligible_phases, nothing_left
from rowpath.planning.hosts import SeveralHosts, cannot_load, spreads
from rowpath.planning.hosts import check as check_for_hosts
from rowpath.planning.lattice import applies
from rowpath.planning.mixed_load.connections import crowded
from rowpath.planning.mixed_load.eligibility import only_alone
from rowpath.planning.path_names import short_names
from rowpath.planning.plan import Plan, PlannedPath
from rowpath.planning.selection import check_coordinates
from rowpath.runners.manifest import language

SET_LIMIT = 14  # live runners in one set: twelve and two anchors


def make_plan(
    experiment: Experiment,
    workloads: dict[str, Workload],
    filters: dict[str, tuple[str, ...]],
    *,
    seed: int,
    extended: bool = False,
    hosts: SeveralHosts | None = None,
) -> Plan:
    """Expand the experiment's selections, keep what the filters name, drop with reasons what cannot run.

    With `hosts` paths are on those, as their coordinates say.
    """
    check_coordinates(filters)
    check_for_hosts(experiment, hosts.file if hosts else None)
    dropped: list[Dropped] = []
    ineligible: list[tuple[str, str, str]] = []
    selections = [each for each in experiment.paths if extended or not each.extended]
    chosen = candidates(selections, filters, dropped, hosts.file if hosts else None)
    short = short_names([(candidate.path, candidate.name) for candidate in chosen])
    runnable: list[PlannedPath] = []
    for candidate in chosen:
        path, adapter = candidate.path, candidate.adapter
        far = hosts is not None and path.client_host != "none"
        reason, remedy = cannot_load(experiment, path, hosts.file) if hosts is not None else "", ""
        if not reason and hosts is not None and far:
            reason, remedy = hosts.unavailable(path, spreads(experiment))
        elif not reason:
            reason, remedy = unavailable(adapter, path)
        if reason := reason or only_alone(adapter, path, experiment):
            dropped.append(Dropped(path=path, reason=reason, remedy=remedy))
        elif eligible := eligible_phases(candidate, experiment, workloads, ineligible):
            planned = PlannedPath(path, adapter, eligible, short[path.id])
            reason, remedy = crowded(experiment, planned, hosts.file if hosts else None, extended)
            if reason:
                dropped.append(Dropped(path=path, reason=reason, remedy=remedy))
            else:
                runnable.append(planned)
    writing = any(phase_of(workloads, name).writes for name in experiment.phases)
    runnable = _with_comparisons(runnable, writing)
    # Where groups of clients are at work a set is every path once, one after another: nothing has to fit at once.
    batches, anchors = ((tuple(runnable),), ()) if experiment.client_groups and runnable else _batches(runnable, seed)
    return Plan(
        experiment,
        workloads,
        tuple(runnable),
        tuple(dropped),
        batches,
        anchors,
        seed,
        filters,
        extended,
        tuple(ineligible),
        None if runnable else nothing_left(experiment, filters, dropped, extended),
    )


def _with_comparisons(paths: list[PlannedPath], writing: bool) -> list[PlannedPath]:
    """Paths are ranked together when placement, durability and fetch form agree and no engine build is confounded.

    Paths to what stands in for an engine are ranked among themselves.
    """

    def applies_to(planned: PlannedPath, key: str) -> bool:
        # An engine that has no durability but `none` stands apart where something is written, and only there.
        writes = not {"execute", "records"}.isdisjoint(planned.adapter.phases)
        if key in ("link", "pipeline"):
            return True  # without one is a way as well: nothing that crosses a link is ranked with what does not
        only_none = key == "durability" and writing and writes
        return only_none or applies(planned.path, key)

    keys = ("placement", "client_host", "server_host", "durability", *(key for key in TOGETHER if key != "placement"))
    applicable = {key: [_value(p.path, key) for p in paths if applies_to(p, key)] for key in keys}
    varying = [key for key in keys if len(set(applicable[key])) > 1]
    result = []
    for planned in paths:
        parts = []
        for key in varying:
            value = planned.path.fetch_form if key == "fetch" else _value(planned.path, key)
            parts.append(f"{key}={value if applies_to(planned, key) else applicable[key][0]}")
        if planned.adapter.confounded:
            parts.append(planned.adapter.confounded)
        if stands_in := ENGINES[planned.path.engine].stands_in:
            parts.append(stands_in)
        result.append(replace(planned, comparison=", ".join(parts) or "all paths"))
    return result


def _value(path: AccessPath, key: str) -> str:
    """The value; of a path without such a coordinate what it does all the same."""
    value = path.get(key)
    return WITHOUT.get(key, value) if value == "none" else value


def set_limit(paths: list[PlannedPath]) -> int:
    """How many runners may live at once: SET_LIMIT, or what fits in half of the memory that is free now."""
    try:
        available = next(line for line in Path("/proc/meminfo").read_text().splitlines() if "MemAvailable" in line)
    except (OSError, StopIteration):
        return SET_LIMIT
    half_mib = int(available.split()[1]) // 2048
    each_mib = max((language(p.adapter.language).memory_mib for p in paths), default=1)
    return max(3, min(SET_LIMIT, int(half_mib // each_mib)))


def _batches(paths: list[PlannedPath], seed: int) -> tuple[tuple[tuple[PlannedPath, ...], ...], tuple[str, ...]]:
    """Split into sets of at most SET_LIMIT live runners; several of them share two anchors: null and one C path."""
    limit = set_limit(paths)
    if len(paths) <= limit:
        return ((tuple(paths),) if paths else ()), ()
    null = next((p for p in paths if p.path.is_null and p.path.language == "c"), None)
    real = max(
        (p for p in paths if not p.path.is_null),
        key=lambda p: (len(p.phases), p.path.language == "c"),
        default=None,
    )
    anchors = tuple(p for p in (null, real) if p is not None)
    rest = [p for p in paths if p not in anchors]
    # Paths on one kind of table and of one comparison stay together as far as they fit, so that most ratios are direct.
    rest.sort(key=lambda p: (p.path.storage, p.comparison, p.phases))
    room = max(1, limit - len(anchors))
    count = -(-len(rest) // room)
    batches: list[list[PlannedPath]] = [[]]
    for unit in _units(rest):
        # A speed-up is a ratio of paths that share sets: a family is split only where it fits in no batch.
        if batches[-1] and (len(batches[-1]) >= -(-len(rest) // count) or len(batches[-1]) + len(unit) > room):
            batches.append([])
        batches[-1] += unit
    chunks = [batch[i : i + room] for batch in batches for i in range(0, len(batch), room)]
    return tuple(anchors + tuple(batch) for batch in chunks), tuple(anchor.path.id for anchor in anchors)


def _units(paths: list[PlannedPath]) -> list[list[PlannedPath]]:
    """The paths in their order, those together that retrieve in parts and differ only in their number of clients."""

    def unit(planned: PlannedPath) -> str:
        alike = {key: value for key, value in planned.path.coordinates if key != "clients"}
        return AccessPath.of(alike).id if planned.path.ranges != "none" else planned.path.id

    return list(grouped(paths, unit).values())
