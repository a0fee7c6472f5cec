"""Any result through JDBC: what a query's columns are, and rows of any width and type, by a driver named by its jar."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

import msgspec
import pytest

from rowpath.machine import jvm, maven
from rowpath.model.path import AccessPath
from rowpath.model.workload import Column
from rowpath.runners.manifest import Command, load_manifest, toolchain
from rowpath.runners.process import Runner, RunnerFailure
from rowpath.runners.protocol import PhaseSpec, VerifyReply
from rowpath.workloads import codec
from tests.runners.protocol.talk import Talk

java: Any = toolchain("java")
pytestmark = pytest.mark.skipif(bool(jvm.compiler_problem()), reason="no JDK")
ADAPTER = next(each for each in load_manifest("java").adapter if each.driver == "jdbc")
H2 = "com.h2database:h2:2.5.252"
MEMORY = {"url": "jdbc:h2:mem:any", "user": "sa", "password": "never-shown"}


def started(jar: Path, options: dict[str, Any], *jvm: str) -> Talk:
    """The generic adapter on a driver's jar, connected."""
    version = str(jar)
    java.build([(ADAPTER, version)])
    path = AccessPath.of({"engine": "jdbc", "deployment": "server", "driver": "jdbc", "version": version})
    command = java.command(ADAPTER, version, path)
    at = command.arguments.index("-cp")
    arguments = (*command.arguments[:at], *jvm, *command.arguments[at:])
    talk = Talk(Runner.start(Command(arguments, command.environment), ()))
    talk.runner.hello(ADAPTER.driver, requires=("clients", "describe"))
    talk.open(path.as_dict() | options)
    return talk


def prepare(talk: Talk, sql: str, columns: list[Any]) -> None:
    talk.prepare_spec(PhaseSpec(name="q", kind="query", sql=sql, columns=columns))


def verify(talk: Talk, sql: str, columns: list[Any]) -> VerifyReply:
    prepare(talk, sql, columns)
    return talk.verify("q")


def jar_of(coordinates: str) -> Path:
    maven.fetch([coordinates])
    return maven.jar(coordinates)


@pytest.fixture(scope="module")
def h2() -> Iterator[Talk]:
    talk = started(jar_of(H2), MEMORY | {"statement": "prepared"})
    yield talk
    talk.runner.stop()


def digest(columns: list[Any], *rows: tuple[Any, ...]) -> str:
    return codec.digest(rows, [Column(each.name, each.type, bits=each.bits, nullable=True) for each in columns])


EVERY_TYPE: dict[str, tuple[str, str, Any]] = {
    "CAST(-7 AS TINYINT)": ("integer", "TINYINT", -7),
    "CAST(300 AS SMALLINT)": ("integer", "SMALLINT", 300),
    "CAST(70000 AS INTEGER)": ("integer", "INTEGER", 70_000),
    "CAST(9007199254740993 AS BIGINT)": ("integer", "BIGINT", 2**53 + 1),
    "CAST(1.50 AS NUMERIC(40, 20))": ("decimal", "NUMERIC", Decimal("1.5")),
    "CAST('1E-7' AS DECFLOAT)": ("decimal", "DECFLOAT", Decimal("0.0000001")),
    "CAST(0.1 AS REAL)": ("float32", "REAL", 0.1),
    "CAST(0.1 AS DOUBLE PRECISION)": ("float64", "DOUBLE PRECISION", 0.1),
    "TRUE": ("boolean", "BOOLEAN", True),
    "CAST('ab' AS CHAR(4))": ("char", "CHARACTER", "ab"),
    "CAST('é' AS VARCHAR(9))": ("varchar", "CHARACTER VARYING", "é"),
    "CAST('' AS CLOB)": ("text", "CHARACTER LARGE OBJECT", ""),
    "X'00ff'": ("binary", "BINARY VARYING", b"\x00\xff"),
    "DATE '1500-02-28'": ("date", "DATE", date(1500, 2, 28)),
    "TIMESTAMP '1969-12-31 23:59:59.123456'": ("timestamp", "TIMESTAMP", datetime(1969, 12, 31, 23, 59, 59, 123456)),
    "TIMESTAMP WITH TIME ZONE '2000-01-01 00:30:00+02'": (
        "timestamptz",
        "TIMESTAMP WITH TIME ZONE",
        datetime(1999, 12, 31, 22, 30, tzinfo=UTC),
    ),
    "UUID '00112233-4455-6677-8899-aabbccddeeff'": ("uuid", "UUID", UUID("00112233-4455-6677-8899-aabbccddeeff")),
    "ARRAY[CAST(1 AS INTEGER), NULL]": ("array", "INTEGER ARRAY", [1, None]),
    "CAST(NULL AS INTEGER)": ("integer", "INTEGER", None),
    "CAST(NULL AS DATE)": ("date", "DATE", None),
}


def test_every_type_is_described_and_delivered(h2: Talk) -> None:
    sql = "SELECT " + ", ".join(EVERY_TYPE)
    columns = h2.describe(sql)
    assert [each.type for each in columns] == [kind for kind, _, _ in EVERY_TYPE.values()]
    assert [each.engine_type for each in columns] == [name for _, name, _ in EVERY_TYPE.values()]
    assert (columns[4].precision, columns[4].scale) == (40, 20)
    assert (columns[5].precision, columns[5].scale) == (0, 0)
    assert [each.bits for each in columns[:4]] == [16, 16, 32, 64]
    values = tuple(value for _, _, value in EVERY_TYPE.values())
    assert verify(h2, sql, columns).digest == digest(columns, values)


def test_a_type_without_a_natural_one_is_opaque(h2: Talk) -> None:
    sql = "SELECT INTERVAL '1' DAY AS i, CAST('POINT (1 2)' AS GEOMETRY) AS g, CAST(NULL AS GEOMETRY)"
    columns = h2.describe(sql)
    assert [(each.type, each.engine_type) for each in columns[:2]] == [
        ("opaque", "INTERVAL DAY"), ("opaque", "GEOMETRY"),
    ]  # fmt: skip
    assert verify(h2, sql, columns).digest == digest(columns, ("", "", None))


ARRAYS: dict[str, tuple[str, Any]] = {
    "ARRAY['a', NULL, 'é']": ("varchar", ["a", None, "é"]),
    "ARRAY[DATE '2000-01-02']": ("date", [date(2000, 1, 2)]),
    "ARRAY[CAST(1.50 AS NUMERIC(5, 2))]": ("decimal", [Decimal("1.5")]),
    "ARRAY[ARRAY[1, 2], ARRAY[NULL], NULL]": ("array", [[1, 2], [None], None]),
    "CAST(ARRAY[] AS BIGINT ARRAY)": ("integer", []),
}


def test_arrays_of_any_elements(h2: Talk) -> None:
    sql = "SELECT " + ", ".join(ARRAYS)
    columns = h2.describe(sql)
    assert [(each.type, each.fields[0].type) for each in columns] == [("array", kind) for kind, _ in ARRAYS.values()]
    values = tuple(value for _, value in ARRAYS.values())
    verified = verify(h2, sql, columns)
    row = codec.encode_row(values, columns)
    assert verified.digest == f"1:{codec.row_hash(row):016x}"
    assert verified.touch == f"{5 * len(ARRAYS):016x}"


def test_a_value_of_another_kind_is_delivered_and_counted(h2: Talk) -> None:
    """H2's getInt throws: what its getString delivers is foreign in an integer column, and the same in a sample."""
    sql = "SELECT 1 AS a, 'x1' AS b UNION ALL SELECT 2, '7'"
    verified = verify(h2, sql, [Column("a", "integer"), Column("b", "integer")])
    assert (verified.rows, [each.foreign for each in verified.columns]) == (2, [0, 1])
    assert verified.columns[1].reason == "'x1' is no integer"
    sampled = h2.sample("q", operations=1)
    assert (sampled.failed, sampled.touch, int(sampled.touch, 16)) == (0, verified.touch, 1 + 5 + 2 + 7)


def test_a_number_where_intervals_are_declared(h2: Talk) -> None:
    prepare(h2, "SELECT 1 AS i", [Column("i", "interval")])
    assert h2.verify("q").columns[0].reason == "'1' is no interval"


@pytest.mark.parametrize("declared", [1, 3])
def test_more_or_fewer_columns_than_declared_are_refused(h2: Talk, declared: int) -> None:
    columns = [Column(name, "integer") for name in "abc"[:declared]]
    with pytest.raises(RunnerFailure, match=f"2 columns came where {declared}") as failure:
        verify(h2, "SELECT 1 AS a, 2 AS b", columns)
    assert failure.value.kind == "verify"


def test_as_many_columns_as_postgresql_has(h2: Talk) -> None:
    sql = "SELECT " + ", ".join(f"{n} AS C{n}" for n in range(1600))
    columns = h2.describe(sql)
    assert len(columns) == 1600
    assert verify(h2, sql, columns).digest == digest(columns, tuple(range(1600)))
    sampled = h2.sample("q", operations=1)
    assert (sampled.failed, sampled.values) == (0, 1600)
    assert int(sampled.touch, 16) == sum(range(1600))


def test_names_that_occur_twice_long_texts_and_no_rows(h2: Talk) -> None:
    sql = "SELECT X AS A, REPEAT('é', 1000000) AS A, CAST(NULL AS VARCHAR(1)) AS B FROM SYSTEM_RANGE(1, {})"
    columns = h2.describe(sql.format(2))
    assert [each.name for each in columns] == ["A", "A", "B"]
    rows = [(n, "é" * 1_000_000, None) for n in (1, 2)]
    assert verify(h2, sql.format(2), columns).digest == digest(columns, *rows)
    assert verify(h2, sql.format(0), columns).digest == "0:0000000000000000"


def test_a_driver_that_knows_no_java_time(tmp_path: Path) -> None:
    """Derby's driver refuses java.time: its dates come by java.sql's classes, and the facts say so."""
    jars = jvm.class_path(["derby:10.8.2.2"]).split(":")
    url = f"jdbc:derby:{tmp_path / 'database'};create=true"
    talk = started(Path(jars[0]), {"url": url, "statement": "bound"}, "-Dderby.stream.error.file=/dev/null")
    try:
        sql = "SELECT DATE('1999-12-31'), TIMESTAMP('1999-12-31 23:59:59.5'), CAST(NULL AS TIME) FROM SYSIBM.SYSDUMMY1"
        columns = talk.describe(sql)
        moment = datetime(1999, 12, 31, 23, 59, 59, 500_000)
        assert verify(talk, sql, columns).digest == digest(columns, (moment.date(), moment, None))
        facts = talk.facts()
        assert facts.settings["read_only"] == "on"
        assert facts.settings["dates"].startswith("java.sql")
    finally:
        talk.runner.stop()


def test_a_url_that_no_driver_takes_and_a_jar_that_is_not_there() -> None:
    with pytest.raises(RunnerFailure, match="begin with jdbc:nothing:") as failure:
        started(jar_of(H2), MEMORY | {"url": "jdbc:nothing:x?password=hidden"})
    assert failure.value.kind == "connect"
    assert "hidden" not in str(failure.value)
    assert "--jar" in java.availability(ADAPTER, ADAPTER.versions[0]).remedy
    assert "no file" in java.availability(ADAPTER, "/nowhere/driver.jar").reason


def test_a_result_that_does_not_fit_the_heap_says_so(h2: Talk) -> None:
    sql = "SELECT REPEAT('x', 400000000) AS T FROM SYSTEM_RANGE(1, 1)"
    with pytest.raises(RunnerFailure, match="heap of 2") as failure:
        verify(h2, sql, [Column("T", "text")])
    assert failure.value.kind == "unsupported"
    columns = msgspec.structs.replace(h2.describe("SELECT 1 AS A")[0], nullable=True)
    assert verify(h2, "SELECT 1 AS A", [columns]).rows == 1
