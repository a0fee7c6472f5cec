"""`rowpath selftest`: check Rowpath against measurements whose results are known."""

from __future__ import annotations

import argparse

from rowpath.checks import selftest
from rowpath.report.console import make_console


def run(options: argparse.Namespace) -> int:
    """Run the tests named, or all; 1 when a known answer is missed."""
    return selftest.run(options.tests, full=options.full, console=make_console(options.color))
