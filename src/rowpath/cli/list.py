"""What `rowpath list` prints: engines, drivers, paths, workloads, experiments; nothing is started or built."""

from __future__ import annotations

import argparse
import functools
from collections.abc import Callable, Iterator

from rowpath.cli.options import WILL_RUN, Filters, add_shared, parse_filters
from rowpath.errors import UsageError

if WILL_RUN:
    from rowpath.engines import ENGINES
    from rowpath.machine import processes
    from rowpath.model.availability import with_remedy
    from rowpath.planning import experiment_file
    from rowpath.planning.availability import pruned, unavailable
    from rowpath.planning.selection import check_coordinates, matches, spread
    from rowpath.runners import driver_facts
    from rowpath.runners.manifest import availability, every_adapter
    from rowpath.workloads import workload_file


DECIDE_WHETHER_HERE = ("engine", "engine_version", "version", "transport", "tls", "concurrency")


def add(parser: argparse.ArgumentParser) -> None:
    """The options of `list`."""
    parser.add_argument("what", choices=("engines", "drivers", "paths", "workloads", "experiments"))
    parser.add_argument("filters", nargs="*", metavar="COORDINATE=VALUE", help="keep only paths with these values")
    add_shared(parser, "--adapters")


def run(options: argparse.Namespace) -> int:
    """Print the lines; UsageError for filters of anything but paths."""
    filters = parse_filters(options.filters)
    if filters and options.what != "paths":
        raise UsageError(f"list {options.what} takes no filter", "rowpath list paths engine=sqlite")
    lines: dict[str, Callable[[], Iterator[str]]] = {
        "engines": engines,
        "drivers": drivers,
        "workloads": workload_lines,
        "experiments": experiment_lines,
        "paths": lambda: paths(filters),
    }
    for line in lines[options.what]():
        print(line)
    return 0


def engines() -> Iterator[str]:
    """One line per engine: name, deployments, what would run or why not."""
    for name, engine in ENGINES.items():
        here = engine.availability()
        yield f"{name:<12} {','.join(engine.deployments):<17} {here.not_here or here.what}"


def paths(filters: Filters) -> Iterator[str]:
    """One line per path, every coordinate; those that cannot run here say why.

    Coordinates of `selection.VARIED_ONE_AT_A_TIME` are varied one at a time, unless a filter names them.
    """
    check_coordinates(filters)
    if not filters:  # every compiler, runtime and server is asked for its version, all at once: each answer is kept
        first = {adapter.language: adapter for adapter in every_adapter()}
        languages = [functools.partial(availability, adapter, adapter.versions[0]) for adapter in first.values()]
        processes.side_by_side([*languages, *(engine.availability for engine in ENGINES.values())])
    reasons: dict[tuple[str, ...], str] = {}
    for adapter in every_adapter():
        for path in spread(adapter, filters):
            if pruned(adapter, path) or not matches(path, filters):
                continue
            values = path.as_dict()
            key = (adapter.language, adapter.driver, *[values.get(name, "none") for name in DECIDE_WHETHER_HERE])
            if key not in reasons:
                reason, remedy = unavailable(adapter, path)
                reasons[key] = f"    not here: {with_remedy(reason, remedy)}" if reason else ""
            yield path.id.replace(",", " ") + reasons[key]


def drivers() -> Iterator[str]:
    """One line per driver and version: licence, size, release date, dependencies; – where its package has none.

    Then those that cannot be here, each with the reason.
    """
    yield f"{'driver':<24} {'version':<20} {'licence':<32} {'MB':>7}  {'released':<10}  own dependencies"
    for adapter, version in driver_facts.drivers():
        facts = driver_facts.facts_of(adapter, version)
        name = f"{adapter.language} {adapter.driver}"
        if facts.reason:
            yield f"{name:<24} {version:<20} {facts.reason}"
            continue
        size = f"{facts.size_bytes / 1e6:.1f}" if facts.size_bytes is not None else "–"
        needs = "–" if facts.dependencies is None else f"{len(facts.dependencies)} {', '.join(facts.dependencies)}"
        yield (
            f"{name:<24} {facts.version or version:<20} {facts.licence or '–':<32} {size:>7}  "
            f"{facts.released or '–':<10}  {needs}".rstrip()
        )

    yield ""
    for one in driver_facts.absent():
        yield f"{one.language + ' ' + one.driver:<45} not supported: {one.reason}; instead: {one.instead}"


def workload_lines() -> Iterator[str]:
    """Two lines per workload: name and title, then its phases below the title."""
    names = workload_file.names()
    width = max(map(len, names))
    for name in names:
        workload = workload_file.load_workload(name)
        yield f"{name:<{width}}  {workload.title}"
        yield f"{'':<{width}}  {', '.join(phase.name for phase in workload.phases)}"


def experiment_lines() -> Iterator[str]:
    """One line per experiment: name, title."""
    names = experiment_file.names()
    width = max(map(len, names))
    for name in names:
        yield f"{name:<{width}}  {experiment_file.load_experiment(name).experiment.title}"
