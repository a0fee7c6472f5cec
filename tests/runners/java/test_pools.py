"""Java's pools: the driver's rows on a pool's connections, never more of those, all of them back afterwards."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

from rowpath.engines import ENGINES
from rowpath.machine import jvm, postgresql_programs
from rowpath.machine.counters.counting_proxy import Proxy
from rowpath.model.path import AccessPath
from rowpath.runners.manifest import load_manifest
from rowpath.runners.process import RunnerFailure
from rowpath.runners.protocol import PhaseSpec, RunReply, RunStatements
from rowpath.workloads.workload_file import load_workload
from tests.engines.insides import ask
from tests.runners.insides import slot_of
from tests.runners.java.group_talk import Subject
from tests.runners.java.talk import ADAPTERS, Instances, Talk, expected_of, java, loaded, path_of
from tests.runners.protocol.group_talk import Group
from tests.waiting import until

POSTGRESQL, MARIADB = ("postgresql", "server"), ("mariadb", "server")
POOLS = {pool.name: pool for pool in load_manifest("java").pool}
CLIENTS, SIZE = 16, 4
READS = 20
KEYED = load_workload("keyed")
IDS = list(range(1, 13))
LENT = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'rowpath'"
THREADS = {"hikaricp": "HikariPool", "tomcat-jdbc": "Tomcat JDBC", "c3p0": "C3P0PooledConne"}  # how their names begin
pytestmark = pytest.mark.skipif(
    bool(jvm.compiler_problem()) or not postgresql_programs.availability().ok, reason="no JDK or no PostgreSQL"
)


def pooled(pool: str, driver: str = "pgjdbc", clients: int = CLIENTS, **more: str) -> AccessPath:
    named = {"pool": pool, "pool_size": str(SIZE), "validation": "none", "clients": str(clients)}
    return path_of(driver, **(named | more))


@pytest.fixture(scope="module")
def instances() -> Iterator[Instances]:
    with loaded([POSTGRESQL, MARIADB], ["keyed"]) as started:
        yield started


@contextmanager
def talk_on(path: AccessPath, instances: Instances, **options: str | int) -> Iterator[Talk]:
    adapter, key = ADAPTERS[path.driver], (path.engine, "server")
    if key not in instances:
        pytest.skip(ENGINES[path.engine].availability().reason)
    if not (there := java.availability(adapter, path.version, path)).ok:
        pytest.skip(there.reason)
    java.build([(adapter, path.version)], [path])
    talk = Talk(adapter, path, instances[key].options(path) | options)
    try:
        yield talk
    finally:
        if talk.connected:
            talk.close()
        else:
            talk.keep()


def all_back(talk: Talk) -> None:
    """Every connection is back, and open."""
    until(lambda: talk.facts().settings["pool_in_use"] == "0", "every connection back")  # c3p0 takes its time
    assert talk.facts().settings["pool_open"] == str(SIZE)


# A pool lends connections whatever their driver: each pool over each driver, and both ways of its threads with each
# pool and each driver; the ways of statements with each driver.
CASES = [
    ("hikaricp", "pgjdbc", "prepared", "threads"),
    ("hikaricp", "mariadb-java-client", "prepared", "virtual-threads"),
    ("hikaricp", "connector-j", "bound", "threads"),
    ("tomcat-jdbc", "pgjdbc", "text", "virtual-threads"),
    ("tomcat-jdbc", "mariadb-java-client", "prepared", "threads"),
    ("tomcat-jdbc", "connector-j", "prepared", "virtual-threads"),
    ("dbcp2", "pgjdbc", "bound", "threads"),
    ("dbcp2", "mariadb-java-client", "prepared", "virtual-threads"),
    ("dbcp2", "connector-j", "bound", "virtual-threads"),
    ("c3p0", "pgjdbc", "prepared", "virtual-threads"),
    ("c3p0", "mariadb-java-client", "prepared", "threads"),
    ("c3p0", "connector-j", "bound", "threads"),
]
# A pool's tests follow each other, so that they share its process.
each_pool = pytest.mark.parametrize("pool", POOLS, scope="module")


def test_every_pool_is_tried_over_every_driver() -> None:
    assert {case[:2] for case in CASES} == {(name, driver) for name, pool in POOLS.items() for driver in pool.over}


@pytest.mark.parametrize(("pool", "driver", "statement", "concurrency"), CASES, ids="-".join)
def test_rows_are_the_drivers(
    pool: str, driver: str, statement: str, concurrency: str, instances: Instances, tmp_path: Path
) -> None:
    path = pooled(pool, driver, statement=statement, concurrency=concurrency)
    expected = expected_of("keyed", path.engine)
    insert, read = KEYED.phase("insert"), KEYED.phase("read")
    with talk_on(path, instances) as talk:
        talk.make_ready(KEYED, insert, tmp_path)
        written = talk.sample("insert", operations=1000)
        assert (written.operations, written.failed, written.failure) == (1000, 0, None)
        assert talk.digest_after(KEYED, insert, tmp_path) == expected.after_digest(insert, 1000)
        talk.make_ready(KEYED, read, tmp_path)
        sampled = talk.sample("read", operations=1000)
        assert int(sampled.touch, 16) in (expected.touches(read).expected(0, 1000) or ())
        assert min(sampled.borrow_ns, sampled.return_ns) > 0
        assert sampled.borrow_ns + sampled.return_ns < CLIENTS * sampled.ns
        assert talk.verify("read", first=3, count=7).digest == expected.verify_digest(read, 3, 7, 200_000)
        all_back(talk)
        ((library, version),) = talk.facts().libraries.items()
        assert any(artefact.endswith(f":{library}:{version}") for artefact in POOLS[pool].packages)
        assert talk.log == []


@each_pool
def test_never_more_connections_than_its_size(pool: str, instances: Instances, tmp_path: Path) -> None:
    server = instances[POSTGRESQL]
    until(lambda: ask(server, LENT) == "0", "end of earlier connections")
    with talk_on(pooled(pool), instances) as talk, ThreadPoolExecutor(1) as executor:
        until(lambda: ask(server, LENT) == str(SIZE), "end of connections that were only tried")
        assert pool not in THREADS or threads_of(talk, THREADS[pool])
        talk.make_ready(KEYED, KEYED.phase("read"), tmp_path)
        at_work = executor.submit(talk.sample, "read", duration_ns=500_000_000)
        seen = [ask(server, LENT)]
        while not at_work.done():
            seen.append(ask(server, LENT))
        assert set(seen) == {str(SIZE)}
        assert at_work.result().borrow_ns > at_work.result().ns  # of 16 clients 12 wait
        all_back(talk)
        talk.close_connection()
        until(lambda: ask(server, LENT) == "0", "end of the pool's connections")
        until(lambda: not threads_of(talk, THREADS.get(pool, "commons-pool")), "end of the pool's threads")


def threads_of(talk: Talk, name: str) -> list[str]:
    """The threads of the runner whose names begin so."""
    names = [file.read_text() for file in Path(f"/proc/{talk.runner.pid}/task").glob("*/comm")]
    return [each for each in names if each.startswith(name)]


# Round trips of one read: as the driver by itself, and one more where the pool validates what it lends.
@each_pool
def test_validation_is_a_round_trip(pool: str, instances: Instances, tmp_path: Path) -> None:
    asked = {}
    for profile, validation in (("tuned", "none"), ("tuned", "borrow"), ("shipped", "none")):
        path = pooled(pool, clients=1, validation=validation, profile=profile)
        proxy = Proxy(int(instances[POSTGRESQL].options(path)["port"]))
        try:
            with talk_on(path, instances, port=proxy.port) as talk:
                talk.make_ready(KEYED, KEYED.phase("read"), tmp_path)
                talk.sample("read", operations=READS)
                proxy.reset()
                talk.sample("read", operations=READS)
                asked[profile, validation] = proxy.read().round_trips / READS
        finally:
            proxy.stop()
    shipped = 2 if pool == "dbcp2" else 1
    assert asked == {("tuned", "none"): 1, ("tuned", "borrow"): 2, ("shipped", "none"): shipped}


@each_pool
@pytest.mark.parametrize("transaction", ["autocommit", "transaction"])
def test_a_failed_operation_returns_its_connection(
    pool: str, transaction: str, instances: Instances, tmp_path: Path
) -> None:
    with talk_on(pooled(pool), instances) as talk:
        talk.make_ready(KEYED, KEYED.phase("insert"), tmp_path, transaction=transaction)
        assert talk.sample("insert", operations=100).operations == 100
        again = talk.sample("insert", operations=100, first=0)
        assert (again.operations, again.failed, again.borrow_ns, again.return_ns) == (0, 100, 0, 0)
        assert again.failure is not None
        assert again.failure.kind == "sql"
        all_back(talk)


@each_pool
def test_a_login_that_is_refused(pool: str, instances: Instances) -> None:
    wrong = "no-password-of-any-server"
    with talk_on(pooled(pool), instances) as talk:
        talk.close_connection()
        path = pooled(pool)
        options = path.as_dict() | instances[POSTGRESQL].options(path)
        with pytest.raises(RunnerFailure) as refused:
            talk.open(options | {"password": wrong})
        assert refused.value.kind == "connect"
        assert wrong not in str(refused.value)
        until(lambda: not threads_of(talk, THREADS.get(pool, "commons-pool")), "end of the pool's threads")
        talk.open(options)
        all_back(talk)
        assert not [line for line in talk.log if wrong in line]


def test_what_a_pool_does_not_do(instances: Instances, tmp_path: Path) -> None:
    with talk_on(pooled("hikaricp", clients=1), instances) as talk:
        with pytest.raises(RunnerFailure, match="no operation of kind connect on a pool") as refused:
            talk.prepare_spec(PhaseSpec(name="connect", kind="connect", sql="SELECT 1"))
        assert refused.value.kind == "unsupported"
        talk.close_connection()
        path = pooled("hikaricp")
        options = path.as_dict() | instances[POSTGRESQL].options(path)
        with pytest.raises(RunnerFailure, match="a pool of 0 connections"):
            talk.open(options | {"pool_size": "0"})
        with pytest.raises(RunnerFailure, match="validation=sometimes"):
            talk.open(options | {"validation": "sometimes"})
    with (
        talk_on(path_of("pgjdbc"), instances) as talk,
        pytest.raises(RunnerFailure, match="started without the pool hikaricp"),
    ):
        talk.open(options)


@pytest.mark.parametrize(("path", "reached"), [(path_of("pgjdbc", clients="3"), 3), (pooled("hikaricp"), 1)])
def test_a_statement_on_every_connection(path: AccessPath, reached: int, instances: Instances) -> None:
    def on_every(talk: Talk, statement: str, **more: bool) -> int:
        what = {"statements": [statement], "every_client": True}
        return talk.ask(RunStatements, RunReply, **what, **more).clients

    with talk_on(path, instances) as talk:
        assert on_every(talk, "SELECT 1") == reached
        assert on_every(talk, "CREATE TABLE made_once (n integer)", ignore_errors=True) == 1
        assert on_every(talk, "DROP TABLE made_once", ignore_errors=True) == 1
        assert on_every(talk, "DROP TABLE made_once", ignore_errors=True) == 0


@pytest.mark.parametrize("concurrency", ["threads", "virtual-threads"])
def test_groups_time_borrowing(concurrency: str, instances: Instances, tmp_path: Path) -> None:
    path = pooled("hikaricp", pool_size="2", concurrency=concurrency, language="java")
    adapter = ADAPTERS["pgjdbc"]
    java.build([(adapter, path.version)], [path])
    with Subject(adapter, instances[POSTGRESQL], path, tmp_path).talk(clients=5) as talk:
        talk.make_ledger(len(IDS))
        talk.prepare_read(IDS)
        talk.prepare_write(IDS)
        groups = (
            Group("read", "readers", clients=3),
            Group("write", "writers", clients=2, rows=len(IDS), dispatch="shared", population=4),
        )
        with talk.groups(*groups) as working:
            working.work_a_little()
            totals = working.end()
            known, _doubtful = working.shared_counters.acknowledged("writers")
            for group in groups:
                snapshot = working.shared_counters.snapshot(group.name, time.monotonic_ns())
                slots = [slot_of(working.shared_counters, group.name, client) for client in range(group.clients)]
                assert all(int(word) > 0 for slot in slots for word in slot[12:14])
                assert sum(int(slot[12] + slot[13]) for slot in slots) < snapshot.service_ns
                assert totals[group.name].failed == 0
        assert list(talk.ledger().values()) == known.tolist()
        assert talk.facts().settings["pool_in_use"] == "0"
