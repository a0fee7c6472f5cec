"""What pgjdbc does on the wire: fetch sizes honoured and ignored, ways to load, TLS."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from rowpath.machine import jvm, postgresql_programs
from rowpath.machine.counters.counting_proxy import Counters, Proxy
from rowpath.model.path import AccessPath
from rowpath.runners.process import RunnerFailure
from rowpath.runners.protocol import Facts, FactsReply
from rowpath.workloads.workload_file import load_workload
from tests.runners.java.talk import ADAPTERS, Instances, Talk, loaded, path_of
from tests.runners.java.test_load import OPERATIONS, ROWS, small

SERVER = ("postgresql", "server")
pytestmark = pytest.mark.skipif(
    bool(jvm.compiler_problem()) or not postgresql_programs.availability().ok, reason="no JDK or no PostgreSQL"
)


@pytest.fixture(scope="module")
def instances() -> Iterator[Instances]:
    with loaded([SERVER], ["scan"]) as started:
        yield started


@contextmanager
def counted(path: AccessPath, instances: Instances) -> Iterator[tuple[Talk, Proxy]]:
    """A runner that goes through the counting proxy."""
    options = instances[SERVER].options(path)
    proxy = Proxy(int(options["port"]))
    talk = Talk(ADAPTERS["pgjdbc"], path, options | {"port": proxy.port})
    try:
        yield talk, proxy
    finally:
        talk.close()
        proxy.stop()


@pytest.mark.parametrize(("result", "round_trips"), [("whole", 1), ("cursor:1000", 8), ("fetch-size:1000", 1)])
def test_a_fetch_size_takes_a_transaction(result: str, round_trips: int, instances: Instances, tmp_path: Path) -> None:
    workload = load_workload("scan")
    scan = workload.phase("read")
    rows = workload.tables["hits"].rows
    with counted(path_of("pgjdbc", result=result), instances) as (talk, proxy):
        talk.make_ready(workload, scan, tmp_path)
        talk.sample("read", operations=10)  # prepared on the server by then
        proxy.reset()
        sampled = talk.sample("read", operations=3)
        assert (sampled.operations, sampled.rows) == (3, 3 * rows)
        assert proxy.read().round_trips == 3 * round_trips  # 7 portions of at most 1000 rows, and COMMIT
        size = result.partition(":")[2] or "0"
        assert talk.ask(Facts, FactsReply).settings["fetch_size"] == size


def load(name: str, bulk: str, instances: Instances, folder: Path) -> Counters:
    """What four operations send and receive, once the statement is prepared on the server."""
    workload, phase = small(name)
    with counted(path_of("pgjdbc", bulk=bulk), instances) as (talk, proxy):
        talk.make_ready(workload, phase, folder)
        talk.sample(phase.name, operations=1)
        proxy.reset()
        assert talk.sample(phase.name, operations=OPERATIONS - 1, first=1).operations == OPERATIONS - 1
        return proxy.read()


def test_ways_to_load(instances: Instances, tmp_path: Path) -> None:
    operations = OPERATIONS - 1
    single = load("batch-100", "batch", instances, tmp_path)
    assert single.round_trips == operations * (ROWS + 1)  # BEGIN goes with the first, COMMIT alone
    copy = load("bulk", "copy", instances, tmp_path)
    assert copy.round_trips == operations * 2
    batch = load("bulk", "batch", instances, tmp_path)
    rewritten = load("bulk", "rewritten-batch", instances, tmp_path)
    for sent in (batch, rewritten):  # long ones travel in pieces, answers in between
        assert operations * 2 <= sent.round_trips <= operations * 4
    assert copy.bytes_sent < rewritten.bytes_sent < batch.bytes_sent <= 1.1 * single.bytes_sent


def test_tls(instances: Instances) -> None:
    path = path_of("pgjdbc", tls="on")
    with pytest.raises(RunnerFailure, match="SSL"):
        Talk(ADAPTERS["pgjdbc"], path, instances[SERVER].options(path))
    if not postgresql_programs.availability_tls().ok:
        pytest.skip(postgresql_programs.availability_tls().reason)
    with loaded([SERVER], [], postgresql_programs.VERSION_TLS) as with_tls:
        seen = {}
        for transport, tls in (("tcp", "off"), ("tcp", "on"), ("tcp", "default"), ("unix", "default")):
            path = path_of("pgjdbc", transport=transport, tls=tls)
            talk = Talk(ADAPTERS["pgjdbc"], path, with_tls[SERVER].options(path))
            try:
                settings = talk.ask(Facts, FactsReply).settings
            finally:
                talk.close()
            seen[transport, tls] = settings["tls"], settings["tls_version"]
    assert seen == {
        ("tcp", "off"): ("off", "none"),
        ("tcp", "on"): ("on", "TLSv1.3"),
        ("tcp", "default"): ("on", "TLSv1.3"),  # negotiated though not asked for
        ("unix", "default"): ("off", "none"),
    }
