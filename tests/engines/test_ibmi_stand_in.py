"""The stand-in for IBM i: the real driver against it, what it refuses, and that it ends."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rowpath.engines.base import Place
from rowpath.engines.ibmi_stand_in import ENGINE, REFUSALS
from rowpath.engines.load_through_runner import connected
from rowpath.machine.counters.counting_proxy import Proxy
from rowpath.runners.manifest import toolchain
from rowpath.runners.process import RunnerFailure
from rowpath.runners.protocol import RunReply, RunStatements, Sample, SampleReply, Verify, VerifyReply
from rowpath.workloads.expected import Expected
from rowpath.workloads.workload_file import load_workload
from tests.engines.life import kill_the_controller
from tests.runners.java.talk import ADAPTERS, Talk, path_of
from tests.waiting import alive, gone

java: Any = toolchain("java")
pytestmark = pytest.mark.skipif(not ENGINE.availability().ok, reason=ENGINE.availability().reason)
WORKLOADS = ("keyed", "types", "wide", "tab1", "scan")
DRIVER, RECORDS = ADAPTERS["jt400"], ADAPTERS["jt400-records"]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[dict[str, Any], Path]]:
    """What `open` gets for a stand-in with these workloads' tables, and the folder of its refusals."""
    folder = tmp_path_factory.mktemp("stand-in")
    instance = ENGINE.instance("server", "none", Place(folder, folder / "s", (max(os.sched_getaffinity(0)),)))
    tables = {}
    for name in WORKLOADS:
        tables |= Expected(load_workload(name), ENGINE.supports).workload.tables
    try:
        instance.start()
        instance.load(tables)
        yield instance.options(path_of("jt400")), folder
    finally:
        instance.stop()


def talk_to(options: dict[str, Any], **coordinates: str) -> Talk:
    java.build([(DRIVER, DRIVER.versions[0])])
    return Talk(DRIVER, path_of("jt400", engine=ENGINE.name, **coordinates), options)


@pytest.mark.parametrize("statement", ["prepared", "bound", "text"])
@pytest.mark.parametrize("block_size", ["32", "0"])
@pytest.mark.parametrize(
    ("workload", "phase", "count"),
    [("keyed", "read", 50), ("types", "read", 1), ("wide", "rows-30-mixed", 1), ("tab1", "select", 20)],
)
def test_the_driver_delivers_the_generated_rows(
    workload: str, phase: str, count: int, statement: str, block_size: str, served: tuple[Any, Path], tmp_path: Path
) -> None:
    talk = talk_to(served[0], statement=statement, block_size=block_size)
    try:
        expected = Expected(load_workload(workload), ENGINE.supports)
        asked = expected.workload.phase(phase)
        talk.make_ready(expected.workload, asked, tmp_path)
        verified = talk.ask(Verify, VerifyReply, phase=phase, first=0, count=count)
        assert verified.digest == expected.verify_digest(asked, 0, count, 200_000)
    finally:
        talk.close()  # and keep its JVM for the next one


@pytest.mark.parametrize("packages", ["on", "uncached"])
@pytest.mark.parametrize("statement", ["prepared", "bound"])
@pytest.mark.parametrize(
    ("workload", "phase", "count"),
    [("keyed", "read", 50), ("types", "read", 1), ("wide", "rows-30-mixed", 1), ("tab1", "select", 20)],
)
def test_a_package_changes_no_row(
    workload: str, phase: str, count: int, statement: str, packages: str, served: tuple[Any, Path], tmp_path: Path
) -> None:
    talk = talk_to(served[0], statement=statement, packages=packages)
    try:
        expected = Expected(load_workload(workload), ENGINE.supports)
        asked = expected.workload.phase(phase)
        talk.make_ready(expected.workload, asked, tmp_path)
        verified = talk.ask(Verify, VerifyReply, phase=phase, first=0, count=count)
        assert verified.digest == expected.verify_digest(asked, 0, count, 200_000)
    finally:
        talk.close()


def record_talk(options: dict[str, Any], **coordinates: str) -> Talk:
    java.build([(RECORDS, RECORDS.versions[0])])
    return Talk(RECORDS, path_of("jt400-records", **coordinates), options)


@pytest.mark.parametrize(
    ("workload", "phase", "fetch", "round_trips"),
    [
        ("keyed", "read", "row", 10),
        ("tab1", "select", "block:100", 10),
        ("types", "read", "row", 0),
        ("types", "read", "block:1000", 0),
        ("scan", "read", "row", 10 * 6072),
        ("scan", "read", "block:100", 10 * (1 + 61 + 1)),
        ("scan", "read", "block:1000", 10 * (1 + 7 + 1)),
    ],
)
def test_records_are_the_generated_rows(
    workload: str, phase: str, fetch: str, round_trips: int, served: tuple[Any, Path], tmp_path: Path
) -> None:
    proxy = Proxy(int(served[0]["port"]))
    talk = record_talk(served[0] | {"port": proxy.port}, fetch=fetch)
    try:
        expected = Expected(load_workload(workload), ENGINE.supports)
        asked = expected.workload.phase(phase)
        talk.make_ready(expected.workload, asked, tmp_path)
        count = 10 if asked.access else 1
        verified = talk.ask(Verify, VerifyReply, phase=phase, first=0, count=count)
        assert verified.digest == expected.verify_digest(asked, 0, count, 200_000)
        proxy.reset()
        talk.sample(phase, operations=10)
        if round_trips:
            assert proxy.read().round_trips == round_trips
    finally:
        talk.close()
        proxy.stop()


@pytest.mark.parametrize(("packages", "round_trips"), [("off", 3), ("uncached", 3), ("on", 2)])
def test_only_a_package_that_is_downloaded_spares_the_preparing(
    packages: str, round_trips: int, served: tuple[Any, Path], tmp_path: Path
) -> None:
    proxy = Proxy(int(served[0]["port"]))
    talk = talk_to(served[0] | {"port": proxy.port}, statement="bound", packages=packages)
    try:
        workload = load_workload("keyed")
        talk.make_ready(workload, workload.phase("read"), tmp_path)
        talk.sample("read", operations=1)
        proxy.reset()
        talk.sample("read", operations=10)
        assert proxy.read().round_trips == 10 * round_trips
    finally:
        talk.close()
        proxy.stop()


def test_what_was_written_as_text_is_what_was_sent_as_parameters(served: tuple[Any, Path], tmp_path: Path) -> None:
    """The stand-in converts what stands in the SQL itself, so both must meet in the same bytes."""
    talk = talk_to(served[0], statement="text")
    try:
        expected = Expected(load_workload("keyed"), ENGINE.supports)
        insert = expected.workload.phase("insert")
        talk.make_ready(expected.workload, insert, tmp_path)
        written = talk.ask(Sample, SampleReply, phase="insert", regime="warm", lead_in_ns=0, duration_ns=0,
                           operations=20, first=0)  # fmt: skip
        assert (written.operations, written.failed) == (20, 0)
        moved = "INSERT INTO mydata2 SELECT KEY1, DATA1 FROM mydata2_new"
        with pytest.raises(RunnerFailure, match="SQL0803"):  # every key is there already, byte by byte
            talk.ask(RunStatements, RunReply, statements=[moved], ignore_errors=False)
    finally:
        talk.close()


def test_what_it_cannot_answer_is_named(served: tuple[Any, Path]) -> None:
    options, folder = served
    everything = {"engine": ENGINE.name, "deployment": "server", "durability": "none", "statement": "bound"} | options
    refused = [
        ("DELETE FROM mydata2", "knows no statement DELETE FROM mydata2"),
        ("CREATE TABLE lobs (a CLOB(16M))", "knows no columns of the type CLOB"),
        ("INSERT INTO missing (a) VALUES (1)", "SQL0204.*MISSING"),
        ("UPDATE mydata2 SET nothing = 1", "SQL0206.*NOTHING"),
        ("INSERT INTO mydata2 (KEY1, DATA1) VALUES ('x')", "SQL0104"),
    ]
    with connected(everything) as runner:
        for statement, words in refused:
            with pytest.raises(RunnerFailure, match=words):
                runner.request(RunStatements, 60.0, statements=[statement], ignore_errors=False, expect=RunReply)
            if words.startswith("knows no"):
                assert words in (folder / REFUSALS).read_text(encoding="utf-8")


def test_it_is_stopped_by_pid_and_serves_its_tables_again(tmp_path: Path) -> None:
    instance = ENGINE.instance("server", "none", Place(tmp_path, tmp_path / "s", ()))
    try:
        instance.start()
        (pid,) = instance.pids()
        assert instance.check()
        instance.stop()
        assert not alive(pid)
        assert not instance.check()
        instance.start()
        assert instance.check()
    finally:
        instance.stop()


def test_it_ends_with_a_controller_that_is_killed(tmp_path: Path) -> None:
    (pid,) = kill_the_controller(ENGINE.name, tmp_path)
    assert gone([pid])
