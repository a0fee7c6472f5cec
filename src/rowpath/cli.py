"""The command line: one function per command, each importing what it needs when it runs."""

from __future__ import annotations

import argparse
import io
import os
import signal
import sys
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from rowpath import __version__
from rowpath.errors import RowpathError, UsageError

if TYPE_CHECKING:
    from rich.console import Console

    from rowpath.model import Analysis

EXIT_CODES = """exit codes:
  0    fine (findings included)
  1    finished, but a path failed or was wrong, and that was asked about (verify, selftest, run --gate)
  2    usage or configuration
  3    something this machine lacks
  4    internal or protocol error
  124  timed out
  130  interrupted; what was measured is kept"""


class Parser(argparse.ArgumentParser):
    """argparse with Rowpath's error form."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(message, f"{self.prog} --help")


def main(arguments: list[str] | None = None) -> int:
    """Run one command; returns the exit code."""
    signal.signal(signal.SIGTERM, _interrupt)
    signal.signal(signal.SIGHUP, _interrupt)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a locale that lacks a character must not end a run
    try:
        options = _parse(arguments)
        command: Callable[[argparse.Namespace], int] = options.command
        return command(options)
    except RowpathError as error:
        print(f"error: {error.message}", file=sys.stderr)
        if error.hint:
            print(f"\nhint: {error.hint}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        print("\nerror: interrupted\n\nhint: what was measured is kept: rowpath run --resume DIR", file=sys.stderr)
        return 130
    except BrokenPipeError:
        # The reader of stdout has gone (head, less): nothing more to say, also not at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:
        traceback.print_exc()
        print(f"error: {type(error).__name__}: {error}\n\nhint: report it with the lines above", file=sys.stderr)
        return 4


def _parse(arguments: list[str] | None) -> argparse.Namespace:
    """Parse with options and words in any order (argparse takes positional words only where it first meets them)."""
    parser = build_parser()
    options, rest = parser.parse_known_args(arguments)
    unknown = [word for word in rest if word.startswith("-")]
    if unknown or (rest and not hasattr(options, "words")):
        raise UsageError(f"unrecognised: {' '.join(unknown or rest)}", "rowpath --help")
    if hasattr(options, "words"):
        words = [*options.words, *rest]
        options.filters = [word for word in words if "=" in word and "/" not in word.partition("=")[0]]
        names = [word for word in words if word not in options.filters]
        if len(names) > 1:
            raise UsageError(f"one experiment at a time, not {len(names)}: {' '.join(names)}", "rowpath run NAME")
        options.experiment = names[0] if names else None
    return options


def _interrupt(_number: int, _frame: object) -> None:
    raise KeyboardInterrupt


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
    _add_run(commands)
    _add_verify(commands)
    _add_list(commands)
    doctor_parser = _command(commands, "doctor", doctor, "what can run here, what can't, why, and what would enable it")
    _add_color(doctor_parser)
    _add_show(commands)
    selftest_parser = _command(commands, "selftest", selftest, "prove that the instrument is true, by known answers")
    selftest_parser.add_argument("--full", action="store_true", help="the long forms too (about half an hour)")
    selftest_parser.add_argument("tests", nargs="*", metavar="NAME", help="only these tests")
    _add_color(selftest_parser)
    setup_parser = _command(
        commands, "setup", setup, "fetch and build everything that can run here, so that later commands need not"
    )
    _add_color(setup_parser)
    return parser


def _command(
    commands: Any, name: str, function: Callable[[argparse.Namespace], int], text: str
) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = commands.add_parser(name, help=text, description=text[0].upper() + text[1:] + ".")
    parser.set_defaults(command=function)
    return parser


def _add_color(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--color",
        choices=("auto", "always", "never"),
        default="auto",
        help="colour in the terminal (NO_COLOR is honoured)",
    )


def _add_exports(parser: argparse.ArgumentParser) -> None:
    for form in ("json", "csv", "markdown"):
        parser.add_argument(f"--export-{form}", metavar="FILE", help=f"also write the results as {form} ('-' = stdout)")


def _add_selection(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "words",
        nargs="*",
        metavar="EXPERIMENT or COORDINATE=VALUE",
        help="an experiment's name or TOML file (rowpath list experiments), and what to keep of its paths: "
        "engine=sqlite,postgresql language=c",
    )
    parser.add_argument("-M", "--mode", metavar="MODES", help="the same as statement=MODES (text, bound, prepared)")
    parser.add_argument("--all", action="store_true", help="also the experiment's extended paths")
    parser.add_argument(
        "--adapters",
        metavar="FILE",
        type=Path,
        help="runners of your own: an adapters.toml whose entries have a command",
    )


def _add_run(commands: Any) -> None:
    parser = _command(commands, "run", run, "run an experiment and say which path is fastest")
    _add_selection(parser)
    parser.add_argument(
        "-o", "--out", metavar="DIR", type=Path, help="the run directory (default: rowpath-runs/NAME-TIME)"
    )
    parser.add_argument(
        "--resume", metavar="DIR", type=Path, help="go on with a run that was stopped, repeating nothing that is done"
    )
    parser.add_argument(
        "--plan",
        action="store_true",
        help="only say what would run, what would not and why, and how long it would take",
    )
    presets = parser.add_mutually_exclusive_group()
    presets.add_argument("--fast", action="store_true", help="3 sets: provisional, no claims")
    presets.add_argument("--rigorous", action="store_true", help="10 sets, servers restarted for each")
    presets.add_argument("-r", "--runs", metavar="SETS", type=int, help="this many sets")
    parser.add_argument("-w", "--warmup", metavar="SECONDS", type=float, help="longest warm-up per path and phase")
    parser.add_argument("--seed", type=int, help="of the random order (recorded; default: from the clock)")
    parser.add_argument(
        "--timeout",
        metavar="SECONDS",
        type=float,
        default=120.0,
        help="longest single request to a runner (default 120)",
    )
    parser.add_argument("--gate", action="store_true", help="exit with 1 when a path failed or was wrong")
    parser.add_argument("-q", "--quiet", action="store_true", help="no progress")
    _add_exports(parser)
    _add_color(parser)


def _add_verify(commands: Any) -> None:
    parser = _command(commands, "verify", verify, "one cheap pass over every path: correctness alone, no measuring")
    _add_selection(parser)
    parser.add_argument(
        "-o", "--out", metavar="DIR", type=Path, help="the run directory (default: rowpath-runs/verify-TIME)"
    )
    parser.add_argument(
        "--timeout",
        metavar="SECONDS",
        type=float,
        default=120.0,
        help="longest single request to a runner (default 120)",
    )
    parser.add_argument("-v", "--verbose", action="store_true", help="every digest beside the expected one")
    parser.add_argument("-q", "--quiet", action="store_true", help="no progress")
    _add_color(parser)


def _add_list(commands: Any) -> None:
    parser = _command(commands, "list", list_things, "list engines, paths, workloads or experiments")
    parser.add_argument("what", choices=("engines", "paths", "workloads", "experiments"))
    parser.add_argument("filters", nargs="*", metavar="COORDINATE=VALUE", help="keep only paths with these values")


def _add_show(commands: Any) -> None:
    parser = _command(commands, "show", show, "show a run again, from its directory alone")
    parser.add_argument("directory", metavar="DIR", type=Path)
    _add_exports(parser)
    _add_color(parser)
    parser = _command(commands, "report", report, "write a run's HTML report again, from its directory alone")
    parser.add_argument("directory", metavar="DIR", type=Path)
    parser.add_argument("-o", "--out", metavar="FILE", type=Path, help="the page (default: DIR/report.html)")


def run(options: argparse.Namespace) -> int:
    """`rowpath run`."""
    from rowpath import session

    filters = _filters(options)
    if options.resume:
        if options.experiment or filters:
            raise UsageError(
                "--resume takes everything from the run directory", f"rowpath run --resume {options.resume}"
            )
        outcome = session.resume(options.resume, quiet=options.quiet, timeout_s=options.timeout, color=options.color)
    else:
        if not options.experiment:
            raise UsageError("which experiment?", "rowpath list experiments, then: rowpath run NAME")
        plan = session.plan_for(
            options.experiment,
            filters,
            extended=options.all,
            sets=3 if options.fast else 10 if options.rigorous else options.runs,
            warm_cap_s=options.warmup,
            seed=options.seed,
        )
        if options.plan:
            session.print_plan(plan, _console(options.color))
            return 0
        exports = _open_exports(options)
        outcome = session.run_plan(
            plan,
            directory=options.out,
            quiet=options.quiet,
            timeout_s=options.timeout,
            color=options.color,
            restart_servers=options.rigorous,
        )
        return _finish(outcome, options, exports)
    return _finish(outcome, options, _open_exports(options))


def _finish(outcome: Any, options: argparse.Namespace, exports: dict[str, Any]) -> int:
    from rowpath.report import html, terminal

    analysis: Analysis = outcome.analysis
    html.write(analysis, outcome.directory.report)
    _write_exports(analysis, exports)
    data_on_stdout = any(getattr(options, f"export_{form}", None) == "-" for form in ("json", "csv", "markdown"))
    terminal.render(analysis, _console(options.color, to_stderr=data_on_stdout), report_path=outcome.directory.report)
    if outcome.interrupted:
        print(
            f"\nerror: interrupted\n\nhint: go on with: rowpath run --resume {outcome.directory.path}", file=sys.stderr
        )
        return 130
    if getattr(options, "gate", False) and any(result.status in ("wrong", "failed") for result in analysis.results):
        return 1
    return 0


def verify(options: argparse.Namespace) -> int:
    """`rowpath verify`."""
    from rowpath import session

    return session.verify(
        options.experiment,
        _filters(options),
        extended=options.all,
        directory=options.out,
        quiet=options.quiet,
        timeout_s=options.timeout,
        verbose=options.verbose,
        console=_console(options.color),
    )


def list_things(options: argparse.Namespace) -> int:
    """`rowpath list`."""
    from rowpath import listing

    filters = parse_filters(options.filters)
    if filters and options.what != "paths":
        raise UsageError(f"list {options.what} takes no filter", "rowpath list paths engine=sqlite")
    lines: dict[str, Callable[[], Iterator[str]]] = {
        "engines": listing.engines,
        "workloads": listing.workloads_lines,
        "experiments": listing.experiments_lines,
        "paths": lambda: listing.paths(filters),
    }
    for line in lines[options.what]():
        print(line)
    return 0


def doctor(options: argparse.Namespace) -> int:
    """`rowpath doctor`."""
    from rowpath import doctor as checks

    checks.render(_console(options.color))
    return 0


def show(options: argparse.Namespace) -> int:
    """`rowpath show`."""
    from rowpath.analysis import analyse
    from rowpath.report import terminal

    directory = _run_directory(options.directory)
    exports = _open_exports(options)
    analysis = analyse(directory)
    _write_exports(analysis, exports)
    data_on_stdout = any(getattr(options, f"export_{form}") == "-" for form in ("json", "csv", "markdown"))
    if not data_on_stdout:
        page = directory / "report.html"
        terminal.render(analysis, _console(options.color), report_path=page if page.exists() else None)
    return 0


def report(options: argparse.Namespace) -> int:
    """`rowpath report`."""
    from rowpath.analysis import analyse
    from rowpath.report import html

    directory = _run_directory(options.directory)
    target = options.out or directory / "report.html"
    html.write(analyse(directory), target)
    print(target)
    return 0


def selftest(options: argparse.Namespace) -> int:
    """`rowpath selftest`."""
    from rowpath import selftest as known_answers

    return known_answers.run(options.tests, full=options.full, console=_console(options.color))


def setup(options: argparse.Namespace) -> int:
    """`rowpath setup`."""
    from rowpath import session

    session.build_everything(_console(options.color, to_stderr=True))
    return 0


def _run_directory(directory: Path) -> Path:
    if not (directory / "samples.jsonl").is_file():
        raise UsageError(
            f"{directory} holds no run: there is no samples.jsonl in it", "give the directory that rowpath run named"
        )
    return directory


def _filters(options: argparse.Namespace) -> dict[str, tuple[str, ...]]:
    if options.adapters:
        from rowpath.languages import add_external

        add_external(options.adapters)
    words = list(options.filters)
    if options.mode:
        words.append(f"statement={options.mode}")
    return parse_filters(words)


def parse_filters(words: list[str]) -> dict[str, tuple[str, ...]]:
    """`key=a,b` words as a mapping; UsageError for anything else."""
    filters: dict[str, tuple[str, ...]] = {}
    for word in words:
        key, equals, values = word.partition("=")
        if not equals or not values:
            raise UsageError(f"'{word}' is not COORDINATE=VALUE", "for example: engine=sqlite,postgresql language=c")
        filters[key] = tuple(values.split(","))
    return filters


def _console(color: str, to_stderr: bool = False) -> Console:
    from rowpath.report.terminal import make_console

    return make_console(color, to_stderr=to_stderr)


def _open_exports(options: argparse.Namespace) -> dict[str, Any]:
    from rowpath.report.exports import open_export

    asked = {form: getattr(options, f"export_{form}") for form in ("json", "csv", "markdown")}
    return {form: open_export(file) for form, file in asked.items() if file}


def _write_exports(analysis: Analysis, exports: dict[str, Any]) -> None:
    if not exports:
        return
    from rowpath.report import exports as writers

    for form, file in exports.items():
        getattr(writers, f"write_{form}")(analysis, file)
