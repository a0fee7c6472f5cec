"""`rowpath claim`: the published claims, and one of them measured here."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from rowpath.cli import options as shared
from rowpath.cli.options import WILL_RUN, run_directory
from rowpath.errors import UsageError

if WILL_RUN:
    from rowpath.analysis.analyse import analyse
    from rowpath.analysis.chapters.factors import CHAPTER as FACTORS
    from rowpath.analysis.chapters.factors import grid
    from rowpath.analysis.chapters.published import CLAIMS
    from rowpath.analysis.rankings import paths_to_repeat
    from rowpath.cli import plan as planning
    from rowpath.execution import run as execution
    from rowpath.execution.run_options import RunOptions
    from rowpath.journal.writer import new_name
    from rowpath.model.choices import TIMEOUT_S
    from rowpath.planning.claim_file import PublishedClaim, load_claim, names
    from rowpath.planning.overrides import NOT_OVERRIDDEN
    from rowpath.report import html, live
    from rowpath.report.console import make_console
    from rowpath.report.terminal_tables import show_grid
    from rowpath.text import clean

if TYPE_CHECKING:
    from rich.console import Console

    from rowpath.analysis.model import Analysis

MOST_S = 600.0
INDENT = 10


def add(parser: argparse.ArgumentParser) -> None:
    """The options of `claim`."""
    parser.add_argument(
        "claim", metavar="list|ID", help="list: the claims, with date and figure; ID: one, measured here"
    )
    what = "take the verdict from this run of the claim's experiment instead of measuring"
    parser.add_argument("run", metavar="DIR", nargs="?", type=Path, help=what)
    shared.add_option(parser, "--plan", "show what would run, and the estimated time")
    shared.add_out(parser, "claim-ID")
    shared.add_shared(parser, "-q --quiet", "--color")


def run(options: argparse.Namespace) -> int:
    """Print the list, or one claim with its verdict; 130 when interrupted."""
    console = make_console(options.color)
    if options.claim == "list":
        width = max(map(len, names()))
        for name in names():
            claim = load_claim(name)
            console.print(f"{name:<{width}}  {clean(claim.title)}", soft_wrap=True)
            published = clean(f"{claim.project}, {claim.date}: {claim.figure}")
            console.print(f"{'':<{width}}  {published}", soft_wrap=True)
        return 0
    claim = load_claim(options.claim)
    directory = run_directory(options.run, "rowpath claim ID DIR, with the directory of a run") if options.run else None
    show_source(claim, console)
    if directory is None:
        plan, cost = planning.plan_within(claim.experiment, claim.filters, NOT_OVERRIDDEN, MOST_S, extended=True)
        if options.plan:
            planning.print_plan(plan, console, cost)
            return 0
        if cost and not options.quiet:
            print(cost, file=sys.stderr)
        outcome = execution.run_plan(
            plan,
            RunOptions(timeout_s=TIMEOUT_S, within_s=MOST_S),
            directory=options.directory or new_name(f"claim-{options.claim}"),
            progress=live.make(options.quiet, options.color),
            paths_to_repeat=paths_to_repeat,
        )
        directory = outcome.directory.path
        analysis = analyse(directory)
        html.write(analysis, outcome.directory.report)
        if outcome.interrupted:
            print(f"\nerror: interrupted\n\nhint: rowpath run --resume {directory}", file=sys.stderr)
            return 130
    else:
        analysis = analyse(directory)
        if analysis.run.experiment.name != claim.experiment:
            what = f"{directory} is a run of {analysis.run.experiment.name}, not of {claim.experiment}"
            raise UsageError(what, f"rowpath claim {options.claim}")
    console.print(said("run", str(directory)), soft_wrap=True)
    show_verdict(claim, analysis, console)
    return 0


def said(what: str, text: str) -> str:
    """A line of a claim: its first word, then the text."""
    return f"{what:<{INDENT}}  {clean(text)}"


def show_source(claim: PublishedClaim, console: Console) -> None:
    """What was published, and where it is not like for like."""
    console.print(clean(claim.title), style="bold", soft_wrap=True)
    console.print(said("published", f"{claim.figure} ({claim.source}, {claim.date})"), soft_wrap=True)
    console.print(said("compared", claim.compared), soft_wrap=True)
    words = [f"{key}={','.join(values)}" for key, values in claim.filters.items()]
    console.print(said("here", " ".join(["rowpath run", claim.experiment, *words, "--all"])), soft_wrap=True)
    for number, text in enumerate(claim.differs):
        console.print(said("" if number else "not alike", text), soft_wrap=True)


def show_verdict(claim: PublishedClaim, analysis: Analysis, console: Console) -> None:
    """The verdict, each claim of the experiment that it rests on with its figure, and what the factors are worth."""
    checked = {check.id: check for check in CLAIMS.of(analysis)}
    verdict = claim.verdict({id_: check.outcome for id_, check in checked.items()})
    console.print(said("verdict", verdict), style="bold", soft_wrap=True)
    for check in (checked[id_] for id_ in claim.ids if id_ in checked):
        console.print(said("", f"{check.outcome}: {check.claim}: {check.figure}"), soft_wrap=True)
    console.print(said("trust", analysis.answer.trust.line), soft_wrap=True)
    for each in FACTORS.of(analysis):
        console.print()
        show_grid(grid(each), console)
