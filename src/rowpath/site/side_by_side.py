"""Machines side by side: the same paths on each, as ratios to one path that all of them measured."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rowpath.analysis.statistics.intervals import student
from rowpath.model.grouping import grouped
from rowpath.site.model import Machine, SiteRun, Timed, Where

MOST_PATHS = 40  # rows of one table, the fastest ones


@dataclass(frozen=True)
class OnMachine:
    """A path's time ÷ the reference's on one machine, with the run that says so."""

    run: SiteRun
    ratio: float
    low: float | None
    high: float | None


@dataclass(frozen=True)
class SideBySide:
    """One phase on several machines; `rows`: by path name, a cell for each machine, None where it has none."""

    experiment: str
    where: Where
    reference: str
    machines: tuple[str, ...]
    rows: tuple[tuple[str, tuple[OnMachine | None, ...]], ...]
    left_out: int


def side_by_side(runs: Sequence[SiteRun], machines: Mapping[Machine, str]) -> list[SideBySide]:
    """Every phase that at least two machines measured with the same data, the newest run of each machine."""
    newest: dict[tuple[str, Where, str], dict[str, dict[str, tuple[SiteRun, Timed]]]] = {}
    for run in sorted(runs, key=lambda run: run.started):
        for where, timed in grouped(run.timed, lambda each: each.where).items():
            paths = {_key(run, each): (run, each) for each in timed if run.paths[each.path_id].get("engine") != "null"}
            data = run.data.get(f"{where[0]}.{where[1]}", "")
            if paths:
                newest.setdefault((run.experiment, where, data), {})[machines[run.machine]] = paths
    found = []
    for (experiment, where, _data), by_machine in newest.items():
        common = set.intersection(*(set(paths) for paths in by_machine.values()))
        if len(by_machine) > 1 and len(common) > 1:
            found.append(_table(experiment, where, dict(sorted(by_machine.items())), common))
    return sorted(found, key=lambda each: (each.experiment, each.where))


def _key(run: SiteRun, timed: Timed) -> str:
    path = run.paths[timed.path_id]
    return f"{path.key},version={path.version}"


def _table(
    experiment: str, where: Where, by_machine: dict[str, dict[str, tuple[SiteRun, Timed]]], common: set[str]
) -> SideBySide:
    """The reference is the path that is fastest over all machines."""

    def cost(key: str) -> float:
        return math.fsum(math.log(_level(paths[key][1])) for paths in by_machine.values())

    ordered = sorted(common, key=lambda key: (cost(key), key))
    reference = ordered[0]
    rows = []
    for key in ordered[:MOST_PATHS]:
        cells = tuple(_cell(paths[key], paths[reference][1]) for paths in by_machine.values())
        run, timed = next(iter(by_machine.values()))[key]
        rows.append((run.paths[timed.path_id].name, cells))
    return SideBySide(experiment, where, rows[0][0], tuple(by_machine), tuple(rows), len(ordered) - len(rows))


def _level(timed: Timed) -> float:
    return math.exp(math.fsum(map(math.log, timed.set_ns.values())) / len(timed.set_ns))


def _cell(found: tuple[SiteRun, Timed], reference: Timed) -> OnMachine | None:
    run, timed = found
    shared = sorted(timed.set_ns.keys() & reference.set_ns.keys())
    interval = student([math.log(timed.set_ns[each] / reference.set_ns[each]) for each in shared])
    if interval is None:
        return None
    return OnMachine(run, interval.ratio, interval.ratio_low, interval.ratio_high)
