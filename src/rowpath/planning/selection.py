"""What a selection or a filter means: the paths that it names."""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Mapping
from types import MappingProxyType

import msgspec

from rowpath import text as fmt
from rowpath.engines import ENGINES
from rowpath.engines.base import BY_URL, BacksUp, Compresses, Stored, Versioned, versions
from rowpath.engines.taped import VERSION as TAPE
from rowpath.engines.taped import Taped
from rowpath.errors import UsageError
from rowpath.machine import cpus
from rowpath.model.experiment import Selection
from rowpath.model.path import COORDINATES, AccessPath, link_bytes_per_s, link_ns
from rowpath.poolers import POOLERS
from rowpath.runners.manifest import Adapter, adapter_of, every_adapter
from rowpath.toml_file import suggest

NO_FILTERS: Mapping[str, tuple[str, ...]] = MappingProxyType({})
# Coordinates that change what surrounds a statement, not what it is: they are varied one at a time, for all their
# combinations would be tens of thousands of paths.
VARIED_ONE_AT_A_TIME = ("version", "engine_version", "pipeline", "tls", "clients", "concurrency", "threads", "bulk")
POOLED = ("pool", "pool_size", "validation")
POOLER = ("pooler", "pooler_mode")
OWN_WHERE_NAMED = ("rows", "loop", "locking", "compression")  # of adapters
# Coordinates that no path has unless they are named.
WHERE_NAMED = ("link", "layer", "technique", *POOLED, *POOLER, *OWN_WHERE_NAMED)
# The round trip of an emulated link, and its rate in each direction.
LINK = re.compile(r"none|\d+(\.\d+)?ms(@(?=[0.]*[1-9])\d+(\.\d+)?[kmg]bit)?")
LINK_HOLDS_BYTES, LINK_QUEUE_NS = 16 << 20, 10_000_000  # MOST_BYTES and QUEUE_NS of runners/c/tools/link.c
POOL_SIZE = "10"  # of a pool whose size is not named: what most pools have by themselves
VALIDATIONS = ("none", "borrow")
PROCESSES = ("shared", "own")  # the client processes of a path's groups: one for all, or one for each
RANGES = ("bounds", "count")  # how a retrieval is split: by quantiles of the key, or as if keys were dense
ALWAYS = {"clients": ("1",), "threads": ("1",), "tls": ("off",), "fetch": ("row",), "decode": ("natural",)}


@functools.cache
def _axes(language: str, driver: str, engine_name: str, deployment: str) -> dict[str, tuple[str, ...]]:
    adapter = adapter_of(language, driver)
    engine = ENGINES[engine_name]
    axes = {
        "engine": (engine_name,),
        "engine_version": ("own",) if adapter.confounded else versions(engine, deployment),  # `own`: the driver's
        "deployment": (deployment,),
        "language": (adapter.language,),
        "driver": (adapter.driver,),
        "version": adapter.versions,
        "durability": tuple(engine.durabilities) or ("none",),
        "placement": ("same", "split") if len(cpus.usable()) > 1 else ("same",),
        "profile": ("tuned", "shipped"),
        **dict.fromkeys(("statement", "result", "format", "transport"), ("none",)),
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
            axes["engine_version"] = tuple(one for one in axes["engine_version"] if one != engine.tls_version())
    elif axes["transport"] == ("none",):
        axes["transport"] = ("tcp",)  # an adapter that has no choice of transport goes over TCP
    return axes


def lattice(adapter: Adapter, wanted: dict[str, tuple[str, ...]], complete: bool = False) -> list[AccessPath]:
    """The adapter's paths that match; a coordinate not named takes its first value, or all of them when `complete`."""
    paths: list[AccessPath] = []
    for engine_name, deployment in itertools.product(adapter.engines, adapter.deployments):
        if engine_name not in ENGINES or deployment not in ENGINES[engine_name].deployments:
            continue
        engine = ENGINES[engine_name]
        axes = _axes(adapter.language, adapter.driver, engine_name, deployment)
        axes = {key: values for key, values in axes.items() if key in wanted or key not in OWN_WHERE_NAMED}
        if "link" in wanted:
            axes = axes | {"link": ("none", *wanted["link"]) if deployment == "server" else ("none",)}
        if "compression" in wanted:
            axes = axes | {"compression": _compressions(adapter, engine_name, deployment)}
        if wanted.keys() & {*POOLER}:
            axes = axes | _poolers(engine_name, deployment)
        if wanted.keys() & {"layer", "technique"}:  # otherwise a path hands over rows
            above = [layer for layer in adapter.layers if engine_name in layer.over[adapter.driver]]
            axes = axes | {
                "layer": tuple(layer.name for layer in above) or ("none",),
                "technique": tuple(dict.fromkeys(["none", *(way for layer in above for way in layer.techniques)])),
            }
        if wanted.keys() & {*POOLED}:
            axes = axes | _pools(adapter, engine_name, wanted)
        if "ranges" in wanted:
            # A file has no key: its segments are equal in bytes or records.
            range_values = RANGES[:1] if deployment == "file" else RANGES
            axes = axes | {"ranges": range_values if len(axes["clients"]) > 1 else ("none",)}
        if "processes" in wanted:
            axes = axes | {"processes": PROCESSES if deployment == "server" else PROCESSES[:1]}
        if "backup" in wanted:
            ways = engine.backup_ways(deployment) if isinstance(engine, BacksUp) else ()
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
                numbered = key == "pipeline" and len(values) > 1  # a value is one of these but for its number
                kept = (
                    v
                    for v in requested
                    if v in values or open_ended or sized_like(v, values) or (numbered and is_size(v))
                )
                choices[key] = values if requested == ("*",) else tuple(kept)
            elif complete and key not in ("profile", "durability", *VARIED_ONE_AT_A_TIME):
                choices[key] = values
            elif shipped and key in adapter.shipped:
                choices[key] = (adapter.shipped[key],)
            else:
                choices[key] = values[:1]
        if any(key not in axes and key != "label" for key in wanted):
            continue
        encrypts = deployment == "server" and any(value != "off" for value in wanted.get("tls", ()))
        if encrypts and "engine_version" not in wanted and isinstance(engine, Versioned):
            # A selection that asks for TLS: its paths without TLS meet the same server.
            choices["engine_version"] = (engine.tls_version(),) if engine.tls_version() else choices["engine_version"]
        if any(value != "none" for value in wanted.get("pooler", ())) and "transport" not in wanted:
            choices["transport"] = tuple(value for value in axes["transport"] if value == "tcp") or choices["transport"]
        stored = _stored(engine_name)
        for point in itertools.product(*choices.values()):
            coordinates = dict(zip(choices, point, strict=True))
            if stored:
                possible = stored.durabilities_of(coordinates["storage"])
                if "durability" not in wanted:
                    coordinates["durability"] = possible[0]
                elif coordinates["durability"] not in possible:
                    continue
            if deployment == "embedded":  # the driver brings the engine: one version names both
                for one, other, known in (
                    ("version", "engine_version", axes["engine_version"]),
                    ("engine_version", "version", adapter.versions),
                ):
                    if other not in wanted and coordinates[one] in known:
                        coordinates[other] = coordinates[one]
            if coordinates["engine_version"] == BY_URL:
                if coordinates["placement"] != choices["placement"][0]:
                    continue
                coordinates["placement"] = "none"  # no one knows where such a server runs
            if "pooler" in coordinates:
                modes = POOLERS[coordinates["pooler"]].modes if coordinates["pooler"] != "none" else ("none",)
                if "pooler_mode" not in wanted or modes == ("none",):
                    coordinates["pooler_mode"] = modes[0]
            if coordinates.get("pool") == "none":
                coordinates |= dict.fromkeys(POOLED, "none")
            paths += [AccessPath.of(coordinates, label) for label in wanted.get("label", ("",))]
    return list(dict.fromkeys(paths)) if wanted.keys() & {*POOLED, *POOLER} else paths


def _compressions(adapter: Adapter, engine_name: str, deployment: str) -> tuple[str, ...]:
    """What can be compressed: of a server's connections as its driver can, of files what the engine writes."""
    engine = ENGINES[engine_name]
    offered = engine.compressions if isinstance(engine, Compresses) and deployment != "embedded" else ()
    if deployment == "server":
        offered = tuple(value for value in adapter.coordinates.get("compression", ()) if value in offered)
    return offered or ("none",)


def _poolers(engine_name: str, deployment: str) -> dict[str, tuple[str, ...]]:
    """The axes of the poolers that can stand before the engine."""
    before = [kind for kind in POOLERS.values() if deployment == "server" and engine_name in kind.engines]
    modes = dict.fromkeys(mode for kind in before for mode in kind.modes)
    return {"pooler": ("none", *(kind.name for kind in before)), "pooler_mode": tuple(dict.fromkeys(("none", *modes)))}


def _pools(adapter: Adapter, engine_name: str, wanted: dict[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    """The axes of the pools over the adapter: a size is any number; a connection that is not lent has none."""
    over = [pool for pool in adapter.pools if engine_name in pool.over[adapter.driver]]
    sizes = tuple(size for size in wanted.get("pool_size", ()) if is_size(size))
    validations = tuple(value for value in VALIDATIONS if any(value in pool.validations for pool in over))
    return {
        "pool": ("none", *(pool.name for pool in over)),
        "pool_size": sizes or (POOL_SIZE,),
        "validation": validations or ("none",),
    }


def spread(adapter: Adapter, wanted: dict[str, tuple[str, ...]]) -> list[AccessPath]:
    """The adapter's paths worth listing: every statement, and each value of VARIED_ONE_AT_A_TIME once."""
    beside = {key: values for key, values in wanted.items() if key in (*VARIED_ONE_AT_A_TIME, *WHERE_NAMED)}
    paths = dict.fromkeys(lattice(adapter, beside, complete=True))
    for key in VARIED_ONE_AT_A_TIME:
        if key not in beside:
            paths |= dict.fromkeys(lattice(adapter, beside | {key: ("*",)}))
    return list(paths)


@functools.cache
def _stored(engine_name: str) -> Stored | None:
    engine = ENGINES[engine_name]
    return engine if isinstance(engine, Stored) else None


def is_size(value: str) -> bool:
    """Whether it is a number of things: 1, 2, …"""
    return value.isdigit() and int(value) > 0


def sized_like(value: str, values: tuple[str, ...]) -> bool:
    """Whether the value is one of these but for its number: `block:500` where `block:100` is there."""
    kind, colon, number = value.partition(":")
    return bool(colon) and is_size(number) and any(v.startswith(kind + colon) for v in values)


def applies(path: AccessPath, key: str) -> bool:
    """Whether the coordinate means something for the path; durability `none` does where the engine has another one."""
    if key == "durability":
        return len(ENGINES[path.engine].durabilities) > 1
    return path.get(key) != "none"


def coordinate_names() -> tuple[str, ...]:
    """Every coordinate that a selection may name."""
    own = {key for adapter in every_adapter() for key in adapter.coordinates}
    return (*COORDINATES, *sorted(own - set(COORDINATES)), "label")


def select(
    selection: Selection, filters: Mapping[str, tuple[str, ...]] = NO_FILTERS
) -> list[tuple[Adapter, AccessPath]]:
    """The (adapter, path) pairs of a selection; UsageError for a coordinate that does not exist.

    A coordinate that the selection leaves open takes the filters' values (`placement=split`) where it can. A floor is
    in where its driver or `fetch=drain` is named, for it delivers nothing that could be compared.
    """
    wanted = selection.wanted
    check_coordinates(wanted)
    if "pooler_mode" in wanted and "pooler" not in {*wanted, *filters}:
        raise UsageError("pooler_mode needs a pooler", f"pooler={next(iter(POOLERS))}")
    selected = []
    for adapter in every_adapter():
        own = {"driver": adapter.driver, "language": adapter.language}
        if any(value not in (given := wanted.get(key, ("*",))) and given != ("*",) for key, value in own.items()):
            continue
        if adapter.floor and not wanted.keys() & {"driver", "fetch"}:
            continue
        opened = {key: values for key, values in filters.items() if key not in wanted and values != ("*",)}
        selected += [(adapter, path) for path in lattice(adapter, opened | wanted) or lattice(adapter, wanted)]
    return selected


def unmatched(selection: Selection) -> UsageError:
    """What is wrong with a selection that no path matches: the coordinate whose value the others do not have."""
    named = " ".join(f"{key}={','.join(values)}" for key, values in selection.wanted.items())
    if reason := no_compression(selection.wanted):
        return UsageError(f"no path matches {named}: {reason}", "compression=zlib")
    for key in sorted(selection.select, key=lambda key: key in ("engine", "language", "driver", "deployment")):
        others = msgspec.structs.replace(selection, select={**selection.select, key: "*"})
        if values := dict.fromkeys(path.get(key) for _adapter, path in select(others)):
            if [*values] == ["none"]:
                return UsageError(f"no path matches {named}: these paths have no {key}", f"remove {key}")
            can_be = f"{key} must be {' or '.join(values)}"
            return UsageError(f"no path matches {named}: {can_be}", f"{key} = '{next(iter(values))}'")
    return UsageError(f"no path matches {named}", "rowpath list paths")


def no_compression(wanted: Mapping[str, tuple[str, ...]]) -> str:
    """Why the named engines cannot compress as is wanted, where they know it; else empty."""
    named = wanted.get("engine", ("*",))
    engines = [each for name, each in ENGINES.items() if "*" in named or name in named]
    known = [each.no_compressions for each in engines if isinstance(each, Compresses)]
    values = wanted.get("compression", ())
    return "; ".join(reasons[value] for reasons in known for value in values if value in reasons)


def check_coordinates(wanted: dict[str, tuple[str, ...]]) -> None:
    """UsageError when a key is no coordinate or a value of engine, language, deployment or driver is unknown."""
    names = coordinate_names()
    for key in wanted:
        if key not in names:
            raise UsageError(f"unknown coordinate '{key}'", suggest(key, names))
    for value in wanted.get("link", ()):
        if not LINK.fullmatch(value):
            what = f"invalid link '{value}': expected a round-trip time such as 1ms"
            raise UsageError(what, "link=none, for one millisecond link=1ms, or with a rate link=25ms@100mbit")
        held = link_bytes_per_s(value) * (link_ns(value) / 2 + LINK_QUEUE_NS) / 1e9
        if held > LINK_HOLDS_BYTES:
            what = f"link '{value}' holds {fmt.size(held)} in each direction (delay × rate, and what queues before it)"
            raise UsageError(f"{what}: its buffers hold {fmt.size(LINK_HOLDS_BYTES)}", "a shorter time or a lower rate")
    for value in wanted.get("pipeline", ()):
        if value not in ("off", "*") and not is_size(value):
            what = f"invalid pipeline '{value}': expected how many statements are sent before their answers are read"
            raise UsageError(what, "pipeline=off or, for ten statements, pipeline=10")
    for value in wanted.get("pool_size", ()):
        if value not in ("none", "*") and not is_size(value):
            what = f"invalid pool_size '{value}': expected how many connections the pool has"
            raise UsageError(what, f"for ten connections, pool_size={POOL_SIZE}")
    compressing = [
        (*each.compressions, *each.no_compressions) for each in ENGINES.values() if isinstance(each, Compresses)
    ]
    known = {
        "pool": ("none", *dict.fromkeys(pool.name for adapter in every_adapter() for pool in adapter.pools)),
        "validation": VALIDATIONS,
        "engine": tuple(ENGINES),
        "language": tuple(dict.fromkeys(adapter.language for adapter in every_adapter())),
        "driver": tuple(dict.fromkeys(adapter.driver for adapter in every_adapter())),
        "deployment": ("embedded", "server", "file", "none"),
        "placement": ("same", "split", "free", "apart"),
        "pooler": ("none", *POOLERS),
        "compression": tuple(dict.fromkeys(("none", *(value for each in compressing for value in each)))),
        "pooler_mode": tuple(dict.fromkeys(("none", *(mode for kind in POOLERS.values() for mode in kind.modes)))),
    }
    for key, right in known.items():
        for value in wanted.get(key, ()):
            if value not in right and value != "*":
                raise UsageError(f"unknown {key} '{value}'", suggest(value, right))


def matches(path: AccessPath, filters: dict[str, tuple[str, ...]]) -> bool:
    """Whether the path has one of the named values in every named coordinate; floors stay that have no such thing."""
    null = path.is_null and "engine" not in filters
    return all(
        "*" in values or path.get(key) in values or (null and path.get(key) == "none")
        for key, values in filters.items()
    )
