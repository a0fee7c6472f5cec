"""How many operations of an open loop are due, against the schedule that the protocol's text gives."""

from __future__ import annotations

from itertools import accumulate, takewhile

import pytest

from rowpath.execution.mixed_load.group_totals import due_before, reached
from tests.runners.protocol.group_talk import due_distances_s

S = 1_000_000_000


@pytest.mark.parametrize("clients", [1, 3])
@pytest.mark.parametrize("elapsed_ns", [1, S // 7, 3 * S])
def test_poisson_as_the_protocol_draws_it(clients: int, elapsed_ns: int) -> None:
    rate, seed = 400.0, (1 << 64) - 2
    expected = 0
    for number in range(clients):
        instants = accumulate(due_distances_s(seed + number, rate / clients))
        expected += sum(1 for _ in takewhile(lambda at: at < elapsed_ns / S, instants))
    assert due_before("poisson", rate, clients, seed, elapsed_ns) == expected


@pytest.mark.parametrize(("clients", "elapsed_ns", "due"), [(1, S, 1000), (4, S, 1000), (4, 1, 1), (2, S + 1, 1001)])
def test_fixed(clients: int, elapsed_ns: int, due: int) -> None:
    assert due_before("fixed", 1000.0, clients, 0, elapsed_ns) == due


def test_limits() -> None:
    assert due_before("fixed", 1000.0, 2, 0, S, most=10) == 20
    assert due_before("fixed", 1000.0, 2, 0, 0) == 0


@pytest.mark.parametrize(("operations", "is_reached"), [(1000, True), (892, True), (890, False), (0, False)])
def test_reached_leaves_the_tail_out(operations: int, is_reached: bool) -> None:
    assert reached(operations, due=1000, due_in_tail=99) is is_reached
