"""The lattice of paths: which points exist, which can run here, which a selection or a filter means."""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from types import MappingProxyType

import msgspec

from rowpath.engines import ENGINES
from rowpath.engines.base import BY_URL, BacksUp, Reached, Stored, Versioned, versions
from rowpath.errors import UsageError
from rowpath.machine import cpus
from rowpath.model.workload import COORDINATES, Path, Phase, Workload
from rowpath.planning.experiment_file import Selection
from rowpath.runners.manifest import Adapter, availability, every_adapter
from rowpath.toml_file import suggest

NO_FILTERS: Mapping[str, tuple[str, ...]] = MappingProxyType({})
# Coordinates that change what surrounds a statement, not what it is: they are varied one at a time, for all their
# combinations would be tens of thousands of paths.
BESIDE = ("version", "engine_version", "tls", "clients", "concurrency", "threads", "bulk")
LINK = re.compile(r"none|\d+(\.\d+)?ms")  # the round trip of an emulated link
PROCESSES = ("shared", "own")  # the client processes of a path's groups: one for all, or one for each
RANGES = ("bounds", "count")  # how a retrieval is parted: by quantiles of the key, or as if keys were dense
ALWAYS = {"clients": ("1",), "threads": ("1",), "tls": ("off",), "fetch": ("row",), "decode": ("natural",)}


def coordinate_names() -> tuple[str, ...]:
    """Every coordinate that a selection may name."""
    own = {key for adapter in every_adapter() for key in adapter.coordinates}
    return (*COORDINATES, *sorted(own - set(COORDINATES)), "label")


def stated_ns(link: str) -> int:
    """The round trip that a value of the coordinate `link` states: 0 for `none`, 1,000,000 for `1ms`."""
    return 0 if link == "none" else round(float(link.removesuffix("ms")) * 1e6)


AdapterKey = tuple[str, str]


@functools.cache
def _axes(adapter: AdapterKey, engine_name: str, deployment: str) -> dict[str, tuple[str, ...]]:
    adapter_object = _adapter(adapter)
    engine = ENGINES[engine_name]
    durabilities = tuple(engine.durabilities) or ("none",)
    placements = ("same", "split") if len(cpus.usable()) > 1 else ("same",)
    axes = {
        "engine": (engine_name,),
        "engine_version": engine_versions(adapter_object, engine_name),
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
    if isinstance(engine, Stored):
        axes["storage"] = engine.storages
    axes |= {key: tuple(values) for key, values in adapter_object.coordinates.items()}
    if deployment != "server":
        axes["transport"] = ("none",)
    elif axes["transport"] == ("none",):
        axes["transport"] = ("tcp",)  # an adapter that has no choice of transport goes over TCP
    return axes


def _adapter(key: AdapterKey) -> Adapter:
    return next(adapter for adapter in every_adapter() if (adapter.language, adapter.driver) == key)


def engine_versions(adapter: Adapter, engine_name: str) -> tuple[str, ...]:
    """The engine's versions that a path through this adapter can meet; `own` when the driver carries its own build."""
    return ("own",) if adapter.confounded else versions(ENGINES[engine_name])


def lattice(adapter: Adapter, wanted: dict[str, tuple[str, ...]], complete: bool = False) -> list[Path]:
    """The adapter's paths that match; a coordinate not named takes its first value, or all of them when `complete`."""
    return list(_lattice(adapter, wanted, complete))


def spread(adapter: Adapter, wanted: dict[str, tuple[str, ...]]) -> list[Path]:
    """The adapter's paths worth listing: all that differ in the statement, and each other value of BESIDE once."""
    beside = {key: values for key, values in wanted.items() if key in (*BESIDE, "link")}
    found = dict.fromkeys(lattice(adapter, beside, complete=True))
    for key in BESIDE:
        if key not in beside:
            found |= dict.fromkeys(lattice(adapter, beside | {key: ("*",)}))
    return list(found)


def _lattice(adapter: Adapter, wanted: dict[str, tuple[str, ...]], complete: bool) -> Iterator[Path]:
    for engine_name, deployment in itertools.product(adapter.engines, adapter.deployments):
        if engine_name not in ENGINES or deployment not in ENGINES[engine_name].deployments:
            continue
        axes = _axes((adapter.language, adapter.driver), engine_name, deployment)
        if "link" in wanted:
            axes = axes | {"link": ("none", *wanted["link"]) if deployment == "server" else ("none",)}
        if "ranges" in wanted:
            # A file has no key: its segments are equal in bytes or records.
            parted = RANGES[:1] if deployment == "file" else RANGES
            axes = axes | {"ranges": parted if len(axes["clients"]) > 1 else ("none",)}
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
                asked = wanted[key]
                open_ended = key == "version" or (key not in COORDINATES and key in adapter.build.get("open_ended", ()))
                open_ended = open_ended or (key == "clients" and len(values) > 1 and all(map(str.isdigit, asked)))
                choices[key] = (
                    values
                    if asked == ("*",)
                    else tuple(v for v in asked if v in values or open_ended or _sized_like(v, values))
                )
            elif complete and key not in ("profile", "durability", *BESIDE):
                choices[key] = values
            elif shipped and key in adapter.shipped:
                choices[key] = (adapter.shipped[key],)
            else:
                choices[key] = values[:1]
        if any(key not in axes and key != "label" for key in wanted):
            continue
        if "engine_version" not in wanted and any(value != "off" for value in wanted.get("tls", ())):
            choices["engine_version"] = _with_tls(engine_name, choices["engine_version"])
        engine = ENGINES[engine_name]
        stored = engine if isinstance(engine, Stored) else None
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
                coordinates["placement"] = "none"  # nobody knows where such a server runs
            for label in wanted.get("label", ("",)):
                yield Path.of(coordinates, label)


def _sized_like(value: str, values: tuple[str, ...]) -> bool:
    """Whether the value is one of these but for its number: `block:500` where `block:100` is there."""
    kind, colon, number = value.partition(":")
    return bool(colon) and number.isdigit() and int(number) > 0 and any(v.startswith(kind + colon) for v in values)


def _with_tls(engine_name: str, otherwise: tuple[str, ...]) -> tuple[str, ...]:
    """The version for a selection that asks for TLS: its paths without TLS meet the same server."""
    engine = ENGINES[engine_name]
    chosen = engine.tls_version() if isinstance(engine, Versioned) else ""
    return (chosen,) if chosen else otherwise


def pruned(adapter: Adapter, path: Path) -> str:
    """Why this point of the lattice does not exist; empty when it does."""
    if path.get("link") != "none" and path.get("transport") != "tcp":
        return "a link is emulated for TCP alone"
    for rule in adapter.unsupported:
        if all(_meant(path.get(key), value) for key, value in rule.when.items()):
            return rule.reason
    return ""


def _meant(value: str, ruled: str) -> bool:
    """Whether a rule for `cursor:1000` speaks of this value: of any size."""
    return value == ruled or _sized_like(value, (ruled,))


def unavailable(adapter: Adapter, path: Path) -> tuple[str, str]:
    """Why this path cannot run on this machine, and the command that would enable it; empty when it can."""
    engine = ENGINES[path.get("engine")]
    if isinstance(engine, Versioned):
        there = engine.availability_of(path.get("engine_version"), path.get("tls"))
    else:
        there = engine.availability()
    if not there.ok:
        return there.reason, there.remedy
    if isinstance(engine, Reached) and (unreachable := engine.unreachable(path))[0]:
        return unreachable
    if path.get("engine") == "null" and path.get("deployment") == "server":
        echo = availability(_adapter(("c", "ping")), "bundled")
        if not echo.ok:
            return f"the ping server is a C program: {echo.reason}", echo.remedy
    if path.get("link") != "none":
        linked = availability(_adapter(("c", "ping")), "bundled")
        if not linked.ok:
            return f"the emulated link is a C program: {linked.reason}", linked.remedy
    here = availability(adapter, path.get("version"), path)
    if not here.ok:
        return here.reason, here.remedy
    if "backup" in path.as_dict():
        way = path.get("backup")
        if not isinstance(engine, BacksUp) or way == "none":
            what = f"{engine.name} ({path.get('deployment')})"
            return f"{what} cannot be backed up while clients are at work on it", "rowpath engine list"
        backed = engine.backup_availability(way)
        return ("", "") if backed.ok else (backed.reason, backed.remedy)
    return "", ""


def unserved_reason(adapter: Adapter, path: Path, phase_name: str, phase: Phase) -> str:
    """Why the path does not serve this phase; empty when it does. A space stands for: not worth a word."""
    if (path.get("engine") == "null") != (phase.kind == "null"):
        return " "
    if phase.kind == "null":
        return ""
    if (path.get("ranges") != "none") != phase.union:
        return " "
    if phase.engines and path.get("engine") not in phase.engines:
        return f"{phase_name}: a statement that only {' and '.join(phase.engines)} have"
    if adapter.serves and not any(fnmatchcase(phase_name, pattern) for pattern in adapter.serves):
        return f"{phase_name}: the adapter {adapter.driver} is a program written for {' and '.join(adapter.serves)}"
    for rule in adapter.unsupported:
        asked = dict(rule.when)
        if fnmatchcase(phase_name, asked.pop("phase", "")) and all(_meant(path.get(key), asked[key]) for key in asked):
            return f"{phase_name}: {rule.reason}"
    if adapter.floor:
        return "" if phase.scan else " "
    if "scan" in adapter.phases and phase.kind == "query":
        served = phase.scan or phase.union or (phase.access == "aggregate" and "aggregate" in adapter.phases)
        return "" if served else f"{phase_name}: a delimited file has no index and no query language"
    records = "records" in adapter.phases or path.get("access") == "handler"
    if records and (phase.access == "aggregate" or not (phase.scan or phase.access)):
        return f"{phase_name}: {adapter.driver} reaches records here, it has no query language"
    if path.get("access") == "handler" and phase.kind != "query":
        return f"{phase_name}: HANDLER only reads"
    if "records" in adapter.phases:
        return ""
    if phase.kind not in adapter.phases:
        return f"{phase_name}: the adapter {adapter.driver} does not serve the kind '{phase.kind}'"
    if phase.way == "bulk" and path.get("bulk") == "none":
        return f"{phase_name}: {adapter.driver} has no bulk way"
    if path.get("clients") != "1" and phase.kind not in ("query", "execute"):
        return f"{phase_name}: only queries and single writes are done by several clients at once"
    return ""


def unnumbered_reason(path: Path, workload: Workload, phase_name: str, phase: Phase) -> str:
    """Why several clients cannot do this insert: nobody knows which row gets which number; empty when they can."""
    table = workload.tables.get(phase.after)
    if path.get("clients") == "1" or table is None or not table.identity or phase.parameters is None:
        return ""
    if not phase.parameters.columns or table.identity in phase.parameters.columns:
        return ""
    return f"{phase_name}: the engine numbers the rows as they come, so with several clients no row is known"


def select(selection: Selection, filters: Mapping[str, tuple[str, ...]] = NO_FILTERS) -> list[tuple[Adapter, Path]]:
    """The (adapter, path) pairs of a selection; UsageError for a coordinate that does not exist.

    A coordinate that the selection leaves open takes the filters' values (`placement=split`) where it can. A floor is
    in where its driver or `fetch=drain` is named, for it delivers nothing that could be compared.
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
        if adapter.floor and not wanted.keys() & {"driver", "fetch"}:
            continue
        opened = {key: values for key, values in filters.items() if key not in wanted and values != ("*",)}
        found += [(adapter, path) for path in lattice(adapter, opened | wanted) or lattice(adapter, wanted)]
    return found


def unmatched(selection: Selection) -> UsageError:
    """What is wrong with a selection that no path matches: the coordinate whose value the others do not have."""
    named = " ".join(
        f"{key}={value if isinstance(value, str) else ','.join(value)}" for key, value in selection.select.items()
    )
    for key in sorted(selection.select, key=lambda key: key in ("engine", "language", "driver", "deployment")):
        others = msgspec.structs.replace(selection, select={**selection.select, key: "*"})
        if values := dict.fromkeys(path.get(key) for _adapter, path in select(others)):
            if [*values] == ["none"]:
                return UsageError(f"no path matches {named}: there is no {key} there", f"leave {key} out")
            can_be = f"{key} can be {' or '.join(values)} there"
            return UsageError(f"no path matches {named}: {can_be}", f"{key} = '{next(iter(values))}'")
    return UsageError(f"no path matches {named}", "rowpath list paths")


def check_coordinates(wanted: dict[str, tuple[str, ...]]) -> None:
    """UsageError when a key is no coordinate or a value of engine, language, deployment or driver is unknown."""
    for key in wanted:
        if key not in coordinate_names():
            raise UsageError(f"'{key}' is not a coordinate of a path", suggest(key, coordinate_names()))
    for value in wanted.get("link", ()):
        if not LINK.fullmatch(value):
            raise UsageError(f"link '{value}' is no round trip", "link=none or, for one millisecond, link=1ms")
    known = {
        "engine": tuple(ENGINES),
        "language": tuple(dict.fromkeys(adapter.language for adapter in every_adapter())),
        "driver": tuple(dict.fromkeys(adapter.driver for adapter in every_adapter())),
        "deployment": ("embedded", "server", "file", "none"),
        "placement": ("same", "split", "free"),
    }
    for key, right in known.items():
        for value in wanted.get(key, ()):
            if value not in right and value != "*":
                raise UsageError(f"{key} '{value}' is not known", suggest(value, right))


def matches(path: Path, filters: dict[str, tuple[str, ...]]) -> bool:
    """Whether the path has one of the named values in every named coordinate; floors stay that have no such thing."""
    null = path.get("engine") == "null" and "engine" not in filters
    return all(
        "*" in values or path.get(key) in values or (null and path.get(key) == "none")
        for key, values in filters.items()
    )


def applies(path: Path, key: str) -> bool:
    """Whether the coordinate means something for the path; durability `none` does where the engine has another one."""
    if key == "durability":
        return len(ENGINES[path.get("engine")].durabilities) > 1
    return path.get(key) != "none"
