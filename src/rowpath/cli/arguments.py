"""The words and options of every command, parsed in any order.

As a program it answers what needs no package (help, version, usage errors), and ends with WOULD_RUN for the rest: a
clone asks it before it makes its environment. So this module, and what it imports, needs the standard library only.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from rowpath import __version__
from rowpath.cli import arguments_to_measure as measuring
from rowpath.cli import arguments_to_read as reading
from rowpath.cli.options import Parser, add_shared, command
from rowpath.errors import UsageError

WOULD_RUN = 75  # the command line is right, and running it needs the packages
EXIT_CODES = """exit codes:
  0    fine (findings included)
  1    a path failed or returned wrong rows (only verify, selftest, adapter test, run --gate), a change exceeds
       --fail-on, or site --check refuses a run
  2    usage or configuration
  3    a requirement is missing on this machine
  4    internal or protocol error
  124  timed out
  130  interrupted; the results so far are kept"""


def parse(arguments: list[str] | None) -> argparse.Namespace:
    """Parse with options and words in any order (argparse takes positional words only where it first meets them)."""
    parser = build_parser()
    arguments = sys.argv[1:] if arguments is None else arguments
    # After `--` stands a program with options of its own.
    with_program = arguments[:1] in (["adapter"], ["record"], ["replay"])
    end = arguments.index("--") if with_program and "--" in arguments else len(arguments)
    program = arguments[end + 1 :]
    options, rest = parser.parse_known_args(arguments[:end])
    options.program = program
    if rest and getattr(options, "head", "") is None and not rest[0].startswith("-"):
        options.head = rest.pop(0)  # an option stood between BASE and HEAD
    unknown = [word for word in rest if word.startswith("-")]
    if unknown or (rest and not hasattr(options, "words")):
        raise UsageError(f"unknown option or argument: {' '.join(unknown or rest)}", "rowpath --help")
    if hasattr(options, "words"):
        words = [*options.words, *rest]
        options.filters = [word for word in words if "=" in word and "/" not in word.partition("=")[0]]
        options.words = [word for word in words if word not in options.filters]
        options.words += program if options.command == "adapter" else []
    return options


def build_parser() -> argparse.ArgumentParser:
    """All commands with their options."""
    parser = Parser(
        prog="rowpath",
        description="Measures every path that rows take from a database to a program: which is fastest, and why.",
        epilog=EXIT_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"rowpath {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND", parser_class=Parser)
    measuring.add_run(commands)
    measuring.add_probe(commands)
    measuring.add_explain(commands)
    measuring.add_tape(commands)
    measuring.add_verify(commands)
    _add_list(commands)
    _add_engine(commands)
    _add_hosts(commands)
    _add_adapter(commands)
    doctor = command(commands, "doctor", "show what can run here, what cannot and why, and how to enable it")
    add_shared(doctor, "--adapters", "--color")
    reading.add_show(commands)
    reading.add_compare(commands)
    reading.add_site(commands)
    selftest = command(commands, "selftest", "check Rowpath against measurements whose results are known")
    selftest.add_argument("--full", action="store_true", help="run the long forms too (about half an hour)")
    selftest.add_argument("tests", nargs="*", metavar="NAME", help="only these tests")
    add_shared(selftest, "--color")
    setup = command(commands, "setup", "fetch and build everything that can run here, ahead of time")
    add_shared(setup, "--color")
    return parser


def commands() -> dict[str, argparse.ArgumentParser]:
    """Every command's parser by its name."""
    found = next(action for action in build_parser()._actions if isinstance(action, argparse._SubParsersAction))
    return dict(found.choices)


def option_names(parser: argparse.ArgumentParser) -> dict[str, str]:
    """The long form of each option, by where its value is kept."""
    return {action.dest: action.option_strings[-1] for action in parser._actions if action.option_strings}


def _add_list(commands: Any) -> None:
    parser = command(commands, "list", "list engines, drivers, paths, workloads or experiments")
    parser.add_argument("what", choices=("engines", "drivers", "paths", "workloads", "experiments"))
    parser.add_argument("filters", nargs="*", metavar="COORDINATE=VALUE", help="keep only paths with these values")
    add_shared(parser, "--adapters")


def _add_engine(commands: Any) -> None:
    parser = command(commands, "engine", "fetch an optional engine, or start a private server by hand")
    parser.add_argument("action", choices=("list", "fetch", "up", "down", "status"))
    parser.add_argument(
        "words",
        nargs="*",
        metavar="WORD",
        help="fetch, up, down: NAME; up: storage=VALUE, durability=VALUE, engine_version=VALUE",
    )
    parser.add_argument("--yes", action="store_true", help="fetch: agree to the licence and the size that list shows")
    parser.add_argument(
        "--load", metavar="WORKLOAD", action="append", default=[], help="up: load the tables of this workload"
    )
    parser.add_argument("--all", action="store_true", help="down: stop every running engine")


def _add_hosts(commands: Any) -> None:
    parser = command(commands, "hosts", "join several hosts: client and server on different hosts, or clients on many")
    parser.add_argument(
        "action",
        choices=("example", "setup", "check", "up", "status", "down", "node"),
        help="example: print a hosts file; setup: fetch Ray, which joins hosts; up, status, down: start, show or stop "
        "the hosts of FILE; check: measure clocks and network; node: used by up, on each host",
    )
    parser.add_argument("words", nargs="*", metavar="FILE", help="the hosts file (docs/hosts.md)")
    parser.add_argument(
        "--cluster", metavar="ADDRESS", help="instead of FILE: a Ray cluster whose labels name the hosts"
    )


def _add_adapter(commands: Any) -> None:
    parser = command(commands, "adapter", "create your own adapter, or test one against its real engine")
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


def main() -> int:
    """The exit code of a command line that only has to be answered, or WOULD_RUN."""
    try:
        parse(None)
    except UsageError as error:
        print(error.shown(), file=sys.stderr)
        return error.exit_code
    return WOULD_RUN


if __name__ == "__main__":
    sys.exit(main())
