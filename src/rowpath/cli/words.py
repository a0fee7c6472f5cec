"""What the words of a command name: one experiment, a run's directory, filters of coordinates."""

from __future__ import annotations

import argparse
from pathlib import Path

from rowpath.errors import UsageError
from rowpath.journal import FILE as JOURNAL

Filters = dict[str, tuple[str, ...]]


def run_directory(directory: Path, hint: str) -> Path:
    """The directory; UsageError when no run is in it."""
    if not (directory / JOURNAL).is_file():
        raise UsageError(f"{directory} is not a run directory: it has no {JOURNAL}", hint)
    return directory


def experiment(options: argparse.Namespace) -> str | None:
    """The only experiment named; None where there is none."""
    if len(options.words) > 1:
        names = " ".join(options.words)
        raise UsageError(f"expected one experiment, got {len(options.words)}: {names}", "rowpath run NAME")
    return options.words[0] if options.words else None


def source_of_hosts(options: argparse.Namespace) -> Path | str | None:
    """The file of hosts or the address of a cluster; None without both."""
    if options.hosts and options.cluster:
        raise UsageError("--hosts and --cluster exclude each other", "give one of them")
    source: Path | str | None = options.hosts or options.cluster
    return source


def filters(options: argparse.Namespace) -> Filters:
    """The words with `=`, and the options that are short for some."""
    words = list(options.filters)
    for key, option in (("statement", "mode"), ("driver", "driver"), ("version", "version")):
        if value := getattr(options, option, ""):
            words.append(f"{key}={value}")
    return parse_filters(words)


def parse_filters(words: list[str]) -> Filters:
    """`key=a,b` words as a mapping; values of a key that is repeated add up. UsageError for anything else."""
    found: Filters = {}
    for word in words:
        key, equals, values = word.partition("=")
        if not equals or not values:
            raise UsageError(
                f"expected COORDINATE=VALUE, got '{word}'", "for example: engine=sqlite,postgresql language=c"
            )
        found[key] = tuple(dict.fromkeys((*found.get(key, ()), *values.split(","))))
    if "version" in found:
        found["version"] = tuple(map(placed, found["version"]))
    return found


def placed(version: str) -> str:
    """A version that is a file or a folder, by its whole path."""
    return str(Path(version).resolve()) if "/" in version else version
