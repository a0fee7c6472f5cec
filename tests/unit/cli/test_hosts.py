"""What `rowpath hosts` says of a host."""

from __future__ import annotations

import pytest

from rowpath.cli.hosts import clock_text
from rowpath.journal.records import ClockRecord


@pytest.mark.parametrize(
    ("offset_ns", "bound_ns", "said"),
    [
        (-4_210, 10_700, "-4.21 µs from the controller's, within ±10.7 µs"),
        (9 * 86_400 * 10**9 + 5, 2_000_000, "+9 d 00 h from the controller's, within ±2,000.0 µs"),
    ],
)
def test_a_clock_is_in_a_unit_that_fits_and_its_bound_in_microseconds(offset_ns: int, bound_ns: int, said: str) -> None:
    assert clock_text(ClockRecord("db", "before", offset_ns, bound_ns, "")) == said
