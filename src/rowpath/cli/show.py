"""`rowpath show` and `rowpath report`: a finished run from its directory."""

from __future__ import annotations

import argparse

from rowpath.analysis.analyse import analyse
from rowpath.cli import projection
from rowpath.cli.output import data_on_stdout, open_exports, print_answer
from rowpath.cli.words import parse_filters, run_directory
from rowpath.report import html
from rowpath.report.exports import write_exports

HINT = "rowpath show DIR, with the directory of a run"


def run(options: argparse.Namespace) -> int:
    """`rowpath show`: the answer, every table, or a projection."""
    directory = run_directory(options.directory, HINT)
    if projection.is_wanted(options):
        return projection.run(options, directory, parse_filters(options.filter_words))
    exports = open_exports(options)
    analysis = analyse(directory, tuple(options.together))
    write_exports(analysis, exports)
    if not data_on_stdout(options):
        page = directory / "report.html"
        print_answer(analysis, options, directory, page if page.exists() else None)
    return 0


def report(options: argparse.Namespace) -> int:
    """`rowpath report`: the page again."""
    directory = run_directory(options.directory, HINT)
    target = options.out or directory / "report.html"
    html.write(analyse(directory, tuple(options.together)), target)
    print(target)
    return 0
