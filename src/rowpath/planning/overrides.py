"""What the command line changes in an experiment: sets, warm-up, scale, and the rates and bounds of its groups."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from msgspec.structs import replace

from rowpath import text as fmt
from rowpath.errors import UsageError
from rowpath.model.experiment import ClientGroupTable, Experiment, RateSearchTable, RigorousTable, StageTable
from rowpath.model.workload import Workload
from rowpath.planning.estimate import estimate_s
from rowpath.planning.experiment_file import ExperimentFile
from rowpath.planning.plan import Plan
from rowpath.toml_file import suggest
from rowpath.workloads.workload_file import all_at_scale

Timed = TypeVar("Timed", StageTable, RateSearchTable)
USUAL_BEGIN_PER_S = 100.0
EXAMPLES = {"-R": "-R readers=500", "--p99": "--p99 readers=5", "--seconds": "--seconds 10"}
OPEN_LOOPS = ("poisson", "fixed")
MARGIN = 1.25  # an estimate holds within a quarter
CLAIM_SETS = 6  # fewer are provisional
MOST_SETS = 10
LEAST_ROUNDS, LEAST_STAGE_S, LEAST_WARM_S = 3, 1.0, 0.5


@dataclass(frozen=True)
class Overrides:
    """`-r`, `-w`, `--scale`, `-R`, `--p99`, `--seconds`, `--rigorous`; what is left as here changes nothing."""

    sets: int | None = None
    warm_cap_s: float | None = None
    scale: float = 0.0
    rates: Sequence[str] = ()
    p99: str = ""
    seconds: float = 0.0
    rigorous: bool = False


NOT_OVERRIDDEN = Overrides()


def overridden(file: ExperimentFile, requested: Overrides) -> Experiment:
    """The experiment with all of these options; UsageError for what it cannot take."""
    long = file.experiment.rigorous if requested.rigorous else RigorousTable()
    seconds, scale = requested.seconds or long.seconds, requested.scale or long.scale
    experiment = changed_groups(file.experiment, requested.rates, requested.p99, seconds)
    measure = experiment.measure
    if requested.sets is not None:
        if requested.sets < 1:
            raise UsageError(f"invalid -r {requested.sets}: expected at least 1 set", "rowpath run NAME -r 6")
        measure = replace(measure, sets=requested.sets, max_sets=requested.sets)
    if requested.warm_cap_s is not None:
        measure = replace(measure, warm_cap_s=requested.warm_cap_s)
    if requested.scale and not any(workload.scale for workload in file.workloads.values()):
        what = f"--scale {requested.scale:g}: no workload of '{experiment.name}' has a scale"
        raise UsageError(what, f"rowpath run {experiment.name}")
    return replace(experiment, measure=measure, scale=scale or experiment.scale)


def changed_groups(experiment: Experiment, rates: Sequence[str], p99: str, seconds: float) -> Experiment:
    """The experiment with `-R [GROUP=]PER_S[,PACING]` (an open loop), `--p99 GROUP=MS` and `--seconds S`.

    A rate named here is that of every stage. UsageError for groups and pacings that are not there and numbers that
    are not positive.
    """
    if not (rates or p99 or seconds):
        return experiment
    if not experiment.client_groups:
        what = "-R" if rates else "--p99" if p99 else "--seconds"
        raise UsageError(f"{what}: '{experiment.name}' has no client groups", "rowpath run reads-writes-backup")
    groups = {group.name: group for group in experiment.client_groups}
    rated: set[str] = set()
    for text in rates:
        group_rate, comma, pacing = text.partition(",")
        if comma and pacing not in OPEN_LOOPS:
            raise UsageError(f"-R {text}: unknown open loop '{pacing}'", suggest(pacing, OPEN_LOOPS))
        name, equals, number = group_rate.rpartition("=")
        rate = _positive("-R", text, number)
        for each in [_known(groups, name)] if equals else [name for name, group in groups.items() if group.phase]:
            groups[each] = _opened(groups[each], rate, pacing)
            rated.add(each)
    sweep = experiment.rate_search
    stages = [
        replace(each, rates={name: rate for name, rate in each.rates.items() if name not in rated})
        for each in experiment.stages
    ]
    if p99:
        name, equals, number = p99.rpartition("=")
        if not equals:
            raise UsageError(f"--p99 {p99}: expected a group and a bound in milliseconds", EXAMPLES["--p99"])
        known = _known(groups, name)
        bound_ms = _positive("--p99", p99, number)
        groups[known] = _opened(groups[known], groups[known].rate_per_s or USUAL_BEGIN_PER_S)
        sweep = RateSearchTable(client_group=known, p99_ms=bound_ms, begin_per_s=groups[known].rate_per_s)
    if seconds:
        _positive("--seconds", f"{seconds:g}", f"{seconds:g}")
        stages = [stage if stage.until else replace(stage, seconds=seconds) for stage in stages]
    return replace(experiment, client_groups=tuple(groups.values()), stages=tuple(stages), rate_search=sweep)


def _opened(group: ClientGroupTable, rate_per_s: float, pacing: str = "") -> ClientGroupTable:
    pacing = pacing or ("poisson" if group.pacing == "closed" else group.pacing)
    return replace(group, pacing=pacing, rate_per_s=rate_per_s, population=0)


def _known(groups: dict[str, ClientGroupTable], name: str) -> str:
    if name not in groups or not groups[name].phase:
        right = [known for known, group in groups.items() if group.phase]
        raise UsageError(f"unknown group '{name}' with operations", suggest(name, right))
    return name


def _positive(option: str, text: str, number: str) -> float:
    try:
        value = float(number)
    except ValueError:
        value = 0.0
    if not 0 < value < float("inf"):
        raise UsageError(f"{option} {text}: invalid number '{number}': expected a positive number", EXAMPLES[option])
    return value


@dataclass(frozen=True)
class Sizes:
    """Shares of what the experiment has."""

    work: float  # rounds, seconds of stages, tries of a rate search
    warm: float  # the longest warming up
    scale: float  # rows, where they have a scale


# From the best to the least: what warms up too briefly shows another figure, not a wider one.
USUAL_SIZES = (
    Sizes(1.0, 1.0, 1.0),
    Sizes(0.7, 1.0, 1.0),
    Sizes(0.5, 1.0, 1.0),
    Sizes(0.5, 0.7, 0.3),
    Sizes(0.35, 0.5, 0.1),
)
LEAST_SIZES = (Sizes(0.2, 0.25, 0.1), Sizes(0.2, 0.1, 0.03))


def fit_within(
    plan: Plan,
    workloads: dict[str, Workload],
    within_s: float,
    requested: Overrides = NOT_OVERRIDDEN,
    spent_s: float = 0.0,
) -> tuple[Plan, str]:
    """The plan as certain as it can be in that time, and a line that says what this costs.

    `workloads` are those of the file; what was `requested` stays. UsageError, with the least time, for too little.
    """
    least_s = math.inf
    # The most certain first: enough sets for claims, then large sizes, then more sets.
    most = max(MOST_SETS, plan.experiment.measure.sets)
    choices = itertools.chain(
        itertools.product(range(most, CLAIM_SETS, -1), USUAL_SIZES[:1]),
        itertools.product(range(CLAIM_SETS, 0, -1), USUAL_SIZES),
        itertools.product((2, 1), LEAST_SIZES),
    )
    for sets, sizes in choices:
        experiment = _resized(plan.experiment, workloads, sets, sizes, requested)
        tried = dataclasses.replace(plan, experiment=experiment, workloads=all_at_scale(workloads, experiment.scale))
        needed_s = spent_s + MARGIN * estimate_s(tried)
        if needed_s <= within_s:
            return tried, _cost(plan, tried, within_s)
        least_s = min(least_s, needed_s)
    least = fmt.clock(math.ceil(least_s))
    name = plan.experiment.name
    what = f"--within {fmt.clock(within_s)} is too short for the {len(plan.paths)} paths of '{name}'"
    hint = f"rowpath run {name} --within {math.ceil(least_s)}s, or fewer paths: COORDINATE=VALUE"
    raise UsageError(f"{what}: the least is {least}", hint)


def _resized(
    experiment: Experiment, workloads: dict[str, Workload], sets: int, sizes: Sizes, requested: Overrides
) -> Experiment:
    measure, search = experiment.measure, experiment.rate_search
    rounds = min(measure.rounds, max(LEAST_ROUNDS, round(measure.rounds * sizes.work)))
    measure = replace(measure, sets=sets, max_sets=sets, rounds=rounds)
    if requested.warm_cap_s is None:
        warm_cap_s = min(measure.warm_cap_s, max(LEAST_WARM_S, measure.warm_cap_s * sizes.warm))
        measure = replace(measure, warm_cap_s=warm_cap_s)
    scale = experiment.scale or next((workload.scale for workload in workloads.values() if workload.scale), 0.0)
    stages = experiment.stages
    if not requested.seconds:
        stages = tuple(stage if stage.until else _shorter(stage, sizes) for stage in stages)
    return replace(
        experiment,
        measure=measure,
        scale=scale if requested.scale else scale * sizes.scale,
        stages=stages,
        rate_search=_shorter(search, sizes) if search else None,
    )


def _shorter(stage: Timed, sizes: Sizes) -> Timed:
    return replace(stage, seconds=min(stage.seconds, max(LEAST_STAGE_S, stage.seconds * sizes.work)))


def _cost(before: Plan, after: Plan, within_s: float) -> str:
    """`within 3 min 00 s, about 2 min 10 s: 3 sets instead of 6 (provisional: no difference is claimed)`."""
    one, other = before.experiment, after.experiment
    changes = [_changed("sets", one.measure.sets, other.measure.sets)]
    if changes[0] and other.measure.sets < CLAIM_SETS:
        changes[0] += " (provisional: no difference is claimed)"
    if one.client_groups:
        stages = zip(one.stages, other.stages, strict=True)
        changes += list(dict.fromkeys(_changed("s of a stage", old.seconds, new.seconds) for old, new in stages))
    else:
        changes.append(_changed("rounds", one.measure.rounds, other.measure.rounds))
    changes.append(_changed("s of warming up at most", one.measure.warm_cap_s, other.measure.warm_cap_s))
    scales = [[workload.scale for workload in plan.workloads.values() if workload.scale] for plan in (before, after)]
    changes += [f"scale {new:g} instead of {old:g}" for old, new in zip(*scales, strict=True) if new != old]
    said = ", ".join(filter(None, changes)) or "measured as without --within"
    return f"within {fmt.clock(within_s)}, about {fmt.clock(estimate_s(after))}: {said}"


def _changed(what: str, old: float, new: float) -> str:
    shown = what.removesuffix("s") if new == 1 and what == "sets" else what
    return "" if new == old else f"{new:.3g} {shown} instead of {old:.3g}"
