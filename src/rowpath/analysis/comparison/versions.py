"""One run that measured two versions of a driver in the same sets: its two sides, and ratios within sets."""

from __future__ import annotations

import math
from pathlib import Path

from rowpath.analysis.comparison.model import ComparedRow
from rowpath.analysis.comparison.side import Run, Side
from rowpath.analysis.statistics.intervals import Interval, difference, student
from rowpath.errors import UsageError
from rowpath.journal.records import PathRecord
from rowpath.model.grouping import grouped

DRIVER = ("language", "driver")


def sides(directory: Path, versions: tuple[str, str]) -> tuple[Side, Side]:
    """The paths of each version, of the drivers that have both; UsageError where no driver has."""
    run = Run(directory)
    every = run.evidence.journal.paths.values()
    by_version = [[path for path in every if _is_version(path, version)] for version in versions]
    both = {_driver(path) for path in by_version[0]} & {_driver(path) for path in by_version[1]}
    if not both:
        raise UsageError(
            f"{directory} has no driver with both versions {versions[0]} and {versions[1]}",
            f"its versions: {_versions_by_driver(run)}",
        )
    kept = [frozenset(path.path_id for path in paths if _driver(path) in both) for paths in by_version]
    return Side("base", [run], kept[0]), Side("head", [run], kept[1])


def interval(run: Run, row: ComparedRow) -> Interval | None:
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


def _is_version(path: PathRecord, version: str) -> bool:
    """Whether the path has that version; a file of a run from elsewhere is known by its name."""
    own = path.version
    return own == version or ("/" in own and Path(own).name == version)


def _driver(path: PathRecord) -> tuple[str, ...]:
    return tuple(map(path.get, DRIVER))


def _versions_by_driver(run: Run) -> str:
    """`pgjdbc 42.7.8, 42.7.14; sqlite system`."""
    found = grouped(run.evidence.journal.paths.values(), lambda path: path.driver)
    versions = {driver: dict.fromkeys(path.version for path in paths) for driver, paths in found.items()}
    return "; ".join(f"{driver} {', '.join(names)}" for driver, names in versions.items())
