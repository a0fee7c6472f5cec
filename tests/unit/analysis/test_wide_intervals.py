"""Which paths get another set, worked out of the records in memory."""

from pathlib import Path

import msgspec
import pytest

from rowpath.analysis.rankings import paths_to_repeat
from rowpath.journal.reader import Records, read_as_written
from tests.unit import journal_factory as factory

PHASE = "keyed.read"


def records(tmp_path: Path, *spreads: float, target: float = 0.02) -> Records:
    """Paths of one cost each, with these standard deviations between sets; the first is the fastest."""
    paths = [
        factory.path(
            f"p{number}", f"sqlite embedded c sqlite x={number}", {PHASE: 9_000 * (1 + number)}, between_sets=spread
        )
        for number, spread in enumerate(spreads)
    ]
    made = factory.records(factory.Run(paths=paths, disturbed_share=0))
    made[0]["experiment"]["measure"]["target_half_width"] = target
    return read_as_written(factory.write(tmp_path, made))


def names(found: Records, path_ids: set[str]) -> set[str]:
    return {found.paths[path_id].name for path_id in path_ids}


def test_narrow_intervals_need_no_set(tmp_path: Path) -> None:
    assert paths_to_repeat(records(tmp_path, 0.001, 0.001, 0.001), 8) == set()


def test_wide_ones_are_repeated_with_the_fastest(tmp_path: Path) -> None:
    found = records(tmp_path, 0.001, 0.001, 0.2)
    assert names(found, paths_to_repeat(found, 8)) == {"p0", "p2"}


@pytest.mark.parametrize("at_most", [2, 3])
def test_the_widest_come_first_where_there_is_little_room(tmp_path: Path, at_most: int) -> None:
    found = records(tmp_path, 0.001, 0.1, 0.4)
    assert names(found, paths_to_repeat(found, at_most)) == ({"p0", "p2"} if at_most == 2 else {"p0", "p1", "p2"})


def test_the_records_stay_as_they_were(tmp_path: Path) -> None:
    paths = factory.usual_paths()[3:7]
    batches = [[made.name for made in paths[:3]], [made.name for made in paths[2:]]]
    run = factory.Run(paths=paths, sets=3, rounds=3, groups=batches, anchors=(paths[2].name,))
    found = read_as_written(factory.write(tmp_path, factory.records(run)))
    before = [msgspec.structs.replace(record) for record in found.in_sets], dict(found.sets)
    assert paths_to_repeat(found, 8)
    assert (found.in_sets, found.sets) == before
    assert {record.set for record in found.numbered().in_sets} == set(range(6))
