"""What `rowpath probe` does, from a URL and a query to the report."""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack

import msgspec

from rowpath.analysis.analyse import analyse
from rowpath.analysis.model import Analysis
from rowpath.errors import UsageError
from rowpath.execution.run import Outcome
from rowpath.journal.records import EndRecord
from rowpath.journal.writer import Journal, RunDirectory, Scrubber, new_name
from rowpath.machine import counters, cpus
from rowpath.model.progress import Progress
from rowpath.model.workload import Phase
from rowpath.probe import eligibility, process_list
from rowpath.probe.access import Access, Rules, open_access
from rowpath.probe.budget import Budget
from rowpath.probe.candidates import Candidates, candidates
from rowpath.probe.options import ProbeOptions
from rowpath.probe.query_check import check_query
from rowpath.probe.row_limit import limited
from rowpath.probe.run import ProbeRun
from rowpath.probe.target import Target, read_target
from rowpath.runners.manifest import build

LEAST_BUDGET_S = 5.0
LEAST_CONNECTIONS = 2
BUSY_SHARE = 0.5  # of the time, at most, on a server that is not ours
SUFFIXES = {"ms": 0.001, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}


def seconds(text: str) -> float:
    """`60s`, `2min`, `90` as seconds; UsageError for anything else."""
    number = text.rstrip("abcdefghijklmnopqrstuvwxyz")
    suffix = text[len(number) :] or "s"
    try:
        found = float(number) * SUFFIXES[suffix]
    except (ValueError, KeyError):
        raise UsageError(f"invalid --budget '{text}': expected a time such as 60s", "--budget 60s, or 5min") from None
    if not LEAST_BUDGET_S <= found < float("inf"):
        raise UsageError(f"invalid --budget '{text}': expected at least {LEAST_BUDGET_S:g} s", "--budget 60s")
    return found


def query_of(options: ProbeOptions, target: Target) -> str:
    """The query's text; of a file's target empty, for it is read whole. UsageError unless it is said just once."""
    said = [name for name in ("query", "query_file", "table") if getattr(options, name)]
    if target.deployment == "file":
        if said:
            raise UsageError(
                f"--{said[0].replace('_', '-')}: not available for a file, which is read whole",
                f"rowpath probe {target.shown}",
            )
        return ""
    if len(said) != 1:
        what = "no query given" if not said else "more than one query given"
        raise UsageError(
            what, f'rowpath probe {target.shown} --query "SELECT …", or --query-file FILE, or --table NAME'
        )
    if options.table:
        return f"SELECT * FROM {options.table}"
    try:
        text = options.query or (options.query_file.read_text(encoding="utf-8") if options.query_file else "")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read {options.query_file}: {error}", "--query-file FILE, in UTF-8") from error
    return text.strip().rstrip(";").rstrip()


def probe(options: ProbeOptions, progress: Progress, kind: type[ProbeRun] = ProbeRun) -> tuple[Outcome, Analysis]:
    """Probe, and leave a run directory; `kind` says how candidates are gone through. Errors: RowpathError."""
    if options.connections < LEAST_CONNECTIONS:
        raise UsageError(
            f"invalid --connections {options.connections}: expected 2 or more, so that paths can alternate",
            "--connections 2",
        )
    target = read_target(options.url, os.environ, jar=options.jar, odbc_driver=options.odbc_driver)
    process_list.hide(target.secrets())
    sql = query_of(options, target)
    if sql:
        check_query(sql, target.engine)
    if options.max_rows is not None and options.max_rows < 1:
        raise UsageError(f"invalid --max-rows {options.max_rows}: expected 1 or more", "--max-rows 1000")
    limited_sql = limited(sql, target.engine, options.max_rows)
    scrubber = Scrubber()
    for secret in target.secrets():
        scrubber.add(secret)
    if options.redact_query:
        scrubber.add(sql)  # what drivers say may quote it
    phase = Phase("query", "query", limited_sql or target.shown, scan=target.deployment == "file")
    found = candidates_of(target, phase, options)
    announce(target, found, options)
    counters.probe()
    directory = RunDirectory(options.directory or new_name("probe"))
    directory.create()
    journal = Journal(directory, scrubber)
    planned = [*found.paths, *found.floors]
    with ExitStack() as cleanup:
        cleanup.callback(_forget_unbegun, directory)
        cleanup.callback(shutil.rmtree, directory.work, ignore_errors=True)
        cleanup.callback(journal.close)
        cleanup.callback(progress.end)
        build([(p.adapter, p.path.version) for p in planned], progress.note, [p.path for p in planned])
        budget = Budget(options.budget_s, BUSY_SHARE if target.deployment == "server" else 1.0)
        access = cleanup.enter_context(_opened(target, options, directory, progress))
        for secret in access.secrets():
            scrubber.add(secret)
        cpus.usable()
        os.sched_setaffinity(0, cpus.controller_cpus())
        probing = kind(
            access,
            limited_sql,
            found,
            budget,
            options,
            directory=directory,
            journal=journal,
            scrubber=scrubber,
            progress=progress,
            seed=options.seed if options.seed is not None else time.time_ns() % 1_000_000_007,
        )
        interrupted = probing.run(_command(options, target))
        journal.write(EndRecord("interrupted" if interrupted else "complete"))
        analysis = analyse(directory.path)
        if analysis.probe is not None:
            analysis = msgspec.structs.replace(analysis, probe=probing.write_snippets(analysis.probe))
    return Outcome(directory, interrupted), analysis


def _forget_unbegun(directory: RunDirectory) -> None:
    """Remove a run directory in which nothing was begun."""
    if directory.samples.is_file() and not directory.samples.stat().st_size:
        shutil.rmtree(directory.path, ignore_errors=True)


def candidates_of(target: Target, phase: Phase, options: ProbeOptions) -> Candidates:
    """What can be tried. Errors: UsageError when nothing can."""
    found = candidates(
        target.engine,
        target.deployment,
        phase,
        transport="unix" if target.socket and not target.host else "tcp",
        tls=target.tls,
        languages=options.languages,
        drivers=options.drivers,
        version=str(target.driver_file) if target.driver_file else "",
        read_only=eligibility.read_only(target, options.in_place),
    )
    if found.paths:
        return found
    if found.dropped:
        first = found.dropped[0]
        raise UsageError(
            f"no driver for {target.engine} can run here: {first.reason}", first.remedy or "rowpath doctor"
        )
    raise UsageError(f"no driver fits for {target.shown}", "rowpath list drivers")


def announce(target: Target, found: Candidates, options: ProbeOptions) -> None:
    """One line that says what will be done, before anything is."""
    drivers = len({(p.adapter.language, p.adapter.driver) for p in found.paths})
    manner = (
        f"at most {options.connections} connections, each block one read-only transaction, "
        "busy for at most half of the time"
        if target.deployment == "server"
        else "read only"
    )
    print(
        f"probing {target.shown}: {drivers} drivers in {len(found.paths)} settings, {manner}, "
        f"for {options.budget_s:g} s",
        file=sys.stderr,
    )


def _opened(target: Target, options: ProbeOptions, directory: RunDirectory, progress: Progress) -> Access:
    rules = Rules(
        in_place=options.in_place,
        connections=options.connections,
        statement_timeout_s=options.budget_s,
        max_rows=options.max_rows,
        allow_large=options.yes,
    )
    return open_access(target, rules, directory.work, asker(sys.stdin.isatty()))


def asker(interactive: bool) -> Callable[[str], bool]:
    """Asks on the terminal; where there is none no one has agreed."""

    def ask(question: str) -> bool:
        if not interactive:
            return False
        print(f"{question} [y/N] ", end="", file=sys.stderr, flush=True)
        return sys.stdin.readline().strip().lower() in ("y", "yes")

    return ask


def _command(options: ProbeOptions, target: Target) -> list[str]:
    """The command line as it may be kept: the URL without secrets, the query only where that was not forbidden."""
    words = ["rowpath", *sys.argv[1:]]
    hidden: Mapping[str, str] = {options.url: target.shown} | (
        {options.query: "…", f"--query={options.query}": "--query=…"} if options.redact_query and options.query else {}
    )
    return [hidden.get(word, word) for word in words]
