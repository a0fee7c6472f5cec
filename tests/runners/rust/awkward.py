"""Values of every type of an engine: usual, smallest, largest, no number, empty, long and awkward ones."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

LONG = "é" * 40_000
Spec = dict[str, Any]


@dataclass
class Of:
    """A type of an engine, its column, and values as SQL has them with what the vectors would call them."""

    sql: str
    column: Spec
    values: dict[str, Any]
    setting_up: tuple[str, ...] = ()
    own: dict[str, str] = field(default_factory=dict)  # values that a driver refuses in its own words, by driver


def one(kind: str, **more: Any) -> Spec:
    return {"name": "v", "type": kind, "nullable": True, **more}


def array(kind: str, **more: Any) -> Spec:
    return one("array", fields=[one(kind, **more) | {"name": ""}])


def q(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def same(*texts: str) -> dict[str, Any]:
    """Literals that are called what they say."""
    return {q(text): text for text in texts}


POSTGRESQL = [
    Of("int2", one("integer", bits=16), same("0", "-32768", "32767")),
    Of("int4", one("integer"), same("0", "-2147483648", "2147483647")),
    Of("int8", one("integer", bits=64), same("0", "-9223372036854775808", "9223372036854775807")),
    Of("oid", one("integer", bits=64), same("0", "4294967295")),
    Of("xid8", one("integer", bits=128), same("0", "18446744073709551615")),
    Of(
        "numeric",
        one("decimal"),
        same(
            "0",
            "-0.00",
            "1.50",
            "NaN",
            "Infinity",
            "-Infinity",
            "1E+300",
            "-1E-300",
            "12345678901234567890.123456789012345",
        )
        | same("20", "17.685", "1E-37", "9223372036854775807", "-9999999999999999.99", "10000", "0.0001"),
    ),
    Of("numeric(9,2)", one("decimal", precision=9, scale=2), same("0", "-1234567.89", "NaN")),
    Of("float4", one("float32"), same("0", "NaN", "inf", "-inf", "1.1754944e-38", "3.4028235e+38", "16777216.0")),
    Of("float8", one("float64"), same("0", "NaN", "inf", "-inf", "5e-324", "1.7976931348623157e+308")),
    Of("boolean", one("boolean"), {"true": True, "false": False}),
    Of("text", one("text"), same("", "x", "NULL", '{"', "a\nb\t\\", LONG)),
    Of('"char"', one("text"), same("", "x")),
    Of("name", one("text"), same("", "pg")),
    Of("char(5)", one("char", length=5), same("", "GET", "é")),
    Of("varchar(7)", one("varchar", length=7), same("", "a  ", "é€😀")),
    Of("bytea", one("binary"), {r"'\x'": "", r"'\x00ff5c27'": "00ff5c27"}),
    Of("json", one("json"), same("null", '{"a":  [1, "é"]}')),
    Of("jsonb", one("json"), same("null", '{"a": [1, "é"]}')),
    Of("bit(9)", one("bits"), {"B'101000001'": "101000001", "B'000000000'": "000000000"}),
    Of("varbit", one("bits"), {"B''": "", "B'1'": "1"}),
    Of(
        "date",
        one("date"),
        same("2000-02-29", "0001-01-01", "9999-12-31", "0044-03-15 BC", "0001-12-31 BC", "4713-11-24 BC", "12000-02-29")
        | same("5874897-12-31")
        | {"'infinity'": "inf", "'-infinity'": "-inf"},
    ),
    Of("time", one("time"), same("00:00:00", "23:59:59.999999", "24:00:00", "12:34:56.500000")),
    Of("timetz", one("timetz"), same("12:34:56.5+05:00", "00:00:00+00:00", "24:00:00-15:59:59", "12:00:00-00:30")),
    Of(
        "timestamp",
        one("timestamp"),
        same(
            "2000-11-07 01:02:03.456789", "1969-12-31 23:59:59.500000", "0044-03-15 12:00:00 BC", "12000-01-01 00:00:00"
        )
        | same("294276-12-31 23:59:59.999999", "4713-11-24 00:00:00 BC")
        | {"'infinity'": "inf", "'-infinity'": "-inf"},
    ),
    Of(
        "timestamptz",
        one("timestamptz"),
        same("2000-11-07 01:02:03+02:00", "0044-03-15 12:00:00+00:00 BC", "294276-12-31 23:59:59.999999+00:00")
        | {"'infinity'": "inf", "'-infinity'": "-inf"},
    ),
    Of(
        "interval",
        one("interval"),
        {
            "'0'": [0, 0, 0],
            "'1 year 2 mons -3 days 04:05:06.7'": [14, -3, 14706700000000],
            "'-1 mons +1 day -00:00:00.000001'": [-1, 1, -1000],
            "'infinity'": "inf",
            "'-infinity'": "-inf",
            "'-178000000 years'": [-2136000000, 0, 0],
            "'2000000 hours'": [0, 0, 7_200_000_000_000_000_000],
        },
    ),
    Of("uuid", one("uuid"), same("c0ffee00-1234-4567-89ab-cdef01234567")),
    Of("mood", one("text"), same("sad", "é"), ("CREATE TYPE mood AS ENUM ('sad', 'é')",)),
    Of("short", one("integer"), same("5"), ("CREATE DOMAIN short AS int4",)),
    Of(
        "int4[]",
        array("integer"),
        {
            "'{}'": [],
            "'{1,NULL,-2}'": [1, None, -2],
            "'{{1,2},{3,NULL}}'": [[1, 2], [3, None]],
            "'{{{1}},{{2}}}'": [[[1]], [[2]]],
            "'[0:1]={1,2}'": {"lower": 0, "elements": [1, 2]},
            "'[-2:-2][5:5]={{1}}'": {"lower": -2, "elements": [{"lower": 5, "elements": [1]}]},
        },
    ),
    Of("int8[]", array("integer", bits=64), {"'{9223372036854775807,NULL}'": [9223372036854775807, None]}),
    Of("int2[]", array("integer", bits=16), {"'{-32768}'": [-32768], "'{{1},{2}}'": [[1], [2]]}),
    Of("oid[]", array("integer", bits=64), {"'{4294967295}'": [4294967295]}),
    Of(
        "text[]",
        array("text"),
        {
            "'{}'": [],
            "ARRAY['a', NULL, '', 'NULL', 'é', 'a\"b', 'c\\d', '{,}', ' ']": [
                "a",
                None,
                "",
                "NULL",
                "é",
                'a"b',
                "c\\d",
                "{,}",
                " ",
            ],
            "ARRAY[['a','b'],['c','']]": [["a", "b"], ["c", ""]],
        },
    ),
    Of("char(3)[]", array("char", length=3), {"'{a,NULL}'": ["a", None]}),
    Of("mood[]", array("text"), {"'{sad,NULL,é}'": ["sad", None, "é"]}),
    Of("short[]", array("integer"), {"'{5,NULL}'": [5, None]}),
    Of("numeric[]", array("decimal"), {"'{NaN,1.50,NULL,-Infinity,1e40}'": ["NaN", "1.5", None, "-Infinity", "1e40"]}),
    Of("float8[]", array("float64"), {"'{NaN,-inf,1.5,-0}'": ["NaN", "-inf", "1.5", "0.0"]}),
    Of("bool[]", array("boolean"), {"'{t,f,NULL}'": [True, False, None]}),
    Of("bytea[]", array("binary"), {r"ARRAY['\x00ff'::bytea, '\x', NULL]": ["00ff", "", None]}),
    Of("date[]", array("date"), {"'{2000-02-29,infinity,0044-03-15 BC}'": ["2000-02-29", "inf", "0044-03-15 BC"]}),
    Of("time[]", array("time"), {"'{24:00,NULL}'": ["24:00:00", None]}),
    Of(
        "timestamp[]",
        array("timestamp"),
        {"'{2000-11-07 01:02:03.456789,-infinity}'": ["2000-11-07 01:02:03.456789", "-inf"]},
    ),
    Of("timestamptz[]", array("timestamptz"), {"'{2000-11-07 01:02:03+02}'": ["2000-11-07 01:02:03+02:00"]}),
    Of("interval[]", array("interval"), {"'{1 mon,infinity}'": [(1, 0, 0), "inf"]}),
    Of("uuid[]", array("uuid"), {"'{c0ffee00-1234-4567-89ab-cdef01234567}'": ["c0ffee00-1234-4567-89ab-cdef01234567"]}),
    Of("jsonb[]", array("json"), {"ARRAY['{}'::jsonb, '[1, \"a\"]']": ["{}", '[1, "a"]']}),
    Of("varbit[]", array("bits"), {"'{101,NULL}'": ["101", None]}),
    Of("inet", one("opaque"), {"'::1'": "x"}),
    Of("inet[]", one("opaque"), {"'{::1}'": "x"}),
    Of("int4range", one("opaque"), {"'[1,5)'": "x", "'empty'": "x"}),
    Of("money", one("opaque"), {"'1'": "x"}),
    Of("point", one("opaque"), {"'(1,2)'": "x"}),
]

MARIADB = [
    Of("TINYINT(1)", one("integer", bits=16), same("-1", "0", "1", "2", "127")),
    Of("SMALLINT UNSIGNED", one("integer"), same("65535")),
    Of("INT", one("integer"), same("-2147483648", "2147483647")),
    Of("INT UNSIGNED", one("integer", bits=64), same("4294967295")),
    Of("BIGINT", one("integer", bits=64), same("-9223372036854775808")),
    Of("BIGINT UNSIGNED", one("integer", bits=128), same("0", "18446744073709551615")),
    Of("YEAR", one("integer", bits=16), {"0": "0"} | same("1901", "2155")),
    Of("DECIMAL(65,30)", one("decimal", precision=65, scale=30), same("0", "-12345678901234567890123456789012345.5")),
    Of("FLOAT", one("float32"), same("0", "1.5", "-3.5")),
    Of("DOUBLE", one("float64"), same("0", "5e-324", "1.7976931348623157e+308")),
    Of("CHAR(5)", one("char"), same("", "GET", "é")),
    Of("VARCHAR(10) CHARACTER SET latin1", one("text"), same("", "é", "a  ")),
    Of("LONGTEXT", one("text"), same("", "a\0b", LONG)),
    Of("VARBINARY(9)", one("binary", length=9), {"''": "", "x'00ff5c27'": "00ff5c27"}),
    Of("LONGBLOB", one("binary", length=4294967295), {"x'00'": "00"}),
    Of("JSON", one("text"), same("null", '{"a":  [1, "é"]}')),
    Of("ENUM('a','é')", one("text"), same("a", "é")),
    Of("SET('a','b')", one("text"), same("", "a,b")),
    Of("BIT(1)", one("bits", length=1), {"b'1'": "1", "b'0'": "0"}),
    Of("BIT(10)", one("bits", length=10), {"b'1010000011'": "1010000011", "b'1'": "0000000001"}),
    Of("BIT(64)", one("bits", length=64), {"~0": "1" * 64}),
    Of("DATE", one("date"), same("2000-02-29", "0000-00-00", "2024-00-15", "2024-02-30", "9999-12-31")),
    Of(
        "TIME(6)",
        one("time"),
        same("00:00:00", "25:30:00", "-01:00:00", "838:59:59", "-838:59:59.999999", "-00:00:00.5", "12:34:56.123456"),
    ),
    Of(
        "DATETIME(6)",
        one("timestamp"),
        same("2000-11-07 01:02:03.456789", "0000-00-00 00:00:00", "2024-00-15 10:11:12.5", "2024-02-30 00:00:00"),
    ),
    Of("TIMESTAMP(6) NULL", one("timestamp"), same("2038-01-19 03:14:07.999999")),
    Of("POINT", one("opaque"), {"ST_GeomFromText('POINT(1 2)')": "x"}),
]

DUCKDB = [
    Of("TINYINT", one("integer", bits=16), same("-128")),
    Of("UBIGINT", one("integer", bits=128), same("0", "18446744073709551615")),
    Of("HUGEINT", one("integer", bits=128), same("-170141183460469231731687303715884105728", "5")),
    Of("UHUGEINT", one("integer", bits=128), same("170141183460469231731687303715884105727", "5")),
    Of("DECIMAL(38,10)", one("decimal", precision=38, scale=10), same("-1234567890123456789012345678.0123456789")),
    Of("DECIMAL(4,1)", one("decimal", precision=4, scale=1), same("-999.9")),
    Of("FLOAT", one("float32"), same("NaN", "inf", "1.5")),
    Of("DOUBLE", one("float64"), same("NaN", "-inf", "5e-324")),
    Of("BOOLEAN", one("boolean"), {"true": True, "false": False}),
    Of("VARCHAR", one("text"), same("", "é", LONG) | {"chr(0) || 'a'": "\0a"}),
    Of("BLOB", one("binary"), {r"'\x00\xFF'::BLOB": "00ff", "''": ""}),
    Of("BIT", one("bits"), {"'101000001'": "101000001", "'0'": "0"}),
    Of("UUID", one("uuid"), same("c0ffee00-1234-4567-89ab-cdef01234567")),
    Of("mood", one("text"), same("sad", "é"), ("CREATE TYPE mood AS ENUM ('sad', 'é')",)),
    Of(
        "DATE",
        one("date"),
        same("2000-02-29", "12000-02-29")
        | {"'0044-03-15 (BC)'": "0044-03-15 BC", "'infinity'": "inf", "'-infinity'": "-inf"},
    ),
    Of("TIME", one("time"), same("24:00:00", "23:59:59.999999")),
    Of(
        "TIMESTAMP",
        one("timestamp"),
        same("1969-12-31 23:59:59.500000", "294246-12-31 23:59:59.999999")
        | {"'0044-03-15 (BC) 12:00:00'": "0044-03-15 12:00:00 BC", "'infinity'": "inf", "'-infinity'": "-inf"},
    ),
    Of("TIMESTAMP_S", one("timestamp"), same("1969-12-31 23:59:59")),
    Of(
        "TIMESTAMP_NS",
        one("timestamp"),
        same("1969-12-31 23:59:59.999999999", "2020-01-01 00:00:00.123456789") | {"'infinity'": "inf"},
    ),
    Of("TIMESTAMPTZ", one("timestamptz"), same("2000-11-07 01:02:03+02:00") | {"'infinity'": "inf"}),
    Of(
        "INTERVAL",
        one("interval"),
        {"'14 months -3 days 01:02:03.5'": [14, -3, 3723500000000], "'-1 month'": [-1, 0, 0]},
    ),
    Of("INTEGER[]", array("integer"), {"[]": [], "[1, NULL]": [1, None]}),
    Of(
        "INTEGER[][]",
        one("array", fields=[array("integer") | {"name": ""}]),
        {"[[1], [], NULL, [2, 3]]": [[1], [], None, [2, 3]]},
    ),
    Of("INTEGER[2]", array("integer"), {"[1, NULL]": [1, None]}),
    Of("VARCHAR[]", array("text"), {"['a', NULL, '', 'é']": ["a", None, "", "é"]}),
    Of("HUGEINT[]", array("integer", bits=128), {"[5, NULL]": [5, None]}),
    Of("TIMESTAMP_NS[]", array("timestamp"), {"['2020-01-01 00:00:00.123456789']": ["2020-01-01 00:00:00.123456789"]}),
    Of(
        'STRUCT(a INTEGER, "b ""c" VARCHAR, d DECIMAL(4,1)[])',
        one(
            "struct",
            fields=[
                one("integer") | {"name": "a"},
                one("text") | {"name": 'b "c'},
                array("decimal", precision=4, scale=1) | {"name": "d"},
            ],
        ),
        {"row(1, 'x', [1.5, NULL])": [1, "x", ["1.5", None]], "row(NULL, NULL, NULL)": [None, None, None]},
    ),
    Of(
        "MAP(VARCHAR, INTEGER)",
        one("map", fields=[{"name": "key", "type": "text"}, one("integer") | {"name": "value"}]),
        {"MAP {'b': 1, 'a': NULL}": [["b", 1], ["a", None]], "MAP {}": []},
    ),
    Of(
        "UNION(num INTEGER, str VARCHAR, f DOUBLE)",
        one("any"),
        {
            "union_value(num := 1)": {"integer": "1"},
            "union_value(str := 'x')": "x",
            "union_value(f := 0.5)": {"float": "0.5"},
        },
    ),
]

SQLITE = [
    Of("INTEGER", one("integer", bits=64), {"-9223372036854775808": "-9223372036854775808", "0": "0"}),
    Of("REAL", one("float64"), {"0.5": "0.5", "9e999": "inf", "-9e999": "-inf", "3": "3.0"}),
    Of("TEXT", one("text"), same("", "é", LONG) | {"'bar' || char(0) || 'baz'": "bar\0baz"}),
    Of("TEXT ", one("text"), {"CAST(x'ff00fe41' AS TEXT)": {"hex": "ff00fe41"}, "CAST(x'e9' AS TEXT)": {"hex": "e9"}}),
    Of("BLOB", one("binary"), {"x''": "", "x'00ff'": "00ff"}),
    Of(
        "",
        one("any"),
        {
            "9007199254740993": {"integer": "9007199254740993"},
            "0.5": {"float": "0.5"},
            "3.0": {"integer": "3"},
            "'1'": "1",
            "x'00ff'": {"hex": "00ff"},
        },
    ),
    Of("DATE", one("date"), same("2000-02-29", "0000-00-00", "0044-03-15 BC", "12000-02-29")),
    Of("TIME", one("time"), same("24:00:00", "25:30:00", "-01:00:00", "12:34:56.123456789")),
    Of("TIMESTAMP", one("timestamp"), same("2020-01-01 00:00:00.123456789", "2024-00-15 10:11:12.5")),
    Of("TEXT  ", one("decimal"), same("NaN", "-Infinity", "1E+3", "0.10")),
]
