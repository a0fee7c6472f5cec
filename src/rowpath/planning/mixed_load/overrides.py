"""What the command line changes in an experiment's groups: rates, the bound of a rate search, the stages' length."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from rowpath.errors import UsageError
from rowpath.model.experiment import Experiment
from rowpath.model.mixed_load import ClientGroupTable, RateSearchTable
from rowpath.toml_file import suggest

USUAL_BEGIN_PER_S = 100.0
EXAMPLES = {"-R": "-R readers=500", "--p99": "--p99 readers=5", "--seconds": "--seconds 10"}
OPEN_LOOPS = ("poisson", "fixed")


def changed(experiment: Experiment, rates: Sequence[str], p99: str, seconds: float) -> Experiment:
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
        msgspec.structs.replace(each, rates={name: rate for name, rate in each.rates.items() if name not in rated})
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
        stages = [each if each.until else msgspec.structs.replace(each, seconds=seconds) for each in stages]
    return msgspec.structs.replace(
        experiment, client_groups=tuple(groups.values()), stages=tuple(stages), rate_search=sweep
    )


def _opened(group: ClientGroupTable, rate_per_s: float, pacing: str = "") -> ClientGroupTable:
    pacing = pacing or ("poisson" if group.pacing == "closed" else group.pacing)
    return msgspec.structs.replace(group, pacing=pacing, rate_per_s=rate_per_s)


def _known(groups: dict[str, ClientGroupTable], name: str) -> str:
    if name not in groups or not groups[name].phase:
        raise UsageError(
            f"unknown group '{name}' with operations",
            suggest(name, tuple(each for each, group in groups.items() if group.phase)),
        )
    return name


def _positive(option: str, text: str, number: str) -> float:
    try:
        value = float(number)
    except ValueError:
        value = 0.0
    if not 0 < value < float("inf"):
        raise UsageError(f"{option} {text}: invalid number '{number}': expected a positive number", EXAMPLES[option])
    return value
