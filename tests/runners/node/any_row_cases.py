"""Values of every type by engine: the usual one, the smallest, the largest, what is no number, empty, awkward.

Each as SQL, its column's declaration, and what it says as a natural value (`Case.value`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from typing import Any
from uuid import UUID

from rowpath.model.workload import Column, ColumnSpec
from rowpath.workloads.codec import Bounded

INFINITY = float("inf")
NAN = float("nan")


@dataclass
class Case:
    """One value; `own`: what drivers make of it that deliver another, in ways of their own.

    `other_kind`: a driver delivers it as no value of the column's type, so what it adds to the touch sum is free.
    """

    sql: str
    column: Column
    value: Any
    own: dict[str, Any] = field(default_factory=dict)
    other_kind: bool = False


@dataclass
class As:
    """The value of a column of any type that has this one."""

    column: Column
    value: Any


def of(kind: Any, **declared: Any) -> Column:
    """A column of the type."""
    return Column(name="a", type=kind, nullable=True, **declared)


def array_of(kind: str, **declared: Any) -> Column:
    """A column of arrays."""
    return of("array", fields=(ColumnSpec("", kind, nullable=True, **declared),))


def fields(**types: str) -> tuple[ColumnSpec, ...]:
    """Fields by name and type."""
    return tuple(ColumnSpec(name, kind, nullable=True) for name, kind in types.items())


BIG, INT, DECIMAL, TEXT, ANY = of("integer", bits=64), of("integer"), of("decimal"), of("text"), of("any")
HUGE = of("integer", bits=128)
DATE, TIME, TIMETZ, INTERVAL, BITS = of("date"), of("time"), of("timetz"), of("interval"), of("bits")
TIMESTAMP, TIMESTAMPTZ = of("timestamp"), of("timestamptz")
LONG = "x" * 70_000

POSTGRESQL = [
    Case("NULL::int", INT, None),
    Case("(-32768)::int2", of("integer", bits=16), -32768),
    Case("2147483647", INT, 2147483647),
    Case("(-9223372036854775808)::int8", BIG, -9223372036854775808),
    Case("4294967295::oid", BIG, 4294967295),
    Case("'4294967295'::xid", BIG, 4294967295),
    Case("'NaN'::numeric", DECIMAL, Decimal("NaN")),
    Case("'Infinity'::numeric", DECIMAL, Decimal("Infinity")),
    Case("'-Infinity'::numeric", DECIMAL, Decimal("-Infinity")),
    Case("1e300::numeric", DECIMAL, Decimal("1e300")),
    Case("1e-37::numeric", DECIMAL, Decimal("1e-37")),
    Case("(-0.5)::numeric", DECIMAL, Decimal("-0.5")),
    Case("12345678901234567890.123456789012345", DECIMAL, Decimal("12345678901234567890.123456789012345")),
    Case("'NaN'::float8", of("float64"), NAN),
    Case("'-Infinity'::float4", of("float32"), -INFINITY),
    Case("1.7976931348623157e308::float8", of("float64"), 1.7976931348623157e308),
    Case("(-0.0)::float8", of("float64"), 0.0),
    Case("true", of("boolean"), True),
    Case("'a '::char(5)", of("char", length=5), "a"),
    Case("''::text", TEXT, ""),
    Case("'é€😀'::varchar", of("varchar"), "é€😀"),
    Case(f"repeat('x', {len(LONG)})", TEXT, LONG),
    Case("'{\"a\": 1.50}'::json", of("json"), '{"a": 1.50}'),
    Case("''::bytea", of("binary"), b""),
    Case("'\\x00ff'::bytea", of("binary"), b"\x00\xff"),
    Case("B''::varbit", BITS, ""),
    Case("B'101000001'", BITS, "101000001"),
    Case("'2000-02-29'::date", DATE, date(2000, 2, 29)),
    Case("'infinity'::date", DATE, INFINITY),
    Case("'0044-03-15 BC'::date", DATE, "0044-03-15 BC"),
    Case("'0351-02-28 BC'::date", DATE, "0351-02-28 BC"),
    Case("'4714-11-24 BC'::date", DATE, "4714-11-24 BC"),
    Case("'5874897-12-31'::date", DATE, "5874897-12-31"),
    Case("'24:00'::time", TIME, "24:00:00"),
    Case("'23:59:59.999999'::time", TIME, "23:59:59.999999"),
    Case("'12:34:56.5+05:30'::timetz", TIMETZ, "12:34:56.5+05:30"),
    Case("'24:00:00-15:59:59'::timetz", TIMETZ, "24:00:00-15:59:59"),
    Case("'2000-11-07 01:02:03.456789'::timestamp", TIMESTAMP, "2000-11-07 01:02:03.456789"),
    Case("'-infinity'::timestamp", TIMESTAMP, -INFINITY),
    Case("'infinity'::timestamptz", TIMESTAMPTZ, INFINITY),
    Case("'294276-12-31 23:59:59.999999'::timestamp", TIMESTAMP, "294276-12-31 23:59:59.999999"),
    Case("'4714-11-24 00:00:00 BC'::timestamp", TIMESTAMP, "4714-11-24 00:00:00 BC"),
    Case("'0044-03-15 12:00:00+02 BC'::timestamptz", TIMESTAMPTZ, "0044-03-15 10:00:00+00 BC"),
    Case("'infinity'::interval", INTERVAL, INFINITY),
    Case("'-infinity'::interval", INTERVAL, -INFINITY),
    Case("'1 year -2 months +3 days -04:05:06.789'::interval", INTERVAL, (10, 3, -14_706_789_000_000)),
    Case("'-178000000 years'::interval", INTERVAL, (-2_136_000_000, 0, 0)),
    Case("'100000 hours'::interval", INTERVAL, (0, 0, 360_000_000_000_000_000)),
    Case("'00112233-4455-6677-8899-aabbccddeeff'::uuid", of("uuid"), UUID("00112233-4455-6677-8899-aabbccddeeff")),
    Case("'{}'::int[]", array_of("integer"), []),
    Case("'{1,NULL,-3}'::int[]", array_of("integer"), [1, None, -3]),
    Case("'{1,NULL,-3}'::int[]", of("array"), [1, None, -3]),
    Case("'{{1,2},{3,NULL}}'::int[]", array_of("integer"), [[1, 2], [3, None]]),
    Case("'[0:1]={1,2}'::int[]", array_of("integer"), Bounded(0, [1, 2])),
    Case("'[-2:-2][5:6]={{1,2}}'::int8[]", array_of("integer", bits=64), Bounded(-2, [Bounded(5, [1, 2])])),
    Case("'{9223372036854775807}'::int8[]", array_of("integer", bits=64), [9223372036854775807]),
    Case(
        "'{NaN,1.50,Infinity}'::numeric[]", array_of("decimal"), [Decimal("NaN"), Decimal("1.5"), Decimal("Infinity")]
    ),
    Case("'{12345678901234567890.5}'::numeric[]", array_of("decimal"), [Decimal("12345678901234567890.5")]),
    Case("'{1.5,NaN,-Infinity,NULL}'::float8[]", array_of("float64"), [1.5, NAN, -INFINITY, None]),
    Case("'{t,NULL,f}'::bool[]", array_of("boolean"), [True, None, False]),
    Case(
        """ARRAY['a', NULL, '', 'NULL', 'é"\\,{}', E'x\\ny']""",
        array_of("text"),
        ["a", None, "", "NULL", 'é"\\,{}', "x\ny"],
    ),
    Case("ARRAY[['a','b'],['c','d']]", array_of("text"), [["a", "b"], ["c", "d"]]),
    Case(
        "'[2:3]={a,b}'::text[]", array_of("text"), Bounded(2, ["a", "b"]), {"pg": ["a", "b"], "pg-native": ["a", "b"]}
    ),
    Case("ARRAY['\\x00ff'::bytea, NULL, '']", array_of("binary"), [b"\x00\xff", None, b""]),
    Case("ARRAY[B'101'::varbit]", array_of("bits"), ["101"]),
    Case("ARRAY['a '::char(3)]", of("array", fields=(ColumnSpec("", "char", length=3),)), ["a"]),
    Case(
        "'{2000-02-29,infinity,0044-03-15 BC}'::date[]",
        array_of("date"),
        [date(2000, 2, 29), INFINITY, "0044-03-15 BC"],
    ),
    Case("'{24:00,00:00:00.000001}'::time[]", array_of("time"), ["24:00:00", "00:00:00.000001"]),
    Case("'{12:00+05:30}'::timetz[]", array_of("timetz"), ["12:00:00+05:30"]),
    Case(
        "'{2000-01-01 00:00:00.000001,-infinity}'::timestamp[]",
        array_of("timestamp"),
        ["2000-01-01 00:00:00.000001", -INFINITY],
    ),
    Case("'{2000-01-01 02:00:00+02}'::timestamptz[]", array_of("timestamptz"), ["2000-01-01 00:00:00+00"]),
    Case("'{1 day -00:00:01.5}'::interval[]", array_of("interval"), [(0, 1, -1_500_000_000)]),
    Case("""ARRAY['{"a": "x,y"}'::json, '[1.50]']""", array_of("json"), ['{"a": "x,y"}', "[1.50]"]),
    Case(
        "ARRAY['00112233-4455-6677-8899-aabbccddeeff'::uuid]",
        array_of("uuid"),
        [UUID("00112233-4455-6677-8899-aabbccddeeff")],
    ),
    Case("ARRAY['n'::name]", array_of("text"), ["n"]),
    Case("'(1,2)'::point", of("opaque"), ""),
    Case("ROW(1, 'a\"b')", of("opaque"), ""),
    Case("int4range(1, 5)", of("opaque"), ""),
    Case("'16/B374D848'::pg_lsn", of("opaque"), ""),
]

MYSQL = [
    Case("NULL", INT, None),
    Case("CAST(-128 AS SIGNED)", INT, -128),
    Case("CAST(18446744073709551615 AS UNSIGNED)", BIG, 18446744073709551615),
    Case("CAST(-9223372036854775807 - 1 AS SIGNED)", BIG, -9223372036854775808),
    Case("CAST('99999999999999999999999999999999999.99' AS DECIMAL(65,2))", DECIMAL, Decimal("9" * 35 + ".99")),
    Case("CAST(-0.5 AS DECIMAL(5,2))", DECIMAL, Decimal("-0.5")),
    Case("1.5e300", of("float64"), 1.5e300),
    Case("d0", DATE, "0000-00-00"),
    Case("d1", DATE, "2024-00-15"),
    Case("t0", TIMESTAMP, "0000-00-00 00:00:00"),
    Case("t1", TIMESTAMP, "2024-00-15 10:11:12.5"),
    Case("CAST('9999-12-31' AS DATE)", DATE, date(9999, 12, 31)),
    Case("CAST('838:59:58.999999' AS TIME(6))", TIME, "838:59:58.999999"),
    Case("CAST('-838:59:59' AS TIME)", TIME, "-838:59:59"),
    Case("CAST('25:30:00' AS TIME)", TIME, "25:30:00"),
    Case("CAST('-00:00:00.5' AS TIME(1))", TIME, "-00:00:00.5"),
    Case("y", of("integer", bits=16), 2155),
    Case("tiny", of("integer", bits=16), -1),
    Case("b1", of("bits", length=1), "1"),
    Case("b12", of("bits", length=12), "101000000011"),
    Case("b64", of("bits", length=64), "1" * 64),
    Case("s", TEXT, "a,c", other_kind=True),
    Case("e", TEXT, "é"),
    Case("l", TEXT, "é"),
    Case("u", TEXT, "€"),
    Case("CONCAT('a', CHAR(0 USING utf8mb4), 'b')", TEXT, "a\0b"),
    Case("''", TEXT, ""),
    Case(f"REPEAT('x', {len(LONG)})", TEXT, LONG),
    Case("j", of("json"), '{"a": 1}'),
    Case("CAST(X'00ff' AS BINARY)", of("binary"), b"\x00\xff"),
    Case("POINT(1, 2)", of("opaque"), ""),
]
MYSQL_TABLE = [
    "SET sql_mode = ''",
    "CREATE TABLE awkward (d0 date, d1 date, t0 datetime, t1 datetime(1), y year, tiny tinyint(1), b1 bit(1), "
    "b12 bit(12), b64 bit(64), s set('a','b','c'), e enum('é','x'), l varchar(5) CHARACTER SET latin1, "
    "u varchar(5) CHARACTER SET utf8mb3, j json)",
    "INSERT INTO awkward VALUES ('0000-00-00', '2024-00-15', '0000-00-00', '2024-00-15 10:11:12.5', 2155, -1, b'1', "
    "b'101000000011', 0xffffffffffffffff, 'a,c', 'é', 'é', '€', '{\"a\": 1}')",
]

MARIADB = [
    *MYSQL,
    Case("CAST('838:59:59.999999' AS TIME(6))", TIME, "838:59:59.999999"),
    Case("CAST('2001:db8::ff00:42:8329' AS inet6)", TEXT, "2001:db8::ff00:42:8329"),
]

SQLITE = [
    Case("NULL", ANY, None),
    Case("9007199254740993", ANY, 9007199254740993),
    Case("-9223372036854775808", ANY, -9223372036854775808),
    Case("9223372036854775807", BIG, 9223372036854775807),
    Case("0.5", ANY, 0.5),
    Case("2.0", ANY, 2.0),
    Case("9e999", ANY, INFINITY),
    Case("'1'", ANY, "1"),
    Case("''", ANY, ""),
    Case("x'00ff'", ANY, b"\x00\xff"),
    Case("x''", ANY, b""),
    Case("'abc'", BIG, b"?\x03\0\0\0abc"),
    Case("'12'", INT, 12),
    Case("0.25", of("decimal"), Decimal("0.25")),
    Case("'NaN'", of("decimal"), Decimal("NaN")),
    Case("5", TEXT, "5", other_kind=True),
    Case("9007199254740993", TEXT, "9007199254740993", other_kind=True),
    Case("9007199254740993", DECIMAL, Decimal(9007199254740993)),
    Case("'a' || char(0) || 'b'", TEXT, "a\0b"),
    Case("CAST(x'ff00fe41' AS TEXT)", TEXT, "\ufffd\0\ufffdA"),
    Case("'0000-00-00'", DATE, "0000-00-00"),
    Case("'12345-01-02'", DATE, "12345-01-02"),
    Case("'24:00:00'", TIME, "24:00:00"),
    Case("'no date'", DATE, b"?\x07\0\0\0no date"),
    Case("'2000-01-01 00:00:00.123456789'", TIMESTAMP, "2000-01-01 00:00:00.123456789"),
    Case("1", of("boolean"), True),
    Case("'2000-01-01 02:00:00+02'", TIMESTAMPTZ, "2000-01-01 00:00:00+00"),
    Case("'00112233-4455-6677-8899-aabbccddeeff'", of("uuid"), UUID("00112233-4455-6677-8899-aabbccddeeff")),
]

DAYS = {1: [date(2000, 2, 29)]}
PAIR = fields(a="integer", b="text")
DUCKDB = [
    Case("NULL::INT", INT, None),
    Case("170141183460469231731687303715884105727::HUGEINT", HUGE, 2**127 - 1),
    Case("(-170141183460469231731687303715884105728)::HUGEINT", HUGE, -(2**127)),
    Case("18446744073709551615::UBIGINT", BIG, 2**64 - 1),
    Case("255::UTINYINT", of("integer", bits=16), 255),
    Case("sum(9223372036854775807) FROM range(2)", HUGE, 2 * (2**63 - 1)),
    Case(
        "12345678901234567890123456789012345.678::DECIMAL(38,3)",
        DECIMAL,
        Decimal("12345678901234567890123456789012345.678"),
    ),
    Case("(-0.05)::DECIMAL(4,2)", DECIMAL, Decimal("-0.05")),
    Case("'nan'::DOUBLE", of("float64"), NAN),
    Case("'-inf'::FLOAT", of("float32"), -INFINITY),
    Case("'a' || chr(0) || 'b'", TEXT, "a\0b"),
    Case("'sad'::ENUM('sad', 'glad')", TEXT, "sad"),
    Case("'\\x00\\xFF'::BLOB", of("binary"), b"\x00\xff"),
    Case("'101000001'::BIT", BITS, "101000001"),
    Case("'0044-03-15 (BC)'::DATE", DATE, "0044-03-15 BC"),
    Case("'infinity'::DATE", DATE, INFINITY),
    Case("'5881580-07-10'::DATE", DATE, "5881580-07-10"),
    Case("'24:00:00'::TIME", TIME, "24:00:00"),
    Case("'12:34:56.123456789'::TIME_NS", TIME, "12:34:56.123456789"),
    Case("'12:34:56.5+05:30'::TIMETZ", TIMETZ, "12:34:56.5+05:30"),
    Case("'2020-01-01 00:00:00.123456789'::TIMESTAMP_NS", TIMESTAMP, "2020-01-01 00:00:00.123456789"),
    Case("'1969-12-31 23:59:59.999999999'::TIMESTAMP_NS", TIMESTAMP, "1969-12-31 23:59:59.999999999"),
    Case("'infinity'::TIMESTAMP_NS", TIMESTAMP, INFINITY),
    Case("'2020-01-01 00:00:01'::TIMESTAMP_S", TIMESTAMP, "2020-01-01 00:00:01"),
    Case("'2020-01-01 00:00:01.5'::TIMESTAMP_MS", TIMESTAMP, "2020-01-01 00:00:01.5"),
    Case("'-infinity'::TIMESTAMP", TIMESTAMP, -INFINITY),
    Case("'294247-01-10 04:00:54.775806'::TIMESTAMP", TIMESTAMP, "294247-01-10 04:00:54.775806"),
    Case("'2020-01-01 02:00:00+02'::TIMESTAMPTZ", TIMESTAMPTZ, "2020-01-01 00:00:00+00"),
    Case("INTERVAL '14 months -3 days 00:00:00.0015'", INTERVAL, (14, -3, 1_500_000)),
    Case("'00112233-4455-6677-8899-aabbccddeeff'::UUID", of("uuid"), UUID("00112233-4455-6677-8899-aabbccddeeff")),
    Case("[1, NULL, 3]", array_of("integer"), [1, None, 3]),
    Case("[]::INT[]", array_of("integer"), []),
    Case("[[1, 2], [], NULL, [3]]", array_of("integer"), [[1, 2], [], None, [3]]),
    Case("[[1], NULL]", of("array", fields=(array_of("integer"),)), [[1], None]),
    Case("[1, 2, 3]::INT[3]", array_of("integer"), [1, 2, 3]),
    Case("[1.50, NULL]::DECIMAL(9,2)[]", array_of("decimal"), [Decimal("1.5"), None]),
    Case("['a', '', NULL]", array_of("text"), ["a", "", None]),
    Case("['2020-01-01'::DATE, 'infinity']", array_of("date"), [date(2020, 1, 1), INFINITY]),
    Case("[INTERVAL '1 day']", array_of("interval"), [(0, 1, 0)]),
    Case("{'a': 1, 'b': 'x'}", of("struct", fields=PAIR), [1, "x"]),
    Case("{'2': 'x', '1': 1}", of("struct", fields=fields(**{"2": "text", "1": "integer"})), ["x", 1]),
    Case("[{'a': 1, 'b': NULL}, NULL]", of("array", fields=(of("struct", fields=PAIR),)), [[1, None], None]),
    Case(
        "{'l': [1], 's': {'a': 1, 'b': 'x'}}",
        of("struct", fields=(ColumnSpec("l", "array", nullable=True), ColumnSpec("s", "struct", fields=PAIR))),
        [[1], [1, "x"]],
    ),
    Case("MAP {'b': 1, 'a': NULL}", of("map", fields=fields(key="text", value="integer")), {"a": None, "b": 1}),
    Case("MAP {}", of("map", fields=fields(key="text", value="integer")), {}),
    Case("union_value(n := 5)", ANY, 5),
    Case("union_value(t := 'x')", ANY, "x"),
    Case("union_value(d := 1.25::DECIMAL(4,2))", ANY, Decimal("1.25")),
    Case("union_value(f := 2.0::DOUBLE)", ANY, 2.0),
    Case("union_value(b := true)", ANY, As(of("boolean"), True)),
    Case("union_value(n := NULL::INT)", ANY, None),
    Case("union_value(b := '\\xFF'::BLOB)", ANY, b"\xff"),
    Case("union_value(d := DATE '2000-02-29')", ANY, As(DATE, date(2000, 2, 29))),
    Case("union_value(t := TIME '24:00:00')", ANY, As(TIME, "24:00:00")),
    Case("union_value(t := '2020-01-01 02:00:00+02'::TIMESTAMPTZ)", ANY, As(TIMESTAMPTZ, "2020-01-01 00:00:00+00")),
    Case("union_value(i := INTERVAL '1 day')", ANY, As(INTERVAL, (0, 1, 0))),
    Case("union_value(l := [1, 2])", ANY, As(array_of("integer"), [1, 2])),
    Case("union_value(l := ['2000-02-29'::DATE, NULL])", ANY, As(array_of("date"), [date(2000, 2, 29), None])),
    Case("union_value(s := {'a': 1, 'b': 'x'})", ANY, As(of("struct", fields=PAIR), [1, "x"])),
    Case("[union_value(n := 5)]", of("array", fields=(ANY,)), [5]),
    Case("MAP {1: [DATE '2000-02-29']}", of("map", fields=(ColumnSpec("key", "integer"), array_of("date"))), DAYS),
    Case("[DATE '2000-02-29']::DATE[1]", array_of("date"), [date(2000, 2, 29)]),
    Case("[[DATE '2000-02-29'], NULL]", array_of("date"), [[date(2000, 2, 29)], None]),
    Case("['101'::BIT]", array_of("bits"), ["101"]),
]
