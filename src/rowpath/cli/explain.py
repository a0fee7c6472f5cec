"""`rowpath explain`: where the time of an operation goes, of an experiment, of a run, or of a query of one's own."""

from __future__ import annotations

import argparse
import dataclasses
import re
import shutil
import sys
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rowpath.cli import options as shared
from rowpath.cli.options import WILL_RUN, Filters, add_option
from rowpath.errors import RowpathError, UsageError

if WILL_RUN:
    import msgspec
    from rich.console import Console

    from rowpath import text as fmt
    from rowpath.analysis.analyse import analyse
    from rowpath.cli.plan import plan_for
    from rowpath.execution.prepared_phases import PreparedPhase
    from rowpath.execution.worker import Worker
    from rowpath.explain import flames, own_query
    from rowpath.explain.explain import After, explained
    from rowpath.explain.flames import Sampled
    from rowpath.journal import FILE as JOURNAL
    from rowpath.journal.reader import Records, read_as_written
    from rowpath.journal.records import ExplanationRecord
    from rowpath.journal.writer import Journal, RunDirectory, new_name
    from rowpath.machine import processes
    from rowpath.model.explanation import Explanation, Flame
    from rowpath.model.path import AccessPath
    from rowpath.model.workload import PhaseName, with_columns
    from rowpath.own_database.named_files import named_file
    from rowpath.own_database.question import ProbeOptions, question_of
    from rowpath.planning.make_plan import make_plan
    from rowpath.planning.plan import Plan, PlannedPath
    from rowpath.report import explanation, flame_graph, html, live, otlp, speedscope
    from rowpath.report.console import make_console
    from rowpath.report.exports import open_export
    from rowpath.report.otlp import Traced
    from rowpath.runners.process import RunnerFailure
    from rowpath.scrubber import Scrubber

FILE = "explanation.json"
SAME_CORE: Filters = {"placement": ("same",)}
Report = Callable[[str], None]
SPELLED = {"#": "-sharp", "+": "-plus", "*": "-star"}
NEVER_COMPARED = ("version", "engine_version", "label")  # they follow from what else differs


def add(parser: argparse.ArgumentParser) -> None:
    """The options of `explain`."""
    shared.add_selection(
        parser,
        "EXPERIMENT, RUN, URL, FILE, PATH, PHASE or COORDINATE=VALUE",
        "an experiment, a run directory, or a database's URL or file with --query; then which paths: "
        "filters such as engine=postgresql, or names of paths and phases",
    )
    shared.add_query(parser)
    shared.add_own_database(parser)
    add_option(parser, "--phase PHASE", "only this phase (default: all phases that read)")
    blocks = "number of one-second blocks; as many again are profiled (default 5)"
    add_option(parser, "-b --blocks N", blocks, type=int, default=5)
    add_option(parser, "--how", "also show which clock measured each part")
    graphs = "leave out the flame graphs; saves some seconds"
    add_option(parser, "--no-flame", graphs, dest="flame", action="store_false")
    hops = "leave out the hops between client and server; they need a restart of Rowpath's own servers"
    add_option(parser, "--no-hops", hops, dest="hops", action="store_false")
    counterparts = "also explain each path with this value instead, and show what differs"
    add_option(parser, "--against COORDINATE=VALUE", counterparts, nargs="+", default=[])
    traces = "also write each operation as an OpenTelemetry trace, a span for each hop (OTLP as JSON; '-' = stdout)"
    add_option(parser, "--otlp FILE", traces)
    shared.add_out(parser, "explain")
    shared.add_shared(parser, "--timeout", "-q --quiet", "--color")


@dataclass(frozen=True)
class Explanations:
    """Where explanations come from, and where they go: into a file, or of a run's paths into its journal and page."""

    directory: RunDirectory
    explanations: Callable[[Report, Report, After | None], Generator[Explanation]]  # note, failed, after each
    traced: Callable[[Explanation, int], Traced]  # with its statement, and when it ended
    records: Records | None = None  # of the run

    @property
    def kept(self) -> str:
        """Where they are, for the user."""
        return str(self.directory.report if self.records else self.directory.path / FILE)

    def keep(self, explanations: list[Explanation]) -> None:
        """Write all so far, after each."""
        if self.records is None:
            content = msgspec.json.format(msgspec.json.encode(explanations)) + b"\n"
            (self.directory.path / FILE).write_bytes(content)
            return
        journal = Journal(self.directory, Scrubber(), self.records)
        try:
            journal.write(ExplanationRecord(explanations[-1]))
        finally:
            journal.close()
        html.write(analyse(self.directory.path), self.directory.report)


def run(options: argparse.Namespace) -> int:
    """Each path that words and filters name; 1 when one failed. Errors: UsageError for what cannot be explained."""
    if not options.words:
        raise UsageError("no experiment given", "rowpath explain tour engine=postgresql language=c")
    if options.blocks < 1:
        raise UsageError(f"invalid --blocks {options.blocks}: expected 1 or more", "--blocks 5")
    against = parse_against(options.against, options.words[0], flame=options.flame)
    source = _source(options.words, shared.filters_of(options), against, options)
    done: list[Explanation] = []
    traces: list[Traced] = []
    failures: list[str] = []
    otlp_file = open_export(options.otlp) if options.otlp else None
    console = make_console(options.color, options.otlp == "-")
    progress = live.make(options.quiet, options.color)
    flames = Flames(source.directory, progress.note, against)
    after = flames.take if options.flame else None
    try:
        with closing(source.explanations(progress.note, failures.append, after)) as explanations:
            for one in explanations:
                done.append(one)
                traces.append(source.traced(one, time.time_ns()))
                source.keep(done)
                explanation.show(one, console, how=options.how)
                flames.show(console)
                console.print()
        flames.show_differences(console)
    except RowpathError:
        if source.records is None and not done:
            shutil.rmtree(source.directory.path, ignore_errors=True)
        raise
    except KeyboardInterrupt:
        kept = f"\n\nhint: the results so far are kept: {source.kept}" if done else ""
        print(f"\nerror: interrupted{kept}", file=sys.stderr)
        return 130
    finally:
        if otlp_file is not None:
            otlp.write(traces, otlp_file)
        processes.stop_all()
        shutil.rmtree(source.directory.work, ignore_errors=True)
    if done:
        console.print(f"all figures: {source.kept}", soft_wrap=True, highlight=False)
    for failure in failures:
        print(f"error: {failure}", file=sys.stderr)
    return 1 if failures else 0


def _source(words: list[str], filters: Filters, against: Filters, options: argparse.Namespace) -> Explanations:
    first, *names = words
    has_query = any((options.query, options.query_file, options.table))
    if "://" in first or first.startswith("jdbc:") or (has_query and ("=" in first or named_file(first))):
        if names:
            raise UsageError(f"unexpected '{names[0]}' after a database", "rowpath explain URL --query SQL")
        if against:
            raise UsageError("--against compares paths of an experiment or a run", "name both: result=whole,single-row")
        names = [field.name for field in dataclasses.fields(ProbeOptions) if hasattr(options, field.name)]
        given = {name: getattr(options, name) for name in names} | {"url": first, "budget_s": options.timeout}
        given |= {"languages": filters.get("language", ()), "drivers": filters.get("driver", ())}
        wanted = ProbeOptions(**given)
        question = question_of(wanted)  # a mistake leaves no directory behind
        directory = _new_directory(options)
        sql, target = "" if options.redact_query else question.phase.sql, question.target
        return Explanations(
            directory,
            lambda note, failed, after: own_query.explained(
                question, wanted, filters, directory, note, failed, options.blocks, after, hops=options.hops
            ),
            traced=lambda one, ended_ns: Traced(one, ended_ns, sql, target.host, target.port),
        )
    if has_query:
        raise UsageError(f"--query needs a database's URL or file, not '{first}'", "rowpath explain URL --query SQL")
    if filters.get("placement", ("same",)) != ("same",):
        what = "explain needs client and server on one core: on two their times overlap and do not add up"
        raise UsageError(what, f"rowpath explain {first}")
    if (Path(first) / JOURNAL).is_file():
        return _of_run(Path(first), names, filters, against, options)

    def planned(filters: Filters) -> Plan:
        return plan_for(first, filters | SAME_CORE, extended=options.all, seed=1)

    plan = chosen(planned(filters), names, options.phase)
    if against:
        plan = with_counterparts(plan, planned(widened(filters, against)), against)
    return _of_plan(plan, _new_directory(options), options)


def _new_directory(options: argparse.Namespace) -> RunDirectory:
    directory = RunDirectory(options.directory or new_name("explain"))
    directory.create()
    return directory


def _of_plan(plan: Plan, directory: RunDirectory, options: argparse.Namespace) -> Explanations:
    """Paths of an experiment."""
    return Explanations(
        directory,
        lambda note, failed, after: explained(
            plan, directory, note, failed, options.timeout, options.blocks, after, hops=options.hops
        ),
        traced=lambda one, ended_ns: Traced(one, ended_ns, _statement(plan, one), _host(one)),
    )


def _statement(plan: Plan, one: Explanation) -> str:
    """What the engine gets in this phase, with the names of columns."""
    phase, workload = plan.phase(one.phase), plan.workloads[PhaseName.of(one.phase).workload]
    return with_columns(workload, phase, phase.dialects.get(one.path["engine"], phase.sql))


def _host(one: Explanation) -> str:
    ours = one.hops is not None and one.hops.server_seen
    return "127.0.0.1" if ours and one.path.get("transport") == "tcp" else ""


def _of_run(
    path: Path, names: list[str], filters: Filters, against: Filters, options: argparse.Namespace
) -> Explanations:
    """Paths of a run that has ended: what is found goes into its journal and its page.

    Without a path named, the fastest of each phase that reads.
    """
    records = read_as_written(path)
    if records.of_own_database:
        raise UsageError(f"{path} is the run of a probe, which keeps no password", "rowpath explain URL --query SQL")
    if records.outcome != "complete":
        raise UsageError(f"the run in {path} has not ended", f"rowpath run --resume {path}")
    if options.directory:
        what = "-o is not available here: explanations of a run stay in its directory"
        raise UsageError(what, f"rowpath explain {path}")
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
    plan = chosen(plan, names, options.phase)
    if against:
        plan = with_counterparts(plan, planned(widened(of_run | filters, against)), against)
    directory.work.mkdir(mode=0o700, exist_ok=True)
    return replace(_of_plan(plan, directory, options), records=records)


def _fastest(path: Path, plan: Plan, phase: str) -> dict[str, tuple[str, ...]]:
    """The fastest path of each phase that can be explained, by name with its phases."""
    can = {planned.name for planned in plan.paths if not planned.path.is_null}
    fastest: dict[str, tuple[str, ...]] = {}
    for ranking in analyse(path).answer.phases:
        name = f"{ranking.workload}.{ranking.phase}"
        best = next((bar.name for bar in ranking.bars if bar.name in can), None)
        if best and name in plan.experiment.phases and not plan.phase(name).writes and phase in ("", name):
            fastest[best] = (*fastest.get(best, ()), name)
    return fastest


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
        what = f"no path with an engine has {' or '.join(reads)}"
        raise UsageError(what, f"rowpath run {plan.experiment.name} --plan")
    if len(paths) > own_query.MOST_PATHS:
        first, most = paths[0].path, f"at most {own_query.MOST_PATHS}, at about 15 s per path and phase"
        what = f"{len(paths)} paths match: explain takes {most}"
        raise UsageError(what, f"{again} engine={first.engine} language={first.language}")
    if busy := [one.name for one in paths if one.path.clients > 1 or one.path.threads > 1]:
        what = f"{busy[0]} has several threads at work: their times do not add up"
        raise UsageError(what, f"{again} clients=1 threads=1")
    experiment = msgspec.structs.replace(plan.experiment, phases=reads)
    return replace(plan, experiment=experiment, paths=tuple(paths))


class Flames:
    """Takes the stacks of each path, and shows where its flame graph is; nothing here stops an explanation."""

    def __init__(self, directory: RunDirectory, note: Callable[[str], None], against: Filters) -> None:
        """`against`: the coordinates of the paths that others are compared with."""
        self._directory = directory
        self._note = note
        self._against = against
        self._flames: list[Flame] = []
        self._lines: list[str] = []

    def take(
        self,
        worker: Worker,
        work: PreparedPhase,
        explanation: Explanation,
        way: Mapping[str, Any],
        client: Sampled | None,
    ) -> None:
        """Sample a path's stacks and write its files; what goes wrong is a line. `client`: what is sampled already."""
        self._note(f"sampling stacks of {explanation.name}, {explanation.phase}")
        try:
            flame = flames.flame(worker, work, explanation, way, self._directory.work, client)
            self._flames.append(flame)
            if flame.sides:
                page, scope = self._files(flame.name, flame.phase)
                flame_graph.write(flame, page)
                speedscope.write(flame, scope)
                self._lines.append(f"flame graph: {page}, and .speedscope.json")
            self._lines += [note for note in flame.notes if not flame.sides or ": no stacks: " in note]
        except RunnerFailure as failure:
            self._lines.append(f"no flame graph: {fmt.clean(failure.text)}")
        except RowpathError as error:
            self._lines.append(f"no flame graph: {error.message} ({error.hint})")

    def show(self, console: Console) -> None:
        """Print where the last path's graph is, or why there is none."""
        for line in self._lines:
            console.print(line, soft_wrap=True, highlight=False, markup=False)
        self._lines.clear()

    def show_differences(self, console: Console) -> None:
        """Compare each path with the one that is like it but for `against`; write the page, print what changed most."""
        for flame in self._flames if self._against else ():
            others = [one for one in self._flames if one.phase == flame.phase and _fits(one.path, self._against)]
            if not others or _fits(flame.path, self._against):
                continue
            before = max(others, key=lambda one: likeness(one.path, flame.path))
            console.print(flame_graph.sentence(flame, before), soft_wrap=True, highlight=False, markup=False)
            if flame.sides and before.sides:
                page, _scope = self._files(f"{flame.name}-against-{before.name}", flame.phase)
                flame_graph.write(flame, page, before)
                console.print(f"difference: {page}", soft_wrap=True, highlight=False, markup=False)
            console.print()

    def _files(self, name: str, phase: str) -> tuple[Path, Path]:
        stem = f"flame-{file_name(name)}-{file_name(phase)}"
        return self._directory.path / f"{stem}.html", self._directory.path / f"{stem}.speedscope.json"


def file_name(name: str) -> str:
    """A path's name as a part of a file's: `PostgreSQL-C-sharp-TCP`."""
    for sign, words in SPELLED.items():
        name = name.replace(sign, words)
    return re.sub(r"[^\w.-]+", "-", name).strip("-")


def likeness(one: Mapping[str, str], other: Mapping[str, str]) -> int:
    """How many coordinates two paths have in common."""
    return sum(one.get(key) == other.get(key) for key in {*one, *other} - {*NEVER_COMPARED})


def parse_against(words: list[str], experiment: str, *, flame: bool = True) -> dict[str, tuple[str, ...]]:
    """The coordinates of `--against`; `flame`: whether stacks are sampled. Errors: UsageError."""
    if words and not flame:
        raise UsageError("--against needs the flame graphs that --no-flame leaves out", f"rowpath explain {experiment}")
    for word in words:
        if not re.fullmatch(r"[^=]+=[^,]+", word):
            what = f"invalid --against '{word}': expected COORDINATE=VALUE"
            raise UsageError(what, f"rowpath explain {experiment} --against result=binary")
    return {key: (value,) for key, _, value in (word.partition("=") for word in words)}


def widened(filters: Filters, against: Filters) -> dict[str, tuple[str, ...]]:
    """Filters that keep what they kept and every path that one of these could be compared with."""
    return {key: tuple(dict.fromkeys((*values, *against.get(key, ())))) for key, values in filters.items()}


def with_counterparts(chosen: Plan, wide: Plan, against: Filters) -> Plan:
    """The chosen paths, and for each the one of the wide plan that differs from it only by `against`.

    Names are those of the wide plan, which tell all of them apart. Errors: UsageError where a path has none.
    """
    ids = {planned.path.id for planned in chosen.paths}
    kept = [planned for planned in wide.paths if planned.path.id in ids]
    fitting = [planned for planned in wide.paths if _fits(planned.path.as_dict(), against)]
    more: dict[str, PlannedPath] = {}
    for planned in kept:
        if _fits(planned.path.as_dict(), against):
            continue
        there = [one for one in fitting if set(one.phases) & set(planned.phases) & set(chosen.experiment.phases)]
        best = max(there, key=lambda one: likeness(one.path.as_dict(), planned.path.as_dict()), default=None)
        if best is None or not _differs_only(best.path, planned.path, against):
            words = " ".join(f"{key}={values[0]}" for key, values in against.items())
            what = f"no path of {chosen.experiment.name} differs from {planned.name} only in {words}"
            raise UsageError(what, f"rowpath run {chosen.experiment.name} --plan")
        more.setdefault(best.path.id, best)
    if not more:
        raise UsageError("--against selects the chosen paths themselves", "choose another value")
    paths = (*(one for one in more.values() if one.path.id not in ids), *kept)
    return replace(chosen, paths=paths)


def _fits(path: Mapping[str, str], against: Filters) -> bool:
    return all(path.get(key) in values for key, values in against.items())


def _differs_only(one: AccessPath, other: AccessPath, against: Filters) -> bool:
    """Whether nothing differs that does not follow from `against`: another driver may name other settings."""
    if against.keys() & {"driver", "language", "engine", "deployment"}:
        return True
    here, there = one.as_dict(), other.as_dict()
    return all(here.get(key) == there.get(key) for key in {*here, *there} - {*against, *NEVER_COMPARED})
