"""What a path's place in a ranking opens to: its versions and settings, its nearest neighbour, the command for it."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from rowpath.analysis.evidence import Evidence
from rowpath.analysis.model import Neighbour, PathDetails, Ranking
from rowpath.journal.records import PathRecord, WorkerRecord

VERSIONS = ("driver_version", "engine_version", "runtime", "build")
OF_THE_RUN = ("-o", "--out", "--resume", "-M", "--mode")  # options with a value that belong to one run only
EXPORT = "--export-"
# A difference in one of these weighs as much as in this many others.
WIDE = {"engine": 8, "language": 4, "driver": 4, "deployment": 2}


def path_details(evidence: Evidence) -> tuple[PathDetails, ...]:
    """One for each path, in the order of the journal."""
    facts = {worker.path_id: worker.facts for worker in evidence.journal.all(WorkerRecord) if worker.facts}
    paths = evidence.journal.paths
    return tuple(
        PathDetails(
            path_id=path_id,
            name=path.name,
            versions=_versions(facts.get(path_id, {})),
            settings={name: str(value) for name, value in facts.get(path_id, {}).get("settings", {}).items()},
            command=_command(evidence, path),
            source=path.source,
        )
        for path_id, path in paths.items()
    )


def _versions(facts: Mapping[str, Any]) -> dict[str, str]:
    named = {name.removesuffix("_version"): str(facts[name]) for name in VERSIONS if facts.get(name)}
    return named | {name: str(value) for name, value in facts.get("libraries", {}).items()}


def neighbours(evidence: Evidence) -> tuple[Neighbour, ...]:
    """The path of its ranking that is most like each ranked path, with the ratio of their costs."""
    return tuple(each for ranking in evidence.rankings for each in _neighbours(evidence, ranking))


def _neighbours(evidence: Evidence, ranking: Ranking) -> Iterator[Neighbour]:
    rows = [row for row in ranking.rows if row.rank]
    marks = [_marks(evidence.path(row.path_id)) for row in rows]
    for place, row in enumerate(rows):
        apart = ((len(marks[place] ^ marks[at]), abs(place - at), at) for at in range(len(rows)) if at != place)
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


def _command(evidence: Evidence, path: PathRecord) -> str:
    """The run's own command, narrowed to this path by as few coordinates as tell it from the others."""
    words = evidence.journal.run.command
    if evidence.journal.probe or "run" not in words:
        return evidence.rerun()
    kept, named = _split(words)
    coordinates = {key: path.get(key) for key in named if path.get(key) != "none"}
    others = [each for each in evidence.journal.paths.values() if each is not path and not each.is_null]
    coordinates |= _telling(path.coordinates, [each.coordinates for each in others], coordinates)
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


def _telling(own: Mapping[str, str], others: list[dict[str, str]], given: Mapping[str, str]) -> dict[str, str]:
    """Coordinates that tell a path from all others: each time the one that excludes most of those left."""
    chosen: dict[str, str] = {}
    left = [each for each in others if all(each.get(key, "none") == value for key, value in given.items())]
    while left:
        excludes = {
            key: sum(each.get(key, "none") != value for each in left) for key, value in own.items() if value != "none"
        }
        best = max(excludes, key=lambda key: excludes[key], default="")
        if not best or not excludes[best]:
            break  # a path that has another one's coordinates, and a label
        chosen[best] = own[best]
        left = [each for each in left if each.get(best, "none") == own[best]]
    return chosen
