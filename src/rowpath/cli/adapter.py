"""`rowpath adapter new|test`: create an adapter of one's own, or test one against its real engine."""

from __future__ import annotations

import argparse

from rowpath.checks.conformance import report
from rowpath.checks.conformance.paths import paths_of
from rowpath.cli import adapter_new
from rowpath.cli.words import parse_filters
from rowpath.report.console import make_console


def run(options: argparse.Namespace) -> int:
    """Write the adapter's files, or run its suite; 1 when a case fails."""
    wanted = parse_filters(options.filters)
    if options.action == "new":
        for line in adapter_new.new(options.words, wanted, options.into):
            print(line)
        return 0
    paths = paths_of(options.words, wanted, "every" if options.every else "values")
    return report.run(paths, make_console(options.color))
