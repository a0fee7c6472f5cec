"""What can be wrong with an experiment's groups and stretches, each mistake with its place in the file."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rowpath.errors import UsageError
from rowpath.model.mixed_load import GroupTable, StretchTable
from rowpath.toml_file import Location, suggest

if TYPE_CHECKING:
    from rowpath.model.experiment import Experiment
    from rowpath.model.workload import Phase, Workload

EVENTS = ("begin", "end")
KINDS = ("query", "execute", "null")

Mistakes = Iterator[tuple[Location, UsageError]]


def mistakes(experiment: Experiment, workloads: dict[str, Workload]) -> Mistakes:
    """Every mistake in `[[groups]]`, `[[stretches]]` and `[rate_sweep]`; none of an experiment without groups."""
    groups = {group.name: group for group in experiment.groups}
    if experiment.groups and not experiment.stretches:
        yield (
            ("groups", 0),
            UsageError("there are groups and no stretch in which they are at work", "add [[stretches]]"),
        )
    counted = set()
    for position, group in enumerate(experiment.groups):
        for key, error in _of_group(group, experiment.phases, workloads):
            yield ("groups", position, key), error
        if [each.name for each in experiment.groups].index(group.name) != position:
            yield ("groups", position, "name"), UsageError(f"a second group is called '{group.name}'", "rename it")
        counted |= (
            {group.phase} if group.phase in experiment.phases and _phase(group.phase, workloads).counted else set()
        )
        if len(counted) > 1:
            yield (
                ("groups", position, "phase"),
                UsageError(
                    f"'{group.phase}' is a second phase that counts its writes: which ledger is the experiment's?",
                    "let the groups share one such phase",
                ),
            )
    for position, stretch in enumerate(experiment.stretches):
        for key, error in _of_stretch(stretch, groups):
            yield ("stretches", position, key), error
        if [each.name for each in experiment.stretches].index(stretch.name) != position:
            yield ("stretches", position, "name"), UsageError(f"a second stretch is '{stretch.name}'", "rename it")
    for position, move in enumerate(experiment.moves):
        if move.source.deployment != "embedded":
            hint = "source = { deployment = 'embedded' }"
            yield ("moves", position, "source"), UsageError("a server's database is not moved: it may be open", hint)
    sweep = experiment.rate_sweep
    if sweep is not None:
        if sweep.group not in groups or not groups[sweep.group].phase:
            right = tuple(name for name, group in groups.items() if group.phase)
            yield (
                ("rate_sweep", "group"),
                UsageError(f"there is no group '{sweep.group}' with an operation", suggest(sweep.group, right)),
            )
        for key in ("p99_ms", "begin_per_s", "seconds", "tries"):
            if getattr(sweep, key) <= 0:
                yield ("rate_sweep", key), UsageError(f"{key} = {getattr(sweep, key):g} is not positive", f"{key} = 1")


def _phase(name: str, workloads: dict[str, Workload]) -> Phase:
    workload, _, phase = name.partition(".")
    return workloads[workload].phase(phase)


Found = Iterator[tuple[str, UsageError]]


def _of_group(group: GroupTable, phases: tuple[str, ...], workloads: dict[str, Workload]) -> Found:
    what = f"group '{group.name}'"
    if bool(group.phase) == bool(group.verb):
        yield "name", UsageError(f"{what} needs either a phase or a verb", "phase = 'library.read', or verb = 'backup'")
    if group.phase and group.phase not in phases:
        yield (
            "phase",
            UsageError(f"{what}: '{group.phase}' is no phase of this experiment", suggest(group.phase, phases)),
        )
    elif group.phase and (kind := _phase(group.phase, workloads).kind) not in KINDS:
        yield (
            "phase",
            UsageError(f"{what}: '{group.phase}' is of kind {kind}, which no group does", f"kinds: {', '.join(KINDS)}"),
        )
    if group.verb and (group.pacing != "closed" or group.rate_per_s):
        yield (
            "pacing" if group.pacing != "closed" else "rate_per_s",
            UsageError(f"{what}: a verb has no pacing: it is done `times` times", "leave pacing and rate_per_s out"),
        )
    if group.verb and group.clients != 1:
        yield "clients", UsageError(f"{what}: a verb has no clients", "leave clients out")
    if group.phase and (group.pacing == "closed") != (group.rate_per_s == 0):
        text = f"{what}: pacing '{group.pacing}' and rate_per_s = {group.rate_per_s:g} do not go together"
        hint = "rate_per_s = 0 for pacing = 'closed', a positive one for 'fixed' and 'poisson'"
        yield "rate_per_s" if group.rate_per_s else "pacing", UsageError(text, hint)
    if group.clients < 1:
        yield "clients", UsageError(f"{what} has {group.clients} clients", "clients = 1")
    for key in ("begin_s", "times", "pause_s", "rate_per_s"):
        if getattr(group, key) < 0:
            yield key, UsageError(f"{what}: {key} = {getattr(group, key):g} is negative", f"{key} = 0")
    if group.pause_s and group.pacing != "closed":
        yield (
            "pause_s",
            UsageError(f"{what}: only a closed loop pauses", "leave pause_s out, or take pacing = 'closed'"),
        )


def _of_stretch(stretch: StretchTable, groups: dict[str, GroupTable]) -> Found:
    what = f"stretch '{stretch.name}'"
    if not stretch.groups:
        yield "groups", UsageError(f"{what} has no groups", "groups = ['readers']")
    for key, names in (("groups", stretch.groups), ("clients", stretch.clients), ("rates", stretch.rates)):
        right = tuple(groups) if key == "groups" else stretch.groups
        for name in names:
            if name not in right:
                yield key, UsageError(f"{what}: there is no group '{name}' in it", suggest(name, right))
    if len(set(stretch.groups)) < len(stretch.groups):
        yield "groups", UsageError(f"{what} names a group twice", "name it once, with more clients")
    if stretch.until and stretch.until not in stretch.groups:
        yield (
            "until",
            UsageError(f"{what}: there is no group '{stretch.until}' in it", suggest(stretch.until, stretch.groups)),
        )
    elif stretch.until and not groups[stretch.until].verb and not groups[stretch.until].times:
        yield "until", UsageError(f"{what}: group '{stretch.until}' never ends by itself", "give that group `times`")
    if stretch.seconds <= 0:
        yield "seconds", UsageError(f"{what} lasts {stretch.seconds:g} s", "seconds = 10.0")
    if stretch.kill_s < 0 or stretch.kill_s >= stretch.seconds:
        yield (
            "kill_s",
            UsageError(f"{what}: kill_s = {stretch.kill_s:g} is not within it", f"0 < kill_s < {stretch.seconds:g}"),
        )
    for name, count in stretch.clients.items():
        if count < 1 or (name in groups and groups[name].verb):
            yield "clients", UsageError(f"{what}: {count} clients for '{name}'", "a phase's group has at least one")
    for name, rate in stretch.rates.items():
        if rate <= 0 or (name in groups and groups[name].pacing == "closed"):
            text = f"{what}: a rate of {rate:g} for '{name}'"
            yield "rates", UsageError(text, "a positive one, for a group with pacing = 'fixed' or 'poisson'")
    for name in stretch.groups:
        awaited, _, event = groups[name].after.rpartition(".") if name in groups else ("", "", "")
        if (
            name in groups
            and groups[name].after
            and (awaited not in stretch.groups or awaited == name or event not in EVENTS)
        ):
            right = tuple(f"{other}.{each}" for other in stretch.groups if other != name for each in EVENTS)
            text = f"{what}: group '{name}' waits for '{groups[name].after}', which is not in it"
            yield "groups", UsageError(text, suggest(groups[name].after, right) if right else "name that group too")
