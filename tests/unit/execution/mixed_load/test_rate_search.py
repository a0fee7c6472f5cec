"""The search for the highest rate whose 99th percentile stays under a bound, over made engines."""

from __future__ import annotations

import math

import pytest

from rowpath.execution.mixed_load.schedule import CLOSE_ENOUGH, search_rate
from rowpath.journal.mixed_load_records import RateTryRecord
from rowpath.model.experiment import RateSearchTable

BOUND_NS = 5_000_000


def table(**how: float) -> RateSearchTable:
    return RateSearchTable(client_group="readers", p99_ms=5.0, **{"tries": 20, **how})  # type: ignore[arg-type]


def engine(limit_per_s: float, reaches_per_s: float = math.inf) -> tuple[list[float], object]:
    """An engine whose 99th percentile exceeds the bound beyond a rate, and that does no more than another one."""
    asked: list[float] = []

    def attempt(rate_per_s: float) -> RateTryRecord:
        asked.append(rate_per_s)
        reached = rate_per_s <= reaches_per_s
        p99_ns = (4_000_000 if rate_per_s <= limit_per_s else 6_000_000) if reached else None
        return RateTryRecord(rate_per_s=rate_per_s, reached=reached, p99_ns=p99_ns, bound_ns=BOUND_NS)

    return asked, attempt


@pytest.mark.parametrize("limit", [130.0, 1000.0, 54_321.0])
def test_it_finds_the_limit_from_below(limit: float) -> None:
    asked, attempt = engine(limit)
    found = search_rate(table(), attempt)  # type: ignore[arg-type]
    assert found is not None
    assert found <= limit < found * CLOSE_ENOUGH
    assert found in asked


def test_a_first_rate_that_is_too_high_is_halved() -> None:
    _, attempt = engine(33.0)
    found = search_rate(table(begin_per_s=1000.0), attempt)  # type: ignore[arg-type]
    assert found is not None
    assert found <= 33.0 < found * CLOSE_ENOUGH


def test_a_rate_that_is_not_reached_does_not_hold() -> None:
    asked, attempt = engine(math.inf, reaches_per_s=700.0)
    found = search_rate(table(), attempt)  # type: ignore[arg-type]
    assert found is not None
    assert found <= 700.0 < found * CLOSE_ENOUGH
    assert max(asked) > 700.0


def test_an_engine_that_never_holds_has_no_rate_and_the_tries_end() -> None:
    asked, attempt = engine(0.0)
    found = search_rate(table(tries=4), attempt)  # type: ignore[arg-type]
    assert found is None
    assert asked == [100.0, 50.0, 25.0, 12.5]


def test_tries_that_are_used_up_leave_what_held() -> None:
    asked, attempt = engine(1e12)
    found = search_rate(table(tries=3), attempt)  # type: ignore[arg-type]
    assert asked == [100.0, 200.0, 400.0]
    assert found == 400.0
