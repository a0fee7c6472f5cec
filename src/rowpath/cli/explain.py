"""`rowpath explain`: where the time of an operation goes, of an experiment, of a run, or of a query of one's own."""

from __future__ import annotations

import argparse
import dataclasses
import shutil
import sys
from collections.abc import Callable, Generator
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

from rowpath.analysis.analyse import analyse
from rowpath.cli import explain_flames
from rowpath.cli.plan import plan_for
from rowpath.cli.words import Filters
from rowpath.cli.words import filters as filters_of
from rowpath.errors import RowpathError, UsageError
from rowpath.explain import own_query
from rowpath.explain.explain import After, explained
from rowpath.journal import FILE as JOURNAL
from rowpath.journal.reader import read_as_written
from rowpath.journal.records import ExplanationRecord
from rowpath.journal.writer import Journal, RunDirectory, Scrubber, new_name
from rowpath.machine import processes
from rowpath.model.explanation import Explanation
from rowpath.own_database.question import ProbeOptions, question_of
from rowpath.own_database.target import named_file
from rowpath.planning.make_plan import make_plan
from rowpath.planning.plan import Plan
from rowpath.report import explanation, html, live
from rowpath.report.console import make_console

MOST_PATHS = own_query.MOST_PATHS
FILE = "explanation.json"
SAME_CORE: Filters = {"placement": ("same",)}


Report = Callable[[str], None]


@dataclass(frozen=True)
class Source:
    """Where explanations come from, and where they go."""

    directory: RunDirectory
    explanations: Callable[[Report, Report, After | None], Generator[Explanation]]  # note, failed, after each
    keep: Callable[[list[Explanation]], None]  # called with all so far after each
    kept: str  # where, for the user
    own: bool = True  # whether the directory was made for them


def run(options: argparse.Namespace) -> int:
    """Each path that words and filters name; 1 when one failed. Errors: UsageError for what cannot be explained."""
    if not options.words:
        raise UsageError("no experiment given", "rowpath explain tour engine=postgresql language=c")
    if options.blocks < 1:
        raise UsageError(f"invalid --blocks {options.blocks}: expected 1 or more", "--blocks 5")
    against = explain_flames.parse_against(options.against, options.words[0], flame=options.flame)
    source = _source(options.words, filters_of(options), against, options)
    found: list[Explanation] = []
    failures: list[str] = []
    console, progress = make_console(options.color), live.make(options.quiet, options.color)
    flames = explain_flames.Flames(source.directory, progress.note, against)
    after = flames.take if options.flame else None
    try:
        with closing(source.explanations(progress.note, failures.append, after)) as explanations:
            for one in explanations:
                found.append(one)
                source.keep(found)
                explanation.show(one, console, how=options.how)
                flames.show(console)
                console.print()
        flames.show_differences(console)
    except RowpathError:
        if source.own and not found:
            shutil.rmtree(source.directory.path, ignore_errors=True)
        raise
    except KeyboardInterrupt:
        kept = f"\n\nhint: the results so far are kept: {source.kept}" if found else ""
        print(f"\nerror: interrupted{kept}", file=sys.stderr)
        return 130
    finally:
        processes.stop_all()
        shutil.rmtree(source.directory.work, ignore_errors=True)
    if found:
        console.print(f"all figures: {source.kept}", soft_wrap=True, highlight=False)
    for failure in failures:
        print(f"error: {failure}", file=sys.stderr)
    return 1 if failures else 0


def _source(words: list[str], filters: Filters, against: Filters, options: argparse.Namespace) -> Source:
    first, *names = words
    has_query = any((options.query, options.query_file, options.table))
    if "://" in first or first.startswith("jdbc:") or (has_query and named_file(first)):
        if names:
            raise UsageError(f"unexpected '{names[0]}' after a database", "rowpath explain URL --query SQL")
        if against:
            raise UsageError("--against compares paths of an experiment or a run", "name both: result=whole,single-row")
        return _of_query(first, filters, options)
    if has_query:
        raise UsageError(f"--query needs a database's URL or file, not '{first}'", "rowpath explain URL --query SQL")
    if filters.get("placement", ("same",)) != ("same",):
        raise UsageError(
            "explain needs client and server on one core: on two their times overlap and do not add up",
            f"rowpath explain {first}",
        )
    if (Path(first) / JOURNAL).is_file():
        return _of_run(Path(first), names, filters, against, options)

    def planned(filters: Filters) -> Plan:
        return plan_for(first, filters | SAME_CORE, extended=options.all, seed=1)

    plan = _with_counterparts(chosen(planned(filters), names, options.phase), filters, against, planned)
    return _of_plan(plan, _new_directory(options), options)


def _with_counterparts(plan: Plan, filters: Filters, against: Filters, planned: Callable[[Filters], Plan]) -> Plan:
    if not against:
        return plan
    return explain_flames.with_counterparts(plan, planned(explain_flames.widened(filters, against)), against)


def _new_directory(options: argparse.Namespace) -> RunDirectory:
    directory = RunDirectory(options.directory or new_name("explain"))
    directory.create()
    return directory


def _of_query(url: str, filters: Filters, options: argparse.Namespace) -> Source:
    """The user's own query, on the database that the URL names."""
    names = [field.name for field in dataclasses.fields(ProbeOptions) if hasattr(options, field.name)]
    given = {name: getattr(options, name) for name in names}
    given |= {"url": url, "budget_s": options.timeout}
    given |= {"languages": filters.get("language", ()), "drivers": filters.get("driver", ())}
    wanted = ProbeOptions(**given)
    question = question_of(wanted)  # a mistake leaves no directory behind
    directory = _new_directory(options)
    return Source(
        directory,
        lambda note, failed, after: own_query.explained(
            question, wanted, filters, directory, note, failed, options.blocks, after, hops=options.hops
        ),
        lambda found: _write(directory.path / FILE, found),
        str(directory.path / FILE),
    )


def _of_plan(plan: Plan, directory: RunDirectory, options: argparse.Namespace) -> Source:
    """Paths of an experiment."""
    return Source(
        directory,
        lambda note, failed, after: explained(
            plan, directory, note, failed, options.timeout, options.blocks, after, hops=options.hops
        ),
        lambda found: _write(directory.path / FILE, found),
        str(directory.path / FILE),
    )


def _of_run(path: Path, names: list[str], filters: Filters, against: Filters, options: argparse.Namespace) -> Source:
    """Paths of a run that has ended: what is found goes into its journal and its page.

    Without a path named, the fastest of each phase that reads.
    """
    records = read_as_written(path)
    if records.probe:
        raise UsageError(f"{path} is the run of a probe, which keeps no password", "rowpath explain URL --query SQL")
    if records.outcome != "complete":
        raise UsageError(f"the run in {path} has not ended", f"rowpath run --resume {path}")
    if options.directory:
        raise UsageError(
            "-o is not available here: explanations of a run stay in its directory", f"rowpath explain {path}"
        )
    head = records.run
    of_run = {key: tuple(values) for key, values in head.options["filters"].items()}

    def planned(filters: Filters) -> Plan:
        requested = of_run | filters | SAME_CORE
        return make_plan(head.experiment, head.workloads, requested, seed=head.seed, extended=head.options["extended"])

    plan = planned(filters)
    if not names and not filters:
        fastest = _fastest(path, plan, options.phase)
        names = list(fastest)
        plan = replace(plan, paths=tuple(replace(one, phases=fastest.get(one.name, one.phases)) for one in plan.paths))
    directory = RunDirectory(path)
    plan = _with_counterparts(chosen(plan, names, options.phase), of_run | filters, against, planned)
    source = _of_plan(plan, directory, options)
    directory.work.mkdir(mode=0o700, exist_ok=True)

    def keep(found: list[Explanation]) -> None:
        journal = Journal(directory, Scrubber(), records)
        try:
            journal.write(ExplanationRecord(found[-1]))
        finally:
            journal.close()
        html.write(analyse(path), directory.report)

    return replace(source, keep=keep, kept=str(directory.report), own=False)


def _fastest(path: Path, plan: Plan, phase: str) -> dict[str, tuple[str, ...]]:
    """The fastest path of each phase that can be explained, by name with its phases."""
    can = {planned.name for planned in plan.paths if not planned.path.is_null}
    found: dict[str, tuple[str, ...]] = {}
    for each in analyse(path).answer.phases:
        name = f"{each.workload}.{each.phase}"
        best = next((bar.name for bar in each.bars if bar.name in can), None)
        if best and name in plan.experiment.phases and not plan.phase(name).writes and phase in ("", name):
            found[best] = (*found.get(best, ()), name)
    return found


def _write(file: Path, found: list[Explanation]) -> None:
    file.write_bytes(msgspec.json.format(msgspec.json.encode(found)) + b"\n")


def chosen(plan: Plan, names: list[str], phase: str = "") -> Plan:
    """The plan with only the paths and phases named, or with all that read; UsageError where nothing is left."""
    phases = plan.experiment.phases
    again = f"rowpath explain {plan.experiment.name}"
    reads = tuple(name for name in phases if not plan.phase(name).writes)
    wanted = dict.fromkeys([*([phase] if phase else []), *(name for name in names if name in phases)])
    named = {name for name in names if name not in phases}
    for name in wanted:
        if name not in phases:
            raise UsageError(f"unknown phase '{name}' of {plan.experiment.name}", f"{again} {(reads or phases)[0]}")
        if name not in reads:
            hint = f"{again} {reads[0]}" if reads else "rowpath explain tour"
            raise UsageError(f"{name} writes: explain takes only phases that read", hint)
    if not reads:
        what = f"every phase of {plan.experiment.name} writes: explain takes only phases that read"
        raise UsageError(what, "rowpath explain tour")
    reads = tuple(wanted) or reads
    paths = [one for one in plan.paths if not one.path.is_null and set(reads) & set(one.phases)]
    if unknown := named - {one.name for one in paths}:
        what = f"unknown path '{min(unknown)}' of {plan.experiment.name}"
        raise UsageError(what, f"rowpath run {plan.experiment.name} --plan")
    paths = [one for one in paths if not named or one.name in named]
    if not paths:
        raise UsageError(
            f"no path with an engine has {' or '.join(reads)}", f"rowpath run {plan.experiment.name} --plan"
        )
    if len(paths) > MOST_PATHS:
        first = paths[0].path
        raise UsageError(
            f"{len(paths)} paths match: explain takes at most {MOST_PATHS}, at about 15 s per path and phase",
            f"{again} engine={first.engine} language={first.language}",
        )
    for planned in paths:
        if planned.path.clients > 1 or planned.path.threads > 1:
            busy = f"{planned.name} has several threads at work: their times do not add up"
            raise UsageError(busy, f"{again} clients=1 threads=1")
    experiment = msgspec.structs.replace(plan.experiment, phases=reads)
    return replace(plan, experiment=experiment, paths=tuple(paths))
