"""What `rowpath list` prints: engines, paths, workloads, experiments; nothing is started or built."""

from __future__ import annotations

from collections.abc import Iterator

from rowpath import experiments, workloads
from rowpath.engines import ENGINES
from rowpath.languages import every_adapter
from rowpath.lattice import check_coordinates, lattice, matches, pruned, unavailable


def engines() -> Iterator[str]:
    """One line per engine: name, deployments, what would run or why not."""
    for name, engine in ENGINES.items():
        here = engine.availability()
        what = here.what if here.ok else f"not here: {here.reason}; enable it with: {here.remedy}"
        yield f"{name:<12} {','.join(engine.deployments):<17} {what}"


def paths(filters: dict[str, tuple[str, ...]]) -> Iterator[str]:
    """One line per path, every coordinate; those that cannot run here say why."""
    check_coordinates(filters)
    reasons: dict[tuple[str, str, str], str] = {}
    for adapter in every_adapter():
        for path in lattice(adapter, {}, complete=True):
            if pruned(adapter, path) or not matches(path, filters):
                continue
            key = (adapter.language, adapter.driver, path.get("engine"))
            if key not in reasons:
                reason, remedy = unavailable(adapter, path)
                reasons[key] = f"    not here: {reason}; enable it with: {remedy}" if reason else ""
            yield path.id.replace(",", " ") + reasons[key]


def workloads_lines() -> Iterator[str]:
    """One line per workload: name, phases, title."""
    for name in workloads.names():
        workload = workloads.load_workload(name)
        yield f"{name:<10} {', '.join(phase.name for phase in workload.phases):<22} {workload.title}"


def experiments_lines() -> Iterator[str]:
    """One line per experiment: name, title."""
    for name in experiments.names():
        yield f"{name:<16} {experiments.load_experiment(name).title}"
