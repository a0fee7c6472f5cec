"""From the user's words to a plan: experiment, overrides, selections, and the plan as text."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

from rowpath.errors import UsageError
from rowpath.execution.mixed_load.directory_copies import announced
from rowpath.model.experiment import Experiment, Measure, Selection
from rowpath.planning import disk_estimate
from rowpath.planning.estimate import estimate_s
from rowpath.planning.experiment_file import load_experiment
from rowpath.planning.lattice import VARIED_ONE_AT_A_TIME
from rowpath.planning.mixed_load.eligibility import stages_left_out
from rowpath.planning.mixed_load.estimate import described
from rowpath.planning.mixed_load.overrides import changed
from rowpath.planning.plan import Plan, make_plan, workloads_of
from rowpath.runners.manifest import every_adapter
from rowpath.workloads.workload_file import load_workload
from rowpath.workloads.workload_file import names as workload_names

if TYPE_CHECKING:
    from rich.console import Console


def plan_for(
    name: str,
    filters: dict[str, tuple[str, ...]],
    *,
    extended: bool,
    sets: int | None,
    warm_cap_s: float | None,
    seed: int | None,
    scale: float = 0.0,
    paced: tuple[Sequence[str], str, float] = ((), "", 0.0),
) -> Plan:
    """The plan of an experiment with the command line's options; UsageError when nothing is left to run.

    `paced`: `-R`, `--p99`, `--seconds`, for groups of clients.
    """
    experiment = changed(load_experiment(name), *paced)
    measure = experiment.measure
    if sets is not None:
        if sets < 1:
            raise UsageError(f"-r {sets}: at least 1 set is needed", "rowpath run NAME -r 6")
        measure = msgspec.structs.replace(measure, sets=sets, max_sets=sets)
    if warm_cap_s is not None:
        measure = msgspec.structs.replace(measure, warm_cap_s=warm_cap_s)
    experiment = msgspec.structs.replace(experiment, measure=measure, scale=scale or experiment.scale)
    if scale and not any(workload.scale for workload in workloads_of(experiment).values()):
        raise UsageError(
            f"--scale {scale:g}: no workload of '{experiment.name}' has a scale", f"rowpath run {experiment.name}"
        )
    return checked_plan(experiment, filters, extended=extended, seed=seed)


def checked_plan(
    experiment: Experiment, filters: dict[str, tuple[str, ...]], *, extended: bool, seed: int | None
) -> Plan:
    """The plan; UsageError when the filters leave no path that can run."""
    chosen = seed if seed is not None else time.time_ns() % 1_000_000_007
    plan = make_plan(experiment, workloads_of(experiment), filters, seed=chosen, extended=extended)
    if not plan.paths:
        if plan.dropped:
            first = plan.dropped[0]
            raise UsageError(
                f"no path of '{experiment.name}' can run here: {first.reason}", first.remedy or "rowpath doctor"
            )
        shown = " ".join(f"{key}={','.join(values)}" for key, values in filters.items())
        if not extended and make_plan(experiment, plan.workloads, filters, seed=chosen, extended=True).paths:
            raise UsageError(
                f"no path of '{experiment.name}' has {shown} without --all",
                f"rowpath run {experiment.name} --all {shown}",
            )
        raise UsageError(f"no path of '{experiment.name}' has {shown}", f"rowpath run {experiment.name} --plan")
    return plan


def print_plan(plan: Plan, console: Console) -> None:
    """What would run, what would not and why, and how long it would take."""
    measure = plan.experiment.measure
    more = f" (up to {measure.max_sets} for wide intervals)" if measure.max_sets > measure.sets else ""
    console.print(plan.experiment.title, style="bold", highlight=False)
    regimes = " and ".join(measure.regimes)
    how = f"{measure.sets} sets{more} of {measure.rounds} rounds of {measure.block_ms:g} ms blocks, {regimes}"
    how = described(plan) if plan.experiment.client_groups else how
    console.print(f"{len(plan.paths)} paths, {how}", highlight=False)
    for group in plan.batches:
        for planned in group:
            console.print(f"  {planned.name}: {', '.join(planned.phases)}", highlight=False)
        if len(plan.batches) > 1:
            console.print("  (end of a set)", highlight=False)
    names = {planned.path.id: planned.name for planned in plan.paths}
    for dropped in plan.dropped:
        remedy = f"; enable it with: {dropped.remedy}" if dropped.remedy else ""
        # One line each, however narrow the terminal: the command is there to be copied.
        console.print(f"  skipped {dropped.path.id}: {dropped.reason}{remedy}", highlight=False, soft_wrap=True)
    unserved: dict[tuple[str, str], list[str]] = {}
    for path_id, phase, reason in plan.unserved:
        if path_id in names:
            unserved.setdefault((names[path_id], reason.removeprefix(f"{phase}: ")), []).append(phase)
    for (name, reason), phases in unserved.items():
        console.print(f"  skipped {name} in {', '.join(phases)}: {reason}", highlight=False)
    for line in announced(plan):
        console.print(f"  {line}", highlight=False, soft_wrap=True)
    for name, stages, reason in stages_left_out(plan):
        console.print(f"  skipped {name} in {stages}: {reason}", highlight=False)
    if data := disk_estimate.estimate(plan).text():
        console.print(data, highlight=False)
    minutes = estimate_s(plan) / 60
    console.print(f"estimated time: {minutes:.1f} min, not counting builds", highlight=False)


def everything() -> Experiment:
    """An experiment of every path that every adapter offers, over every phase of every workload."""
    phases = tuple(f"{name}.{phase.name}" for name in workload_names() for phase in load_workload(name).phases)
    stars: dict[str, str | tuple[str, ...]] = dict.fromkeys(("statement", "result", "format", "transport"), "*")
    paths = []
    for adapter in every_adapter():
        if adapter.floor:  # delivers no rows that could be right
            continue
        driver: dict[str, str | tuple[str, ...]] = {
            "language": adapter.language,
            "driver": adapter.driver,
            "deployment": "*",
        }
        own: dict[str, str | tuple[str, ...]] = {
            key: "*" for key in adapter.coordinates if key not in VARIED_ONE_AT_A_TIME
        }
        paths.append(Selection(select=driver | stars | own))
        beside = [
            key for key in VARIED_ONE_AT_A_TIME if key in adapter.coordinates or key in ("version", "engine_version")
        ]
        paths += [Selection(select=driver | {key: "*"}) for key in beside]
    return Experiment(
        schema_version=1,
        name="verify",
        title="Every path, for correctness alone",
        phases=phases,
        paths=tuple(paths),
        measure=Measure(sets=1, max_sets=1),
        scale=VERIFY_SCALE,
    )


VERIFY_SCALE = 0.001  # of workloads that have a scale: what is looked at is whether the rows are right
