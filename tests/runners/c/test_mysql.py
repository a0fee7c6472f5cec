"""The MySQL C API on the real libraries: statements, long values, HANDLER, TLS, the embedded server, errors."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from rowpath.engines import ENGINES
from rowpath.engines.base import CountsStatements, Instance
from rowpath.engines.mariadb import Mariadb
from rowpath.engines.mariadb.settings import TLS_PROTOCOL
from rowpath.machine.counters import system_calls
from rowpath.model.path import AccessPath
from rowpath.model.workload import Column, Phase, Table, Workload
from rowpath.runners import protocol
from rowpath.runners.manifest import toolchain
from rowpath.runners.process import RunnerFailure
from rowpath.runners.protocol import RunReply, RunStatements
from rowpath.workloads.expected import Expected
from rowpath.workloads.workload_file import load_workload
from tests.runners.c.talk import ADAPTERS, Talk, expected_of, started

c: Any = toolchain("c")
pytestmark = pytest.mark.skipif(
    not ENGINES["mariadb"].availability().ok or not all(c.availability(ADAPTERS[name], "system").ok for name in
                                                        ("libmariadb", "libmariadbd")),
    reason="no MariaDB, or no C compiler",
)  # fmt: skip
DRIVERS = ("libmariadb", "libmariadbd")
HANDLER = {"access": "handler", "result": "single-row"}
LONG_BYTES = 100_000


@pytest.fixture(scope="module")
def instances() -> Iterator[dict[str, Instance]]:
    """A server and a directory for the library, with the tables of two workloads."""
    with started("mariadb") as server, started("mariadb", deployment="embedded") as directory:
        found = {"libmariadb": server, "libmariadbd": directory}
        for instance in found.values():
            instance.load(load_workload("keyed").tables | load_workload("scan").tables)
        yield found


def selects(talk: Talk, sql: str, columns: tuple[Column, ...]) -> protocol.VerifyReply:
    """What one query delivers."""
    table = Table(columns, 0, "hits")
    phase = Phase("asked", "query", sql, columns=columns)
    talk.prepare(Expected(Workload("asked", "", {"none": table}, (phase,))), phase, Path("/nonexistent"))
    reply: protocol.VerifyReply = talk.ask(protocol.Verify, protocol.VerifyReply, phase="asked", first=0, count=1)
    return reply


@pytest.mark.parametrize("driver", DRIVERS)
@pytest.mark.parametrize("fetch", ["row", "block:100", "block:1000"])
@pytest.mark.parametrize("statement", ["prepared", "bound", "text"])
def test_handler(driver: str, fetch: str, statement: str, instances: dict[str, Instance], tmp_path: Path) -> None:
    """Records by their key and all of them, whatever number comes at a time; the last block may be full or empty."""
    with Talk(driver, instances[driver], access="handler", fetch=fetch, statement=statement) as talk:
        for name in ("keyed", "scan"):
            expected = expected_of(name, talk.engine)
            phase = expected.workload.phase("read")
            for _ in range(2):  # the second time the table is opened anew
                talk.prepare(expected, phase, tmp_path)
            count = 1 if phase.scan else 300
            verified = talk.ask(protocol.Verify, protocol.VerifyReply, phase="read", first=0, count=count)
            assert verified.digest == expected.verify_digest(phase, 0, count, 100_000)


def test_handler_takes_the_columns_by_their_names(instances: dict[str, Instance], tmp_path: Path) -> None:
    expected = expected_of("keyed", ENGINES["mariadb"])
    key, data = expected.workload.tables["mydata2"].columns
    with Talk("libmariadb", instances["libmariadb"], **HANDLER) as talk:
        digests = []
        for columns in ((key, data), (data, key), (data,)):
            phase = msgspec.structs.replace(expected.workload.phase("read"), columns=columns)
            talk.prepare(expected, phase, tmp_path)
            digests.append(talk.ask(protocol.Verify, protocol.VerifyReply, phase="read", first=0, count=9).digest)
        assert len(set(digests)) == 3
        with pytest.raises(RunnerFailure, match="no column nonsense"):
            unknown = msgspec.structs.replace(expected.workload.phase("read"), columns=(Column("nonsense", "text"),))
            talk.prepare(expected, unknown, tmp_path)
            talk.ask(protocol.Verify, protocol.VerifyReply, phase="read", first=0, count=9)


def test_handler_only_reads(instances: dict[str, Instance], tmp_path: Path) -> None:
    expected = expected_of("keyed", ENGINES["mariadb"])
    phase = msgspec.structs.replace(expected.workload.phase("read"), access="")
    with Talk("libmariadb", instances["libmariadb"], **HANDLER) as talk, pytest.raises(RunnerFailure, match="HANDLER"):
        talk.prepare(expected, phase, tmp_path)


@pytest.mark.parametrize("driver", DRIVERS)
@pytest.mark.parametrize("result", ["whole", "single-row", "cursor:100"])
def test_a_long_text_between_short_ones(driver: str, result: str, instances: dict[str, Instance]) -> None:
    """It comes whole, and the rows around it as they are."""
    columns = (Column("n", "integer", bits=64), Column("t", "text"))
    three = "(SELECT 1 AS n UNION SELECT 2 UNION SELECT 3) AS three"
    sql = f"SELECT n, REPEAT(CHAR(96 + n), IF(n = 2, {LONG_BYTES}, 3)) FROM {three}"
    with Talk(driver, instances[driver], result=result) as talk:
        reply = selects(talk, sql, columns)
        assert reply.rows == 3
        assert int(reply.touch, 16) == 1 + 2 + 3 + 3 + LONG_BYTES + 3
        assert reply.converted == []
        with Talk(driver, instances[driver], result="whole", statement="text") as other:
            text = selects(other, sql, columns)
    assert text.digest == reply.digest
    assert text.converted == ["n"]


@pytest.mark.parametrize("statement", ["prepared", "text"])
def test_a_type_that_was_not_declared(statement: str, instances: dict[str, Instance]) -> None:
    with Talk("libmariadb", instances["libmariadb"], statement=statement) as talk:
        reply = selects(talk, "SELECT 1.5", (Column("n", "timestamp"),))
        assert (reply.rows, reply.columns[0].foreign) == (1, 1)
        with pytest.raises(RunnerFailure, match="2 columns, not 1"):
            selects(talk, "SELECT 1, 2", (Column("n", "integer"),))


@pytest.mark.parametrize(
    ("statement", "prepares", "executes", "queries"), [("prepared", 0, 20, 0), ("bound", 20, 20, 0), ("text", 0, 0, 20)]
)
def test_the_server_counts_what_the_statement_mode_says(
    statement: str, prepares: int, executes: int, queries: int, instances: dict[str, Instance], tmp_path: Path
) -> None:
    server = instances["libmariadb"]
    assert isinstance(server, CountsStatements)
    with Talk("libmariadb", server, statement=statement) as talk:
        expected = expected_of("keyed", talk.engine)
        talk.prepare(expected, expected.workload.phase("read"), tmp_path)
        before = server.statement_counts()
        assert talk.sample("read", operations=20, first=0).operations == 20
        after = server.statement_counts()
    counted = [after[name] - before[name] for name in ("prepare", "execute", "query")]
    assert counted[:2] == [prepares, executes]
    assert counted[2] - queries in (0, 1, 2)  # asking for the counters is a query too


@pytest.mark.parametrize("bulk", ["multi-row", "load-data", "array"])
def test_a_bulk_way_stores_all_or_nothing(bulk: str, instances: dict[str, Instance], tmp_path: Path) -> None:
    """A row that is there already, in the middle: LOAD DATA LOCAL would leave it out and go on."""
    with Talk("libmariadb", instances["libmariadb"], bulk=bulk) as talk:
        insert = expected_of("keyed", talk.engine)
        phase = insert.workload.phase("insert")
        talk.prepare(insert, phase, tmp_path)
        assert talk.sample("insert", operations=1, first=50).failed == 0
        load = msgspec.structs.replace(
            phase, name="load", kind="load", way="bulk", table=phase.after, rows_per_operation=100, reset=()
        )
        talk.prepare(insert, load, tmp_path)
        reply = talk.sample("load", operations=1, first=0)
        assert (reply.operations, reply.failed) == (0, 1)
        assert reply.failure is not None
        assert "Duplicate entry" in reply.failure.text
        assert reply.failure.code.startswith("1062")
        left = selects(talk, f"SELECT COUNT(*) FROM {phase.after}", (Column("n", "integer", bits=64),))
        assert int(left.touch, 16) == 1


def test_errors_of_connecting(instances: dict[str, Instance]) -> None:
    with Talk("libmariadb", instances["libmariadb"]) as talk:
        for wrong, text in (
            ({"password": "wrong"}, "Access denied"),
            ({"socket": "/nonexistent/socket"}, "socket"),
            ({"transport": "tcp", "port": 1}, "127.0.0.1"),
            ({"database": "nowhere"}, "nowhere"),
            ({"tls": "on"}, "offers no TLS"),
        ):
            with pytest.raises(RunnerFailure, match=text) as refused:
                talk.open(talk.options | wrong)
            assert (refused.value.kind, "wrong" in str(refused.value)) == ("connect", False)


def test_a_server_that_is_gone(tmp_path: Path) -> None:
    with started("mariadb") as server:
        server.load(load_workload("keyed").tables)
        with Talk("libmariadb", server) as talk:
            expected = expected_of("keyed", talk.engine)
            talk.prepare(expected, expected.workload.phase("read"), tmp_path)
            os.kill(server.pids()[0], signal.SIGKILL)
            reply = talk.sample("read", operations=3, first=0)
            assert (reply.operations, reply.failed) == (0, 3)
            assert reply.failure is not None
            assert reply.failure.kind == "connect"
            # It is gone when the request is written, or when its reply is awaited: the kernel takes its time.
            assert reply.failure.code in ("2006 (HY000)", "2013 (HY000)")


@pytest.mark.parametrize("engine", ["mariadb", "mysql"])
def test_tls(engine: str) -> None:
    """Encrypted when asked for, over a socket too; not when the library is left alone."""
    kind = ENGINES[engine]
    assert isinstance(kind, Mariadb)
    version = kind.versions()[-1]
    there = kind.availability_of(version, "on")
    if not there.ok:
        pytest.skip(there.reason)
    with started(engine, version) as server:
        seen = {}
        for transport, tls in (("tcp", "on"), ("tcp", "off"), ("tcp", "default"), ("unix", "on")):
            with Talk("libmariadb", server, engine=engine, transport=transport, tls=tls) as talk:
                seen[transport, tls] = talk.facts().settings
        certificate = server.facts()["certificate"]
    assert [settings["tls"] for settings in seen.values()] == ["on", "off", "off", "on"]
    assert seen["tcp", "on"]["Ssl_version"] == TLS_PROTOCOL[kind.flavour]
    assert certificate.startswith("self-signed")


def test_facts(instances: dict[str, Instance]) -> None:
    for driver, instance in instances.items():
        with Talk(driver, instance, statement="text") as talk:
            assert talk.opened.server_pid is None
            facts = talk.facts()
        assert facts.engine_version.startswith(ENGINES["mariadb"].version())
        assert facts.driver_version == facts.libraries[driver]
        assert facts.settings["autocommit"] == "on"
        assert facts.settings["time_zone"] == "+00:00"
        assert facts.settings["default_storage_engine"] == "InnoDB"
        assert "NO_BACKSLASH_ESCAPES" in facts.settings["sql_mode"]


def test_one_embedded_server_in_a_process(instances: dict[str, Instance], tmp_path: Path) -> None:
    """It is opened again as often as one likes; another one, or another process's, is refused at once and in words."""
    directory = instances["libmariadbd"]
    with Talk("libmariadbd", directory) as talk:
        expected = expected_of("keyed", talk.engine)
        for _ in range(3):
            talk.ask(protocol.Close, protocol.CloseReply)
            talk.open(talk.options)
        talk.prepare(expected, expected.workload.phase("read"), tmp_path)
        assert talk.sample("read", operations=5, first=0).operations == 5
        with pytest.raises(RunnerFailure, match="one embedded server"):
            talk.open(talk.options | {"server_arguments": "--no-defaults"})
        talk.open(talk.options)

        other = Talk.start_only("libmariadbd", directory, thread="worker")
        with other:
            with pytest.raises(RunnerFailure, match=f"process {talk.runner.pid} has the data directory"):
                other.open(talk.options)
            talk.runner.stop()
            other.open(talk.options)  # once it is free


def test_an_embedded_server_that_does_not_start(tmp_path: Path, instances: dict[str, Instance]) -> None:
    with Talk.start_only("libmariadbd", instances["libmariadbd"], thread="worker") as talk:
        for message in ("does not start: .", "one embedded server"):  # the library cannot be tried again
            with pytest.raises(RunnerFailure, match=message) as refused:
                talk.open(talk.options | {"server_arguments": f"--no-defaults\n--datadir={tmp_path}/nowhere"})
            assert refused.value.kind in ("connect", "unsupported")


def test_what_is_stored_outlives_the_embedded_process(instances: dict[str, Instance], tmp_path: Path) -> None:
    directory = instances["libmariadbd"]
    expected = expected_of("keyed", ENGINES["mariadb"])
    phase = expected.workload.phase("insert")
    with Talk("libmariadbd", directory) as talk:
        talk.prepare(expected, phase, tmp_path)
        assert talk.sample("insert", operations=1000, first=0).failed == 0
    with Talk.start_only("libmariadbd", directory, thread="worker") as after:
        after.open(talk.options)
        assert after.stored(expected, phase, tmp_path) == expected.after_digest(phase, 1000)


def test_the_main_thread_pays_for_finding_its_stack(instances: dict[str, Instance], tmp_path: Path) -> None:
    """libmariadbd on the process's main thread opens and reads its memory map on each call."""
    calls = {}
    for thread in ("worker", "main"):
        with Talk("libmariadbd", instances["libmariadbd"], thread=thread) as talk:
            assert (talk.hello.loop_tid == talk.hello.pid) is (thread == "main")
            expected = expected_of("keyed", talk.engine)
            talk.prepare(expected, expected.workload.phase("read"), tmp_path)
            talk.sample("read", operations=500, first=0)
            with system_calls.counting(talk.runner.pid) as counted:
                talk.sample("read", operations=500, first=0)
            if counted.calls is None:
                pytest.skip(system_calls.probe())
            calls[thread] = counted.calls / 500
    assert calls["main"] - calls["worker"] > 4


def test_several_clients_are_not_the_main_thread(instances: dict[str, Instance]) -> None:
    with pytest.raises(RunnerFailure, match="threads of their own"):
        Talk("libmariadbd", instances["libmariadbd"], thread="main", clients="2")


def test_the_thread_is_an_option_of_the_runner() -> None:
    path = AccessPath.of({"driver": "libmariadbd", "thread": "main"})
    assert c.command(ADAPTERS["libmariadbd"], "system", path).arguments[1:] == (
        "--adapter", "libmariadbd", "--thread", "main",
    )  # fmt: skip
    assert "--thread" not in c.command(ADAPTERS["libmariadb"], "system", AccessPath.of({})).arguments


def test_headers_that_are_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(c, "has_header", lambda header: "server" not in header)
    missing = c.availability(ADAPTERS["libmariadbd"], "system")
    assert (missing.ok, missing.remedy) == (False, "apt-get install libmariadbd-dev")
    assert "mariadb/server/mysql.h" in missing.reason
    assert c.availability(ADAPTERS["libmariadb"], "system").ok


def test_statements_that_fail_leave_the_connection_usable(instances: dict[str, Instance]) -> None:
    with Talk("libmariadb", instances["libmariadb"]) as talk:
        with pytest.raises(RunnerFailure, match="syntax") as refused:
            talk.ask(RunStatements, RunReply, statements=["SELEC 1"])
        assert (refused.value.kind, refused.value.code) == ("sql", "1064 (42000)")
        talk.ask(RunStatements, RunReply, statements=["SELECT 1"])
