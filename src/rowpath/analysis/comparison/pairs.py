"""Which path of head is which path of base."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from rowpath.analysis.comparison.differences import PAIRED_OVER
from rowpath.analysis.comparison.side import Side
from rowpath.journal.records import PathRecord
from rowpath.model.grouping import grouped
from rowpath.model.path import WITHOUT

# Tried in this order: the same path, another version, then also what is refused unless asked for.
STEPS = ((), ("version", "engine_version"), tuple(PAIRED_OVER))


@dataclass(frozen=True)
class Pairs:
    """Pairs of (base, head), and the paths that the other side does not have."""

    pairs: tuple[tuple[PathRecord, PathRecord], ...]
    only_base: tuple[PathRecord, ...]
    only_head: tuple[PathRecord, ...]


def pair(base: Side, head: Side) -> Pairs:
    """Equal paths, then those that differ only in what sides may differ in, where just one of each side is left."""
    left, right = dict(base.paths), dict(head.paths)
    found: dict[str, tuple[PathRecord, PathRecord]] = {}
    for without in STEPS:
        of_left, of_right = _by_key(left.values(), without), _by_key(right.values(), without)
        for key in of_left.keys() & of_right.keys():
            if len(of_left[key]) == len(of_right[key]) == 1:
                one, other = of_left[key][0], of_right[key][0]
                found[one.path_id] = (one, other)
                del left[one.path_id], right[other.path_id]
    ordered = tuple(found[path_id] for path_id in base.paths if path_id in found)
    return Pairs(ordered, tuple(left.values()), tuple(right.values()))


def _by_key(paths: Iterable[PathRecord], without: tuple[str, ...]) -> dict[str, list[PathRecord]]:
    def key(path: PathRecord) -> str:
        shown = sorted(item for item in path.coordinates.items() if item not in WITHOUT.items())
        return ",".join(f"{name}={value}" for name, value in shown if name not in without)

    return grouped(paths, key)
