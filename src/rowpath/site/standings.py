"""Which path for which work, from one run by a stated rule; and the same work on several machines, as ratios."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rowpath.analysis.answer_model import Bar, GroupAnswer, PhaseAnswer
from rowpath.analysis.statistics.intervals import SETS_FOR_CLAIMS, student
from rowpath.model.grouping import grouped
from rowpath.site.read import Machine, SitePath, SiteRun, Timed, Where

ENOUGH_PATHS = 0.5  # of the most that one run ranks there
MOST_PATHS = 40  # rows of one table of machines, the fastest ones
RULE = (
    f"Each picture shows the newest run that has {SETS_FOR_CLAIMS} sets and ranks at least half as many paths as any "
    "other run of that work. Where no run has that many sets, fewer suffice."
)


@dataclass(frozen=True)
class Standing:
    """The ranking of one phase, from one run."""

    run: SiteRun
    phase: PhaseAnswer

    @property
    def experiment(self) -> str:
        """The experiment's name."""
        return self.run.experiment

    def path(self, bar: Bar) -> SitePath:
        """The path of a bar."""
        return self.run.paths[bar.path_id]


def standings(runs: Sequence[SiteRun]) -> list[Standing]:
    """One for each experiment, phase and comparison, in the order of the experiments' names and of their phases."""
    every = [Standing(run, phase) for run in runs for phase in run.phases if phase.bars]
    chosen = []
    for _experiment, same in sorted(grouped(every, lambda one: one.experiment).items()):
        for ranked in grouped(
            same, lambda one: (one.phase.workload, one.phase.phase, one.phase.regime, one.phase.comparison)
        ).values():
            most = max(len(one.phase.bars) for one in ranked)
            full = [one for one in ranked if len(one.phase.bars) >= ENOUGH_PATHS * most]
            chosen.append(max(full, key=lambda one: (one.run.sets >= SETS_FOR_CLAIMS, one.run.started)))
    return chosen


def fastest_of_each(standing: Standing) -> list[Bar]:
    """The fastest path of every engine and language, fastest first; what reaches no engine left out."""
    reaching = [bar for bar in standing.phase.bars if not standing.path(bar).is_null]
    by_kind = grouped(reaching, lambda bar: (standing.path(bar).engine, standing.path(bar).language))
    return [bars[0] for bars in by_kind.values()]


def newest_groups(runs: Sequence[SiteRun]) -> list[tuple[SiteRun, GroupAnswer]]:
    """What client groups reached, of each experiment's newest run that has such."""
    newest = {run.experiment: run for run in sorted(runs, key=lambda run: run.started) if run.groups}
    return [(run, group) for _name, run in sorted(newest.items()) for group in run.groups]


@dataclass(frozen=True)
class OnMachine:
    """A path's time ÷ the reference's on one machine, with the run that says so."""

    run: SiteRun
    ratio: float
    low: float | None
    high: float | None


@dataclass(frozen=True)
class SideBySide:
    """One phase on several machines; `rows`: by path, a cell for each machine, None where it has none."""

    experiment: str
    where: Where
    reference: str
    machines: tuple[str, ...]
    rows: tuple[tuple[str, tuple[OnMachine | None, ...]], ...]
    left_out: int


# By machine and run (the newest first): what each path took there, by path with its version.
_Measured = dict[str, list[tuple[SiteRun, dict[str, Timed]]]]


def side_by_side(runs: Sequence[SiteRun], machines: Mapping[Machine, str]) -> list[SideBySide]:
    """Every phase in which two machines measured two paths in common with the same data."""
    measured: dict[tuple[str, Where, str], _Measured] = {}
    for run in sorted(runs, key=lambda run: run.started, reverse=True):
        reaching = [timed for timed in run.timed if not run.paths[timed.path_id].is_null]
        for where, same in grouped(reaching, lambda timed: timed.where).items():
            place = run.experiment, where, run.data.get(f"{where[0]}.{where[1]}", "")
            paths = {f"{run.paths[one.path_id].key},version={run.paths[one.path_id].version}": one for one in same}
            measured.setdefault(place, {}).setdefault(machines[run.machine], []).append((run, paths))
    tables = [_table(experiment, where, on) for (experiment, where, _data), on in measured.items() if len(on) > 1]
    return sorted((table for table in tables if table), key=lambda table: (table.experiment, table.where))


def _table(experiment: str, where: Where, measured: _Measured) -> SideBySide | None:
    """The reference is the path that most machines have, of those the fastest; None without a second path beside it."""
    times: dict[str, dict[str, float]] = {}  # logarithms by path and machine
    names: dict[str, str] = {}
    for machine, runs in measured.items():
        for run, paths in runs:
            for key, timed in paths.items():
                times.setdefault(key, {}).setdefault(machine, statistics.fmean(map(math.log, timed.set_ns.values())))
                path = run.paths[timed.path_id]
                names.setdefault(key, f"{path.name} {path.version}")
    reference = min(times, key=lambda key: (-len(times[key]), statistics.fmean(times[key].values()), key))
    chosen = sorted(times[reference], key=lambda name: (len(name), name))
    rows = []
    for key in times:
        cells = tuple(_cell(measured[machine], key, reference) for machine in chosen)
        known = [math.log(cell.ratio) for cell in cells if cell is not None]
        if len(known) > 1:
            rows.append((statistics.fmean(known), names[key], cells))
    if len(rows) < 2:
        return None
    rows.sort(key=lambda row: row[:2])
    shown = tuple((name, cells) for _ratio, name, cells in rows[:MOST_PATHS])
    return SideBySide(experiment, where, names[reference], tuple(chosen), shown, len(rows) - len(shown))


def _cell(runs: list[tuple[SiteRun, dict[str, Timed]]], key: str, reference: str) -> OnMachine | None:
    """The comparison from the newest run that has both."""
    for run, paths in runs:
        if key in paths and reference in paths:
            one, other = paths[key].set_ns, paths[reference].set_ns
            interval = student([math.log(one[number] / other[number]) for number in sorted(one.keys() & other.keys())])
            if interval is not None:
                return OnMachine(run, *interval.ratios)
    return None
