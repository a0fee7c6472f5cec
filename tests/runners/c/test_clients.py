"""Several clients of the C runner at once: their shares, their sums, and every row written exactly once."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from rowpath.engines import ENGINES
from rowpath.engines.base import Instance
from rowpath.machine import c_compiler
from rowpath.runners.process import RunnerFailure
from tests.runners.c.talk import Talk, expected_of, started

pytestmark = pytest.mark.skipif(shutil.which(c_compiler.words()[0]) is None, reason="no C compiler")
CLIENTS = (1, 2, 8, 32)
DRIVERS = {"sqlite": "sqlite", "libpq": "postgresql"}


@pytest.fixture(scope="module", params=DRIVERS)
def driver(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def instance(driver: str) -> Iterator[Instance]:
    """The driver's engine with the workload `keyed`."""
    engine = ENGINES[DRIVERS[driver]]
    if not engine.availability().ok:
        pytest.skip(engine.availability().reason)
    with started(engine.name) as running:
        running.load(expected_of("keyed", engine).workload.tables)
        yield running


@pytest.mark.parametrize("clients", CLIENTS)
def test_reads(driver: str, instance: Instance, tmp_path: Path, clients: int) -> None:
    with Talk(driver, instance, clients=str(clients)) as talk:
        expected = expected_of("keyed", talk.engine)
        phase = expected.workload.phase("read")
        talk.prepare(expected, phase, tmp_path)
        timed = [talk.sample("read", lead_in_ns=1_000_000, duration_ns=20_000_000, first=first) for first in (7, -1)]
        counted = talk.sample("read", operations=1001, first=3)
        assert counted.operations == 1001
        for reply in (*timed, counted):
            spans = [(each.first, each.operations) for each in reply.clients] or [(reply.first, reply.operations)]
            assert len(spans) == clients
            assert (reply.failed, reply.failure) == (0, None)
            assert reply.operations == reply.rows == sum(operations for _, operations in spans)
            assert reply.values == 2 * reply.rows
            touches = expected.touches(phase).expected_of(spans)
            assert touches is not None
            assert int(reply.touch, 16) in touches
            assert reply.min_ns <= reply.ns / reply.operations * clients
            assert reply.max_ns <= reply.ns <= reply.window_ns
            assert 0 < reply.cpu_ns <= reply.window_cpu_ns
        for reply in timed:
            for each in reply.clients:
                assert each.operations > 0
                assert each.lead_in_operations > 0
                assert 20_000_000 <= each.ns <= reply.ns
                assert reply.min_ns <= each.min_ns <= each.max_ns <= reply.max_ns
            assert sum(each.cpu_ns for each in reply.clients) in (0, reply.cpu_ns)
        for number, (begun, went_on) in enumerate(zip(timed[0].clients, timed[1].clients, strict=True)):
            assert begun.first == 7 + number * 1000 // clients + begun.lead_in_operations
            assert went_on.first == begun.first + begun.operations + went_on.lead_in_operations
        for number, each in enumerate(counted.clients):
            assert each.first == 3 + number * 1001 // clients


@pytest.mark.parametrize("clients", CLIENTS)
def test_writes(driver: str, instance: Instance, tmp_path: Path, clients: int) -> None:
    """Every row exactly once, in one sample or in two that follow each other."""
    with Talk(driver, instance, clients=str(clients)) as talk:
        expected = expected_of("keyed", talk.engine)
        phase = expected.workload.phase("insert")
        for parts in ((1000,), (17, 983)):
            talk.prepare(expected, phase, tmp_path)
            for part in parts:
                reply = talk.sample("insert", operations=part)
                assert (reply.operations, reply.failed, reply.failure) == (part, 0, None)
            assert talk.stored(expected, phase, tmp_path) == expected.after_digest(phase, 1000)


def test_fewer_operations_than_clients(driver: str, instance: Instance, tmp_path: Path) -> None:
    with Talk(driver, instance, clients="8") as talk:
        expected = expected_of("keyed", talk.engine)
        talk.prepare(expected, expected.workload.phase("read"), tmp_path)
        reply = talk.sample("read", operations=3, first=0, lead_in_ns=100_000)
        assert [each.operations for each in reply.clients] == [0, 0, 1, 0, 0, 1, 0, 1]
        assert [each.first for each in reply.clients if each.operations] == [0, 1, 2]
        assert reply.operations == reply.rows == 3


def test_failures_end_a_sample_of_several_clients(driver: str, instance: Instance, tmp_path: Path) -> None:
    """Two clients write the same hundred keys; of each pair one fails, and at a hundred failures they stop."""
    with Talk(driver, instance, clients="2") as talk:
        expected = expected_of("keyed", talk.engine)
        phase = expected.workload.phase("insert")
        talk.prepare(expected, phase, tmp_path)
        assert talk.sample("insert", operations=1000, first=0).failed == 0
        reply = talk.sample("insert", operations=1000, first=0)
        assert reply.operations == 0
        assert 100 <= reply.failed <= 101
        assert reply.failure is not None
        assert reply.failure.kind == "sql"


def test_what_several_clients_do_not_do(driver: str, instance: Instance, tmp_path: Path) -> None:
    with Talk(driver, instance, clients="2") as talk:
        expected = expected_of("connect", talk.engine)
        with pytest.raises(RunnerFailure) as refused:
            talk.prepare(expected, expected.workload.phases[0], tmp_path)
        assert refused.value.kind == "unsupported"
    with pytest.raises(RunnerFailure) as refused:
        Talk(driver, instance, clients="2", concurrency="tasks")
    assert refused.value.kind == "unsupported"
