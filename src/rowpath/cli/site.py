"""`rowpath site`: write a static site over many runs, or say which of them one accepts."""

from __future__ import annotations

import argparse
import itertools
import sys
from pathlib import Path

from rowpath.cli.options import WILL_RUN, add_option, add_shared
from rowpath.errors import UsageError
from rowpath.text import counted

if WILL_RUN:
    from rowpath.site.build import build, check
    from rowpath.site.read import Examined


def add(parser: argparse.ArgumentParser) -> None:
    """The options of `site`."""
    runs = "directories of runs, at any depth below them"
    parser.add_argument("directories", metavar="DIR", type=Path, nargs="+", help=runs)
    add_option(parser, "-o --out SITE", "the directory of the site", type=Path)
    add_option(parser, "--check", "only show whether a site accepts each run; exit with 1 when it refuses one")
    smaller = "leave out the runs' own reports, for a smaller site that is built faster"
    add_option(parser, "--without-pages", smaller)
    add_shared(parser, "-q --quiet")


def run(options: argparse.Namespace) -> int:
    """Build, or check; a check ends with 1 when a run is refused."""
    if options.check:
        if options.out or options.without_pages:
            raise UsageError("--check writes no site", "rowpath site --check DIR")
        checked = check(options.directories)
        for run in checked:
            print(_line(run))
        return int(any(run.problems for run in checked))
    if not options.out:
        raise UsageError("no directory for the site", "rowpath site DIR -o SITE, or rowpath site --check DIR")
    number = itertools.count(1)

    def show(_run: Examined) -> None:
        if not quiet:
            print(f"\r{next(number)} runs read", end="", file=sys.stderr, flush=True)

    quiet = options.quiet or not sys.stderr.isatty()
    built = build(options.directories, options.out, with_pages=not options.without_pages, on_examined=show)
    if not quiet:
        print(file=sys.stderr)
    for run in built.refused:
        print(_line(run), file=sys.stderr)
    if not options.quiet:
        left_out = f", {len(built.refused)} left out" if built.refused else ""
        accepted = counted(len(built.examined) - len(built.refused), "run")
        print(f"{accepted}{left_out}, {built.pages} pages", file=sys.stderr)
    print(options.out / "index.html")
    return 0


def _line(examined: Examined) -> str:
    if not examined.problems:
        return f"accepted {examined.directory}"
    return f"refused  {examined.directory}: {'; '.join(examined.problems)}"
