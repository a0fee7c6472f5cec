"""What the commands `run`, `verify` and `setup` do, from the options to the end of the run."""

from __future__ import annotations

import json
import shutil
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from rowpath import __version__
from rowpath.analysis.analyse import analyse
from rowpath.errors import UsageError
from rowpath.execution.mixed_load.directory_copies import announced
from rowpath.execution.schedule import Done, Schedule
from rowpath.journal.writer import Journal, RunDirectory, Scrubber, new_name
from rowpath.machine import counters, describe
from rowpath.model.progress import Progress, Silent
from rowpath.model.workload import SCHEMA_VERSION, Analysis, Workload
from rowpath.model.workload import Path as AccessPath
from rowpath.planning import disk_estimate
from rowpath.planning.experiment_file import Experiment, Measure, Selection, load_experiment
from rowpath.planning.lattice import BESIDE
from rowpath.planning.mixed_load.eligibility import stretches_left_out
from rowpath.planning.mixed_load.estimate import described
from rowpath.planning.mixed_load.overrides import changed
from rowpath.planning.plan import Plan, PlannedPath, estimate_s, make_plan, workloads_of
from rowpath.runners.manifest import availability, build, every_adapter, lines_of_code
from rowpath.workloads.workload_file import load_workload
from rowpath.workloads.workload_file import names as workload_names

if TYPE_CHECKING:
    from rich.console import Console

VERIFY_SCALE = 0.001  # of workloads that have a scale: what is looked at is whether the rows are right


@dataclass
class Outcome:
    """A run that has ended: where, what it says, and whether it was cut short."""

    directory: RunDirectory
    analysis: Analysis
    interrupted: bool


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
    how = described(plan) if plan.experiment.groups else how
    console.print(f"{len(plan.paths)} paths, {how}", highlight=False)
    for group in plan.groups:
        for planned in group:
            console.print(f"  {planned.name}: {', '.join(planned.phases)}", highlight=False)
        if len(plan.groups) > 1:
            console.print("  (end of a set)", highlight=False)
    names = {planned.path.id: planned.name for planned in plan.paths}
    for dropped in plan.dropped:
        remedy = f"; enable it with: {dropped.remedy}" if dropped.remedy else ""
        # One line each, however narrow the terminal: the command is there to be copied.
        console.print(f"  not: {dropped.path.id}: {dropped.reason}{remedy}", highlight=False, soft_wrap=True)
    unserved: dict[tuple[str, str], list[str]] = {}
    for path_id, phase, reason in plan.unserved:
        if path_id in names:
            unserved.setdefault((names[path_id], reason.removeprefix(f"{phase}: ")), []).append(phase)
    for (name, reason), phases in unserved.items():
        console.print(f"  not: {name} in {', '.join(phases)}: {reason}", highlight=False)
    for line in announced(plan):
        console.print(f"  {line}", highlight=False, soft_wrap=True)
    for name, stretches, reason in stretches_left_out(plan):
        console.print(f"  not: {name} in {stretches}: {reason}", highlight=False)
    if data := disk_estimate.estimate(plan).text():
        console.print(data, highlight=False)
    minutes = estimate_s(plan) / 60
    console.print(f"about {minutes:.1f} minutes, when everything is built already", highlight=False)


def build_for(plan: Plan, progress: Progress) -> None:
    """Bring runners and drivers of the plan's paths up to date."""
    versions = [(planned.adapter, planned.path.get("version")) for planned in plan.paths]
    build(versions, progress.note, [planned.path for planned in plan.paths])


def build_everything(console: Console) -> None:
    """Fetch and build all that can run here."""
    ready, special = [], []
    for adapter in every_adapter():
        here = availability(adapter, adapter.versions[0])
        if here.ok:
            ready += [(adapter, version) for version in adapter.versions]
        else:
            words = f"skipped {adapter.language} {adapter.driver}: {here.reason}; enable it with: {here.remedy}"
            console.print(words, highlight=False)
        for one in adapter.coordinates.get("concurrency", ()):
            path = AccessPath.of({"language": adapter.language, "concurrency": one})
            special += [path] if availability(adapter, adapter.versions[0], path).ok else []
    build(ready, lambda text: console.print(text, highlight=False), special)


def run_plan(
    plan: Plan,
    *,
    directory: Path | None,
    quiet: bool,
    timeout_s: float,
    color: str,
    restart_servers: bool = False,
    together: tuple[str, ...] = (),
) -> Outcome:
    """Run the plan into a new run directory."""
    counters.probe()  # takes a moment: before there is a directory that an interruption would leave without a head
    run_directory = RunDirectory(directory or new_name(plan.experiment.name))
    progress = make_progress(quiet, color)
    disk_estimate.announce(plan, run_directory.path, progress.note)
    run_directory.create()
    scrubber = Scrubber()
    journal = Journal(run_directory, scrubber)
    options = {"timeout_s": timeout_s, "restart_servers": restart_servers}
    # Before building, so that a run stopped there can be resumed too.
    write_head(journal, plan, options | {"together": list(together)})
    build_for(plan, progress)
    return _execute(plan, run_directory, journal, scrubber, progress, options, Done())


def resume(directory: Path, *, quiet: bool, timeout_s: float, color: str) -> Outcome:
    """Go on with a killed or interrupted run; what is done is not repeated."""
    run_directory = RunDirectory(directory)
    if not run_directory.samples.is_file():
        raise UsageError(f"{directory} holds no run: there is no samples.jsonl in it", "rowpath run NAME -o DIR")
    head, done, complete = _what_is_done(run_directory.samples)
    if complete:
        return Outcome(run_directory, analyse(run_directory.path), interrupted=False)
    experiment = msgspec.convert(head["experiment"], Experiment)
    workloads = {name: msgspec.convert(body, Workload) for name, body in head["workloads"].items()}
    filters = {key: tuple(values) for key, values in head["options"]["filters"].items()}
    plan = make_plan(experiment, workloads, filters, seed=head["seed"], extended=head["options"]["extended"])
    known = set(head["options"]["path_ids"])
    now = {planned.path.id for planned in plan.paths}
    if now != known:
        gone = sorted(known - now)
        raise UsageError(
            f"this run cannot go on: {len(gone)} of its paths can no longer run here"
            if gone
            else "this run cannot go on: other paths would run now",
            f"rowpath doctor; what was measured: rowpath show {directory}",
        )
    progress = make_progress(quiet, color)
    scrubber = Scrubber()
    journal = Journal(run_directory, scrubber)  # with its lock: the run may still be going on
    build_for(plan, progress)
    shutil.rmtree(run_directory.work, ignore_errors=True)
    run_directory.work.mkdir(mode=0o700)
    journal.write("resumed", started=datetime.now(UTC).isoformat(timespec="seconds"))
    options = {"timeout_s": timeout_s, "restart_servers": head["options"]["restart_servers"]}
    return _execute(plan, run_directory, journal, scrubber, progress, options, done)


def _execute(
    plan: Plan,
    directory: RunDirectory,
    journal: Journal,
    scrubber: Scrubber,
    progress: Progress,
    options: dict[str, Any],
    done: Done,
    measure: bool = True,
) -> Outcome:
    schedule = Schedule(plan, directory, journal, scrubber, progress, done=done, **options)
    progress.begin(estimate_s(plan), [planned.name for planned in plan.paths])
    interrupted = False
    try:
        schedule.run(measure)
    except KeyboardInterrupt:
        interrupted = True
    finally:
        outcome = "interrupted" if interrupted or sys.exc_info()[0] else "complete"
        journal.write("end", outcome=outcome)
        journal.close()
    return Outcome(directory, analyse(directory.path), interrupted)


def write_head(journal: Journal, plan: Plan, options: dict[str, Any], command: list[str] | None = None) -> None:
    """Write the records that begin a run: the experiment, the machine, the paths, what was dropped and why."""
    experiment = msgspec.to_builtins(plan.experiment)
    journal.write(
        "run",
        schema_version=SCHEMA_VERSION,
        rowpath=__version__,
        started=datetime.now(UTC).isoformat(timespec="seconds"),
        command=command or ["rowpath", *sys.argv[1:]],
        experiment=experiment,
        workloads=msgspec.to_builtins(plan.workloads),
        options=options
        | {
            "filters": plan.filters,
            "extended": plan.extended,
            "path_ids": [planned.path.id for planned in plan.paths],
        },
        seed=plan.seed,
        environment=describe.describe(),
        means=counters.probe(),
    )
    write_paths(journal, plan.paths)
    for dropped in plan.dropped:
        journal.write(
            "dropped",
            coordinates=dropped.path.as_dict(),
            name=dropped.path.id,
            reason=dropped.reason,
            remedy=dropped.remedy,
            status=dropped.status,
        )
    for path_id, name, reason in plan.unserved:
        workload, _, phase = name.partition(".")
        where = {"set": -1, "path_id": path_id, "workload": workload, "phase": phase}
        journal.write("failure", **where, status="unsupported", kind="unsupported", code="", text=reason)


def write_paths(journal: Journal, paths: Iterable[PlannedPath]) -> None:
    """Write the paths whose figures will follow."""
    for planned in paths:
        journal.write(
            "path",
            path_id=planned.path.id,
            name=planned.name,
            coordinates=planned.path.as_dict(),
            comparison=planned.comparison,
            lines_of_code=lines_of_code(planned.adapter),
            confounded=planned.adapter.confounded,
        )


def _what_is_done(samples: Path) -> tuple[dict[str, Any], Done, bool]:
    head: dict[str, Any] = {}
    done = Done()
    complete = False
    with samples.open("rb") as lines:
        for line in lines:
            try:
                record = json.loads(line)
            except ValueError:
                continue
            kind = record.get("record")
            if kind == "run":
                head = record
            elif kind == "set-end":
                done.sets.add((record["group"], record["set"]))
            elif kind == "proven":
                done.proven.add(record["path_id"])
                done.bad[record["path_id"]] = record["bad"]
            elif kind == "end":
                complete = record["outcome"] == "complete"
    if not head:
        raise UsageError(f"{samples} has no head: the run was killed before it began", "start it anew with rowpath run")
    return head, done, complete


def verify(
    name: str | None,
    filters: dict[str, tuple[str, ...]],
    *,
    extended: bool,
    directory: Path | None,
    quiet: bool,
    timeout_s: float,
    verbose: bool,
    console: Console,
) -> int:
    """One cheap pass over every path; 1 when one is wrong or failed."""
    if name is None:
        plan = checked_plan(everything(), filters, extended=True, seed=1)
    else:
        plan = plan_for(name, filters, extended=extended, sets=None, warm_cap_s=None, seed=1)
    run_directory = RunDirectory(directory or new_name("verify"))
    progress = make_progress(quiet, "auto")
    disk_estimate.announce(plan, run_directory.path, progress.note)
    run_directory.create()
    scrubber = Scrubber()
    journal = Journal(run_directory, scrubber)
    options = {"timeout_s": timeout_s, "restart_servers": False}
    write_head(journal, plan, options)  # before building, so that a run stopped there can be resumed too
    build_for(plan, progress)
    outcome = _execute(plan, run_directory, journal, scrubber, progress, options, Done(), measure=False)
    from rowpath.report import verification

    wrong = verification.render(run_directory.samples, console, verbose=verbose)
    return 130 if outcome.interrupted else 1 if wrong else 0


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
        own: dict[str, str | tuple[str, ...]] = {key: "*" for key in adapter.coordinates if key not in BESIDE}
        paths.append(Selection(select=driver | stars | own))
        beside = [key for key in BESIDE if key in adapter.coordinates or key in ("version", "engine_version")]
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


def make_progress(quiet: bool, color: str) -> Progress:
    """The watcher of a run: live in a terminal, lines elsewhere, nothing with --quiet; always on stderr."""
    if quiet:
        return Silent()
    from rowpath.report.live import make

    return make(color)
