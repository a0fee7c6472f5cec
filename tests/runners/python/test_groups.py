"""Groups of clients in the Python runner: what its clients add to the cases of every runner."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rowpath.execution.mixed_load.shared_counters import DONE, WAITS, WORKS, SharedCounters
from rowpath.model import histogram
from rowpath.runners import protocol
from rowpath.runners.process import RunnerFailure
from tests.runners.protocol import group_cases as cases
from tests.runners.protocol.group_talk import NOTHING, Group, Subject, subject

sys.path.append(str(Path(__file__).parents[3] / "runners" / "python"))
from core.adapter import Adapter as RunnerAdapter
from core.client_tasks import LoopWatch
from core.clients import Clients
from core.group_client import Assignment, Done
from core.operation import Operation
from core.pacing import SharedArrivals
from tests.waiting import PATIENCE_S


@pytest.fixture(name="null", scope="module")
def null_fixture(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Subject]:
    with subject("python", "null", tmp_path_factory.mktemp("null")) as found:
        yield found


def test_columnar_groups(tmp_path: Path) -> None:
    with subject("python", "duckdb", tmp_path, fetch="columnar") as columnar:
        cases.touch(columnar)


def test_the_end_of_its_input_ends_a_runner_whose_groups_are_at_work(null: Subject) -> None:
    with null.talk() as talk:
        talk.prepare_nothing()
        with talk.groups(Group(NOTHING)) as working:
            working.begin()
            working.wait(lambda: working.shared_counters.states("group") == [WORKS])
            assert talk.runner.process.stdin is not None
            talk.runner.process.stdin.close()
            talk.runner.process.wait(timeout=PATIENCE_S)


def test_the_end_may_be_told_before_the_begin(null: Subject) -> None:
    with null.talk(clients=2) as talk:
        talk.prepare_nothing()
        with talk.groups(Group(NOTHING, clients=2)) as working:
            working.set_end()
            total = working.end()["group"]
            assert working.shared_counters.states("group") == [DONE, DONE]
            assert (total.operations, total.failed, total.begun_ns, total.ended_ns) == (0, 0, 0, 0)
        with talk.groups(Group(NOTHING, clients=2)) as working:
            working.set_end(time.monotonic_ns() + 60_000_000_000)
            time.sleep(0.01)
            assert working.shared_counters.states("group") == [WAITS, WAITS]
            working.begin()
            working.wait(lambda: working.shared_counters.states("group") == [WORKS, WORKS])
            assert working.end()["group"].operations > 0


def test_clients_that_are_processes_share_no_arrivals(tmp_path: Path) -> None:
    with subject("python", "sqlite3", tmp_path, concurrency="processes") as found, found.talk(clients=2) as talk:
        talk.make_ledger(2)
        talk.prepare_read([1, 2])
        shared = Group("read", clients=2, dispatch="shared", population=2)
        with pytest.raises(RunnerFailure, match="processes cannot share arrivals") as refused, talk.groups(shared):
            pass
        assert refused.value.kind == "unsupported"
        with talk.groups(Group("read", clients=2, operations=3)) as working:
            working.begin()
            working.wait_until_done()
            assert working.end()["group"].operations == 6


def test_callers_that_come_in_another_order_than_they_ended_in_are_due_in_the_order_of_the_queue() -> None:
    arrivals = SharedArrivals(None, 3, 0)
    assert [arrivals.take(10) for _ in range(3)] == [(0, 10), (1, 10), (2, 10)]
    for due_ns in (30, 20, 40):
        arrivals.join(due_ns)
    assert [arrivals.take(10) for _ in range(3)] == [(3, 30), (4, 30), (5, 40)]


def test_tasks_note_how_long_their_event_loop_was_blocked(tmp_path: Path) -> None:
    """A task that takes many rows at once keeps the others of its loop waiting: every one at work sees it."""
    with subject("python", "asyncpg", tmp_path, transport="unix") as found, found.talk(clients=3) as talk:
        talk.make_ledger(3)
        talk.prepare_read([1, 2, 3])
        sql = "SELECT g AS id, g AS n FROM generate_series(1, ?::integer) g"
        talk.prepare_query(sql, [200_000])
        quiet = Group("read", "quiet", 2, pacing="fixed", rate_per_s=50.0, operations=3)
        with talk.groups(quiet, Group("large", operations=2)) as working:
            working.begin()
            working.wait_until_done()
            assert working.end()["group"].operations == 2
            seen = {name: working.shared_counters.snapshot(name, 0) for name in ("quiet", "group")}
        longest = histogram.highest_of(int(np.flatnonzero(seen["group"].service)[-1]))
        # What the driver does of it, it does with pauses in which the loop runs on; the rows are taken in one go.
        assert longest / 10 < seen["group"].blocked_ns <= longest
        assert seen["quiet"].blocked_ns > 0


def test_the_last_look_at_an_event_loop_is_for_the_client_that_ended() -> None:
    waits, works, ended = heads = [[state] + 15 * [0] for state in (WAITS, WORKS, WORKS)]
    watch = LoopWatch(heads)
    time.sleep(0.015)  # the watch is due after 10 ms
    watch.done(2)
    assert ended[14] > 0
    assert (waits[14], works[14]) == (0, 0)


def test_what_cannot_be_placed_is_refused(null: Subject) -> None:
    with null.talk(clients=2) as talk:
        talk.prepare_nothing()
        shared_counters = SharedCounters([("group", 1, 0)])
        with contextlib.closing(shared_counters):
            place = shared_counters.client_groups["group"]
            right: dict[str, Any] = {"name": "group", "phase": NOTHING, "first_client": 0, "clients": 1}
            right |= {"pacing": "closed", "control": place.control, "slots": place.slots, "slot_bytes": 0}
            for changed, text in (
                ({"slots": place.slots + place.slot_bytes}, "end before"),
                ({"acknowledged": place.slot_bytes}, "end before"),
                ({"pacing": "uniform", "rate_per_s": 1.0}, "uniform"),
                ({"pacing": "fixed"}, "0.0 a second"),
                ({"first_client": 2}, "of 2 clients"),
                ({"phase": "unheard-of"}, "unheard-of"),
            ):
                with pytest.raises(RunnerFailure, match=text):
                    ask(talk, shared_counters.file, protocol.GroupSpec(**right | changed))
            twice = protocol.GroupSpec(**right)
            with pytest.raises(RunnerFailure, match="in two groups"):
                ask(talk, shared_counters.file, twice, twice)
            with pytest.raises(RunnerFailure, match="nowhere"):
                ask(talk, "/nowhere", twice)
            assert ask(talk, shared_counters.file, twice).clients == 1
            shared_counters.end("group", 1)
            assert len(talk.ask(protocol.ClientGroupsEnd, protocol.ClientGroupsEndReply).client_groups) == 1


def ask(talk: Any, shared_counters: str, *groups: protocol.GroupSpec) -> protocol.ClientGroupsReply:
    reply: protocol.ClientGroupsReply = talk.ask(
        protocol.ClientGroups, protocol.ClientGroupsReply, shared_counters=shared_counters, client_groups=list(groups)
    )
    return reply


class Noting(RunnerAdapter):
    """Notes what is done; the row 2 cannot be stored, the row 4 not committed."""

    errors = (ValueError,)

    def __init__(self, options: dict[str, str]) -> None:
        super().__init__(options)
        self.noted: list[Any] = []

    def prepare(self, phase: Any, parameters: Any) -> Operation:
        return Operation(self.store, parameters)

    def store(self, row: tuple[int]) -> None:
        self.noted.append(row[0])
        if row[0] == 2:
            raise ValueError("two")

    def transaction(self, phase: Any) -> Any:
        def commit() -> None:
            if self.noted[-1] == 4:
                raise ValueError("four")
            self.noted.append("commit")

        return lambda: None, commit, lambda: self.noted.append("rollback")


class Spec:
    name, kind, columns, stamps, transaction, rows_per_operation = "write", "execute", (), False, True, 1


def test_each_operation_is_a_transaction() -> None:
    adapter = Noting({})
    clients = Clients(adapter, 1)
    prepared = clients.prepare(Spec, [(number,) for number in range(1, 6)])
    shared_counters = SharedCounters([("group", 1, 5)])
    with contextlib.closing(shared_counters):
        place = shared_counters.client_groups["group"]
        own = Assignment(
            shared_counters.file, "write", "closed", 0.0, 0, 5, 0, 0, place.control, place.slots, 0, 0, 1, 5
        )
        work = clients.gather([(prepared, own._replace(acknowledged=place.acknowledged))])
        shared_counters.begin("group", 1)
        [done] = work()
        known, doubtful = shared_counters.acknowledged("group")
    assert adapter.noted == [1, "commit", 2, "rollback", 3, "commit", 4, "rollback", 5, "commit"]
    assert isinstance(done, Done)
    assert (done.operations, done.failed) == (3, 2)
    assert done.failures == {("sql", "ValueError"): {"kind": "sql", "code": "ValueError", "text": "two", "count": 2}}
    assert (known.tolist(), doubtful.tolist()) == ([1, 0, 1, 0, 1], [0, 1, 0, 1, 0])
    clients.close()
