"""Queries whose one row holds every type's usual and unusual values, with what each of them must come to."""

from __future__ import annotations

from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Any, NamedTuple
from uuid import UUID

from rowpath.model.workload import Column
from rowpath.workloads.codec import Bounded

INF = float("inf")


class Case(NamedTuple):
    """An SQL expression, what its column is declared as, and its value."""

    sql: str
    column: Column
    value: Any


def of(sql: str, value: Any, kind: Any, *fields: Column, **declared: Any) -> Case:
    return Case(sql, Column(name="", type=kind, nullable=True, fields=fields, **declared), value)


def element(kind: Any, **declared: Any) -> Column:
    return Column(name="", type=kind, nullable=True, **declared)


def nulls(types: dict[str, str]) -> tuple[Case, ...]:
    return tuple(of(f"CAST(NULL AS {sql})", None, kind) for kind, sql in types.items())


POSTGRESQL = (
    *nulls({"integer": "int", "decimal": "numeric", "float64": "float8", "boolean": "boolean", "text": "text"}),
    *nulls({"binary": "bytea", "date": "date", "time": "time", "timetz": "timetz", "timestamp": "timestamp"}),
    *nulls({"timestamptz": "timestamptz", "interval": "interval", "uuid": "uuid", "bits": "varbit"}),
    of("(-32768)::int2", -32768, "integer", bits=16),
    of("(-2147483648)::int4", -2147483648, "integer"),
    of("(-9223372036854775808)::int8", -(2**63), "integer", bits=64),
    of("4294967295::oid", 2**32 - 1, "integer", bits=64),
    of("4294967295::text::xid", 2**32 - 1, "integer", bits=64),
    of("7::int2", 7, "decimal"),  # of a narrower type than declared
    of("1.5::numeric(10,2)", Decimal("1.5"), "decimal", precision=10, scale=2),
    of("'NaN'::numeric(10,2)", Decimal("NaN"), "decimal", precision=10, scale=2),
    of("'NaN'::numeric", Decimal("NaN"), "decimal"),
    of("'Infinity'::numeric", Decimal("Infinity"), "decimal"),
    of("'-Infinity'::numeric", Decimal("-Infinity"), "decimal"),
    of("1e300::numeric", Decimal("1e300"), "decimal"),
    of("1e-300::numeric", Decimal("1e-300"), "decimal"),
    of("0.000000001::numeric", Decimal("0.000000001"), "decimal"),
    of("(-12345678901234567890.123456789012345)::numeric", Decimal("-12345678901234567890.123456789012345"), "decimal"),
    of("'NaN'::float8", float("nan"), "float64"),
    of("'-Infinity'::float8", -INF, "float64"),
    of("'-0'::float8", 0.0, "float64"),
    of("'5e-324'::float8", 5e-324, "float64"),
    of("'Infinity'::float4", INF, "float32"),
    of("0.1::float4", 0.1, "float32"),
    of("true", True, "boolean"),
    of("'a  '::char(5)", "a", "char", length=5),
    of("''::text", "", "text"),
    of("repeat('aé€😀', 3000)", "aé€😀" * 3000, "text"),
    of("'null'::jsonb", "null", "json"),
    of("'x'::\"char\"", "x", "text"),
    of("'pg_class'::name", "pg_class", "text"),
    of("'\\x'::bytea", b"", "binary"),
    of("'\\x00ff5c'::bytea", b"\x00\xff\\", "binary"),
    of("'infinity'::date", INF, "date"),
    of("'-infinity'::date", -INF, "date"),
    of("'0044-03-15 BC'::date", "0044-03-15 BC", "date"),
    of("'4713-11-24 BC'::date", "4713-11-24 BC", "date"),
    of("'5874897-12-31'::date", "5874897-12-31", "date"),
    of("'2024-02-29'::date", date(2024, 2, 29), "date"),
    of("'24:00:00'::time", "24:00:00", "time"),
    of("'23:59:59.999999'::time", time(23, 59, 59, 999999), "time"),
    of("'12:34:56.5+05:30'::timetz", "12:34:56.5+05:30", "timetz"),
    of("'24:00:00-15:59:59'::timetz", "24:00:00-15:59:59", "timetz"),
    of("'infinity'::timestamp", INF, "timestamp"),
    of("'-infinity'::timestamptz", -INF, "timestamptz"),
    of("'0044-03-15 12:00:00 BC'::timestamp", "0044-03-15 12:00:00 BC", "timestamp"),
    of("'0044-03-15 12:00:00.5+00 BC'::timestamptz", "0044-03-15 12:00:00.5+00:00 BC", "timestamptz"),
    of("'294276-12-31 23:59:59.999999'::timestamp", "294276-12-31 23:59:59.999999", "timestamp"),
    of("'2000-02-29 01:02:03.456789'::timestamp", datetime(2000, 2, 29, 1, 2, 3, 456789), "timestamp"),
    of("'1969-12-31 23:59:59.5+00'::timestamptz", datetime(1969, 12, 31, 23, 59, 59, 500000, UTC), "timestamptz"),
    of("'1 year -2 months 3 days -4 hours -5.5 seconds'::interval", (10, 3, -14405500000000), "interval"),
    of("'-178000000 years'::interval", (-2136000000, 0, 0), "interval"),
    of("'c0ffee00-1234-4567-89ab-cdef01234567'::uuid", UUID("c0ffee00-1234-4567-89ab-cdef01234567"), "uuid"),
    of("B''", "", "bits"),
    of("B'101000001'", "101000001", "bits"),
    of("B'1'::bit(70)", "1" + "0" * 69, "bits", length=70),
    of("'{}'::int[]", [], "array"),
    of("'{1,NULL,-3}'::int[]", [1, None, -3], "array", element("integer")),
    of("'{{1,2},{3,NULL}}'::int2[]", [[1, 2], [3, None]], "array", element("integer", bits=16)),
    of("'{{{1}},{{2}}}'::int8[]", [[[1]], [[2]]], "array", element("integer", bits=64)),
    of("'[2:4]={1,2,3}'::int[]", Bounded(2, [1, 2, 3]), "array", element("integer")),
    of("'[0:1][-1:0]={{1,2},{3,4}}'::int[]", Bounded(0, [Bounded(-1, [1, 2]), Bounded(-1, [3, 4])]), "array"),
    of("'[2:2]={7}'::int[]", [7], "array", bounds=False),
    of(
        """ARRAY['a"b', 'c\\d', '', NULL, 'NULL', '{}', 'e,f', 'é€😀', ' ']""",
        ['a"b', "c\\d", "", None, "NULL", "{}", "e,f", "é€😀", " "],
        "array",
        element("text"),
    ),
    of("ARRAY['a  '::char(4)]", ["a"], "array", element("char", length=4)),
    of("ARRAY['NaN', 1.50, '-Infinity']::numeric[]", [Decimal("NaN"), Decimal("1.5"), Decimal("-Infinity")], "array",
       element("decimal")),
    of("ARRAY[0.5, 'NaN']::float8[]", [0.5, float("nan")], "array", element("float64")),
    of("ARRAY[true, NULL, false]", [True, None, False], "array", element("boolean")),
    of("ARRAY['\\x00ff'::bytea]", [b"\x00\xff"], "array", element("binary")),
    of("ARRAY['2000-01-01', 'infinity', '0044-03-15 BC']::date[]", [date(2000, 1, 1), INF, "0044-03-15 BC"], "array",
       element("date")),
    of("ARRAY['24:00', '01:02:03.5']::time[]", ["24:00:00", "01:02:03.5"], "array", element("time")),
    of("ARRAY['12:00+05']::timetz[]", ["12:00:00+05:00"], "array", element("timetz")),
    of("ARRAY['2000-01-01 00:00:00.25', '-infinity']::timestamp[]", ["2000-01-01 00:00:00.25", -INF], "array",
       element("timestamp")),
    of("ARRAY['2000-01-01 00:00:00+00']::timestamptz[]", ["2000-01-01 00:00:00+00:00"], "array",
       element("timestamptz")),
    of("ARRAY['1 month -1 day']::interval[]", [(1, -1, 0)], "array", element("interval")),
    of("ARRAY['c0ffee00-1234-4567-89ab-cdef01234567']::uuid[]", [UUID("c0ffee00-1234-4567-89ab-cdef01234567")],
       "array", element("uuid")),
    of("ARRAY[B'101', B'']::varbit[]", ["101", ""], "array", element("bits")),
    of("""ARRAY['{"a": "b"}', '[1]']::jsonb[]""", ['{"a": "b"}', "[1]"], "array", element("json")),
    of("ROW(1, 'x')", "", "opaque"),
    of("'1.2.3.4'::inet", "", "opaque"),
    of("ARRAY[numrange(1, 2)]", "", "opaque"),
)  # fmt: skip

MARIADB = (
    *nulls({"integer": "SIGNED", "decimal": "DECIMAL(10,2)", "float64": "DOUBLE", "text": "CHAR", "binary": "BINARY"}),
    *nulls({"date": "DATE", "time": "TIME(6)", "timestamp": "DATETIME(6)"}),
    of("ti", 127, "integer", bits=16),
    of("uti", 255, "integer", bits=16),
    of("bi", -(2**63), "integer", bits=64),
    of("ubi", 2**64 - 1, "integer", bits=128),
    of("ubi", 2**64 - 1, "integer", bits=64),
    of("de * 1000", 10**33, "integer", bits=128),
    of("de", 10**30, "integer", bits=64),  # of a wider type than declared
    of("ye", 2155, "integer", bits=16),
    of("de", Decimal(10) ** 30, "decimal"),
    of("bi", -(2**63), "decimal"),
    of("fl", 0.1, "float32"),
    of("do", 5e-324, "float64"),
    of("da", "0000-00-00", "date"),
    of("db", "2024-00-15", "date"),
    of("dc", "2024-02-30", "date"),
    of("dd", date(2024, 2, 29), "date"),
    of("ta", "838:59:59.999999", "time"),
    of("tb", "-838:59:59.999999", "time"),
    of("tc", "-00:00:00.5", "time"),
    of("td", time(23, 59, 59), "time"),
    of("te", "100:00:00", "time"),
    of("tf", "-01:00:00", "time"),
    of("ma", "0000-00-00 00:00:00", "timestamp"),
    of("mb", "2024-02-30 10:11:12.5", "timestamp"),
    of("mc", datetime(9999, 12, 31, 23, 59, 59, 999999), "timestamp"),
    of("sa", "0000-00-00 00:00:00", "timestamptz"),
    of("sb", datetime(2020, 2, 29, 1, 2, 3, 250000, UTC), "timestamptz"),
    of("b1", "1", "bits", length=1),
    of("b9", "101000001", "bits", length=9),
    of("b64", "1" * 64, "bits", length=64),
    of("ch", "a", "char", length=5),
    of("tx", "aé€😀" * 5000, "text"),
    of("la", "é", "text"),
    of("nu", "a\x00b", "text"),
    of("en", "x", "text"),
    of("se", "x,y", "text"),
    of("bl", b"\x00\xff\x27", "binary"),
    of("CAST('c0ffee00-1234-4567-89ab-cdef01234567' AS UUID)", UUID("c0ffee00-1234-4567-89ab-cdef01234567"), "uuid"),
    of("CAST('::1' AS INET6)", "::1", "text"),
    of("js", '{"a": 1}', "json"),
    of("ge", "", "opaque"),
)  # fmt: skip

MARIADB_TABLE = (
    "SET SESSION sql_mode = 'ALLOW_INVALID_DATES', time_zone = '+00:00'",
    "CREATE TABLE torture (ti TINYINT(1), uti TINYINT UNSIGNED, bi BIGINT, ubi BIGINT UNSIGNED, ye YEAR,"
    " de DECIMAL(65), fl FLOAT, `do` DOUBLE, da DATE, db DATE, dc DATE, dd DATE, ta TIME(6), tb TIME(6), tc TIME(6),"
    " td TIME, te TIME, tf TIME, ma DATETIME, mb DATETIME(6), mc DATETIME(6), sa TIMESTAMP NULL,"
    " sb TIMESTAMP(6) NULL, b1 BIT(1), b9 BIT(9), b64 BIT(64), ch CHAR(5), tx TEXT,"
    " la VARCHAR(9) CHARACTER SET latin1, nu TEXT, en ENUM('x', 'y'),"
    " se SET('x', 'y'), bl BLOB, js JSON, ge POINT) CHARACTER SET utf8mb4",
    "INSERT INTO torture VALUES (127, 255, -9223372036854775808, 18446744073709551615, 2155,"
    " 1000000000000000000000000000000, 0.1, 5e-324, '0000-00-00', '2024-00-15', '2024-02-30', '2024-02-29',"
    " '838:59:59.999999', '-838:59:59.999999', '-00:00:00.5', '23:59:59', '100:00:00', '-01:00:00', '0000-00-00',"
    " '2024-02-30 10:11:12.5', '9999-12-31 23:59:59.999999', '0000-00-00', '2020-02-29 01:02:03.25', b'1',"
    " b'101000001', ~0, 'a', REPEAT('aé€😀', 5000), 'é', 'a\\0b', 'x', 'x,y', X'00ff27', '{\"a\": 1}', POINT(1, 2))",
)

SQLITE = (
    of("NULL", None, "integer"),
    of("9007199254740993", 9007199254740993, "any"),
    of("0.5", 0.5, "any"),
    of("1e300", 1e300, "any"),
    of("2.0", 2.0, "any"),
    of("'1'", "1", "any"),
    of("x'00ff'", b"\x00\xff", "any"),
    of("NULL", None, "any"),
    of("0.5", Decimal("0.5"), "integer"),
    of("'7'", 7, "integer"),
    of("9e999", INF, "float64"),
    of("3", 3.0, "float64"),
    of("'NaN'", Decimal("NaN"), "decimal"),
    of("1.25", Decimal("1.25"), "decimal"),
    of("'12345678901234567890.5'", Decimal("12345678901234567890.5"), "decimal"),
    of("CAST(x'62617200' || x'ff' AS TEXT)", b"bar\x00\xff", "text"),
    of("x'e9'", b"\xe9", "text"),
    of("17", "17", "text"),
    of("'abc'", b"abc", "binary"),
    of("zeroblob(0)", b"", "binary"),
    of("'0044-03-15 BC'", "0044-03-15 BC", "date"),
    of("'2024-02-30'", "2024-02-30", "date"),
    of("'24:00:00'", "24:00:00", "time"),
    of("'2020-01-01T00:00:00.123456789'", "2020-01-01 00:00:00.123456789", "timestamp"),
    of("'2020-02-30 00:00:00.123456'", "2020-02-30 00:00:00.123456", "timestamp"),
)
