"""One side of a comparison: its runs, and what of a path they measured; or a version of a driver within one run."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from rowpath.analysis import metrics
from rowpath.analysis.comparison.model import ComparedRow, ComparedRun
from rowpath.analysis.evidence import Evidence
from rowpath.analysis.statistics.intervals import Interval, difference, student
from rowpath.errors import UsageError
from rowpath.journal import reader
from rowpath.journal.records import PathRecord, WorkerRecord
from rowpath.model.grouping import grouped
from rowpath.model.metrics import compared

Where = tuple[str, str, str]  # workload, phase, regime
WHOLE = "none"  # the regime of what belongs to a phase, not to one of its regimes


@dataclass(frozen=True)
class SideMetric:
    """A metric of a path on one side: the sets' medians by run, or one count by run."""

    by_run: tuple[tuple[float, ...], ...]

    @property
    def middle(self) -> float:
        """The median of the sets' medians, over all runs."""
        return statistics.median(value for run in self.by_run for value in run)

    @property
    def sets(self) -> int:
        """All sets of the side."""
        return sum(map(len, self.by_run))

    @property
    def logarithms(self) -> tuple[tuple[float, ...], ...]:
        """The logarithm of each set's value, by run; empty where a value is 0."""
        if any(value <= 0 for run in self.by_run for value in run):
            return ()
        return tuple(tuple(map(math.log, run)) for run in self.by_run)


class Run:
    """A finished run as a comparison needs it."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.evidence = Evidence.of(directory, reader.read(directory))
        self.head = self.evidence.journal.run
        if self.head.experiment.client_groups:
            raise UsageError(
                f"{directory} is a run of client groups: compare takes runs of paths", f"rowpath show {directory}"
            )
        if not self.evidence.cells.cells:
            raise UsageError(f"{directory} has no samples", f"rowpath run {self.head.experiment.name or 'NAME'}")

    @cached_property
    def shown(self) -> ComparedRun:
        """Its directory, experiment, begin and number of sets."""
        sets = max((len(cell.costs) for cell in self.evidence.cells.cells.values()), default=0)
        return ComparedRun(str(self.directory), self.head.experiment.name, self.head.started, sets)

    @cached_property
    def facts(self) -> dict[str, dict[str, Any]]:
        """What the runner of each path reported of its driver, engine and runtime, by path id."""
        workers = self.evidence.journal.all(WorkerRecord)
        return {worker.path_id: worker.facts for worker in reversed(workers) if worker.facts}

    def problem(self, path_id: str, where: Where) -> str:
        """Why what the path did there does not count; empty when it does."""
        status = self.evidence.path_statuses.of(path_id, *where[:2])
        if status.status != "ok":
            return f"{status.status}: {status.reason}" if status.reason else status.status
        cell = self.evidence.cells.get(path_id, *where)
        if cell is not None and cell.refused:
            return "the machine was too busy: too few of its sets were quiet"
        return ""

    def digest(self, path_id: str, where: Where) -> str:
        """Fingerprint of what the path delivered; empty where nothing was checked."""
        return self.evidence.path_statuses.of(path_id, *where[:2]).digest

    def values(self, path_id: str, where: Where) -> dict[str, tuple[float, ...]]:
        """The metrics of a path there: the median of each set, one value of a count."""
        values = {name: tuple(by_set.values()) for name, by_set in self.by_set(path_id, where).items()}
        if where[2] == WHOLE:
            exact = metrics.exact(self.evidence.counted.get((path_id, *where[:2])))
            values |= {name: (exact[name],) for name in compared("counted") if name in exact}
        return values

    def by_set(self, path_id: str, where: Where) -> dict[str, dict[int, float]]:
        """The median of each set, of the metrics that are not counted."""
        if where[2] == WHOLE:
            whole = self.evidence.of_phases.get((path_id, *where[:2]), {})
            return {name: _medians(whole[name]) for name in compared("phase", "memory") if name in whole}
        cell = self.evidence.cells.get(path_id, *where)
        if cell is None or not cell.costs:
            return {}
        series = metrics.of_cell(cell)
        return {name: _medians(series[name]) for name in compared("blocks") if series.get(name)}


class Side:
    """The runs of base or head; `chosen`: only these paths of them, by id."""

    def __init__(self, name: str, runs: Sequence[Run], chosen: frozenset[str] | None = None) -> None:
        self.name = name
        self.runs = runs
        self.chosen = chosen

    @cached_property
    def paths(self) -> dict[str, PathRecord]:
        """Every path of its runs, by id."""
        return {
            path_id: path
            for run in reversed(self.runs)
            for path_id, path in run.evidence.journal.paths.items()
            if self.chosen is None or path_id in self.chosen
        }

    def places(self, path_id: str) -> list[Where]:
        """Where the path was measured or failed, in the order of the first run: regimes, then the phase as a whole."""
        cells = (run.evidence.cells for run in self.runs)
        places = dict.fromkeys(place for of in cells for place in of.phases() if of.get(path_id, *place) is not None)
        return [*places, *dict.fromkeys((workload, phase, WHOLE) for workload, phase, _regime in places)]

    def problem(self, path_id: str, where: Where) -> str:
        """Why no run of the side counts there; rows that were wrong in one run make all of them suspect."""
        problems = [run.problem(path_id, where) for run in self._with(path_id)]
        wrong = next((problem for problem in problems if problem.startswith("wrong")), "")
        return wrong or (problems[0] if problems and all(problems) else "")

    def measured(self, path_id: str, where: Where) -> dict[str, SideMetric]:
        """The metrics of a path there, from those runs that count."""
        by_run = [run.values(path_id, where) for run in self._with(path_id) if not run.problem(path_id, where)]
        names = dict.fromkeys(name for values in by_run for name in values)
        return {name: SideMetric(tuple(values[name] for values in by_run if values.get(name))) for name in names}

    def digests(self, path_id: str, where: Where) -> set[str]:
        """Fingerprints of what its runs delivered."""
        return {digest for run in self._with(path_id) if (digest := run.digest(path_id, where))}

    def facts(self, path_id: str) -> dict[str, Any]:
        """What a runner of the path reported."""
        return next((run.facts[path_id] for run in self.runs if path_id in run.facts), {})

    def _with(self, path_id: str) -> list[Run]:
        return [run for run in self.runs if path_id in run.evidence.journal.paths]


def _medians(values: metrics.Values) -> dict[int, float]:
    return {number: statistics.median(of_set) for number, of_set in sorted(values.items()) if of_set}


def sides_of_versions(directory: Path, versions: tuple[str, str]) -> tuple[Side, Side]:
    """The paths of each version, of the drivers that have both; UsageError where no driver has."""
    run = Run(directory)
    every = run.evidence.journal.paths.values()
    # A file of a run from elsewhere is known by its name.
    by_version = [
        [one for one in every if one.version == version or ("/" in one.version and Path(one.version).name == version)]
        for version in versions
    ]
    both = {_driver(path) for path in by_version[0]} & {_driver(path) for path in by_version[1]}
    if not both:
        listed = "; ".join(
            f"{driver} {', '.join(dict.fromkeys(path.version for path in paths))}"
            for driver, paths in grouped(every, lambda path: path.driver).items()
        )
        raise UsageError(
            f"{directory} has no driver with both versions {versions[0]} and {versions[1]}", f"its versions: {listed}"
        )
    kept = [frozenset(path.path_id for path in paths if _driver(path) in both) for paths in by_version]
    return Side("base", [run], kept[0]), Side("head", [run], kept[1])


def interval_within(run: Run, row: ComparedRow) -> Interval | None:
    """ln(head / base) within the sets that both share, else of the sets of each; None where a value is 0."""
    where = row.workload, row.phase, row.regime
    if row.metric == "time":
        base, head = (run.evidence.cells.get(path, *where) for path in (row.base_path, row.head_path))
        return run.evidence.cells.interval(head, base) if base and head else None
    one, other = (run.by_set(path, where)[row.metric] for path in (row.base_path, row.head_path))
    if any(value <= 0 for side in (one, other) for value in side.values()):
        return None
    confidence = run.evidence.cells.confidence
    if shared := sorted(one.keys() & other.keys()):
        return student([math.log(other[number] / one[number]) for number in shared], confidence)
    levels = [student([math.log(value) for value in side.values()], confidence) for side in (other, one)]
    return difference(levels[0], levels[1], confidence) if levels[0] and levels[1] else None


def _driver(path: PathRecord) -> tuple[str, str]:
    return path.get("language"), path.driver
