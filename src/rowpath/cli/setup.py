"""`rowpath setup`: fetch and build everything that can run here, ahead of time."""

from __future__ import annotations

import argparse
import itertools

from rowpath.cli.options import WILL_RUN, add_shared

if WILL_RUN:
    from rowpath.model.availability import with_remedy
    from rowpath.model.path import AccessPath
    from rowpath.planning.availability import pruned
    from rowpath.report.console import make_console
    from rowpath.runners.manifest import availability, build, every_adapter


def add(parser: argparse.ArgumentParser) -> None:
    """The options of `setup`."""
    add_shared(parser, "--color")


def run(options: argparse.Namespace) -> int:
    """Fetch and build, and name what cannot be."""
    console = make_console(options.color, to_stderr=True)
    ready, special = [], []
    for adapter in every_adapter():
        here = availability(adapter, adapter.versions[0])
        if here.ok:
            ready += [(adapter, version) for version in adapter.versions]
        else:
            why = with_remedy(here.reason, here.remedy)
            console.print(f"skipped {adapter.language} {adapter.driver}: {why}", highlight=False)
        for key, more in (("concurrency", {}), ("implementation", {}), ("loop", {"concurrency": "tasks"})):
            for one, version in itertools.product(adapter.coordinates.get(key, ()), adapter.versions):
                named = {"language": adapter.language, "driver": adapter.driver, "version": version, key: one}
                path = AccessPath.of(named | more)
                special += [path] if not pruned(adapter, path) and availability(adapter, version, path).ok else []
    build(ready, lambda text: console.print(text, highlight=False), special)
    return 0
