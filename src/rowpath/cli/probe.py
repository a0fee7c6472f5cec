"""`rowpath probe`: the fastest path to the rows of a query of one's own."""

from __future__ import annotations

import argparse
import dataclasses

from rowpath.cli.output import finish, open_exports
from rowpath.machine import processes
from rowpath.probe import command
from rowpath.probe.options import ProbeOptions
from rowpath.report import live


def run(options: argparse.Namespace) -> int:
    """Search, report and export; 130 when interrupted."""
    wanted = ProbeOptions(**{field.name: getattr(options, field.name) for field in dataclasses.fields(ProbeOptions)})
    exports = open_exports(options)
    try:
        outcome, analysis = command.probe(wanted, live.make(options.quiet, options.color))
    finally:
        processes.stop_all()
    return finish(outcome, options, exports, analysis)
