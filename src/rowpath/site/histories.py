"""Each driver over versions and dates: ratios to a path of the same run that did not change, and where they shift."""

from __future__ import annotations

import itertools
import math
import re
import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import msgspec

from rowpath.analysis.statistics.grouping import holm
from rowpath.analysis.statistics.intervals import CONFIDENCE, Interval, quantile, student
from rowpath.errors import EnvironmentMissing
from rowpath.model.base import Frozen
from rowpath.model.grouping import grouped
from rowpath.site.read import Machine, SitePath, SiteRun, Where

LEAST_SETS = 2  # one set has no interval
MOST_RUNS = 0.75  # a path that is a reference in fewer gives way to the loop that reaches no engine
LEAST_POINTS = 6  # with fewer no change is looked for
LEAST_SEGMENT = 2
# The cost of one more level, in units of the noise's variance and the logarithm of the number of points. 2 is the
# Bayesian information criterion; 3 finds less in noise, whose variance is itself estimated from few points.
PENALTY = 3.0
MEDIAN_OF_NORMAL = 0.6745  # of its absolute value


class HistoryPoint(Frozen, frozen=True):
    """A driver's path in one run: its time ÷ the reference's, as a logarithm with its 95 % interval."""

    run: str
    date: str
    version: str
    mean: float
    low: float
    high: float
    error: float
    conditions: dict[str, str]  # what else may differ between two runs


class Change(Frozen, frozen=True):
    """Where a history changes its level; ratios are after ÷ before."""

    at: int  # the first point of the new level
    ratio: float
    low: float
    high: float
    what: str  # differs: `pgjdbc 42.7.4 → 42.7.5`
    how_much: str  # `8 % slower (6–10)`

    @property
    def text(self) -> str:
        """Both as a clause."""
        return f"{self.what}: {self.how_much}"


class History(Frozen, frozen=True):
    """One path of a driver in one phase on one machine, over versions and dates."""

    experiment: str
    where: Where
    name: str
    path_key: str
    driver: tuple[str, str]
    engine: str
    machine: str
    reference: str
    points: tuple[HistoryPoint, ...]
    left_out: int = 0  # runs without the reference
    changes: tuple[Change, ...] = ()

    @property
    def title(self) -> str:
        """Path, experiment, phase and machine."""
        workload, phase, regime = self.where
        return f"{self.name}, {self.experiment} {workload}.{phase} {regime}, {self.machine}"

    def level(self, begin: int = 0, end: int | None = None) -> float:
        """The mean of the points from `begin` to before `end`, as a logarithm."""
        return statistics.fmean(point.mean for point in self.points[begin:end])


@dataclass(frozen=True)
class _One:
    """A path in a run, with what it took there."""

    run: SiteRun
    path: SitePath
    set_ns: dict[int, float]


def histories(runs: Sequence[SiteRun], machines: Mapping[Machine, str]) -> list[History]:
    """Every path of every driver in every phase on every machine, with its changes; `machines`: their names."""
    by_place: dict[tuple[str, Where, str, Machine], list[_One]] = {}  # paths whose histories may share a reference
    loops: dict[Machine, list[_One]] = {}  # that reach no engine: the reference where no path stayed the same
    for run in runs:
        for timed in run.timed:
            one = _One(run, run.paths[timed.path_id], timed.set_ns)
            if one.path.is_null:
                if one.path.deployment == "none" and timed.where[2] == "steady":
                    loops.setdefault(run.machine, []).append(one)
            elif not one.path.own_build:
                data = run.data.get(f"{timed.where[0]}.{timed.where[1]}", "")
                by_place.setdefault((run.experiment, timed.where, data, run.machine), []).append(one)
    made: list[History] = []
    for (_experiment, where, _data, machine), ones in by_place.items():
        by_path = _by_path(ones)
        references = _References(by_path, loops.get(machine, ()))
        for key, of_path in by_path.items():
            made += _history(where, key, of_path, references.best(key, of_path), machines[machine])
    changes: dict[int, tuple[Change, ...]] = {}
    for same in grouped(made, lambda history: history.driver).values():  # one family of Holm's procedure
        long = [history for history in same if len(history.points) >= LEAST_POINTS]
        families = [
            shifts([one.mean for one in history.points], [one.error for one in history.points]) for history in long
        ]
        for history, held in zip(long, significant(families, len(long)), strict=True):
            changes[id(history)] = tuple(_change(history, shift) for shift in held)
    return [msgspec.structs.replace(history, changes=changes.get(id(history), ())) for history in made]


def _by_path(ones: Iterable[_One]) -> dict[str, list[_One]]:
    """Group by path without its versions; where one run measured several versions of an engine, by those too."""
    by_path: dict[str, list[_One]] = {}
    for key, of_path in grouped(ones, lambda one: one.path.key).items():
        if len({(one.run.id, one.path.version) for one in of_path}) == len(of_path):
            by_path[key] = of_path
        else:
            by_engine = grouped(of_path, lambda one: one.path.engine_version)
            by_path |= {f"{key},engine_version={version}": same for version, same in by_engine.items()}
    return by_path


class _References:
    """Paths of one place whose driver, engine and runtime have one version in all runs that measured them."""

    def __init__(self, by_path: Mapping[str, list[_One]], loops: Sequence[_One]) -> None:
        self.stable = {
            key: {one.run.id: one for one in ones}
            for key, ones in by_path.items()
            if len({one.path.versions for one in ones}) == 1
        }
        by_loop = grouped(loops, lambda one: one.path.key)  # without a version
        self.loops = [{one.run.id: one for one in ones} for ones in by_loop.values()]

    def best(self, key: str, of_path: Sequence[_One]) -> dict[str, _One]:
        """The reference of a path, by run: of another driver, in as many of its runs as possible, of its engine."""
        own = of_path[0].path
        runs = {one.run.id for one in of_path}
        stable = self.stable.items()
        others = [ones for other, ones in stable if other != key and _any(ones).path.driver_key != own.driver_key]

        def fitness(ones: Mapping[str, _One]) -> tuple[int, bool, bool]:
            path = _any(ones).path
            return len(runs & ones.keys()), path.engine == own.engine, path.language == own.language

        for candidates, share in ((others, MOST_RUNS), (self.loops, 0.0), (others, 0.0)):
            best = max(candidates, key=fitness, default=None)
            if best is not None and fitness(best)[0] > share * len(runs):
                return best
        return {}


def _any(ones: Mapping[str, _One]) -> _One:
    return next(iter(ones.values()))


def _history(
    where: Where, key: str, of_path: Sequence[_One], reference: Mapping[str, _One], machine: str
) -> Iterator[History]:
    """The history of a path; none where no reference was measured beside it."""
    ordered = sorted(of_path, key=lambda one: (natural(one.path.version), one.run.started, one.run.id))
    points = [point for one in ordered if (point := _point(one, reference.get(one.run.id))) is not None]
    if not points:
        return
    latest = max(of_path, key=lambda one: one.run.started)
    beside = _any(reference).path
    yield History(
        experiment=latest.run.experiment,
        where=where,
        name=latest.path.name,
        path_key=key,
        driver=latest.path.driver_key,
        engine=latest.path.engine,
        machine=machine,
        reference=" ".join(filter(None, (beside.name, "" if beside.is_null else beside.version))),
        points=tuple(points),
        left_out=len(of_path) - len(points),
    )


def _point(one: _One, reference: _One | None) -> HistoryPoint | None:
    """The path ÷ the reference over the sets that have both; None with fewer than two."""
    if reference is None:
        return None
    shared = sorted(one.set_ns.keys() & reference.set_ns.keys())
    ratio = student([math.log(one.set_ns[number] / reference.set_ns[number]) for number in shared])
    if ratio is None or ratio.sets < LEAST_SETS:
        return None
    conditions = {"runtime": one.path.runtime, "system": one.run.system, "rowpath": one.run.rowpath}
    if not one.path.embedded:  # an embedded engine comes with its driver: one thing, not two
        conditions = {one.path.engine: one.path.engine_version} | conditions
    return HistoryPoint(
        one.run.id, one.run.date, one.path.version, ratio.mean, ratio.low, ratio.high, ratio.error, conditions
    )


def natural(version: str) -> list[tuple[int, int, str]]:
    """A version so that 42.7.10 comes after 42.7.9."""
    parts = re.findall(r"\d+|[^\d.]+", version)
    return [(1, int(part), "") if part.isdigit() else (0, 0, part) for part in parts]


def _change(history: History, shift: Shift) -> Change:
    ratio, low, high = shift.interval.ratio, shift.interval.ratio_low or 0.0, shift.interval.ratio_high or math.inf
    what = _what(history.driver[1], history.points[shift.at - 1], history.points[shift.at])
    return Change(shift.at, ratio, low, high, what, by_how_much(ratio, low, high))


def _what(name: str, before: HistoryPoint, after: HistoryPoint) -> str:
    """What differs between two runs: `pgjdbc 42.7.4 → 42.7.5`, and what else."""
    others = [
        f"{key} {before.conditions[key]} → {after.conditions[key]}"
        for key in after.conditions
        if before.conditions.get(key) and after.conditions[key] and before.conditions[key] != after.conditions[key]
    ]
    dates = before.date if before.date == after.date else f"{before.date} → {after.date}"
    with_others = f", with {' and '.join(others)}" if others else ""
    if before.version == after.version:
        return f"{name} {after.version}, {dates}{with_others or ', with no other recorded change'}"
    return f"{name} {before.version} → {after.version}{with_others}"


def by_how_much(ratio: float, low: float, high: float) -> str:
    """`8 % slower (6–10)`, `2.10× the time (1.95–2.26)`."""
    if ratio >= 2 or ratio <= 0.5:
        return f"{ratio:.2f}× the time ({low:.2f}–{high:.2f})"
    ends = sorted((100 * abs(low - 1), 100 * abs(high - 1)))
    share = 100 * abs(ratio - 1)
    digits = 0 if share >= 5 else 1
    word = "slower" if ratio > 1 else "faster"
    return f"{share:.{digits}f} % {word} ({ends[0]:.{digits}f}–{ends[1]:.{digits}f})"


@dataclass(frozen=True)
class Shift:
    """A change of level: from the points before `at` to those from it on, as ln(after ÷ before)."""

    at: int
    interval: Interval
    p_value: float  # corrected for the number of places where it could have been


def shifts(values: Sequence[float], errors: Sequence[float]) -> list[Shift]:
    """Every place where PELT sees a new level, in order; `errors`: the standard error of each value."""
    count = len(values)
    if count < LEAST_POINTS:
        return []
    # The noise: from the median step, which few changes do not move, and not below what the sets within the runs show.
    steps = [abs(after - before) for before, after in itertools.pairwise(values)]
    known = [error for error in errors if math.isfinite(error)]
    of_steps = statistics.median(steps) / MEDIAN_OF_NORMAL / math.sqrt(2)
    variance = max(of_steps, statistics.median(known or [0.0])) ** 2
    if variance == 0:
        return []
    penalty = PENALTY * variance * math.log(count)
    borders = [0, *_borders(values, penalty)]
    segments = [values[begin:end] for begin, end in itertools.pairwise(borders)]
    squares = math.fsum((value - statistics.fmean(part)) ** 2 for part in segments for value in part)
    degrees = count - len(segments)
    # The spread about the levels that were fitted is too small by what fitting took; the noise is its lower bound.
    spread = max(squares / degrees, variance)
    changes = []
    for at, (before, after) in zip(borders[1:], itertools.pairwise(segments), strict=False):
        mean = statistics.fmean(after) - statistics.fmean(before)
        error = math.sqrt(spread * (1 / len(before) + 1 / len(after)))
        half = quantile(degrees, CONFIDENCE) * error
        interval = Interval(mean, mean - half, mean + half, error, degrees, count)
        changes.append(Shift(at, interval, min(1.0, interval.p_value * (count - 1))))
    return changes


def significant(families: Sequence[Sequence[Shift]], tested: int) -> list[list[Shift]]:
    """The shifts of each series that hold after Holm's correction over all `tested` series, and exceed 2 %."""
    every = [shift for family in families for shift in family]
    verdicts = holm([*(shift.p_value for shift in every), *[1.0] * max(0, tested - len(every))])
    held = {id(shift) for shift, holds in zip(every, verdicts, strict=False) if holds and shift.interval.apart}
    return [[shift for shift in family if id(shift) in held] for family in families]


def _borders(values: Sequence[float], penalty: float) -> list[int]:
    """Where each level ends."""
    try:
        import numpy
        from ruptures import KernelCPD
    except ImportError as error:
        raise EnvironmentMissing(
            f"the library ruptures, which finds changes, is not installed: {error}",
            "pip install ruptures (Python 3.11 to 3.13)",
        ) from error
    # With a linear kernel this is PELT with squared distances from each level's mean, compiled.
    search = KernelCPD(kernel="linear", min_size=LEAST_SEGMENT).fit(numpy.asarray(values, dtype=float).reshape(-1, 1))
    return [int(border) for border in search.predict(pen=penalty)]
