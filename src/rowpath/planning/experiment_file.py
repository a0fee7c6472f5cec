"""Experiments: TOML files → typed definitions; every mistake is named with its line and the nearest right key."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import msgspec

from rowpath.engines import ENGINES
from rowpath.engines.base import Movable
from rowpath.errors import UsageError
from rowpath.machine.directories import data_dir
from rowpath.model.claims import states
from rowpath.model.experiment import SCHEMA_VERSION, ClientGroupTable, Experiment, RateSearchTable, StageTable
from rowpath.model.workload import PhaseName, Workload, phase_of
from rowpath.planning.selection import check_coordinates
from rowpath.toml_file import Location, decode_with_text, line_of, nearest, suggest
from rowpath.workloads.workload_file import all_at_scale, load_workload

EVENTS = ("begin", "end")
KINDS = ("query", "execute", "null")

Mistakes = Iterator[tuple[Location, UsageError]]
Check = tuple[bool, str, str, str]  # whether it is wrong, the key, the message, the hint


class ExperimentFile(NamedTuple):
    """An experiment and the workloads that its phases name, by name, at the scale of their files."""

    experiment: Experiment
    workloads: dict[str, Workload]


def names() -> list[str]:
    """The experiments that come with Rowpath."""
    return sorted(file.stem for file in (data_dir() / "experiments").glob("*.toml"))


def load_experiment(name_or_file: str) -> ExperimentFile:
    """An experiment by name, or from a file when the argument has a slash or ends in `.toml`; UsageError otherwise."""
    if "/" in name_or_file or name_or_file.endswith(".toml"):
        return read_experiment(Path(name_or_file))
    if name_or_file not in names():
        near = nearest(name_or_file, names())
        hint = f"did you mean '{near}'? rowpath run {near}" if near else "rowpath list experiments"
        raise UsageError(f"unknown experiment '{name_or_file}'", hint)
    return read_experiment(data_dir() / "experiments" / f"{name_or_file}.toml")


def read_experiment(file: Path) -> ExperimentFile:
    """Read one file; UsageError with file, line and the nearest right key for every mistake."""
    experiment, text = decode_with_text(file, Experiment)
    if experiment.schema_version != SCHEMA_VERSION:
        what = f"{file}: unknown schema_version {experiment.schema_version}: expected {SCHEMA_VERSION}"
        raise UsageError(what, "write schema_version = 1")
    files = tuple(str(file.absolute().parent / name) for name in experiment.workload_files)
    experiment = msgspec.structs.replace(experiment, workload_files=files)
    return ExperimentFile(experiment, _checked(file, text, experiment))


def load_workloads(experiment: Experiment) -> dict[str, Workload]:
    """The workloads that the experiment's phases name; UsageError for a phase that does not exist."""
    loaded = {workload.name: workload for workload in map(load_workload, experiment.workload_files)}
    for name in experiment.phases:
        workload, phase = PhaseName.of(name)
        if "." not in name:
            raise UsageError(f"'{name}' is not WORKLOAD.PHASE", "for example: scan.read (rowpath list workloads)")
        if workload not in loaded:
            loaded[workload] = load_workload(workload)
        right = [f"{workload}.{known.name}" for known in loaded[workload].phases]
        if name not in right:
            raise UsageError(f"workload '{workload}' has no phase '{phase}'", suggest(name, right))
    return loaded


def _checked(file: Path, text: str, experiment: Experiment) -> dict[str, Workload]:
    """The workloads; UsageError for phases, coordinates, claims and client groups that cannot be, with its line."""

    @contextmanager
    def located(*location: str | int) -> Iterator[None]:
        try:
            yield
        except UsageError as error:
            raise _placed(file, text, location, error) from error

    with located("phases"):
        workloads = load_workloads(experiment)
    with located("scale"):
        all_at_scale(workloads, experiment.scale)
    for position, selection in enumerate(experiment.paths):
        with located("paths", position, "select"):
            check_coordinates(selection.wanted)
    for position, relation in enumerate(experiment.consistency):
        with located("consistency", position):
            try:
                states(experiment.published, relation)
            except ValueError as error:
                raise UsageError(str(error), "name a column and a row of [[published]]") from error
    known = tuple(selection.name for selection in experiment.paths if selection.name)
    for position, taken_apart in enumerate(experiment.factors):
        for name in (name for order in taken_apart.orders for name in order.paths):
            if not name.startswith(known):
                with located("factors", position, "orders"):
                    raise UsageError(f"unknown path '{name}'", suggest(name, known))
    for location, mistake in mistakes(experiment, workloads):
        raise _placed(file, text, location, mistake)
    return workloads


def _placed(file: Path, text: str, location: Location, error: UsageError) -> UsageError:
    line = line_of(text, location)
    return UsageError(f"{file}:{line}: {error.message}" if line else error.message, error.hint)


def mistakes(experiment: Experiment, workloads: dict[str, Workload]) -> Mistakes:
    """Every mistake in `[[client_groups]]`, `[[stages]]` and `[rate_search]`; none of an experiment without groups."""
    groups = {group.name: group for group in experiment.client_groups}
    if experiment.client_groups and not experiment.stages:
        yield ("client_groups", 0), UsageError("the experiment has client groups but no stage", "add [[stages]]")
    counted: set[str] = set()
    for position, group in enumerate(experiment.client_groups):
        first = [one.name for one in experiment.client_groups].index(group.name) == position
        if group.phase in experiment.phases and phase_of(workloads, group.phase).counted:
            counted.add(group.phase)
        second = f"'{group.phase}' is a second phase that counts its writes: an experiment has one ledger"
        yield from _wrong(
            ("client_groups", position),
            *_of_group(group, experiment.phases, workloads),
            (not first, "name", f"duplicate group '{group.name}'", "rename it"),
            (len(counted) > 1, "phase", second, "let the groups share one such phase"),
        )
    for position, stage in enumerate(experiment.stages):
        first = [one.name for one in experiment.stages].index(stage.name) == position
        yield from _wrong(
            ("stages", position),
            *_of_stage(stage, groups),
            (not first, "name", f"duplicate stage '{stage.name}'", "rename it"),
        )
    movable = tuple(name for name, engine in ENGINES.items() if isinstance(engine, Movable))
    for position, move in enumerate(experiment.directory_copies):
        known = suggest(move.engine, movable)
        open_one = "a server's database cannot be copied: it may be open"
        hint = "source = { deployment = 'embedded' }"
        yield from _wrong(
            ("directory_copies", position),
            (move.engine not in movable, "engine", f"no database of '{move.engine}' is copied as a directory", known),
            (move.source.deployment != "embedded", "source", open_one, hint),
        )
    if experiment.rate_search is not None:
        yield from _wrong(("rate_search",), *_of_rate_search(experiment.rate_search, groups))


def _wrong(location: Location, *checks: Check) -> Mistakes:
    return (((*location, key), UsageError(text, hint)) for wrong, key, text, hint in checks if wrong)


def _of_rate_search(search: RateSearchTable, groups: dict[str, ClientGroupTable]) -> Iterator[Check]:
    right = tuple(name for name, group in groups.items() if group.phase)
    unknown = f"unknown group '{search.client_group}' with operations"
    yield search.client_group not in right, "client_group", unknown, suggest(search.client_group, right)
    for key in ("p99_ms", "begin_per_s", "seconds", "tries"):
        value = getattr(search, key)
        yield value <= 0, key, f"{key} = {value:g} is not positive", f"{key} = 1"


def _of_group(group: ClientGroupTable, phases: tuple[str, ...], workloads: dict[str, Workload]) -> Iterator[Check]:
    what = f"group '{group.name}'"
    both = f"{what} needs either a phase or an action"
    yield bool(group.phase) == bool(group.action), "name", both, "phase = 'library.read', or action = 'backup'"
    known = group.phase in phases
    unknown = f"{what}: unknown phase '{group.phase}' in this experiment"
    yield bool(group.phase) and not known, "phase", unknown, suggest(group.phase, phases)
    kind = phase_of(workloads, group.phase).kind if known else KINDS[0]
    refused = f"{what}: '{group.phase}' is of kind {kind}, which groups cannot run"
    yield kind not in KINDS, "phase", refused, f"kinds: {', '.join(KINDS)}"
    paced = "pacing" if group.pacing != "closed" else "rate_per_s" if group.rate_per_s else ""
    text = f"{what}: an action has no pacing: it is done `times` times"
    yield bool(group.action and paced), paced, text, "remove pacing and rate_per_s"
    yield bool(group.action) and group.clients != 1, "clients", f"{what}: an action has no clients", "remove clients"
    misfit = bool(group.phase) and (group.pacing == "closed") != (group.rate_per_s == 0)
    text = f"{what}: pacing '{group.pacing}' and rate_per_s = {group.rate_per_s:g} do not fit together"
    hint = "rate_per_s = 0 for pacing = 'closed', a positive one for 'fixed' and 'poisson'"
    yield misfit, "rate_per_s" if group.rate_per_s else "pacing", text, hint
    yield group.clients < 1, "clients", f"{what} has {group.clients} clients", "clients = 1"
    what_spread = f"{what}: an action has no clients that could be spread"
    yield bool(group.action and group.over), "over", what_spread, "remove over"
    for key in ("begin_s", "times", "pause_s", "rate_per_s"):
        value = getattr(group, key)
        yield value < 0, key, f"{what}: {key} = {value:g} is negative", f"{key} = 0"
    pauses = bool(group.pause_s) and group.pacing != "closed"
    yield pauses, "pause_s", f"{what}: only a closed loop pauses", "remove pause_s, or set pacing = 'closed'"
    yield from _of_dispatch(group, what)


def _of_dispatch(group: ClientGroupTable, what: str) -> Iterator[Check]:
    shared, closed = group.dispatch == "shared", group.pacing == "closed"
    acts = f"{what}: an action has no clients that could share arrivals"
    yield bool(group.action) and shared, "dispatch", acts, "remove dispatch"
    spread = f"{what}: clients on several hosts cannot share arrivals"
    yield bool(group.over) and shared, "dispatch", spread, "remove over, or set dispatch = 'own'"
    queueless = f"{what}: population = {group.population} needs dispatch = 'shared' and pacing = 'closed'"
    yield bool(group.population) and not (shared and closed), "population", queueless, "remove population"
    few = f"{what}: a population of {group.population} for {group.clients} clients"
    hint = f"population = {2 * max(1, group.clients)}: in a closed loop at least as many callers as clients"
    lacking = bool(group.phase) and shared and closed and group.population < group.clients
    yield lacking, "population" if group.population else "dispatch", few, hint


def _of_stage(stage: StageTable, groups: dict[str, ClientGroupTable]) -> Iterator[Check]:
    what, own = f"stage '{stage.name}'", stage.client_groups
    yield not own, "client_groups", f"{what} has no groups", "client_groups = ['readers']"
    for key, names in (("client_groups", own), ("clients", stage.clients), ("rates", stage.rates)):
        right = tuple(groups) if key == "client_groups" else own
        for name in names:
            yield name not in right, key, f"{what}: unknown group '{name}'", suggest(name, right)
    twice = len(set(own)) < len(own)
    yield twice, "client_groups", f"{what} names a group twice", "name it once, with more clients"
    foreign = bool(stage.until) and stage.until not in own
    yield foreign, "until", f"{what}: unknown group '{stage.until}'", suggest(stage.until, own)
    last = groups.get(stage.until)
    endless = last is not None and not foreign and not last.action and not last.times
    yield endless, "until", f"{what}: group '{stage.until}' never ends by itself", "set `times` for that group"
    yield stage.seconds <= 0, "seconds", f"{what} lasts {stage.seconds:g} s", "seconds = 10.0"
    outside = f"{what}: kill_s = {stage.kill_s:g} is not within it"
    yield not 0 <= stage.kill_s < stage.seconds, "kill_s", outside, f"0 < kill_s < {stage.seconds:g}"
    for name, count in stage.clients.items():
        wrong = count < 1 or (name in groups and bool(groups[name].action))
        yield wrong, "clients", f"{what}: {count} clients for '{name}'", "a phase's group has at least one"
        population = groups[name].population if name in groups else 0
        more = f"{what}: {count} clients for '{name}', which has a population of {population}"
        yield 0 < population < count, "clients", more, f"at most {population}"
    for name, rate in stage.rates.items():
        wrong = rate <= 0 or (name in groups and groups[name].pacing == "closed")
        hint = "a positive one, for a group with pacing = 'fixed' or 'poisson'"
        yield wrong, "rates", f"{what}: a rate of {rate:g} for '{name}'", hint
    for name in own:
        after = groups[name].after if name in groups else ""
        right = tuple(f"{other}.{event}" for other in own if other != name for event in EVENTS)
        text = f"{what}: group '{name}' waits for '{after}', which is not in this stage"
        hint = suggest(after, right) if right else "add that group too"
        yield bool(after) and after not in right, "client_groups", text, hint
