"""What the Python runner's loop costs, and what it measures of known work."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec
import pytest

from rowpath.workloads import generators, workload_file
from tests.runners.python.talk import Talk, start_fixture  # noqa: F401
from tests.runners.python.test_clients import Spec

sys.path.append(str(Path(__file__).parents[2] / "runners" / "python"))
from core import codec as runner_codec
from core.adapter import Adapter as RunnerAdapter
from core.clients import Clients
from core.operation import Operation
from core.sampler import Sampler

NULL_OPERATION_LIMIT_NS = 350


def test_taking_a_rows_values_costs_little() -> None:
    table = workload_file.load_workload("scan").tables["hits"]
    columns = [runner_codec.Column(msgspec.to_builtins(column)) for column in table.columns]
    rows = list(generators.rows(table))
    sampler = Sampler("query", columns, Operation(lambda _: rows))
    assert min(sampler.by_count(0, 0, 1)[5] for _ in range(50)) / len(rows) < 400  # 105 to 150 on a quiet machine


def test_the_null_operation(start: Callable[..., Talk]) -> None:
    talk = start("null")
    talk.open()
    workload = workload_file.load_workload("null")
    name = talk.prepare(workload, workload.phases[0])
    samples = [talk.sample(name) for _ in range(15)]
    # A neighbour can only add to it.
    assert min(sample.ns / sample.operations for sample in samples) < NULL_OPERATION_LIMIT_NS
    for before, after in pairwise(samples):
        assert after.first == before.first + before.operations + after.lead_in_operations
        assert 0 < after.min_ns <= after.ns / after.operations <= after.max_ns
        assert after.window_ns >= after.ns + 900_000
        assert after.cpu_ns <= after.window_cpu_ns
    exact = talk.sample(name, operations=7, lead_in_ns=0, first=3)
    assert (exact.operations, exact.first, exact.lead_in_operations, exact.failed) == (7, 3, 0, 0)


def test_known_burn_and_stall(start: Callable[..., Talk]) -> None:
    workload = workload_file.load_workload("null")
    talk = start("null")
    cost = {}
    for burn_ns in (100_000, 300_000):
        talk.open(burn_ns=str(burn_ns))
        name = talk.prepare(workload, workload.phases[0])
        cost[burn_ns] = min(talk.sample(name).min_ns for _ in range(5))
    assert (cost[300_000] - cost[100_000]) / 200_000 == pytest.approx(1, abs=0.05)
    talk.open(stall_ns="20000000", stall_every="100")
    name = talk.prepare(workload, workload.phases[0])
    sample = talk.sample(name, operations=300, lead_in_ns=0)
    assert sample.max_ns >= 20_000_000
    assert 60_000_000 <= sample.ns < 200_000_000


class Slow(RunnerAdapter):
    """Each operation sleeps 5 ms and notes its thread and its argument."""

    noted: list[tuple[int, int]] = []

    def prepare(self, phase: Any, parameters: Any) -> Operation:
        def execute(row: tuple[int]) -> None:
            time.sleep(0.005)
            self.noted.append((threading.get_ident(), row[0]))
            if row[0] == 39:
                raise ValueError("the last")

        return Operation(execute, parameters)


def test_threads_wait_together_and_work_at_once() -> None:
    clients = Clients(Slow({}), 4)
    prepared = clients.prepare(Spec, [(number,) for number in range(40)])
    request = {"lead_in_ns": 20_000_000, "duration_ns": 0, "operations": 16, "first": 0}
    Slow.noted.clear()
    failure, reply = clients.sample(prepared, request)
    assert failure is None
    assert len({thread for thread, _ in Slow.noted}) == 4
    assert threading.get_ident() in {thread for thread, _ in Slow.noted}
    assert [client["operations"] for client in reply["clients"]] == [4, 4, 4, 4]
    assert reply["ns"] < 16 * 5_000_000 * 0.8  # one after the other they would take all of it
    assert reply["cpu_ns"] < reply["ns"]
    failure, reply = clients.sample(prepared, {**request, "lead_in_ns": 0, "operations": 2, "first": 38})
    assert str(failure) == "the last"
    assert (reply["operations"], reply["failed"]) == (1, 1)
    assert [client["operations"] + client["failed"] for client in reply["clients"]] == [0, 1, 0, 1]
    assert reply["min_ns"] >= 5_000_000
    clients.close()
