"""The words and options of commands that read finished runs: show, report, compare, site."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from rowpath.cli.options import SHARED_EXPORTS, add_shared, command, listed
from rowpath.model.comparison import DIFFERENCES

CONFIRM_SETS = 10


def add_show(commands: Any) -> None:
    """`show` and `report`."""
    parser = command(commands, "show", "show a finished run from its directory")
    parser.add_argument("directory", metavar="DIR", type=Path)
    add_shared(parser, "--together", "--tables", *SHARED_EXPORTS, "--color")
    _add_projection(parser)
    parser = command(commands, "report", "write a run's HTML report again from its directory")
    parser.add_argument("directory", metavar="DIR", type=Path)
    add_shared(parser, "--together")
    parser.add_argument("-o", "--out", metavar="FILE", type=Path, help="the page (default: DIR/report.html)")


def _add_projection(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group(
        "projection",
        "show matrices instead of the answer, for the terminal, --export-markdown and --export-csv; COORD: a "
        "coordinate of the paths, or path, phase, regime, stage, client_group",
    )
    how: dict[str, Any] = {"metavar": "COORD[,COORD]", "type": listed, "default": ()}
    group.add_argument("--row", dest="rows", help="a row for each value (default: the first that varies)", **how)
    group.add_argument("--col", dest="columns", help="a column for each; ratios are to the first column", **how)
    group.add_argument("--table", dest="table_axes", help="a table for each, beside phase and regime", **how)
    group.add_argument("--ignore", dest="ignored", help="may vary within a cell without a note", **how)
    group.add_argument(
        "--filter",
        dest="filter_words",
        metavar="COORD=VALUE[,VALUE]",
        nargs="+",
        action="extend",
        default=[],
        help="only paths with these values, shown in this order",
    )
    group.add_argument("--metric", metavar="NAME", default="", help="what cells show (default: time)")


def add_compare(commands: Any) -> None:
    """`compare`."""
    parser = command(commands, "compare", "compare two runs: which paths became slower or faster")
    parser.add_argument("base", metavar="BASE", help="the directory of a run; several runs: BASE1,BASE2")
    parser.add_argument(
        "head", metavar="HEAD", nargs="?", help="the directory of a later run; several runs: HEAD1,HEAD2"
    )
    parser.add_argument(
        "--version",
        metavar="BASE,HEAD",
        default="",
        help="instead of HEAD: two versions of a driver that the run BASE measured in the same sets (42.7.8,FILE)",
    )
    parser.add_argument(
        "--despite",
        metavar="WHAT",
        action="append",
        choices=DIFFERENCES,
        default=[],
        help=f"compare even if this differs too ({', '.join(DIFFERENCES)})",
    )
    parser.add_argument(
        "--fail-on",
        metavar="CHANGE=PERCENT",
        action="append",
        default=[],
        help="exit with 1 when a path's interval lies beyond this: slower=5%%, faster=5%%, or a metric that grew: "
        "client_cpu=5%%",
    )
    parser.add_argument(
        "--confirm",
        action="store_true",
        help="measure suspicious paths again, both builds in the same sets of one run (a driver's or engine's version)",
    )
    parser.add_argument(
        "-r", "--runs", metavar="SETS", type=int, default=CONFIRM_SETS, help=f"sets of --confirm ({CONFIRM_SETS})"
    )
    parser.add_argument("--all", action="store_true", help="show every row, not just those that changed")
    for form in ("json", "markdown"):
        words = f"also write the comparison as {form} ('-' = stdout)"
        parser.add_argument(f"--export-{form}", metavar="FILE", help=words)
    parser.add_argument("-o", "--out", metavar="FILE.html", type=Path, help="also write it as a page")
    add_shared(parser, "--adapters", "--timeout", "-q --quiet", "--color")


def add_site(commands: Any) -> None:
    """`site`."""
    parser = command(commands, "site", "write a static site over many runs, or check runs for one")
    parser.add_argument(
        "directories", metavar="DIR", type=Path, nargs="+", help="directories of runs, at any depth below them"
    )
    parser.add_argument("-o", "--out", metavar="SITE", type=Path, help="the directory of the site")
    parser.add_argument(
        "--check",
        action="store_true",
        help="only show whether a site accepts each run; exit with 1 when it refuses one",
    )
    parser.add_argument(
        "--without-pages",
        action="store_true",
        help="leave out the runs' own reports, for a smaller site that is built faster",
    )
    add_shared(parser, "-q --quiet")
