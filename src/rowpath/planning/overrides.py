"""What the command line changes in an experiment: sets, warm-up, scale, and the rates and bounds of its groups."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from rowpath.errors import UsageError
from rowpath.model.experiment import Experiment, RigorousTable
from rowpath.planning.experiment_file import ExperimentFile
from rowpath.planning.mixed_load import overrides as mixed_load


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
    experiment = mixed_load.changed(file.experiment, requested.rates, requested.p99, seconds)
    measure = experiment.measure
    if requested.sets is not None:
        if requested.sets < 1:
            raise UsageError(f"invalid -r {requested.sets}: expected at least 1 set", "rowpath run NAME -r 6")
        measure = msgspec.structs.replace(measure, sets=requested.sets, max_sets=requested.sets)
    if requested.warm_cap_s is not None:
        measure = msgspec.structs.replace(measure, warm_cap_s=requested.warm_cap_s)
    if requested.scale and not any(workload.scale for workload in file.workloads.values()):
        raise UsageError(
            f"--scale {requested.scale:g}: no workload of '{experiment.name}' has a scale",
            f"rowpath run {experiment.name}",
        )
    return msgspec.structs.replace(experiment, measure=measure, scale=scale or experiment.scale)
