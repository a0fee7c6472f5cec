"""Awkward values of every type through each JDBC driver, compared with what the SQL literal says."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rowpath.engines import ENGINES
from rowpath.machine import jvm, postgresql_programs
from rowpath.model.workload import Column, ColumnSpec
from rowpath.runners.process import RunnerFailure
from rowpath.runners.protocol import ParameterSlice, PhaseSpec, VerifyReply
from rowpath.workloads import codec
from tests.runners.java.talk import ADAPTERS, Instances, Talk, java, loaded, path_of
from tests.runners.protocol.codec_vectors import natural

pytestmark = pytest.mark.skipif(bool(jvm.compiler_problem()), reason="no JDK")
EXECUTIONS = 7  # pgjdbc takes binary values from the sixth on


class Named(Talk):
    """A path with a name."""

    named = ""


def column(kind: str, **more: Any) -> ColumnSpec:
    return ColumnSpec(name="v", type=kind, nullable=True, **more)


def array(kind: str, **more: Any) -> ColumnSpec:
    return column("array", fields=(ColumnSpec(name="", type=kind, nullable=True, **more),))


def delivered(talk: Talk, sql: str, columns: list[Any], same_each_time: bool = True) -> VerifyReply:
    """What verify replies once the driver has settled; a sample's touch is the same, or is not."""
    talk.prepare_spec(PhaseSpec(name="q", kind="query", sql=sql, columns=columns))
    sampled = talk.sample("q", operations=EXECUTIONS)
    assert sampled.failed == 0, sampled.failure
    verified = talk.verify("q")
    assert (int(sampled.touch, 16) == int(verified.touch, 16) * EXECUTIONS % 2**64) == same_each_time
    return verified


def kept(talk: Talk, sql: str, declared: ColumnSpec, folder: Path) -> str:
    """The bytes of a single value."""
    verified = delivered(talk, sql, [declared])
    talk.verify("q", keep=str(folder / "kept"))
    assert verified.rows == 1
    return (folder / "kept").read_bytes()[4:].hex()


def spelt(value: Any, declared: ColumnSpec) -> str:
    """The bytes of what the literal says; an interval is a list of its parts in an array too."""
    if declared.type == "array" and declared.fields and declared.fields[0].type == "interval":
        return codec.encode_value([tuple(one) for one in value], declared).hex()
    return codec.encode_value(natural(value, declared), declared).hex()


NESTED_STRUCT = column("struct", fields=(Column("a", "integer", nullable=True), Column("b", "text", nullable=True)))
NESTED_MAP = column("map", fields=(Column("key", "text"), Column("value", "integer", nullable=True)))
Case = tuple[str, ColumnSpec, Any]
POSTGRESQL: list[Case] = [
    ("'NaN'::numeric", column("decimal"), "NaN"),
    ("'Infinity'::numeric", column("decimal"), "Infinity"),
    ("'-Infinity'::numeric", column("decimal"), "-Infinity"),
    ("1e300::numeric", column("decimal"), "1E+300"),
    ("1e-37::numeric", column("decimal"), "1E-37"),
    ("'-0.00'::numeric", column("decimal"), "0"),
    ("18446744073709551615::numeric", column("integer", bits=64), "18446744073709551615"),
    ("4294967295::oid", column("integer", bits=64), "4294967295"),
    ("'7'::xid", column("integer", bits=64), "7"),
    ("'NaN'::float8", column("float64"), "NaN"),
    ("'-Infinity'::float4", column("float32"), "-inf"),
    ("'-0'::float8", column("float64"), "0.0"),
    ("'infinity'::date", column("date"), "inf"),
    ("'-infinity'::date", column("date"), "-inf"),
    ("'0044-03-15 BC'::date", column("date"), "0044-03-15 BC"),
    ("'4713-11-24 BC'::date", column("date"), "4713-11-24 BC"),
    ("'0001-01-01'::date", column("date"), "0001-01-01"),
    ("'1582-10-10'::date", column("date"), "1582-10-10"),
    ("'12000-02-29'::date", column("date"), "12000-02-29"),
    ("'5874897-12-31'::date", column("date"), "5874897-12-31"),
    ("'infinity'::timestamp", column("timestamp"), "inf"),
    ("'-infinity'::timestamp", column("timestamp"), "-inf"),
    ("'0044-03-15 12:00:00 BC'::timestamp", column("timestamp"), "0044-03-15 12:00:00 BC"),
    ("'294276-12-31 23:59:59.999999'::timestamp", column("timestamp"), "294276-12-31 23:59:59.999999"),
    ("'1969-12-31 23:59:59.5'::timestamp", column("timestamp"), "1969-12-31 23:59:59.5"),
    ("'infinity'::timestamptz", column("timestamptz"), "inf"),
    ("'-infinity'::timestamptz", column("timestamptz"), "-inf"),
    ("'0044-03-15 12:00:00+00 BC'::timestamptz", column("timestamptz"), "0044-03-15 12:00:00+00:00 BC"),
    ("'294276-12-31 23:59:59.999999+00'::timestamptz", column("timestamptz"), "294276-12-31 23:59:59.999999+00:00"),
    ("'24:00:00'::time", column("time"), "24:00:00"),
    ("'23:59:59.999999'::time", column("time"), "23:59:59.999999"),
    ("'00:00:00'::time", column("time"), "00:00:00"),
    ("'12:34:56.5+05'::timetz", column("timetz"), "12:34:56.5+05:00"),
    ("'24:00:00-15:59:59'::timetz", column("timetz"), "24:00:00-15:59:59"),
    ("'12:00:00-00:30'::timetz", column("timetz"), "12:00:00-00:30"),
    ("'24:00:00+00'::timetz", column("timetz"), "24:00:00+00:00"),
    ("'1 year 2 mons -3 days 01:02:03.5'::interval", column("interval"), [14, -3, 3723500000000]),
    ("'-1 mons 1 day -00:00:00.000001'::interval", column("interval"), [-1, 1, -1000]),
    ("'-178000000 years'::interval", column("interval"), [-2136000000, 0, 0]),
    ("'infinity'::interval", column("interval"), "inf"),
    ("'-infinity'::interval", column("interval"), "-inf"),
    ("B'101000001'", column("bits"), "101000001"),
    ("B'1'::bit(1)", column("bits", length=1), "1"),
    ("B''::varbit", column("bits"), ""),
    ("'a'::text", column("text"), "a"),
    ("''::text", column("text"), ""),
    ("repeat('é', 100000)", column("text"), "é" * 100000),
    ("'ab'::char(4)", column("char", length=4), "ab"),
    ("'\\x00ff'::bytea", column("binary"), "00ff"),
    ("'{\"a\": 1}'::jsonb", column("json"), '{"a": 1}'),
    ("'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid", column("uuid"), "ffffffff-ffff-ffff-ffff-ffffffffffff"),
    ("NULL::int", column("integer"), None),
    ("NULL::timetz", column("timetz"), None),
    ("ARRAY[1,NULL,-2147483648]", array("integer"), [1, None, -2147483648]),
    ("'{}'::int[]", array("integer"), []),
    ("ARRAY[[1,2],[3,NULL]]", array("integer"), [[1, 2], [3, None]]),
    ("'{{{1}},{{2}}}'::int8[]", array("integer", bits=64), [[[1]], [[2]]]),
    ("ARRAY[1::int2]", array("integer", bits=16), [1]),
    ("ARRAY['a b', NULL, '', 'NULL', 'é\"\\', '{,}']", array("text"), ["a b", None, "", "NULL", 'é"\\', "{,}"]),
    ("ARRAY['NaN','1.50','1e300']::numeric[]", array("decimal"), ["NaN", "1.5", "1e300"]),
    ("ARRAY['NaN','-Infinity',0.1]::float8[]", array("float64"), ["NaN", "-inf", "0.1"]),
    ("ARRAY[0.1]::float4[]", array("float32"), ["0.1"]),
    ("ARRAY[true,NULL,false]", array("boolean"), [True, None, False]),
    ("ARRAY['0044-03-15 BC','infinity','2000-02-29']::date[]", array("date"), ["0044-03-15 BC", "inf", "2000-02-29"]),
    ("ARRAY['1500-01-02']::date[]", array("date"), ["1500-01-02"]),
    ("ARRAY['24:00','12:34:56.789012']::time[]", array("time"), ["24:00:00", "12:34:56.789012"]),
    ("ARRAY['12:34:56.5+05']::timetz[]", array("timetz"), ["12:34:56.5+05:00"]),
    ("ARRAY['1500-01-02 03:04:05.678901','-infinity']::timestamp[]", array("timestamp"),
     ["1500-01-02 03:04:05.678901", "-inf"]),
    ("ARRAY['2000-01-02 03:04:05.678901+02']::timestamptz[]", array("timestamptz"),
     ["2000-01-02 03:04:05.678901+02:00"]),
    ("ARRAY['1 mon -3 days -00:00:01.5']::interval[]", array("interval"), [[1, -3, -1500000000]]),
    ("ARRAY['\\x00ff','']::bytea[]", array("binary"), ["00ff", ""]),
    ("ARRAY[B'101']", array("bits"), ["101"]),
    ("ARRAY['00000000-0000-0000-0000-000000000000']::uuid[]", array("uuid"), ["00000000-0000-0000-0000-000000000000"]),
    ("ARRAY['{\"a\": [1]}']::jsonb[]", array("json"), ['{"a": [1]}']),
    ("ARRAY[4294967295::oid]", array("integer", bits=64), [4294967295]),
    ("'[2:3]={1,2}'::int[]", column("array", fields=array("integer").fields, bounds=False), [1, 2]),
    ("ROW(1,'a')", column("opaque"), ""),
    ("'[1,2)'::int4range", column("opaque"), ""),
    ("'10.0.0.1'::inet", column("opaque"), ""),
    ("'1.50'::money", column("opaque"), ""),
    ("'(1,2)'::point", column("opaque"), ""),
]  # fmt: skip


# What drivers make of values by themselves, without an error; "": not twice the same.
WRAPPED = {  # MariaDB Connector/J: a LocalTime modulo 24 hours
    "TIME(6) '838:59:59'": "740096fb244e4b0000",  # 22:59:59
    "TIME(6) '-838:59:59'": "74006a536c46030000",  # 01:00:01
    "TIME '25:30:00'": "7400f01449e9040000",  # 01:30:00
    "TIME '24:00:00'": "740000000000000000",
    "TIME '-01:00:00'": "74006096604e4b0000",  # 23:00:00
    "TIME(6) '-00:00:00.5'": "74009b8173944e0000",  # 23:59:59.5
    "DATE '0000-00-00'": "00",
    "DATETIME(6) '0000-00-00 00:00:00'": "00",
}
MARIADB = "mariadb-java-client"
OWN: dict[tuple[str, str], str] = {
    ("prepared-binary", "'24:00:00-15:59:59'::timetz"): "790036efcf6234000000000000",  # 15:59:59 UTC
    ("prepared-binary", "'24:00:00+00'::timetz"): "",
    ("connector-j-prepared", "TIME(6) '-838:59:59'"): "7400ea41ee06d5f5ff",  # its getString: -794:59:59
    ("connector-j-prepared", "TIME '-01:00:00'"): "7400a0b83046030000",  # without the sign
    ("connector-j-prepared", "TIME(6) '-00:00:00.5'"): "740065cd1d00000000",
    ("connector-j-bound", "TIME(6) '-00:00:00.5'"): "740065cd1d00000000",
    (f"{MARIADB}-prepared", "DATE '2024-00-15'"): "64fa4c0000",  # 2023-12-15
    (f"{MARIADB}-prepared", "DATE '2024-01-00'"): "640a4d0000",  # 2023-12-31
    **{(f"{MARIADB}-{how}", case): data for how in ("prepared", "bound") for case, data in WRAPPED.items()},
}


@pytest.fixture(scope="module")
def postgresql() -> Iterator[Instances]:
    if not postgresql_programs.availability().ok:
        pytest.skip("no PostgreSQL")
    with loaded([("postgresql", "server")], []) as started:
        yield started


@pytest.fixture(scope="module", params=["prepared-text", "prepared-binary", "bound-text", "text-text"])
def pgjdbc(request: pytest.FixtureRequest, postgresql: Instances) -> Iterator[Named]:
    statement, form = request.param.split("-")
    path = path_of("pgjdbc", statement=statement, format=form)
    talk = Named(ADAPTERS["pgjdbc"], path, postgresql["postgresql", "server"].options(path))
    talk.named = request.param
    yield talk
    talk.close()


@pytest.mark.parametrize(("sql", "declared", "value"), POSTGRESQL, ids=[case[0][:60] for case in POSTGRESQL])
def test_pgjdbc(pgjdbc: Named, sql: str, declared: ColumnSpec, value: Any, tmp_path: Path) -> None:
    if OWN.get((pgjdbc.named, sql)) == "":
        delivered(pgjdbc, f"SELECT {sql}", [declared], same_each_time=False)
        return
    expected = OWN.get((pgjdbc.named, sql)) or spelt(value, declared)
    assert kept(pgjdbc, f"SELECT {sql}", declared, tmp_path) == expected


def test_pgjdbc_zero_columns(pgjdbc: Talk) -> None:
    verified = delivered(pgjdbc, "SELECT FROM generate_series(1, 1000)", [])
    assert (verified.rows, verified.digest[:5], verified.columns) == (1000, "1000:", [])


def test_pgjdbc_an_interval_beyond_64_bits_of_nanoseconds(pgjdbc: Talk) -> None:
    verified = delivered(pgjdbc, "SELECT '2562047788:00:54.775807'::interval", [column("interval")])
    assert (verified.rows, verified.columns[0].foreign) == (1, 1)
    assert "2562047788:00:54.775807' is no interval" in verified.columns[0].reason


def test_pgjdbc_lower_bounds_are_left_out(pgjdbc: Talk) -> None:
    """PgArray's getArray has none; where arrays are taken as text they are met."""
    verified = delivered(pgjdbc, "SELECT '[2:3]={2000-01-01,2000-01-02}'::date[]", [array("date")])
    assert verified.columns[0].bounds


def test_pgjdbc_names_that_occur_twice(pgjdbc: Talk) -> None:
    twice = [Column("name", "text"), Column("name", "text")]
    assert delivered(pgjdbc, "SELECT 'a' AS name, 'b' AS name", twice).digest == codec.digest([("a", "b")], twice)


MYSQL: list[tuple[str, str, ColumnSpec, Any]] = [  # type, literal
    ("TIME(6)", "'838:59:59'", column("time"), "838:59:59"),
    ("TIME(6)", "'-838:59:59'", column("time"), "-838:59:59"),
    ("TIME", "'25:30:00'", column("time"), "25:30:00"),
    ("TIME", "'24:00:00'", column("time"), "24:00:00"),
    ("TIME", "'-01:00:00'", column("time"), "-01:00:00"),
    ("TIME(6)", "'-00:00:00.5'", column("time"), "-00:00:00.5"),
    ("TIME(6)", "'12:34:56.789012'", column("time"), "12:34:56.789012"),
    ("TIME", "'00:00:00'", column("time"), "00:00:00"),
    ("DATE", "'0000-00-00'", column("date"), "0000-00-00"),
    ("DATE", "'2024-00-15'", column("date"), "2024-00-15"),
    ("DATE", "'2024-01-00'", column("date"), "2024-01-00"),
    ("DATE", "'1000-01-01'", column("date"), "1000-01-01"),
    ("DATE", "'9999-12-31'", column("date"), "9999-12-31"),
    ("DATETIME(6)", "'0000-00-00 00:00:00'", column("timestamp"), "0000-00-00 00:00:00"),
    ("DATETIME(6)", "'2024-00-15 10:11:12.5'", column("timestamp"), "2024-00-15 10:11:12.5"),
    ("DATETIME(6)", "'9999-12-31 23:59:59.999999'", column("timestamp"), "9999-12-31 23:59:59.999999"),
    ("YEAR", "2024", column("integer", bits=16), 2024),
    ("YEAR", "0", column("integer", bits=16), 0),
    ("BIT(1)", "b'1'", column("bits", length=1), "1"),
    ("BIT(9)", "b'101000001'", column("bits", length=9), "101000001"),
    ("BIT(64)", "18446744073709551615", column("bits", length=64), "1" * 64),
    ("BIT(64)", "0", column("bits", length=64), "0" * 64),
    ("TINYINT(1)", "-1", column("integer", bits=16), -1),
    ("TINYINT(1)", "2", column("integer", bits=16), 2),
    ("TINYINT(1)", "127", column("integer", bits=16), 127),
    ("TINYINT UNSIGNED", "255", column("integer", bits=16), 255),
    ("INT UNSIGNED", "4294967295", column("integer", bits=64), 4294967295),
    ("BIGINT UNSIGNED", "18446744073709551615", column("integer", bits=64), "18446744073709551615"),
    ("BIGINT UNSIGNED", "18446744073709551615", column("integer", bits=128), "18446744073709551615"),
    ("DECIMAL(65,30)", "0.000000000000000000000000000001", column("decimal"), "1E-30"),
    ("DOUBLE", "1.7976931348623157e308", column("float64"), "1.7976931348623157e308"),
    ("VARCHAR(20) CHARACTER SET latin1", "'é'", column("varchar"), "é"),
    ("VARCHAR(20) CHARACTER SET utf8mb3", "'€'", column("varchar"), "€"),
    ("VARCHAR(20) CHARACTER SET utf8mb4", "'😀'", column("varchar"), "😀"),
    ("VARCHAR(20)", "'a\\0b'", column("varchar"), "a\0b"),
    ("ENUM('a','b')", "'b'", column("text"), "b"),
    ("SET('a','b')", "'a,b'", column("text"), "a,b"),
    ("BLOB", "X'00ff'", column("binary"), "00ff"),
    ("INT", "NULL", column("integer"), None),
]


@pytest.fixture(scope="module")
def mariadb() -> Iterator[Instances]:
    if not ENGINES["mariadb"].availability().ok:
        pytest.skip("no MariaDB")
    with loaded([("mariadb", "server")], []) as started:
        yield started


@pytest.fixture(scope="module", params=["connector-j-prepared", "connector-j-bound", "mariadb-java-client-prepared",
                                        "mariadb-java-client-bound"])  # fmt: skip
def mysql(request: pytest.FixtureRequest, mariadb: Instances) -> Iterator[Named]:
    driver, _, statement = request.param.rpartition("-")
    path = path_of(driver, statement=statement)
    talk = Named(ADAPTERS[driver], path, mariadb["mariadb", "server"].options(path))
    talk.named = request.param
    yield talk
    talk.close()


@pytest.mark.parametrize(
    ("kind", "literal", "declared", "value"), MYSQL, ids=[" ".join(case[:2])[:60] for case in MYSQL]
)
def test_mysql(mysql: Named, kind: str, literal: str, declared: ColumnSpec, value: Any, tmp_path: Path) -> None:
    mysql.run("SET sql_mode = ''", "DROP TABLE IF EXISTS torture", f"CREATE TABLE torture (v {kind})")
    mysql.run(f"INSERT INTO torture VALUES ({literal})")
    expected = OWN.get((mysql.named, f"{kind} {literal}")) or spelt(value, declared)
    assert kept(mysql, "SELECT v FROM torture", declared, tmp_path) == expected


DUCKDB: list[Case] = [
    ("170141183460469231731687303715884105727::HUGEINT", column("integer", bits=128),
     "170141183460469231731687303715884105727"),
    ("(-170141183460469231731687303715884105728)::HUGEINT", column("integer", bits=128),
     "-170141183460469231731687303715884105728"),
    ("340282366920938463463374607431768211455::UHUGEINT", column("integer", bits=128),
     "340282366920938463463374607431768211455"),
    ("18446744073709551615::UBIGINT", column("integer", bits=64), "18446744073709551615"),
    ("18446744073709551615::UBIGINT", column("integer", bits=128), "18446744073709551615"),
    ("4294967295::UINTEGER", column("integer", bits=64), 4294967295),
    ("255::UTINYINT", column("integer", bits=16), 255),
    ("65535::USMALLINT", column("integer", bits=32), 65535),
    ("(-128)::TINYINT", column("integer", bits=16), -128),
    ("NULL::HUGEINT", column("integer", bits=128), None),
    ("99999999999999999999999999999999.999999::DECIMAL(38,6)", column("decimal"),
     "99999999999999999999999999999999.999999"),
    ("'NaN'::DOUBLE", column("float64"), "NaN"),
    ("'-Infinity'::FLOAT", column("float32"), "-inf"),
    ("'infinity'::DATE", column("date"), "inf"),
    ("'-infinity'::DATE", column("date"), "-inf"),
    ("'0044-03-15 (BC)'::DATE", column("date"), "0044-03-15 BC"),
    ("'12000-02-29'::DATE", column("date"), "12000-02-29"),
    ("'5874897-12-31'::DATE", column("date"), "5874897-12-31"),
    ("'1582-10-10'::DATE", column("date"), "1582-10-10"),
    ("'infinity'::TIMESTAMP", column("timestamp"), "inf"),
    ("'-infinity'::TIMESTAMP", column("timestamp"), "-inf"),
    ("'0044-03-15 (BC) 12:00:00'::TIMESTAMP", column("timestamp"), "0044-03-15 12:00:00 BC"),
    ("'1969-12-31 23:59:59.123456'::TIMESTAMP", column("timestamp"), "1969-12-31 23:59:59.123456"),
    ("'1969-12-31 23:59:59.123456789'::TIMESTAMP_NS", column("timestamp"), "1969-12-31 23:59:59.123456789"),
    ("'1969-12-31 23:59:59.123'::TIMESTAMP_MS", column("timestamp"), "1969-12-31 23:59:59.123"),
    ("'1969-12-31 23:59:59'::TIMESTAMP_S", column("timestamp"), "1969-12-31 23:59:59"),
    ("'infinity'::TIMESTAMPTZ", column("timestamptz"), "inf"),
    ("'-infinity'::TIMESTAMPTZ", column("timestamptz"), "-inf"),
    ("'2000-01-02 03:04:05.678901+02'::TIMESTAMPTZ", column("timestamptz"), "2000-01-02 03:04:05.678901+02:00"),
    ("'23:59:59.999999'::TIME", column("time"), "23:59:59.999999"),
    ("'12:34:56.123456789'::TIME_NS", column("time"), "12:34:56.123456789"),
    ("'12:34:56.5+05:30'::TIMETZ", column("timetz"), "12:34:56.5+05:30"),
    ("INTERVAL '14 months -3 days 3723.5 seconds'", column("interval"), [14, -3, 3723500000000]),
    ("INTERVAL '-1 year 1 day -0.000001 seconds'", column("interval"), [-12, 1, -1000]),
    ("'101000001'::BIT", column("bits"), "101000001"),
    ("'1'::BIT", column("bits"), "1"),
    ("'\\x00\\xFF'::BLOB", column("binary"), "00ff"),
    ("''::BLOB", column("binary"), ""),
    ("'a' || chr(0) || 'b'", column("text"), "a\0b"),
    ("''", column("text"), ""),
    ("'b'::ENUM('a','b')", column("text"), "b"),
    ("'{\"a\": 1}'::JSON", column("json"), '{"a": 1}'),
    ("'ffffffff-ffff-ffff-ffff-ffffffffffff'::UUID", column("uuid"), "ffffffff-ffff-ffff-ffff-ffffffffffff"),
    ("[1, NULL, -2147483648]", array("integer"), [1, None, -2147483648]),
    ("[]::INTEGER[]", array("integer"), []),
    ("[[1, 2], [], NULL, [3]]", column("array", fields=(array("integer"),)), [[1, 2], [], None, [3]]),
    ("[1, 2]::INTEGER[2]", array("integer"), [1, 2]),
    ("['a', NULL, '', 'é']", array("text"), ["a", None, "", "é"]),
    ("[1.50::DECIMAL(5,2)]", array("decimal"), ["1.5"]),
    ("['NaN'::DOUBLE, 0.1]", array("float64"), ["NaN", "0.1"]),
    ("['0044-03-15 (BC)'::DATE, 'infinity'::DATE]", array("date"), ["0044-03-15 BC", "inf"]),
    ("['1500-01-02 03:04:05.678901'::TIMESTAMP]", array("timestamp"), ["1500-01-02 03:04:05.678901"]),
    ("['2020-01-01 00:00:00.123456789'::TIMESTAMP_NS]", array("timestamp"), ["2020-01-01 00:00:00.123456789"]),
    ("['2000-01-02 03:04:05.678901+02'::TIMESTAMPTZ]", array("timestamptz"), ["2000-01-02 03:04:05.678901+02:00"]),
    ("['12:34:56.789012'::TIME]", array("time"), ["12:34:56.789012"]),
    ("['\\x00\\xFF'::BLOB]", array("binary"), ["00ff"]),
    ("[true, NULL]", array("boolean"), [True, None]),
    ("[170141183460469231731687303715884105727::HUGEINT]", array("integer", bits=128),
     ["170141183460469231731687303715884105727"]),
    ("['00000000-0000-0000-0000-000000000001'::UUID]", array("uuid"), ["00000000-0000-0000-0000-000000000001"]),
    ("[INTERVAL '1 month -3 days']", array("interval"), [[1, -3, 0]]),
    ("['101'::BIT]", array("bits"), ["101"]),
    ("{'a': 1, 'b': 'x'}", NESTED_STRUCT, [1, "x"]),
    ("{'a': NULL::INTEGER, 'b': NULL::VARCHAR}", NESTED_STRUCT, [None, None]),
    ("NULL::STRUCT(a INTEGER, b VARCHAR)", NESTED_STRUCT, None),
    ("[{'a': 1, 'b': 'x'}, NULL]", column("array", fields=(NESTED_STRUCT,)), [[1, "x"], None]),
    ("MAP {'b': 1, 'a': NULL}", NESTED_MAP, [["b", 1], ["a", None]]),
    ("MAP {}::MAP(VARCHAR, INTEGER)", NESTED_MAP, []),
    ("1::UNION(num INTEGER, str VARCHAR)", column("any"), {"integer": "1"}),
    ("'1'::UNION(num INTEGER, str VARCHAR)", column("any"), "1"),
    ("'0.5'::DOUBLE::UNION(num DOUBLE, str VARCHAR)", column("any"), {"float": "0.5"}),
    ("DATE '2000-01-02'", column("opaque"), ""),
]  # fmt: skip


@pytest.fixture(scope="module", params=["whole", "chunked:2048"])
def duckdb(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Talk]:
    yield from embedded("duckdb_jdbc", tmp_path_factory.mktemp("duckdb") / "database", result=request.param)


def embedded(driver: str, file: Path, **coordinates: str) -> Iterator[Talk]:
    adapter = ADAPTERS[driver]
    java.build([(adapter, adapter.versions[0])])
    talk = Talk(adapter, path_of(driver, **coordinates), {"path": str(file)})
    yield talk
    talk.close()


@pytest.mark.parametrize(("sql", "declared", "value"), DUCKDB, ids=[case[0][:60] for case in DUCKDB])
def test_duckdb(duckdb: Talk, sql: str, declared: ColumnSpec, value: Any, tmp_path: Path) -> None:
    assert kept(duckdb, f"SELECT {sql} AS v", declared, tmp_path) == spelt(value, declared)


@pytest.mark.parametrize(("sql", "kind"), [("'24:00:00'::TIME", "time"), ("'24:00:00+00'::TIMETZ", "timetz")])
def test_duckdb_refuses_with_its_own_words(duckdb: Talk, sql: str, kind: str) -> None:
    duckdb.prepare_spec(PhaseSpec(name="q", kind="query", sql=f"SELECT {sql} AS v", columns=[column(kind)]))
    with pytest.raises(RunnerFailure, match=f"column v as {kind}: Invalid value for NanoOfDay") as failure:
        duckdb.verify("q")
    assert failure.value.kind == "unsupported"


SQLITE: list[Case] = [
    ("9007199254740993", column("any"), {"integer": "9007199254740993"}),
    ("0.5", column("any"), {"float": "0.5"}),
    ("1.0", column("any"), {"float": "1.0"}),
    ("'1'", column("any"), "1"),
    ("X'00ff'", column("any"), {"hex": "00ff"}),
    ("NULL", column("any"), None),
    ("9e999", column("any"), {"float": "inf"}),
    ("9e999", column("float64"), "inf"),
    ("'bar' || char(0) || 'baz'", column("text"), "bar\0baz"),
    ("'0000-00-00'", column("date"), "0000-00-00"),
    ("'2000-01-02'", column("date"), "2000-01-02"),
    ("'-0043-03-15'", column("date"), "0044-03-15 BC"),
    ("'25:30:00'", column("time"), "25:30:00"),
    ("'12:34'", column("time"), "12:34:00"),
    ("'2000-01-02'", column("timestamp"), "2000-01-02 00:00:00"),
    ("'2000-01-02T03:04:05.123456789Z'", column("timestamptz"), "2000-01-02 03:04:05.123456789+00:00"),
    ("'NaN'", column("decimal"), "NaN"),
    ("'1e30'", column("decimal"), "1E+30"),
    ("1.5", column("decimal"), "1.5"),
    ("9223372036854775807", column("integer", bits=64), 9223372036854775807),
]


@pytest.fixture(scope="module")
def sqlite(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Talk]:
    yield from embedded("sqlite-jdbc", tmp_path_factory.mktemp("sqlite") / "database")


@pytest.mark.parametrize(("sql", "declared", "value"), SQLITE, ids=[f"{case[0]} {case[1].type}" for case in SQLITE])
def test_sqlite(sqlite: Talk, sql: str, declared: ColumnSpec, value: Any, tmp_path: Path) -> None:
    assert kept(sqlite, f"SELECT {sql} AS v", declared, tmp_path) == spelt(value, declared)


FOREIGN = {
    "'no date'": ("date", "no date"),
    "'soon'": ("time", "no time"),
    "'x'": ("decimal", "no decimal"),
    "X'00'": ("decimal", "no decimal"),
    "'y'": ("uuid", "no uuid"),
}


@pytest.mark.parametrize("sql", FOREIGN)
def test_sqlite_foreign(sqlite: Talk, sql: str) -> None:
    kind, reason = FOREIGN[sql]
    verified = delivered(sqlite, f"SELECT {sql} AS v UNION ALL SELECT NULL", [column(kind)])
    assert (verified.rows, verified.columns[0].foreign) == (2, 1)
    assert reason in verified.columns[0].reason


def test_sqlite_text_that_is_no_utf8(sqlite: Talk, tmp_path: Path) -> None:
    """Sqlite-jdbc's getString has a replacement character for it."""
    assert kept(sqlite, "SELECT CAST(X'41ff42' AS TEXT) AS v", column("text"), tmp_path) == spelt(
        "A\ufffdB", column("text")
    )


H2: list[Case] = [
    ("TIME '23:59:59.999999999'", column("time"), "23:59:59.999999999"),
    ("TIME WITH TIME ZONE '12:34:56.5+05:30'", column("timetz"), "12:34:56.5+05:30"),
    ("TIMESTAMP '2020-01-01 00:00:00.123456789'", column("timestamp"), "2020-01-01 00:00:00.123456789"),
    ("DATE '-0043-03-15'", column("date"), "0044-03-15 BC"),
    ("DATE '12000-02-29'", column("date"), "12000-02-29"),
    ("CAST('NaN' AS DECFLOAT)", column("decimal"), "NaN"),
    ("CAST('-Infinity' AS DECFLOAT)", column("decimal"), "-Infinity"),
    ("CAST('NaN' AS REAL)", column("float32"), "NaN"),
    ("1E300", column("decimal"), "1E+300"),
    ("ARRAY['a', NULL]", array("text"), ["a", None]),
    ("ARRAY[TIME '12:34:56.789012']", array("time"), ["12:34:56.789012"]),
    ("ARRAY[ARRAY[1, 2], NULL]", column("array", fields=(array("integer"),)), [[1, 2], None]),
    ("CAST(ARRAY[] AS INTEGER ARRAY)", array("integer"), []),
    ("ROW(1, 'x')", NESTED_STRUCT, [1, "x"]),
    ("'a' || CHAR(0) || 'b'", column("text"), "a\0b"),
    ("U&'\\D800'", column("text"), {"hex": "eda080"}),
    ("INTERVAL '1' DAY", column("opaque"), ""),
]


@pytest.fixture(scope="module")
def h2(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Talk]:
    yield from embedded("h2", tmp_path_factory.mktemp("h2") / "database")


@pytest.mark.parametrize(("sql", "declared", "value"), H2, ids=[case[0] for case in H2])
def test_h2(h2: Talk, sql: str, declared: ColumnSpec, value: Any, tmp_path: Path) -> None:
    assert kept(h2, f"SELECT {sql} AS v", declared, tmp_path) == spelt(value, declared)


HSQLDB: list[Case] = [
    ("TIME '23:59:59.999999'", column("time"), "23:59:59.999999"),
    ("TIME '12:34:56+5:30'", column("timetz"), "12:34:56+05:30"),
    ("TIMESTAMP '2020-01-01 00:00:00.123456789'", column("timestamp"), "2020-01-01 00:00:00.123456789"),
    ("B'101000001'", column("bits"), "101000001"),
    ("CAST(B'101' AS BIT VARYING(20))", column("bits"), "101"),
    ("ARRAY['a', NULL]", array("text"), ["a", None]),
    ("ARRAY[1, NULL]", array("integer"), [1, None]),
    ("ARRAY[DATE '2000-01-02']", array("date"), ["2000-01-02"]),
    ("CAST('a' AS VARCHAR(3))", column("text"), "a"),
]


@pytest.fixture(scope="module")
def hsqldb(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Talk]:
    yield from embedded("hsqldb", tmp_path_factory.mktemp("hsqldb") / "database")


@pytest.mark.parametrize(("sql", "declared", "value"), HSQLDB, ids=[case[0] for case in HSQLDB])
def test_hsqldb(hsqldb: Talk, sql: str, declared: ColumnSpec, value: Any, tmp_path: Path) -> None:
    assert kept(hsqldb, f"VALUES ({sql})", declared, tmp_path) == spelt(value, declared)


DERBY: list[Case] = [
    ("TIME('23:59:59')", column("time"), "23:59:59"),
    ("TIMESTAMP('2020-01-01 00:00:00.123456789')", column("timestamp"), "2020-01-01 00:00:00.123456789"),
    ("DATE('0001-01-01')", column("date"), "0001-01-01"),
    ("DATE('9999-12-31')", column("date"), "9999-12-31"),
    ("TIMESTAMP('1500-01-02 03:04:05.678901')", column("timestamp"), "1500-01-02 03:04:05.678901"),
    ("9999999999999999999999999999999.", column("decimal"), "9999999999999999999999999999999"),
    ("'a'", column("integer"), None),
]


@pytest.fixture(scope="module")
def derby(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Talk]:
    yield from embedded("derby", tmp_path_factory.mktemp("derby") / "database")


@pytest.mark.parametrize(("sql", "declared", "value"), DERBY, ids=[case[0] for case in DERBY])
def test_derby(derby: Talk, sql: str, declared: ColumnSpec, value: Any, tmp_path: Path) -> None:
    bytes_of = kept(derby, f"VALUES {sql}", declared, tmp_path)
    assert bytes_of == (spelt(value, declared) if value is not None else "3f0100000061")


PARAMETERS: list[Case] = [
    ("?::numeric", column("decimal"), "NaN"),
    ("?::numeric", column("decimal"), "-Infinity"),
    ("?::numeric", column("decimal"), "1.5"),
    ("?::numeric", column("integer", bits=128), "170141183460469231731687303715884105727"),
    ("?::interval", column("interval"), "inf"),
    ("?::interval", column("interval"), [14, -3, 3723500000000]),
    ("?::int[]", column("array"), [[1, 2], [3, 4]]),
]


def bound(talk: Talk, case: Case, folder: Path) -> str:
    """The bytes of a parameter that a query delivers again."""
    sql, declared, value = case
    file = folder / "parameters"
    codec.write_rows(file, [(natural(value, declared),)], [declared])  # type: ignore[list-item]
    spec = PhaseSpec(name="q", kind="query", sql=f"SELECT {sql}", columns=[declared], parameter_columns=[declared])
    talk.prepare_spec(spec, ParameterSlice(file=str(file), first=0, count=1))
    talk.verify("q", keep=str(folder / "kept"))
    return (folder / "kept").read_bytes()[4:].hex()


@pytest.mark.parametrize("case", PARAMETERS, ids=str)
def test_pgjdbc_parameter(pgjdbc: Named, case: Case, tmp_path: Path) -> None:
    if case[1].type == "array" and pgjdbc.named == "text-text":
        with pytest.raises(RunnerFailure, match="no array literals"):
            bound(pgjdbc, case, tmp_path)
    else:
        assert bound(pgjdbc, case, tmp_path) == spelt(*case[:0:-1])


def test_duckdb_parameter(duckdb: Talk, tmp_path: Path) -> None:
    wide = ("?::HUGEINT", column("integer", bits=128), "170141183460469231731687303715884105727")
    assert bound(duckdb, wide, tmp_path) == spelt(*wide[:0:-1])


def test_a_parameter_that_the_driver_cannot_take(duckdb: Talk, tmp_path: Path) -> None:
    with pytest.raises(RunnerFailure, match="no parameter NaN") as failure:
        bound(duckdb, ("?", column("decimal"), "NaN"), tmp_path)
    assert failure.value.kind == "unsupported"
