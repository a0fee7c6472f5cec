"""What a pool adds to the same path without one, and how many connections suffice."""

from __future__ import annotations

from pathlib import Path

from rowpath.analysis.analyse import analyse
from rowpath.analysis.chapters.pool_ladders import CHAPTER, Pools
from tests.unit import journal_factory as factory

HOW = "postgresql server java pgjdbc transport=tcp"
READ = "keyed.read"


def pooled(pool: str, cost_ns: float, size: int = 1, clients: int = 1, validation: str = "none") -> factory.MadePath:
    more = f" clients={clients}" if clients > 1 else ""
    how = f"{HOW}{more} pool={pool} pool_size={size} validation={validation}"
    return factory.path(f"{pool} {size} {clients} {validation}", how, {READ: cost_ns})


def pools_of(tmp_path: Path, *paths: factory.MadePath) -> Pools:
    records = factory.records(factory.Run(disturbed_share=0.0, paths=list(paths)))
    found: Pools = CHAPTER.of(analyse(factory.write(tmp_path, records)))
    return found


def test_each_pool_stands_beside_the_path_without_one(tmp_path: Path) -> None:
    bare = factory.path("bare", HOW, {READ: 20_000})
    found = pools_of(
        tmp_path, bare, pooled("slow", 30_000), pooled("quick", 22_000), pooled("quick", 40_000, validation="borrow")
    )
    (ladder,) = found.ladders
    assert [rung.pool for rung in ladder.rungs] == ["quick", "slow", "quick validating"]
    assert 1.05 < ladder.rungs[0].to_direct.ratio < 1.15
    assert not found.sizes


def test_a_pool_of_another_number_of_clients_is_not_compared(tmp_path: Path) -> None:
    bare = factory.path("bare", HOW, {READ: 20_000})
    assert not pools_of(tmp_path, bare, pooled("quick", 22_000, clients=8)).ladders


def test_the_smallest_size_suffices_from_which_on_none_is_faster(tmp_path: Path) -> None:
    costs = {1: 90_000, 4: 50_000, 16: 50_000, 64: 70_000}
    found = pools_of(tmp_path, *(pooled("some", cost, size, clients=8) for size, cost in costs.items()))
    (sizes,) = found.sizes
    assert list(sizes.time_ns) == list(costs)
    assert sizes.enough == 4
