"""The words and options of every command, parsed in any order."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any, NoReturn

from typing_extensions import override

from rowpath import __version__
from rowpath.errors import UsageError
from rowpath.model.comparison import DIFFERENCES
from rowpath.model.experiment import WAIT_FOR_QUIET_S
from rowpath.model.path import TOGETHER

EXIT_CODES = """exit codes:
  0    fine (findings included)
  1    a path failed or returned wrong rows (only verify, selftest, adapter test, run --gate), --fail-on fails,
       or site --check refuses a run
  2    usage or configuration
  3    a requirement is missing on this machine
  4    internal or protocol error
  124  timed out
  130  interrupted; the results so far are kept"""

EXPORTS = {
    "json": "the results as json",
    "csv": "the results as csv",
    "parquet": "the results as Parquet (needs the Python package pyarrow)",
    "markdown": "the results as markdown",
    "timeline": "every second of client groups as csv",
    "bencher": "the figures that count in Bencher's Metric Format",
    "github_benchmark": "the figures that count for github-action-benchmark (customSmallerIsBetter)",
}
SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}
LEAST_BUDGET_S = 5.0
SELECTED = (
    "an experiment's name or TOML file (rowpath list experiments), and filters for its paths: "
    "engine=sqlite,postgresql language=c"
)
CONFIRM_SETS = 10


def export_option(form: str) -> str:
    """The option that names the file of an export."""
    return f"--export-{form.replace('_', '-')}"


SHARED: dict[str, dict[str, Any]] = {  # options of several commands
    "--adapters": {
        "metavar": "FILE",
        "type": Path,
        "help": "your own adapters, runners or language: an adapters.toml (docs/add-a-driver.md)",
    },
    "--color": {
        "choices": ("auto", "always", "never"),
        "default": "auto",
        "help": "colour in the terminal (NO_COLOR is honoured)",
    },
    "-q --quiet": {"action": "store_true", "help": "no progress"},
    "--seed": {"type": int, "help": "seed of the random order (recorded; default: from the clock)"},
    "--tables": {
        "action": "store_true",
        "help": "print every table, finding and sentence instead of the answer on one screen",
    },
    "--timeout": {
        "metavar": "SECONDS",
        "type": float,
        "default": 120.0,
        "help": "longest single request to a runner (default 120)",
    },
    "--together": {
        "action": "append",
        "choices": TOGETHER,
        "default": [],
        "help": "rank paths that differ in this coordinate in one list (fetch: rows, blocks, columns), although "
        "their work differs",
    },
    **{
        export_option(form): {"metavar": "FILE", "help": f"also write {what} ('-' = stdout)"}
        for form, what in EXPORTS.items()
    },
}
SHARED_EXPORTS = tuple(map(export_option, EXPORTS))


class Parser(argparse.ArgumentParser):
    """argparse with Rowpath's error form."""

    @override
    def error(self, message: str) -> NoReturn:
        raise UsageError(message, f"{self.prog} --help")


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


def duration_s(option: str, text: str, least_s: float) -> float:
    """`60s`, `2min`, `90` as seconds; UsageError for anything else."""
    number = text.rstrip("abcdefghijklmnopqrstuvwxyz")
    suffix = text[len(number) :] or "s"
    try:
        found = float(number) * SECONDS[suffix]
    except (ValueError, KeyError):
        raise UsageError(f"invalid {option} '{text}': expected a time such as 60s", f"{option} 60s, or 5min") from None
    if not least_s <= found < float("inf"):
        raise UsageError(f"invalid {option} '{text}': expected at least {least_s:g} s", f"{option} 60s")
    return found


def placed(version: str) -> str:
    """A version that is a file or a folder, by its whole path."""
    return str(Path(version).resolve()) if "/" in version else version


def _listed(text: str) -> tuple[str, ...]:
    return tuple(word for word in text.split(",") if word)


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
    _add_probe(commands)
    _add_explain(commands)
    _add_tape(commands)
    _add_verify(commands)
    _add_list(commands)
    _add_engine(commands)
    _add_hosts(commands)
    _add_adapter(commands)
    doctor = _command(commands, "doctor", "show what can run here, what cannot, why, and how to enable it")
    _add_shared(doctor, "--adapters", "--color")
    _add_show(commands)
    _add_compare(commands)
    _add_site(commands)
    selftest = _command(commands, "selftest", "check Rowpath against measurements whose results are known")
    selftest.add_argument("--full", action="store_true", help="the long forms too (about half an hour)")
    selftest.add_argument("tests", nargs="*", metavar="NAME", help="only these tests")
    _add_shared(selftest, "--color")
    setup = _command(commands, "setup", "fetch and build everything that can run here, ahead of time")
    _add_shared(setup, "--color")
    return parser


def commands() -> dict[str, argparse.ArgumentParser]:
    """Every command's parser by its name."""
    found = next(action for action in build_parser()._actions if isinstance(action, argparse._SubParsersAction))
    return dict(found.choices)


def _command(commands: Any, name: str, text: str) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = commands.add_parser(name, help=text, description=text[0].upper() + text[1:] + ".")
    parser.set_defaults(command=name)
    return parser


def _add_shared(parser: argparse.ArgumentParser, *names: str) -> None:
    for name in names:
        parser.add_argument(*name.split(), **SHARED[name])


def _add_time(
    parser: argparse._ActionsContainer, option: str, least_s: float, help_: str, default_s: float | None = None
) -> None:
    """An option that takes `60s`, `2min` or `90`, in seconds under its name with `_s`."""
    parser.add_argument(
        option,
        metavar="TIME",
        dest=f"{option[2:].replace('-', '_')}_s",
        type=lambda text: duration_s(option, text, least_s),
        default=default_s,
        help=help_,
    )


def _add_selection(
    parser: argparse.ArgumentParser, named: str = "EXPERIMENT or COORDINATE=VALUE", help_: str = SELECTED
) -> None:
    parser.add_argument("words", nargs="*", metavar=named, help=help_)
    parser.add_argument("-M", "--mode", metavar="MODES", help="short for statement=MODES (text, bound, prepared)")
    parser.add_argument("--all", action="store_true", help="include the experiment's extended paths")
    _add_shared(parser, "--adapters")


def _add_out(parser: argparse.ArgumentParser, kind: str) -> None:
    default = f"rowpath-runs/{kind}-TIME"
    help_ = f"the run directory (default: {default})"
    parser.add_argument("-o", "--out", metavar="DIR", type=Path, dest="directory", help=help_)


def _add_run(commands: Any) -> None:
    parser = _command(commands, "run", "run an experiment and show which path is fastest")
    _add_selection(parser)
    parser.add_argument(
        "--tape",
        metavar="FILE",
        type=Path,
        help="replay this tape instead of a server; without EXPERIMENT what was recorded on it",
    )
    parser.add_argument("--driver", metavar="NAMES", default="", help="short for driver=NAMES")
    parser.add_argument(
        "--version",
        metavar="VERSIONS",
        default="",
        help="short for version=VERSIONS, of --driver: releases (42.7.8) and files of your build (a jar, a wheel or "
        "folder, a libpq.so), measured in the same sets",
    )
    _add_out(parser, "NAME")
    parser.add_argument(
        "--resume", metavar="DIR", type=Path, help="resume an interrupted run; finished sets are not repeated"
    )
    parser.add_argument(
        "--plan",
        action="store_true",
        help="show what would run, what would not and why, and the estimated time",
    )
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
        help="search for the client group's highest rate whose 99th percentile of latency stays below MS",
    )
    parser.add_argument("--seconds", metavar="S", type=float, default=0.0, help="length of each stage of client groups")
    presets = parser.add_mutually_exclusive_group()
    presets.add_argument("--fast", action="store_true", help="3 sets: provisional figures, no claims")
    presets.add_argument("--rigorous", action="store_true", help="10 sets at full size, servers restarted for each")
    presets.add_argument("-r", "--runs", metavar="SETS", type=int, help="number of sets")
    _add_time(
        presets,
        "--within",
        1.0,
        "end in this time (3m, 90s): fewer sets, rounds and rows where needed; says what that costs in certainty",
    )
    parser.add_argument("-w", "--warmup", metavar="SECONDS", type=float, help="longest warm-up per path and phase")
    waiting = f"wait at most so long, in all, until other programs leave the measured cores ({WAIT_FOR_QUIET_S:g}s)"
    parser.add_argument(
        "--hosts", metavar="FILE", type=Path, help="client and server on the hosts of this file (docs/hosts.md)"
    )
    _add_time(parser, "--wait-for-quiet", 0.0, waiting, WAIT_FOR_QUIET_S)
    _add_shared(parser, "--seed", "--timeout", "--together")
    parser.add_argument("--gate", action="store_true", help="exit with 1 when a path failed or returned wrong rows")
    _add_shared(parser, "-q --quiet", "--tables", *SHARED_EXPORTS, "--color")


def _add_tape(commands: Any) -> None:
    parser = _command(commands, "record", "record a conversation between driver and server as a tape")
    parser.add_argument(
        "words",
        nargs="*",
        metavar="URL or COORDINATE=VALUE",
        help="the server: postgresql://…, mariadb://… or mysql://…; the command that talks to it stands after --, and "
        "finds the recording proxy in ROWPATH_URL and in place of {url}; with --experiment filters for its paths",
    )
    parser.add_argument("-o", "--out", metavar="FILE.tape", type=Path, required=True, help="the tape")
    parser.add_argument("--scrub", action="store_true", help="replace the values of all rows by noise of the same size")
    parser.add_argument(
        "--experiment",
        metavar="NAME",
        default="",
        help="instead of a command: paths of this experiment on a server of Rowpath's own, each phase that reads",
    )
    _add_shared(parser, "--adapters", "--timeout", "-q --quiet", "--color")
    parser = _command(commands, "replay", "serve a tape: a driver meets the recorded server, without a database")
    parser.add_argument("tape", metavar="FILE.tape", type=Path, help="then, after --, a command to run beside it")
    parser.add_argument("--port", metavar="N", type=int, default=0, help="port of 127.0.0.1 (default: any free one)")
    parser.add_argument(
        "--line-rate", action="store_true", help="send as fast as the kernel takes it, not in a server's small pieces"
    )


def _add_query(parser: argparse.ArgumentParser) -> None:
    query = parser.add_mutually_exclusive_group()
    query.add_argument("--query", metavar="SQL", default="", help="the query")
    query.add_argument("--query-file", metavar="FILE", type=Path, help="a file that holds the query")
    query.add_argument("--table", metavar="TABLE", default="", help="a whole table instead of a query")
    given = parser.add_mutually_exclusive_group()
    given.add_argument(
        "--param",
        metavar="TYPE:VALUE",
        dest="params",
        action="append",
        default=[],
        help="a parameter of the query, for its next placeholder (?, $1, %%s or :name)",
    )
    given.add_argument(
        "--params",
        metavar="FILE",
        dest="params_file",
        type=Path,
        help="a CSV file of parameters: a line of name:type, then a line for each execution",
    )
    given.add_argument(
        "--params-from", metavar="SQL", dest="params_query", default="", help="a query whose rows are the parameters"
    )


def _add_own_database(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--max-rows", metavar="N", type=int, help="read at most N rows of the result")
    parser.add_argument("--jar", metavar="FILE", type=Path, help="the JDBC driver of a jdbc: URL")
    parser.add_argument("--odbc-driver", metavar="FILE", type=Path, help="the ODBC driver of an odbc: URL")
    parser.add_argument(
        "--in-place", action="store_true", help="open files where they are, read-only, instead of a copy"
    )
    parser.add_argument("--yes", action="store_true", help="copy files of more than a gigabyte without asking")
    parser.add_argument("--redact-query", action="store_true", help="keep the query's text out of the run directory")


def _add_explain(commands: Any) -> None:
    parser = _command(commands, "explain", "show where the time of an operation goes: by library, side and waiting")
    _add_selection(
        parser,
        "EXPERIMENT, RUN, URL, PATH, PHASE or COORDINATE=VALUE",
        "an experiment, a run directory, or a database's URL with --query; then which paths: "
        "filters such as engine=postgresql, or names of paths and phases",
    )
    _add_query(parser)
    _add_own_database(parser)
    parser.add_argument("--phase", metavar="PHASE", default="", help="only this phase (default: all that read)")
    parser.add_argument(
        "-b", "--blocks", metavar="N", type=int, default=5, help="blocks of a second, and as many profiled (default 5)"
    )
    parser.add_argument("--how", action="store_true", help="also show by which clock each part is known")
    parser.add_argument(
        "--no-flame",
        dest="flame",
        action="store_false",
        help="leave out the flame graphs, which take some seconds more",
    )
    parser.add_argument(
        "--no-hops",
        dest="hops",
        action="store_false",
        help="leave out the hops between client and server, for which servers of ours are restarted",
    )
    parser.add_argument(
        "--against",
        metavar="COORDINATE=VALUE",
        nargs="+",
        default=[],
        help="also explain each path's like with this value, and show what differs",
    )
    _add_out(parser, "explain")
    _add_shared(parser, "--timeout", "-q --quiet", "--color")


def _add_probe(commands: Any) -> None:
    parser = _command(
        commands, "probe", "find the fastest path to the rows of your own query, without changing anything"
    )
    parser.add_argument(
        "url",
        metavar="URL",
        help="scheme://[user[:password]@]host[:port]/database, or sqlite:///PATH, duckdb:///PATH, file:///PATH, jdbc:…",
    )
    _add_query(parser)
    for what in ("language", "driver"):
        how: dict[str, Any] = {"dest": f"{what}s", "type": _listed, "default": ()}
        parser.add_argument(f"--{what}", metavar="NAMES", help=f"only these {what}s (default: all)", **how)
    searching = "search until the winner is decided, at most this long (default 2min)"
    _add_time(parser, "--budget", LEAST_BUDGET_S, searching, 120.0)
    parser.add_argument(
        "--mine",
        metavar="DRIVER[,SETTING=VALUE…]",
        default="",
        help="what you use now, to compare with (default: the commonest driver of each language as it ships)",
    )
    parser.add_argument(
        "--connections", metavar="N", type=int, default=4, help="maximum number of connections at once (default 4)"
    )
    _add_own_database(parser)
    _add_out(parser, "probe")
    _add_shared(parser, "--seed", "-q --quiet", "--tables", *SHARED_EXPORTS, "--adapters", "--color")


def _add_verify(commands: Any) -> None:
    parser = _command(commands, "verify", "check every path for correctness, without measuring")
    _add_selection(parser)
    _add_out(parser, "verify")
    _add_shared(parser, "--timeout")
    parser.add_argument("-v", "--verbose", action="store_true", help="show each digest beside the expected one")
    _add_shared(parser, "-q --quiet", "--color")


def _add_list(commands: Any) -> None:
    parser = _command(commands, "list", "list engines, drivers, paths, workloads or experiments")
    parser.add_argument("what", choices=("engines", "drivers", "paths", "workloads", "experiments"))
    parser.add_argument("filters", nargs="*", metavar="COORDINATE=VALUE", help="keep only paths with these values")
    _add_shared(parser, "--adapters")


def _add_engine(commands: Any) -> None:
    parser = _command(commands, "engine", "fetch an optional engine, or start a private server to look at")
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
    parser.add_argument("--all", action="store_true", help="down: every running engine")


def _add_hosts(commands: Any) -> None:
    parser = _command(commands, "hosts", "join several hosts, so that client and server of a path can be apart")
    parser.add_argument(
        "action",
        choices=("setup", "check", "up", "status", "down", "node"),
        help="setup: fetch what joins hosts; up, status, down: on the hosts of FILE; check: measure clocks and "
        "network; node: what up runs on a host",
    )
    parser.add_argument("words", nargs="*", metavar="FILE", help="the hosts (docs/hosts.md)")


def _add_adapter(commands: Any) -> None:
    parser = _command(commands, "adapter", "create your own adapter, or test one against its real engine")
    parser.add_argument("action", choices=("new", "test"))
    parser.add_argument(
        "words",
        nargs="*",
        metavar="WORD",
        help="new: LANGUAGE NAME, and engine=ENGINE (sqlite); test: NAME, or a runner's command (options of its own "
        "after --), and COORDINATE=VALUE to keep",
    )
    parser.add_argument(
        "--into",
        metavar="DIR",
        type=Path,
        default=Path("rowpath-adapters"),
        help="new: the directory for adapters.toml and the source (default rowpath-adapters)",
    )
    _add_shared(parser, "--adapters")
    parser.add_argument(
        "--every", action="store_true", help="test: every path, not just the default with each other value once"
    )
    _add_shared(parser, "--color")


def _add_show(commands: Any) -> None:
    parser = _command(commands, "show", "show a finished run from its directory")
    parser.add_argument("directory", metavar="DIR", type=Path)
    _add_shared(parser, "--together", "--tables", *SHARED_EXPORTS, "--color")
    _add_projection(parser)
    parser = _command(commands, "report", "write a run's HTML report again from its directory")
    parser.add_argument("directory", metavar="DIR", type=Path)
    _add_shared(parser, "--together")
    parser.add_argument("-o", "--out", metavar="FILE", type=Path, help="the page (default: DIR/report.html)")


def _add_projection(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group(
        "projection",
        "matrices instead of the answer, for the terminal, --export-markdown and --export-csv; COORD: a coordinate of "
        "the paths, or path, phase, regime, stage, client_group",
    )
    how: dict[str, Any] = {"metavar": "COORD[,COORD]", "type": _listed, "default": ()}
    group.add_argument("--row", dest="rows", help="a row for each value (default: the first that varies)", **how)
    group.add_argument("--col", dest="columns", help="a column for each; ratios are to the first column", **how)
    group.add_argument("--table", dest="table_axes", help="a table for each, beside phase and regime", **how)
    group.add_argument("--ignore", dest="ignored", help="may vary within a cell without a note", **how)
    group.add_argument(
        "--filter",
        dest="filter_words",
        metavar="COORD=VALUE[,VALUE]",
        nargs="+",
        action="extend",
        default=[],
        help="only paths with these values, shown in this order",
    )
    group.add_argument("--metric", metavar="NAME", default="", help="what cells show (default: time)")


def _add_compare(commands: Any) -> None:
    parser = _command(commands, "compare", "compare two runs: which paths became slower or faster")
    parser.add_argument("base", metavar="BASE", help="the directory of a run; several runs: BASE1,BASE2")
    parser.add_argument(
        "head", metavar="HEAD", nargs="?", help="the directory of a later run; several runs: HEAD1,HEAD2"
    )
    parser.add_argument(
        "--version",
        metavar="BASE,HEAD",
        default="",
        help="instead of HEAD: two versions of a driver that the run BASE measured in the same sets (42.7.8,FILE)",
    )
    parser.add_argument(
        "--despite",
        metavar="WHAT",
        action="append",
        choices=DIFFERENCES,
        default=[],
        help=f"compare although this differs too ({', '.join(DIFFERENCES)})",
    )
    parser.add_argument(
        "--fail-on",
        metavar="CHANGE=PERCENT",
        action="append",
        default=[],
        help="exit with 1 when the interval of a path lies beyond it: slower=5%%, faster=5%%, or a metric that grew: "
        "client_cpu=5%%",
    )
    parser.add_argument(
        "--confirm",
        action="store_true",
        help="measure suspicious paths again, both builds in the same sets of one run (a driver's or engine's version)",
    )
    parser.add_argument(
        "-r", "--runs", metavar="SETS", type=int, default=CONFIRM_SETS, help=f"sets of --confirm ({CONFIRM_SETS})"
    )
    parser.add_argument("--all", action="store_true", help="show every row, not just those that changed")
    for form in ("json", "markdown"):
        words = f"also write the comparison as {form} ('-' = stdout)"
        parser.add_argument(f"--export-{form}", metavar="FILE", help=words)
    parser.add_argument("-o", "--out", metavar="FILE.html", type=Path, help="also write it as a page")
    _add_shared(parser, "--adapters", "--timeout", "-q --quiet", "--color")


def _add_site(commands: Any) -> None:
    parser = _command(commands, "site", "write a static site over many runs, or check runs for one")
    parser.add_argument(
        "directories", metavar="DIR", type=Path, nargs="+", help="directories of runs, at any depth below them"
    )
    parser.add_argument("-o", "--out", metavar="SITE", type=Path, help="the directory of the site")
    parser.add_argument(
        "--check", action="store_true", help="only print for each run whether a site accepts it; 1 when one is refused"
    )
    parser.add_argument(
        "--without-pages", action="store_true", help="leave out the runs' own reports: a smaller site, sooner built"
    )
    _add_shared(parser, "-q --quiet")
