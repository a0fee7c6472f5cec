"""Values of every kind through C#'s drivers: the bytes of what each SQL literal means, or the driver's own loss."""

from __future__ import annotations

import contextlib
import sqlite3
import tempfile
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pytest

from rowpath.checks.conformance.paths import planned
from rowpath.engines import ENGINES
from rowpath.model.workload import Column, ColumnSpec
from rowpath.runners import manifest
from rowpath.runners.manifest import toolchain
from rowpath.workloads import codec
from tests.runners.protocol.any_result import started
from tests.runners.protocol.codec_vectors import natural
from tests.runners.protocol.talk import LineTalk, adapter, on_sqlite

csharp: Any = toolchain("csharp")
pytestmark = pytest.mark.skipif(csharp.tools_problem() is not None, reason="no Mono")


class Lost(NamedTuple):
    """What a value becomes, in the codec's bytes: the driver's own doing, or a value that has no bytes."""

    data: bytes


class Case(NamedTuple):
    """A type, how it is declared, and SQL literals with what each means: a value as the vectors have it, or a loss."""

    sql_type: str
    column: dict[str, Any]
    values: dict[str, Any]


def field(kind: str, **more: Any) -> dict[str, Any]:
    return {"type": "array", "fields": [{"name": "", "type": kind, "nullable": True, **more}]}


def day(days: int) -> Lost:
    return Lost(b"d" + days.to_bytes(4, "little", signed=True))


TODAY = object()  # in the year that is left of five digits: psqlodbc fills in what it cannot read
NUMBERS = {"'NaN'": "NaN", "12.50": "12.5", "-0.01": "-0.01", "0": "0"}
POSTGRESQL = [
    Case("int2", {"type": "integer", "bits": 16}, {"(-32768)": "-32768", "32767": "32767"}),
    Case("int8", {"type": "integer", "bits": 64}, {"'-9223372036854775808'": str(-(2**63)), "0": "0"}),
    Case("oid", {"type": "integer", "bits": 64}, {"0": "0", "4294967295": "4294967295"}),
    Case("numeric(10,2)", {"type": "decimal", "precision": 10, "scale": 2}, NUMBERS),
    Case(
        "numeric",
        {"type": "decimal"},
        NUMBERS | {"'Infinity'": "inf", "'-Infinity'": "-inf", "1e300": "1E+300", "1e-37": "1E-37"},
    ),
    Case("float8", {"type": "float64"}, {"'NaN'": "nan", "'-inf'": "-inf", "5e-324": "5e-324", "'-0'": "0"}),
    Case("float4", {"type": "float32"}, {"'NaN'": "nan", "0.1": "0.1", "'inf'": "inf"}),
    Case("bool", {"type": "boolean"}, {"true": True, "false": False}),
    Case("text", {"type": "text"}, {"''": "", "'é€😀'": "é€😀", "repeat('x', 100000)": "x" * 100000}),
    Case("char(3)", {"type": "char", "length": 3}, {"'a'": "a", "''": ""}),
    Case("bytea", {"type": "binary"}, {"''": "", r"'\x00ff'": "00ff"}),
    Case("bit(9)", {"type": "bits", "length": 9}, {"B'101000001'": "101000001"}),
    Case("varbit", {"type": "bits"}, {"B''": "", "B'1'": "1", "B'10100000101'": "10100000101"}),
    Case("bit(1)", {"type": "bits", "length": 1}, {"B'1'": "1", "B'0'": "0"}),
    Case("date", {"type": "date"}, {"'0001-01-01'": "0001-01-01", "'9999-12-31'": "9999-12-31"}),
    # System.Data.Odbc takes times as whole seconds, psqlodbc dates as a structure of four digits a year.
    Case("time", {"type": "time"}, {"'24:00:00'": "24:00:00", "'12:34:56'": "12:34:56", "'12:34:56.5'": "12:34:56"}),
    Case("date", {"type": "date"}, {"'12000-02-29'": TODAY, "'2000-02-29'": "2000-02-29"}),
    Case("timetz", {"type": "timetz"}, {"'24:00-15:59:59'": "24:00:00-15:59:59", "'12:34:56.5+05'": "12:34:56.5+05"}),
    Case(
        "timestamp",
        {"type": "timestamp"},
        {"'2000-11-07 01:02:03.456789'": "2000-11-07 01:02:03.456789", "'0044-03-15 12:00 BC'": "0044-03-15 12:00 BC"},
    ),
    Case("timestamp", {"type": "timestamp"}, {"'infinity'": "9999-12-31 23:59:59"}),  # psqlodbc's own form of it
    Case(
        "timestamptz",
        {"type": "timestamptz"},
        {
            "'2000-11-07 01:02:03.5+02'": "2000-11-06 23:02:03.5+00",
            "'0044-03-15 12:00+00 BC'": "0044-03-15 12:00+00 BC",
        },
    ),
    Case(
        "interval",
        {"type": "interval"},
        {
            "'1 year 2 mons -3 days 01:02:03.5'": [14, -3, 3723500000000],
            "'-1 mons +3 days -01:02:03.000001'": [-1, 3, -3723000001000],
            "'0'": [0, 0, 0],
            "'infinity'": "inf",
            "'2562047788 hours'": Lost(b"?\x10\0\0\x002562047788:00:00"),  # beyond 64 bits of nanoseconds
        },
    ),
    Case("uuid", {"type": "uuid"}, {"'c0ffee00-1234-4567-89ab-cdef01234567'": "c0ffee00-1234-4567-89ab-cdef01234567"}),
    Case("json", {"type": "json"}, {"'{\"a\": 1}'": '{"a": 1}'}),
    Case(
        "int4[]",
        field("integer"),
        {
            "'{}'": [],
            "'{1,NULL,3}'": [1, None, 3],
            "'{{1,2},{3,NULL}}'": [[1, 2], [3, None]],
            "'[0:1]={1,2}'": {"lower": 0, "elements": [1, 2]},
            "'[-2:-2][5:5]={{1}}'": {"lower": -2, "elements": [{"lower": 5, "elements": [1]}]},
        },
    ),
    Case(
        "text[]",
        field("text"),
        {r"""'{a,NULL,"NULL","","a,b","q\"u\\o",é}'""": ["a", None, "NULL", "", "a,b", 'q"u\\o', "é"]},
    ),
    Case("numeric[]", field("decimal"), {"'{NaN,1.50,Infinity}'": ["NaN", "1.5", "inf"]}),
    Case("bool[]", field("boolean"), {"'{t,f,NULL}'": [True, False, None]}),
    Case("date[]", field("date"), {"'{2000-01-01,infinity,0044-03-15 BC}'": ["2000-01-01", "inf", "0044-03-15 BC"]}),
    Case("time[]", field("time"), {"'{24:00,12:34:56.5}'": ["24:00:00", "12:34:56.5"]}),
    Case("timestamptz[]", field("timestamptz"), {"'{2000-01-01 00:00:00.5+00}'": ["2000-01-01 00:00:00.5+00"]}),
    Case("bytea[]", field("binary"), {r"ARRAY['\x00ff'::bytea, NULL, '']": ["00ff", None, ""]}),
    Case("interval[]", field("interval"), {"ARRAY['1 mon'::interval]": Lost(b"A\1\0\0\0I\1\0\0\0" + bytes(12))}),
    Case("float8[]", field("float64"), {"'{NaN,-Infinity,0.1}'": ["nan", "-inf", "0.1"]}),
    Case("bit(3)[]", field("bits"), {"'{101,010}'": ["101", "010"]}),
    Case("inet", {"type": "opaque"}, {"'1.2.3.4'": "1.2.3.4"}),
    Case("int4range[]", {"type": "opaque"}, {"'{\"[1,2)\"}'": ""}),
    Case("int2vector", {"type": "opaque"}, {"'1 2'": ""}),
]
MARIADB = [
    Case("BIGINT UNSIGNED", {"type": "integer", "bits": 128}, {"18446744073709551615": "18446744073709551615"}),
    Case("TINYINT(1)", {"type": "integer", "bits": 16}, {str(value): str(value) for value in (-1, 0, 1, 2, 127)}),
    Case("YEAR", {"type": "integer", "bits": 16}, {"0": "0", "2155": "2155"}),
    Case(
        "DECIMAL(65,30)",
        {"type": "decimal", "precision": 65, "scale": 30},
        {"9" * 35 + "." + "9" * 30: "9" * 35 + "." + "9" * 30},
    ),
    Case("FLOAT", {"type": "float32"}, {"0.1": "0.1", "8388609": "8388609"}),
    Case("BIT(1)", {"type": "bits", "length": 1}, {"b'1'": "1", "b'0'": "0"}),
    Case("BIT(10)", {"type": "bits", "length": 10}, {"b'1000000001'": "1000000001", "b'1'": "0000000001"}),
    Case(
        "DATE",
        {"type": "date"},
        {f"'{value}'": value for value in ("0000-00-00", "2024-00-15", "2024-01-00", "1000-01-01")},
    ),
    Case(
        "TIME(6)",
        {"type": "time"},
        {f"'{value}'": value for value in ("25:30:00.5", "-00:00:00.5", "-838:59:58.999999", "12:34:56.123456")},
    ),
    Case("TIME", {"type": "time"}, {f"'{value}'": value for value in ("838:59:59", "-01:00:00", "00:00:00")}),
    Case(
        "DATETIME(6)",
        {"type": "timestamp"},
        {f"'{value}'": value for value in ("2024-00-15 10:11:12.5", "2000-11-07 01:02:03.456789")},
    ),
    Case("VARCHAR(9)", {"type": "varchar", "length": 9}, {"''": "", "'a '": "a ", "'é€😀'": "é€😀"}),
    Case("TEXT", {"type": "text"}, {"REPEAT('x', 60000)": "x" * 60000}),
    Case("BLOB", {"type": "binary"}, {"''": "", "X'00ff'": "00ff"}),
    Case("GEOMETRY", {"type": "opaque"}, {"ST_GeomFromText('POINT(1 2)')": ""}),
]
SQLITE = [
    Case(
        "",
        {"type": "any"},
        {
            "9007199254740993": {"integer": "9007199254740993"},
            "0.5": {"float": "0.5"},
            "1.0": {"float": "1"},
            "'1'": "1",
            "x'00ff'": {"hex": "00ff"},
        },
    ),
    Case("", {"type": "text"}, {"CAST(x'ff41' AS TEXT)": "�A", "CAST(x'610062' AS TEXT)": "a"}),  # Mono's own text
    Case(
        "",
        {"type": "integer", "bits": 64},
        {
            "1": "1",
            "'12'": "12",
            "'abc'": Lost(b"?\x03\0\0\0abc"),
            "2.5": Lost(b"N\x03\0\0\x002.5"),
            "x'00'": Lost(b"?\x02\0\0\x0000"),
        },
    ),
    Case("", {"type": "float64"}, {"9e999": "inf", "1": "1", "'x'": Lost(b"?\x01\0\0\0x")}),
    Case(
        "",
        {"type": "decimal", "precision": 10, "scale": 2},
        {"'1.50'": "1.5", "'1e40'": "1E+40", "'NaN'": "NaN", "7": "7"},
    ),
    Case("", {"type": "date"}, {"'infinity'": "inf", "'0000-00-00'": "0000-00-00", "'x'": Lost(b"?\x01\0\0\0x")}),
    Case("", {"type": "time"}, {f"'{value}'": value for value in ("24:00:00", "-01:00:00", "838:59:59")}),
    Case(
        "",
        {"type": "timestamp"},
        {"'2020-01-01 00:00:00.123456789'": "2020-01-01 00:00:00.123456789", "'2000-01-01'": "2000-01-01"},
    ),
    Case("", {"type": "binary"}, {"x''": "", "'abc'": "616263", "5": Lost(b"?\x01\0\0\x005")}),
    Case("", {"type": "boolean"}, {"1": True, "0": False}),
    Case("", {"type": "interval"}, {"'1 day'": Lost(b"?\x05\0\0\x001 day")}),
]


def rows_of(talk: LineTalk, column: dict[str, Any], sql: str, folder: Path) -> list[bytes]:
    """What `verify` kept; a sample must deliver the same."""
    phase = {"name": "x", "kind": "query", "sql": sql, "columns": [{"name": "v", **column}]}
    prepared = talk.ask("prepare", phase=phase, parameters=None)
    assert "error" not in prepared, prepared
    verified = talk.ask("verify", phase="x", first=0, count=1, keep=str(folder / "kept"))
    assert "error" not in verified, verified
    sampled = talk.sample("x", operations=1, first=0)
    assert (sampled["failure"], sampled["touch"], sampled["rows"]) == (None, verified["touch"], verified["rows"])
    data, rows = (folder / "kept").read_bytes(), []
    while data:
        size = 4 + int.from_bytes(data[:4], "little")
        rows.append(data[4:size])
        data = data[size:]
    return rows


def meant(value: Any, column: ColumnSpec) -> bytes:
    if value is TODAY:
        return day((date.today().replace(year=1200) - date(1970, 1, 1)).days).data
    return value.data if isinstance(value, Lost) else codec.encode_value(natural(value, column), column)


def check(talk: LineTalk, case: Case, folder: Path, table: str = "") -> None:
    """Every value of the case, with NULL among them and without."""
    spec = msgspec.convert({"name": "v", **case.column}, Column)
    cast = f"::{case.sql_type}" if case.sql_type and not table else ""
    if table:
        talk.ask("run", statements=[f"CREATE TABLE {table} (i INT, v {case.sql_type})"])
    for nullable in (True, False):
        values = ({"NULL": None} if nullable else {}) | case.values
        source = " UNION ALL ".join(f"SELECT {at} AS i, {each}{cast} AS v" for at, each in enumerate(values))
        if table:
            inserts = [f"INSERT INTO {table} VALUES ({at}, {each})" for at, each in enumerate(values)]
            done = talk.ask("run", statements=[f"DELETE FROM {table}", *inserts])
            assert "error" not in done, done
        sql = f"SELECT v FROM {table or f'({source}) AS x'} ORDER BY i"
        delivered = rows_of(talk, {**case.column, "nullable": nullable}, sql, folder)
        assert dict(zip(values, delivered, strict=True)) == {each: meant(value, spec) for each, value in values.items()}


def opened(driver: str, options: dict[str, Any]) -> Iterator[LineTalk]:
    talk = LineTalk(adapter("csharp", driver))
    assert "error" not in talk.hello()
    reply = talk.ask("open", options=options)
    assert "error" not in reply, reply
    yield talk
    talk.end()


def on_server(driver: str, engine: str) -> Iterator[LineTalk]:
    found = adapter("csharp", driver)
    there = manifest.availability(found, found.versions[0])
    if not (there.ok and ENGINES[engine].availability().ok):
        pytest.skip(f"no {driver} or no {engine}")
    # Not pytest's directories, which any other run of pytest closes to other users.
    with tempfile.TemporaryDirectory() as folder, contextlib.contextmanager(started)(engine, Path(folder)) as instance:
        path = planned(found, "values", {"engine": (engine,)})[0].path
        yield from opened(driver, path.as_dict() | instance.options(path))


@pytest.fixture(scope="module")
def postgresql() -> Iterator[LineTalk]:
    yield from on_server("ado-psqlodbc", "postgresql")


@pytest.fixture(scope="module", params=["mariadb", "mysql"])
def mariadb(request: pytest.FixtureRequest) -> Iterator[LineTalk]:
    yield from on_server("ado-odbc-mariadb", request.param)


@pytest.fixture
def sqlite(tmp_path: Path) -> Iterator[LineTalk]:
    sqlite3.connect(tmp_path / "db").close()
    yield from opened("mono-data-sqlite", on_sqlite(tmp_path / "db"))


def name(case: Case) -> str:
    return case.sql_type or str(case.column["type"])


@pytest.mark.parametrize("case", POSTGRESQL, ids=name)
def test_postgresql(postgresql: LineTalk, case: Case, tmp_path: Path) -> None:
    check(postgresql, case, tmp_path)


@pytest.mark.parametrize("case", MARIADB, ids=name)
def test_mariadb(mariadb: LineTalk, case: Case, tmp_path: Path) -> None:
    talk = mariadb
    talk.ask("run", statements=["SET SESSION sql_mode = ''"])
    check(talk, case, tmp_path, f"t{abs(hash(case.sql_type))}")


@pytest.mark.parametrize("case", SQLITE, ids=name)
def test_sqlite(sqlite: LineTalk, case: Case, tmp_path: Path) -> None:
    check(sqlite, case, tmp_path)


def test_postgresql_is_described(postgresql: LineTalk) -> None:
    talk = postgresql
    names = ("color", "small", "smaller", "pair")
    talk.ask("run", statements=[
        "CREATE TYPE color AS ENUM ('red')", "CREATE DOMAIN small AS int", "CREATE DOMAIN smaller AS small",
        "CREATE TYPE pair AS (a int)",
    ])  # fmt: skip
    types = [case.sql_type for case in POSTGRESQL] + [*names, "color[]", "smaller[]", "pair[]", "int4range", "money"]
    sql = f"SELECT {', '.join(f'NULL::{each} AS a' for each in types)}"
    described = dict(zip(types, talk.ask("describe", sql=sql)["columns"], strict=True))
    for case in POSTGRESQL:
        column = described[case.sql_type]
        kinds = (column["type"], [each["type"] for each in column.get("fields", ())])
        assert kinds == (case.column["type"], [each["type"] for each in case.column.get("fields", ())]), case.sql_type
        assert column.get("bits", 32) == case.column.get("bits", 32), case.sql_type
    assert [described[each]["type"] for each in names] == ["text", "integer", "integer", "opaque"]
    assert described["smaller"]["engine_type"] == "integer"
    assert [described[each]["fields"][0]["type"] for each in ("color[]", "smaller[]")] == ["text", "integer"]
    assert [described[each]["type"] for each in ("pair[]", "int4range", "money")] == ["opaque"] * 3
    assert talk.ask("describe", sql="SELECT")["columns"] == []


def test_mariadb_is_described(mariadb: LineTalk) -> None:
    """The driver counts bits in bytes."""
    talk = mariadb
    columns = "a BIGINT UNSIGNED, b TINYINT(1), c BIT(10), d BIT(1), e YEAR, f TIME, g GEOMETRY"
    talk.ask("run", statements=[f"CREATE TABLE described ({columns})"])
    described = talk.ask("describe", sql="SELECT * FROM described")["columns"]
    assert [(each["type"], each.get("bits", 32), each.get("length", 0)) for each in described] == [
        ("integer", 128, 0), ("integer", 16, 0), ("bits", 32, 16), ("bits", 32, 1), ("integer", 16, 0),
        ("time", 32, 0), ("opaque", 32, 0),
    ]  # fmt: skip


def test_what_was_refused_once_is_delivered(sqlite: LineTalk, tmp_path: Path) -> None:
    """NULL where none is allowed, an integer wider than declared, text that is no date, types without an own class."""
    for column, literal, data in (
        ({"type": "integer"}, "NULL", b"\0"),
        ({"type": "integer", "bits": 16}, "40000", b"N\5\0\0\x0040000"),
        ({"type": "date"}, "'2000-01-01 10:00:00'", b"d\xcd\x2a\0\0"),
        ({"type": "text"}, "5", b"S\1\0\0\x005"),
        ({"type": "decimal"}, "'x'", b"?\1\0\0\0x"),
        ({"type": "array"}, "'{1}'", b"?\3\0\0\0{1}"),
        ({"type": "uuid"}, "'x'", b"?\1\0\0\0x"),
    ):
        assert rows_of(sqlite, column, f"SELECT {literal} AS v", tmp_path) == [data], column


def test_a_lost_value_is_taken_once_more(postgresql: LineTalk, tmp_path: Path) -> None:
    """System.Data.Odbc hands a value over only once: the query is executed again, and the rows before it count once."""
    column = {"type": "decimal", "precision": 10, "scale": 2, "nullable": True}
    sql = "SELECT CASE WHEN i % 4 = 3 THEN 'NaN'::numeric(10,2) ELSE i END AS v FROM generate_series(1, 8) AS i"
    rows = rows_of(postgresql, column, sql, tmp_path)
    assert [row[5:] for row in rows] == [b"1", b"2", b"nan", b"4", b"5", b"6", b"nan", b"8"]
    reply = postgresql.ask("verify", phase="x", first=0, count=2)
    assert (reply["rows"], reply["converted"], reply["delivered"]) == (16, ["v"], ["String"])


@pytest.mark.parametrize("text", ["NaN", "inf", "1.5", "1E+60"])
def test_a_parameter_that_is_no_usual_number(postgresql: LineTalk, tmp_path: Path, text: str) -> None:
    column = Column("v", "decimal")
    count = codec.write_rows(tmp_path / "p", [(natural(text, column),)], [column])
    declared = [{"name": "v", "type": "decimal"}]
    phase = {"name": "p", "kind": "query", "sql": "SELECT CAST(? AS numeric) AS v", "columns": declared}
    slice_ = {"file": str(tmp_path / "p"), "first": 0, "count": count}
    prepared = postgresql.ask("prepare", phase={**phase, "parameter_columns": declared}, parameters=slice_)
    assert "error" not in prepared, prepared
    verified = postgresql.ask("verify", phase="p", first=0, count=1)
    assert verified["digest"] == codec.digest([(natural(text, column),)], [column])


def test_a_class_of_values_beside_the_declared_one(sqlite: LineTalk, tmp_path: Path) -> None:
    """Mono's GetValue converts to what the column is declared as, and fails; its other getters deliver the value."""
    with sqlite3.connect(tmp_path / "db") as connection:
        connection.execute("CREATE TABLE d (v DATETIME)")
        connection.executemany("INSERT INTO d VALUES (?)", [(1_700_000_000,), ("x",), (0.5,), (None,)])
    connection.close()
    column = {"type": "any", "nullable": True}
    spec = Column("v", "any")
    expected = [codec.encode_value(value, spec) for value in (1_700_000_000, "x", 0.5, None)]
    assert rows_of(sqlite, column, "SELECT v FROM d", tmp_path) == expected
