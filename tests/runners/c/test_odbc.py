"""The C runner's ODBC paths: what the values are worth at their edges, and what is said when a driver does not load."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from rowpath.engines import ENGINES
from rowpath.engines.base import Instance
from rowpath.machine import c_compiler, processes
from rowpath.machine.c_compiler import library_file
from rowpath.model.path import AccessPath
from rowpath.model.workload import Column
from rowpath.runners import building
from rowpath.runners.manifest import toolchain
from rowpath.runners.process import RunnerFailure
from rowpath.runners.protocol import (
    Close,
    CloseReply,
    Describe,
    DescribedColumn,
    DescribeReply,
    Interrupt,
    InterruptReply,
    PhaseSpec,
    Prepare,
    PrepareReply,
    RunReply,
    RunStatements,
    Sample,
    SampleReply,
    Verify,
    VerifyReply,
)
from rowpath.workloads import codec
from tests.runners.c.talk import ADAPTERS, Talk, expected_of, started

c: Any = toolchain("c")
pytestmark = pytest.mark.skipif(shutil.which(c_compiler.words()[0]) is None, reason="no C compiler")
ENGINE_OF = {"libsqliteodbc": "sqlite", "psqlodbc": "postgresql", "odbc-mariadb": "mariadb"}
LONG = {  # 200,000 bytes of UTF-8, in characters of one to four
    "sqlite": "replace(hex(zeroblob(10000)), '0', 'aé€😀')",
    "postgresql": "repeat('aé€😀', 20000)",
    "mariadb": "repeat('aé€😀', 20000)",
}
COLUMNS = (
    Column(name="id", type="integer"),
    Column(name="body", type="text"),
    Column(name="note", type="varchar", length=10),
)
ROWS = [(1, "aé€😀" * 20000, "after"), (2, "", "empty"), (3, "short", "")]


@pytest.fixture(scope="module")
def instances() -> Iterator[dict[str, Instance]]:
    """Instances by driver, made once."""
    made: dict[str, Instance] = {}
    managers = []
    for driver, engine in ENGINE_OF.items():
        adapter = ADAPTERS[driver]
        if ENGINES[engine].availability().ok and c.availability(adapter, "system").ok:
            managers.append(started(engine))
            made[driver] = managers[-1].__enter__()
            made[driver].load(dict(expected_of("keyed", ENGINES[engine]).workload.tables))
    yield made
    for manager in managers:
        manager.__exit__(None, None, None)


def instance_of(driver: str, instances: dict[str, Instance]) -> Instance:
    if driver not in instances:
        pytest.skip(f"{driver} cannot run here")
    return instances[driver]


def verified(talk: Talk, sql: str, columns: tuple[Column, ...]) -> VerifyReply:
    """What one query delivers."""
    phase = PhaseSpec(
        name="query",
        kind="query",
        sql=sql,
        table="",
        columns=columns,
        parameter_columns=[],
        transaction="autocommit",
        rows_per_operation=1,
        way="",
    )
    talk.ask(Prepare, PrepareReply, phase=phase, parameters=None)
    reply: VerifyReply = talk.ask(Verify, VerifyReply, phase="query", first=0, count=1)
    return reply


@pytest.mark.parametrize("fetch", ["row", "get-data", "block:10"])
@pytest.mark.parametrize("driver", ENGINE_OF)
def test_long_text_is_never_cut(driver: str, fetch: str, instances: dict[str, Instance]) -> None:
    with Talk(driver, instance_of(driver, instances), fetch=fetch) as talk:
        body = {"sqlite": "TEXT", "postgresql": "text", "mariadb": "LONGTEXT"}[ENGINE_OF[driver]]
        statements = [
            f"CREATE TABLE long_text (id INTEGER, body {body}, note VARCHAR(10))",
            f"INSERT INTO long_text VALUES (1, {LONG[ENGINE_OF[driver]]}, 'after'), (2, '', 'empty'), (3, 'short', '')",
        ]
        talk.ask(RunStatements, RunReply, statements=["DROP TABLE IF EXISTS long_text", *statements])
        sql = "SELECT id, body, note FROM long_text ORDER BY id"
        if (driver, fetch) == ("libsqliteodbc", "block:10"):
            reply = verified(talk, sql, COLUMNS)
            assert [each.foreign for each in reply.columns] == [0, 1, 0]
            assert reply.columns[1].reason.startswith("cut: ")
        else:
            assert verified(talk, sql, COLUMNS).digest == codec.digest(ROWS, COLUMNS)


@pytest.mark.parametrize("driver", ["libsqliteodbc", "psqlodbc"])
def test_text_of_every_plane_in_literals(driver: str, instances: dict[str, Instance]) -> None:
    """The SQL itself holds them: the driver manager must not take it for another encoding."""
    with Talk(driver, instance_of(driver, instances), statement="text") as talk:
        column = (Column(name="t", type="varchar", length=20),)
        assert verified(talk, "SELECT 'aé€😀\U0010fffd' AS t", column).digest == codec.digest(
            [("aé€😀\U0010fffd",)], column
        )


@pytest.mark.parametrize("driver", ENGINE_OF)
def test_the_driver_manager_guards_itself_alone(driver: str, instances: dict[str, Instance]) -> None:
    with Talk(driver, instance_of(driver, instances), clients="4") as talk:
        facts = talk.facts()
        assert facts.settings["threading"] == "0"
        assert facts.settings["autocommit"] == "on"
        assert facts.engine_version.startswith(ENGINES[ENGINE_OF[driver]].version())


def test_durability_of_sqlite(instances: dict[str, Instance]) -> None:
    instance = instance_of("libsqliteodbc", instances)
    for durability, journal, synchronous in (("full", "wal", "2"), ("none", "delete", "0")):
        with Talk("libsqliteodbc", instance, durability=durability) as talk:
            settings = talk.facts().settings
            assert (settings["journal_mode"], settings["synchronous"]) == (journal, synchronous)


def test_how_statements_travel(instances: dict[str, Instance], tmp_path: Path) -> None:
    """Counted by the server: what is prepared, executed, and asked as text."""
    instance = instance_of("odbc-mariadb", instances)
    counted = {}
    for statement in ("prepared", "bound", "text"):
        with Talk("odbc-mariadb", instance, statement=statement) as talk:
            expected = expected_of("keyed", talk.engine)
            talk.prepare(expected, expected.workload.phase("insert"), tmp_path)
            before = instance.statement_counts()  # type: ignore[attr-defined]
            assert talk.sample("insert", operations=50, first=0).failed == 0
            after = instance.statement_counts()  # type: ignore[attr-defined]
            counted[statement] = {kind: after[kind] - before[kind] for kind in ("prepare", "execute", "query")}
            if statement == "text":
                with pytest.raises(RunnerFailure, match="prepares what has a result"):
                    talk.prepare(expected, expected.workload.phase("read"), tmp_path)
    assert counted["prepared"] == {"prepare": 0, "execute": 50, "query": 0}
    assert counted["bound"] == {"prepare": 50, "execute": 50, "query": 0}
    assert counted["text"] == {"prepare": 0, "execute": 0, "query": 50}


@pytest.mark.parametrize(("statement", "texts"), [("prepared", 0), ("bound", 20), ("text", 20)])
def test_how_postgresql_is_asked(statement: str, texts: int, instances: dict[str, Instance], tmp_path: Path) -> None:
    """Seen from between: one round trip each, with or without the statement's text."""
    with Talk("psqlodbc", instance_of("psqlodbc", instances), statement=statement, transport="tcp") as talk:
        seen = talk.statements_seen(expected_of("keyed", talk.engine), tmp_path, "FROM mydata2")
        assert seen == (20, texts)


def test_a_file_that_is_no_library(instances: dict[str, Instance], tmp_path: Path) -> None:
    """The manager says "file not found" of it; the loader's words are told instead."""
    wrong = tmp_path / "driver.so"
    wrong.write_text("no library")
    with pytest.raises(RunnerFailure, match=r"does not load: .*driver\.so: (file too short|invalid ELF header)"):
        Talk("libsqliteodbc", instance_of("libsqliteodbc", instances), version=str(wrong))


def test_a_driver_that_is_missing() -> None:
    adapter = ADAPTERS["psqlodbc"]
    assert building.odbc_problem(adapter, "/nowhere/psqlodbcw.so", library_file) == (
        "the ODBC driver /nowhere/psqlodbcw.so is missing",
        "apt-get install odbc-postgresql",
    )
    assert building.odbc_problem(adapter, "system", lambda _name: None) == (
        "the ODBC driver odbc/psqlodbcw.so is missing",
        "apt-get install odbc-postgresql",
    )


@pytest.mark.parametrize("driver", ["psqlodbc", "odbc-mariadb"])
@pytest.mark.parametrize("password", ["wrong", "wr;o{n}g="])
def test_a_refused_login(driver: str, password: str, instances: dict[str, Instance]) -> None:
    """The password is in no word of the error and on no command line."""
    with Talk(driver, instance_of(driver, instances), transport="tcp") as talk:
        secret = str(talk.options["password"])
        command_line = Path(f"/proc/{talk.runner.pid}/cmdline").read_bytes().decode()
        assert secret not in command_line
        talk.ask(Close, CloseReply)
        with pytest.raises(RunnerFailure) as raised:
            talk.open(talk.options | {"password": password})
        assert raised.value.kind == "connect"
        assert password not in raised.value.text
        assert secret not in raised.value.text


def test_cancelling_from_another_thread(instances: dict[str, Instance]) -> None:
    """The manager lets SQLCancel through while the statement runs."""
    for driver, instance in instances.items():
        with Talk(driver, instance) as talk:
            reply: InterruptReply = talk.ask(
                Interrupt, InterruptReply, kind="cancel", sql=talk.engine.slow_query, after_ms=200, most_ms=8000
            )
            assert reply.honoured
            assert reply.usable


def test_version_names_a_file(tmp_path: Path, instances: dict[str, Instance]) -> None:
    """The driver that is used is the very file that `version` names."""
    found = building.odbc_driver(ADAPTERS["libsqliteodbc"], "system", library_file)
    if found is None:
        pytest.skip("libsqliteodbc cannot run here")
    copy = tmp_path / "own.so"
    shutil.copy(found, copy)
    with Talk("libsqliteodbc", instance_of("libsqliteodbc", instances), version=str(copy)) as talk:
        assert str(copy) in processes.run(["cat", f"/proc/{talk.runner.pid}/maps"], timeout_s=60).stdout


def any_driver(file: Path, connection: str, user: str = "", password: str = "", **coordinates: str) -> Talk:
    """A runner that is told its ODBC driver when it connects."""
    login = {"driver_file": str(file), "connection": connection, "user": user, "password": password}
    place: Any = SimpleNamespace(options=lambda _path: login, own_copy=lambda _path: None)
    return Talk("odbc", place, engine="sqlite", **coordinates)


def described(talk: Talk, sql: str) -> list[DescribedColumn]:
    reply: DescribeReply = talk.ask(Describe, DescribeReply, sql=sql)
    return reply.columns


@pytest.mark.parametrize("fetch", ["row", "get-data", "block:100"])
def test_a_driver_named_by_its_file(fetch: str, instances: dict[str, Instance]) -> None:
    instance = instance_of("psqlodbc", instances)
    login = instance.options(AccessPath.of({"transport": "tcp"}))
    file = building.odbc_driver(ADAPTERS["psqlodbc"], "system", library_file)
    assert file is not None
    where = f"SERVER=127.0.0.1;PORT={login['port']};DATABASE={login['database']};BoolsAsChar=0;ByteaAsLongVarBinary=1;"
    sql = (
        "SELECT 1 AS \"é€\", 'aé😀'::text AS twice, 1.5::numeric(9,2) AS twice, DATE '2000-02-29' AS d, true AS b,"
        " '\\x00ff'::bytea AS y, NULL::bigint AS n, '1 day'::interval AS i"
    )
    with any_driver(file, where, login["user"], login["password"], fetch=fetch) as talk:
        found = described(talk, sql)
        assert [column.name for column in found] == ["é€", "twice", "twice", "d", "b", "y", "n", "i"]
        types = "integer text decimal date boolean binary integer varchar"
        assert [column.type for column in found] == types.split()
        assert (found[2].precision, found[2].scale, found[6].bits) == (9, 2, 64)
        columns = tuple(Column(**{key: getattr(column, key) for key in Column.__struct_fields__}) for column in found)
        row = (1, "aé😀", Decimal("1.5"), date(2000, 2, 29), True, b"\0\xff", None, "1 day")
        assert verified(talk, sql, columns).digest == codec.digest([row], columns)
        columns = tuple(Column(name=column.name, type="opaque", nullable=True) for column in columns)
        assert verified(talk, sql, columns).digest == codec.digest([row], columns)
        with pytest.raises(RunnerFailure, match="nowhere"):
            described(talk, "SELECT nowhere")


def test_a_driver_that_is_none() -> None:
    with pytest.raises(RunnerFailure, match="does not load") as refused:
        any_driver(Path("/nowhere/libnone.so"), "")
    assert refused.value.kind == "connect"


def test_a_block_has_its_bounds(instances: dict[str, Instance]) -> None:
    with Talk("psqlodbc", instance_of("psqlodbc", instances), fetch="block:100000") as talk:
        narrow = (Column(name="n", type="integer"), Column(name="s", type="varchar", length=20))
        sql = "SELECT n, 'x' || n FROM generate_series(1, 1000) AS n"
        assert verified(talk, sql, narrow).digest == codec.digest([(n, f"x{n}") for n in range(1, 1001)], narrow)
        wide = (Column(name="t", type="text"),)
        with pytest.raises(RunnerFailure, match="100000 rows of up to") as refused:
            verified(talk, "SELECT 'x'::text AS t", wide)
        assert refused.value.kind == "unsupported"
        again = talk.ask(Sample, SampleReply, phase="query", regime="warm", lead_in_ns=0, duration_ns=0, operations=2)
        assert again.failed == 2
