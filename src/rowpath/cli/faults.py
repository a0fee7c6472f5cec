"""`rowpath faults`: what each driver does when it breaks, and how long it takes."""

from __future__ import annotations

import argparse
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from rowpath.cli import options as shared
from rowpath.cli.options import WILL_RUN, add_option, parse_filters
from rowpath.errors import UsageError

if WILL_RUN:
    from rowpath.analysis.faults import shown
    from rowpath.faults.kinds import FAULTS
    from rowpath.faults.matrix import FILE, Journal, Matrix, in_order, make_matrix, measure
    from rowpath.journal.writer import RunDirectory, new_name
    from rowpath.machine import processes
    from rowpath.report import faults as pages
    from rowpath.report import live
    from rowpath.report.console import make_console
    from rowpath.text import clean

if TYPE_CHECKING:
    from rich.console import Console

    from rowpath.model.fault import Cell


def add(parser: argparse.ArgumentParser) -> None:
    """The options of `faults`."""
    parser.add_argument(
        "words", metavar="ENGINE|DRIVER|LANGUAGE", nargs="*", help="only these (default: a usual driver per language)"
    )
    add_option(parser, "--all", "every driver of a server")
    add_option(parser, "--fault N", "only this fault, by number or name", dest="faults", action="append", default=[])
    add_option(parser, "--plan", "show the cells that would be measured")
    add_option(parser, "--resume DIR", "measure what this run lacks", type=Path)
    shared.add_out(parser, "faults")
    shared.add_shared(parser, "-q --quiet", "--color")


def run(options: argparse.Namespace) -> int:
    """Measure the cells, print them and write the page; 130 when interrupted. An error that a fault causes is none."""
    filters = parse_filters(options.filters)
    if unknown := next((key for key in filters if key not in ("engine", "driver", "language")), ""):
        raise UsageError(f"unknown option '{unknown}' of faults", "engine=…, driver=… or language=…")
    matrix = make_matrix(options.words, filters, every=options.all, faults=options.faults)
    console = make_console(options.color)
    if options.plan:
        for task in matrix.tasks:
            console.print(clean(f"{task.planned.name}  {task.fault.number} {task.fault.name}, {task.work}"))
        return 0
    directory = RunDirectory(options.resume or options.directory or new_name("faults"))
    if options.resume:
        if not (directory.path / FILE).is_file():
            raise UsageError(f"{directory.path} has no {FILE}", "name the directory of a run of faults")
    else:
        directory.create()
    with (directory.path / FILE).open("ab") as held:
        directory.lock(held.fileno())
        return _measure(matrix, directory, console, options)


def _measure(matrix: Matrix, directory: RunDirectory, console: Console, options: argparse.Namespace) -> int:
    directory.work.mkdir(mode=0o700, exist_ok=True)
    progress = live.make(options.quiet, options.color)
    try:
        cells = measure(matrix, directory.path, directory.work, lambda cell: progress.note(said(cell)))
    except KeyboardInterrupt:
        cells = in_order(matrix.tasks, Journal(directory.path).cells())
        _keep(cells, matrix, directory)
        print(f"\nerror: interrupted\n\nhint: rowpath faults --resume {directory.path}", file=sys.stderr)
        return 130
    finally:
        processes.stop_all()
        shutil.rmtree(directory.work, ignore_errors=True)
    _keep(cells, matrix, directory)
    pages.show(cells, FAULTS, matrix.left_out, console)
    console.print(f"page: {directory.report}", soft_wrap=True, highlight=False)
    return 0


def said(cell: Cell) -> str:
    """A cell that has ended, in a line."""
    return clean(f"{cell.path}  {cell.fault} in a {cell.work}: {cell.reason or shown(cell).words}")


def _keep(cells: list[Cell], matrix: Matrix, directory: RunDirectory) -> None:
    pages.write(cells, FAULTS, matrix.left_out, directory.report)
