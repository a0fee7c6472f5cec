"""Which path for which work: of each phase one run by a stated rule, its paths by engine and language."""

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
RULE = (
    f"Each picture shows the newest run that has {SETS_FOR_CLAIMS} sets and ranks at least half as many paths as any "
    "other run of that work. Where no run has that many sets, fewer suffice."
)


@dataclass(frozen=True)
class Standing:
    """The ranking of one phase, from one run."""

    run: SiteRun
    phase: PhaseAnswer
    runs: int  # that rank it

    @property
    def experiment(self) -> str:
        """The experiment's name."""
        return self.run.experiment

    def path(self, bar: Bar) -> SitePath:
        """The path of a bar."""
        return self.run.paths[bar.path_id]


def standings(runs: Sequence[SiteRun]) -> list[Standing]:
    """One for each experiment, phase and comparison, in the order of the experiments' names and of their phases."""
    every = [(run, phase) for run in runs for phase in run.phases if phase.bars]
    found = []
    by_experiment = grouped(every, lambda each: each[0].experiment)
    for _experiment, listed in sorted(by_experiment.items()):
        for ranked in grouped(listed, lambda each: _where(each[1])).values():
            run, phase = _chosen(ranked)
            found.append(Standing(run, phase, len(ranked)))
    return found


def _where(phase: PhaseAnswer) -> tuple[str, str, str, str]:
    return phase.workload, phase.phase, phase.regime, phase.comparison


def _chosen(ranked: Sequence[tuple[SiteRun, PhaseAnswer]]) -> tuple[SiteRun, PhaseAnswer]:
    most = max(len(phase.bars) for _run, phase in ranked)
    full = [each for each in ranked if len(each[1].bars) >= ENOUGH_PATHS * most]
    return max(full, key=lambda each: (each[0].sets >= SETS_FOR_CLAIMS, each[0].started))


def fastest_of_each(standing: Standing) -> list[Bar]:
    """The fastest path of every engine and language, fastest first; what reaches no engine left out."""
    found: dict[tuple[str, str], Bar] = {}
    for bar in standing.phase.bars:
        path = standing.path(bar)
        if not path.is_null:
            found.setdefault((path.engine, path.language), bar)
    return list(found.values())


def newest_groups(runs: Sequence[SiteRun]) -> list[tuple[SiteRun, GroupAnswer]]:
    """What client groups reached, of each experiment's newest run that has such."""
    newest = {run.experiment: run for run in sorted(runs, key=lambda run: run.started) if run.groups}
    return [(run, group) for _name, run in sorted(newest.items()) for group in run.groups]


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
        for where, timed in grouped(run.timed, lambda each: each.where).items():
            paths = {_key(run, each): each for each in timed if not run.paths[each.path_id].is_null}
            place = run.experiment, where, run.data.get(f"{where[0]}.{where[1]}", "")
            if paths:
                measured.setdefault(place, {}).setdefault(machines[run.machine], []).append((run, paths))
    found = [_table(experiment, where, each) for (experiment, where, _data), each in measured.items() if len(each) > 1]
    return sorted((each for each in found if each is not None), key=lambda each: (each.experiment, each.where))


def _key(run: SiteRun, timed: Timed) -> str:
    path = run.paths[timed.path_id]
    return f"{path.key},version={path.version}"


def _table(experiment: str, where: Where, measured: _Measured) -> SideBySide | None:
    """The reference is the path that most machines have, of those the fastest; None without a second path beside it."""
    times: dict[str, dict[str, float]] = {}
    names: dict[str, str] = {}
    for machine, runs in measured.items():
        for run, paths in runs:
            for key, timed in paths.items():
                times.setdefault(key, {}).setdefault(machine, _level(timed))
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


def _level(timed: Timed) -> float:
    """The logarithm of a path's time."""
    return statistics.fmean(map(math.log, timed.set_ns.values()))


def _cell(runs: list[tuple[SiteRun, dict[str, Timed]]], key: str, reference: str) -> OnMachine | None:
    """The comparison from the newest run that has both."""
    for run, paths in runs:
        if key in paths and reference in paths:
            one, other = paths[key].set_ns, paths[reference].set_ns
            interval = student([math.log(one[each] / other[each]) for each in sorted(one.keys() & other.keys())])
            if interval is not None:
                return OnMachine(run, interval.ratio, interval.ratio_low, interval.ratio_high)
    return None
