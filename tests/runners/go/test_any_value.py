"""Every type of an engine through the Go runner's drivers: usual, NULL, smallest, largest, no number, empty, long."""

from __future__ import annotations

import contextlib
import functools
import tempfile
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, date, datetime, time
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple
from uuid import UUID

import pytest

from rowpath.checks.conformance.paths import planned, reason_against
from rowpath.engines import ENGINES
from rowpath.engines.base import Instance, Place
from rowpath.execution.prepared_phases import PreparedPhase
from rowpath.execution.worker import Worker
from rowpath.model.workload import Column, Phase
from rowpath.planning.plan import PlannedPath
from rowpath.runners import manifest
from rowpath.runners.manifest import toolchain
from rowpath.runners.process import RunnerFailure
from rowpath.runners.protocol import Describe, DescribeReply, VerifyReply
from rowpath.workloads import codec
from tests.runners.protocol.any_result import started

go: Any = toolchain("go")
pytestmark = pytest.mark.skipif(go.tools_problem() is not None, reason="no Go")
TIMEOUT_S = 30.0
SHAPING = ("statement", "fetch", "format", "exec_mode", "pipeline")
INFINITE, ENDLESS = float("inf"), float("-inf")
UUID_TEXT = "00112233-4455-6677-8899-aabbccddeeff"


def number(text: str) -> bytes:
    return b"N" + len(text).to_bytes(4, "little") + text.encode()


def foreign(text: str) -> bytes:
    return b"?" + len(text).to_bytes(4, "little") + text.encode()


class Case(NamedTuple):
    """A column's type, and each value's SQL with what it says."""

    column: Column
    values: dict[str, Any]
    lost: dict[str, tuple[str, ...]] = {}  # by a coordinate: values of which the driver itself makes lost


def of(type: str, values: dict[str, Any], lost: dict[str, tuple[str, ...]] | None = None, **declared: Any) -> Case:
    return Case(Column("v", type, nullable=True, **declared), {**values, "NULL": None}, lost or {})  # type: ignore[arg-type]


def listed(element: str, values: dict[str, Any], **declared: Any) -> Case:
    return of("array", values, fields=(Column("", element, nullable=True, **declared),))  # type: ignore[arg-type]


PAIR = (Column("b", "integer", nullable=True), Column("a", "text", nullable=True))
ENTRY = (Column("key", "text", nullable=True), Column("value", "integer", nullable=True))
STORED = ("mariadb", "sqlite")

POSTGRESQL = {
    "int2": of("integer", {"7": 7, "(-32768)::int2": -32768, "32767": 32767}, bits=16),
    "int4": of("integer", {"7": 7, "-2147483648": -(1 << 31), "2147483647": (1 << 31) - 1}, bits=32),
    "int8": of("integer", {"7": 7, "-9223372036854775808": -(1 << 63), "9223372036854775807": (1 << 63) - 1}, bits=64),
    "oid": of("integer", {"7": 7, "4294967295": (1 << 32) - 1}, bits=64),
    "xid": of("integer", {"'7'": 7, "'4294967295'": (1 << 32) - 1}, bits=64),
    "xid8": of("integer", {"'7'": 7, "'18446744073709551615'": (1 << 64) - 1}, bits=128),
    "numeric": of(
        "decimal",
        {
            "1.50": Decimal("1.5"),
            "0": Decimal(0),
            "-1e-37": Decimal("-1e-37"),
            "1e300": Decimal("1e300"),
            "'NaN'": Decimal("nan"),
            "'Infinity'": Decimal("inf"),
            "'-Infinity'": Decimal("-inf"),
            "12345678901234567890.123456789012345": Decimal("12345678901234567890.123456789012345"),
        },
    ),
    "float4": of("float32", {"1.5": 1.5, "0.1": 0.1, "'NaN'": float("nan"), "'-Infinity'": ENDLESS, "'-0'": 0.0}),
    "float8": of("float64", {"1.5": 1.5, "5e-324": 5e-324, "'NaN'": float("nan"), "'Infinity'": INFINITE}),
    "bool": of("boolean", {"true": True, "false": False}),
    "text": of("text", {"'é€😀'": "é€😀", "''": "", "repeat('ab', 70000)": "ab" * 70000, "E'a\\tb\\nc'": "a\tb\nc"}),
    "varchar(10)": of("varchar", {"'a '": "a ", "''": ""}, length=10),
    "char(3)": of("char", {"'a'": "a", "''": "", "'abc'": "abc"}, length=3),
    "json": of("json", {"'{\"a\" : 1}'": '{"a" : 1}', "'null'": "null"}),
    "jsonb": of("json", {"'{\"a\":1}'": '{"a": 1}'}),
    "bytea": of("binary", {"'\\x00ff'": b"\x00\xff", "''": b""}),
    "mood": of("text", {"'sad'": "sad", "'é,\"'": 'é,"'}),
    "name": of("text", {"'n'": "n"}),
    "bit(9)": of("bits", {"B'101000001'": "101000001"}, length=9),
    "varbit": of("bits", {"B''": "", "B'0'": "0", "B'10100000'": "10100000"}),
    "date": of(
        "date",
        {
            "'2000-02-29'": date(2000, 2, 29),
            "'infinity'": INFINITE,
            "'-infinity'": ENDLESS,
            "'0044-03-15 BC'": "0044-03-15 BC",
            "'4713-11-24 BC'": "4713-11-24 BC",
            "'5874897-12-31'": "5874897-12-31",
        },
    ),
    "time": of("time", {"'12:34:56.789012'": time(12, 34, 56, 789012), "'00:00'": time(0), "'24:00'": "24:00:00"}),
    "timetz": of("timetz", {"'12:34:56.5+05'": "12:34:56.5+05:00", "'24:00:00-15:59'": "24:00:00-15:59"}),
    "timestamp": of(
        "timestamp",
        {
            "'2000-02-29 12:34:56.789012'": datetime(2000, 2, 29, 12, 34, 56, 789012),
            "'1969-12-31 23:59:59.5'": datetime(1969, 12, 31, 23, 59, 59, 500000),
            "'infinity'": INFINITE,
            "'-infinity'": ENDLESS,
            "'0044-03-15 12:00 BC'": "0044-03-15 12:00:00 BC",
            "'294276-12-31 23:59:59.999999'": "294276-12-31 23:59:59.999999",
        },
    ),
    "timestamptz": of(
        "timestamptz",
        {
            "'2000-02-29 12:34:56+02'": datetime(2000, 2, 29, 10, 34, 56, tzinfo=UTC),
            "'infinity'": INFINITE,
            "'0044-03-15 12:00+00 BC'": "0044-03-15 12:00:00+00:00 BC",
            "'294276-12-31 23:59:59+00'": "294276-12-31 23:59:59+00:00",
        },
    ),
    "interval": of(
        "interval",
        {
            "'1 year 2 mons -3 days +04:05:06.7'": (14, -3, 14706700000000),
            "'-1 mon 1 day -00:00:00.000001'": (-1, 1, -1000),
            "'0'": (0, 0, 0),
            "'infinity'": INFINITE,
            "'-infinity'": ENDLESS,
        },
    ),
    "uuid": of("uuid", {f"'{UUID_TEXT}'": UUID(UUID_TEXT)}),
    "int4[]": listed(
        "integer",
        {
            "'{1,NULL,-2}'": [1, None, -2],
            "'{}'": [],
            "'{{1,2},{3,4}}'": [[1, 2], [3, 4]],
            "'[0:1]={1,2}'": codec.Bounded(0, [1, 2]),
            "'[-2:-2][5:5]={{1}}'": codec.Bounded(-2, [codec.Bounded(5, [1])]),
        },
        bits=32,
    ),
    "text[]": listed(
        "text", {"ARRAY['a', NULL, 'NULL', '', 'x,y', '\"\\{}']": ["a", None, "NULL", "", "x,y", '"\\{}']}
    ),
    "numeric[]": listed("decimal", {"'{NaN,1.50,NULL}'": [Decimal("nan"), Decimal("1.5"), None]}),
    "bool[]": listed("boolean", {"'{t,f,NULL}'": [True, False, None]}),
    "float4[]": listed("float32", {"'{0.1,NaN}'": [0.1, float("nan")]}),
    "date[]": listed("date", {"'{2000-02-29,infinity,NULL}'": [date(2000, 2, 29), INFINITE, None]}),
    "time[]": listed("time", {"'{24:00,12:00}'": ["24:00:00", time(12)]}),
    "timetz[]": listed("timetz", {"'{12:00+05}'": ["12:00:00+05:00"]}),
    "timestamp[]": listed(
        "timestamp", {"'{2000-02-29 12:34:56,-infinity}'": [datetime(2000, 2, 29, 12, 34, 56), ENDLESS]}
    ),
    "timestamptz[]": listed(
        "timestamptz", {"'{2000-02-29 12:34:56+02}'": [datetime(2000, 2, 29, 10, 34, 56, tzinfo=UTC)]}
    ),
    "interval[]": listed("interval", {"'{1 day,-infinity}'": [(0, 1, 0), ENDLESS]}),
    "uuid[]": listed("uuid", {f"'{{{UUID_TEXT}}}'": [UUID(UUID_TEXT)]}),
    "bytea[]": listed("binary", {"ARRAY['\\x00ff'::bytea, '', NULL]": [b"\x00\xff", b"", None]}),
    "jsonb[]": listed("json", {"ARRAY['{\"a\": 1}'::jsonb, NULL]": ['{"a": 1}', None]}),
    "varbit[]": listed("bits", {"ARRAY[B'101'::varbit]": ["101"]}),
    "mood[]": listed("text", {"'{sad,NULL}'": ["sad", None]}),
}
LONGEST_TIME = "838:59:59.999999"
MARIADB = {
    "TINYINT(1)": of("integer", {"-1": -1, "0": 0, "1": 1, "2": 2, "127": 127}, bits=16),
    "BIGINT": of("integer", {"7": 7, "-9223372036854775808": -(1 << 63)}, bits=64),
    "BIGINT UNSIGNED": of("integer", {"7": 7, "18446744073709551615": (1 << 64) - 1}, bits=64),
    "YEAR": of("integer", {"0": 0, "2155": 2155}, bits=16),
    "DECIMAL(65,30)": of("decimal", {"-1.5": Decimal("-1.5"), "1e-30": Decimal("1e-30"), "9e34": Decimal("9e34")}),
    "FLOAT": of("float32", {"1.5": 1.5, "0.1": 0.1, "-3.4e38": -3.4e38}),
    "DOUBLE": of("float64", {"1.5": 1.5, "0.1": 0.1, "1.7e308": 1.7e308}),
    "CHAR(5)": of("char", {"'ab'": "ab", "''": "", "'é€😀'": "é€😀"}, length=5),
    "LONGTEXT": of("text", {"'é€😀'": "é€😀", "''": "", "'a\0b'": "a\0b", "REPEAT('ab', 70000)": "ab" * 70000}),
    "VARCHAR(9) CHARACTER SET latin1": of("varchar", {"'é'": "é"}, length=9),
    "LONGBLOB": of("binary", {"X'00ff'": b"\x00\xff", "''": b""}),
    "BIT(10)": of("bits", {"b'1000000001'": "1000000001", "b'1'": "0000000001"}, length=10),
    "BIT(64)": of("bits", {"b'1'": "0" * 63 + "1"}, length=64),
    "DATE": of(
        "date",
        {"'2000-02-29'": date(2000, 2, 29), "'0001-01-01'": date(1, 1, 1), "'9999-12-31'": date(9999, 12, 31)},
    ),
    "TIME(6)": of(
        "time",
        {
            "'12:34:56.789012'": time(12, 34, 56, 789012),
            "'25:30:00'": "25:30:00",
            "'-01:00:00'": "-01:00:00",
            f"'{LONGEST_TIME}'": LONGEST_TIME,
            f"'-{LONGEST_TIME}'": f"-{LONGEST_TIME}",
            "'-00:00:00.5'": "-00:00:00.5",
        },
    ),
    "DATETIME(6)": of(
        "timestamp",
        {
            "'2000-02-29 12:34:56.789012'": datetime(2000, 2, 29, 12, 34, 56, 789012),
            "'9999-12-31 23:59:59.999999'": datetime(9999, 12, 31, 23, 59, 59, 999999),
        },
    ),
    "JSON": of("json", {"'{\"a\" : 1}'": '{"a" : 1}'}),
    "ENUM('sad','glad')": of("text", {"'glad'": "glad"}),
    "SET('a','b')": of("text", {"'a,b'": "a,b", "''": ""}),
    "UUID": of("uuid", {f"'{UUID_TEXT}'": UUID(UUID_TEXT)}),
    "INET6": of("text", {"'::1'": "::1"}),
}
SQLITE = {
    "INTEGER": of(
        "integer", {"7": 7, "-9223372036854775808": -(1 << 63), "9223372036854775807": (1 << 63) - 1}, bits=64
    ),
    "REAL": of("float64", {"1.5": 1.5, "9e999": INFINITE, "-9e999": ENDLESS, "0.1": 0.1}),
    "TEXT": of(
        "text",
        {
            "'é€😀'": "é€😀",
            "''": "",
            "'bar' || char(0) || 'baz'": "bar\0baz",
            "CAST(X'ff00fe41' AS TEXT)": b"\xff\x00\xfeA",
        },
    ),
    "BLOB": of("binary", {"X'00ff'": b"\x00\xff", "X''": b""}),
    "": of(
        "any",
        {"9007199254740993": 9007199254740993, "0.5": 0.5, "1.0": 1.0, "'1'": "1", "X'00ff'": b"\x00\xff", "''": ""},
    ),
    "DECIMAL_TEXT TEXT": of(
        "decimal", {"'1.50'": Decimal("1.5"), "'nan'": Decimal("nan"), "'1e300'": Decimal("1e300")}
    ),
    "DATE_TEXT TEXT": of("date", {"'2000-02-29'": date(2000, 2, 29), "'0000-00-00'": "0000-00-00"}),
    "TIME_TEXT TEXT": of("time", {"'12:34:56.5'": time(12, 34, 56, 500000), "'24:00:00'": "24:00:00"}),
    "BOOL TEXT": of("boolean", {"1": True, "0": False}),
}
UNSIGNED_128 = "340282366920938463463374607431768211455"
DUCKDB = {
    "TINYINT": of("integer", {"7": 7, "-128": -128}, bits=16),
    "SMALLINT": of("integer", {"-32768": -32768}, bits=16),
    "INTEGER": of("integer", {"-2147483648": -(1 << 31)}, bits=32),
    "UINTEGER": of("integer", {"4294967295": (1 << 32) - 1}, bits=64),
    "BIGINT": of("integer", {"-9223372036854775808": -(1 << 63)}, bits=64),
    "UBIGINT": of("integer", {"7": 7, "18446744073709551615": (1 << 64) - 1}, bits=128),
    "HUGEINT": of("integer", {"7": 7, "170141183460469231731687303715884105727": (1 << 127) - 1}, bits=128),
    "UHUGEINT": of("integer", {"7": 7, UNSIGNED_128: (1 << 128) - 1}, {"columnar": (UNSIGNED_128,)}, bits=128),
    "DECIMAL(38,10)": of("decimal", {"-1.5": Decimal("-1.5"), "'9999999999999999999999999999'": Decimal("9" * 28)}),
    "DECIMAL(4,2)": of("decimal", {"-1.5": Decimal("-1.5")}),
    "FLOAT": of("float32", {"0.1": 0.1, "'nan'": float("nan"), "'inf'": INFINITE}),
    "DOUBLE": of("float64", {"0.1": 0.1, "'nan'": float("nan"), "'-inf'": ENDLESS}),
    "BOOLEAN": of("boolean", {"true": True, "false": False}),
    "VARCHAR": of(
        "text", {"'é€😀'": "é€😀", "''": "", "'a' || chr(0) || 'b'": "a\0b", "repeat('ab', 70000)": "ab" * 70000}
    ),
    "BLOB": of("binary", {"'\\x00\\xff'": b"\x00\xff", "''": b""}),
    "JSON": of("json", {"'{\"a\" : 1}'": '{"a" : 1}'}),
    "BIT": of("bits", {"'1'": "1", "'101000001'": "101000001"}),
    "DATE": of(
        "date", {"'2000-02-29'": date(2000, 2, 29), "'infinity'": INFINITE, "'0044-03-15 (BC)'": "0044-03-15 BC"}
    ),
    "TIME": of(
        "time", {"'12:34:56.789012'": time(12, 34, 56, 789012), "'24:00:00'": "24:00:00"}, {"row": ("'24:00:00'",)}
    ),
    "TIMETZ": of("timetz", {"'12:34:56.5+05'": "12:34:56.5+05:00"}, {"columnar": ("'12:34:56.5+05'",)}),
    "TIMESTAMP": of(
        "timestamp",
        {
            "'2000-02-29 12:34:56.789012'": datetime(2000, 2, 29, 12, 34, 56, 789012),
            "'infinity'": INFINITE,
            "'-infinity'": ENDLESS,
            "'0044-03-15 (BC) 12:00:00'": "0044-03-15 12:00:00 BC",
            "'294246-12-31 23:59:59.999999'": "294246-12-31 23:59:59.999999",
        },
    ),
    "TIMESTAMP_S": of(
        "timestamp", {"'2000-02-29 12:34:56'": datetime(2000, 2, 29, 12, 34, 56), "'infinity'": INFINITE}
    ),
    "TIMESTAMP_MS": of("timestamp", {"'1969-12-31 23:59:59.5'": "1969-12-31 23:59:59.5", "'-infinity'": ENDLESS}),
    "TIMESTAMP_NS": of(
        "timestamp",
        {"'2000-02-29 12:34:56.789012345'": "2000-02-29 12:34:56.789012345", "'infinity'": INFINITE},
    ),
    "TIMESTAMPTZ": of(
        "timestamptz",
        {"'2000-02-29 12:34:56+02'": datetime(2000, 2, 29, 10, 34, 56, tzinfo=UTC), "'infinity'": INFINITE},
    ),
    "INTERVAL": of(
        "interval", {"'1 year 2 months -3 days 00:00:01.5'": (14, -3, 1500000000), "'-1 month 1 day'": (-1, 1, 0)}
    ),
    "UUID": of("uuid", {f"'{UUID_TEXT}'": UUID(UUID_TEXT)}),
    "ENUM('sad','glad')": of("text", {"'glad'": "glad"}),
    "INTEGER[]": listed("integer", {"[1, NULL, -2]": [1, None, -2], "[]": []}, bits=32),
    "VARCHAR[]": listed("text", {"['a', NULL, '']": ["a", None, ""]}),
    "TIMESTAMP_NS[]": listed("timestamp", {"['2000-02-29 12:34:56.789012345']": ["2000-02-29 12:34:56.789012345"]}),
    "DECIMAL(9,2)[2]": listed("decimal", {"[1.5, NULL]": [Decimal("1.5"), None]}),
    "UUID[]": listed("uuid", {f"['{UUID_TEXT}', NULL]": [UUID(UUID_TEXT), None]}),
    "BIT[]": listed("bits", {"['101']": ["101"]}),
    "BLOB[]": listed("binary", {"['\\x00\\xff', '']": [b"\x00\xff", b""]}),
    "INTERVAL[]": listed("interval", {"['1 month', '-1 day']": [(1, 0, 0), (0, -1, 0)]}),
    "HUGEINT[]": listed("integer", {"[170141183460469231731687303715884105727]": [(1 << 127) - 1]}, bits=128),
    "ENUM('sad','glad')[]": listed("text", {"['glad', NULL]": ["glad", None]}),
    "FLOAT[]": listed("float32", {"['0.1', 'nan']": [0.1, float("nan")]}),
    "BOOLEAN[]": listed("boolean", {"[true, NULL]": [True, None]}),
    "DATE[]": listed("date", {"['2000-02-29', 'infinity']": [date(2000, 2, 29), INFINITE]}),
    "TIMESTAMPTZ[]": listed("timestamptz", {"['-infinity', NULL]": [ENDLESS, None]}),
    "MAP(INTEGER, VARCHAR[])": of(
        "map",
        {"MAP {2: ['b', NULL], 10: []}": {2: ["b", None], 10: []}},
        fields=(
            Column("key", "integer", nullable=True),
            Column("value", "array", nullable=True, fields=(Column("", "text", nullable=True),)),
        ),
    ),
    'STRUCT("a b, ""c""" DECIMAL(9,2), m MAP(VARCHAR, DATE))': of(
        "struct",
        {"{'a b, \"c\"': 1.5, 'm': MAP {'k': DATE '2000-02-29'}}": [Decimal("1.5"), {"k": date(2000, 2, 29)}]},
        fields=(
            Column('a b, "c"', "decimal", precision=9, scale=2, nullable=True),
            Column("m", "map", nullable=True, fields=(ENTRY[0], Column("value", "date", nullable=True))),
        ),
    ),
    "INTEGER[][]": of(
        "array",
        {"[[1], [], NULL, [2, 3]]": [[1], [], None, [2, 3]]},
        fields=(Column("", "array", nullable=True, fields=(Column("", "integer", nullable=True),)),),
    ),
    "STRUCT(b INTEGER, a VARCHAR)": of(
        "struct", {"{'b': 1, 'a': 'x'}": [1, "x"], "{'b': NULL, 'a': NULL}": [None, None]}, fields=PAIR
    ),
    "STRUCT(b INTEGER, a VARCHAR)[]": of(
        "array",
        {"[{'b': 1, 'a': 'x'}, NULL]": [[1, "x"], None]},
        fields=(Column("", "struct", nullable=True, fields=PAIR),),
    ),
    "MAP(VARCHAR, INTEGER)": of("map", {"MAP {'b': 1, 'a': NULL}": {"b": 1, "a": None}, "MAP {}": {}}, fields=ENTRY),
    "UNION(n INTEGER, s VARCHAR)": of("any", {"union_value(n := 1)": 1, "union_value(s := 'x')": "x"}),
}
SETTING_UP = {
    "postgresql": ["CREATE TYPE mood AS ENUM ('sad', 'é,\"')"],
    "mariadb": ["SET SESSION sql_mode = ''"],
}
TABLES = {"postgresql": POSTGRESQL, "mariadb": MARIADB, "sqlite": SQLITE, "duckdb": DUCKDB}


Workers = Callable[[str], Iterator[Worker]]


@pytest.fixture(scope="module")
def workers() -> Iterator[Workers]:
    """What opens a runner on each path of an engine, types and tables there; each is closed before the next.

    A server is started once, at its first test.
    """
    with contextlib.ExitStack() as stack:

        @functools.cache
        def served(engine: str) -> Instance:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            instance = stack.enter_context(contextlib.contextmanager(started)(engine, folder))
            first = next(each_worker(engine, instance))
            set_up(first, engine)
            first.close()
            return instance

        def opened(engine: str) -> Iterator[Worker]:
            kind = ENGINES[engine]
            if not kind.availability().ok:
                pytest.skip(kind.availability().reason)
            if kind.deployments[0] == "server":
                yield from each_worker(engine, served(engine))
                return
            with tempfile.TemporaryDirectory() as name:
                folder = Path(name)
                instance = kind.instance(kind.deployments[0], kind.durabilities[-1], Place(folder, folder, (0,)))
                for number, worker in enumerate(each_worker(engine, instance, path=str(folder / "database"))):
                    if number == 0:  # the driver makes the file
                        set_up(worker, engine)
                    yield worker

        yield opened


def each_worker(engine: str, instance: Instance, **options: str) -> Iterator[Worker]:
    for each in paths(engine):
        worker = Worker(each, instance, log=lambda _line: None, timeout_s=TIMEOUT_S)
        worker.open(**options)
        yield worker
        worker.close()


@functools.cache
def paths(engine: str) -> list[PlannedPath]:
    """Each of the runner's ways to have a result."""
    found, known = [], set()
    for adapter in manifest.load_manifest("go").adapter:
        if engine in adapter.engines:
            for each in planned(
                adapter, "values", {"engine": (engine,), "deployment": (ENGINES[engine].deployments[0],)}
            ):
                shape = (adapter.driver, *(each.path.get(key) for key in SHAPING))
                if shape not in known and not reason_against(each):
                    known.add(shape)
                    found.append(each)
    manifest.build([(each.adapter, each.path.get("version")) for each in found])
    return found


def set_up(worker: Worker, engine: str) -> None:
    """Types, and a table for each case where a cast is no way to a column of its type."""
    worker.run(SETTING_UP.get(engine, []))
    if engine in STORED:
        for number, (kind, case) in enumerate(TABLES[engine].items()):
            worker.run([f"CREATE TABLE t{number} (v {kind})"])
            worker.run([f"INSERT INTO t{number} VALUES ({sql})" for sql in case.values])


def query_of(values: Iterable[str], kind: str, engine: str) -> str:
    if engine in STORED:
        return f"SELECT v FROM t{list(TABLES[engine]).index(kind)}"
    if engine == "postgresql":
        return "SELECT v FROM (VALUES " + ", ".join(f"(({sql})::{kind})" for sql in values) + ") AS t (v)"
    return " UNION ALL ".join(f"SELECT CAST({sql} AS {kind}) AS v" for sql in values)


def verified(worker: Worker, sql: str, *columns: Column) -> VerifyReply:
    """What came, the same inside the clock."""
    work = PreparedPhase("any.value", Phase("value", "query", sql, columns=columns), sql, columns, (), None, 0)
    worker.prepare(work)
    cold = worker.sample(work, "cold", operations=1, first=0).reply
    reply = worker.verify(work, 0, 1)
    assert (cold.touch, cold.rows, cold.failed) == (reply.touch, reply.rows, 0), cold
    return reply


def wrong(worker: Worker, name: str, sql: str, column: Column, values: list[Any]) -> Iterator[str]:
    """What is not as the SQL says."""
    try:
        reply = verified(worker, sql, column)
    except (RunnerFailure, AssertionError) as failure:
        yield f"{worker.planned.name}: {name}: {failure}"
        return
    if reply.digest != codec.digest([(value,) for value in values], [column]):
        yield f"{worker.planned.name}: {name}: {reply.columns[0].reason or 'other values'} ({reply.delivered})"


def all_wrong(engine: str, workers: Workers) -> Iterator[str]:
    for worker in workers(engine):
        path = worker.planned.path
        for name, case in TABLES[engine].items():
            lost = {sql for key in SHAPING for sql in case.lost.get(path.get(key), ())}
            values = {sql: value for sql, value in case.values.items() if sql not in lost}
            yield from wrong(worker, name, query_of(values, name, engine), case.column, list(values.values()))


@pytest.mark.parametrize("engine", TABLES)
def test_every_value_is_what_the_sql_says(engine: str, workers: Workers) -> None:
    assert list(all_wrong(engine, workers)) == []


UNDECLARED = {  # what was refused once: a query's values, the column that is declared, the values' bytes
    "NULL where none is allowed": (["NULL"], Column("v", "integer"), [b"\0"]),
    "wider than declared": (
        ["40000", "9999999999"],
        Column("v", "integer", bits=16),
        [number("40000"), number("9999999999")],
    ),
    "a fraction in an integer": (["1.5"], Column("v", "integer"), [number("1.5")]),
    "no number": (["'x'"], Column("v", "decimal"), [foreign("x")]),
    "no integer": (["'x'"], Column("v", "integer"), [foreign("x")]),
    "no date": (["'x'", "'2000-02-29'"], Column("v", "date"), [foreign("x"), bytes.fromhex("6408 2b0000")]),
    "no timestamp": (["'x'"], Column("v", "timestamptz"), [foreign("x")]),
    "no time": (["'x'"], Column("v", "time"), [foreign("x")]),
    "no interval": (["'x'"], Column("v", "interval"), [foreign("x")]),
    "no uuid": (["'x'"], Column("v", "uuid"), [foreign("x")]),
    "no array": (["'x'"], Column("v", "array"), [foreign("x")]),
    "no map": (["'x'"], Column("v", "map"), [foreign("x")]),
    "a number as text": (["5"], Column("v", "text"), [b"S\1\0\0\x005"]),
}


@pytest.mark.parametrize("engine", TABLES)
def test_a_value_of_another_kind_than_declared_is_delivered(engine: str, workers: Workers) -> None:
    found = []
    for worker in workers(engine):
        for name, (values, column, expected) in UNDECLARED.items():
            sql = " UNION ALL ".join(f"SELECT {value} AS v" for value in values)
            reply = verified(worker, sql, column)
            total = sum(map(codec.row_hash, expected)) & codec.MASK64
            foreign = sum(value.startswith(b"?") for value in expected)
            if (reply.digest, reply.columns[0].foreign) != (f"{len(values)}:{total:016x}", foreign):
                found.append(f"{worker.planned.name}: {name}: {reply.columns} {reply.delivered}")
    assert found == []


@pytest.mark.parametrize("pipeline", ["off", "10"])
def test_operations_go_on_behind_a_value_that_pgx_does_not_take(
    pipeline: str, workers: Workers, tmp_path: Path
) -> None:
    key, column = Column("k", "integer"), Column("v", "integer")
    expected = [None if number == 3 else number for number in range(20)]
    codec.write_rows(tmp_path / "rows", [(number,) for number in range(20)], [key])
    sql = "SELECT CASE WHEN k = 3 THEN NULL ELSE k END AS v FROM (VALUES (CAST(? AS integer))) AS t (k)"
    phase = Phase("value", "query", sql, columns=(column,))
    work = PreparedPhase("any.value", phase, sql, (column,), (key,), tmp_path / "rows", 20)
    every = workers("postgresql")
    worker = next(each for each in every if each.planned.path.driver == "pgx")
    worker.close()
    worker = Worker(worker.planned, worker.instance, log=lambda _line: None, timeout_s=TIMEOUT_S)
    worker.open(pipeline=pipeline)
    worker.prepare(work)
    cold = worker.sample(work, "cold", operations=20, first=0).reply
    assert (cold.rows, cold.failed, int(cold.touch, 16)) == (20, 0, sum(range(20)) - 3 + 1)
    worker.prepare(work)  # whose slots are new
    reply = worker.verify(work, 0, 20)
    assert (reply.digest, reply.touch) == (codec.digest([(each,) for each in expected], [column]), cold.touch)
    worker.close()


GIVEN: dict[str, tuple[str, str, list[Any]]] = {
    "postgresql": ("numeric", "decimal", [Decimal("nan"), Decimal("inf"), Decimal("-inf"), Decimal("1e300")]),
    "duckdb": ("HUGEINT", "integer", [(1 << 127) - 1, -(1 << 100), 7]),
}


@pytest.mark.parametrize("engine", GIVEN)
def test_numbers_of_any_size_go_in_and_out(engine: str, workers: Workers, tmp_path: Path) -> None:
    kind, logical, values = GIVEN[engine]
    column = Column("v", logical, bits=128, nullable=True)  # type: ignore[arg-type]
    codec.write_rows(tmp_path / "rows", [(value,) for value in values], [column])
    sql = f"SELECT CAST(? AS {kind}) AS v"
    phase, count = Phase("value", "query", sql, columns=(column,)), len(values)
    work = PreparedPhase("any.value", phase, sql, (column,), (column,), tmp_path / "rows", count)
    for worker in workers(engine):
        worker.prepare(work)
        reply = worker.verify(work, 0, count)
        assert reply.digest == codec.digest([(value,) for value in values], [column]), worker.planned.name


@pytest.mark.parametrize("engine", TABLES)
def test_columns_of_one_name_and_none_at_all(engine: str, workers: Workers) -> None:
    same = (Column("a", "integer", nullable=True), Column("a", "text", nullable=True))
    for worker in workers(engine):
        reply = verified(worker, "SELECT 1 AS a, 'b' AS a", *same)
        assert reply.digest == codec.digest([(1, "b")], same), worker.planned.name
        if engine == "postgresql":
            reply = verified(worker, "SELECT FROM generate_series(1, 3)")
            assert (reply.digest, reply.columns) == (codec.digest([()] * 3, ()), []), worker.planned.name


@pytest.mark.parametrize(("engine", "driver"), [("postgresql", "pgx"), ("duckdb", "duckdb-go")])
def test_every_type_is_described(engine: str, driver: str, workers: Workers) -> None:
    every = workers(engine)  # kept: an embedded engine's folder goes with it
    worker = next(each for each in every if each.planned.path.driver == driver)
    wrong = []
    for name, case in TABLES[engine].items():
        described = worker.runner.request(
            Describe, TIMEOUT_S, sql=query_of(case.values, name, engine), expect=DescribeReply
        ).columns[0]
        if spelt(described) != spelt(case.column) or not described.engine_type:
            wrong.append(f"{name}: {spelt(described)}")
    worker.close()
    assert wrong == []


def spelt(column: Any) -> str:
    """A declaration without what a described one has more."""
    inner = ", ".join(f"{each.name} {spelt(each)}".strip() for each in column.fields)
    bits = column.bits if column.type == "integer" else ""
    return f"{column.type}{bits}({inner})"
