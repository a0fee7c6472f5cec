"""The words and options of commands that measure or check: run, probe, explain, verify, record, replay."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from rowpath.cli.options import (
    SHARED_EXPORTS,
    add_hosts,
    add_out,
    add_own_database,
    add_query,
    add_selection,
    add_shared,
    add_time,
    command,
    listed,
)
from rowpath.model.choices import WAIT_FOR_QUIET_S

LEAST_BUDGET_S = 5.0


def add_run(commands: Any) -> None:
    """`run`."""
    parser = command(commands, "run", "run an experiment and show which path is fastest")
    add_selection(parser)
    parser.add_argument(
        "--tape",
        metavar="FILE",
        type=Path,
        help="replay this tape instead of using a server; without EXPERIMENT: run what it recorded",
    )
    parser.add_argument("--driver", metavar="NAMES", default="", help="short for driver=NAMES")
    parser.add_argument(
        "--version",
        metavar="VERSIONS",
        default="",
        help="short for version=VERSIONS: releases of --driver (42.7.8) and files of your own build (a jar, a wheel "
        "or folder, a libpq.so), measured in the same sets",
    )
    add_out(parser, "NAME")
    parser.add_argument(
        "--resume",
        metavar="DIR",
        type=Path,
        help="resume an interrupted run, with its own options; finished sets are not repeated",
    )
    parser.add_argument(
        "--plan", action="store_true", help="show what would run, what would not and why, and the estimated time"
    )
    _add_sizes(parser)
    add_hosts(parser, "clients and servers on the hosts of this file (docs/hosts.md)")
    waiting = f"wait at most this long in total for other programs to leave the measured cores ({WAIT_FOR_QUIET_S:g}s)"
    add_time(parser, "--wait-for-quiet", 0.0, waiting, WAIT_FOR_QUIET_S)
    add_shared(parser, "--seed", "--timeout", "--together")
    parser.add_argument("--gate", action="store_true", help="exit with 1 when a path failed or returned wrong rows")
    add_shared(parser, "-q --quiet", "--tables", *SHARED_EXPORTS, "--color")
    # So that --resume can tell one that was given from the one that the run began with.
    parser.set_defaults(timeout=None, wait_for_quiet_s=None)


def _add_sizes(parser: argparse.ArgumentParser) -> None:
    """What sets the number of rows, operations and sets, and their rates."""
    parser.add_argument(
        "--scale",
        metavar="S",
        type=float,
        default=0.0,
        help="scale factor for rows and operations, for experiments that define one (embedded-or-server: 1 is the "
        "article's million operations)",
    )
    parser.add_argument(
        "-R",
        "--rate",
        metavar="[GROUP=]PER_S[,fixed]",
        action="append",
        default=[],
        help="client groups: start operations at this rate regardless of completions (open loop; Poisson arrivals, "
        "or equal spacing with ,fixed)",
    )
    parser.add_argument(
        "--p99",
        metavar="GROUP=MS",
        default="",
        help="search for the client group's highest rate with a 99th percentile of latency below MS",
    )
    parser.add_argument("--seconds", metavar="S", type=float, default=0.0, help="length of each stage of client groups")
    presets = parser.add_mutually_exclusive_group()
    presets.add_argument("--fast", action="store_true", help="3 sets: provisional figures, no claims")
    presets.add_argument("--rigorous", action="store_true", help="10 sets at full size, servers restarted for each")
    presets.add_argument("-r", "--runs", metavar="SETS", type=int, help="number of sets")
    add_time(
        presets,
        "--within",
        1.0,
        "end within this time (3m, 90s), with fewer sets, rounds and rows where needed; shows the cost in certainty",
    )
    parser.add_argument("-w", "--warmup", metavar="SECONDS", type=float, help="longest warm-up per path and phase")


def add_probe(commands: Any) -> None:
    """`probe`."""
    parser = command(
        commands, "probe", "find the fastest path to the rows of your own query, without changing anything"
    )
    parser.add_argument(
        "url",
        metavar="URL|FILE",
        help="scheme://[user[:password]@]host[:port]/database, or jdbc:…, or a file: own.db, orders.parquet",
    )
    add_query(parser)
    for what in ("language", "driver"):
        how: dict[str, Any] = {"dest": f"{what}s", "type": listed, "default": ()}
        parser.add_argument(f"--{what}", metavar="NAMES", help=f"only these {what}s (default: all)", **how)
    searching = "search until the winner is decided, at most this long (default 2min)"
    add_time(parser, "--budget", LEAST_BUDGET_S, searching, 120.0)
    parser.add_argument(
        "--mine",
        metavar="DRIVER[,SETTING=VALUE…]",
        default="",
        help="the driver that you use now, to compare with (default: each language's usual driver as it ships)",
    )
    parser.add_argument(
        "--connections", metavar="N", type=int, default=4, help="maximum number of connections at once (default 4)"
    )
    add_own_database(parser)
    add_hosts(parser, "the hosts of --from (docs/hosts.md)")
    parser.add_argument(
        "--from",
        metavar="HOST",
        dest="from_host",
        default="",
        help="probe from this host, where your program runs: with its drivers, cores and network",
    )
    add_out(parser, "probe")
    add_shared(parser, "--seed", "-q --quiet", "--tables", *SHARED_EXPORTS, "--adapters", "--color")


def add_explain(commands: Any) -> None:
    """`explain`."""
    parser = command(commands, "explain", "show where the time of an operation goes: by library, side and waiting")
    add_selection(
        parser,
        "EXPERIMENT, RUN, URL, FILE, PATH, PHASE or COORDINATE=VALUE",
        "an experiment, a run directory, or a database's URL or file with --query; then which paths: "
        "filters such as engine=postgresql, or names of paths and phases",
    )
    add_query(parser)
    add_own_database(parser)
    parser.add_argument("--phase", metavar="PHASE", default="", help="only this phase (default: all phases that read)")
    parser.add_argument(
        "-b",
        "--blocks",
        metavar="N",
        type=int,
        default=5,
        help="number of one-second blocks; as many again are profiled (default 5)",
    )
    parser.add_argument("--how", action="store_true", help="also show which clock measured each part")
    parser.add_argument(
        "--no-flame",
        dest="flame",
        action="store_false",
        help="leave out the flame graphs; saves some seconds",
    )
    parser.add_argument(
        "--no-hops",
        dest="hops",
        action="store_false",
        help="leave out the hops between client and server; they need a restart of Rowpath's own servers",
    )
    counterparts = "also explain each path with this value instead, and show what differs"
    parser.add_argument("--against", metavar="COORDINATE=VALUE", nargs="+", default=[], help=counterparts)
    add_out(parser, "explain")
    add_shared(parser, "--timeout", "-q --quiet", "--color")


def add_tape(commands: Any) -> None:
    """`record` and `replay`."""
    parser = command(commands, "record", "record a conversation between driver and server as a tape")
    parser.add_argument(
        "words",
        nargs="*",
        metavar="URL or COORDINATE=VALUE",
        help="the server: postgresql://…, mariadb://…, mysql://… or derby://…; put the command that talks to it "
        "after --: ROWPATH_URL and {url} give it the recording proxy's URL; with --experiment: filters for its paths",
    )
    parser.add_argument("-o", "--out", metavar="FILE.tape", type=Path, required=True, help="the tape")
    parser.add_argument("--scrub", action="store_true", help="replace all values in rows with noise of the same size")
    instead = "instead of a command: record this experiment's paths on Rowpath's own server, in each phase that reads"
    parser.add_argument("--experiment", metavar="NAME", default="", help=instead)
    add_shared(parser, "--adapters", "--timeout", "-q --quiet", "--color")
    parser = command(commands, "replay", "serve a tape: drivers talk to the recorded server, without a database")
    parser.add_argument(
        "tape", metavar="FILE.tape", type=Path, help="after --: a command to run while the tape is served"
    )
    parser.add_argument("--port", metavar="N", type=int, default=0, help="port on 127.0.0.1 (default: any free port)")
    parser.add_argument(
        "--line-rate",
        action="store_true",
        help="send replies as fast as the kernel accepts them, not in the server's small pieces",
    )


def add_verify(commands: Any) -> None:
    """`verify`."""
    parser = command(commands, "verify", "check every path for correctness, without measuring")
    add_selection(parser)
    add_out(parser, "verify")
    add_shared(parser, "--timeout")
    parser.add_argument("-v", "--verbose", action="store_true", help="show each digest beside the expected one")
    add_shared(parser, "-q --quiet", "--color")
