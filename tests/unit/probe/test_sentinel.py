"""When the connection that watches ends a block: by snapshots that are made up."""

from __future__ import annotations

import pytest

from rowpath.execution.mixed_load.shared_counters import Snapshot
from rowpath.model import histogram
from rowpath.probe.sentinel import WINDOW_NS, Sentinel

BEFORE_NS = 100_000
LOOK_NS = 100_000_000
EACH = 10  # readings between two looks


class Counters:
    """What the shared counters would show of the connection that watches."""

    def __init__(self) -> None:
        self._at_ns = 0
        self._counts = histogram.empty()

    def snapshot(self, took_ns: int, readings: int = EACH, under_way_ns: int = 0) -> Snapshot:
        self._at_ns += LOOK_NS
        self._counts[histogram.index_of(took_ns)] += readings
        counts, empty = self._counts.copy(), histogram.empty()
        operations = int(counts.sum())
        return Snapshot(self._at_ns, operations, 0, 0, 0, 0, 0, 1, 0, 0, under_way_ns, counts, empty, empty)


def looks(sentinel: Sentinel, counters: Counters, took_ns: int, count: int, **how: int) -> list[bool]:
    return [sentinel.too_long(counters.snapshot(took_ns, **how)) for _ in range(count)]


def test_the_usual_time_and_a_little_more_go_on() -> None:
    sentinel, counters = Sentinel(BEFORE_NS), Counters()
    assert not any(looks(sentinel, counters, BEFORE_NS, 20))
    assert not any(looks(sentinel, counters, round(1.9 * BEFORE_NS), 20))
    assert sentinel.took_ns == 0


def test_twice_as_long_over_most_of_the_window_ends_it() -> None:
    sentinel, counters = Sentinel(BEFORE_NS), Counters()
    assert not any(looks(sentinel, counters, BEFORE_NS, 10))
    ended = looks(sentinel, counters, round(2.2 * BEFORE_NS), 6)
    assert not ended[0]  # a moment is no median
    assert ended[-1]
    assert sentinel.took_ns == pytest.approx(2.2 * BEFORE_NS, rel=0.01)


def test_a_query_that_never_ends_says_it_all() -> None:
    sentinel, counters = Sentinel(BEFORE_NS), Counters()
    assert looks(sentinel, counters, BEFORE_NS, 1, under_way_ns=WINDOW_NS + 1) == [True]
    assert sentinel.took_ns > WINDOW_NS


@pytest.mark.parametrize("took_ms", [30, 60, 200])
def test_a_server_so_slow_that_few_readings_fit_into_the_window(took_ms: int) -> None:
    sentinel, counters = Sentinel(BEFORE_NS), Counters()
    each = LOOK_NS // (took_ms * 1_000_000)
    seen = [counters.snapshot(took_ms * 1_000_000, readings=each or number % 2) for number in range(8)]
    assert any(sentinel.too_long(snapshot) for snapshot in seen)
    assert sentinel.took_ns >= 2 * BEFORE_NS


def test_a_server_far_away_that_takes_its_usual_time_goes_on() -> None:
    sentinel, counters = Sentinel(LOOK_NS), Counters()
    assert not any(looks(sentinel, counters, LOOK_NS, 20, readings=1))
    assert any(looks(sentinel, counters, 3 * LOOK_NS, 12, readings=0)[-1:])


def test_another_block_begins_with_counters_of_its_own() -> None:
    sentinel = Sentinel(BEFORE_NS)
    assert not any(looks(sentinel, Counters(), BEFORE_NS, 10))
    sentinel.begin()
    assert not any(looks(sentinel, Counters(), BEFORE_NS, 10))
