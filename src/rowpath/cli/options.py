"""Options of several commands, and what the words of a command name: an experiment, a run, filters, hosts."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any, NoReturn

from rowpath.errors import UsageError
from rowpath.journal import FILE as JOURNAL
from rowpath.model.choices import TIMEOUT_S, TOGETHER

_PROGRAM = getattr(sys.modules["__main__"], "__spec__", None)
# False where a clone only asks for help or an error: the packages that it takes to run a command are not there yet.
WILL_RUN = _PROGRAM is None or _PROGRAM.name != "rowpath.cli.arguments"
EXPORTS = {
    "json": "the results as JSON",
    "csv": "the results as CSV",
    "parquet": "the results as Parquet (needs the Python package pyarrow)",
    "markdown": "the results as Markdown",
    "timeline": "every second of client groups as CSV",
    "bencher": "the valid figures in Bencher's Metric Format",
    "github_benchmark": "the valid figures for github-action-benchmark (customSmallerIsBetter)",
}
SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}
SELECTED = (
    "an experiment's name or TOML file (rowpath list experiments), and filters for its paths: "
    "engine=sqlite,postgresql language=c"
)
Filters = dict[str, tuple[str, ...]]


def export_option(form: str) -> str:
    """The option that names the file of an export."""
    return f"--export-{form.replace('_', '-')}"


SHARED: dict[str, str] = {  # options of several commands
    "--adapters": "your own adapters, runners or language: an adapters.toml (docs/add-a-driver.md)",
    "--color": "colour in the terminal (NO_COLOR is honoured)",
    "--junit": "also write each path's outcome as JUnit XML ('-' = stdout)",
    "-q --quiet": "no progress",
    "--seed": "seed of the random order (recorded; default: from the clock)",
    "--tables": "print every table, finding and sentence instead of the answer on one screen",
    "--timeout": f"longest single request to a runner (default {TIMEOUT_S:g})",
    "--together": "rank paths that differ in this coordinate in one list (fetch: rows, blocks, columns), although "
    "their work differs",
    **{export_option(form): f"also write {what} ('-' = stdout)" for form, what in EXPORTS.items()},
}
SHARED_EXPORTS = tuple(map(export_option, EXPORTS))
SHARED_HOW: dict[str, dict[str, Any]] = {  # those that are no switch
    "--adapters": {"metavar": "FILE", "type": Path},
    "--color": {"choices": ("auto", "always", "never"), "default": "auto"},
    "--junit": {"metavar": "FILE"},
    "--seed": {"type": int},
    "--timeout": {"metavar": "SECONDS", "type": float, "default": TIMEOUT_S},
    "--together": {"action": "append", "choices": TOGETHER, "default": []},
    **{option: {"metavar": "FILE"} for option in SHARED_EXPORTS},
}


class Parser(argparse.ArgumentParser):
    """argparse with Rowpath's error form."""

    # No override from typing_extensions: --help needs no package.
    def error(self, message: str) -> NoReturn:  # type: ignore[explicit-override]
        raise UsageError(message, f"{self.prog} --help")


def duration_s(option: str, text: str, least_s: float) -> float:
    """`60s`, `2min`, `90` as seconds; UsageError for anything else."""
    number = text.rstrip("abcdefghijklmnopqrstuvwxyz")
    suffix = text[len(number) :] or "s"
    try:
        seconds = float(number) * SECONDS[suffix]
    except (ValueError, KeyError):
        raise UsageError(f"invalid {option} '{text}': expected a time such as 60s", f"{option} 60s, or 5min") from None
    if not least_s <= seconds < float("inf"):
        raise UsageError(f"invalid {option} '{text}': expected at least {least_s:g} s", f"{option} 60s")
    return seconds


class Listed(argparse.Action):
    """`a,b` as words, unique; values of an option that is repeated add up."""

    def __call__(  # type: ignore[explicit-override]  # see above
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, option: str | None = None
    ) -> None:
        words = (word for word in str(values).split(",") if word)
        setattr(namespace, self.dest, tuple(dict.fromkeys((*getattr(namespace, self.dest), *words))))


def add_option(parser: argparse._ActionsContainer, form: str, help_: str, **how: Any) -> None:
    """An option in the form that `--help` shows: `-o --out FILE`; one without a value is true when it is given.

    Where neither a type nor a default is given, the value is a text, empty by default.
    """
    names = [word for word in form.split() if word.startswith("-")]
    value = form.removeprefix(" ".join(names)).strip()
    if not value:
        how = {"action": "store_true"} | how
    else:
        how = {"metavar": value} | ({} if "type" in how else {"default": ""}) | how
    parser.add_argument(*names, help=help_, **how)


def add_words(parser: argparse.ArgumentParser, named: str, help_: str) -> None:
    """Any number of words without an option."""
    parser.add_argument("words", nargs="*", metavar=named, help=help_)


def add_shared(parser: argparse.ArgumentParser, *forms: str) -> None:
    """Options of `SHARED`, in this order."""
    for form in forms:
        parser.add_argument(*form.split(), help=SHARED[form], **SHARED_HOW.get(form, {"action": "store_true"}))


def add_time(
    parser: argparse._ActionsContainer, option: str, least_s: float, help_: str, default_s: float | None = None
) -> None:
    """An option that takes `60s`, `2min` or `90`, in seconds under its name with `_s`."""
    dest = f"{option[2:].replace('-', '_')}_s"
    how: dict[str, Any] = {"dest": dest, "type": lambda text: duration_s(option, text, least_s), "default": default_s}
    add_option(parser, f"{option} TIME", help_, **how)


def add_selection(
    parser: argparse.ArgumentParser, named: str = "EXPERIMENT or COORDINATE=VALUE", help_: str = SELECTED
) -> None:
    """The words that name an experiment and filters, and what chooses among its paths."""
    add_words(parser, named, help_)
    add_option(parser, "-M --mode MODES", "short for statement=MODES (text, bound, prepared)", default=None)
    add_option(parser, "--all", "include the experiment's extended paths")
    add_shared(parser, "--adapters")


def add_out(parser: argparse.ArgumentParser, kind: str) -> None:
    """Where the run directory goes."""
    what = f"the run directory (default: rowpath-runs/{kind}-TIME)"
    add_option(parser, "-o --out DIR", what, type=Path, dest="directory")


def add_hosts(parser: argparse.ArgumentParser, what: str) -> None:
    """Where the hosts of a run are: a file, or a cluster."""
    add_option(parser, "--hosts FILE", what, type=Path)
    add_option(parser, "--cluster ADDRESS", "the same on a Ray cluster whose labels name the hosts", default=None)


def add_query(parser: argparse.ArgumentParser) -> None:
    """One query and its parameters."""
    query = parser.add_mutually_exclusive_group()
    add_option(query, "--query SQL", "the query")
    add_option(query, "--query-file FILE", "a file that holds the query", type=Path)
    add_option(query, "--table TABLE", "a whole table instead of a query")
    given = parser.add_mutually_exclusive_group()
    one = "a parameter of the query, for its next placeholder (?, $1, %%s or :name)"
    add_option(given, "--param TYPE:VALUE", one, dest="params", action="append", default=[])
    many = "a CSV file of parameters: a line of name:type, then a line for each execution"
    add_option(given, "--params FILE", many, dest="params_file", type=Path)
    add_option(given, "--params-from SQL", "a query whose rows are the parameters", dest="params_query")


def add_own_database(parser: argparse.ArgumentParser, agreed: str = "") -> None:
    """How a database of the user\'s own is read; `agreed`: to what else `--yes` agrees."""
    add_option(parser, "--max-rows N", "read at most N rows of the result", type=int)
    add_option(parser, "--jar FILE", "the JDBC driver of a jdbc: URL", type=Path)
    add_option(parser, "--odbc-driver FILE", "the ODBC driver of an odbc: URL", type=Path)
    add_option(parser, "--in-place", "open files where they are, read-only, instead of a copy")
    add_option(parser, "--yes", f"copy files of more than a gigabyte without asking{agreed}")
    add_option(parser, "--redact-query", "keep the query's text out of the run directory")


def run_directory(directory: Path, hint: str) -> Path:
    """The directory; UsageError when no run is in it."""
    if not (directory / JOURNAL).is_file():
        raise UsageError(f"{directory} is not a run directory: it has no {JOURNAL}", hint)
    return directory


def experiment_of(options: argparse.Namespace) -> str | None:
    """The only experiment named; None where there is none."""
    if len(options.words) > 1:
        names = " ".join(options.words)
        raise UsageError(f"expected one experiment, got {len(options.words)}: {names}", "rowpath run NAME")
    return options.words[0] if options.words else None


def source_of_hosts(options: argparse.Namespace) -> Path | str | None:
    """The file of hosts or the address of a cluster; None without both."""
    if options.hosts and options.cluster:
        raise UsageError("--hosts and --cluster exclude each other", "give one of them")
    return options.hosts or options.cluster  # type: ignore[no-any-return]


def filters_of(options: argparse.Namespace) -> Filters:
    """The words with `=`, and the options that are short for some."""
    words = list(options.filters)
    short = {"statement": "mode", "driver": "driver", "version": "version"}
    words += [f"{key}={value}" for key, option in short.items() if (value := getattr(options, option, ""))]
    return parse_filters(words)


def parse_filters(words: list[str]) -> Filters:
    """`key=a,b` words as a mapping; values of a key that is repeated add up. UsageError for anything else."""
    filters: Filters = {}
    for word in words:
        key, equals, values = word.partition("=")
        if not equals or not values:
            hint = "for example: engine=sqlite,postgresql language=c"
            raise UsageError(f"expected COORDINATE=VALUE, got '{word}'", hint)
        filters[key] = tuple(dict.fromkeys((*filters.get(key, ()), *values.split(","))))
    if "version" in filters:
        filters["version"] = tuple(map(placed, filters["version"]))
    return filters


def placed(version: str) -> str:
    """A version that is a file or a folder, by its whole path."""
    return str(Path(version).resolve()) if "/" in version else version
