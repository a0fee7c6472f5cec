"""The Java runner's clients: together they read and write every row exactly once, each tells what it did."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from rowpath.engines import ENGINES
from rowpath.machine import jvm
from rowpath.model.path import AccessPath
from rowpath.runners.manifest import toolchain
from rowpath.runners.protocol import (
    Close,
    CloseReply,
    Facts,
    FactsReply,
    Open,
    OpenReply,
    SampleReply,
    Verify,
    VerifyReply,
)
from rowpath.workloads.workload_file import load_workload
from tests.runners.java.talk import ADAPTERS, Instances, Talk, expected_of, loaded, path_of

java: Any = toolchain("java")
pytestmark = pytest.mark.skipif(bool(jvm.compiler_problem()), reason="no JDK")
DRIVERS = (("sqlite-jdbc", "embedded"), ("derby", "embedded"), ("derby", "server"), ("pgjdbc", "server"))
COUNTS = [("1", "threads"), ("8", "threads"), ("8", "virtual-threads")]


def paths() -> list[AccessPath]:
    return [
        path_of(driver, deployment=deployment, clients=clients, concurrency=concurrency)
        for driver, deployment in DRIVERS
        for clients, concurrency in COUNTS
    ]


@pytest.fixture(scope="module")
def instances() -> Iterator[Instances]:
    with loaded(
        list(dict.fromkeys((path.get("engine"), path.get("deployment")) for path in paths())), ["keyed"]
    ) as started:
        yield started


def talk_on(path: AccessPath, instances: Instances) -> Talk:
    key = path.get("engine"), path.get("deployment")
    if key not in instances:
        pytest.skip(ENGINES[key[0]].availability().reason)
    adapter = ADAPTERS[path.get("driver")]
    there = java.availability(adapter, path.get("version"), path)
    if not there.ok:
        pytest.skip(there.reason)
    instances[key].own_copy(path)
    return Talk(adapter, path, instances[key].options(path))


@pytest.mark.parametrize("path", paths(), ids=lambda path: path.id)
def test_every_row_exactly_once(path: AccessPath, instances: Instances, tmp_path: Path) -> None:
    talk = talk_on(path, instances)
    expected = expected_of("keyed", path.get("engine"))
    workload, clients = expected.workload, int(path.get("clients"))
    try:
        insert, read = workload.phase("insert"), workload.phase("read")
        talk.make_ready(workload, insert, tmp_path)
        written = talk.sample("insert", operations=1000)
        assert (written.operations, written.failed, written.failure) == (1000, 0, None)
        assert talk.digest_after(workload, insert, tmp_path) == expected.after_digest(insert, 1000)

        talk.make_ready(workload, read, tmp_path)
        whole = talk.sample("read", operations=1000)
        assert (whole.operations, whole.failed, whole.rows) == (1000, 0, 1000)
        assert int(whole.touch, 16) in (expected.touches(read).expected(0, 1000) or ())
        check_parts(whole, path, [1000 * client // clients for client in range(clients)])
        more = talk.sample("read", operations=10, first=-1)
        assert (more.first, more.operations) == (1000, 10)
        assert int(more.touch, 16) in (expected.touches(read).expected(0, 10) or ())

        timed = talk.sample("read", lead_in_ns=2_000_000, duration_ns=50_000_000, first=0)
        assert timed.lead_in_operations >= clients
        assert 50_000_000 <= timed.ns <= timed.window_ns
        check_parts(timed, path, [1000 * client // clients for client in range(clients)])
        again = talk.sample("read", duration_ns=5_000_000, first=-1)
        for sampled in (timed, again):
            spans = [(part.first, part.operations) for part in sampled.clients] or [(sampled.first, sampled.operations)]
            assert int(sampled.touch, 16) in (expected.touches(read).expected_of(spans) or ())
        for before, after in zip(timed.clients, again.clients, strict=True):
            assert after.first == before.first + before.operations

        verified = talk.ask(Verify, VerifyReply, phase="read", first=3, count=7, max_rows=1000)
        assert verified.digest == expected.verify_digest(read, 3, 7, 1000)
        check_facts(talk.ask(Facts, FactsReply), path)
        talk.ask(Close, CloseReply)
        talk.ask(Open, OpenReply, options=path.as_dict() | instances[key_of(path)].options(path))
        assert talk.log == []
    finally:
        talk.close()


def key_of(path: AccessPath) -> tuple[str, str]:
    return path.get("engine"), path.get("deployment")


def check_parts(sampled: SampleReply, path: AccessPath, firsts: list[int]) -> None:
    """That the whole is what the clients tell of themselves; `firsts` before their lead-ins."""
    clients = int(path.get("clients"))
    assert len(sampled.clients) == (clients if clients > 1 else 0)
    assert sampled.collections >= 0 <= sampled.collector_ns
    if clients == 1:
        return
    parts = sampled.clients
    for name in ("operations", "failed", "lead_in_operations", "rows"):
        assert sum(getattr(part, name) for part in parts) == getattr(sampled, name), name
    assert [part.first - part.lead_in_operations for part in parts] == firsts
    assert sampled.first == parts[0].first
    assert sampled.ns == max(part.ns for part in parts) <= sampled.window_ns
    assert (sampled.min_ns, sampled.max_ns) == (min(p.min_ns for p in parts), max(p.max_ns for p in parts))
    assert 0 < sampled.cpu_ns <= sampled.window_cpu_ns
    if path.get("concurrency") == "virtual-threads":
        assert not any(part.cpu_ns for part in parts)
    else:
        assert all(0 < part.cpu_ns <= sampled.window_ns for part in parts)
        assert sum(part.cpu_ns for part in parts) == sampled.cpu_ns


def check_facts(facts: FactsReply, path: AccessPath) -> None:
    assert facts.settings["clients"] == path.get("clients")
    if path.get("concurrency") == "virtual-threads":
        assert facts.settings["concurrency"] == "virtual-threads on 1 carrier"
        assert facts.settings["cpu_of_clients"] == "carrier threads, all together"
        assert jvm.major() >= jvm.VIRTUAL_SINCE or jvm.NEWER in facts.runtime
    elif path.get("clients") != "1":
        assert facts.settings["concurrency"] == "threads"


@contextmanager
def several(clients: int, phase: str, instances: Instances, folder: Path) -> Iterator[Talk]:
    """A runner of several SQLite clients with one phase of `keyed` made ready."""
    talk = talk_on(path_of("sqlite-jdbc", clients=str(clients)), instances)
    workload = load_workload("keyed")
    try:
        talk.make_ready(workload, workload.phase(phase), folder)
        yield talk
    finally:
        talk.close()


def test_fewer_operations_than_clients(instances: Instances, tmp_path: Path) -> None:
    with several(8, "read", instances, tmp_path) as talk:
        sampled = talk.sample("read", operations=3)
        assert [part.operations for part in sampled.clients] == [0, 0, 1, 0, 0, 1, 0, 1]
        assert (sampled.operations, sampled.rows) == (3, 3)
        assert 0 < sampled.min_ns <= sampled.max_ns


def test_a_failing_client_is_told_apart(instances: Instances, tmp_path: Path) -> None:
    with several(2, "insert", instances, tmp_path) as talk:
        assert talk.sample("insert", operations=10).operations == 10
        again = talk.sample("insert", operations=15, first=5)  # 5 to 9 are there already: the first client's
        assert [(part.first, part.operations, part.failed) for part in again.clients] == [(5, 2, 5), (12, 8, 0)]
        assert again.failure is not None
        assert again.failure.kind == "sql"


@pytest.mark.parametrize("clients", [1, 2])
def test_collections_are_counted(clients: int, instances: Instances, tmp_path: Path) -> None:
    with several(clients, "read", instances, tmp_path) as talk:
        seen = [talk.sample("read", operations=1)]
        assert (seen[0].collections, seen[0].collector_ns) == (0, 0)
        while not any(sampled.collector_ns for sampled in seen) and len(seen) < 100:
            seen.append(talk.sample("read", duration_ns=300_000_000, first=-1))
        collecting = [sampled for sampled in seen if sampled.collections]
        assert collecting
        assert 0 < sum(sampled.collector_ns for sampled in collecting) < sum(sampled.ns for sampled in collecting)
        assert not any(sampled.collector_ns for sampled in seen if not sampled.collections)


def test_a_machine_without_virtual_threads(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = path_of("derby", clients="2", concurrency="virtual-threads")
    adapter: Any = ADAPTERS["derby"]
    monkeypatch.setenv("ROWPATH_CACHE", str(tmp_path))
    monkeypatch.setattr(jvm, "version", lambda: "21.0.1")
    assert java.availability(adapter, "10.16.1.1", path).what == "Java 21"
    monkeypatch.setattr(jvm, "version", lambda: "17.0.1")
    assert jvm.WHEEL.version in java.availability(adapter, "10.16.1.1", path).what
    monkeypatch.setattr("rowpath.machine.downloads._pip", lambda: None)
    lacking = java.availability(adapter, "10.16.1.1", path)
    assert (lacking.ok, lacking.remedy) == (False, "apt-get install python3-pip")
    assert lacking.reason.startswith("Java 17 has no virtual threads, and pip")
    monkeypatch.setattr("rowpath.machine.downloads.platform.machine", lambda: "riscv64")
    lacking = java.availability(adapter, "10.16.1.1", path)
    assert "riscv64" in lacking.reason
    assert "JAVA_HOME" in lacking.remedy
    assert java.availability(adapter, "10.16.1.1", path_of("derby", clients="2")).ok
