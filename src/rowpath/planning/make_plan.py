"""A plan of an experiment: paths with their names and comparisons, dropped ones with reasons, batches."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

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
from rowpath.planning.plan import Plan, PlannedPath
from rowpath.planning.selection import applies, check_coordinates, matches, no_compression, select, unmatched
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
    hosts_file = hosts.file if hosts else None
    on_hosts.check(experiment, hosts_file)
    dropped: list[Dropped] = []
    ineligible: list[tuple[str, str, str]] = []
    selections = [selection for selection in experiment.paths if extended or not selection.extended]
    chosen = candidates(selections, filters, dropped, hosts_file)
    short = short_names([(candidate.path, candidate.name) for candidate in chosen])
    runnable: list[PlannedPath] = []
    for candidate in chosen:
        path, adapter = candidate.path, candidate.adapter
        reason, remedy = cannot_load(experiment, path, hosts_file) if hosts_file else "", ""
        if not reason and hosts is not None and path.client_host != "none":
            reason, remedy = hosts.unavailable(path, spreads(experiment))
        elif not reason:
            reason, remedy = unavailable(adapter, path)
        reason = reason or only_alone(adapter, path, experiment)
        if not reason and (eligible := eligible_phases(candidate, experiment, workloads, ineligible)):
            planned = PlannedPath(path, adapter, eligible, short[path.id])
            reason, remedy = crowded(experiment, planned, hosts_file, extended)
            runnable += [] if reason else [planned]
        if reason:
            dropped.append(Dropped(path=path, reason=reason, remedy=remedy))
    writing = any(phase_of(workloads, name).writes for name in experiment.phases)
    runnable = _with_comparisons(runnable, writing)
    # Where groups of clients are at work a set is every path once, one after another: nothing has to fit at once.
    batches, anchors = ((tuple(runnable),), ()) if experiment.client_groups and runnable else _batches(runnable, seed)
    why = None if runnable else nothing_left(experiment, filters, dropped, extended)
    paths = tuple(runnable), tuple(dropped), batches, anchors
    return Plan(experiment, workloads, *paths, seed, filters, extended, tuple(ineligible), why)


def _with_comparisons(paths: list[PlannedPath], writing: bool) -> list[PlannedPath]:
    """Paths are ranked together when placement, durability and fetch form agree and no engine build is confounded.

    Paths to what stands in for an engine are ranked among themselves, and so are those to a version that its engine
    sets apart, where another version is there.
    """

    def applies_to(planned: PlannedPath, key: str) -> bool:
        if key in ("link", "pipeline"):
            return True  # without one is a way as well: nothing that crosses a link is ranked with what does not
        # An engine that has no durability but `none` stands apart where something is written, and only there.
        writes = writing and not {"execute", "records"}.isdisjoint(planned.adapter.phases)
        return (key == "durability" and writes) or applies(planned.path, key)

    def version_apart(path: AccessPath) -> str:
        beside = {p.path.engine_version for p in paths if p.path.engine == path.engine} - {path.engine_version}
        apart = beside and path.engine_version in ENGINES[path.engine].versions_apart
        return f"{path.engine} {path.engine_version}" if apart else ""

    keys = ("placement", "client_host", "server_host", "durability", *(key for key in TOGETHER if key != "placement"))
    applicable = {key: [_value(p.path, key) for p in paths if applies_to(p, key)] for key in keys}
    varying = [key for key in keys if len(set(applicable[key])) > 1]
    result = []
    for planned in paths:
        parts = []
        for key in varying:
            value = planned.path.fetch_form if key == "fetch" else _value(planned.path, key)
            parts.append(f"{key}={value if applies_to(planned, key) else applicable[key][0]}")
        stands_in = ENGINES[planned.path.engine].stands_in
        parts += [planned.adapter.confounded, version_apart(planned.path), stands_in]
        result.append(replace(planned, comparison=", ".join(filter(None, parts)) or "all paths"))
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
    null = [p for p in paths if p.path.is_null and p.path.language == "c"]
    real = [p for p in paths if not p.path.is_null]
    real.sort(key=lambda p: (len(p.phases), p.path.language == "c"), reverse=True)
    anchors = (*null[:1], *real[:1])
    rest = [p for p in paths if p not in anchors]
    # Paths on one kind of table and of one comparison stay together as far as they fit, so that most ratios are direct.
    rest.sort(key=lambda p: (p.path.storage, p.comparison, p.phases))
    room = max(1, limit - len(anchors))
    count = -(-len(rest) // room)
    batches: list[list[PlannedPath]] = [[]]
    for unit in grouped(rest, _unit).values():
        # A speed-up, and what a pooler adds, are of paths that share sets: a family is split only where none holds it.
        if batches[-1] and (len(batches[-1]) >= -(-len(rest) // count) or len(batches[-1]) + len(unit) > room):
            batches.append([])
        batches[-1] += unit
    chunks = [batch[i : i + room] for batch in batches for i in range(0, len(batch), room)]
    return tuple(anchors + tuple(batch) for batch in chunks), tuple(anchor.path.id for anchor in anchors)


def _unit(planned: PlannedPath) -> str:
    """The same for paths that retrieve in parts and differ only in their number of clients, or only in the pooler."""
    in_parts = planned.path.ranges != "none"
    left_out = ("pooler", "pooler_mode", *(("clients",) if in_parts else ()))
    alike = {key: value for key, value in planned.path.coordinates if key not in left_out}
    return AccessPath.of(alike, "" if in_parts else planned.path.label).id


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
            parts = filter(None, (spelt(key, path.get(key)) for key in varying))
            name = " ".join([selection.name, *parts]) if named else ""
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
    pairs = select(alike, on_hosts.without(filters))
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
    for selection in experiment.paths:
        if reason := no_compression({**selection.wanted, **filters}):
            return UsageError(f"{what} has {shown}: {reason}", "compression=zlib")
    if not extended and candidates([selection for selection in experiment.paths if selection.extended], filters, []):
        return UsageError(f"{what} has {shown} without --all", f"rowpath run {experiment.name} --all {shown}")
    return UsageError(f"{what} has {shown}", f"rowpath run {experiment.name} --plan")


def spelt(key: str, value: str) -> str:
    """A coordinate's value as part of a name, empty for none; a bare number is preceded by what it counts."""
    if key == "version" and "/" in value:
        return Path(value).name
    in_words = {
        "clients": f"{value} client{'s' if value != '1' else ''}",
        "tls": f"TLS {value}",
        "plan_cache_mode": f"{value.removeprefix('force_').removesuffix('_plan')} plan",
        "client_host": f"from {value}",
        "server_host": f"to {value}",
    }
    if key in in_words:
        return in_words[key]
    if key == "durability" and value == "none":
        return "not durable"
    if key == "pooler_mode" and value == "none":
        return ""  # of no pooler, or of one that has no modes
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
        same = [o for o, _ in paths if o.engine == path.engine and o.driver == path.driver]
        if path.deployment not in ("none", path.engine) and len({other.deployment for other in same}) > 1:
            parts.insert(1, path.deployment)
        parts += filter(None, (spelt(key, path.get(key)) for key in keys))
        names[path.id] = " ".join([*parts, *([path.label] if path.label else [])])
    taken: Counter[str] = Counter()
    for path_id, name in names.items():
        taken[name] += 1
        if taken[name] > 1:
            names[path_id] = f"{name} #{taken[name]}"
    return names


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
    phases = tuple(phase for phase in experiment.phases if any(phase in pair.phases for pair in pairs))
    measure = structs.replace(experiment.measure, sets=sets, max_sets=sets)
    title, files, scale = "Base and head in the same sets", experiment.workload_files, experiment.scale
    once_more = Experiment(experiment.schema_version, "compare", title, phases, selections)
    once_more = structs.replace(once_more, workload_files=files, measure=measure, scale=scale)
    plan = make_plan(once_more, workloads, {}, seed=time.time_ns() % 1_000_000_007)
    if plan.dropped:
        first = plan.dropped[0]
        raise UsageError(f"{first.path.driver} {first.path.version} cannot run here: {first.reason}", first.remedy)
    if len(plan.paths) < len(selections):
        raise UsageError("base and head are the same path to this machine", "rowpath compare BASE HEAD")
    if len(plan.batches) > 1:
        raise UsageError(f"{len(pairs)} pairs do not fit in one set", "rowpath compare BASE HEAD")
    return plan
