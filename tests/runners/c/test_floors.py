"""The C runner's floors: the drains of servers and the raw read of files take every byte, and no row."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from rowpath.analysis.path_status import path_statuses
from rowpath.checks.conformance.paths import planned
from rowpath.engines import ENGINES
from rowpath.engines.base import Instance, Place
from rowpath.execution.verification_pass import drain_problem
from rowpath.machine import c_compiler, cpus
from rowpath.model.experiment import Selection
from rowpath.model.path import AccessPath
from rowpath.planning.selection import select
from rowpath.runners import manifest
from rowpath.runners.manifest import toolchain
from rowpath.runners.process import RunnerFailure
from rowpath.runners.protocol import (
    PhaseSpec,
    Prepare,
    PrepareReply,
    RunReply,
    RunStatements,
    SampleReply,
    Verify,
    VerifyReply,
)
from tests.runners.c.talk import ADAPTERS, Talk, started

c: Any = toolchain("c")
pytestmark = pytest.mark.skipif(shutil.which(c_compiler.words()[0]) is None, reason="no C compiler")
ROWS = 20_000
FILL = {
    "postgresql": "INSERT INTO drained SELECT n, 'row ' || n FROM generate_series(1, {}) AS n",
    "mariadb": "INSERT INTO drained SELECT seq, CONCAT('row ', seq) FROM seq_1_to_{}",
}
PAYLOAD = sum(len(f"row {number}") + len(str(number)) for number in range(1, ROWS + 1))
DRAINS = [
    ("postgresql", {"poll": "sleep"}),
    ("postgresql", {"poll": "busy", "transport": "tcp"}),
    ("postgresql", {"poll": "sleep", "format": "binary"}),
    ("postgresql", {"fetch": "drain:copy", "format": "text"}),
    ("postgresql", {"fetch": "drain:copy", "format": "binary"}),
    ("mariadb", {"poll": "sleep"}),
    ("mariadb", {"poll": "busy", "transport": "tcp"}),
    ("mariadb", {"poll": "busy", "compression": "zlib"}),
]


@pytest.fixture(scope="module")
def instances() -> Iterator[dict[str, Instance]]:
    made: dict[str, Instance] = {}
    managers = []
    for engine in FILL:
        if ENGINES[engine].availability().ok:
            managers.append(started(engine))
            made[engine] = managers[-1].__enter__()
    yield made
    for manager in managers:
        manager.__exit__(None, None, None)


@pytest.fixture(params=DRAINS, ids=lambda given: "-".join([given[0], *given[1].values()]))
def drain(request: Any, instances: dict[str, Instance]) -> Iterator[Talk]:
    engine, coordinates = request.param
    if engine not in instances:
        pytest.skip(f"{engine} cannot run here")
    with Talk("drain", instances[engine], engine=engine, **coordinates) as talk:
        run(talk, "DROP TABLE IF EXISTS drained", "CREATE TABLE drained (n INTEGER, t VARCHAR(30))")
        run(talk, FILL[engine].format(ROWS))
        yield talk


def run(talk: Talk, *statements: str) -> None:
    talk.ask(RunStatements, RunReply, statements=list(statements))


def prepare(talk: Talk, sql: str = "SELECT n, t FROM drained", **changed: Any) -> None:
    spec: dict[str, Any] = {"name": "scan", "kind": "query", "sql": sql, "table": "drained", "scan": True}
    talk.ask(Prepare, PrepareReply, phase=PhaseSpec(**(spec | changed)), parameters=None)


def test_takes_every_byte_of_every_operation(drain: Talk) -> None:
    each = set()
    for transaction in ("autocommit", "transaction", "autocommit"):
        prepare(drain, transaction=transaction)
        for _ in range(2):
            reply = drain.sample("scan", operations=3)
            assert (reply.operations, reply.failed, reply.rows, reply.values) == (3, 0, 0, 0)
            assert int(reply.touch, 16) == 0
            each.add(reply.bytes / 3)
    assert len(each) == 1
    assert (each.pop() > PAYLOAD) == (drain.path.get("compression") == "none")
    with pytest.raises(RunnerFailure, match="no rows") as refused:
        drain.ask(Verify, VerifyReply, phase="scan", first=0, count=1)
    assert refused.value.kind == "unsupported"


def test_what_the_server_refuses_is_said_and_the_connection_goes_on(drain: Talk) -> None:
    prepare(drain, "SELECT nowhere FROM drained")
    failed = drain.sample("scan", operations=1)
    assert failed.failed == 1
    assert failed.failure is not None
    assert "nowhere" in failed.failure.text
    assert failed.failure.kind == "sql"
    assert failed.bytes == 0
    prepare(drain)
    assert drain.sample("scan", operations=2).failed == 0


def test_an_error_in_the_middle_of_a_result(instances: dict[str, Instance]) -> None:
    if "postgresql" not in instances:
        pytest.skip("PostgreSQL cannot run here")
    with Talk("drain", instances["postgresql"], engine="postgresql") as talk:
        prepare(talk, f"SELECT 1 / ({ROWS} - n) FROM generate_series(1, {ROWS}) AS n")
        failed = talk.sample("scan", operations=1)
        assert failed.failure is not None
        assert failed.failure.code == "22012"


def test_no_rows_and_changed_rows(drain: Talk) -> None:
    learns = drain.path.get("engine") == "mariadb"
    prepare(drain)
    whole = drain.sample("scan", operations=1).bytes
    for statement, grows in (
        ("DELETE FROM drained WHERE n > 10", False),
        ("INSERT INTO drained VALUES (1, 'x')", True),
    ):
        run(drain, statement)
        first = drain.sample("scan", operations=1)
        if learns:  # the end of MariaDB's results is known by their length alone
            assert first.failure is not None
            assert first.failure.kind == "verify"
            first = drain.sample("scan", operations=1)
        assert first.failed == 0
        assert (first.bytes > whole) == grows
        whole = first.bytes
    run(drain, "DELETE FROM drained")
    prepare(drain)
    assert 0 < drain.sample("scan", operations=1).bytes < whole


def test_takes_whole_tables_alone(drain: Talk) -> None:
    with pytest.raises(RunnerFailure, match="whole tables") as refused:
        prepare(drain, "SELECT 1", scan=False)
    assert refused.value.kind == "unsupported"


@pytest.mark.parametrize("suffix", ["file.tbl", "parquet.parquet", "arrow.arrow", "sqlite", "duckdb"])
def test_raw_read(suffix: str, tmp_path: Path) -> None:
    engine, _, ending = suffix.partition(".")
    file = tmp_path / f"drained.{ending or engine}"
    file.write_bytes(b"x" * 2_500_001)
    place = SimpleNamespace(
        options=lambda _path: {"path": str(tmp_path if ending else file)}, own_copy=lambda _path: None
    )
    with Talk("raw", place, engine=engine) as talk:
        prepare(talk)
        reply = talk.sample("scan", operations=4)
        assert (reply.bytes, reply.rows, reply.failed) == (4 * 2_500_001, 0, 0)
        file.unlink()
        failed = talk.sample("scan", operations=1)
        assert failed.failure is not None
        assert failed.failure.code == "ENOENT"


@pytest.mark.parametrize("poll", ["sleep", "busy"])
def test_netcat(poll: str, tmp_path: Path) -> None:
    instance = ENGINES["file"].instance("server", "none", Place(tmp_path, tmp_path, tuple(cpus.usable())))
    instance.start()
    try:
        (tmp_path / "file" / "drained.tbl").write_bytes(b"x" * 2_500_001)
        (tmp_path / "file" / "empty.tbl").touch()
        with Talk("netcat", instance, deployment="server", poll=poll) as talk:
            prepare(talk)
            reply = talk.sample("scan", operations=4)
            assert (reply.bytes, reply.rows, reply.failed) == (4 * (8 + 2_500_001), 0, 0)
            prepare(talk, table="empty")
            assert talk.sample("scan", operations=2).bytes == 2 * 8
            prepare(talk, table="absent")
            failed = talk.sample("scan", operations=1)
            assert failed.failed == 1
            assert "cannot read the table" in str(failed)
        wrong = SimpleNamespace(
            options=lambda path: instance.options(path) | {"password": "wrong"}, own_copy=lambda _path: None
        )
        with pytest.raises(RunnerFailure, match="refused the login") as refused:
            Talk("netcat", wrong, deployment="server")
        assert refused.value.kind == "connect"
    finally:
        instance.stop()


def test_a_floor_is_proven_by_its_bytes() -> None:
    def reply(drained: int, operations: int = 2) -> SampleReply:
        numbers: dict[str, Any] = dict.fromkeys(("ns", "failed", "rows", "values", "first", "lead_in_operations"), 0)
        numbers |= dict.fromkeys(("window_ns", "window_cpu_ns", "cpu_ns", "min_ns", "max_ns"), 0)
        return SampleReply(id=1, touch="0" * 16, operations=operations, bytes=drained, **numbers)

    server = AccessPath.of({"deployment": "server", "engine": "postgresql"})
    packed = AccessPath.of({"deployment": "file", "engine": "parquet"})
    assert drain_problem(server, reply(200), 200) == ""
    assert "different byte counts" in drain_problem(server, reply(201), 200)
    assert "their values have" in drain_problem(server, reply(198), 200)
    assert drain_problem(server, reply(200), 200, received=200) == ""
    assert "sent only 202" in drain_problem(server, reply(200), 200, received=202)
    assert drain_problem(packed, reply(198), 200) == ""
    assert "their values have" in drain_problem(packed, reply(0), 200)


def test_a_floor_whose_bytes_differ_is_wrong() -> None:
    from rowpath.journal.reader import Records
    from rowpath.journal.records import SampleRecord

    where: dict[str, Any] = {"path_id": "p", "workload": "w", "phase": "scan"}
    same = [SampleRecord(set=number, operations=number + 1, bytes=100 * (number + 1), **where) for number in range(3)]
    assert path_statuses(Records(in_sets=[*same])).of("p", "w", "scan").status == "ok"
    other = SampleRecord(set=4, operations=1, bytes=99, **where)
    judged = path_statuses(Records(in_sets=[*same, other])).of("p", "w", "scan")
    assert judged.status == "wrong"
    assert "99 bytes" in judged.reason


def test_no_suite_holds_a_floor_against_rows() -> None:
    floors = [adapter for adapter in manifest.every_adapter() if adapter.floor]
    assert {adapter.driver for adapter in floors} >= {"drain", "raw"}
    assert all(planned(adapter, "values") == [] for adapter in floors)


def test_each_engine_has_its_own_program() -> None:
    drain = ADAPTERS["drain"]
    programs = {engine: c.programs(drain, AccessPath.of({"engine": engine}))[0] for engine in ("postgresql", "mariadb")}
    assert programs["postgresql"].source != programs["mariadb"].source
    assert len(c.programs(drain)) == len(drain.engines)
    assert c.programs(ADAPTERS["libpq"]) == [ADAPTERS["libpq"]]


def test_a_floor_is_named_or_it_is_not_there() -> None:
    def drivers(**wanted: str) -> set[str]:
        return {adapter.driver for adapter, _ in select(Selection(select=dict(wanted)))}

    assert drivers(engine="file", language="c") == {"file"}
    assert drivers(engine="file", language="c", fetch="drain") == {"raw", "netcat"}
    assert drivers(driver="drain") == {"drain"}
