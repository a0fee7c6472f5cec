"""`rowpath site`: write a static site over many runs, or say which of them one accepts."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from rowpath.cli.options import WILL_RUN, add_shared
from rowpath.errors import UsageError

if WILL_RUN:
    from rowpath.site.build import build, check
    from rowpath.site.read import Examined


def add(parser: argparse.ArgumentParser) -> None:
    """The options of `site`."""
    parser.add_argument(
        "directories", metavar="DIR", type=Path, nargs="+", help="directories of runs, at any depth below them"
    )
    parser.add_argument("-o", "--out", metavar="SITE", type=Path, help="the directory of the site")
    parser.add_argument(
        "--check",
        action="store_true",
        help="only show whether a site accepts each run; exit with 1 when it refuses one",
    )
    parser.add_argument(
        "--without-pages",
        action="store_true",
        help="leave out the runs' own reports, for a smaller site that is built faster",
    )
    add_shared(parser, "-q --quiet")


def run(options: argparse.Namespace) -> int:
    """Build, or check; a check ends with 1 when a run is refused."""
    if options.check:
        if options.out or options.without_pages:
            raise UsageError("--check writes no site", "rowpath site --check DIR")
        found = check(options.directories)
        for each in found:
            print(_line(each))
        return 1 if any(each.problems for each in found) else 0
    if not options.out:
        raise UsageError("no directory for the site", "rowpath site DIR -o SITE, or rowpath site --check DIR")
    read: list[Examined] = []

    def show(each: Examined) -> None:
        read.append(each)
        if not quiet:
            print(f"\r{len(read)} runs read", end="", file=sys.stderr, flush=True)

    quiet = options.quiet or not sys.stderr.isatty()
    built = build(options.directories, options.out, with_pages=not options.without_pages, on_examined=show)
    if not quiet:
        print(file=sys.stderr)
    for each in built.refused:
        print(_line(each), file=sys.stderr)
    accepted = len(built.examined) - len(built.refused)
    left_out = f", {len(built.refused)} left out" if built.refused else ""
    if not options.quiet:
        print(f"{accepted} run{'' if accepted == 1 else 's'}{left_out}, {built.pages} pages", file=sys.stderr)
    print(options.out / "index.html")
    return 0


def _line(examined: Examined) -> str:
    if not examined.problems:
        return f"accepted {examined.directory}"
    return f"refused  {examined.directory}: {'; '.join(examined.problems)}"
