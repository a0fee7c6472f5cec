"""What a path's place in a ranking opens to: its versions and settings, its nearest neighbour, the command for it."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any

from rowpath.analysis.evidence import Evidence
from rowpath.analysis.model import Neighbour, PathDetails, Ranking
from rowpath.journal.records import PathRecord, WorkerRecord
from rowpath.model.grouping import grouped

VERSIONS = ("driver_version", "engine_version", "runtime", "build")
OF_THE_RUN = ("-o", "--out", "--resume", "-M", "--mode")  # options with a value that belong to one run only
EXPORT = "--export-"
# A difference in one of these weighs as much as in this many others.
WIDE = {"engine": 8, "language": 4, "driver": 4, "deployment": 2}


def path_details(evidence: Evidence) -> tuple[PathDetails, ...]:
    """One for each path, in the order of the journal."""
    contenders = _Alike([path for path in evidence.journal.paths.values() if not path.is_null])
    facts = {worker.path_id: worker.facts for worker in evidence.journal.all(WorkerRecord) if worker.facts}
    sent: dict[str, dict[str, tuple[str, ...]]] = {}
    for counts in evidence.counted.values():
        if counts.sql:
            sent.setdefault(counts.path_id, {})[f"{counts.workload}.{counts.phase}"] = counts.sql

    def details(path_id: str, path: PathRecord) -> PathDetails:
        own: Mapping[str, Any] = facts.get(path_id, {})
        named = {name.removesuffix("_version"): str(own[name]) for name in VERSIONS if own.get(name)}
        return PathDetails(
            path_id=path_id,
            name=path.name,
            versions=named | {name: str(value) for name, value in own.get("libraries", {}).items()},
            settings={name: str(value) for name, value in own.get("settings", {}).items()},
            command=_command(evidence, path, contenders),
            source=path.source,
            sent=sent.get(path_id, {}),
        )

    return tuple(details(*item) for item in evidence.journal.paths.items())


def neighbours(evidence: Evidence) -> tuple[Neighbour, ...]:
    """The path of its ranking that is most like each ranked path, with the ratio of their costs."""
    return tuple(neighbour for ranking in evidence.rankings for neighbour in _neighbours(evidence, ranking))


def _neighbours(evidence: Evidence, ranking: Ranking) -> Iterator[Neighbour]:
    """All pairs of a ranking are looked at, so marks are bits: a pair costs two instructions."""
    rows = [row for row in ranking.rows if row.rank]
    bits: dict[tuple[str, str, int], int] = {}
    marks = [sum(1 << bits.setdefault(mark, len(bits)) for mark in _marks(evidence.path(row.path_id))) for row in rows]
    for place, row in enumerate(rows):
        own = marks[place]
        apart = (((own ^ other).bit_count(), abs(place - at), at) for at, other in enumerate(marks) if at != place)
        *_, nearest = min(apart, default=(0, 0, place))
        if nearest == place:
            continue  # ranked with no other
        cell, beside = evidence.cell(row, ranking), evidence.cell(rows[nearest], ranking)
        yield Neighbour(
            workload=ranking.workload,
            phase=ranking.phase,
            regime=ranking.regime,
            path_id=row.path_id,
            other_id=rows[nearest].path_id,
            against=evidence.against(cell, beside) if cell is not None else None,
        )


def _marks(path: PathRecord | None) -> frozenset[tuple[str, str, int]]:
    """What two paths do not share counts as their distance; a wide coordinate is there several times."""
    coordinates = path.coordinates if path is not None else {}
    return frozenset(
        (key, value, copy) for key, value in coordinates.items() if value != "none" for copy in range(WIDE.get(key, 1))
    )


def _command(evidence: Evidence, path: PathRecord, contenders: _Alike) -> str:
    """The run's own command, narrowed to this path by as few coordinates as tell it from the others."""
    words = evidence.journal.run.command
    if evidence.journal.of_own_database or "run" not in words:
        return evidence.rerun()
    kept, named = _split(words)
    coordinates = {key: path.get(key) for key in named if path.get(key) != "none"}
    coordinates |= _telling(path.coordinates, contenders, coordinates)
    return shlex.join([*kept, *(f"{key}={value}" for key, value in coordinates.items())])


def _split(words: Iterable[str]) -> tuple[list[str], list[str]]:
    """The words of a command that a narrower run keeps, and the coordinates that it named."""
    kept: list[str] = []
    named: list[str] = []
    value_of = ""
    for word in words:
        option, _, value = word.partition("=")
        if value_of:
            value_of = ""
        elif option in OF_THE_RUN or option.startswith(EXPORT):
            value_of = "" if value else option
            named += ["statement"] if option in ("-M", "--mode") else []
        elif value and not option.startswith("-"):
            named.append(option)
        else:
            kept.append(word)
    return kept, named


class _Alike:
    """Paths that share some coordinates, split and counted once for all of them."""

    def __init__(self, paths: list[PathRecord]) -> None:
        self.paths = paths
        self._parts: dict[str, dict[str, _Alike]] = {}

    @cached_property
    def counts(self) -> Counter[tuple[str, str]]:
        """How many of the paths have each coordinate."""
        return Counter(coordinate for path in self.paths for coordinate in path.coordinates.items())

    def having(self, key: str, value: str) -> _Alike:
        """Those that share one more coordinate."""
        if key not in self._parts:
            by_value = grouped(self.paths, lambda path: path.get(key))
            self._parts[key] = {same: _Alike(paths) for same, paths in by_value.items()}
        return self._parts[key].get(value) or _Alike([])


def _telling(own: Mapping[str, str], left: _Alike, given: Mapping[str, str]) -> dict[str, str]:
    """Coordinates that tell a path from all others: each time the one that excludes most of those left."""
    chosen: dict[str, str] = {}
    for key, value in given.items():
        left = left.having(key, value)
    while left.paths:
        excludes = {key: len(left.paths) - left.counts[key, value] for key, value in own.items() if value != "none"}
        best = max(excludes, key=lambda key: excludes[key], default="")
        if not best or not excludes[best]:
            break  # the path itself, or one that has the same coordinates, and a label
        chosen[best] = own[best]
        left = left.having(best, own[best])
    return chosen
