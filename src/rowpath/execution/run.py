"""A run from its plan to the end of its journal: a new one, or the rest of one that was interrupted."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rowpath import __version__
from rowpath.engines import ENGINES, taped
from rowpath.errors import UsageError
from rowpath.execution.run_options import RunOptions
from rowpath.execution.schedule import PathsToRepeat, Schedule
from rowpath.execution.several_hosts import HERE, Hosts
from rowpath.journal.reader import Records, read_as_written
from rowpath.journal.records import (
    DroppedRecord,
    EndRecord,
    FailureRecord,
    PathRecord,
    ResumedRecord,
    RunRecord,
    SourceRecord,
)
from rowpath.journal.writer import Journal, RunDirectory, new_name
from rowpath.machine import counters, describe
from rowpath.machine.describe import slowness
from rowpath.machine.directories import digest
from rowpath.model.choices import WAIT_FOR_QUIET_S
from rowpath.model.progress import Progress
from rowpath.planning import disk_estimate
from rowpath.planning.availability import most_round_trips
from rowpath.planning.estimate import estimate
from rowpath.planning.hosts import SeveralHosts
from rowpath.planning.make_plan import make_plan
from rowpath.planning.plan import Plan, PlannedPath
from rowpath.runners.manifest import build, language, tools
from rowpath.runners.source_lines import lines_of_code, own_source
from rowpath.runners.user_lines import lines_by_phase
from rowpath.scrubber import Scrubber
from rowpath.tape.format import read

HOSTS_OPTION, CLUSTER_OPTION = "hosts", "cluster"  # in the head of a run over several hosts: a file, or an address


class HostsOfRun(SeveralHosts, Hosts):
    """The hosts of a run, for planning and for execution."""


def hosts_of(directory: Path) -> Path | str | None:
    """The file of the hosts of a run that was begun, or the address of their cluster; None when it has none."""
    if not RunDirectory(directory).samples.is_file():
        return None
    options = read_as_written(directory).run.options
    named = options.get(HOSTS_OPTION)
    return Path(named) if named else options.get(CLUSTER_OPTION)


@dataclass
class RunOutcome:
    """A run that has ended."""

    directory: RunDirectory
    interrupted: bool


def build_for(plan: Plan, progress: Progress) -> None:
    """Bring runners and drivers of the plan's paths up to date."""
    here = [planned for planned in plan.paths if planned.path.client_host == "none"]
    build([(p.adapter, p.path.version) for p in here], progress.note, [p.path for p in here])


def run_plan(
    plan: Plan,
    options: RunOptions,
    *,
    directory: Path | None,
    progress: Progress,
    together: tuple[str, ...] = (),
    paths_to_repeat: PathsToRepeat | None = None,
    measure: bool = True,
    tape: Path | None = None,
    hosts: Hosts | None = None,
    hosts_source: Path | str | None = None,
) -> RunOutcome:
    """Run the plan into a new run directory; without `measure` only its verification pass.

    Without `paths_to_repeat` no set is added for intervals that are too wide. `tape`: what serves its paths.
    `hosts`: joined, those of `hosts_source`.
    """
    counters.probe()  # takes a moment: before there is a directory that an interruption would leave without a head
    run_directory = RunDirectory(directory or new_name(plan.experiment.name))
    disk_estimate.announce(plan, run_directory.path, progress.note)
    run_directory.create()
    scrubber = Scrubber()
    journal = Journal(run_directory, scrubber)
    # Before building, so that a run stopped there can be resumed too.
    head: dict[str, Any] = {"timeout_s": options.timeout_s, "restart_servers": options.restart_servers}
    head |= {"together": list(together), "tape": str(tape.resolve()) if tape else ""}
    if isinstance(hosts_source, Path):
        head[HOSTS_OPTION] = str(hosts_source.resolve())
    elif hosts_source is not None:
        head[CLUSTER_OPTION] = hosts_source
    write_head(journal, plan, head)
    build_for(plan, progress)
    how: dict[str, Any] = {"paths_to_repeat": paths_to_repeat, "hosts": hosts or HERE}
    schedule = Schedule(plan, options, run_directory, journal, scrubber, progress, **how)
    return _execute(schedule, measure)


@dataclass
class RestOfRun:
    """What is left of a run that was killed or interrupted."""

    directory: RunDirectory
    records: Records
    plan: Plan


def rest_of(directory: Path, hosts: HostsOfRun | None = None) -> RestOfRun | None:
    """The rest of a run as its directory says it; None where nothing is left. `hosts`: joined, those of its file.

    Errors: UsageError for a directory without a run, and for a run that cannot be resumed here.
    """
    run_directory = RunDirectory(directory)
    if not run_directory.samples.is_file():
        raise UsageError(f"{directory} is not a run directory: it has no samples.jsonl", "rowpath run NAME -o DIR")
    records = read_as_written(run_directory.path)
    head = records.run
    if records.outcome == "complete":
        return None
    if head.options.get("tape"):
        taped.put_in(read(Path(head.options["tape"])))
    filters = {key: tuple(values) for key, values in head.options["filters"].items()}
    extended = head.options["extended"]
    plan = make_plan(head.experiment, head.workloads, filters, seed=head.seed, extended=extended, hosts=hosts)
    known = set(head.options["path_ids"])
    now = {planned.path.id for planned in plan.paths}
    if now != known:
        gone = len(known - now)
        what = f"{gone} of its paths can no longer run here" if gone else "its paths would be different now"
        hint = f"rowpath doctor; see the results: rowpath show {directory}"
        raise UsageError(f"cannot resume this run: {what}", hint)
    return RestOfRun(run_directory, records, replace(plan, slowness=slowness()))


def resume(
    directory: Path,
    *,
    progress: Progress,
    timeout_s: float | None = None,
    wait_for_quiet_s: float = WAIT_FOR_QUIET_S,
    paths_to_repeat: PathsToRepeat | None = None,
    hosts: HostsOfRun | None = None,
) -> RunOutcome:
    """Resume a killed or interrupted run; finished sets are not repeated. `hosts`: joined, those of its file.

    `timeout_s`, where it is given, replaces the one that the run began with. Errors: those of `rest_of`.
    """
    rest = rest_of(directory, hosts)
    if rest is None:
        return RunOutcome(RunDirectory(directory), interrupted=False)
    began_with = rest.records.run.options
    options = RunOptions(
        timeout_s=began_with["timeout_s"] if timeout_s is None else timeout_s,
        wait_for_quiet_s=wait_for_quiet_s,
        restart_servers=began_with["restart_servers"],
    )
    scrubber = Scrubber()
    journal = Journal(rest.directory, scrubber, rest.records)  # with its lock: the run may still be going on
    build_for(rest.plan, progress)
    shutil.rmtree(rest.directory.work, ignore_errors=True)
    rest.directory.work.mkdir(mode=0o700)
    journal.write(ResumedRecord(datetime.now(UTC).isoformat(timespec="seconds")))
    how: dict[str, Any] = {"done": rest.records.done, "paths_to_repeat": paths_to_repeat, "hosts": hosts or HERE}
    schedule = Schedule(rest.plan, options, rest.directory, journal, scrubber, progress, **how)
    return _execute(schedule, measure=True)


def _execute(schedule: Schedule, measure: bool) -> RunOutcome:
    plan, journal = schedule.plan, schedule.journal
    schedule.progress.begin(estimate(plan, schedule.done.sets), [planned.name for planned in plan.paths])
    interrupted = False
    try:
        schedule.run(measure)
    except KeyboardInterrupt:
        interrupted = True
    finally:
        outcome = "interrupted" if interrupted or sys.exc_info()[0] else "complete"
        journal.write(EndRecord(outcome))
        journal.close()
    return RunOutcome(schedule.directory, interrupted)


def write_head(journal: Journal, plan: Plan, options: dict[str, Any], command: list[str] | None = None) -> None:
    """Write the records that begin a run: the experiment, the machine, the paths, what was dropped and why."""
    path_ids = [planned.path.id for planned in plan.paths]
    head = RunRecord(
        rowpath=__version__,
        started=datetime.now(UTC).isoformat(timespec="seconds"),
        command=command or ["rowpath", *sys.argv[1:]],
        experiment=plan.experiment,
        workloads=dict(plan.workloads),
        options=options | {"filters": plan.filters, "extended": plan.extended, "path_ids": path_ids},
        seed=plan.seed,
        environment=describe.describe(tools()),
        methods=counters.probe(),
    )
    journal.write(head)
    write_paths(journal, plan.paths)
    for dropped in plan.dropped:
        record = DroppedRecord(
            coordinates=dropped.path.as_dict(),
            name=dropped.path.id,
            reason=dropped.reason,
            remedy=dropped.remedy,
            status=dropped.status,
        )
        journal.write(record)
    for path_id, name, reason in plan.ineligible:
        journal.write(FailureRecord.of(-1, path_id, name, "unsupported", reason))


def write_paths(journal: Journal, paths: Iterable[PlannedPath]) -> None:
    """Write the paths whose figures will follow, each after the text of its adapter."""
    for planned in paths:
        own_lines, all_lines = lines_of_code(planned.adapter, planned.path.engine)
        source = own_source(planned.adapter, planned.path.engine)
        header = language(planned.adapter.language)
        name = f"{planned.adapter.language}/{source.parent.name}/{source.name}" if source else ""
        if source and source.is_file() and name not in journal.records.sources:
            journal.write(SourceRecord(file=name, text=source.read_text(encoding="utf-8")))
        record = PathRecord(
            path_id=planned.path.id,
            name=planned.name,
            coordinates=planned.path.as_dict(),
            comparison=planned.comparison,
            lines_of_code=own_lines,
            lines_of_code_closure=all_lines,
            user_lines=lines_by_phase(planned.adapter, planned.path, planned.phases),
            confounded=planned.adapter.confounded,
            stands_in=ENGINES[planned.path.engine].stands_in,
            shortest_operation_ns=header.shortest_operation_ns,
            lead_in_least_ns=header.lead_in_least_ns,
            durabilities=list(ENGINES[planned.path.engine].durabilities),
            server_stays=planned.path.served and ENGINES[planned.path.engine].server_warm_s > 0,
            most_round_trips=most_round_trips(planned.adapter, planned.path),
            driver_digest=digest(Path(planned.path.version)) if "/" in planned.path.version else "",
            source=name,
            language_title=header.title,
            language_baseline=header.baseline,
        )
        journal.write(record)
