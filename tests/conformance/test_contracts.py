"""Transactions and durability, proven from outside: server counters, and syncs counted per commit."""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Iterator
from typing import Any

import pytest
from tests.conformance.selection import project_paths, selected_cases
from tests.engines.insides import ask

from rowpath.checks.conformance.fixture import EngineFixture
from rowpath.checks.conformance.paths import case_named, phase_name
from rowpath.engines import ENGINES
from rowpath.engines.base import Instance, Place, Stored
from rowpath.engines.postgresql.server import PostgresqlServer
from rowpath.execution.prepared_phases import PreparedPhase
from rowpath.execution.worker import Worker
from rowpath.machine import cpus
from rowpath.machine.counters import syncs
from rowpath.model.path import AccessPath
from rowpath.planning.plan import Key, PlannedPath, key_of

OPERATIONS = 20
BACKENDS_END_WITHIN_S = 60.0
COUNTED_TIMES = 3
COUNTED_BATCHES = 10
MOST_OF_ASKING = 3  # transactions that a driver makes of one statement outside the clock
# ADBC describes a result in a transaction of its own before it fetches it; with BEGIN and COMMIT around that are three.
ADBC = {"by-key": 2, "in-transaction": 3}
# These describe an unnamed statement in a round trip, and so a transaction, of its own.
DESCRIBING = (
    {"driver": "pgx", "statement": "bound", "exec_mode": "auto"},
    {"driver": "pgx-stdlib", "statement": "bound", "exec_mode": "auto"},
    {"driver": "pq", "statement": "bound", "format": "text"},
    {"driver": "sqlx-postgres", "statement": "bound"},
)
ONE_SYNC = {"libpq", "psycopg", "pgx"}  # behind a pipeline of reads: they share a transaction
# Each a transaction of its own: psqlpy prepares, forgets what it prepared and sends the query with its types; psqlodbc
# parses and describes for pyodbc, which asks for the parameters' types.
ROUND_TRIPS = {("psqlpy", "bound"): 3, ("pyodbc", "bound"): 4}
STATIC = {"modernc-sqlite", "ncruces-sqlite"}  # they call the kernel themselves: no library counts their syncs
# Beside the default of transport, TLS, clients and bulk way nothing changes in what is counted here.
PATHS = [path for path in project_paths() if "=" not in path.name]
POSTGRESQL = [path for path in PATHS if path.path.get("engine") == "postgresql"]


def plain(planned: PlannedPath) -> bool:
    """The simplest prepared path of its driver."""
    wanted = {"statement": ("prepared",), "result": ("none", "whole"), "format": ("none", "text")}
    wanted |= {"prepare_threshold": ("none", "", "auto"), "fetch": ("none", "row")}
    if phase_name(case_named("insert")) not in planned.phases:
        return False
    return all(planned.path.as_dict().get(key, "") in values for key, values in wanted.items())


# A server's syncs are counted where it is started with the counter: PostgreSQL here, Derby in its engine's tests.
COUNTED = [path for path in PATHS if path.path.get("deployment") != "server" or path in POSTGRESQL]
WRITERS = [
    dataclasses.replace(path, path=AccessPath.of(path.path.as_dict() | {"durability": durability}))
    for path in COUNTED
    if plain(path)
    for durability in path.adapter.coordinates.get("durability") or ENGINES[path.path.get("engine")].durabilities
]


# A backend tells its counts when its own connection asks: a driver of queries alone cannot.
ASKING = [path for path in POSTGRESQL if "execute" in path.adapter.phases]
TURNS = ("by-key", "in-transaction")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """The paths that meet those cases in this session."""
    if "case" in metafunc.fixturenames:
        cases = selected_cases(metafunc.config.option.full, metafunc.config.option.again)
        found = [(path, case.name) for path in ASKING for case in cases[path.path.id] if case.name in TURNS]
        ids = [f"{path.name}-{case}" for path, case in found]
        metafunc.parametrize(("planned", "case"), found, indirect=["planned"], ids=ids)


def transactions_of(planned: PlannedPath, case: str) -> int:
    """Of one operation of a case."""
    own = planned.path.as_dict()
    parts = ROUND_TRIPS.get((planned.adapter.driver, own.get("statement", "")))
    if case == "by-key" and parts and not own.get("result", "").startswith("cursor"):
        return parts
    if planned.adapter.driver == "adbc-postgresql":
        return ADBC[case]
    describes = any(each.items() <= own.items() for each in DESCRIBING)
    return 2 if describes and case == "by-key" else 1


def transactions_in(planned: PlannedPath, case: str) -> int:
    """Of OPERATIONS operations of a case."""
    shared = planned.path.pipeline if planned.adapter.driver in ONE_SYNC else 1
    return transactions_of(planned, case) * math.ceil(OPERATIONS / shared)


def test_a_transaction_each_and_none_left_open(planned: PlannedPath, fixture: EngineFixture, case: str) -> None:
    fixture.disconnect()  # drivers change their ways after some executions on a connection
    worker = fixture.connected(planned)
    instance = worker.instance
    assert isinstance(instance, PostgresqlServer)
    wait_for_the_end_of_other_backends(instance)
    work = fixture.work(case_named(case), planned)
    worker.prepare(work)
    worker.sample(work, "warm", operations=12)
    each, expected = transactions_of(planned, case), transactions_in(planned, case)
    seen = []
    for _ in range(COUNTED_TIMES):  # a backend reports once a second too, which shifts a count
        # What asking costs by itself: pgjdbc describes each statement first in binary.
        earlier, before = (committed_after_one(worker, work, instance) for _ in range(2))
        flush = before - earlier - each
        reply = worker.sample(work, "steady", operations=OPERATIONS).reply
        assert reply.failed == 0
        open_ones = "SELECT count(*) FROM pg_stat_activity WHERE application_name <> 'psql' AND state LIKE 'idle in%'"
        assert ask(instance, open_ones) == "0"
        seen.append((flush, committed(worker, instance) - before - flush))
        if 1 <= flush <= MOST_OF_ASKING and seen[-1][1] == expected:
            return
    pytest.fail(f"transactions of a flush, of {OPERATIONS} operations: {seen}; expected of these: {expected}")


def wait_for_the_end_of_other_backends(instance: PostgresqlServer) -> None:
    """Until the connection under test is the only one: a backend counts its last transactions as it ends."""
    backends = "SELECT count(*) FROM pg_stat_activity WHERE datname = 'rowpath' AND backend_type = 'client backend'"
    deadline = time.monotonic() + BACKENDS_END_WITHIN_S
    while ask(instance, backends) != "1":
        assert time.monotonic() < deadline
        time.sleep(0.01)


def committed_after_one(worker: Worker, work: PreparedPhase, instance: PostgresqlServer) -> int:
    """One more operation, then the counter."""
    worker.sample(work, "warm", operations=1)
    return committed(worker, instance)


def committed(worker: Worker, instance: PostgresqlServer) -> int:
    """Transactions committed on the server, those of this connection included."""
    worker.run(list(instance.flush_statements))
    found = "SELECT xact_commit FROM pg_stat_database WHERE datname = 'rowpath'"
    return int(ask(instance, found))


class CountedInstances:
    """Engine instances that count their syncs, one at a time: tests of one stand together."""

    def __init__(self, fixture: EngineFixture) -> None:
        self._fixture = fixture
        self._key: Key | None = None
        self._instance: Instance | None = None
        self.counter = syncs.make_file(fixture.directory / "syncs")
        self.environment = syncs.environment(self.counter)

    def instance(self, planned: PlannedPath) -> Instance:
        """The path's, with the tables of the case `insert`; the one before is stopped."""
        if self._instance is None or self._key != key_of(planned.path):
            self.stop()
            self._fixture.end()
            deployment, durability = planned.path.get("deployment"), planned.path.get("durability")
            engine = ENGINES[planned.path.get("engine")]
            storage = planned.path.get("storage") if isinstance(engine, Stored) else ""
            folder = self._fixture.directory / f"counted-{engine.name}-{deployment}-{durability}-{storage}"
            environment = self.environment if deployment == "server" else {}
            place = Place(folder, folder, cpus.server_cpus(), environment=environment, storage=storage)
            self._key, self._instance = key_of(planned.path), engine.instance(deployment, durability, place)
            self._instance.start()
            self._instance.load(self._fixture.prepared_workload(case_named("insert"), planned).loaded_tables())
        self._instance.own_copy(planned.path)
        return self._instance

    def stop(self) -> None:
        """Stop the instance that runs, if any."""
        instance, self._instance = self._instance, None
        if instance is not None:
            instance.stop()


@pytest.fixture(scope="module")
def counted(fixture: EngineFixture) -> Iterator[CountedInstances]:
    instances = CountedInstances(fixture)
    yield instances
    instances.stop()


@pytest.mark.skipif(syncs.probe() != syncs.METHOD, reason=syncs.probe())
@pytest.mark.parametrize(
    "planned", WRITERS, indirect=True, ids=lambda each: f"{each.name}-{each.path.get('durability')}"
)
def test_syncs_per_commit(
    planned: PlannedPath, fixture: EngineFixture, counted: CountedInstances, seen: dict[str, Any]
) -> None:
    work = fixture.work(case_named("insert"), planned)
    instance = counted.instance(planned)
    embedded = planned.path.get("deployment") == "embedded"
    worker = fixture.unconnected(planned, counted.environment if embedded else None, instance)
    try:
        worker.open()
        worker.reset(work)
        worker.prepare(work)
        if embedded and not syncs.counts(counted.counter, worker.runner.pid):
            assert planned.adapter.driver in STATIC
            return
        durability, counts = planned.path.get("durability"), [OPERATIONS]
        # An engine's own threads sync now and then; a sync per commit is in every count.
        while len(counts) <= COUNTED_BATCHES and counts[-1] and (durability != "full" or len(counts) == 1):
            before, first = syncs.read(counted.counter)["total"], (len(counts) - 1) * OPERATIONS
            assert worker.sample(work, "steady", operations=OPERATIONS, first=first).reply.operations == OPERATIONS
            counts.append(syncs.read(counted.counter)["total"] - before)
        made = min(counts[1:])
    finally:
        worker.close()
    assert made >= OPERATIONS if durability == "full" else made == 0
    seen["syncs"][durability] = made
