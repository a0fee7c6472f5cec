"""Pools of Node: pg's, Postgres.js's and MySQL2's; and how long the event loop was blocked."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from rowpath.execution.mixed_load.shared_counters import GAVE_UP
from rowpath.model.workload import Column
from rowpath.runners import protocol
from rowpath.workloads import codec
from tests.runners.insides import slot_of
from tests.runners.protocol import pool_cases as cases
from tests.runners.protocol.group_talk import NOTHING, Group, Subject, subject
from tests.runners.protocol.pool_cases import Case
from tests.runners.protocol.test_groups import skip_without

POOLS = {"pg": "pg-pool", "postgres-js": "postgres-js", "mysql2": "mysql2"}
BLOCKED_WORD = 14
STALL_NS = 400_000_000
RESOLUTION_NS = 15_000_000  # of the timer, and milliseconds that it rounds
END_ONE = (
    "SELECT pg_terminate_backend((SELECT min(pid) FROM pg_stat_activity"
    " WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()))"
)


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


@pytest.mark.parametrize("transaction", ["autocommit", "transaction"])
def test_a_lost_connection_leaves_nobody_waiting(transaction: str, tmp_path: Path) -> None:
    """Postgres.js may never lend it again: its pool lends none any more, and every client gives up."""
    skip_without("node", "postgres-js")
    columns, file = (Column(name="id", type="integer"),), tmp_path / "lost.rows"
    codec.write_rows(file, [(id_,) for id_ in range(1, cases.ROWS + 1)], columns)
    update = protocol.PhaseSpec(
        name="write",
        kind="execute",
        sql="UPDATE ledger SET n = n + 1 WHERE id = ?",
        table="ledger",
        parameter_columns=columns,
        transaction=transaction,
    )
    with (
        subject("node", "postgres-js", tmp_path) as lending,
        lending.talk() as watcher,
        cases.lent(lending, "postgres-js", cases.SIZE + 2) as talk,
    ):
        talk.make_ledger(cases.ROWS)
        talk.prepare_spec(update, protocol.ParameterSlice(file=str(file), first=0, count=cases.ROWS))
        with talk.groups(Group("write", clients=cases.SIZE + 2)) as working:
            counters = working.shared_counters
            working.begin()
            working.wait(lambda: counters.snapshot("group", time.monotonic_ns()).operations > cases.ROWS)
            watcher.run(END_ONE)
            working.wait(lambda: set(counters.states("group")) == {GAVE_UP})
            failures = working.end()["group"].failures
        assert ("connect", "CONNECTION_CLOSED") in {(failure.kind, failure.code) for failure in failures}
        with pytest.raises(cases.RunnerFailure, match="of the pool was closed"):
            talk.facts()


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


def test_who_was_done_before_the_loop_was_blocked_does_not_have_that(tmp_path_factory: pytest.TempPathFactory) -> None:
    skip_without("node", "null-promise")
    stalls = {"stall_ns": str(STALL_NS), "stall_every": "50"}
    with (
        subject("node", "null-promise", tmp_path_factory.mktemp("loop")) as made,
        made.talk(clients=2, **stalls) as talk,
    ):
        talk.prepare_nothing()
        early, late = (
            Group(NOTHING, name, pause_ns=1_000_000, operations=n) for name, n in (("early", 5), ("late", 60))
        )
        with talk.groups(early, late) as working:
            working.begin()
            working.wait_until_done()
            words = [int(slot_of(working.shared_counters, each.name, 0)[BLOCKED_WORD]) for each in (early, late)]
    assert words[0] < STALL_NS - RESOLUTION_NS <= words[1]
