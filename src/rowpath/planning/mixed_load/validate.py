"""What can be wrong with an experiment's groups and stages, each mistake with its place in the file."""

from __future__ import annotations

from collections.abc import Iterator

from rowpath.errors import UsageError
from rowpath.model.experiment import Experiment
from rowpath.model.mixed_load import ClientGroupTable, StageTable
from rowpath.model.workload import Workload, phase_of
from rowpath.toml_file import Location, suggest

EVENTS = ("begin", "end")
KINDS = ("query", "execute", "null")

Mistakes = Iterator[tuple[Location, UsageError]]


def mistakes(experiment: Experiment, workloads: dict[str, Workload]) -> Mistakes:
    """Every mistake in `[[client_groups]]`, `[[stages]]` and `[rate_search]`; none of an experiment without groups."""
    groups = {group.name: group for group in experiment.client_groups}
    if experiment.client_groups and not experiment.stages:
        yield (
            ("client_groups", 0),
            UsageError("the experiment has client groups but no stage", "add [[stages]]"),
        )
    counted = set()
    for position, group in enumerate(experiment.client_groups):
        for key, error in _of_group(group, experiment.phases, workloads):
            yield ("client_groups", position, key), error
        if [each.name for each in experiment.client_groups].index(group.name) != position:
            yield (
                ("client_groups", position, "name"),
                UsageError(f"duplicate group '{group.name}'", "rename it"),
            )
        counted |= (
            {group.phase} if group.phase in experiment.phases and phase_of(workloads, group.phase).counted else set()
        )
        if len(counted) > 1:
            yield (
                ("client_groups", position, "phase"),
                UsageError(
                    f"'{group.phase}' is a second phase that counts its writes: an experiment has one ledger",
                    "let the groups share one such phase",
                ),
            )
    for position, stage in enumerate(experiment.stages):
        for key, error in _of_stage(stage, groups):
            yield ("stages", position, key), error
        if [each.name for each in experiment.stages].index(stage.name) != position:
            yield ("stages", position, "name"), UsageError(f"duplicate stage '{stage.name}'", "rename it")
    for position, move in enumerate(experiment.directory_copies):
        if move.source.deployment != "embedded":
            hint = "source = { deployment = 'embedded' }"
            yield (
                ("directory_copies", position, "source"),
                UsageError("a server's database cannot be copied: it may be open", hint),
            )
    sweep = experiment.rate_search
    if sweep is not None:
        if sweep.client_group not in groups or not groups[sweep.client_group].phase:
            right = tuple(name for name, group in groups.items() if group.phase)
            yield (
                ("rate_search", "client_group"),
                UsageError(f"unknown group '{sweep.client_group}' with operations", suggest(sweep.client_group, right)),
            )
        for key in ("p99_ms", "begin_per_s", "seconds", "tries"):
            if getattr(sweep, key) <= 0:
                yield ("rate_search", key), UsageError(f"{key} = {getattr(sweep, key):g} is not positive", f"{key} = 1")


Found = Iterator[tuple[str, UsageError]]


def _of_group(group: ClientGroupTable, phases: tuple[str, ...], workloads: dict[str, Workload]) -> Found:
    what = f"group '{group.name}'"
    if bool(group.phase) == bool(group.action):
        yield (
            "name",
            UsageError(f"{what} needs either a phase or an action", "phase = 'library.read', or action = 'backup'"),
        )
    if group.phase and group.phase not in phases:
        yield (
            "phase",
            UsageError(f"{what}: unknown phase '{group.phase}' in this experiment", suggest(group.phase, phases)),
        )
    elif group.phase and (kind := phase_of(workloads, group.phase).kind) not in KINDS:
        yield (
            "phase",
            UsageError(
                f"{what}: '{group.phase}' is of kind {kind}, which groups cannot run", f"kinds: {', '.join(KINDS)}"
            ),
        )
    if group.action and (group.pacing != "closed" or group.rate_per_s):
        yield (
            "pacing" if group.pacing != "closed" else "rate_per_s",
            UsageError(f"{what}: an action has no pacing: it is done `times` times", "remove pacing and rate_per_s"),
        )
    if group.action and group.clients != 1:
        yield "clients", UsageError(f"{what}: an action has no clients", "remove clients")
    if group.phase and (group.pacing == "closed") != (group.rate_per_s == 0):
        text = f"{what}: pacing '{group.pacing}' and rate_per_s = {group.rate_per_s:g} do not fit together"
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
            UsageError(f"{what}: only a closed loop pauses", "remove pause_s, or set pacing = 'closed'"),
        )


def _of_stage(stage: StageTable, groups: dict[str, ClientGroupTable]) -> Found:
    what = f"stage '{stage.name}'"
    if not stage.client_groups:
        yield "client_groups", UsageError(f"{what} has no groups", "client_groups = ['readers']")
    for key, names in (("client_groups", stage.client_groups), ("clients", stage.clients), ("rates", stage.rates)):
        right = tuple(groups) if key == "client_groups" else stage.client_groups
        for name in names:
            if name not in right:
                yield key, UsageError(f"{what}: unknown group '{name}'", suggest(name, right))
    if len(set(stage.client_groups)) < len(stage.client_groups):
        yield "client_groups", UsageError(f"{what} names a group twice", "name it once, with more clients")
    if stage.until and stage.until not in stage.client_groups:
        yield (
            "until",
            UsageError(f"{what}: unknown group '{stage.until}'", suggest(stage.until, stage.client_groups)),
        )
    elif stage.until and not groups[stage.until].action and not groups[stage.until].times:
        yield "until", UsageError(f"{what}: group '{stage.until}' never ends by itself", "set `times` for that group")
    if stage.seconds <= 0:
        yield "seconds", UsageError(f"{what} lasts {stage.seconds:g} s", "seconds = 10.0")
    if stage.kill_s < 0 or stage.kill_s >= stage.seconds:
        yield (
            "kill_s",
            UsageError(f"{what}: kill_s = {stage.kill_s:g} is not within it", f"0 < kill_s < {stage.seconds:g}"),
        )
    for name, count in stage.clients.items():
        if count < 1 or (name in groups and groups[name].action):
            yield "clients", UsageError(f"{what}: {count} clients for '{name}'", "a phase's group has at least one")
    for name, rate in stage.rates.items():
        if rate <= 0 or (name in groups and groups[name].pacing == "closed"):
            text = f"{what}: a rate of {rate:g} for '{name}'"
            yield "rates", UsageError(text, "a positive one, for a group with pacing = 'fixed' or 'poisson'")
    for name in stage.client_groups:
        awaited, _, event = groups[name].after.rpartition(".") if name in groups else ("", "", "")
        if (
            name in groups
            and groups[name].after
            and (awaited not in stage.client_groups or awaited == name or event not in EVENTS)
        ):
            right = tuple(f"{other}.{each}" for other in stage.client_groups if other != name for each in EVENTS)
            text = f"{what}: group '{name}' waits for '{groups[name].after}', which is not in this stage"
            yield (
                "client_groups",
                UsageError(text, suggest(groups[name].after, right) if right else "add that group too"),
            )
