"""Transactions and durability, proven from outside: server counters, and syncs counted per commit."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from rowpath.checks.conformance.cases import case_named
from rowpath.checks.conformance.checks import serves
from rowpath.checks.conformance.fixture import House
from rowpath.checks.conformance.paths import of_the_project, reason_against
from rowpath.engines import ENGINES
from rowpath.engines.base import Place
from rowpath.engines.postgresql.server import Server
from rowpath.execution.prepared_phases import PreparedPhase
from rowpath.execution.worker import Worker
from rowpath.machine import cpus
from rowpath.machine.counters import syncs
from rowpath.model.path import AccessPath
from rowpath.planning.plan import PlannedPath
from rowpath.runners import sync_counting

OPERATIONS = 20
MOST_OF_ASKING = 3  # transactions that a driver makes of one statement outside the clock
# ADBC describes a result in a transaction of its own before it fetches it; with BEGIN and COMMIT around that are three.
EACH = {"adbc-postgresql": {"by-key": 2, "in-transaction": 3}}
# Beside the default of transport, TLS, clients and bulk way nothing changes in what is counted here.
PATHS = [path for path in of_the_project() if "=" not in path.name]
POSTGRESQL = [path for path in PATHS if path.path.get("engine") == "postgresql"]


def plain(planned: PlannedPath) -> bool:
    """The simplest prepared path of its driver."""
    wanted = {"statement": ("prepared",), "result": ("none", "whole"), "format": ("none", "text")}
    wanted |= {"prepare_threshold": ("none", "", "auto"), "fetch": ("none", "row")}
    if "execute" not in planned.adapter.phases:
        return False
    return all(planned.path.as_dict().get(key, "") in values for key, values in wanted.items())


# A server's syncs are counted where it is started with the counter: PostgreSQL here, Derby in its engine's tests.
COUNTED = [path for path in PATHS if path.path.get("deployment") != "server" or path in POSTGRESQL]
WRITERS = [(path, full) for path in COUNTED if plain(path) for full in ENGINES[path.path.get("engine")].durabilities]


# A backend tells its counts when its own connection asks: a driver of queries alone cannot.
ASKING = [path for path in POSTGRESQL if "execute" in path.adapter.phases]
TURNS = [(path, case) for case in ("by-key", "in-transaction") for path in ASKING if serves(case_named(case), path)]


@pytest.mark.parametrize(("planned", "case"), TURNS, indirect=["planned"], ids=lambda each: getattr(each, "name", each))
def test_a_transaction_each_and_none_left_open(planned: PlannedPath, living: Worker, house: House, case: str) -> None:
    instance = living.instance
    assert isinstance(instance, Server)
    work = house.work(case_named(case), planned)
    living.prepare(work)
    living.sample(work, "warm", operations=12)  # drivers change their ways after some executions
    # What asking costs by itself: pgjdbc describes each statement first when it is told to be binary. (A flush with
    # nothing but itself to report reports nothing, hence an operation before each.)
    earlier, before = (committed_after_one(living, work, instance) for _ in range(2))
    each = EACH.get(planned.adapter.driver, {}).get(case, 1)
    flush = before - earlier - each
    assert 1 <= flush <= MOST_OF_ASKING
    reply = living.sample(work, "steady", operations=OPERATIONS).reply
    assert reply.failed == 0
    open_ones = "SELECT count(*) FROM pg_stat_activity WHERE application_name <> 'psql' AND state LIKE 'idle in%'"
    assert instance._psql(open_ones, "postgres", "postgres").strip() == "0"
    assert committed(living, instance) - before == OPERATIONS * each + flush


def committed_after_one(living: Worker, work: PreparedPhase, instance: Server) -> int:
    """One more operation, then the counter."""
    living.sample(work, "warm", operations=1)
    return committed(living, instance)


def committed(living: Worker, instance: Server) -> int:
    """Transactions committed on the server, those of this connection included."""
    living.run(list(instance.flush_statements))
    found = "SELECT xact_commit FROM pg_stat_database WHERE datname = 'rowpath'"
    return int(instance._psql(found, "postgres", "postgres"))


@pytest.mark.skipif(syncs.probe() != syncs.MEANS, reason=syncs.probe())
@pytest.mark.parametrize(
    ("planned", "durability"), WRITERS, indirect=["planned"], ids=lambda each: getattr(each, "name", each)
)
def test_syncs_per_commit(planned: PlannedPath, durability: str, house: House, seen: dict[str, Any]) -> None:
    deployment, engine = planned.path.get("deployment"), planned.path.get("engine")
    path = AccessPath.of(planned.path.as_dict() | {"durability": durability})
    durable = dataclasses.replace(planned, path=path)
    if reason_against(durable):
        pytest.skip(reason_against(durable))
    house.instance(planned)
    case = case_named("insert")
    work = house.work(case, planned)
    file = syncs.make_file(house.directory / f"syncs-{planned.name}-{durability}")
    environment = sync_counting.environment(file)
    place_folder = house.directory / f"durable-{engine}-{deployment}-{durability}"
    place = Place(
        place_folder, place_folder, cpus.server_cpus(), environment=environment if deployment == "server" else {}
    )
    instance = ENGINES[engine].instance(deployment, durability, place)
    instance.start()
    try:
        instance.load(house.prepared_workload(case, planned).loaded_tables())
        instance.own_copy(path)
        worker = house.worker(durable, environment if deployment == "embedded" else None, instance)
        worker.open()
        try:
            worker.reset(work)
            worker.prepare(work)
            before = syncs.read(file)["total"]
            assert worker.sample(work, "steady", operations=OPERATIONS, first=0).reply.operations == OPERATIONS
            made = syncs.read(file)["total"] - before
        finally:
            worker.close()
    finally:
        instance.stop()
    assert made >= OPERATIONS if durability == "full" else made == 0
    seen["syncs"][durability] = made
