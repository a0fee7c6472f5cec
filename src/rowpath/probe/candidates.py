"""Which paths a probe can try: every adapter for the engine that is available here, and the settings that matter."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import msgspec

from rowpath.engines import ENGINES
from rowpath.engines.base import BY_URL, Stored
from rowpath.errors import UsageError
from rowpath.model.path import AccessPath, Dropped
from rowpath.model.workload import Phase
from rowpath.planning.availability import ineligible_reason, pruned
from rowpath.planning.lattice import lattice
from rowpath.planning.path_names import short_names
from rowpath.planning.plan import PlannedPath
from rowpath.probe.eligibility import unsuited
from rowpath.runners.manifest import Adapter, availability, every_adapter, language
from rowpath.toml_file import suggest

NAME = "probe.query"  # workload.phase of every probe
SIZES = ("100", "1000", "10000")  # rows at a time, where an adapter can take any number
SIZED = ("block", "cursor", "chunked", "fetch-size")
WHOLE_AXES = ("threads",)  # besides those of the lattice: they matter for a retrieval


@dataclass(frozen=True)
class Candidates:
    """The paths to try, the likely ones first; the floors; what cannot be tried and why."""

    paths: tuple[PlannedPath, ...]
    floors: tuple[PlannedPath, ...]
    dropped: tuple[Dropped, ...]


def candidates(
    engine: str,
    deployment: str,
    phase: Phase,
    *,
    transport: str = "tcp",
    tls: str = "default",
    languages: tuple[str, ...] = (),
    drivers: tuple[str, ...] = (),
    version: str = "",
    read_only: bool = False,
) -> Candidates:
    """Every path to that engine for that phase; UsageError for a language or driver that is not known or has none.

    `read_only`: only adapters that can open a file so.
    `version`: of the drivers, where it is not their own default: the file of a driver that the user names.

    Adapters' own defaults come first, then what differs from them in one setting, then in two, …
    """
    _check("language", languages, {adapter.language for adapter in every_adapter()})
    _check("driver", drivers, {adapter.driver for adapter in every_adapter()})
    found: list[tuple[int, float, Adapter, AccessPath]] = []
    floors: list[tuple[Adapter, AccessPath]] = []
    dropped: list[Dropped] = []
    for adapter in every_adapter():
        if engine not in adapter.engines or deployment not in adapter.deployments:
            continue
        if (languages and adapter.language not in languages) or (drivers and adapter.driver not in drivers):
            continue
        settings = _settings(adapter, engine, deployment, transport, tls, version)
        existing = [path for path in settings if not pruned(adapter, path)]
        # A drain reads every query as a scan.
        drained = msgspec.structs.replace(phase, scan=True) if adapter.floor and deployment == "server" else phase
        reasons = [ineligible_reason(adapter, path, NAME, drained) for path in existing]
        served = [path for path, reason in zip(existing, reasons, strict=True) if not reason]
        if not served:
            if reason := next((each for each in reasons if each.strip()), ""):
                dropped.append(Dropped(settings[0], reason.removeprefix(f"{NAME}: ")))
            continue
        default = served[0]
        here = availability(adapter, version or adapter.versions[0], default)
        if (unfit := unsuited(adapter, tls, read_only))[0]:
            dropped.append(Dropped(default, *unfit))
        elif not here.ok:
            dropped.append(Dropped(default, here.reason, here.remedy))
        elif adapter.floor:
            floors.append((adapter, default))
        else:
            runner = language(adapter.language)
            # What is ready quickly is tried first where the budget is short.
            order = runner.start_s + runner.probe_warm_s[0]
            found += [(_distance(path, default), order, adapter, path) for path in served]
    found.sort(key=lambda item: item[:2])
    names = _names([path for *_order, path in found] + [path for _adapter, path in floors], engine)

    def planned(adapter: Adapter, path: AccessPath) -> PlannedPath:
        return PlannedPath(path, adapter, (NAME,), names[path.id], comparison(path))

    tried = tuple(planned(adapter, path) for *_order, adapter, path in found)
    return Candidates(tried, tuple(planned(*floor) for floor in floors), tuple(dropped))


def comparison(path: AccessPath) -> str:
    """What is ranked together: rows, blocks, columns and copies each by themselves, whatever engine build they use."""
    return f"fetch={path.fetch_form}"


def _check(what: str, names: Iterable[str], known: set[str]) -> None:
    for one in names:
        if one not in known:
            raise UsageError(f"unknown {what} '{one}' in --{what}", suggest(one, tuple(sorted(known))))


def _settings(
    adapter: Adapter, engine: str, deployment: str, transport: str, tls: str, version: str
) -> list[AccessPath]:
    wanted: dict[str, tuple[str, ...]] = {"engine": (engine,), "deployment": (deployment,)}
    if version:
        wanted["version"] = (version,)
    if deployment == "server":
        if transport not in adapter.coordinates.get("transport", ("tcp",)):
            return []
        wanted["transport"] = (transport,)
        offered = adapter.coordinates.get("tls", ())
        if offered:
            wanted["tls"] = (tls if tls in offered else offered[0],)
    for key in WHOLE_AXES:
        if key in adapter.coordinates:
            wanted[key] = adapter.coordinates[key]
    for key in ("fetch", "result"):
        if key in adapter.coordinates:
            wanted[key] = _sizes(adapter.coordinates[key])
    statements = adapter.coordinates.get("statement", ())
    if {"prepared", "text"} <= set(statements):
        wanted["statement"] = tuple(mode for mode in statements if mode != "bound")  # there is nothing to bind
    kind = ENGINES[engine]
    if "none" in kind.durabilities:
        wanted["durability"] = ("none",)  # an adapter may have to bring about any other
    if isinstance(kind, Stored):
        wanted["storage"] = kind.storages[:1]  # the tables are stored already
    paths = lattice(adapter, wanted | {"placement": ("same",)}, complete=True)
    return [_as_given(path) for path in paths if path.get("access") in ("none", "sql")]


def _sizes(values: tuple[str, ...]) -> tuple[str, ...]:
    """The adapter's own values, and more sizes where a form takes any number of rows above one."""
    kinds = dict.fromkeys(value.partition(":")[0] for value in values if value.partition(":")[2] not in ("", "1"))
    more = [f"{kind}:{size}" for kind in kinds if kind in SIZED for size in SIZES]
    return tuple(dict.fromkeys([*values, *more]))


def _as_given(path: AccessPath) -> AccessPath:
    """The path to a server that is not ours: its version and its core are not known beforehand."""
    if not path.served:
        return path
    return AccessPath.of(path.as_dict() | {"engine_version": BY_URL, "placement": "none"})


def _distance(path: AccessPath, default: AccessPath) -> int:
    return sum(1 for key, value in path.coordinates if value != default.get(key))


def _names(paths: list[AccessPath], engine: str) -> dict[str, str]:
    return {key: name.removeprefix(f"{engine} ") for key, name in short_names([(path, "") for path in paths]).items()}
