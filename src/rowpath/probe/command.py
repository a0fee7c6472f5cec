"""What `rowpath probe` does, from a URL and a query to the report."""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import msgspec

from rowpath import text as fmt
from rowpath.analysis.analyse import analyse
from rowpath.analysis.model import Analysis
from rowpath.engines import ENGINES
from rowpath.errors import UsageError
from rowpath.execution.run import RunOutcome
from rowpath.journal.records import EndRecord
from rowpath.journal.writer import Journal, RunDirectory, Scrubber, new_name
from rowpath.machine import counters, cpus
from rowpath.model.path import Dropped
from rowpath.model.progress import Progress
from rowpath.model.workload import Phase
from rowpath.planning.plan import PlannedPath
from rowpath.probe import eligibility, parameters, process_list
from rowpath.probe.access import open_access
from rowpath.probe.budget import Budget
from rowpath.probe.candidates import Candidates, Wanted, candidates
from rowpath.probe.options import ProbeOptions
from rowpath.probe.parameters import KeyedQuery
from rowpath.probe.placeholders import placeholders, refuse_unbound
from rowpath.probe.query_check import check_query
from rowpath.probe.run import ProbeRun
from rowpath.probe.target import Target, read_target
from rowpath.runners.manifest import build

LEAST_CONNECTIONS = 2
BUSY_SHARE = 0.5  # of the time, at most, on a server that is not ours


def query_of(options: ProbeOptions, target: Target) -> str:
    """The query's text; empty for a file, which is read whole. UsageError unless exactly one option names it."""
    given = [name for name in ("query", "query_file", "table") if getattr(options, name)]
    if target.deployment == "file":
        if given:
            raise UsageError(
                f"--{given[0].replace('_', '-')}: not available for a file, which is read whole",
                f"rowpath probe {target.shown}",
            )
        return ""
    if len(given) != 1:
        what = "more than one query given" if given else "no query given"
        hint = f'rowpath probe {target.shown} --query "SELECT …", or --query-file FILE, or --table NAME'
        raise UsageError(what, hint)
    if options.table:
        return f"SELECT * FROM {options.table}"
    text = text_of(options.query_file) if options.query_file else options.query
    return text.strip().rstrip(";").rstrip()


def text_of(query_file: Path) -> str:
    """What the file holds. Errors: UsageError."""
    try:
        return query_file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read {query_file}: {error}", "--query-file FILE, in UTF-8") from error


def limited(sql: str, engine: str, max_rows: int | None) -> str:
    """The query as it is sent; UsageError where the engine's dialect is unknown or a file is read.

    The engine itself stops after `max_rows`: a driver that takes a whole result first could not stop any other way.
    """
    facts = ENGINES[engine].probe
    if max_rows is None or facts.row_limit_statement:
        return sql
    if not facts.row_limit:
        raise UsageError(f"--max-rows {max_rows}: not available for {engine}", "put the limit into the query")
    return f"SELECT * FROM (\n{sql}\n) AS limited {facts.row_limit.format(rows=max_rows)}"


def keyed_by_options(sql: str, engine: str, options: ProbeOptions) -> KeyedQuery | None:
    """The query with the parameters of the command line; None without, or where a query is to deliver them.

    Errors: UsageError unless they fit.
    """
    if not parameters.wanted(options):
        if sql:
            refuse_unbound(sql, engine)
        return None
    if not sql:
        raise UsageError("a file is read whole: it takes no parameters", "remove --param, --params and --params-from")
    if options.params_query:
        check_query(options.params_query, engine)
        placeholders(sql, engine)
        return None
    return parameters.keyed(sql, engine, parameters.rows_by_options(options))


@dataclass(frozen=True)
class Question:
    """What the options ask, read and checked, before anything is connected."""

    target: Target
    phase: Phase  # the query as it is sent
    keyed: KeyedQuery | None
    scrubber: Scrubber


def question_of(options: ProbeOptions, environment: Mapping[str, str] = os.environ) -> Question:
    """The query and the database that the options name. Errors: UsageError."""
    target = read_target(options.url, environment, jar=options.jar, odbc_driver=options.odbc_driver)
    process_list.hide(target.secrets())
    sql = query_of(options, target)
    if sql:
        check_query(sql, target.engine)
    if options.max_rows is not None and options.max_rows < 1:
        raise UsageError(f"invalid --max-rows {options.max_rows}: expected 1 or more", "--max-rows 1000")
    limited_sql = limited(sql, target.engine, options.max_rows)
    keyed_query = keyed_by_options(limited_sql, target.engine, options)
    scrubber = Scrubber()
    for secret in target.secrets():
        scrubber.add(secret)
    if options.redact_query:
        scrubber.add(sql)  # drivers may quote it in their messages
    if options.params_query and options.redact_query:
        scrubber.add(options.params_query)
    phase = Phase("query", "query", limited_sql or target.shown, scan=target.deployment == "file")
    return Question(target, phase, keyed_query, scrubber)


def connected(
    question: Question,
    planned: Iterable[PlannedPath],
    options: ProbeOptions,
    directory: RunDirectory,
    note: Callable[[str], None],
    cleanup: ExitStack,
) -> dict[str, Any]:
    """What a ProbedQuery is made of: runners are built, the database is open until `cleanup`. Errors: RowpathError."""
    target, keyed_query = question.target, question.keyed
    planned = list(planned)
    build([(p.adapter, p.path.version) for p in planned], note, [p.path for p in planned])
    note(f"{'connecting to' if target.deployment == 'server' else 'opening'} {target.shown}")
    access = cleanup.enter_context(open_access(target, options, directory.work, asker(sys.stdin.isatty())))
    cpus.usable()
    os.sched_setaffinity(0, cpus.controller_cpus())
    sql = question.phase.sql if target.deployment != "file" else ""
    if options.params_query:
        rows = access.parameter_rows_of(options.params_query, directory.work / "parameters.kept")
        keyed_query = parameters.keyed(sql, target.engine, rows)
    return {
        "access": access,
        "sql": keyed_query.placeholders.sql if keyed_query else sql,
        "keyed": keyed_query,
        "budget": Budget(options.budget_s, BUSY_SHARE if target.deployment == "server" else 1.0),
        "options": options,
        "directory": directory,
        "scrubber": question.scrubber,
    }


def check_connections(options: ProbeOptions) -> None:
    """Errors: UsageError when there are too few."""
    if options.connections < LEAST_CONNECTIONS:
        raise UsageError(
            f"invalid --connections {options.connections}: expected 2 or more, so that paths can alternate",
            "--connections 2",
        )


def probe(
    options: ProbeOptions,
    progress: Progress,
    kind: type[ProbeRun] = ProbeRun,
    *,
    environment: Mapping[str, str] = os.environ,
    say: Callable[[str], None] = lambda text: print(text, file=sys.stderr),
) -> tuple[RunOutcome, Analysis]:
    """Probe, and leave a run directory; `kind` decides what is done with each candidate. Errors: RowpathError.

    `environment`: where passwords may be. `say` gets a line before anything is done.
    """
    check_connections(options)
    question = question_of(options, environment)
    found = candidates_of(question.target, question.phase, options)
    say(announcement(question.target, found, options))
    counters.probe()
    directory = RunDirectory(options.directory or new_name("probe"))
    directory.create()
    journal = Journal(directory, question.scrubber)
    planned = [*found.paths, *found.floors]
    with ExitStack() as cleanup:
        cleanup.callback(forget_unbegun, directory)
        cleanup.callback(shutil.rmtree, directory.work, ignore_errors=True)
        cleanup.callback(journal.close)
        cleanup.callback(progress.end)
        made = connected(question, planned, options, directory, progress.note, cleanup)
        seed = options.seed if options.seed is not None else time.time_ns() % 1_000_000_007
        probing = kind(found=found, journal=journal, progress=progress, seed=seed, **made)
        interrupted = probing.run(_command(options, question.target))
        journal.write(EndRecord("interrupted" if interrupted else "complete"))
        analysis = analyse(directory.path, write_snippets=probing.write_snippets)
    return RunOutcome(directory, interrupted), analysis


def forget_unbegun(directory: RunDirectory) -> None:
    """Remove a run directory in which nothing was begun."""
    if not directory.samples.is_file() or not directory.samples.stat().st_size:
        shutil.rmtree(directory.path, ignore_errors=True)


def candidates_of(target: Target, phase: Phase, options: ProbeOptions) -> Candidates:
    """What can be tried. Errors: UsageError when nothing can."""
    found = candidates(
        Wanted(
            target.engine,
            target.deployment,
            phase,
            transport=target.transport,
            tls=target.tls,
            languages=options.languages,
            drivers=options.drivers,
            version=str(target.driver_file) if target.driver_file else "",
            read_only=eligibility.read_only(target, options.in_place),
            keyed=parameters.wanted(options),
            mine=options.mine,
        )
    )
    if found.paths:
        return replace(found, dropped=tuple(_there(each, options.from_host) for each in found.dropped))
    if found.dropped:
        first = found.dropped[0]
        raise UsageError(
            f"no driver for {target.engine} can run here: {first.reason}", first.remedy or "rowpath doctor"
        )
    raise UsageError(f"no driver fits for {target.shown}", "rowpath list drivers")


def _there(dropped: Dropped, host: str) -> Dropped:
    """The dropped path, its reason named with the host that lacks something."""
    if not host or not dropped.remedy:
        return dropped
    return msgspec.structs.replace(dropped, reason=f"on host {host}: {dropped.reason}")


def announcement(target: Target, found: Candidates, options: ProbeOptions) -> str:
    """One line about what will be done."""
    drivers = len({(p.adapter.language, p.adapter.driver) for p in found.paths})
    access = (
        f"at most {options.connections} connections, each block one read-only transaction, "
        "busy for at most half of the time"
        if target.deployment == "server"
        else "read only"
    )
    return (
        f"probing {target.shown}{options.from_words}: {drivers} drivers in {len(found.paths)} settings, {access}, "
        f"until decided, at most {fmt.clock(options.budget_s).removesuffix(' 00 s')}"
    )


def asker(interactive: bool) -> Callable[[str], bool]:
    """What puts a question on the terminal; without a terminal the answer is no."""

    def ask(question_of: str) -> bool:
        if not interactive:
            return False
        print(f"{question_of} [y/N] ", end="", file=sys.stderr, flush=True)
        return sys.stdin.readline().strip().lower() in ("y", "yes")

    return ask


def _command(options: ProbeOptions, target: Target) -> list[str]:
    """The command line as it may be kept: the URL without secrets, the query only where that was not forbidden."""
    words = ["rowpath", *sys.argv[1:]]
    redacted = [("--query", options.query), ("--params-from", options.params_query)]
    redacted += [("--param", each) for each in options.params]
    hidden = {options.url: target.shown}
    for name, text in redacted if options.redact_query else ():
        hidden |= {text: "…", f"{name}={text}": f"{name}=…"} if text else {}
    return [hidden.get(word, word) for word in words]
