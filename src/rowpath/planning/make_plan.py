"""A plan of an experiment: paths with their names and comparisons, dropped ones with reasons, batches."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import msgspec
from msgspec import structs

from rowpath.engines import ENGINES
from rowpath.errors import UsageError
from rowpath.model.choices import TOGETHER
from rowpath.model.experiment import Experiment, Selection
from rowpath.model.grouping import grouped
from rowpath.model.hosts import HostsFile
from rowpath.model.path import WITHOUT, AccessPath, Dropped
from rowpath.model.workload import PhaseName, Workload, phase_of
from rowpath.planning import hosts as on_hosts
from rowpath.planning.availability import ineligible_reason, pruned, unavailable, unnumbered_reason
from rowpath.planning.client_groups import crowded, only_alone
from rowpath.planning.hosts import SeveralHosts, cannot_load, spreads
from rowpath.planning.hosts import check as check_for_hosts
from rowpath.planning.plan import Plan, PlannedPath
from rowpath.planning.selection import applies, check_coordinates, matches, select, unmatched
from rowpath.runners.manifest import Adapter, language

SET_LIMIT = 14  # live runners in one set: twelve and two anchors
MOST_PAIRS = SET_LIMIT // 2


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
        (p for p in paths if not p.path.is_null), key=lambda p: (len(p.phases), p.path.language == "c"), default=None
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


class Chosen(NamedTuple):
    """A path of a selection that exists; its name where the selection gives one, its phases where it restricts them."""

    path: AccessPath
    adapter: Adapter
    name: str
    phases: tuple[str, ...]


def candidates(
    selections: Iterable[Selection],
    filters: dict[str, tuple[str, ...]],
    dropped: list[Dropped],
    hosts: HostsFile | None = None,
) -> list[Chosen]:
    """Each path of the selections that exists and that the filters keep, once; with hosts on each that is wanted."""
    chosen: dict[str, Chosen] = {}
    kept = {key: values for key, values in filters.items() if key not in on_hosts.KEYS}
    for selection in selections:
        pairs = _selected(selection, filters, dropped, hosts)
        if not pairs and hosts is not None:
            continue  # each was dropped with its reason
        varying = [key for key, _ in pairs[0][1].coordinates if len({path.get(key) for _, path in pairs}) > 1]
        named = selection.name and (len(pairs) == 1 or varying)
        for adapter, path in pairs:
            if path.id in chosen or not matches(path, kept):
                continue
            if reason := pruned(adapter, path):
                dropped += [Dropped(path=path, reason=reason)] if len(pairs) == 1 else []
                continue
            name = " ".join([selection.name, *(spelt(key, path.get(key)) for key in varying)]) if named else ""
            chosen[path.id] = Chosen(path, adapter, name, selection.phases)
    return list(chosen.values())


def _selected(
    selection: Selection, filters: dict[str, tuple[str, ...]], dropped: list[Dropped], hosts: HostsFile | None
) -> list[tuple[Adapter, AccessPath]]:
    """The paths that a selection means; UsageError when there are none."""
    if hosts is None:
        on_hosts.refuse(selection.wanted)
        on_hosts.refuse(filters)
    wanted = on_hosts.without(selection.wanted)
    alike = selection if wanted == selection.wanted else structs.replace(selection, select=dict(wanted))
    rest = on_hosts.without(filters)
    pairs = select(alike, rest)
    if not pairs:
        raise unmatched(alike)
    if hosts is None:
        return pairs
    return [
        (adapter, there)
        for adapter, path in pairs
        for there in on_hosts.placed(adapter, path, selection.wanted, filters, hosts, dropped)
    ]


def eligible_phases(
    candidate: Chosen, experiment: Experiment, workloads: dict[str, Workload], ineligible: list[tuple[str, str, str]]
) -> tuple[str, ...]:
    """The experiment's phases that the path can run; the others with their reasons into `ineligible`."""
    path, adapter = candidate.path, candidate.adapter
    eligible = []
    for name in experiment.phases:
        if candidate.phases and name not in candidate.phases:
            continue
        phase = phase_of(workloads, name)
        why = ineligible_reason(adapter, path, name, phase)
        why = why or unnumbered_reason(path, workloads[PhaseName.of(name).workload], name, phase)
        if not why:
            eligible.append(name)
        elif why.strip():
            ineligible.append((path.id, name, why))
    return tuple(eligible)


def nothing_left(
    experiment: Experiment, filters: dict[str, tuple[str, ...]], dropped: list[Dropped], extended: bool
) -> UsageError:
    """Why no path of the experiment is left to run."""
    what = f"no path of '{experiment.name}'"
    if dropped:
        return UsageError(f"{what} can run here: {dropped[0].reason}", dropped[0].remedy or "rowpath doctor")
    shown = " ".join(f"{key}={','.join(values)}" for key, values in filters.items())
    if not extended and candidates([each for each in experiment.paths if each.extended], filters, []):
        return UsageError(f"{what} has {shown} without --all", f"rowpath run {experiment.name} --all {shown}")
    return UsageError(f"{what} has {shown}", f"rowpath run {experiment.name} --plan")


def spelt(key: str, value: str) -> str:
    """A coordinate's value as part of a name; a bare number is preceded by what it counts."""
    if key == "version" and "/" in value:
        return Path(value).name
    if key == "clients":
        return f"{value} client{'s' if value != '1' else ''}"
    if key == "tls":
        return f"TLS {value}"
    if key == "plan_cache_mode":
        return f"{value.removeprefix('force_').removesuffix('_plan')} plan"
    if key in ("client_host", "server_host"):
        return f"{'from' if key == 'client_host' else 'to'} {value}"
    if key == "durability" and value == "none":
        return "not durable"
    if value == "none" or (key == "pipeline" and not value.isdigit()):
        return f"no {key}"
    named = value.isdigit() or key == "link" or (key == "backup" and key not in value)
    return f"{key} {value}" if named else value


def short_names(paths: list[tuple[AccessPath, str]]) -> dict[str, str]:
    """A short, unique name per path: the given one, else engine, language, driver and the coordinates that vary."""
    names: dict[str, str] = {}
    for path, name in paths:
        if name:
            names[path.id] = name
            continue
        base = ("engine", "deployment", "language", "driver")
        alike = [other for other, _ in paths if all(other.get(key) == path.get(key) for key in base)]
        keys = [key for key, _ in path.coordinates if key not in base and len({o.get(key) for o in alike}) > 1]
        parts = [path.engine, path.language, path.driver]
        if path.deployment not in ("none", path.engine) and _both_deployments(paths, path):
            parts.insert(1, path.deployment)
        parts += [spelt(key, path.get(key)) for key in keys]
        names[path.id] = " ".join([*parts, *([path.label] if path.label else [])])
    taken: dict[str, int] = {}
    for path_id, name in names.items():
        taken[name] = taken.get(name, 0) + 1
        if taken[name] > 1:
            names[path_id] = f"{name} #{taken[name]}"
    return names


def _both_deployments(paths: list[tuple[AccessPath, str]], path: AccessPath) -> bool:
    same = [o for o, _ in paths if o.engine == path.engine and o.driver == path.driver]
    return len({other.deployment for other in same}) > 1


@dataclass(frozen=True)
class PathPair:
    """A path's coordinates on both sides, and where both are to be measured."""

    name: str
    base: dict[str, str]
    head: dict[str, str]
    phases: tuple[str, ...]


def paired_plan(experiment: Experiment, workloads: dict[str, Workload], pairs: Sequence[PathPair], sets: int) -> Plan:
    """Both sides of every pair in one batch; UsageError where one cannot run here, or where they do not fit."""
    selections = tuple(
        Selection(select=dict(coordinates), name=f"{pair.name} {side}", phases=pair.phases)
        for pair in pairs
        for side, coordinates in (("base", pair.base), ("head", pair.head))
    )
    named = {phase for pair in pairs for phase in pair.phases}
    once_more = Experiment(
        schema_version=experiment.schema_version,
        name="compare",
        title="Base and head in the same sets",
        phases=tuple(phase for phase in experiment.phases if phase in named),
        paths=selections,
        workload_files=experiment.workload_files,
        measure=msgspec.structs.replace(experiment.measure, sets=sets, max_sets=sets),
        scale=experiment.scale,
    )
    plan = make_plan(once_more, workloads, {}, seed=time.time_ns() % 1_000_000_007)
    if plan.dropped:
        first = plan.dropped[0]
        raise UsageError(f"{first.path.driver} {first.path.version} cannot run here: {first.reason}", first.remedy)
    if len(plan.paths) < len(selections):
        raise UsageError("base and head are the same path to this machine", "rowpath compare BASE HEAD")
    if len(plan.batches) > 1:
        raise UsageError(f"{len(pairs)} pairs do not fit in one set", "rowpath compare BASE HEAD")
    return plan
