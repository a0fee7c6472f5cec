"""`rowpath show` and `rowpath report`: a finished run from its directory."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from rowpath.cli import options as shared
from rowpath.cli.options import SHARED_EXPORTS, WILL_RUN, Filters, Listed, add_option, parse_filters, run_directory
from rowpath.errors import UsageError

if WILL_RUN:
    from rowpath.analysis.analyse import analyse, analysis_of, gather
    from rowpath.analysis.projection import Choice, measured_ratios, project
    from rowpath.cli.output import data_on_stdout, open_exports, print_answer
    from rowpath.report import html, markdown
    from rowpath.report import projection as report
    from rowpath.report.console import make_console
    from rowpath.report.exports import open_export, write_exports

HINT = "rowpath show DIR, with the directory of a run"


def add(parser: argparse.ArgumentParser) -> None:
    """The options of `show`."""
    parser.add_argument("directory", metavar="DIR", type=Path)
    shared.add_shared(parser, "--together", "--tables", *SHARED_EXPORTS, "--color")
    matrices = "show matrices instead of the answer, for the terminal, --export-markdown and --export-csv"
    coordinate = "COORD: a coordinate of the paths, or path, phase, regime, stage, client_group"
    group = parser.add_argument_group("projection", f"{matrices}; {coordinate}")
    for option, dest, what in (
        ("--row", "rows", "a row for each value (default: the first that varies)"),
        ("--col", "columns", "a column for each; ratios are to the first column"),
        ("--table", "table_axes", "a table for each, beside phase and regime"),
        ("--ignore", "ignored", "may vary within a cell without a note"),
    ):
        add_option(group, f"{option} COORD[,COORD]", what, dest=dest, action=Listed, default=())
    how: dict[str, Any] = {"dest": "filter_words", "nargs": "+", "action": "extend", "default": []}
    add_option(group, "--filter COORD=VALUE[,VALUE]", "only paths with these values, shown in this order", **how)
    add_option(group, "--metric NAME", "what cells show (default: time)")


def add_report(parser: argparse.ArgumentParser) -> None:
    """The options of `report`."""
    parser.add_argument("directory", metavar="DIR", type=Path)
    shared.add_shared(parser, "--together")
    add_option(parser, "-o --out FILE", "the page (default: DIR/report.html)", type=Path)


def run(options: argparse.Namespace) -> int:
    """`rowpath show`: the answer, every table, or a projection."""
    directory = run_directory(options.directory, HINT)
    axes = options.rows, options.columns, options.table_axes, options.ignored
    if any((*axes, options.filter_words, options.metric)):
        return _project(options, directory, parse_filters(options.filter_words))
    exports = open_exports(options)
    analysis = analyse(directory, tuple(options.together))
    write_exports(analysis, exports)
    if not data_on_stdout(options):
        page = directory / "report.html"
        print_answer(analysis, options, directory, page if page.exists() else None)
    return 0


def run_report(options: argparse.Namespace) -> int:
    """`rowpath report`: the page again."""
    directory = run_directory(options.directory, HINT)
    target = options.out or directory / "report.html"
    html.write(analyse(directory, tuple(options.together)), target)
    print(target)
    return 0


def _project(options: argparse.Namespace, directory: Path, filters: Filters) -> int:
    """Print or export the projection; UsageError for options that show or write something else."""
    for name in ("tables", "export_json", "export_timeline"):
        if getattr(options, name):
            what = f"--{name.replace('_', '-')} shows the whole run, not a projection"
            raise UsageError(what, "--export-markdown FILE or --export-csv FILE")
    writers = {"markdown": markdown.write_projection, "csv": report.write_csv}
    exported = {form: file for form in writers if (file := getattr(options, f"export_{form}"))}
    evidence = gather(directory, tuple(options.together))
    choice = Choice(options.rows, options.columns, options.table_axes, options.ignored, filters, options.metric)
    projection = project(analysis_of(evidence), choice, measured_ratios(evidence))
    for form, name in exported.items():
        writers[form](projection, open_export(name))
    if "-" not in exported.values():
        report.render(projection, make_console(options.color))
    return 0
