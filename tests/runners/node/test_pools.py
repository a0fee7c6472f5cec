"""Pools of Node: pg's, Postgres.js's and MySQL2's; and how long the event loop was blocked."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.runners.insides import slot_of
from tests.runners.protocol import pool_cases as cases
from tests.runners.protocol.group_talk import NOTHING, Group, Subject, subject
from tests.runners.protocol.pool_cases import Case
from tests.runners.protocol.test_groups import skip_without

POOLS = {"pg": "pg-pool", "postgres-js": "postgres-js", "mysql2": "mysql2"}
BLOCKED_WORD = 14
STALL_NS = 400_000_000
RESOLUTION_NS = 15_000_000  # of the timer, and milliseconds that it rounds


@pytest.fixture(name="lending", scope="module", params=POOLS)
def lending_fixture(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Subject]:
    skip_without("node", request.param)
    with subject("node", request.param, tmp_path_factory.mktemp("pools")) as made:
        yield made


@pytest.mark.parametrize("case", cases.CASES, ids=lambda case: case.__name__)
def test_pool(lending: Subject, case: Case) -> None:
    case(lending, POOLS[lending.adapter.driver])


def test_a_pool_asks_nothing(lending: Subject) -> None:
    pool = POOLS[lending.adapter.driver]
    assert cases.round_trips(lending, pool) == cases.round_trips(lending, "none") == 1
    with pytest.raises(cases.RunnerFailure, match="no validation 'borrow'"):
        cases.round_trips(lending, pool, validation="borrow")


def blocked(made: Subject, **stalls: str) -> list[int]:
    """How long the loop was blocked, as each of two clients has it."""
    with made.talk(clients=2, **stalls) as talk:
        talk.prepare_nothing()
        with talk.groups(Group(NOTHING, clients=2, pause_ns=1_000_000, operations=60)) as working:
            working.begin()
            working.wait_until_done()
            words = [int(slot_of(working.shared_counters, "group", client)[BLOCKED_WORD]) for client in range(2)]
            assert working.end()["group"].operations == 120
    return words


def test_the_longest_time_that_the_event_loop_was_blocked(tmp_path_factory: pytest.TempPathFactory) -> None:
    skip_without("node", "null-promise")
    with subject("node", "null-promise", tmp_path_factory.mktemp("loop")) as made:
        first, second = blocked(made, stall_ns=str(STALL_NS), stall_every="50")
        assert first == second >= STALL_NS - RESOLUTION_NS
        assert max(blocked(made)) < first
