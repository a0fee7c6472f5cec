"""`rowpath adapter new|test`: create an adapter of one's own, or test one against its real engine."""

from __future__ import annotations

import argparse
from pathlib import Path

from rowpath.cli.options import WILL_RUN, add_shared

if WILL_RUN:
    from rowpath.checks.conformance import report, targets
    from rowpath.cli import adapter_new
    from rowpath.cli.words import parse_filters
    from rowpath.report.console import make_console


def add(parser: argparse.ArgumentParser) -> None:
    """The options of `adapter`."""
    parser.add_argument("action", choices=("new", "test"))
    parser.add_argument(
        "words",
        nargs="*",
        metavar="WORD",
        help="new: LANGUAGE NAME and engine=ENGINE (default sqlite); test: NAME or a runner's command (its own "
        "options after --), and COORDINATE=VALUE to select paths",
    )
    parser.add_argument(
        "--into",
        metavar="DIR",
        type=Path,
        default=Path("rowpath-adapters"),
        help="new: the directory for adapters.toml and the source (default rowpath-adapters)",
    )
    add_shared(parser, "--adapters")
    parser.add_argument(
        "--every", action="store_true", help="test: every path (default: the default path, then each other value once)"
    )
    add_shared(parser, "--color")


def run(options: argparse.Namespace) -> int:
    """Write the adapter's files, or run its suite; 1 when a case fails."""
    wanted = parse_filters(options.filters)
    if options.action == "new":
        for line in adapter_new.new(options.words, wanted, options.into):
            print(line)
        return 0
    paths = targets.paths_of(options.words, wanted, "every" if options.every else "values")
    return report.run(paths, make_console(options.color))
