"""What a command shows and writes of a finished run: the answer, the page, the exports."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import IO, Any

from rowpath.analysis.analyse import analyse
from rowpath.analysis.model import Analysis
from rowpath.cli.options import EXPORTS
from rowpath.execution.run import RunOutcome
from rowpath.report import exports as writing
from rowpath.report import html, junit, terminal, terminal_tables
from rowpath.report.console import make_console

Exports = dict[str, IO[Any]]


def finish(
    outcome: RunOutcome,
    options: argparse.Namespace,
    exports: Exports,
    analysis: Analysis | None = None,
    again: str = "rowpath run --resume",
) -> int:
    """Report a run; `analysis`: where it has been analysed already; `again`: what to do with an interrupted one."""
    analysis = analysis or analyse(outcome.directory.path)
    html.write(analysis, outcome.directory.report)
    if "junit" in exports:
        name = f"rowpath run {analysis.run.experiment.name}"
        junit.write(name, junit.of_run(analysis), exports.pop("junit"))
    writing.write_exports(analysis, exports)
    print_answer(analysis, options, outcome.directory.path, outcome.directory.report)
    if outcome.interrupted:
        print(f"\nerror: interrupted\n\nhint: {again} {outcome.directory.path}", file=sys.stderr)
        return 130
    if getattr(options, "gate", False) and any(result.status in junit.FAILED for result in analysis.results):
        return 1
    return 0


def print_answer(analysis: Analysis, options: argparse.Namespace, directory: Path, page: Path | None) -> None:
    """The answer on a screen, or with `--tables` everything."""
    to_stderr = data_on_stdout(options)
    if options.tables:
        terminal_tables.render(analysis, make_console(options.color, to_stderr), page)
    else:
        terminal.render(analysis, make_console(options.color, to_stderr, terminal.WIDTH), directory, page)


def data_on_stdout(options: argparse.Namespace) -> bool:
    """Whether an export goes to stdout, so that nothing else may."""
    return "-" in (getattr(options, "junit", None), *(getattr(options, f"export_{form}") for form in EXPORTS))


def open_exports(options: argparse.Namespace) -> Exports:
    """Every file that the options name."""
    files = {form: getattr(options, f"export_{form}") for form in EXPORTS} | {"junit": getattr(options, "junit", None)}
    return writing.open_exports({form: file for form, file in files.items() if file})
