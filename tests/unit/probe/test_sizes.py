"""The search for a number of connections, on curves that are known and on a simulated queue."""

from __future__ import annotations

import heapq
import random
from collections.abc import Callable

import pytest

from rowpath.analysis.size_choice import chosen
from rowpath.model import histogram
from rowpath.model.sizing import SizeBlock
from rowpath.probe.sizes import MOST_BLOCKS, SizeSearch, doubled

Curve = Callable[[int], float]  # p99 in ms
ROUNDS = 60  # more than any search needs


def block(size: int, latencies_ns: list[int], due: int = 0, waiting: tuple[int, int] = (0, 0)) -> SizeBlock:
    counts = histogram.empty()
    for value in latencies_ns:
        counts[histogram.index_of(value)] += 1
    return SizeBlock(size, 1.0, len(latencies_ns), 0, due, *waiting, histogram.encode(counts))


def searched(most: int, measure: Callable[[int], SizeBlock]) -> SizeSearch:
    search = SizeSearch(most)
    for _ in range(ROUNDS):
        sizes = search.next_sizes()
        if not sizes:
            return search
        search.blocks += map(measure, sizes)
    raise AssertionError("the search does not end")


def on_curve(curve: Curve, noise: float, seed: int = 1) -> Callable[[int], SizeBlock]:
    chance = random.Random(seed)
    return lambda size: block(size, [round(curve(size) * 1e6 * chance.lognormvariate(0, noise))] * 100)


def queue(size: int, rate_per_s: float, service_s: Callable[[int], float], chance: random.Random) -> SizeBlock:
    """A second of Poisson arrivals at that many servers; each takes the next arrival when it is free."""
    free = [0.0] * size
    arrived, ends, latencies, due = 0.0, 1.0, [], 0
    begun: list[float] = []
    while (arrived := arrived + chance.expovariate(rate_per_s)) < ends:
        due += 1
        begin = max(arrived, heapq.heappop(free))
        heapq.heappush(free, begin + service_s(size))
        begun.append(begin)
        if begin < ends:
            latencies.append(round((begin + service_s(size) - arrived) * 1e9))
    half = due // 2
    return block(size, latencies, due, (sum(at > ends / 2 for at in begun[:half]), sum(at > ends for at in begun)))


def test_doubling_ends_with_the_most() -> None:
    assert [doubled(most) for most in (1, 2, 5, 50)] == [[1], [1, 2], [1, 2, 4, 5], [1, 2, 4, 8, 16, 32, 50]]


@pytest.mark.parametrize("lowest", [3, 9, 23])
def test_a_valley_is_found(lowest: int) -> None:
    search = searched(50, on_curve(lambda size: 4 * max(size / lowest, lowest / size), 0.01))
    choice = chosen(search.blocks)
    assert choice.found is not None
    assert lowest / 1.2 <= choice.found <= lowest * 1.2
    assert choice.broken is None
    largest = choice.of(50)
    assert largest is not None and largest.behind and largest.blocks >= 3


def test_of_sizes_that_nothing_tells_apart_the_smallest_is_found() -> None:
    for seed in range(5):
        choice = chosen(searched(50, on_curve(lambda _size: 4, 0.02, seed)).blocks)
        assert choice.found is not None and choice.found <= 4  # 1, unless chance told it from the best


def test_the_smallest_as_good_as_the_best_is_found_before_a_larger_one() -> None:
    choice = chosen(searched(64, on_curve(lambda size: 10 if size < 6 else 4, 0.01)).blocks)
    assert choice.found in (6, 7)


def test_a_queue_breaks_below_what_its_rate_needs() -> None:
    chance = random.Random(3)
    # 2,000 a second of 2.5 ms: 5 connections would be busy all the time.
    search = searched(50, lambda size: queue(size, 2000, lambda _size: 0.0025, chance))
    choice = chosen(search.blocks)
    assert choice.broken in (4, 5)
    assert choice.found is not None and 6 <= choice.found <= 12


def test_a_queue_whose_service_slows_with_connections_has_its_best_in_between() -> None:
    chance = random.Random(4)
    search = searched(50, lambda size: queue(size, 1000, lambda size: 0.003 * (1 + size / 20), chance))
    choice = chosen(search.blocks)
    assert choice.found is not None and 4 <= choice.found <= 12
    assert choice.broken in (2, 3, 4)
    largest = choice.of(50)
    assert largest is not None and largest.behind


def test_no_size_keeps_up() -> None:
    chance = random.Random(5)
    search = searched(16, lambda size: queue(size, 2000, lambda size: 0.01 + size / 1000, chance))
    choice = chosen(search.blocks)
    assert choice.found is None and choice.best is None
    assert choice.broken == 16
    assert max(choice.sizes, key=lambda one: one.rate_per_s).rate_per_s < 2000


def test_a_search_spends_its_blocks_where_they_decide() -> None:
    search = searched(64, on_curve(lambda size: 4 * max(size / 8, 8 / size), 0.05))
    counts = {one.size: one.blocks for one in chosen(search.blocks).sizes}
    assert counts[1] == 1 and counts[2] == 1
    assert all(count <= MOST_BLOCKS for count in counts.values())
    assert sum(counts.values()) <= 64  # one block of each size


def test_one_connection_is_all_that_there_is() -> None:
    choice = chosen(searched(1, on_curve(lambda _size: 4, 0.02)).blocks)
    assert (choice.found, choice.best, choice.broken) == (1, 1, None)


def test_a_size_that_is_much_longer_is_not_found_although_its_blocks_differ_as_much() -> None:
    search = SizeSearch(8)
    search.blocks = [block(4, [ms * 1_000_000] * 100) for ms in (5, 20, 60)]
    search.blocks += [block(8, [ms * 1_000_000] * 100) for ms in (5, 6, 7)]
    choice = chosen(search.blocks)
    figures = choice.of(4)
    assert figures is not None and not figures.behind
    assert (choice.best, choice.found) == (8, 8)
