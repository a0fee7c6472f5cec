"""`rowpath selftest`: check Rowpath against measurements whose results are known."""

from __future__ import annotations

import argparse

from rowpath.cli.options import WILL_RUN, add_option, add_shared

if WILL_RUN:
    from rowpath.checks import selftest
    from rowpath.report.console import make_console


def add(parser: argparse.ArgumentParser) -> None:
    """The options of `selftest`."""
    add_option(parser, "--full", "run the long forms too (about half an hour)")
    parser.add_argument("tests", nargs="*", metavar="NAME", help="only these tests")
    add_shared(parser, "--color")


def run(options: argparse.Namespace) -> int:
    """Run the tests named, or all; 1 when a known answer is missed."""
    return selftest.run(options.tests, full=options.full, console=make_console(options.color))
