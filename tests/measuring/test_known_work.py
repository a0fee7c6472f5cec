"""What runners measure of known work: burnt, stalled; of several samples the one that others left the core to."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from rowpath.runners import manifest
from rowpath.workloads.expected import Expected
from rowpath.workloads.workload_file import load_workload
from tests.runners.protocol.talk import NOTHING, Start, adapter, talks


@pytest.fixture(name="start", params=["c", "csharp", "java", "node", "rust"])
def start_fixture(request: pytest.FixtureRequest) -> Iterator[Start]:
    found = adapter(request.param, "null")
    there = manifest.availability(found, found.versions[0])
    if not there.ok:
        pytest.skip(there.reason)
    yield from talks(request.param)


def test_burn_and_stall(start: Start) -> None:
    talk = start("null", {"burn_ns": "200000"})
    talk.ask("prepare", phase=NOTHING, parameters=None)
    samples = [talk.sample("null.nothing", operations=50) for _ in range(8)]
    assert all(burnt["ns"] >= 50 * 200_000 for burnt in samples)
    # Of the sample that others let have the core: they can only take from it.
    assert max(burnt["cpu_ns"] / burnt["ns"] for burnt in samples) >= 0.2
    talk.ask("close")
    talk.ask("open", options={"stall_ns": 3_000_000, "stall_every": 10})
    talk.ask("prepare", phase=NOTHING, parameters=None)
    stalled = talk.sample("null.nothing", operations=100)
    assert stalled["ns"] >= 10 * 3_000_000
    assert stalled["max_ns"] >= 3_000_000
    assert stalled["cpu_ns"] < stalled["ns"] / 2


def test_several_clients_burn_together(start: Start) -> None:
    talk = start("null", {"clients": "4", "burn_ns": "100000"})
    talk.ask("prepare", phase=NOTHING, parameters=None)
    samples = [talk.sample("null.nothing", operations=40) for _ in range(5)]
    assert max(each["cpu_ns"] for each in samples) >= 0.5 * 40 * 100_000


def test_a_fresh_question_about_a_block_costs_little() -> None:
    expected = Expected(load_workload("tab1"))
    touches = expected.touches("select")
    touches.expected(0, 1000)

    def took(operations: int) -> float:
        """The quickest of some: a neighbour can only add to it."""
        each = []
        for _ in range(5):
            started = time.perf_counter()
            for first in range(100):
                touches.expected(first, operations)
            each.append(time.perf_counter() - started)
        return min(each)

    assert took(900) < 20 * took(9)
