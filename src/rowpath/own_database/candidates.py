"""Which paths can be tried: every adapter for the engine that is available here, and the settings that matter."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import msgspec

from rowpath.engines import ENGINES
from rowpath.engines.base import BY_URL, Stored
from rowpath.errors import UsageError
from rowpath.model.path import CHECKED, ENCRYPTED, AccessPath, Dropped
from rowpath.model.workload import Phase
from rowpath.own_database.eligibility import hosts_refusal, ineligibility
from rowpath.own_database.question import ProbeOptions
from rowpath.own_database.target import Target
from rowpath.planning.availability import ineligible_reason, pruned
from rowpath.planning.make_plan import short_names
from rowpath.planning.plan import PlannedPath
from rowpath.planning.selection import WHERE_NAMED, lattice, sized_like
from rowpath.runners.manifest import Adapter, availability, every_adapter, language
from rowpath.toml_file import suggest

NAME = "probe.query"  # workload.phase of every probe
SIZES = ("100", "1000", "10000")  # rows at a time, where an adapter can take any number
SIZED = ("block", "cursor", "chunked", "fetch-size")
YOURS, USUAL = "yours", "usual"
BY_URL_OR_FIXED = ("pipeline", "transport", "tls", "compression", "clients", "concurrency", "bulk")  # not for `--mine`
# Coordinate → its kinds in a user's words; {size}: what follows the kind.
WORDS = {
    "result": {
        "whole": "the whole result at once",
        "single-row": "one row at a time",
        "cursor": "a server-side cursor of {size}",
        "chunked": "chunks of {size}",
        "fetch-size": "a fetch size of {size}",
    },
    "fetch": {
        "row": "rows",
        "block": "blocks of {size} rows",
        "columnar": "columns",
        "copy": "COPY",
        "get-data": "a call for each value",
    },
    "format": {"binary": "binary values", "text": "values as text"},
    "statement": {
        "prepared": "a prepared statement",
        "bound": "an unprepared statement",
        "text": "a plain statement",
    },
}


@dataclass(frozen=True)
class Candidates:
    """The paths to try, the likely ones first; the floors; what cannot be tried and why; what to compare with."""

    paths: tuple[PlannedPath, ...]
    floors: tuple[PlannedPath, ...]
    dropped: tuple[Dropped, ...]
    baselines: dict[str, str] = field(default_factory=dict)  # path id → YOURS, or USUAL: one for each language
    beneath: dict[str, str] = field(default_factory=dict)  # path id of a layer → of the driver that it stands on

    def without_prepared(self, reason: str) -> Candidates:
        """Without the paths that prepare statements by name; the first of each driver is dropped with the reason."""
        out = [planned.path for planned in self.paths if planned.path.statement == "prepared"]
        left_out = {path.id for path in out}
        first = {(path.language, path.driver): path for path in reversed(out)}
        return replace(
            self,
            paths=tuple(planned for planned in self.paths if planned.path.id not in left_out),
            dropped=(*self.dropped, *(Dropped(path, reason) for path in reversed(first.values()))),
            baselines={path_id: which for path_id, which in self.baselines.items() if path_id not in left_out},
        )


@dataclass(frozen=True)
class Wanted:
    """What a probe looks for: paths to that engine, in that deployment, for that phase.

    `read_only`: only adapters that can open a file so. `keyed`: the query has parameters.
    `version`: of the drivers, where it is not their own default: the file of a driver that the user names.
    `mine`: DRIVER[,setting=value…], what the user has now; it takes part whatever `languages` and `drivers` say.
    `mine_by_url`: the same as the URL names it, unless `mine` is given.
    """

    engine: str
    deployment: str
    phase: Phase
    transport: str = "tcp"
    tls: str = "default"
    demands: tuple[str, ...] = ()  # of the encryption, beside the check
    languages: tuple[str, ...] = ()
    drivers: tuple[str, ...] = ()
    version: str = ""
    read_only: bool = False
    keyed: bool = False
    mine: str = ""
    mine_by_url: Adapter | None = None
    hosts: str = ""  # the attribute by which one of several hosts is taken, `any` without; empty: one host

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
    every = list(every_adapter())
    for what, names in (("language", wanted.languages), ("driver", wanted.drivers)):
        known = {getattr(adapter, what) for adapter in every}
        for name in names:
            if name not in known:
                raise UsageError(f"unknown {what} '{name}' in --{what}", suggest(name, tuple(sorted(known))))
    collected = _Collected(wanted)
    for adapter in filter(wanted.fits, every):
        collected.add(adapter)
    return collected.candidates()


class _Collected:
    """The paths of the adapters that were added."""

    def __init__(self, wanted: Wanted) -> None:
        self._wanted = wanted
        self._yours: Adapter | None = None
        self._given: dict[str, str] = {}  # by `mine`
        if wanted.mine:
            self._yours, self._given = _yours(wanted.mine, wanted.engine, wanted.languages)
        else:
            self._yours = wanted.mine_by_url
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
        default = paths[0]
        version = default.version
        here = availability(adapter, version, default)
        nearest = sorted(paths, key=lambda path: sum(value != default.get(key) for key, value in path.coordinates))
        firsts = {path.get("implementation"): path for path in reversed(nearest)}  # by implementation of the driver
        available = {name: availability(adapter, version, path) for name, path in firsts.items()}
        if here.ok:
            lacking = {name: state for name, state in available.items() if not state.ok}
            self._dropped += [Dropped(firsts[name], state.reason, state.remedy) for name, state in lacking.items()]
        unfit = ineligibility(adapter, wanted.tls, wanted.read_only, demands=wanted.demands)
        if (unfit := unfit if unfit[0] else hosts_refusal(adapter, wanted.hosts))[0]:
            self._dropped.append(Dropped(default, *unfit))
        elif not here.ok:
            self._dropped.append(Dropped(default, here.reason, here.remedy))
        elif adapter.floor:
            self._floors.append((adapter, default))
        else:
            self._add_tries(adapter, [path for path in nearest if available[path.get("implementation")].ok], named)

    def _eligible(self, adapter: Adapter) -> list[AccessPath]:
        """The adapter's paths that can do the phase, its default first; where none can, one is dropped."""
        wanted = self._wanted
        settings = _settings(adapter, wanted)
        if not settings and not adapter.floor and (by_tcp := _settings(adapter, replace(wanted, transport="tcp"))):
            self._dropped.append(Dropped(by_tcp[0], *ineligibility(adapter, wanted.tls, False, wanted.transport)))
        existing = [path for path in settings if not self._pruned(adapter, path)]
        if settings and not existing and wanted.tls in ENCRYPTED:
            existing = self._encrypting(adapter)
            if not existing:
                unfit = ineligibility(adapter, wanted.tls, wanted.read_only, demands=wanted.demands)
                self._dropped.append(
                    Dropped(settings[0], *(unfit if unfit[0] else (self._pruned(adapter, settings[0]),)))
                )
        # A drain reads every query as a scan.
        drains = adapter.floor and wanted.deployment == "server"
        phase = msgspec.structs.replace(wanted.phase, scan=True) if drains else wanted.phase
        reasons = [ineligible_reason(adapter, path, NAME, phase) for path in existing]
        eligible = [path for path, reason in zip(existing, reasons, strict=True) if not reason]
        if not eligible and (reason := next((reason for reason in reasons if reason.strip()), "")):
            self._dropped.append(Dropped(settings[0], reason.removeprefix(f"{NAME}: ")))
        return _with_prepared_settings(eligible) if wanted.keyed else eligible

    def _pruned(self, adapter: Adapter, path: AccessPath) -> str:
        """Why the path does not exist; `tls=client` stands in a manifest for a certificate of the client's own."""
        shown = AccessPath.of(path.as_dict() | {"tls": "client"}) if "client" in self._wanted.demands else path
        return pruned(adapter, path) or pruned(adapter, shown)

    def _encrypting(self, adapter: Adapter) -> list[AccessPath]:
        """The paths of the first other version: not every build of a driver encrypts."""
        for version in adapter.versions[1:] if not self._wanted.version else ():
            others = _settings(adapter, replace(self._wanted, version=version))
            if existing := [path for path in others if not self._pruned(adapter, path)]:
                return existing
        return []

    def _add_tries(self, adapter: Adapter, paths: list[AccessPath], named: bool) -> None:
        runner = language(adapter.language)
        # What is ready quickly is tried first where the budget is short.
        order = runner.start_s + runner.probe_warm_s[0]
        tried = paths if named else []
        if adapter == self._yours or (not self._yours and self._wanted.engine in adapter.usual):
            # The path that is most like the driver's own defaults; the first of several.
            defaults = shipped(adapter, self._wanted.keyed)
            baseline = min(paths, key=lambda path: sum(path.get(key) != value for key, value in defaults.items()))
            if self._yours:
                baseline = _with_given(adapter, baseline, self._given)
            self._baselines[baseline.id] = YOURS if self._yours else USUAL
            tried = [*tried[:1], baseline, *tried[1:]]
        self._tries += [(turn, order, adapter, path) for turn, path in enumerate(dict.fromkeys(tried))]

    def candidates(self) -> Candidates:
        """What was found, the likely paths first. Errors: UsageError when `mine` is not among it."""
        tries = [(adapter, path) for *_order, adapter, path in sorted(self._tries, key=lambda item: item[:2])]
        names = short_names([(path, "") for _adapter, path in tries + self._floors])

        def planned(adapter: Adapter, path: AccessPath) -> PlannedPath:
            name = names[path.id].removeprefix(f"{self._wanted.engine} ")
            return PlannedPath(path, adapter, (NAME,), name)  # one ranking, whatever the fetch form

        if (yours := self._yours) and not self._baselines and self._wanted.mine:
            why = next((dropped for dropped in self._dropped if dropped.path.driver == yours.driver), None)
            reason = why.reason if why else f"{yours.driver} does not serve this target"
            what = f"--mine {self._wanted.mine}: {reason}"
            raise UsageError(what, (why.remedy if why else "") or "rowpath list drivers")
        tried, floors = (tuple(planned(*pair) for pair in pairs) for pairs in (tries, self._floors))
        return Candidates(tried, floors, tuple(self._dropped), self._baselines)


def _yours(mine: str, engine: str, languages: tuple[str, ...]) -> tuple[Adapter, dict[str, str]]:
    """The adapter of `--mine` and the settings that it gives. Errors: UsageError."""
    driver, *words = mine.split(",")
    fitting = [adapter for adapter in every_adapter() if engine in adapter.engines and not adapter.floor]
    named = [adapter for adapter in fitting if adapter.driver == driver]
    if not named:
        drivers = tuple(sorted({adapter.driver for adapter in fitting}))
        raise UsageError(f"unknown driver '{driver}' in --mine", suggest(driver, drivers))
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


def _unset(key: str) -> str:
    """The value of a coordinate that the path has only where it is named."""
    return "none" if key in WHERE_NAMED else ""


def shipped(adapter: Adapter, keyed: bool = False) -> dict[str, str]:
    """What the driver does by itself with a query, with parameters where it is `keyed`, as far as its manifest says."""
    statements = adapter.coordinates.get("statement", ())
    plain = not keyed and adapter.shipped.get("statement") == "bound" and "text" in statements
    return adapter.shipped | ({"statement": "text"} if plain else {})


def _with_given(adapter: Adapter, shipped: AccessPath, given: dict[str, str]) -> AccessPath:
    """The path as shipped but for these settings. Errors: UsageError where they exclude each other."""
    path = AccessPath.of(shipped.as_dict() | given)
    if reason := pruned(adapter, path):
        keys = (key for key in adapter.coordinates if key not in BY_URL_OR_FIXED and path.get(key) != _unset(key))
        shown = " ".join(f"{key}={path.get(key)}" for key in keys)
        raise UsageError(f"--mine {adapter.driver}: {shown} is not possible: {reason}", "change one of these settings")
    return path


def _settings(adapter: Adapter, wanted: Wanted) -> list[AccessPath]:
    settings: dict[str, tuple[str, ...]] = {"engine": (wanted.engine,), "deployment": (wanted.deployment,)}
    if wanted.version:
        settings["version"] = (wanted.version,)
    if wanted.deployment == "server":
        if wanted.transport not in adapter.coordinates.get("transport", ("tcp",)):
            return []
        settings["transport"] = (wanted.transport,)
        if offered := adapter.coordinates.get("tls", ()):
            settings["tls"] = (wanted.tls if wanted.tls in offered else offered[0],)
    if "threads" in adapter.coordinates:  # besides the axes of the lattice: it matters for a retrieval
        settings["threads"] = adapter.coordinates["threads"]
    for key in ("fetch", "result"):
        if values := adapter.coordinates.get(key):
            pairs = (value.partition(":")[::2] for value in values)
            kinds = dict.fromkeys(kind for kind, size in pairs if size not in ("", "1"))  # take any number of rows
            more = [f"{kind}:{size}" for kind in kinds if kind in SIZED for size in SIZES]
            settings[key] = tuple(dict.fromkeys([*values, *more]))
    statements = adapter.coordinates.get("statement", ())
    if {"prepared", "text"} <= set(statements) and not wanted.keyed:
        settings["statement"] = tuple(mode for mode in statements if mode != "bound")  # there is nothing to bind
    kind = ENGINES[wanted.engine]
    if "none" in adapter.coordinates.get("durability", kind.durabilities):
        settings["durability"] = ("none",)  # an adapter may have to bring about any other
    if isinstance(kind, Stored):
        settings["storage"] = adapter.coordinates.get("storage", kind.storages)[:1]  # the tables are stored already
    if bulks := adapter.coordinates.get("bulk"):  # nothing is loaded: no way of loading stands against a path
        shown = {"engine": wanted.engine, "tls": wanted.tls}
        fitting = [bulk for bulk in bulks if not pruned(adapter, AccessPath.of(shown | {"bulk": bulk}))]
        settings["bulk"] = (*fitting, *bulks)[:1]
    paths = lattice(adapter, settings | {"placement": ("same",)}, complete=True)
    unknown = {"engine_version": BY_URL, "placement": "none"}  # of a server that is not ours: version and core
    unknown |= {"tls": wanted.tls} if wanted.tls in CHECKED else {}
    return [
        AccessPath.of(path.as_dict() | unknown) if path.served else path
        for path in paths
        if path.get("access") in ("none", "sql") and path.get("packages") != "uncached"
    ]


def _with_prepared_settings(paths: list[AccessPath]) -> list[AccessPath]:
    """The paths with the session's settings of prepared statements; only the likeliest path meets every value."""
    with_settings: list[AccessPath] = []
    likeliest = next((path for path in paths if path.statement == "prepared"), None)
    for path in paths:
        settings = ENGINES[path.engine].probe.prepared_settings if path.statement == "prepared" else {}
        usual = path.as_dict() | {key: values[0] for key, values in settings.items()}
        others = [{key: value} for key, values in settings.items() for value in values[1:] if path is likeliest]
        with_settings += [AccessPath.of(usual | other) for other in ({}, *others)]
    return with_settings


def prepared_settings(path: AccessPath) -> list[str]:
    """The session's settings of prepared statements that the path has another value of than sessions have."""
    settings = ENGINES[path.engine].probe.prepared_settings
    return [key for key, values in settings.items() if path.get(key) not in ("none", values[0])]


def candidates_of(target: Target, phase: Phase, options: ProbeOptions) -> Candidates:
    """What can be tried. Errors: UsageError when nothing can."""
    fitting = candidates(
        Wanted(
            target.engine,
            target.deployment,
            phase,
            transport=target.transport,
            tls=target.tls,
            demands=target.encryption.demands,
            languages=options.languages,
            drivers=options.drivers,
            version=str(target.driver_file) if target.driver_file else "",
            read_only=target.read_only(options.in_place),
            keyed=options.has_parameters,
            mine=options.mine,
            mine_by_url=target.mine,
            hosts=(target.attribute or "any") if target.hosts else "",
        )
    )
    if fitting.paths:  # what is dropped names the host that lacks something
        there = f"on host {options.from_host}: " if options.from_host else ""
        dropped = tuple(
            msgspec.structs.replace(dropped, reason=there + dropped.reason) if dropped.remedy else dropped
            for dropped in fitting.dropped
        )
        return replace(fitting, dropped=dropped)
    if fitting.dropped:
        first = fitting.dropped[0]
        what = f"no driver for {target.engine} can run here: {first.reason}"
        raise UsageError(what, first.remedy or "rowpath doctor")
    raise UsageError(f"no driver fits for {target.shown}", "rowpath list drivers")


def in_words(planned: PlannedPath, keyed: bool = False) -> str:
    """`psycopg with a server-side cursor of 1,000`: the driver, and each setting that is not its own default.

    `keyed`: the query has parameters.
    """
    adapter, path = planned.adapter, planned.path
    ships = shipped(adapter, keyed)  # where its manifest is silent, it does what it can do only or first
    keys = [
        key
        for key, values in adapter.coordinates.items()
        if key not in BY_URL_OR_FIXED and path.get(key) not in (ships.get(key, values[0]), _unset(key))
    ]
    keys += prepared_settings(path)
    if not keys:
        return f"{adapter.driver} as it ships"
    parts = []
    for key in keys:
        kind, _, size = path.get(key).partition(":")
        if words := WORDS.get(key, {}).get(kind):
            parts.append(words.format(size=f"{int(size):,}" if size.isdigit() else size))
        else:
            parts.append(f"{kind} {key}" if kind.isdigit() else f"{key}={path.get(key)}")
    *first, last = parts
    return f"{adapter.driver} with {', '.join(first)}{' and ' if first else ''}{last}"
