"""The lattice of paths, pruned with a stated reason per dropped path; comparisons, sets, seeded order."""

from __future__ import annotations

import functools
import itertools
import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path as FilePath
from types import MappingProxyType

from rowpath import cores
from rowpath.engines import ENGINES
from rowpath.errors import UsageError
from rowpath.experiments import Experiment, Selection
from rowpath.languages import Adapter, availability, every_adapter
from rowpath.model import COORDINATES, Dropped, Path, Phase, Workload
from rowpath.toml_lines import suggest
from rowpath.workloads import load_workload

NO_FILTERS: Mapping[str, tuple[str, ...]] = MappingProxyType({})
SET_LIMIT = 12  # live runners in one set
ALWAYS = {"clients": ("1",), "threads": ("1",), "tls": ("off",), "fetch": ("row",), "decode": ("natural",)}
ROUGH_MEMORY_MIB = {"c": 16, "python": 64, "java": 400}
ROUGH_START_S = {"c": 0.05, "python": 0.3, "java": 0.9}
ROUGH_WARM_S = {"c": 0.3, "python": 0.3, "java": 1.5}


@dataclass(frozen=True)
class PlannedPath:
    """A path that will run: its adapter, the phases it serves, its short name and the comparison it belongs to."""

    path: Path
    adapter: Adapter
    phases: tuple[str, ...]
    name: str
    comparison: str = ""


@dataclass(frozen=True)
class Plan:
    """What will run, in which sets, and what will not, with the reasons."""

    experiment: Experiment
    workloads: dict[str, Workload]
    paths: tuple[PlannedPath, ...]
    dropped: tuple[Dropped, ...]
    groups: tuple[tuple[PlannedPath, ...], ...]  # each group fits in one set; more than one share anchors
    anchors: tuple[str, ...]
    seed: int
    filters: dict[str, tuple[str, ...]]
    extended: bool
    unserved: tuple[tuple[str, str, str], ...] = field(default=())  # (path id, phase, reason)

    def phase(self, name: str) -> Phase:
        """The phase called `workload.phase`."""
        workload, _, phase = name.partition(".")
        return self.workloads[workload].phase(phase)


def coordinate_names() -> tuple[str, ...]:
    """Every coordinate that a selection may name."""
    own = {key for adapter in every_adapter() for key in adapter.coordinates}
    return (*COORDINATES, *sorted(own - set(COORDINATES)), "label")


AdapterKey = tuple[str, str]


@functools.cache
def _axes(adapter: AdapterKey, engine_name: str, deployment: str) -> dict[str, tuple[str, ...]]:
    adapter_object = _adapter(adapter)
    engine = ENGINES[engine_name]
    durabilities = tuple(engine.durabilities) or ("none",)
    placements = ("same", "split") if len(cores.usable()) > 1 else ("same",)
    axes = {
        "engine": (engine_name,),
        "engine_version": (engine_version(adapter_object, engine_name),),
        "deployment": (deployment,),
        "language": (adapter_object.language,),
        "driver": (adapter_object.driver,),
        "version": adapter_object.versions,
        "durability": durabilities,
        "placement": placements,
        "profile": ("tuned", "shipped"),
        "statement": ("none",),
        "result": ("none",),
        "format": ("none",),
        "transport": ("none",),
        **ALWAYS,
    }
    return axes | {key: tuple(values) for key, values in adapter_object.coordinates.items()}


def _adapter(key: AdapterKey) -> Adapter:
    return next(adapter for adapter in every_adapter() if (adapter.language, adapter.driver) == key)


def engine_version(adapter: Adapter, engine_name: str) -> str:
    """The engine's version that a path through this adapter meets; `own` when the driver carries its own build."""
    return "own" if adapter.confounded else ENGINES[engine_name].version()


def lattice(adapter: Adapter, wanted: dict[str, tuple[str, ...]], complete: bool = False) -> list[Path]:
    """The adapter's paths that match; a coordinate not named takes its first value, or all of them when `complete`."""
    return list(_lattice(adapter, wanted, complete))


def _lattice(adapter: Adapter, wanted: dict[str, tuple[str, ...]], complete: bool) -> Iterator[Path]:
    for engine_name, deployment in itertools.product(adapter.engines, adapter.deployments):
        if engine_name not in ENGINES or deployment not in ENGINES[engine_name].deployments:
            continue
        axes = _axes((adapter.language, adapter.driver), engine_name, deployment)
        shipped = wanted.get("profile") == ("shipped",)
        choices: dict[str, tuple[str, ...]] = {}
        for key, values in axes.items():
            if key in wanted:
                asked = wanted[key]
                open_ended = key == "version" or (key not in COORDINATES and key in adapter.build.get("open_ended", ()))
                choices[key] = values if asked == ("*",) else tuple(v for v in asked if v in values or open_ended)
            elif complete and key not in ("profile", "durability"):
                choices[key] = values
            elif shipped and key in adapter.shipped:
                choices[key] = (adapter.shipped[key],)
            else:
                choices[key] = values[:1]
        if any(key not in axes and key != "label" for key in wanted):
            continue
        for point in itertools.product(*choices.values()):
            for label in wanted.get("label", ("",)):
                yield Path.of(dict(zip(choices, point, strict=True)), label)


def pruned(adapter: Adapter, path: Path) -> str:
    """Why this point of the lattice does not exist; empty when it does."""
    for rule in adapter.unsupported:
        if all(path.get(key) == value for key, value in rule.when.items()):
            return rule.reason
    return ""


def unavailable(adapter: Adapter, path: Path) -> tuple[str, str]:
    """Why this path cannot run on this machine, and the command that would enable it; empty when it can."""
    engine = ENGINES[path.get("engine")].availability()
    if not engine.ok:
        return engine.reason, engine.remedy
    if path.get("engine") == "null" and path.get("deployment") == "server":
        echo = availability(_adapter(("c", "ping")), "bundled")
        if not echo.ok:
            return f"the ping server is a C program: {echo.reason}", echo.remedy
    here = availability(adapter, path.get("version"))
    if not here.ok:
        return here.reason, here.remedy
    return "", ""


def unserved_reason(adapter: Adapter, path: Path, phase_name: str, phase: Phase) -> str:
    """Why the path does not serve this phase; empty when it does. A space stands for: not worth a word."""
    if (path.get("engine") == "null") != (phase.kind == "null"):
        return " "
    if phase.kind == "null":
        return ""
    if "scan" in adapter.phases and phase.kind == "query":
        return "" if phase.scan else f"{phase_name}: a delimited file has no index and no query language"
    if phase.kind not in adapter.phases:
        return f"{phase_name}: the adapter {adapter.driver} does not serve the kind '{phase.kind}'"
    return ""


def select(selection: Selection, filters: Mapping[str, tuple[str, ...]] = NO_FILTERS) -> list[tuple[Adapter, Path]]:
    """The (adapter, path) pairs of a selection; UsageError for a coordinate that does not exist.

    A coordinate that the selection leaves open takes the filters' values (`placement=split`) where it can.
    """
    wanted = {key: (value,) if isinstance(value, str) else tuple(value) for key, value in selection.select.items()}
    check_coordinates(wanted)
    found = []
    for adapter in every_adapter():
        given = wanted.get("driver", (adapter.driver,)), wanted.get("language", (adapter.language,))
        if adapter.driver not in given[0] and given[0] != ("*",):
            continue
        if adapter.language not in given[1] and given[1] != ("*",):
            continue
        opened = {key: values for key, values in filters.items() if key not in wanted and values != ("*",)}
        found += [(adapter, path) for path in lattice(adapter, opened | wanted) or lattice(adapter, wanted)]
    return found


def check_coordinates(wanted: dict[str, tuple[str, ...]]) -> None:
    """UsageError when a key is no coordinate or a value of engine, language, deployment or driver is unknown."""
    for key in wanted:
        if key not in coordinate_names():
            raise UsageError(f"'{key}' is not a coordinate of a path", suggest(key, coordinate_names()))
    known = {
        "engine": tuple(ENGINES),
        "language": tuple(dict.fromkeys(adapter.language for adapter in every_adapter())),
        "driver": tuple(dict.fromkeys(adapter.driver for adapter in every_adapter())),
        "deployment": ("embedded", "server", "file", "none"),
        "placement": ("same", "split"),
    }
    for key, right in known.items():
        for value in wanted.get(key, ()):
            if value not in right and value != "*":
                raise UsageError(f"{key} '{value}' is not known", suggest(value, right))


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
    chosen: dict[str, tuple[Adapter, Path, str, tuple[str, ...]]] = {}
    dropped: list[Dropped] = []
    for selection in experiment.paths:
        if selection.extended and not extended:
            continue
        if not select(selection):
            raise UsageError(
                f"no path matches the selection {selection.name or selection.select}", "rowpath list paths"
            )
        pairs = select(selection, filters)
        varying = [key for key in filters if len({path.get(key) for _, path in pairs}) > 1]
        for adapter, path in pairs:
            if path.id in chosen or not matches(path, filters):
                continue
            reason = pruned(adapter, path)
            if reason:
                if len(pairs) == 1:
                    dropped.append(Dropped(path=path, reason=reason))
                continue
            name = (
                " ".join([selection.name, *(path.get(key) for key in varying)])
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
        served = []
        for phase_name in experiment.phases:
            if only and phase_name not in only:
                continue
            workload, _, phase = phase_name.partition(".")
            why = unserved_reason(adapter, path, phase_name, workloads[workload].phase(phase))
            if not why:
                served.append(phase_name)
            elif why.strip():
                unserved.append((path.id, phase_name, why))
        if served:
            runnable.append(PlannedPath(path, adapter, tuple(served), short[path.id]))
    runnable = _with_comparisons(runnable)
    groups, anchors = _groups(runnable, seed)
    return Plan(
        experiment,
        workloads,
        tuple(runnable),
        tuple(dropped),
        groups,
        anchors,
        seed,
        filters,
        extended,
        tuple(unserved),
    )


def workloads_of(experiment: Experiment) -> dict[str, Workload]:
    """The workloads that the experiment's phases name; UsageError for a phase that does not exist."""
    loaded = {workload.name: workload for workload in map(load_workload, experiment.workload_files)}
    for name in experiment.phases:
        workload, dot, phase = name.partition(".")
        if not dot:
            raise UsageError(f"'{name}' is not WORKLOAD.PHASE", "for example: scan.read (rowpath list workloads)")
        if workload not in loaded:
            loaded[workload] = load_workload(workload)
        try:
            loaded[workload].phase(phase)
        except KeyError:
            right = tuple(f"{workload}.{known.name}" for known in loaded[workload].phases)
            raise UsageError(f"workload '{workload}' has no phase '{phase}'", suggest(name, right)) from None
    return loaded


def matches(path: Path, filters: dict[str, tuple[str, ...]]) -> bool:
    """Whether the path has one of the named values in every named coordinate; floors stay that have no such thing."""
    null = path.get("engine") == "null" and "engine" not in filters
    return all(
        "*" in values or path.get(key) in values or (null and path.get(key) == "none")
        for key, values in filters.items()
    )


def short_names(paths: list[tuple[Path, str]]) -> dict[str, str]:
    """A short, unique name per path: the given one, else engine, language, driver and the coordinates that vary."""
    names: dict[str, str] = {}
    for path, name in paths:
        if name:
            names[path.id] = name
            continue
        base = ("engine", "deployment", "language", "driver")
        alike = [other for other, _ in paths if all(other.get(key) == path.get(key) for key in base)]
        keys = [key for key, _ in path.coordinates if key not in base and len({o.get(key) for o in alike}) > 1]
        parts = [path.get("engine"), path.get("language"), path.get("driver")]
        if path.get("deployment") not in ("none", path.get("engine")) and _both_deployments(paths, path):
            parts.insert(1, path.get("deployment"))
        names[path.id] = " ".join([*parts, *(path.get(key) for key in keys), *([path.label] if path.label else [])])
    taken: dict[str, int] = {}
    for path_id, name in names.items():
        taken[name] = taken.get(name, 0) + 1
        if taken[name] > 1:
            names[path_id] = f"{name} #{taken[name]}"
    return names


def _both_deployments(paths: list[tuple[Path, str]], path: Path) -> bool:
    same = [o for o, _ in paths if o.get("engine") == path.get("engine") and o.get("driver") == path.get("driver")]
    return len({other.get("deployment") for other in same}) > 1


def applies(path: Path, key: str) -> bool:
    """Whether the coordinate means something for the path; durability `none` does where the engine has another one."""
    if key == "durability":
        return len(ENGINES[path.get("engine")].durabilities) > 1
    return path.get(key) != "none"


def _with_comparisons(paths: list[PlannedPath]) -> list[PlannedPath]:
    """Paths are ranked together when placement, durability and fetch form agree and no engine build is confounded."""
    keys = ("placement", "durability", "fetch", "clients", "tls")
    applicable = {key: [p.path.get(key) for p in paths if applies(p.path, key)] for key in keys}
    varying = [key for key in keys if len(set(applicable[key])) > 1]
    result = []
    for planned in paths:
        parts = []
        for key in varying:
            value = planned.path.get(key)
            if key == "fetch":
                value = value.partition(":")[0]
            parts.append(f"{key}={value if applies(planned.path, key) else applicable[key][0]}")
        if planned.adapter.confounded:
            parts.append(planned.adapter.confounded)
        result.append(
            PlannedPath(planned.path, planned.adapter, planned.phases, planned.name, ", ".join(parts) or "all paths")
        )
    return result


def set_limit(paths: list[PlannedPath]) -> int:
    """How many runners may live at once: SET_LIMIT, or what fits in half of the memory that is free now."""
    try:
        available = next(line for line in FilePath("/proc/meminfo").read_text().splitlines() if "MemAvailable" in line)
    except (OSError, StopIteration):
        return SET_LIMIT
    half_mib = int(available.split()[1]) // 2048
    each_mib = max((ROUGH_MEMORY_MIB.get(p.adapter.language, 100) for p in paths), default=1)
    return max(3, min(SET_LIMIT, half_mib // each_mib))


def _groups(paths: list[PlannedPath], seed: int) -> tuple[tuple[tuple[PlannedPath, ...], ...], tuple[str, ...]]:
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
    # Paths of one comparison stay together as far as they fit, so that most ratios are direct.
    rest.sort(key=lambda p: (p.comparison, p.phases))
    room = max(1, limit - len(anchors))
    count = -(-len(rest) // room)
    size = -(-len(rest) // count)
    groups = tuple(anchors + tuple(rest[i : i + size]) for i in range(0, len(rest), size))
    return groups, tuple(anchor.path.id for anchor in anchors)


def block_order(seed: int, where: str, count: int) -> list[int]:
    """A random order, the same for the same seed and place (set, group, phase, round)."""
    order = list(range(count))
    random.Random(f"{seed}/{where}").shuffle(order)
    return order


def estimate_s(plan: Plan) -> float:
    """How long the plan would take, roughly: starting, warming up, blocks and the proof pass; no engine is asked."""
    measure = plan.experiment.measure
    block_s = (measure.block_ms + measure.lead_in_ms) / 1000 + 0.002
    per_set = 1.0
    for group in plan.groups:
        for planned in group:
            tongue = planned.adapter.language
            slow_server = (
                3.0 if planned.path.get("engine") == "derby" and planned.path.get("deployment") == "server" else 1.0
            )
            per_set += ROUGH_START_S.get(tongue, 0.5)
            for name in planned.phases:
                phase = plan.phase(name)
                if phase.writes:
                    per_set += max(0.1, phase.operations * 0.0008)
                    continue
                per_set += measure.rounds * max(block_s, phase.rows_per_operation * 1.5e-6)
                if "steady" in measure.regimes:
                    per_set += min(
                        measure.warm_cap_s, ROUGH_WARM_S.get(tongue, 1.0) * slow_server / len(planned.phases) + 0.2
                    )
    proof = sum(ROUGH_START_S.get(p.adapter.language, 0.5) + 0.3 for p in plan.paths)
    return 6.0 + proof + per_set * measure.sets
