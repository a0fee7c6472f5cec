"""Which paths can be tried: every adapter for the engine that is available here, and the settings that matter."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

import msgspec

from rowpath.engines import ENGINES
from rowpath.engines.base import BY_URL, Stored
from rowpath.errors import UsageError
from rowpath.model.path import AccessPath, Dropped
from rowpath.model.workload import Phase
from rowpath.own_database.question import ProbeOptions
from rowpath.own_database.target import Target
from rowpath.planning.availability import ineligible_reason, pruned
from rowpath.planning.lattice import lattice, sized_like
from rowpath.planning.path_names import short_names
from rowpath.planning.plan import PlannedPath
from rowpath.runners.manifest import Adapter, availability, every_adapter, language
from rowpath.toml_file import suggest

NAME = "probe.query"  # workload.phase of every probe
SIZES = ("100", "1000", "10000")  # rows at a time, where an adapter can take any number
SIZED = ("block", "cursor", "chunked", "fetch-size")
YOURS, USUAL = "yours", "usual"
BY_URL_OR_FIXED = ("pipeline", "transport", "tls", "clients", "concurrency", "bulk")  # not for `--mine` to say
WHOLE_AXES = ("threads",)  # besides those of the lattice: they matter for a retrieval
AS_SHIPPED = "as it ships"
Words = dict[str, Callable[[str], str]]
RESULT: Words = {
    "whole": lambda _size: "the whole result at once",
    "single-row": lambda _size: "one row at a time",
    "cursor": lambda size: f"a server-side cursor of {size}",
    "chunked": lambda size: f"chunks of {size}",
    "fetch-size": lambda size: f"a fetch size of {size}",
}
FETCH: Words = {
    "row": lambda _size: "rows",
    "block": lambda size: f"blocks of {size} rows",
    "columnar": lambda _size: "columns",
    "copy": lambda _size: "COPY",
    "get-data": lambda _size: "a call for each value",
}
FORMAT: Words = {"binary": lambda _size: "binary values", "text": lambda _size: "values as text"}
STATEMENT: Words = {
    "prepared": lambda _size: "a prepared statement",
    "bound": lambda _size: "an unprepared statement",
    "text": lambda _size: "a plain statement",
}
WORDS = {"result": RESULT, "fetch": FETCH, "format": FORMAT, "statement": STATEMENT}


@dataclass(frozen=True)
class Candidates:
    """The paths to try, the likely ones first; the floors; what cannot be tried and why; what to compare with."""

    paths: tuple[PlannedPath, ...]
    floors: tuple[PlannedPath, ...]
    dropped: tuple[Dropped, ...]
    baselines: dict[str, str] = field(default_factory=dict)  # path id → YOURS, or USUAL: one for each language


@dataclass(frozen=True)
class Wanted:
    """What a probe looks for: paths to that engine, in that deployment, for that phase.

    `read_only`: only adapters that can open a file so. `keyed`: the query has parameters.
    `version`: of the drivers, where it is not their own default: the file of a driver that the user names.
    `mine`: DRIVER[,setting=value…], what the user has now; it takes part whatever `languages` and `drivers` say.
    """

    engine: str
    deployment: str
    phase: Phase
    transport: str = "tcp"
    tls: str = "default"
    languages: tuple[str, ...] = ()
    drivers: tuple[str, ...] = ()
    version: str = ""
    read_only: bool = False
    keyed: bool = False
    mine: str = ""

    def fits(self, adapter: Adapter) -> bool:
        """Whether the adapter is for that engine, deployment and query."""
        here = self.engine in adapter.engines and self.deployment in adapter.deployments
        return here and not (self.keyed and adapter.floor)

    def names(self, adapter: Adapter) -> bool:
        """Whether `languages` and `drivers` leave the adapter in."""
        if adapter.only_named and adapter.driver not in self.drivers:
            return False
        in_languages = not self.languages or adapter.language in self.languages
        return in_languages and (not self.drivers or adapter.driver in self.drivers)


def candidates(wanted: Wanted) -> Candidates:
    """Every path that is wanted; UsageError for a language or driver that is unknown or has none.

    Breadth first: the likeliest setting of every driver, then a second one of each, … A driver's settings begin with
    its default, then what differs from that in one, then in two, …
    """
    _check("language", wanted.languages, {adapter.language for adapter in every_adapter()})
    _check("driver", wanted.drivers, {adapter.driver for adapter in every_adapter()})
    found = _Found(wanted)
    for adapter in every_adapter():
        if wanted.fits(adapter):
            found.add(adapter)
    return found.candidates()


class _Found:
    """The paths of the adapters that were added."""

    def __init__(self, wanted: Wanted) -> None:
        self._wanted = wanted
        self._yours: Adapter | None = None
        self._given: dict[str, str] = {}  # by `mine`
        if wanted.mine:
            self._yours, self._given = _yours(wanted.mine, wanted.engine, wanted.languages)
        self._tries: list[tuple[int, float, Adapter, AccessPath]] = []  # (turn, order in the turn, …)
        self._floors: list[tuple[Adapter, AccessPath]] = []
        self._dropped: list[Dropped] = []
        self._baselines: dict[str, str] = {}

    def add(self, adapter: Adapter) -> None:
        """Add the adapter's paths, or why it has none; neither when it was not named."""
        wanted, named = self._wanted, self._wanted.names(adapter)
        if not named and adapter != self._yours:
            return
        paths = self._eligible(adapter)
        if not paths:
            return
        default, version = paths[0], wanted.version or adapter.versions[0]
        here = availability(adapter, version, default)
        nearest = sorted(paths, key=lambda path: _distance(path, default))
        implemented, absent = _implemented(adapter, version, nearest)
        self._dropped += absent if here.ok else []
        if (unfit := ineligibility(adapter, wanted.tls, wanted.read_only))[0]:
            self._dropped.append(Dropped(default, *unfit))
        elif not here.ok:
            self._dropped.append(Dropped(default, here.reason, here.remedy))
        elif adapter.floor:
            self._floors.append((adapter, default))
        else:
            self._add_tries(adapter, implemented, named)

    def _eligible(self, adapter: Adapter) -> list[AccessPath]:
        """The adapter's paths that can do the phase, its default first; where none can, one is dropped."""
        wanted = self._wanted
        settings = _settings(adapter, wanted)
        existing = [path for path in settings if not pruned(adapter, path)]
        # A drain reads every query as a scan.
        drains = adapter.floor and wanted.deployment == "server"
        phase = msgspec.structs.replace(wanted.phase, scan=True) if drains else wanted.phase
        reasons = [ineligible_reason(adapter, path, NAME, phase) for path in existing]
        eligible = [path for path, reason in zip(existing, reasons, strict=True) if not reason]
        if not eligible and (reason := next((each for each in reasons if each.strip()), "")):
            self._dropped.append(Dropped(settings[0], reason.removeprefix(f"{NAME}: ")))
        return _with_prepared_settings(eligible) if wanted.keyed else eligible

    def _add_tries(self, adapter: Adapter, paths: list[AccessPath], named: bool) -> None:
        runner, keyed = language(adapter.language), self._wanted.keyed
        # What is ready quickly is tried first where the budget is short.
        order = runner.start_s + runner.probe_warm_s[0]
        baseline = None
        if adapter == self._yours:
            baseline = _with_given(adapter, _as_shipped(adapter, paths, keyed), self._given)
        elif not self._yours and self._wanted.engine in adapter.usual:
            baseline = _as_shipped(adapter, paths, keyed)
        tried = paths if named else []
        if baseline is not None:
            self._baselines[baseline.id] = YOURS if self._yours else USUAL
            tried = [*tried[:1], baseline, *tried[1:]]
        self._tries += [(turn, order, adapter, path) for turn, path in enumerate(dict.fromkeys(tried))]

    def candidates(self) -> Candidates:
        """What was found, the likely paths first. Errors: UsageError when `mine` is not among it."""
        tries = sorted(self._tries, key=lambda item: item[:2])
        found = [(adapter, path) for *_order, adapter, path in tries]
        names = _names([path for _adapter, path in found + self._floors], self._wanted.engine)

        def planned(adapter: Adapter, path: AccessPath) -> PlannedPath:
            return PlannedPath(path, adapter, (NAME,), names[path.id])  # one ranking, whatever the fetch form

        if self._yours and not self._baselines:
            raise self._without_yours(self._yours)
        tried, floors = (tuple(planned(*each) for each in listed) for listed in (found, self._floors))
        return Candidates(tried, floors, tuple(self._dropped), self._baselines)

    def _without_yours(self, yours: Adapter) -> UsageError:
        why = next((each for each in self._dropped if each.path.driver == yours.driver), None)
        reason = why.reason if why else f"{yours.driver} does not serve this target"
        return UsageError(
            f"--mine {self._wanted.mine}: {reason}", (why.remedy if why else "") or "rowpath list drivers"
        )


def _implemented(adapter: Adapter, version: str, eligible: list[AccessPath]) -> tuple[list[AccessPath], list[Dropped]]:
    """The paths whose implementation of the driver can run here, and the first path of each other one, dropped."""
    firsts = {path.get("implementation"): path for path in reversed(eligible)}
    here = {name: availability(adapter, version, path) for name, path in firsts.items()}
    absent = [Dropped(firsts[name], one.reason, one.remedy) for name, one in here.items() if not one.ok]
    return [path for path in eligible if here[path.get("implementation")].ok], absent


def _yours(mine: str, engine: str, languages: tuple[str, ...]) -> tuple[Adapter, dict[str, str]]:
    """The adapter of `--mine` and the settings that it gives. Errors: UsageError."""
    driver, *words = mine.split(",")
    fitting = [adapter for adapter in every_adapter() if engine in adapter.engines and not adapter.floor]
    named = [adapter for adapter in fitting if adapter.driver == driver]
    if not named:
        raise UsageError(
            f"unknown driver '{driver}' in --mine", suggest(driver, tuple(sorted({each.driver for each in fitting})))
        )
    fitting = [adapter for adapter in named if adapter.language in languages] or named
    if len(fitting) > 1:
        several = ", ".join(adapter.language for adapter in fitting)
        raise UsageError(f"--mine {driver}: a driver of {several}", f"--language {fitting[0].language}")
    (adapter,) = fitting
    given = dict(word.partition("=")[::2] for word in words)
    settable = tuple(key for key in adapter.coordinates if key not in BY_URL_OR_FIXED)
    for key, value in given.items():
        if key not in settable:
            raise UsageError(f"unknown setting '{key}' of {driver} in --mine", suggest(key, settable))
        values = adapter.coordinates[key]
        if value not in values and not sized_like(value, values):
            raise UsageError(f"unknown value '{value}' of {key} in --mine", f"{key} is one of {', '.join(values)}")
    return adapter, given


def _as_shipped(adapter: Adapter, eligible: list[AccessPath], keyed: bool) -> AccessPath:
    """The path that is most like the driver's own defaults; the first of several."""
    defaults = shipped(adapter, keyed)
    return min(eligible, key=lambda path: sum(path.get(key) != value for key, value in defaults.items()))


def shipped(adapter: Adapter, keyed: bool = False) -> dict[str, str]:
    """What the driver does by itself with a query, with parameters where it is `keyed`, as far as its manifest says."""
    plain = (
        not keyed and adapter.shipped.get("statement") == "bound" and "text" in adapter.coordinates.get("statement", ())
    )
    return adapter.shipped | ({"statement": "text"} if plain else {})


def _with_given(adapter: Adapter, shipped: AccessPath, given: dict[str, str]) -> AccessPath:
    """The path as shipped but for these settings. Errors: UsageError where they exclude each other."""
    path = AccessPath.of(shipped.as_dict() | given)
    if reason := pruned(adapter, path):
        shown = " ".join(f"{key}={path.get(key)}" for key in adapter.coordinates if key not in BY_URL_OR_FIXED)
        raise UsageError(f"--mine {adapter.driver}: {shown} is not possible: {reason}", "change one of these settings")
    return path


def _check(what: str, names: Iterable[str], known: set[str]) -> None:
    for one in names:
        if one not in known:
            raise UsageError(f"unknown {what} '{one}' in --{what}", suggest(one, tuple(sorted(known))))


def _settings(adapter: Adapter, wanted: Wanted) -> list[AccessPath]:
    settings: dict[str, tuple[str, ...]] = {"engine": (wanted.engine,), "deployment": (wanted.deployment,)}
    if wanted.version:
        settings["version"] = (wanted.version,)
    if wanted.deployment == "server":
        if wanted.transport not in adapter.coordinates.get("transport", ("tcp",)):
            return []
        settings["transport"] = (wanted.transport,)
        offered = adapter.coordinates.get("tls", ())
        if offered:
            settings["tls"] = (wanted.tls if wanted.tls in offered else offered[0],)
    for key in WHOLE_AXES:
        if key in adapter.coordinates:
            settings[key] = adapter.coordinates[key]
    for key in ("fetch", "result"):
        if key in adapter.coordinates:
            settings[key] = _sizes(adapter.coordinates[key])
    statements = adapter.coordinates.get("statement", ())
    if {"prepared", "text"} <= set(statements) and not wanted.keyed:
        settings["statement"] = tuple(mode for mode in statements if mode != "bound")  # there is nothing to bind
    kind = ENGINES[wanted.engine]
    if "none" in adapter.coordinates.get("durability", kind.durabilities):
        settings["durability"] = ("none",)  # an adapter may have to bring about any other
    if isinstance(kind, Stored):
        settings["storage"] = adapter.coordinates.get("storage", kind.storages)[:1]  # the tables are stored already
    paths = lattice(adapter, settings | {"placement": ("same",)}, complete=True)
    return [_as_given(path) for path in paths if path.get("access") in ("none", "sql")]


def _with_prepared_settings(paths: list[AccessPath]) -> list[AccessPath]:
    """The paths with the session's settings of prepared statements; only the likeliest path meets every value."""
    found: list[AccessPath] = []
    first = True
    for path in paths:
        prepared = path.statement == "prepared"
        settings = ENGINES[path.engine].probe.prepared_settings if prepared else {}
        usual = AccessPath.of(path.as_dict() | {key: values[0] for key, values in settings.items()})
        others = [{key: value} for key, values in settings.items() for value in values[1:]] if first else []
        found += [usual, *(AccessPath.of(usual.as_dict() | other) for other in others)]
        first = first and not prepared
    return found


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


def ineligibility(adapter: Adapter, tls: str, must_read_only: bool, transport: str = "none") -> tuple[str, str]:
    """Why the adapter cannot serve such a target, and what would help; empty when it can."""
    if must_read_only and not adapter.opens_read_only and not adapter.floor:
        return f"{adapter.driver} cannot open a file read-only", "remove --in-place"
    if tls == "on" and "on" not in adapter.coordinates.get("tls", ()):
        return (
            f"the URL requires TLS, which {adapter.driver} does not support here",
            "sslmode=disable, if that is acceptable",
        )
    if transport == "unix" and "unix" not in adapter.coordinates.get("transport", ()):
        return f"{adapter.driver} reaches no server through a Unix socket here", "name the server's host in the URL"
    return "", ""


def candidates_of(target: Target, phase: Phase, options: ProbeOptions) -> Candidates:
    """What can be tried. Errors: UsageError when nothing can."""
    found = candidates(
        Wanted(
            target.engine,
            target.deployment,
            phase,
            transport=target.transport,
            tls=target.tls,
            languages=options.languages,
            drivers=options.drivers,
            version=str(target.driver_file) if target.driver_file else "",
            read_only=target.read_only(options.in_place),
            keyed=options.has_parameters,
            mine=options.mine,
        )
    )
    if found.paths:
        return replace(found, dropped=tuple(_there(each, options.from_host) for each in found.dropped))
    if found.dropped:
        first = found.dropped[0]
        raise UsageError(
            f"no driver for {target.engine} can run here: {first.reason}", first.remedy or "rowpath doctor"
        )
    raise UsageError(f"no driver fits for {target.shown}", "rowpath list drivers")


def _there(dropped: Dropped, host: str) -> Dropped:
    """The dropped path, its reason named with the host that lacks something."""
    if not host or not dropped.remedy:
        return dropped
    return msgspec.structs.replace(dropped, reason=f"on host {host}: {dropped.reason}")


def in_words(planned: PlannedPath, keyed: bool = False) -> str:
    """`psycopg with a server-side cursor of 1,000`: the driver, and each setting that is not its own default.

    `keyed`: the query has parameters.
    """
    adapter, path = planned.adapter, planned.path
    keys = [
        key
        for key in adapter.coordinates
        if key not in BY_URL_OR_FIXED and path.get(key) != _default(planned, key, keyed)
    ]
    prepared = ENGINES[path.engine].probe.prepared_settings
    keys += [key for key, values in prepared.items() if path.get(key) not in ("none", values[0])]
    parts = [_setting(path, key) for key in keys]
    if not parts:
        return f"{adapter.driver} {AS_SHIPPED}"
    *first, last = parts
    return f"{adapter.driver} with {', '.join(first)}{' and ' if first else ''}{last}"


def _default(planned: PlannedPath, key: str, keyed: bool) -> str:
    """What the driver does by itself; where its manifest is silent, what it can do only or first."""
    return shipped(planned.adapter, keyed).get(key, planned.adapter.coordinates[key][0])


def _setting(path: AccessPath, key: str) -> str:
    kind, _, size = path.get(key).partition(":")
    words = WORDS.get(key, {}).get(kind)
    if words:
        return words(f"{int(size):,}" if size.isdigit() else size)
    return f"{kind} {key}" if kind.isdigit() else f"{key}={path.get(key)}"
