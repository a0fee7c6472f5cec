"""The lattice of paths: which points exist, which can run here, which a selection or a filter means."""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType

from rowpath.engines import ENGINES
from rowpath.engines.base import BY_URL, BacksUp, Stored, Versioned, versions
from rowpath.engines.taped import VERSION as TAPE
from rowpath.engines.taped import Taped
from rowpath.machine import cpus
from rowpath.model.path import COORDINATES, AccessPath
from rowpath.runners.manifest import Adapter, adapter_of

NO_FILTERS: Mapping[str, tuple[str, ...]] = MappingProxyType({})
# Coordinates that change what surrounds a statement, not what it is: they are varied one at a time, for all their
# combinations would be tens of thousands of paths.
VARIED_ONE_AT_A_TIME = ("version", "engine_version", "pipeline", "tls", "clients", "concurrency", "threads", "bulk")
LINK = re.compile(r"none|\d+(\.\d+)?ms")  # the round trip of an emulated link
PROCESSES = ("shared", "own")  # the client processes of a path's groups: one for all, or one for each
RANGES = ("bounds", "count")  # how a retrieval is split: by quantiles of the key, or as if keys were dense
ALWAYS = {"clients": ("1",), "threads": ("1",), "tls": ("off",), "fetch": ("row",), "decode": ("natural",)}


@functools.cache
def _axes(language: str, driver: str, engine_name: str, deployment: str) -> dict[str, tuple[str, ...]]:
    adapter = adapter_of(language, driver)
    engine = ENGINES[engine_name]
    durabilities = tuple(engine.durabilities) or ("none",)
    placements = ("same", "split") if len(cpus.usable()) > 1 else ("same",)
    axes = {
        "engine": (engine_name,),
        "engine_version": engine_versions(adapter, engine_name),
        "deployment": (deployment,),
        "language": (adapter.language,),
        "driver": (adapter.driver,),
        "version": adapter.versions,
        "durability": durabilities,
        "placement": placements,
        "profile": ("tuned", "shipped"),
        "statement": ("none",),
        "result": ("none",),
        "format": ("none",),
        "transport": ("none",),
        **ALWAYS,
    }
    if isinstance(engine, Stored):
        axes["storage"] = engine.storages
    axes |= {key: tuple(values) for key, values in adapter.coordinates.items()}
    if isinstance(engine, Taped):  # it stands in for any version
        axes["engine_version"] = tuple(dict.fromkeys((TAPE, *axes["engine_version"])))
    if deployment != "server":
        axes["transport"] = ("none",)
        if isinstance(engine, Versioned):
            axes["engine_version"] = tuple(each for each in axes["engine_version"] if each != engine.tls_version())
    elif axes["transport"] == ("none",):
        axes["transport"] = ("tcp",)  # an adapter that has no choice of transport goes over TCP
    return axes


def engine_versions(adapter: Adapter, engine_name: str) -> tuple[str, ...]:
    """The engine's versions that a path through this adapter can meet; `own` when the driver carries its own build."""
    return ("own",) if adapter.confounded else versions(ENGINES[engine_name])


def lattice(adapter: Adapter, wanted: dict[str, tuple[str, ...]], complete: bool = False) -> list[AccessPath]:
    """The adapter's paths that match; a coordinate not named takes its first value, or all of them when `complete`."""
    return list(_lattice(adapter, wanted, complete))


def spread(adapter: Adapter, wanted: dict[str, tuple[str, ...]]) -> list[AccessPath]:
    """The adapter's paths worth listing: every statement, and each value of VARIED_ONE_AT_A_TIME once."""
    beside = {key: values for key, values in wanted.items() if key in (*VARIED_ONE_AT_A_TIME, "link")}
    found = dict.fromkeys(lattice(adapter, beside, complete=True))
    for key in VARIED_ONE_AT_A_TIME:
        if key not in beside:
            found |= dict.fromkeys(lattice(adapter, beside | {key: ("*",)}))
    return list(found)


def _lattice(adapter: Adapter, wanted: dict[str, tuple[str, ...]], complete: bool) -> Iterator[AccessPath]:
    for engine_name, deployment in itertools.product(adapter.engines, adapter.deployments):
        if engine_name not in ENGINES or deployment not in ENGINES[engine_name].deployments:
            continue
        axes = _axes(adapter.language, adapter.driver, engine_name, deployment)
        if "link" in wanted:
            axes = axes | {"link": ("none", *wanted["link"]) if deployment == "server" else ("none",)}
        if "ranges" in wanted:
            # A file has no key: its segments are equal in bytes or records.
            range_values = RANGES[:1] if deployment == "file" else RANGES
            axes = axes | {"ranges": range_values if len(axes["clients"]) > 1 else ("none",)}
        if "processes" in wanted:
            axes = axes | {"processes": PROCESSES if deployment == "server" else PROCESSES[:1]}
        if "backup" in wanted:
            engine_object = ENGINES[engine_name]
            ways = engine_object.backup_ways(deployment) if isinstance(engine_object, BacksUp) else ()
            axes = axes | {"backup": ways or ("none",)}
        if "free" in wanted.get("placement", ()):
            axes = axes | {"placement": (*axes["placement"], "free")}
        shipped = wanted.get("profile") == ("shipped",)
        choices: dict[str, tuple[str, ...]] = {}
        for key, values in axes.items():
            if key in wanted:
                requested = wanted[key]
                open_ended = key == "version" or (key not in COORDINATES and key in adapter.build.get("open_ended", ()))
                open_ended = open_ended or (key == "clients" and len(values) > 1 and all(map(str.isdigit, requested)))
                choices[key] = (
                    values
                    if requested == ("*",)
                    else tuple(v for v in requested if v in values or open_ended or _of_a_kind(key, v, values))
                )
            elif complete and key not in ("profile", "durability", *VARIED_ONE_AT_A_TIME):
                choices[key] = values
            elif shipped and key in adapter.shipped:
                choices[key] = (adapter.shipped[key],)
            else:
                choices[key] = values[:1]
        if any(key not in axes and key != "label" for key in wanted):
            continue
        encrypts = deployment == "server" and any(value != "off" for value in wanted.get("tls", ()))
        if encrypts and "engine_version" not in wanted:
            choices["engine_version"] = _with_tls(engine_name, choices["engine_version"])
        stored = _stored(engine_name)
        for point in itertools.product(*choices.values()):
            coordinates = dict(zip(choices, point, strict=True))
            if stored:
                possible = stored.durabilities_of(coordinates["storage"])
                if "durability" not in wanted:
                    coordinates["durability"] = possible[0]
                elif coordinates["durability"] not in possible:
                    continue
            if coordinates["engine_version"] == BY_URL:
                if coordinates["placement"] != choices["placement"][0]:
                    continue
                coordinates["placement"] = "none"  # no one knows where such a server runs
            for label in wanted.get("label", ("",)):
                yield AccessPath.of(coordinates, label)


@functools.cache
def _stored(engine_name: str) -> Stored | None:
    engine = ENGINES[engine_name]
    return engine if isinstance(engine, Stored) else None


def _of_a_kind(key: str, value: str, values: tuple[str, ...]) -> bool:
    """Whether the value is one of these but for its number."""
    return sized_like(value, values) or (key == "pipeline" and len(values) > 1 and is_size(value))


def is_size(value: str) -> bool:
    """Whether it is a number of things: 1, 2, …"""
    return value.isdigit() and int(value) > 0


def sized_like(value: str, values: tuple[str, ...]) -> bool:
    """Whether the value is one of these but for its number: `block:500` where `block:100` is there."""
    kind, colon, number = value.partition(":")
    return bool(colon) and number.isdigit() and int(number) > 0 and any(v.startswith(kind + colon) for v in values)


def _with_tls(engine_name: str, otherwise: tuple[str, ...]) -> tuple[str, ...]:
    """The version for a selection that asks for TLS: its paths without TLS meet the same server."""
    engine = ENGINES[engine_name]
    chosen = engine.tls_version() if isinstance(engine, Versioned) else ""
    return (chosen,) if chosen else otherwise


def applies(path: AccessPath, key: str) -> bool:
    """Whether the coordinate means something for the path; durability `none` does where the engine has another one."""
    if key == "durability":
        return len(ENGINES[path.engine].durabilities) > 1
    return path.get(key) != "none"
