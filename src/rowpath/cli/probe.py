"""`rowpath probe`: the fastest path to the rows of a query of one's own."""

from __future__ import annotations

import argparse
import dataclasses

from rowpath.analysis.model import Analysis
from rowpath.cli import words
from rowpath.cli.output import finish, open_exports
from rowpath.errors import UsageError
from rowpath.execution.run import RunOutcome
from rowpath.machine import processes
from rowpath.model.progress import Progress
from rowpath.own_database.question import ProbeOptions
from rowpath.probe import command
from rowpath.report import live


def run(options: argparse.Namespace) -> int:
    """Search, report and export; 130 when interrupted."""
    wanted = ProbeOptions(**{field.name: getattr(options, field.name) for field in dataclasses.fields(ProbeOptions)})
    exports = open_exports(options)
    progress = live.make(options.quiet, options.color)
    try:
        probing = _from_host if options.from_host or options.hosts or options.cluster else _here
        outcome, analysis = probing(options, wanted, progress)
    finally:
        processes.stop_all()
    return finish(outcome, options, exports, analysis, again="rowpath show")  # a search begins from the start


def _here(_options: argparse.Namespace, wanted: ProbeOptions, progress: Progress) -> tuple[RunOutcome, Analysis]:
    return command.probe(wanted, progress)


def _from_host(options: argparse.Namespace, wanted: ProbeOptions, progress: Progress) -> tuple[RunOutcome, Analysis]:
    """Probe from another host; its name and the options are checked before the hosts are joined."""
    from rowpath.cli import hosts as joining  # a probe without hosts loads nothing of them
    from rowpath.hosts import hosts_file
    from rowpath.probe import from_host

    source = words.source_of_hosts(options)
    if not source:
        what = f"--from {wanted.from_host}: no hosts file was given"
        raise UsageError(what, f"--hosts hosts.toml --from {wanted.from_host}")
    known = hosts_file.of(source)
    if known.host:
        from_host.check_host(wanted.from_host, known)
    if options.adapters:
        raise UsageError("--adapters is not available with --from", "probe on that host with its own rowpath")
    wanted, files = from_host.readied(wanted)
    progress.note(f"joining the hosts of {source}")
    with joining.joined(source, "then probe again") as session:
        from_host.check_host(wanted.from_host, session.file)
        return from_host.probe(wanted, session.asking(wanted.from_host), progress, files)
