"""`rowpath probe`: the fastest path to the rows of a query of one's own."""

from __future__ import annotations

import argparse
import dataclasses
from typing import Any

from rowpath.cli import options as shared
from rowpath.cli.options import WILL_RUN, add_option
from rowpath.errors import UsageError

if WILL_RUN:
    from rowpath.analysis.model import Analysis
    from rowpath.cli.output import finish, open_exports
    from rowpath.execution.run import RunOutcome
    from rowpath.machine import processes
    from rowpath.model.progress import Progress
    from rowpath.own_database.question import ProbeOptions
    from rowpath.probe import command
    from rowpath.report import live


LEAST_BUDGET_S = 5.0
CONNECTIONS = 4


def add(parser: argparse.ArgumentParser) -> None:
    """The options of `probe`."""
    parser.add_argument(
        "url",
        metavar="URL|FILE",
        help="scheme://[user[:password]@]host[:port]/database, or jdbc:…, or a file: own.db, orders.parquet",
    )
    shared.add_query(parser)
    for what in ("language", "driver"):
        how: dict[str, Any] = {"dest": f"{what}s", "action": shared.Listed, "default": ()}
        add_option(parser, f"--{what} NAMES", f"only these {what}s (default: all)", **how)
    layers = "also these query layers and ORMs, or all of a package, above their drivers (docs/layers.md)"
    add_option(parser, "--layer NAMES", layers, dest="layers", action=shared.Listed, default=())
    searching = "search until the winner is decided, at most this long (default 2min)"
    shared.add_time(parser, "--budget", LEAST_BUDGET_S, searching, 120.0)
    mine = "the driver that you use now, to compare with (default: each language's usual driver as it ships)"
    add_option(parser, "--mine DRIVER[,SETTING=VALUE…]", mine)
    most = "maximum number of connections at once (default 4; with --clients one more than these)"
    add_option(parser, "--connections N", most, type=int, default=None)
    callers = "how many connections do N callers need? (docs/probe.md; takes at most half of the free ones)"
    add_option(parser, "--clients N", callers, type=int, default=0)
    add_option(
        parser,
        "--rate R",
        "with --clients: they ask R times a second in all",
        type=float,
        default=0.0,
        dest="rate_per_s",
    )
    shared.add_own_database(parser, "; with --clients although other sessions are active")
    shared.add_hosts(parser, "the hosts of --from (docs/hosts.md)")
    host = "probe from this host, where your program runs: with its drivers, cores and network"
    add_option(parser, "--from HOST", host, dest="from_host")
    shared.add_out(parser, "probe")
    shared.add_shared(parser, "--seed", "-q --quiet", "--tables", *shared.SHARED_EXPORTS, "--adapters", "--color")


def run(options: argparse.Namespace) -> int:
    """Search, report and export; 130 when interrupted."""
    if options.connections is None:
        options.connections = options.clients + 1 if options.clients else CONNECTIONS
    wanted = ProbeOptions(**{field.name: getattr(options, field.name) for field in dataclasses.fields(ProbeOptions)})
    exports = open_exports(options)
    progress = live.make(options.quiet, options.color)
    try:
        if options.from_host or options.hosts or options.cluster:
            outcome, analysis = _from_host(options, wanted, progress)
        else:
            outcome, analysis = command.probe(wanted, progress)
    finally:
        processes.stop_all()
    return finish(outcome, options, exports, analysis, again="rowpath show")  # a search begins from the start


def _from_host(options: argparse.Namespace, wanted: ProbeOptions, progress: Progress) -> tuple[RunOutcome, Analysis]:
    """Probe from another host; its name and the options are checked before the hosts are joined."""
    from rowpath.cli import hosts as joining  # a probe without hosts loads nothing of them
    from rowpath.hosts import hosts_file
    from rowpath.probe import from_host

    source = shared.source_of_hosts(options)
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
