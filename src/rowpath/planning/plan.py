"""What will run: paths with their names and comparisons, dropped ones with reasons, sets, seeded order."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from pathlib import Path

from rowpath.errors import UsageError
from rowpath.model.experiment import Experiment
from rowpath.model.path import TOGETHER, AccessPath, Dropped
from rowpath.model.workload import Phase, Workload
from rowpath.planning.availability import ineligible_reason, pruned, unavailable, unnumbered_reason
from rowpath.planning.lattice import applies
from rowpath.planning.mixed_load.eligibility import only_alone
from rowpath.planning.path_names import _spelt, short_names
from rowpath.planning.selection import check_coordinates, matches, select, unmatched
from rowpath.runners.manifest import Adapter
from rowpath.toml_file import suggest
from rowpath.workloads.scale import at_scale
from rowpath.workloads.workload_file import load_workload

SET_LIMIT = 14  # live runners in one set: twelve and two anchors
ROUGH_MEMORY_MIB = {"c": 16, "csharp": 40, "python": 64, "java": 400}


@dataclass(frozen=True)
class PlannedPath:
    """A path that will run: its adapter, the phases it serves, its short name and the comparison it belongs to."""

    path: AccessPath
    adapter: Adapter
    phases: tuple[str, ...]
    name: str
    comparison: str = ""

    @property
    def embedded(self) -> bool:
        """Whether no other process takes part."""
        return self.path.get("deployment") != "server"


@dataclass(frozen=True)
class Plan:
    """What will run, in which sets, and what will not, with the reasons."""

    experiment: Experiment
    workloads: dict[str, Workload]
    paths: tuple[PlannedPath, ...]
    dropped: tuple[Dropped, ...]
    batches: tuple[tuple[PlannedPath, ...], ...]  # each fits in one set; several share anchors
    anchors: tuple[str, ...]
    seed: int
    filters: dict[str, tuple[str, ...]]
    extended: bool
    unserved: tuple[tuple[str, str, str], ...] = field(default=())  # (path id, phase, reason)

    def phase(self, name: str) -> Phase:
        """The phase called `workload.phase`."""
        workload, _, phase = name.partition(".")
        return self.workloads[workload].phase(phase)


def make_plan(
    experiment: Experiment,
    workloads: dict[str, Workload],
    filters: dict[str, tuple[str, ...]],
    *,
    seed: int,
    extended: bool = False,
) -> Plan:
    """Expand the experiment's selections, keep what the filters name, drop with reasons what cannot run here."""
    check_coordinates(filters)
    chosen: dict[str, tuple[Adapter, AccessPath, str, tuple[str, ...]]] = {}
    dropped: list[Dropped] = []
    for selection in experiment.paths:
        if selection.extended and not extended:
            continue
        if not select(selection):
            raise unmatched(selection)
        pairs = select(selection, filters)
        varying = [key for key, _ in pairs[0][1].coordinates if len({path.get(key) for _, path in pairs}) > 1]
        for adapter, path in pairs:
            if path.id in chosen or not matches(path, filters):
                continue
            reason = pruned(adapter, path)
            if reason:
                if len(pairs) == 1:
                    dropped.append(Dropped(path=path, reason=reason))
                continue
            name = (
                " ".join([selection.name, *(_spelt(key, path.get(key)) for key in varying)])
                if selection.name and (len(pairs) == 1 or varying)
                else ""
            )
            chosen[path.id] = (adapter, path, name, selection.phases)
    runnable: list[PlannedPath] = []
    unserved: list[tuple[str, str, str]] = []
    short = short_names([(path, name) for _, path, name, _phases in chosen.values()])
    for adapter, path, _name, only in chosen.values():
        reason, remedy = unavailable(adapter, path)
        if reason:
            dropped.append(Dropped(path=path, reason=reason, remedy=remedy))
            continue
        if alone := only_alone(adapter, experiment):
            dropped.append(Dropped(path=path, reason=alone))
            continue
        served = []
        for phase_name in experiment.phases:
            if only and phase_name not in only:
                continue
            workload, _, phase = phase_name.partition(".")
            asked = workloads[workload].phase(phase)
            why = ineligible_reason(adapter, path, phase_name, asked)
            why = why or unnumbered_reason(path, workloads[workload], phase_name, asked)
            if not why:
                served.append(phase_name)
            elif why.strip():
                unserved.append((path.id, phase_name, why))
        if served:
            runnable.append(PlannedPath(path, adapter, tuple(served), short[path.id]))
    writing = any(workloads[name.partition(".")[0]].phase(name.partition(".")[2]).writes for name in experiment.phases)
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
        tuple(unserved),
    )


def workloads_of(experiment: Experiment) -> dict[str, Workload]:
    """The workloads that the experiment's phases name; UsageError for a phase that does not exist."""
    loaded = {file.name: at_scale(file, experiment.scale) for file in map(load_workload, experiment.workload_files)}
    for name in experiment.phases:
        workload, dot, phase = name.partition(".")
        if not dot:
            raise UsageError(f"'{name}' is not WORKLOAD.PHASE", "for example: scan.read (rowpath list workloads)")
        if workload not in loaded:
            loaded[workload] = at_scale(load_workload(workload), experiment.scale)
        try:
            loaded[workload].phase(phase)
        except KeyError:
            right = tuple(f"{workload}.{known.name}" for known in loaded[workload].phases)
            raise UsageError(f"workload '{workload}' has no phase '{phase}'", suggest(name, right)) from None
    return loaded


def _with_comparisons(paths: list[PlannedPath], writing: bool) -> list[PlannedPath]:
    """Paths are ranked together when placement, durability and fetch form agree and no engine build is confounded."""

    def means(planned: PlannedPath, key: str) -> bool:
        # An engine that has no durability but `none` stands apart where something is written, and only there.
        writes = not {"execute", "records"}.isdisjoint(planned.adapter.phases)
        if key == "link":
            return True  # without one is a way as well: nothing that crosses a link is ranked with what does not
        only_none = key == "durability" and writing and writes
        return only_none or applies(planned.path, key)

    keys = ("placement", "durability", *(key for key in TOGETHER if key != "placement"))
    applicable = {key: [p.path.get(key) for p in paths if means(p, key)] for key in keys}
    varying = [key for key in keys if len(set(applicable[key])) > 1]
    result = []
    for planned in paths:
        parts = []
        for key in varying:
            value = planned.path.fetch_form if key == "fetch" else planned.path.get(key)
            parts.append(f"{key}={value if means(planned, key) else applicable[key][0]}")
        if planned.adapter.confounded:
            parts.append(planned.adapter.confounded)
        result.append(
            PlannedPath(planned.path, planned.adapter, planned.phases, planned.name, ", ".join(parts) or "all paths")
        )
    return result


def set_limit(paths: list[PlannedPath]) -> int:
    """How many runners may live at once: SET_LIMIT, or what fits in half of the memory that is free now."""
    try:
        available = next(line for line in Path("/proc/meminfo").read_text().splitlines() if "MemAvailable" in line)
    except (OSError, StopIteration):
        return SET_LIMIT
    half_mib = int(available.split()[1]) // 2048
    each_mib = max((ROUGH_MEMORY_MIB.get(p.adapter.language, 100) for p in paths), default=1)
    return max(3, min(SET_LIMIT, half_mib // each_mib))


def _batches(paths: list[PlannedPath], seed: int) -> tuple[tuple[tuple[PlannedPath, ...], ...], tuple[str, ...]]:
    """Split into sets of at most SET_LIMIT live runners; several of them share two anchors: null and one C path."""
    limit = set_limit(paths)
    if len(paths) <= limit:
        return ((tuple(paths),) if paths else ()), ()
    null = next((p for p in paths if p.path.get("engine") == "null" and p.path.get("language") == "c"), None)
    real = max(
        (p for p in paths if p.path.get("engine") != "null"),
        key=lambda p: (len(p.phases), p.path.get("language") == "c"),
        default=None,
    )
    anchors = tuple(p for p in (null, real) if p is not None)
    rest = [p for p in paths if p not in anchors]
    # Paths on one kind of table and of one comparison stay together as far as they fit, so that most ratios are direct.
    rest.sort(key=lambda p: (p.path.get("storage"), p.comparison, p.phases))
    room = max(1, limit - len(anchors))
    count = -(-len(rest) // room)
    batches: list[list[PlannedPath]] = [[]]
    for unit in _units(rest):
        # A speed-up is a ratio of paths that share sets: a family is parted only where it fits in no batch.
        if batches[-1] and (len(batches[-1]) >= -(-len(rest) // count) or len(batches[-1]) + len(unit) > room):
            batches.append([])
        batches[-1] += unit
    parted = [batch[i : i + room] for batch in batches for i in range(0, len(batch), room)]
    return tuple(anchors + tuple(batch) for batch in parted), tuple(anchor.path.id for anchor in anchors)


def _units(paths: list[PlannedPath]) -> list[list[PlannedPath]]:
    """The paths in their order, those together that retrieve in parts and differ in their number of clients alone."""
    units: dict[str, list[PlannedPath]] = {}
    for planned in paths:
        alike = {key: value for key, value in planned.path.coordinates if key != "clients"}
        key = AccessPath.of(alike).id if planned.path.get("ranges") != "none" else planned.path.id
        units.setdefault(key, []).append(planned)
    return list(units.values())


def block_order(seed: int, where: str, count: int) -> list[int]:
    """A random order, the same for the same seed and place (set, batch, phase, round)."""
    order = list(range(count))
    random.Random(f"{seed}/{where}").shuffle(order)
    return order
