"""What Connector/J and MariaDB Connector/J ask a MariaDB server for: statements, portions of results, bulk ways."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from rowpath.engines import ENGINES
from rowpath.engines.base import CountsStatements
from rowpath.machine import jvm
from rowpath.machine.counters.counting_proxy import Counters, Proxy
from rowpath.runners.process import RunnerFailure
from rowpath.runners.protocol import Facts, FactsReply
from rowpath.workloads.workload_file import load_workload
from tests.runners.java.talk import ADAPTERS, Instances, Talk, loaded, path_of
from tests.runners.java.test_load import OPERATIONS, ROWS, small

SERVER = ("mariadb", "server")
READS = 20
CONNECTOR_J, MARIADB = "connector-j", "mariadb-java-client"
pytestmark = pytest.mark.skipif(
    bool(jvm.compiler_problem()) or not ENGINES["mariadb"].availability().ok, reason="no JDK or no MariaDB"
)


@pytest.fixture(scope="module")
def instances() -> Iterator[Instances]:
    with loaded([SERVER], ["scan", "keyed"]) as started:
        yield started


def talk_on(instances: Instances, driver: str, **coordinates: str) -> Talk:
    path = path_of(driver, **coordinates)
    return Talk(ADAPTERS[driver], path, instances[SERVER].options(path))


@contextmanager
def counted(instances: Instances, driver: str, **coordinates: str) -> Iterator[tuple[Talk, Proxy]]:
    """A runner that goes through the counting proxy."""
    path = path_of(driver, **coordinates)
    options = instances[SERVER].options(path)
    proxy = Proxy(int(options["port"]))
    talk = Talk(ADAPTERS[driver], path, options | {"port": proxy.port})
    try:
        yield talk, proxy
    finally:
        talk.close()
        proxy.stop()


@pytest.mark.parametrize(
    ("statement", "prepare_cache", "asked"),
    [
        ("prepared", "none", {"prepare": 0, "execute": READS, "query": 0}),
        ("prepared", "on", {"prepare": 0, "execute": READS, "query": 0}),
        ("prepared", "off", {"prepare": READS, "execute": READS, "query": 0}),
        ("bound", "none", {"prepare": 0, "execute": 0, "query": READS}),
        ("text", "none", {"prepare": 0, "execute": 0, "query": READS}),
    ],
)
# Below, so that a driver's cases follow each other in one process.
@pytest.mark.parametrize("driver", [CONNECTOR_J, MARIADB])
def test_what_the_server_is_asked(
    driver: str, statement: str, prepare_cache: str, asked: dict[str, int], instances: Instances, tmp_path: Path
) -> None:
    server = instances[SERVER]
    assert isinstance(server, CountsStatements)
    workload = load_workload("keyed")
    talk = talk_on(instances, driver, statement=statement, prepare_cache=prepare_cache)
    try:
        talk.make_ready(workload, workload.phase("read"), tmp_path)
        talk.sample("read", operations=1)
        before = server.statement_counts()
        assert talk.sample("read", operations=READS).rows == READS
        after = server.statement_counts()
    finally:
        talk.close()
    assert {kind: after[kind] - before[kind] for kind in asked} == asked


@pytest.mark.parametrize(
    ("driver", "result", "round_trips"),
    [
        (CONNECTOR_J, "whole", 1),
        (CONNECTOR_J, "single-row", 3),  # it sets the server's net_write_timeout before and after
        (CONNECTOR_J, "cursor:1000", 8),  # one to open it, 7 portions of at most 1000 rows
        (MARIADB, "whole", 1),
        (MARIADB, "single-row", 1),
        (MARIADB, "chunked:1000", 1),
    ],
)
def test_portions_of_a_result(driver: str, result: str, round_trips: int, instances: Instances, tmp_path: Path) -> None:
    workload = load_workload("scan")
    rows = workload.tables["hits"].rows
    with counted(instances, driver, result=result) as (talk, proxy):
        talk.make_ready(workload, workload.phase("read"), tmp_path)
        talk.sample("read", operations=1)
        proxy.reset()
        sampled = talk.sample("read", operations=3)
        assert (sampled.operations, sampled.rows) == (3, 3 * rows)
        assert proxy.read().round_trips == 3 * round_trips


def load(driver: str, bulk: str, instances: Instances, folder: Path) -> Counters:
    """What all operations but the first, which may prepare, send and receive."""
    workload, phase = small("bulk")
    with counted(instances, driver, bulk=bulk) as (talk, proxy):
        talk.make_ready(workload, phase, folder)
        talk.sample(phase.name, operations=1)
        proxy.reset()
        assert talk.sample(phase.name, operations=OPERATIONS - 1, first=1).operations == OPERATIONS - 1
        return proxy.read()


@pytest.mark.parametrize(("driver", "one"), [(CONNECTOR_J, "rewritten-batch"), (MARIADB, "bulk-execute")])
def test_ways_to_load(driver: str, one: str, instances: Instances, tmp_path: Path) -> None:
    operations = OPERATIONS - 1
    batch, together = (load(driver, bulk, instances, tmp_path) for bulk in ("batch", one))
    assert together.round_trips <= operations * 5  # autocommit off, the rows, COMMIT, autocommit on
    if driver == CONNECTOR_J:
        assert batch.round_trips >= operations * ROWS
    else:  # which sends a batch without waiting for the answers
        assert together.bytes_received < batch.bytes_received / 10


@pytest.mark.parametrize("version", ADAPTERS[CONNECTOR_J].versions)
def test_every_character_can_be_asked_for_over_both_transports(version: str, instances: Instances) -> None:
    for transport in ("tcp", "unix"):
        talk = talk_on(instances, CONNECTOR_J, version=version, transport=transport)
        try:
            facts = talk.ask(Facts, FactsReply)
        finally:
            talk.close()
        assert version in facts.driver_version
        settings = facts.settings
        assert (settings["character_set_client"], settings["time_zone"]) == ("utf8mb4", "+00:00")
        assert settings["tls"] == "off"


@pytest.mark.parametrize(
    ("driver", "version"), [(name, one) for name in (CONNECTOR_J, MARIADB) for one in ADAPTERS[name].versions]
)
def test_a_refused_login_and_a_closed_port(driver: str, version: str, instances: Instances) -> None:
    path = path_of(driver, version=version)
    options = instances[SERVER].options(path)
    for changed, word in (({"password": "not-the-password"}, "Access denied"), ({"port": 1}, "(?i)connect")):
        with pytest.raises(RunnerFailure, match=word) as failure:
            Talk(ADAPTERS[driver], path, options | changed)
        assert failure.value.kind in ("connect", "sql")
        assert failure.value.text
        assert not any(secret in str(failure.value) for secret in ("not-the-password", options["password"]))
