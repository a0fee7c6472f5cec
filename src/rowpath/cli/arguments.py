"""The words and options of every command, parsed in any order.

As a program it answers what needs no package (help, version, usage errors), and ends with WOULD_RUN for the rest: a
clone asks it before it makes its environment. So this module needs the standard library only; the options of a command
stand in its own module, which then imports no room (`WILL_RUN`).
"""

from __future__ import annotations

import argparse
import importlib
import re
import sys
from typing import Any

from rowpath import __version__
from rowpath.cli.options import Parser
from rowpath.errors import UsageError

WOULD_RUN = 75  # the command line is right, and running it needs the packages
COMMANDS = {
    "run": "run an experiment and show which path is fastest",
    "probe": "find the fastest path to the rows of your own query, without changing anything",
    "explain": "show where the time of an operation goes: by library, side and waiting",
    "faults": "show what each driver does when something breaks, and how long it takes",
    "claim": "list published claims, or measure one of them here",
    "record": "record a conversation between driver and server as a tape",
    "replay": "serve a tape: drivers talk to the recorded server, without a database",
    "verify": "check every path for correctness, without measuring",
    "list": "list engines, drivers, paths, workloads or experiments",
    "engine": "fetch an optional engine, or start a private server by hand",
    "hosts": "join several hosts: client and server on different hosts, or clients on many",
    "adapter": "create your own adapter, or test one against its real engine",
    "doctor": "show what can run here, what cannot and why, and how to enable it",
    "show": "show a finished run from its directory",
    "report": "write a run's HTML report again from its directory",
    "compare": "compare two runs: which paths became slower or faster",
    "site": "write a static site over many runs, or check runs for one",
    "selftest": "check Rowpath against measurements whose results are known",
    "setup": "fetch and build everything that can run here, ahead of time",
}
SHARED_MODULES = {"record": "tape", "replay": "tape", "report": "show"}  # others have a module of their name
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
    arguments = sys.argv[1:] if arguments is None else arguments
    if not arguments:
        return argparse.Namespace(command="start")
    parser = build_parser(*[word for word in arguments if word in COMMANDS][:1])
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
        options.filters = [word for word in words if is_filter(word)]
        options.words = [word for word in words if word not in options.filters]
        options.words += program if options.command == "adapter" else []
    return options


def is_filter(word: str) -> bool:
    """Whether a word is COORDINATE=VALUE: no path, and no connection string of several `key=value`."""
    key, equals, _values = word.partition("=")
    return bool(equals) and "/" not in key and not re.search(r"=.*[\s;]\s*[\w ]+=", word)


def build_parser(*named: str) -> argparse.ArgumentParser:
    """All commands, those named with their options."""
    parser = Parser(
        prog="rowpath",
        description="Measures every path that rows take from a database to a program: which is fastest, and why.",
        epilog=EXIT_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"rowpath {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND", parser_class=Parser)
    for name, text in COMMANDS.items():
        command = commands.add_parser(name, help=text, description=text[0].upper() + text[1:] + ".")
        command.set_defaults(command=name)
        if name in named:
            function(name, "add")(command)
    return parser


def function(command: str, does: str) -> Any:
    """What a command's module does, `add` its options to a parser or `run` it; only then the module is imported."""
    module = importlib.import_module(f"rowpath.cli.{SHARED_MODULES.get(command, command)}")
    return getattr(module, f"{does}_{command}" if command in SHARED_MODULES else does)


def commands() -> dict[str, argparse.ArgumentParser]:
    """Every command's parser by its name."""
    subparsers = next(
        action for action in build_parser(*COMMANDS)._actions if isinstance(action, argparse._SubParsersAction)
    )
    return dict(subparsers.choices)


def option_names(parser: argparse.ArgumentParser) -> dict[str, str]:
    """The long form of each option, by where its value is kept."""
    return {action.dest: action.option_strings[-1] for action in parser._actions if action.option_strings}


def main() -> int:
    """The exit code of a command line that only has to be answered, or WOULD_RUN."""
    try:
        if parse(None).command == "start":
            return int(function("start", "run")(None))
    except UsageError as error:
        print(error.shown(), file=sys.stderr)
        return error.exit_code
    return WOULD_RUN


if __name__ == "__main__":
    sys.exit(main())
