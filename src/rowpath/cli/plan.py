"""From the user's words to a plan: experiment, overrides, selections, and the plan as text."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

from rich.console import Console

from rowpath.errors import EnvironmentMissing
from rowpath.execution.mixed_load.directory_copies import announced
from rowpath.machine.describe import slowness
from rowpath.model.availability import with_remedy
from rowpath.model.experiment import Experiment, Measure, Selection
from rowpath.planning import disk_estimate
from rowpath.planning.client_groups import stages_left_out
from rowpath.planning.estimate import described, estimate_s
from rowpath.planning.experiment_file import ExperimentFile, load_experiment
from rowpath.planning.hosts import SeveralHosts
from rowpath.planning.make_plan import make_plan
from rowpath.planning.overrides import NOT_OVERRIDDEN, Overrides, fit_within, overridden
from rowpath.planning.plan import Plan
from rowpath.planning.selection import OWN_WHERE_NAMED, VARIED_ONE_AT_A_TIME
from rowpath.runners.manifest import every_adapter, language
from rowpath.workloads.workload_file import all_at_scale, load_workload
from rowpath.workloads.workload_file import names as workload_names

STATEMENT_KEYS = ("statement", "result", "format", "transport")
VERIFY_SCALE = 0.001  # of workloads that have a scale: only whether the rows are right matters


def plan_for(
    name: str | ExperimentFile,
    filters: dict[str, tuple[str, ...]],
    overrides: Overrides = NOT_OVERRIDDEN,
    *,
    extended: bool = False,
    seed: int | None = None,
    hosts: SeveralHosts | None = None,
) -> Plan:
    """The plan of an experiment with the command line's options; UsageError when nothing is left to run."""
    file = load_experiment(name) if isinstance(name, str) else name
    experiment = overridden(file, overrides)
    workloads = all_at_scale(file.workloads, experiment.scale)
    seed = seed if seed is not None else time.time_ns() % 1_000_000_007
    plan = make_plan(experiment, workloads, filters, seed=seed, extended=extended, hosts=hosts)
    if plan.nothing_left:
        raise plan.nothing_left
    return replace(plan, slowness=slowness())


def plan_within(
    name: str | ExperimentFile,
    filters: dict[str, tuple[str, ...]],
    overrides: Overrides,
    within_s: float,
    *,
    spent_s: float = 0.0,
    **more: Any,
) -> tuple[Plan, str]:
    """As `plan_for`, measured so that it ends in this time, and a line that says what that costs; UsageError too.

    `spent_s`: what of the time is over; `more`: as for `plan_for`.
    """
    file = load_experiment(name) if isinstance(name, str) else name
    plan = plan_for(file, filters, overrides, **more)
    return fit_within(plan, file.workloads, within_s, overrides, spent_s)


def check_versions(plan: Plan, versions: tuple[str, ...]) -> None:
    """EnvironmentMissing where a version that was asked for has no path that can run here."""
    for version in versions:
        if all(planned.path.version != version for planned in plan.paths):
            for dropped in plan.dropped:
                if dropped.path.version == version:
                    raise EnvironmentMissing(dropped.reason, dropped.remedy)
            raise EnvironmentMissing(f"no path has version '{version}'", "rowpath list drivers")


def print_plan(plan: Plan, console: Console, cost: str = "") -> None:
    """What would run, what would not and why, how long it would take, and what a limit of time costs."""
    measure = plan.experiment.measure
    more = f" (up to {measure.max_sets} for wide intervals)" if measure.max_sets > measure.sets else ""
    console.print(plan.experiment.title, style="bold", highlight=False)
    blocks = f"{measure.rounds} rounds of {measure.block_ms:g} ms blocks, {' and '.join(measure.regimes)}"
    how = described(plan) if plan.experiment.client_groups else f"{measure.sets} sets{more} of {blocks}"
    console.print(f"{len(plan.paths)} paths, {how}", highlight=False)
    requested_ns = int(measure.lead_in_ms * 1e6)
    headers = {name: language(name) for name in (planned.adapter.language for planned in plan.paths)}
    sent = {header.title or name: header.lead_in_ns(requested_ns) for name, header in headers.items()}
    if longer := ", ".join(f"{title} {ns / 1e6:g} ms" for title, ns in sent.items() if ns > requested_ns):
        console.print(f"lead-ins of {measure.lead_in_ms:g} ms, {longer}", highlight=False)
    for group in plan.batches:
        for planned in group:
            console.print(f"  {planned.name}: {', '.join(planned.phases)}", highlight=False)
        if len(plan.batches) > 1:
            console.print("  (end of a set)", highlight=False)
    names = {planned.path.id: planned.name for planned in plan.paths}
    for dropped in plan.dropped:
        # One line each, however narrow the terminal: the command is there to be copied.
        why = with_remedy(dropped.reason, dropped.remedy)
        console.print(f"  skipped {dropped.path.id}: {why}", highlight=False, soft_wrap=True)
    ineligible: dict[tuple[str, str], list[str]] = {}
    for path_id, phase, reason in plan.ineligible:
        if path_id in names:
            ineligible.setdefault((names[path_id], reason.removeprefix(f"{phase}: ")), []).append(phase)
    for (name, reason), phases in ineligible.items():
        console.print(f"  skipped {name} in {', '.join(phases)}: {reason}", highlight=False)
    for line in announced(plan):
        console.print(f"  {line}", highlight=False, soft_wrap=True)
    for name, stages, reason in stages_left_out(plan):
        console.print(f"  skipped {name} in {stages}: {reason}", highlight=False)
    if data := disk_estimate.estimate(plan).text():
        console.print(data, highlight=False)
    more = more and ", more if wide intervals need more sets"
    console.print(f"estimated time: {estimate_s(plan) / 60:.1f} min, not counting builds{more}", highlight=False)
    if cost:
        console.print(cost, highlight=False, soft_wrap=True)


def host_pairs(plan: Plan) -> list[tuple[str, str]]:
    """Client's and server's host of the plan's paths that are on hosts, each once; `none` where there is no server."""
    pairs = ((planned.path.client_host, planned.path.server_host) for planned in plan.paths)
    return list(dict.fromkeys(pair for pair in pairs if pair[0] != "none"))


def everything() -> ExperimentFile:
    """An experiment of every path that every adapter offers, over every phase of every workload."""
    workloads = {name: load_workload(name) for name in workload_names()}
    phases = tuple(f"{name}.{phase.name}" for name, workload in workloads.items() for phase in workload.phases)
    paths = []
    for adapter in every_adapter():
        if adapter.floor:  # delivers no rows that could be right
            continue
        driver: dict[str, str | tuple[str, ...]] = {
            "language": adapter.language,
            "driver": adapter.driver,
            "deployment": "*",
        }
        own = [key for key in adapter.coordinates if key not in (*VARIED_ONE_AT_A_TIME, *OWN_WHERE_NAMED)]
        paths.append(Selection(select=driver | dict.fromkeys((*STATEMENT_KEYS, *own), "*")))
        beside = ("version", "engine_version", *adapter.coordinates)
        paths += [Selection(select=driver | {key: "*"}) for key in VARIED_ONE_AT_A_TIME if key in beside]
    title = "Every path, for correctness only"
    measure = Measure(sets=1, max_sets=1)
    experiment = Experiment(1, "verify", title, phases, tuple(paths), measure=measure, scale=VERIFY_SCALE)
    return ExperimentFile(experiment, workloads)
