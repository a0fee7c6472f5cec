"""Clients that are processes: every row once, counts of all, no process left behind, CPU and memory of all of them."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rowpath.execution.in_turn import peak_memory
from rowpath.execution.worker import Worker
from rowpath.machine import processes
from rowpath.machine.counters import cpu, memory
from rowpath.model.path import AccessPath
from rowpath.planning.plan import PlannedPath
from rowpath.planning.selection import lattice
from rowpath.runners.manifest import Adapter
from rowpath.runners.process import RunnerFailure
from tests.runners.insides import read
from tests.runners.python.engines import postgresql_fixture, sqlite_file_fixture, sqlite_loaded_fixture  # noqa: F401
from tests.runners.python.talk import ADAPTERS, Talk, start_fixture  # noqa: F401
from tests.runners.python.test_clients import KEYED, check_sums, check_touch
from tests.runners.python.test_columnar import loaded
from tests.waiting import gone

READ = KEYED.phase("read")


def opened(start: Callable[..., Talk], driver: str, **options: Any) -> Talk:
    talk = start(driver)
    talk.open(concurrency="processes", transport="unix", durability="full", **options)
    return talk


def living(pids: list[int]) -> list[int]:
    return [pid for pid in pids if (fields := processes.stat_fields(pid)) and fields[0] != "Z"]


@pytest.mark.parametrize(("driver", "statement"), [("sqlite3", "bound"), ("psycopg", "prepared"), ("asyncpg", "bound")])
def test_every_row_exactly_once(
    start: Callable[..., Talk], postgresql: dict[str, Any], sqlite_file: Path, driver: str, statement: str
) -> None:
    talk = opened(start, driver, **postgresql, path=str(sqlite_file), statement=statement, clients="3")
    assert len(processes.descendants(talk.runner.pid)) == 2
    assert talk.facts().settings["clients"] == "3"
    name = talk.prepare(KEYED, READ)
    for sample in (
        talk.sample(name, operations=50, lead_in_ns=0, first=0),
        talk.sample(name),
        talk.sample(name, first=0),
    ):
        check_sums(sample, 3)
        check_touch(sample, READ)
    fewer = talk.sample(name, operations=2, lead_in_ns=0, first=0)
    check_touch(fewer, READ)
    assert sorted(client.operations for client in fewer.clients) == [0, 1, 1]
    with pytest.raises(RunnerFailure, match="not for load") as caught:
        talk.prepare(KEYED, READ, kind="load")
    assert caught.value.kind == "unsupported"


def test_a_failure_in_another_process_is_told_as_it_was(start: Callable[..., Talk], postgresql: dict[str, Any]) -> None:
    talk = opened(start, "psycopg", **postgresql, statement="bound", clients="2")
    sample = talk.sample(talk.prepare(KEYED, READ, "SELECT * FROM nowhere WHERE key1 = ?"), operations=2, first=0)
    assert (sample.operations, sample.failed) == (0, 2)
    assert sample.failure is not None
    assert (sample.failure.kind, sample.failure.code) == ("sql", "42P01")
    with pytest.raises(RunnerFailure) as caught:
        opened(start, "psycopg", **postgresql | {"password": "wrong"}, statement="bound", clients="2")
    assert caught.value.kind == "connect"


def test_processes_end_with_their_runner_however_it_ends(start: Callable[..., Talk], sqlite_file: Path) -> None:
    for end in ("close", "kill"):
        talk = opened(start, "sqlite3", path=str(sqlite_file), statement="bound", clients="3")
        pids = processes.descendants(talk.runner.pid)
        assert len(living(pids)) == 2
        if end == "close":
            talk.close_connection()
        else:
            os.kill(talk.runner.pid, signal.SIGKILL)
        assert gone(pids), end


def test_a_process_that_dies_is_an_error_and_no_hang(start: Callable[..., Talk], sqlite_file: Path) -> None:
    talk = opened(start, "sqlite3", path=str(sqlite_file), statement="bound", clients="3")
    name = talk.prepare(KEYED, READ)
    pids = processes.descendants(talk.runner.pid)
    os.kill(pids[0], signal.SIGKILL)
    with pytest.raises(RunnerFailure, match="process ended with status -9"):
        talk.sample(name)
    assert gone(pids)


def test_processes_read_one_duckdb_file_and_write_none(
    start: Callable[..., Talk], tmp_path_factory: pytest.TempPathFactory
) -> None:
    instance = loaded("duckdb", tmp_path_factory.mktemp("duckdb"), ("keyed",))
    path = AccessPath.of({"engine": "duckdb"})
    instance.own_copy(path)
    talk = opened(start, "duckdb", **instance.options(path), statement="bound", fetch="row", clients="2")
    sample = talk.sample(talk.prepare(KEYED, READ), operations=20, first=0, lead_in_ns=0)
    check_sums(sample, 2)
    check_touch(sample, READ)
    with pytest.raises(RunnerFailure, match="can only be read"):
        talk.prepare(KEYED, KEYED.phase("insert"))


def test_cpu_and_memory_are_those_of_all_processes(tmp_path: Path) -> None:
    """The controller's collectors against what the processes themselves say."""
    adapter: Adapter = ADAPTERS["file"]
    wanted = {"engine": ("file",), "clients": ("2",), "concurrency": ("processes",), "placement": ("same",)}
    planned = PlannedPath(lattice(adapter, wanted)[0], adapter, (), "two processes")
    instance = loaded("file", tmp_path, ("scan",))
    worker = Worker(planned, instance, log=lambda line: None, timeout_s=60)
    try:
        worker.open()
        pids = [worker.runner.pid, *processes.descendants(worker.runner.pid)]
        assert len(pids) == 2
        before = [cpu.process_ns(pid) or 0 for pid in pids]
        seen = read(worker).client_ns
        assert seen is not None and seen >= sum(before)
        with peak_memory([worker]) as [record]:
            pass
        assert record.client_peak_bytes is not None
        assert record.client_peak_bytes == memory.sum_of_peaks_bytes(pids)
        assert record.client_peak_bytes > 1.5 * (memory.peak_bytes(pids[0]) or 0)
    finally:
        worker.close()
