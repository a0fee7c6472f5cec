"""Several clients in one Python runner: every row exactly once, the counts of all and of each, the meeting."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar

import pytest

from rowpath.engines.postgresql import Postgresql
from rowpath.engines.sqlite import Sqlite
from rowpath.model.workload import Phase
from rowpath.runners import protocol as p
from rowpath.runners.process import RunnerFailure
from rowpath.workloads import workload_file
from rowpath.workloads.expected import Expected
from tests.runners.python.engines import postgresql_fixture, sqlite_file_fixture, sqlite_loaded_fixture  # noqa: F401
from tests.runners.python.talk import Talk, kept_fixture, living_fixture, start_fixture  # noqa: F401

sys.path.append(str(Path(__file__).parents[3] / "runners" / "python"))
from core.adapter import Adapter as RunnerAdapter
from core.clients import Clients
from core.operation import Operation
from tests.waiting import until

KEYED = workload_file.load_workload("keyed")
EXPECTED = Expected(KEYED)
DRIVERS = [
    ("sqlite3", "prepared", "threads"),
    ("psycopg", "prepared", "threads"),
    ("psycopg", "prepared", "tasks"),
    ("psycopg2", "text", "threads"),
    ("asyncpg", "prepared", "tasks"),
    ("asyncpg", "bound", "tasks"),
]


def check_sums(sample: p.SampleReply, clients: int) -> None:
    """The whole is the sum of its clients."""
    assert (sample.failed, sample.failure) == (0, None)
    if clients == 1:
        assert sample.clients == []
        return
    assert len(sample.clients) == clients
    for field in ("operations", "failed", "rows", "lead_in_operations"):
        assert getattr(sample, field) == sum(getattr(client, field) for client in sample.clients), field
    assert sample.first == sample.clients[0].first
    assert sample.min_ns == min(client.min_ns for client in sample.clients)
    assert sample.max_ns == max(client.max_ns for client in sample.clients)
    assert max(client.ns for client in sample.clients) <= sample.ns <= sample.window_ns
    assert 0 < sample.cpu_ns <= sample.window_cpu_ns


def check_touch(sample: p.SampleReply, phase: Phase) -> None:
    """The touch sum is that of every client's own operations."""
    spans = [(client.first, client.operations) for client in sample.clients or [sample]]
    assert int(sample.touch, 16) in (EXPECTED.touches(phase).expected_of(spans) or ())
    assert sample.rows == sum(EXPECTED.rows(phase, first, operations) or 0 for first, operations in spans)


@pytest.mark.parametrize("clients", [1, 8])
@pytest.mark.parametrize(("driver", "statement", "concurrency"), DRIVERS)
def test_every_row_exactly_once(
    kept: Callable[..., Talk],
    postgresql: dict[str, Any],
    sqlite_file: Path,
    driver: str,
    statement: str,
    concurrency: str,
    clients: int,
) -> None:
    engine: Any = Sqlite() if driver == "sqlite3" else Postgresql()
    talk = kept(driver)
    options = {"statement": statement, "clients": str(clients), "concurrency": concurrency, "transport": "unix"}
    talk.open(**postgresql, path=str(sqlite_file), durability="full", **options)
    assert talk.facts().settings["clients"] == str(clients)
    phase = KEYED.phase("read")
    read = talk.prepare(KEYED, phase)
    exact = talk.sample(read, operations=1003, lead_in_ns=0, first=0)
    assert exact.operations == 1003
    check_sums(exact, clients)
    check_touch(exact, phase)
    bounds = [client * 1003 // clients for client in range(clients + 1)]
    if clients > 1:
        assert [(c.first, c.operations) for c in exact.clients] == [(a, b - a) for a, b in pairwise(bounds)]
    timed = [talk.sample(read, first=0), talk.sample(read)]
    for sample in timed:
        check_sums(sample, clients)
        check_touch(sample, phase)
        assert sample.ns >= 10_000_000
    for before, after in zip(timed[0].clients, timed[1].clients, strict=True):
        assert after.first == before.first + before.operations + after.lead_in_operations
        assert before.operations and after.operations
    if clients > 1:
        starts = [client.first - client.lead_in_operations for client in timed[0].clients]
        assert starts == [client * 1000 // clients for client in range(clients)]
    assert talk.verify(read, 5, 20).digest == EXPECTED.verify_digest(phase, 5, 20, 100)

    phase = KEYED.phase("insert")
    insert = talk.prepare(KEYED, phase)
    for reset in workload_file.reset_for(KEYED, phase, engine):
        talk.run(reset, ignore_errors=True)
    written = [talk.sample(insert, operations=many, lead_in_ns=0, first=first) for many, first in ((5, 0), (195, -1))]
    assert [sample.operations for sample in written] == [5, 195]
    assert (written[0].failure, written[1].failure) == (None, None)
    after = Phase(
        name="after",
        kind="query",
        sql=workload_file.whole_sql(phase.after, KEYED.tables[phase.after]),
        table=phase.after,
    )
    assert talk.verify(talk.prepare(KEYED, after)).digest == EXPECTED.after_digest(phase, 200)


def test_the_connections_are_of_their_own_and_closed(start: Callable[..., Talk], postgresql: dict[str, Any]) -> None:
    connect = workload_file.load_workload("connect")
    watcher = start("psycopg")
    watcher.open(**postgresql, statement="bound", transport="unix")
    for driver in ("psycopg", "psycopg2", "asyncpg"):
        talk = start(driver)
        for clients in (8, 1, 2):
            talk.open(**postgresql, statement="text", transport="unix", clients=str(clients))
            wait_for_connections(watcher, clients + 1)
        talk.close_connection()
        wait_for_connections(watcher, 1)
        with pytest.raises(RunnerFailure, match="several clients"):
            talk.open(**postgresql, statement="text", transport="unix", clients="2")
            talk.prepare(connect, connect.phases[0])
        wrong = {"psycopg": "goroutines", "psycopg2": "virtual-threads", "asyncpg": "threads"}[driver]
        with pytest.raises(RunnerFailure, match=wrong):
            talk.open(**postgresql, statement="text", transport="unix", clients="2", concurrency=wrong)
        talk.runner.stop()
        wait_for_connections(watcher, 1)


def wait_for_connections(watcher: Talk, wanted: int) -> None:
    """Until the server has so many clients: it takes a moment to see that one is gone."""
    connect = workload_file.load_workload("connect")
    sql = "SELECT 1 FROM pg_stat_activity WHERE backend_type = 'client backend' AND usename = current_user"
    name = watcher.prepare(connect, connect.phases[0], sql, kind="query")
    until(lambda: watcher.verify(name).rows == wanted, f"{wanted} connections")


class Spec:
    kind, columns, stamps, transaction, rows_per_operation = "execute", (), False, False, 1


class Collecting(RunnerAdapter):
    """Each operation of a true argument collects garbage."""

    def prepare(self, phase: Any, parameters: Any) -> Operation:
        return Operation(lambda row: gc.collect() if row[0] else None, parameters)


class Refusing(RunnerAdapter):
    """Refuses every statement, and notes it."""

    noted: ClassVar[list[str]] = []

    def run(self, statement: str) -> None:
        self.noted.append(statement)
        raise ValueError(statement)


def test_an_error_of_one_client_is_ignored_on_every_client() -> None:
    clients = Clients(Refusing({}), 3)
    try:
        with pytest.raises(ValueError, match="first"):
            clients.run("first", every=True)
        assert clients.run("second", every=True, ignore_errors=True) == 3
    finally:
        clients.close()
    assert Refusing.noted == ["first", "second", "second", "second"]


def test_collections_are_counted() -> None:
    clients = Clients(Collecting({}), 1)
    request = {"lead_in_ns": 0, "duration_ns": 0, "operations": 5, "first": 0}
    _, reply = clients.sample(clients.prepare(Spec, [(True,)]), request)
    assert reply["collections"] == 5
    assert 0 < reply["collector_ns"] < reply["ns"]
    gc.disable()
    try:
        _, reply = clients.sample(clients.prepare(Spec, [(False,)]), request)
    finally:
        gc.enable()
    assert (reply["collections"], reply["collector_ns"]) == (0, 0)
