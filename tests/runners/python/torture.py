"""Values of every type as an engine's SQL writes them, beside what they are: usual, NULL, smallest, largest, no number,
empty, long, awkward."""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec

from rowpath.model.workload import ColumnSpec
from rowpath.workloads import codec
from tests.runners.protocol.codec_vectors import natural

Value = Any  # as the vectors write it


class Case(NamedTuple):
    """A type by its SQL, how it is described, and values by the SQL of each."""

    sql: str
    declared: dict[str, Any]
    values: dict[str, Value]
    python: bool = False  # the values are Python's own, for which the vectors have no form

    @property
    def column(self) -> ColumnSpec:
        return msgspec.convert({"name": "v", "nullable": True, **self.declared}, ColumnSpec)

    def right(self, value: Value) -> str:
        """The codec's bytes. A map whose keys Python cannot hash has its only entry's."""
        if self.column.type == "map" and isinstance(value, str):
            return f"4d01000000{value}"
        return codec.encode_value(value if self.python else natural(value, self.column), self.column).hex()


def element(**declared: Any) -> dict[str, Any]:
    return {"name": "", "nullable": True, **declared}


LONG = "é€😀" * 20_000
INTEGER = element(type="integer", bits=32)


def array_of(**declared: Any) -> dict[str, Any]:
    return {"type": "array", "fields": [element(**declared)]}


POSTGRESQL = [
    Case("int2", {"type": "integer", "bits": 16}, {"-32768": "-32768", "32767": "32767", "NULL": None}),
    Case("int4", {"type": "integer", "bits": 32}, {"-2147483648": "-2147483648", "0": "0", "NULL": None}),
    Case("int8", {"type": "integer", "bits": 64}, {"'-9223372036854775808'": "-9223372036854775808", "7": "7"}),
    Case("oid", {"type": "integer", "bits": 64}, {"4294967295": "4294967295", "NULL": None}),
    Case("xid", {"type": "integer", "bits": 64}, {"'4294967295'": "4294967295"}),
    Case(
        "numeric",
        {"type": "decimal"},
        {
            "1.50": "1.5",
            "NULL": None,
            "'NaN'": "NaN",
            "'Infinity'": "Infinity",
            "'-Infinity'": "-Infinity",
            "1e300": "1e300",
            "1e-37": "1e-37",
            "-0.000000001": "-0.000000001",
            "12345678901234567890.123456789012345": "12345678901234567890.123456789012345",
            "0": "0",
        },
    ),
    Case(
        "numeric(9,2)", {"type": "decimal", "precision": 9, "scale": 2}, {"'NaN'": "NaN", "-1234567.89": "-1234567.89"}
    ),
    Case("float4", {"type": "float32"}, {"'NaN'": "nan", "'-Infinity'": "-inf", "0.1": "0.1", "-0.0": "-0.0"}),
    Case("float8", {"type": "float64"}, {"'NaN'": "nan", "'Infinity'": "inf", "1e308": "1e308", "5e-324": "5e-324"}),
    Case("bool", {"type": "boolean"}, {"true": True, "false": False, "NULL": None}),
    Case("char(4)", {"type": "char", "length": 4}, {"'a'": "a", "''": "", "NULL": None}),
    Case("varchar(10)", {"type": "varchar", "length": 10}, {"'a '": "a ", "''": "", "E'\\t\\n\\\\'": "\t\n\\"}),
    Case("text", {"type": "text"}, {"repeat('é€😀', 20000)": LONG, "''": "", "'NULL'": "NULL", "NULL": None}),
    Case("name", {"type": "text"}, {"'nm'": "nm"}),
    Case("mood", {"type": "text"}, {"'sad'": "sad", "NULL": None}),
    Case("bytea", {"type": "binary"}, {"'\\x'": "", "'\\x00ff'": "00ff", "NULL": None}),
    Case("bit(3)", {"type": "bits", "length": 3}, {"B'101'": "101", "NULL": None}),
    Case("varbit", {"type": "bits"}, {"B''": "", "B'101000001'": "101000001"}),
    Case(
        "date",
        {"type": "date"},
        {
            "'2000-01-31'": "2000-01-31",
            "'0001-01-01'": "0001-01-01",
            "'9999-12-31'": "9999-12-31",
            "NULL": None,
            "'infinity'": "inf",
            "'-infinity'": "-inf",
            "'0044-03-15 BC'": "0044-03-15 BC",
            "'4713-11-24 BC'": "4713-11-24 BC",
            "'5874897-12-31'": "5874897-12-31",
        },
    ),
    Case("time", {"type": "time"}, {"'12:34:56.5'": "12:34:56.5", "'24:00:00'": "24:00:00", "'00:00'": "00:00:00"}),
    Case(
        "timetz",
        {"type": "timetz"},
        {
            "'12:34:56.5+05'": "12:34:56.5+05:00",
            "'24:00:00-15:59:59'": "24:00:00-15:59:59",
            "'12:00:00-00:30'": "12:00:00-00:30",
            "NULL": None,
        },
    ),
    Case(
        "timestamp",
        {"type": "timestamp"},
        {
            "'2000-11-07 01:02:03.456789'": "2000-11-07 01:02:03.456789",
            "'1969-12-31 23:59:59.5'": "1969-12-31 23:59:59.5",
            "NULL": None,
            "'infinity'": "inf",
            "'-infinity'": "-inf",
            "'0044-03-15 12:00 BC'": "0044-03-15 12:00:00 BC",
            "'294276-12-31 23:59:59.999999'": "294276-12-31 23:59:59.999999",
        },
    ),
    Case(
        "timestamptz",
        {"type": "timestamptz"},
        {
            "'2000-11-07 01:02:03+02'": "2000-11-07 01:02:03+02:00",
            "'infinity'": "inf",
            "'-infinity'": "-inf",
            "'0044-03-15 12:00+00 BC'": "0044-03-15 12:00:00+00:00 BC",
            "'12000-01-01 00:00+00'": "12000-01-01 00:00:00+00:00",
            "NULL": None,
        },
    ),
    Case(
        "interval",
        {"type": "interval"},
        {
            "'1 year 2 months -3 days 01:02:03.5'": [14, -3, 3723500000000],
            "'-1 month 1 day -00:00:00.000001'": [-1, 1, -1000],
            "'0'": [0, 0, 0],
            "NULL": None,
            "'infinity'": "inf",
            "'-infinity'": "-inf",
            "'178000000 years'": [2136000000, 0, 0],
        },
    ),
    Case("uuid", {"type": "uuid"}, {"'c0ffee00-1234-4567-89ab-cdef01234567'": "c0ffee00-1234-4567-89ab-cdef01234567"}),
    Case("json", {"type": "json"}, {"'{\"a\" : 1}'": '{"a" : 1}', "'null'": "null", "NULL": None}),
    Case("jsonb", {"type": "json"}, {"'{\"a\":1}'": '{"a": 1}'}),
    Case(
        "int4[]",
        array_of(type="integer", bits=32),
        {"'{1,NULL}'": [1, None], "'{}'": [], "NULL": None, "'{{1,2},{3,NULL}}'": [[1, 2], [3, None]]},
    ),
    Case("int8[]", array_of(type="integer", bits=64), {"'{-1}'": [-1], "'{{{1}},{{2}}}'": [[[1]], [[2]]]}),
    Case("int2[]", array_of(type="integer", bits=16), {"'{1,2}'": [1, 2]}),
    Case(
        "text[]",
        array_of(type="text"),
        {'\'{a,"b,c","d\\"e\\\\",NULL,"NULL",""}\'': ["a", "b,c", 'd"e\\', None, "NULL", ""], "'{}'": []},
    ),
    Case("varchar(3)[]", array_of(type="varchar", length=3), {"'{a,bc}'": ["a", "bc"]}),
    Case("char(3)[]", array_of(type="char", length=3), {"'{a,NULL}'": ["a", None]}),
    Case("numeric[]", array_of(type="decimal"), {"'{NaN,1.50,NULL}'": ["NaN", "1.50", None], "'{1e40}'": ["1e40"]}),
    Case("float8[]", array_of(type="float64"), {"'{NaN,1.5,-Infinity}'": ["nan", "1.5", "-inf"]}),
    Case("float4[]", array_of(type="float32"), {"'{0.1}'": ["0.1"]}),
    Case("bool[]", array_of(type="boolean"), {"'{t,f,NULL}'": [True, False, None]}),
    Case("bytea[]", array_of(type="binary"), {"ARRAY['\\x00ff'::bytea, NULL]": ["00ff", None]}),
    Case("date[]", array_of(type="date"), {"'{2000-01-31,NULL}'": ["2000-01-31", None], "'{infinity}'": ["inf"]}),
    Case("time[]", array_of(type="time"), {"'{12:34:56}'": ["12:34:56"]}),
    Case("timetz[]", array_of(type="timetz"), {"'{12:34:56+05}'": ["12:34:56+05:00"]}),
    Case("timestamp[]", array_of(type="timestamp"), {"'{2000-01-31 01:02:03.5}'": ["2000-01-31 01:02:03.5"]}),
    Case("timestamptz[]", array_of(type="timestamptz"), {"'{2000-01-31 01:02:03+00}'": ["2000-01-31 01:02:03+00:00"]}),
    Case("interval[]", array_of(type="interval"), {"'{1 month 2 days,NULL}'": [(1, 2, 0), None]}, True),
    Case(
        "uuid[]",
        array_of(type="uuid"),
        {"'{c0ffee00-1234-4567-89ab-cdef01234567}'": ["c0ffee00-1234-4567-89ab-cdef01234567"]},
    ),
    Case("json[]", array_of(type="json"), {"ARRAY['{\"a\" : 1}'::json]": ['{"a" : 1}']}),
    Case("jsonb[]", array_of(type="json"), {"ARRAY['{\"a\":1}'::jsonb, NULL]": ['{"a": 1}', None]}),
    Case("mood[]", array_of(type="text"), {"'{sad,NULL,ok}'": ["sad", None, "ok"]}),
    Case("bit(3)[]", array_of(type="bits", length=3), {"'{101,NULL}'": ["101", None]}),
    Case("oid[]", array_of(type="integer", bits=64), {"'{1,4294967295}'": ["1", "4294967295"]}),
    Case("name[]", array_of(type="text"), {"'{a}'": ["a"]}),
    Case("positives", array_of(type="integer", bits=32), {"'{1,2}'": [1, 2]}),
    Case("positive[]", array_of(type="integer", bits=32), {"'{1,2}'": [1, 2]}),
    Case("positive", {"type": "integer", "bits": 32}, {"5": "5"}),
]
# Arrays with bounds of their own: drivers that drop them are compared without.
BOUNDED = Case("int4[]", array_of(type="integer", bits=32), {"'[0:1]={1,2}'": {"lower": 0, "elements": [1, 2]}})
POSTGRESQL_TYPES = (
    "CREATE TYPE mood AS ENUM ('sad', 'ok')",
    "CREATE DOMAIN positive AS int CHECK (VALUE > 0)",
    "CREATE DOMAIN positives AS int[]",
    "CREATE TYPE comp AS (a int, b text)",
)

# By the SQL of a table's column, for a SELECT of an expression is of other types: the values are inserted.
MARIADB = [
    Case("TINYINT", {"type": "integer", "bits": 16}, {"-128": "-128", "127": "127", "NULL": None}),
    Case("TINYINT(1)", {"type": "integer", "bits": 16}, {"-1": "-1", "0": "0", "1": "1", "2": "2", "127": "127"}),
    Case("INT UNSIGNED", {"type": "integer", "bits": 64}, {"4294967295": "4294967295"}),
    Case("BIGINT", {"type": "integer", "bits": 64}, {"-9223372036854775808": "-9223372036854775808"}),
    Case("BIGINT UNSIGNED", {"type": "integer", "bits": 128}, {"18446744073709551615": "18446744073709551615"}),
    Case("YEAR", {"type": "integer", "bits": 16}, {"2155": "2155", "0000": "0", "NULL": None}),
    Case(
        "DECIMAL(38,10)",
        {"type": "decimal", "precision": 38, "scale": 10},
        {"-1234567890123456789012345678.0123456789": "-1234567890123456789012345678.0123456789", "0": "0"},
    ),
    Case("FLOAT", {"type": "float32"}, {"0.5": "0.5", "-0.25": "-0.25", "NULL": None}),
    Case("DOUBLE", {"type": "float64"}, {"1e308": "1e308", "-0e0": "-0.0", "0.1": "0.1"}),
    Case("CHAR(4)", {"type": "char"}, {"'a'": "a", "''": "", "NULL": None}),
    Case("VARCHAR(10)", {"type": "text"}, {"'é€😀 '": "é€😀 ", "''": "", "'a\\0b'": "a\0b"}),
    Case("VARCHAR(10) CHARACTER SET latin1", {"type": "text"}, {"'é'": "é", "NULL": None}),
    Case("LONGTEXT", {"type": "text"}, {"REPEAT('é€😀', 20000)": LONG}),
    Case("ENUM('a','b')", {"type": "text"}, {"'b'": "b", "NULL": None}),
    Case("SET('a','b')", {"type": "text"}, {"'a,b'": "a,b", "''": ""}),
    Case("BLOB", {"type": "binary"}, {"X'00FF'": "00ff", "''": "", "NULL": None}),
    Case("BIT(1)", {"type": "bits", "length": 1}, {"b'1'": "1", "b'0'": "0", "NULL": None}),
    Case("BIT(9)", {"type": "bits", "length": 9}, {"b'101000001'": "101000001", "b'1'": "000000001"}),
    Case("BIT(64)", {"type": "bits", "length": 64}, {"b'1'": "0" * 63 + "1", "~0": "1" * 64}),
    Case(
        "DATE",
        {"type": "date"},
        {
            "'2000-01-31'": "2000-01-31",
            "'0000-00-00'": "0000-00-00",
            "'2024-00-15'": "2024-00-15",
            "'2024-01-00'": "2024-01-00",
            "'9999-12-31'": "9999-12-31",
            "NULL": None,
        },
    ),
    Case(
        "TIME(6)",
        {"type": "time"},
        {
            "'12:34:56.5'": "12:34:56.5",
            "'25:30:00'": "25:30:00",
            "'-01:00:00'": "-01:00:00",
            "'838:59:59'": "838:59:59",
            "'-838:59:59.999999'": "-838:59:59.999999",
            "'-00:00:00.5'": "-00:00:00.5",
            "NULL": None,
        },
    ),
    Case(
        "DATETIME(6)",
        {"type": "timestamp"},
        {
            "'2000-11-07 01:02:03.456789'": "2000-11-07 01:02:03.456789",
            "'0000-00-00 00:00:00'": "0000-00-00 00:00:00",
            "'2024-00-15 10:11:12.5'": "2024-00-15 10:11:12.5",
            "'9999-12-31 23:59:59.999999'": "9999-12-31 23:59:59.999999",
            "NULL": None,
        },
    ),
    Case("TIMESTAMP NULL", {"type": "timestamp"}, {"'2000-11-07 01:02:03'": "2000-11-07 01:02:03", "NULL": None}),
    Case("INET6", {"type": "char"}, {"'::1'": "::1"}),
    Case("JSON", {"type": "text"}, {"'{\"a\" : 1}'": '{"a" : 1}', "NULL": None}),
]

PAIR = [element(type="integer", bits=32) | {"name": "a"}, element(type="text") | {"name": "b c"}]
DUCKDB = [
    Case("TINYINT", {"type": "integer", "bits": 16}, {"-128": "-128", "NULL": None}),
    Case("UINTEGER", {"type": "integer", "bits": 64}, {"4294967295": "4294967295"}),
    Case("UBIGINT", {"type": "integer", "bits": 128}, {"18446744073709551615": "18446744073709551615"}),
    Case("HUGEINT", {"type": "integer", "bits": 128}, {"170141183460469231731687303715884105727": str(2**127 - 1)}),
    Case("UHUGEINT", {"type": "integer", "bits": 128}, {"340282366920938463463374607431768211455": str(2**128 - 1)}),
    Case(
        "BIGNUM", {"type": "decimal"}, {"'-123456789012345678901234567890123456789012345'": f"-{'1234567890' * 4}12345"}
    ),
    Case("DECIMAL(38,10)", {"type": "decimal", "precision": 38, "scale": 10}, {"-1.5": "-1.5", "NULL": None}),
    Case("FLOAT", {"type": "float32"}, {"'nan'": "nan", "0.1": "0.1", "'-inf'": "-inf"}),
    Case("DOUBLE", {"type": "float64"}, {"'nan'": "nan", "5e-324": "5e-324", "'inf'": "inf", "-0.0": "-0.0"}),
    Case("BOOLEAN", {"type": "boolean"}, {"true": True, "NULL": None}),
    Case("VARCHAR", {"type": "text"}, {"repeat('é€😀', 20000)": LONG, "''": "", "'a' || chr(0) || 'b'": "a\0b"}),
    Case("ENUM('x', 'y')", {"type": "text"}, {"'y'": "y", "NULL": None}),
    Case("JSON", {"type": "json"}, {"'{\"a\" : 1}'": '{"a" : 1}'}),
    Case("BLOB", {"type": "binary"}, {"'\\x00\\xFF'": "00ff", "''": ""}),
    Case("BIT", {"type": "bits"}, {"'101'": "101", "'101000001'": "101000001", "NULL": None}),
    Case("UUID", {"type": "uuid"}, {"'c0ffee00-1234-4567-89ab-cdef01234567'": "c0ffee00-1234-4567-89ab-cdef01234567"}),
    Case(
        "DATE",
        {"type": "date"},
        {
            "'2000-01-31'": "2000-01-31",
            "'infinity'": "inf",
            "'-infinity'": "-inf",
            "'0044-03-15 (BC)'": "0044-03-15 BC",
            "'5881580-07-10'": "5881580-07-10",
            "NULL": None,
        },
    ),
    Case("TIME", {"type": "time"}, {"'12:34:56.5'": "12:34:56.5", "'24:00:00'": "24:00:00", "NULL": None}),
    Case("TIME_NS", {"type": "time"}, {"'12:34:56.123456789'": "12:34:56.123456789"}),
    Case(
        "TIME WITH TIME ZONE",
        {"type": "timetz"},
        {"'12:34:56.5+05:00'": "12:34:56.5+05:00", "'24:00:00-01'": "24:00:00-01:00"},
    ),
    Case(
        "TIMESTAMP",
        {"type": "timestamp"},
        {
            "'2000-11-07 01:02:03.456789'": "2000-11-07 01:02:03.456789",
            "'infinity'": "inf",
            "'-infinity'": "-inf",
            "'0044-03-15 (BC) 12:00:00'": "0044-03-15 12:00:00 BC",
            "'290000-01-01 00:00:00'": "290000-01-01 00:00:00",
            "NULL": None,
        },
    ),
    Case(
        "TIMESTAMP_NS",
        {"type": "timestamp"},
        {"'2020-01-01 00:00:00.123456789'": "2020-01-01 00:00:00.123456789", "'infinity'": "inf"},
    ),
    Case("TIMESTAMP_S", {"type": "timestamp"}, {"'2020-01-01 00:00:01'": "2020-01-01 00:00:01"}),
    Case(
        "TIMESTAMP WITH TIME ZONE",
        {"type": "timestamptz"},
        {
            "'2000-11-07 01:02:03.5+02'": "2000-11-07 01:02:03.5+02:00",
            "'infinity'": "inf",
            "'0044-03-15 (BC) 12:00:00+00'": "0044-03-15 12:00:00+00:00 BC",
            "NULL": None,
        },
    ),
    Case(
        "INTERVAL",
        {"type": "interval"},
        {"'1 year 2 months -3 days 01:02:03.5'": [14, -3, 3723500000000], "'-1 month'": [-1, 0, 0], "NULL": None},
    ),
    Case("INTEGER[]", array_of(type="integer", bits=32), {"[1, NULL]": [1, None], "[]": [], "NULL": None}),
    Case("INTEGER[2]", array_of(type="integer", bits=32), {"[1, NULL]": [1, None]}),
    Case("VARCHAR[]", array_of(type="text"), {"['a,b', NULL, '', 'é']": ["a,b", None, "", "é"]}),
    Case(
        "HUGEINT[]",
        array_of(type="integer", bits=128),
        {"[170141183460469231731687303715884105727]": [str(2**127 - 1)]},
    ),
    Case("DOUBLE[]", array_of(type="float64"), {"['nan'::DOUBLE, 1.5, NULL]": ["nan", "1.5", None]}),
    Case(
        "DATE[]",
        array_of(type="date"),
        {"['2000-01-31', NULL]": ["2000-01-31", None], "['12000-01-01']": ["12000-01-01"]},
    ),
    Case(
        "TIMESTAMP_NS[]",
        array_of(type="timestamp"),
        {"['2020-01-01 00:00:00.123456789']": ["2020-01-01 00:00:00.123456789"]},
    ),
    Case(
        "TIMESTAMP WITH TIME ZONE[]",
        array_of(type="timestamptz"),
        {"['2020-01-01 00:00:00+00']": ["2020-01-01 00:00:00+00:00"]},
    ),
    Case("INTERVAL[]", array_of(type="interval"), {"['1 month 2 days', NULL]": [(1, 2, 0), None]}, True),
    Case("BIT[]", array_of(type="bits"), {"['101', NULL]": ["101", None]}),
    Case(
        "INTEGER[][]",
        {"type": "array", "fields": [element(type="array", fields=[INTEGER])]},
        {"[[1], [], NULL, [2, 3]]": [[1], [], None, [2, 3]]},
    ),
    Case(
        'STRUCT(a INTEGER, "b c" VARCHAR)', {"type": "struct", "fields": PAIR}, {"row(1, 'x')": [1, "x"], "NULL": None}
    ),
    Case(
        'STRUCT(a INTEGER, "b c" VARCHAR)[]',
        {"type": "array", "fields": [element(type="struct", fields=PAIR)]},
        {"[row(1, 'x'), NULL]": [[1, "x"], None]},
    ),
    Case(
        "STRUCT(t TIMESTAMP WITH TIME ZONE, d DATE)",
        {
            "type": "struct",
            "fields": [element(type="timestamptz") | {"name": "t"}, element(type="date") | {"name": "d"}],
        },
        {"row('2020-01-01 00:00:00+00', '2000-01-31')": ["2020-01-01 00:00:00+00:00", "2000-01-31"]},
    ),
    Case(
        "MAP(VARCHAR, INTEGER)",
        {"type": "map", "fields": [element(type="text") | {"name": "key"}, INTEGER | {"name": "value"}]},
        {"MAP {'b': 1, 'a': NULL}": [["b", 1], ["a", None]], "MAP {}": [], "NULL": None},
    ),
    Case(
        "MAP(INTEGER[], INTEGER)",
        {
            "type": "map",
            "fields": [element(type="array", fields=[INTEGER]) | {"name": "key"}, INTEGER | {"name": "value"}],
        },
        {"MAP {[1]: 2}": "41010000004e01000000314e0100000032"},
    ),
    Case("UNION(i INTEGER, s VARCHAR)", {"type": "any"}, {"1": {"integer": "1"}, "'x'": "x", "NULL": None}),
]
