"""What `rowpath probe` does, from a URL and a query to the report."""

from __future__ import annotations

import math
import os
import shutil
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from typing import Any

from rowpath import text as fmt
from rowpath.analysis.analyse import analyse
from rowpath.analysis.model import Analysis
from rowpath.errors import UsageError
from rowpath.execution.run import RunOutcome
from rowpath.journal.records import EndRecord
from rowpath.journal.writer import Journal, RunDirectory, new_name
from rowpath.machine import counters
from rowpath.model.progress import Progress
from rowpath.own_database.candidates import Candidates, candidates_of
from rowpath.own_database.layers import with_layers
from rowpath.own_database.probed_query import connected
from rowpath.own_database.question import ProbeOptions, Question, question_of
from rowpath.own_database.target import Target
from rowpath.probe.run import ProbeRun
from rowpath.probe.sizing import SizingRun, sized_paths
from rowpath.probe.tries import driver_of

LEAST_CONNECTIONS = 2


def check_connections(options: ProbeOptions) -> None:
    """Errors: UsageError when there are too few, or a number of clients or a rate that cannot be."""
    if options.clients < 0:
        raise UsageError(f"invalid --clients {options.clients}: expected 1 or more", "--clients 50")
    if options.rate_per_s and not options.clients:
        raise UsageError("--rate: of how many callers?", f"--clients 50 --rate {options.rate_per_s:g}")
    if not 0 <= options.rate_per_s < math.inf:
        raise UsageError(f"invalid --rate {options.rate_per_s:g}: expected a number above 0", "--rate 2000")
    if options.connections < LEAST_CONNECTIONS and options.clients:
        what = f"invalid --connections {options.connections}: expected 2 or more, one of which watches the server"
        raise UsageError(what, "--connections 2")
    if options.connections < LEAST_CONNECTIONS:
        what = f"invalid --connections {options.connections}: expected 2 or more, so that paths can alternate"
        raise UsageError(what, "--connections 2")


def probe(
    options: ProbeOptions,
    progress: Progress,
    kind: type[ProbeRun] = ProbeRun,
    sizing_kind: type[SizingRun] = SizingRun,
    *,
    environment: Mapping[str, str] = os.environ,
    say: Callable[[str], None] = lambda text: print(text, file=sys.stderr),
) -> tuple[RunOutcome, Analysis]:
    """Probe, and leave a run directory; `kind` decides what is done with each candidate. Errors: RowpathError.

    With `clients` connections are sized instead, by `sizing_kind`.

    `environment`: where passwords may be. `say` gets a line before anything is done.
    """
    check_connections(options)
    question = question_of(options, environment)
    candidates = with_layers(candidates_of(question.target, question.phase, options), question, options)
    sized = sized_paths(candidates, options) if options.clients else None
    if sized is None:
        say(announcement(question.target, candidates, options))
        planned = [*candidates.paths, *candidates.floors]
    else:
        planned = [sized.load, sized.watch]
    counters.probe()
    directory = RunDirectory(options.directory or new_name("probe"))
    directory.create()
    journal = Journal(directory, question.scrubber)
    with ExitStack() as cleanup:
        cleanup.callback(forget_unbegun, directory)
        cleanup.callback(shutil.rmtree, directory.work, ignore_errors=True)
        cleanup.callback(journal.close)
        cleanup.callback(progress.end)
        made = connected(question, planned, options, directory, progress.note, cleanup)
        seed = options.seed if options.seed is not None else time.time_ns() % 1_000_000_007
        common: dict[str, Any] = {"journal": journal, "progress": progress, "seed": seed, **made}
        command = _command(options, question)
        if sized is not None:
            interrupted, write_snippets = sizing_kind(paths=sized, say=say, **common).run(command), None
        else:
            probing = kind(candidates=candidates, **common)
            interrupted, write_snippets = probing.run(command), probing.write_snippets
        journal.write(EndRecord("interrupted" if interrupted else "complete"))
        analysis = analyse(directory.path, write_snippets=write_snippets)
    return RunOutcome(directory, interrupted), analysis


def forget_unbegun(directory: RunDirectory) -> None:
    """Remove a run directory in which nothing was begun."""
    if not directory.samples.is_file() or not directory.samples.stat().st_size:
        shutil.rmtree(directory.path, ignore_errors=True)


def announcement(target: Target, candidates: Candidates, options: ProbeOptions) -> str:
    """One line about what will be done."""
    bare = [planned for planned in candidates.paths if planned.path.id not in candidates.beneath]
    drivers = len({driver_of(planned) for planned in bare})
    above = f" and {fmt.counted(len(candidates.beneath), 'form')} of layers" if candidates.beneath else ""
    access = "read only"
    if target.deployment == "server":
        access = (
            f"at most {options.connections} connections, each block one read-only transaction, "
            "busy for at most half of the time"
        )
    return (
        f"probing {target.shown}{options.from_words}: {drivers} drivers in {len(bare)} settings{above}, {access}, "
        f"until decided, at most {fmt.clock(options.budget_s).removesuffix(' 00 s')}"
    )


def _command(options: ProbeOptions, question: Question) -> list[str]:
    """The command line as it may be kept: the URL without secrets, the query only where that was not forbidden."""
    redacted = [("--query", options.query), ("--params-from", options.params_query)]
    redacted += [("--param", word) for word in options.params]
    hidden = {options.url: question.target.shown}
    for name, text in redacted if options.redact_query else ():
        hidden |= {text: "…", f"{name}={text}": f"{name}=…"} if text else {}
    scrubber = question.scrubber
    scrubber.keep_words(" ".join(word for word in sys.argv[1:] if word not in hidden))
    return ["rowpath", *(hidden[word] if word in hidden else scrubber.clean(word) for word in sys.argv[1:])]
