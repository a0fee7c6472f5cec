"""The paths that conformance tests, the cases that each can run, and what the words of `rowpath adapter test` name."""

from __future__ import annotations

import itertools
import shutil
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Literal

import msgspec

from rowpath.engines import ENGINES
from rowpath.engines.base import Versioned, versions
from rowpath.errors import UsageError
from rowpath.model.path import AccessPath
from rowpath.model.workload import Workload
from rowpath.planning.availability import ineligible_reason, pruned, unavailable
from rowpath.planning.plan import PlannedPath
from rowpath.planning.selection import OWN_WHERE_NAMED, check_coordinates, lattice
from rowpath.runners import manifest
from rowpath.runners.manifest import Adapter
from rowpath.toml_file import suggest
from rowpath.workloads.workload_file import load_workload

FOLDER = Path(__file__).parent / "cases"


class Case(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One phase and its result; what it leaves out follows from the controller's generators."""

    title: str
    workload: str
    phase: str
    verify: dict[str, int] = {}
    sample: dict[str, int] = {}
    rows: int | None = None
    digest: str = ""
    failed: int = 0
    error: dict[str, str] = {}  # its kind (by engine where one differs), a word of its text
    beside: tuple[str, ...] = ()  # coordinates that touch it: it also runs on paths that differ only in those
    name: str = ""


@cache
def cases() -> tuple[Case, ...]:
    """All of them, by file name."""
    return tuple(
        msgspec.structs.replace(msgspec.toml.decode(file.read_bytes(), type=Case), name=file.stem)
        for file in sorted(FOLDER.glob("*.toml"))
    )


def case_named(name: str) -> Case:
    """The case in `NAME.toml`."""
    return next(case for case in cases() if case.name == name)


@cache
def workload_of(case_workload: str) -> Workload:
    """The workload that a case names: one of Rowpath's, or a file beside the case."""
    return load_workload(FOLDER / case_workload if "/" in case_workload else case_workload)


@cache
def workloads() -> dict[str, Workload]:
    """Every workload that a case names."""
    return {workload.name: workload for workload in map(workload_of, dict.fromkeys(case.workload for case in cases()))}


def phase_name(case: Case) -> str:
    """`workload.phase`."""
    return f"{workload_of(case.workload).name}.{case.phase}"


# `values`: the default and each other value once; `pairs`: each two values of what shapes a statement and its result
# together, each other value once; `every`: the whole lattice.
Reach = Literal["values", "pairs", "every"]
Wanted = Mapping[str, tuple[str, ...]]

DURABILITIES = ("none", "full")  # the first that the engine has: conformance needs no disk
# What a connection, its surroundings or one kind of phase take; all other coordinates shape statements and results.
VARIED_ONE_AT_A_TIME = ("version", "engine_version", "transport", "tls", "clients", "concurrency", "threads", "bulk")


def planned(adapter: Adapter, reach: Reach, wanted: Mapping[str, tuple[str, ...]] = {}) -> list[PlannedPath]:
    """The adapter's paths, the default of each engine and deployment first; with the phases that each can run.

    A floor has none: there are no rows of it that could be right.
    """
    paths: list[PlannedPath] = []
    for engine, deployment in itertools.product(() if adapter.floor else adapter.engines, adapter.deployments):
        requested = engine in wanted.get("engine", (engine,)) and deployment in wanted.get("deployment", (deployment,))
        if requested and engine in ENGINES and deployment in ENGINES[engine].deployments:
            chosen = _chosen(adapter, engine, deployment, reach, wanted)
            paths += [planned_path(adapter, path, _beside(path, chosen[0], reach)) for path in chosen]
    return paths


def default_paths(paths: tuple[PlannedPath, ...]) -> tuple[PlannedPath, ...]:
    """The first path of every adapter, engine and deployment."""
    first: dict[tuple[str, ...], PlannedPath] = {}
    for path in paths:
        first.setdefault(place_of(path), path)
    return tuple(first.values())


def place_of(planned: PlannedPath) -> tuple[str, ...]:
    """Adapter, engine and deployment: what the paths of one default have in common."""
    return planned.adapter.language, planned.adapter.driver, planned.path.engine, planned.path.deployment


def reason_against(planned: PlannedPath) -> str:
    """Why this path cannot run here; empty when it can."""
    return unavailable(planned.adapter, planned.path)[0]


def _beside(path: AccessPath, default: AccessPath, reach: Reach) -> set[str]:
    """The coordinates beside the statement's in which the path differs; none where it is tested as a whole anyway."""
    differing = {key for key in (*VARIED_ONE_AT_A_TIME, *OWN_WHERE_NAMED) if path.get(key) != default.get(key)}
    return set() if reach == "every" or "version" in differing else differing


def planned_path(adapter: Adapter, path: AccessPath, beside: set[str]) -> PlannedPath:
    """The path with the phases of the cases that it can run; `beside`: only those that these coordinates touch."""
    worth = {phase_name(case) for case in cases() if not beside or beside.intersection(case.beside)}
    phases = {f"{workload.name}.{phase.name}": phase for workload in workloads().values() for phase in workload.phases}
    reasons = {name: ineligible_reason(adapter, path, name, phase) for name, phase in phases.items() if name in worth}
    eligible = tuple(name for name, reason in reasons.items() if not reason)
    return PlannedPath(path, adapter, eligible, _title(path, adapter))


def _title(path: AccessPath, adapter: Adapter) -> str:
    """Language, driver, deployment, the values that vary, and what is beside the default."""
    apart = (*VARIED_ONE_AT_A_TIME, *OWN_WHERE_NAMED)
    own = [key for key, values in adapter.coordinates.items() if len(values) > 1 and key not in apart]
    axes = {"version": adapter.versions, **adapter.coordinates}
    varied = [key for key in apart if key in axes]
    beside = [f"{key}={path.get(key)}" for key in varied if path.get(key) not in (axes[key][0], "none")]
    if path.tls == "off" and path.engine_version == _encrypting(path.engine):
        beside.append(f"engine_version={path.get('engine_version')}")
    engine = [path.engine] if len(adapter.engines) > 1 else []
    words = [adapter.language, adapter.driver, *engine, path.deployment, *(path.get(key) for key in own)]
    return "_".join([*words, *beside])


def _chosen(adapter: Adapter, engine: str, deployment: str, reach: Reach, wanted: Wanted) -> list[AccessPath]:
    durabilities = adapter.coordinates.get("durability") or ENGINES[engine].durabilities
    durability = next(filter(durabilities.__contains__, DURABILITIES), "none")
    fixed: Wanted = {"durability": (durability,), **wanted, "engine": (engine,), "deployment": (deployment,)}
    apart = (*VARIED_ONE_AT_A_TIME, *OWN_WHERE_NAMED, *wanted)
    shaping = [key for key in adapter.coordinates if key not in apart]
    axes = {"version": adapter.versions, **adapter.coordinates}
    beside = [key for key in VARIED_ONE_AT_A_TIME if key in axes and key not in wanted]
    if deployment != "server" and "transport" in beside:
        beside.remove("transport")

    def existing(open_keys: list[str], more: Mapping[str, tuple[str, ...]] = {}) -> list[AccessPath]:
        paths = lattice(adapter, {**dict.fromkeys(open_keys, ("*",)), **fixed, **more})
        return [path for path in paths if not pruned(adapter, path)]

    def with_value(key: str, value: str) -> list[AccessPath]:
        """The path with that value that can run here and is nearest to the default; none where no point has it."""
        others = [other for other in beside if other != key]
        durable = {} if "durability" in wanted else {"durability": durabilities}
        ways: tuple[tuple[list[str], Wanted], ...] = (
            ([], {}),
            ([*others, "engine_version"], {}),
            ([*others, "engine_version", *shaping], {}),
            ([*others, "engine_version"], durable),
        )
        for open_keys, more in ways:
            paths = existing(open_keys, {key: (value,), **more})
            runnable = [path for path in paths if not unavailable(adapter, path)[0]]
            if nearest := runnable or (len(open_keys) > len(others) and paths):
                default = picked[0].coordinates
                return [min(nearest, key=lambda path: sum(path.get(axis) != at for axis, at in default))]
        return []

    def with_named() -> list[AccessPath]:
        """The path with each value of what no path has unless it is named."""
        named = [key for key in OWN_WHERE_NAMED if key in axes and key not in wanted]
        return [path for key in named for value in axes[key][1:] for path in with_value(key, value)]

    if reach == "every":
        picked = existing([*shaping, *beside])
        return picked + with_named() if picked else []
    candidates = existing(shaping) or existing([*shaping, *beside])
    if not candidates:
        return []
    picked = _covering(candidates, shaping, 2 if reach == "pairs" and len(shaping) > 1 else 1)
    for key in (*shaping, *beside):  # of the shaping ones: what exists only beside another transport, say
        for value in axes[key]:
            if all(path.get(key) != value for path in picked):
                picked += with_value(key, value)
    picked += with_named()
    if "tls" in beside and (version := _encrypting(engine)):
        plain = existing(["transport"], {"tls": ("off",), "engine_version": (version,)})
        picked += [path for path in plain if path.transport == "tcp"][:1]
    return picked


def _encrypting(engine: str) -> str:
    """The version that offers TLS beside a default without: on it `tls=off` must be requested to be so."""
    kind = ENGINES[engine]
    version = kind.tls_version() if isinstance(kind, Versioned) else ""
    return version if version != versions(kind)[0] else ""


def _covering(candidates: list[AccessPath], keys: list[str], together: int) -> list[AccessPath]:
    """The first candidate, then those that bring most of what is still missing, until nothing is.

    What is to come once: each `together` values of these coordinates.
    """
    units = [set(itertools.combinations([(key, path.get(key)) for key in keys], together)) for path in candidates]
    picked = [0]
    missing = set().union(*units) - units[0]
    while missing:
        picked.append(max(range(len(units)), key=lambda number: len(missing & units[number])))
        missing -= units[picked[-1]]
    return [candidates[number] for number in picked]


GENERAL = ("engine", "deployment", "language", "driver", "version")


def paths_of(words: list[str], wanted: Wanted, reach: Reach) -> tuple[PlannedPath, ...]:
    """The paths to test: of every adapter of that driver's name, or of the program that the words are.

    A program's coordinates are those of the manifest entry that `driver=` names; without one, just those given
    (`engine=` is then needed). UsageError when neither fits, or when no path has the coordinates.
    """
    adapters = [adapter for adapter in manifest.every_adapter() if [adapter.driver] == words]
    if not adapters:
        adapters = [_program(words, wanted)]
    check_coordinates({key: values for key, values in wanted.items() if key in ("engine", "language", "deployment")})
    paths = [
        path
        for adapter in adapters
        if "language" not in wanted or adapter.language in wanted["language"]
        for path in planned(adapter, reach, {key: wanted[key] for key in wanted if key not in ("language", "driver")})
    ]
    if not paths:
        given = " ".join(f"{key}={','.join(values)}" for key, values in wanted.items())
        raise UsageError(f"{' '.join(words)} has no path with {given or 'a known engine'}", "rowpath list paths")
    return tuple(paths)


def _program(words: list[str], wanted: Wanted) -> Adapter:
    known = list(dict.fromkeys(adapter.driver for adapter in manifest.every_adapter()))
    if not words or shutil.which(words[0]) is None:
        what = f"'{words[0]}' is neither an adapter nor a program" if words else "which adapter?"
        raise UsageError(what, suggest(words[0], tuple(known)) if words else "rowpath adapter test NAME")
    if len(wanted.get("driver", ())) > 1 or len(wanted.get("engine", ())) > 1:
        raise UsageError("a program is tested as one driver on one engine", "driver=NAME engine=NAME, one value each")
    driver = wanted.get("driver", (Path(words[0]).name,))[0]
    like = next((adapter for adapter in manifest.every_adapter() if adapter.driver == driver), None)
    if like is not None:
        return manifest.external(like, driver, words)
    # No manifest describes it: all that is known of it are the coordinates given.
    engine = wanted.get("engine", ("",))[0]
    if engine not in ENGINES:
        hint = f"engine={'|'.join(ENGINES)}, or driver=NAME of an entry (--adapters FILE)"
        raise UsageError(f"no manifest describes '{driver}', so its engine is not known", hint)
    own = Adapter(
        driver=driver,
        source="",
        engines=(engine,),
        deployments=wanted.get("deployment", ENGINES[engine].deployments[:1]),
        versions=wanted.get("version", ("bundled",)),
        phases=("query", "execute", "connect"),
        coordinates={key: values for key, values in wanted.items() if key not in GENERAL},
        language=wanted.get("language", ("external",))[0],
    )
    described = manifest.external(own, driver, words)
    manifest.add(described)
    return described
