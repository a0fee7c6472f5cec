"""Queries of results of any type, by engine: what `test_any_result.py` puts through every adapter."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Cases:
    """An engine's queries by name; `describer` is the Python driver that says what their columns are."""

    describer: str
    queries: dict[str, str]
    setting_up: list[str] = field(default_factory=list)
    # Queries with columns of which only NULL or not is compared.
    opaque: frozenset[str] = frozenset()
    # By query: drivers that deliver another value than the engine has, or refuse the SQL; each seen apart from us.
    own_ways: dict[str, tuple[str, ...]] = field(default_factory=dict)
    # By query: its columns' types, each `type`, `type:bits`, `type(length)` or `type(precision,scale)`.
    types: dict[str, str] = field(default_factory=dict)
    # By query: drivers that describe it otherwise than `describer`, with what their interface lets them know.
    described_otherwise: dict[str, tuple[str, ...]] = field(default_factory=dict)
    # Where the engine has several: the one that every driver's build reads.
    storage: str = ""


def each_and_null(**values: str) -> dict[str, str]:
    """By name of a type a query of one such value and NULL."""
    return {name: f"SELECT {value} AS a UNION ALL SELECT NULL" for name, value in values.items()}


def wide(count: int) -> str:
    """So many columns of one row."""
    return "SELECT " + ", ".join(f"{number} AS column_{number}" for number in range(count))


POSTGRESQL_OPAQUE = {
    "numeric array": "'{1.5,NULL,NaN}'::numeric[]",
    "boolean array": "'{t,NULL}'::bool[]",
    "float array": "'{1.5,NaN}'::float8[]",
    "date array": "'{2000-02-29,NULL}'::date[]",
    "timestamptz array": "'{2000-02-29 12:34:56+02}'::timestamptz[]",
    "interval array": "'{1 day}'::interval[]",
    "uuid array": "'{00112233-4455-6677-8899-aabbccddeeff}'::uuid[]",
    "jsonb array": "ARRAY['{}'::jsonb]",
    "bytea array": "ARRAY['\\x00ff'::bytea]",
    "inet array": "'{::1,127.0.0.1/8}'::inet[]",
    "enum array": "'{sad,NULL}'::mood[]",
    "composite array": "ARRAY[ROW(1, 'a')::pair]",
    "two dimensions of texts": "'{{a,b},{c,d}}'::text[]",
    "cidr": "'10.0.0.0/8'::cidr",
    "macaddr": "'08:00:2b:01:02:03'::macaddr",
    "macaddr8": "'08:00:2b:01:02:03:04:05'::macaddr8",
    "numrange": "'[1.5,)'::numrange",
    "tstzrange": "'[2000-01-01 00:00+00,2000-01-02 00:00+00)'::tstzrange",
    "empty range": "'empty'::int8range",
    "multirange": "'{[1,2),[5,9)}'::int4multirange",
    "point": "'(1,2.5)'::point",
    "line": "'{1,2,3}'::line",
    "lseg": "'[(1,2),(3,4)]'::lseg",
    "box": "'(3,4),(1,2)'::box",
    "path": "'((1,2),(3,4))'::path",
    "polygon": "'((1,2),(3,4),(5,6))'::polygon",
    "circle": "'<(1,2),3>'::circle",
    "bit(8)": "B'01010101'",
    "varbit": "B'010'::varbit",
    "tsvector": "'a:1 b:2'::tsvector",
    "tsquery": "'a & b'::tsquery",
    "pair": "ROW(1, 'é')::pair",
    "domain of texts": "'{a}'::words",
    "regclass": "'pg_class'::regclass",
    "xid": "'7'::xid",
    "pg_lsn": "'16/B374D848'::pg_lsn",
    "int2vector": "'1 2'::int2vector",
    "jsonpath": "'$.a'::jsonpath",
    "aclitem": "makeaclitem(10, 10, 'SELECT', false)",
}


POSTGRESQL = Cases(
    "psycopg",
    {
        "integers": "SELECT * FROM (VALUES (1::int2, 2::int4, 3::int8), "
        "((-32768)::int2, -2147483648, -9223372036854775808), (NULL, NULL, NULL)) AS t (a, b, c)",
        "numeric": "SELECT * FROM (VALUES (1.5::numeric), (NULL), (0), (-0.000000000000000000000000000001), "
        "(1e60::numeric), (1234567890123456789012345678901234567890.123456789::numeric)) AS t (n)",
        "numeric(40,20)": "SELECT n::numeric(40,20) FROM (VALUES (1.5), (NULL), "
        "(-12345678901234567890.12345678901234567890)) AS t (n)",
        "numeric(9,2)": "SELECT n::numeric(9,2) FROM (VALUES (1.5), (NULL), (-1234567.89)) AS t (n)",
        "numeric(3,-2)": "SELECT n::numeric(3,-2) FROM (VALUES (1500), (NULL), (-99900)) AS t (n)",
        "numeric(3,5)": "SELECT n::numeric(3,5) FROM (VALUES (0.00123), (NULL)) AS t (n)",
        "numeric NaN": "SELECT * FROM (VALUES ('NaN'::numeric), (1)) AS t (n)",
        "numeric infinity": "SELECT * FROM (VALUES ('Infinity'::numeric), ('-Infinity')) AS t (n)",
        "floats": "SELECT * FROM (VALUES (1.5::float4, 0.1::float8), ('NaN', 'NaN'), ('Infinity', '-Infinity'), (NULL, "
        "NULL), (3e38, 1.7e308)) AS t (a, b)",
        "booleans": "SELECT * FROM (VALUES (true), (false), (NULL)) AS t (a)",
        "texts": "SELECT 'é€😀'::text, 'a'::varchar, 'abc'::varchar(10), 'ab'::char(5), 'ab'::bpchar, 'n'::name, "
        "''::text, NULL::text, NULL::char(3)",
        "char": "SELECT 'x'::\"char\"",
        "unknown": "SELECT 'unknown', NULL",
        "large text": "SELECT repeat('0123456789abcdéf', 65536) AS large",
        "large bytea": "SELECT decode(repeat('00ff', 524288), 'hex') AS large",
        "bytea": "SELECT * FROM (VALUES ('\\x00ff'::bytea), (''), (NULL)) AS t (a)",
        "dates": "SELECT '2000-02-29'::date, '0001-01-01'::date, '9999-12-31'::date, NULL::date",
        "infinite dates": "SELECT 'infinity'::date, '-infinity'::date",
        "infinite timestamps": "SELECT 'infinity'::timestamp, '-infinity'::timestamptz",
        "before Christ": "SELECT '0044-03-15 BC'::date",
        "after 9999": "SELECT '12000-01-01'::date, '12000-01-01 00:00:01'::timestamp",
        "times": "SELECT '12:34:56.789012'::time, '00:00'::time, '23:59:59.999999'::time, NULL::time, '12:00'::time(0)",
        "24:00": "SELECT '24:00'::time",
        "timestamps": "SELECT '2000-02-29 12:34:56.789012'::timestamp, '1969-12-31 23:59:59.5'::timestamp, "
        "NULL::timestamp, '1900-01-01'::timestamp(0)",
        "timestamptz": "SELECT '2000-02-29 12:34:56.789012+02'::timestamptz, "
        "'1901-12-13 20:45:52.000001+00'::timestamptz, "
        "NULL::timestamptz",
        "intervals": "SELECT '1 year 2 months 3 days 04:05:06.789'::interval, "
        "'-1 month +2 days -00:00:01.5'::interval, "
        "NULL::interval, '0'::interval, '1 day'::interval day",
        "long interval": "SELECT '100000 hours'::interval",
        "json": 'SELECT \'{"a": [1, 2.50]}\'::json, \'{"b":null, "a": "é"}\'::jsonb, NULL::json, NULL::jsonb',
        "arrays": "SELECT '{1,2,NULL}'::int[], '{}'::int[], NULL::int[], '{-32768}'::int2[], "
        "'{9223372036854775807}'::int8[]",
        "two dimensions": "SELECT '{{1,2},{3,4}}'::int[]",
        "text[]": "SELECT '{a,b,NULL}'::text[]",
        "uuid": "SELECT '00112233-4455-6677-8899-aabbccddeeff'::uuid, NULL::uuid",
        "enum": "SELECT 'sad'::mood, NULL::mood",
        "domain": "SELECT 5::positive",
        "oid": "SELECT 26::oid",
        "inet": "SELECT '127.0.0.1'::inet",
        "money": "SELECT 5::money",
        "bit": "SELECT B'0101'",
        "range": "SELECT int4range(1, 5)",
        "timetz": "SELECT '12:00+02'::timetz",
        "composite": "SELECT ROW(1, 'a')",
        "void": "SELECT pg_sleep(0)",
        "no rows": "SELECT 1 AS a, 'x'::text AS b, 1.5::numeric AS c WHERE false",
        "one column": "SELECT 1",
        "duplicate names": "SELECT 1 AS a, 'b' AS a, 1.5 AS a, now() - now() AS a",
        "strange names": 'SELECT 1 AS "a ""b"" \'c\' ?", 2 AS "é €", \'3\'::interval AS "x;y", '
        "'2000-01-01'::timestamptz AS \"%s {0}\"",
        "operators": "SELECT 7 % 3 AS a, '?' AS b, 'x' LIKE '%' AS c, 1 /* ? */ AS d",
        "question mark operator": "SELECT '{\"a\": 1}'::jsonb ? 'a' AS a",
        "1600 columns": wide(1600),
        **each_and_null(**POSTGRESQL_OPAQUE),
        "many rows": "SELECT i, i::text, i::numeric / 7, CASE WHEN i % 3 = 0 THEN NULL ELSE i END "
        "FROM generate_series(1, 3000) AS i",
    },
    [
        "CREATE TYPE mood AS ENUM ('sad', 'glad')",
        "CREATE DOMAIN positive AS int CHECK (VALUE > 0)",
        "CREATE DOMAIN words AS text[]",
        "CREATE TYPE pair AS (a int, b text)",
    ],
    frozenset(("char", "oid", "inet", "money", "bit", "range", "timetz", "composite", "void", "text[]"))
    | set(POSTGRESQL_OPAQUE),
    {
        "infinite dates": ("psqlodbc", "ado-psqlodbc", "psycopg2", "asyncpg"),  # 9999-12-31 and 0001-01-01
        "infinite timestamps": ("psqlodbc", "psycopg2"),
        "before Christ": ("psqlodbc", "ado-psqlodbc"),  # the year 44 of our era
        "after 9999": ("psqlodbc", "ado-psqlodbc"),
        "times": ("ado-psqlodbc",),  # whole seconds alone
        "24:00": ("psycopg2", "adbc-postgresql", "connectorx", "pgjdbc", "ado-psqlodbc"),  # 00:00, 23:59:59.999999999
        "two dimensions": ("adbc-postgresql",),  # as one
        "multirange": ("sqlx-postgres",),  # refused: it knows no such kind of type
        "composite": ("adbc-postgresql",),  # a record of no declared type: "Expected nested record type …"
        "aclitem": (
            "libpq",
            "psycopg",
            "adbc-postgresql",
            "tokio-postgres",
            "postgres",
            "sqlx-postgres",
        ),  # it has no binary form, so the server refuses that
        "void": ("asyncpg",),  # as NULL
        "question mark operator": ("psqlodbc", "ado-psqlodbc", "pgjdbc"),  # always a placeholder to them
    },
    {
        "integers": "integer:16 integer:32 integer:64",
        "numeric": "decimal(0,0)",
        "numeric(40,20)": "decimal(40,20)",
        "numeric(3,-2)": "decimal(5,0)",
        "numeric(3,5)": "decimal(5,5)",
        "floats": "float32 float64",
        "texts": "text varchar varchar(10) char(5) char text text text char(3)",
        "timestamptz": "timestamptz timestamptz timestamptz",
        "arrays": "array:32 array:32 array:32 array:16 array:64",
        "json": "json json json json",
        "enum": "text text",
        "domain": "integer:32",
        "duplicate names": "integer:32 text decimal(0,0) interval",
    },
    {"question mark operator": ("ado-psqlodbc",)},
)


MARIADB = Cases(
    "pymysql",
    {
        "integers": "SELECT t1, t2, t3, t4, t8 FROM integers",
        "unsigned": "SELECT u1, u2, u3, u4, u8, z FROM integers",
        "tinyint(1)": "SELECT flag, yes, y FROM integers",
        "decimals": "SELECT d, wide, CAST(1.5 AS DECIMAL(5,5)), 1.50, 10/4, 18446744073709551615 FROM decimals",
        "floats": "SELECT f, g FROM floats",
        "texts": "SELECT 'é€😀' AS a, c, v, t, '' AS e, NULL AS n FROM texts",
        "binaries": "SELECT b, vb, bl, X'00ff' AS x FROM texts",
        "large text": "SELECT REPEAT('0123456789abcdéf', 65536) AS large",
        "large blob": "SELECT REPEAT(X'00ff', 524288) AS large",
        "dates": "SELECT DATE'2000-02-29' AS a, DATE'0001-01-01' AS b, DATE'9999-12-31' AS c, CAST(NULL AS DATE) AS d",
        "zero date": "SELECT z FROM moments",
        "zero datetime": "SELECT zt FROM moments",
        "times": "SELECT TIME'12:34:56' AS a, TIME'00:00:00' AS b, CAST(NULL AS TIME) AS c",
        "fractional times": "SELECT ft FROM moments",
        "beyond a day": "SELECT TIME'100:00:00' AS a",
        "before midnight": "SELECT TIME'-01:00:00' AS a",
        "timestamps": "SELECT dt, ts, d6 FROM moments",
        "now": "SELECT CAST('2020-01-02 03:04:05.678901' AS DATETIME(6)) AS a",
        "json": "SELECT j, JSON_OBJECT('a', 1) AS o FROM documents",
        "enum": "SELECT e FROM documents",
        "set": "SELECT s FROM documents",
        "bit": "SELECT b FROM documents",
        "geometry": "SELECT g FROM documents",
        "uuid": "SELECT u FROM documents",
        "inet6": "SELECT i FROM documents",
        "NULL": "SELECT NULL AS a, NULL AS b",
        "no rows": "SELECT t1, d, CAST('x' AS CHAR) AS c FROM integers, decimals WHERE t1 = 77",
        "one column": "SELECT 1",
        "duplicate names": "SELECT 1 AS a, 'b' AS a, 1.5 AS a",
        "strange names": "SELECT 1 AS `a \"b\" 'c' ?`, 2 AS `é €`, 3 AS `%s {0}`",
        "operators": "SELECT 7 % 3 AS a, '?' AS b, '%' LIKE '\\%' AS c",
        "aggregates": "SELECT SUM(t4) AS s, AVG(t4) AS a, COUNT(*) AS c, MAX(t8) AS m, "
        "GROUP_CONCAT(t1) AS g FROM integers",
        "limited": "SELECT t1 FROM integers ORDER BY t1 LIMIT 1",
        "common table": "WITH x AS (SELECT 1 AS a) SELECT a, a FROM x",
        "1600 columns": wide(1600),
        "many rows": "SELECT seq, CONCAT('row ', seq) AS t, seq / 7 AS d, NULLIF(seq % 3, 0) AS n FROM seq_1_to_3000",
    },
    [
        "CREATE TABLE integers (t1 TINYINT, t2 SMALLINT, t3 MEDIUMINT, t4 INT, t8 BIGINT, u1 TINYINT UNSIGNED, "
        "u2 SMALLINT UNSIGNED, u3 MEDIUMINT UNSIGNED, u4 INT UNSIGNED, u8 BIGINT UNSIGNED, z INT(8) ZEROFILL, "
        "flag TINYINT(1), yes BOOLEAN, y YEAR)",
        "INSERT INTO integers VALUES (-128, -32768, -8388608, -2147483648, -9223372036854775808, 255, 65535, 16777215, "
        "4294967295, 18446744073709551615, 42, 7, TRUE, 1999), "
        "(NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)",
        "CREATE TABLE decimals (d DECIMAL(9, 2), wide DECIMAL(60, 20))",
        "INSERT INTO decimals VALUES (-1234567.89, -1234567890123456789012345678901234567890.00000000000000000001), "
        "(NULL, NULL), (1.5, 0)",
        "CREATE TABLE floats (f FLOAT, g DOUBLE)",
        "INSERT INTO floats VALUES (1.5, 0.1), (NULL, NULL), (-0.25, 1.7e308), (1024, -2.2250738585072014e-308)",
        "CREATE TABLE texts (c CHAR(5), v VARCHAR(10), t LONGTEXT, b BINARY(4), vb VARBINARY(10), bl LONGBLOB) "
        "CHARACTER SET utf8mb4",
        "INSERT INTO texts VALUES ('ab', 'é ', '😀', X'0102', X'00ff', X''), (NULL, NULL, NULL, NULL, NULL, NULL)",
        "CREATE TABLE moments (z DATE, zt DATETIME, ft TIME(6), dt DATETIME, ts TIMESTAMP NULL, d6 DATETIME(6))",
        "SET SESSION sql_mode = ''",
        "INSERT INTO moments VALUES ('0000-00-00', '0000-00-00 00:00:00', '12:34:56.789012', '1969-12-31 23:59:59', "
        "'2000-02-29 12:34:56', '1900-01-01 00:00:00.5'), (NULL, NULL, NULL, NULL, NULL, NULL)",
        "CREATE TABLE documents (j JSON, e ENUM('sad', 'glad'), s SET('a', 'b', 'c'), b BIT(10), g GEOMETRY, u UUID, "
        "i INET6)",
        "INSERT INTO documents VALUES ('{\"a\": [1, 2.50]}', 'glad', 'a,c', b'1000000001', POINT(1, 2), "
        "'00112233-4455-6677-8899-aabbccddeeff', '::1'), (NULL, NULL, NULL, NULL, NULL, NULL, NULL)",
    ],
    frozenset(("set", "bit", "geometry")),
    {
        "integers": ("mariadb",),  # binary: a TINYINT of -128 as 128
        "unsigned": ("mysql-connector",),  # prepared: the greatest BIGINT UNSIGNED as -1
        "decimals": ("mysql-connector",),
        "fractional times": ("ado-odbc-mariadb",),  # whole seconds alone
        "before midnight": ("mariadb-java-client",),  # -01:00:00 as a time of the day
        "zero date": ("go-sql-driver-mysql",),  # as 0001-01-01
        "zero datetime": ("go-sql-driver-mysql",),
    },
    {
        "integers": "integer:16 integer:16 integer:32 integer:32 integer:64",
        "unsigned": "integer:16 integer:32 integer:32 integer:64 decimal(20,0) integer:64",
        "tinyint(1)": "integer:16 integer:16 integer:16",
        "decimals": "decimal(9,2) decimal(60,20) decimal(5,5) decimal(3,2) decimal(6,4) decimal(20,0)",
        "floats": "float32 float64",
        "binaries": "binary(4) binary(10) binary(4294967295) binary(2)",
        "timestamps": "timestamp timestamp timestamp",
        "beyond a day": "time",
        "enum": "text",
        "uuid": "char",
    },
    {
        "binaries": ("ado-odbc-mariadb",),  # no length beyond 31 bits
        "enum": ("ado-odbc-mariadb",),  # a char
        "set": ("ado-odbc-mariadb",),
    },
)

SQLITE = Cases(
    "sqlite3",
    {
        "integers": "SELECT column1 AS a, column2 AS b FROM (VALUES (1, -9223372036854775808), (NULL, "
        "9223372036854775807))",
        "reals": "SELECT column1 AS a FROM (VALUES (1.5), (NULL), (-2.5e10), (9e999), (0.1))",
        "integers and reals": "SELECT column1 AS a FROM (VALUES (1), (1.5), (NULL))",
        "texts": "SELECT column1 AS a, column2 AS b FROM (VALUES ('é€😀', ''), (NULL, 'ab  '), ('2000-01-01', '1.50'))",
        "text and integer": "SELECT column1 AS a FROM (VALUES ('x'), (1), (NULL), (1.5), (X'00'), (''))",
        "text and blob": "SELECT column1 AS a FROM (VALUES ('x'), (X'00ff'))",
        "blobs": "SELECT column1 AS a FROM (VALUES (X'00ff'), (X''), (NULL))",
        "large text": "SELECT replace(hex(zeroblob(524288)), '00', 'ab') AS large",
        "large blob": "SELECT zeroblob(131072) AS large",
        "NULL": "SELECT NULL AS a",
        "declared": "SELECT * FROM declared",
        "no rows": "SELECT 1 AS a, 'x' AS b WHERE 0",
        "one column": "SELECT 1",
        "duplicate names": "SELECT 1 AS a, 'b' AS a, 1.5 AS a",
        "strange names": 'SELECT 1 AS "a ""b"" \'c\' ?", 2 AS "é €", 3 AS "%s {0}"',
        "operators": "SELECT 7 % 3 AS a, '?' AS b, '%' LIKE '%' AS c",
        "1600 columns": wide(1600),
        "many rows": "WITH RECURSIVE t (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM t WHERE i < 3000) "
        "SELECT i, 'row ' || i AS t, i / 7.0 AS d, nullif(i % 3, 0) AS n FROM t",
    },
    [
        "CREATE TABLE declared (b BOOLEAN, d DATE, n DECIMAL(9, 2), t TIMESTAMP, v VARCHAR(5), i INTEGER)",
        "INSERT INTO declared VALUES (1, '2000-02-29', '1.50', '2000-02-29 12:34:56', 'longer than five', 5), "
        "(NULL, NULL, NULL, NULL, NULL, NULL), (0, 'not a date', 12345678901, 1234567890, '', -5)",
    ],
    frozenset(("text and integer", "text and blob", "declared")),
    {"declared": ("modernc-sqlite",)},  # text of a column declared as a date, as a time of Go
    types={
        "integers": "integer:64 integer:64",
        "integers and reals": "float64",
        "blobs": "binary",
        "NULL": "text",
        "no rows": "text text",
    },
)

DUCKDB_OPAQUE = {
    "uhugeint": "340282366920938463463374607431768211455::UHUGEINT",
    "timestamp_ns": "'2000-02-29 12:34:56.789012345'::TIMESTAMP_NS",
    "timetz": "TIMETZ '12:00:00+02'",
    "list of texts": "['é', NULL]",
    "list of lists": "[[1, 2], NULL, []]",
    "list of decimals": "[1.5, NULL]",
    "list of structures": "[{'a': 1}]",
    "list of timestamps": "[TIMESTAMP '2000-02-29 12:34:56.789012']",
    "array": "[1, 2]::INTEGER[2]",
    "struct": "{'a': 1, 'b': {'c': 'x', 'd': NULL}}",
    "map": "MAP {'a': 1}",
    "map of intervals": "MAP {1: INTERVAL '1 day'}",
    "union": "union_value(k := 1)",
    "bit": "'0101'::BIT",
}

DUCKDB = Cases(
    "duckdb",
    {
        "integers": "SELECT * FROM (VALUES (1::TINYINT, 2::SMALLINT, 3::INTEGER, 4::BIGINT), (-128, -32768, "
        "-2147483648, -9223372036854775808), (NULL, NULL, NULL, NULL)) AS t (a, b, c, d)",
        "unsigned": "SELECT 255::UTINYINT AS a, 65535::USMALLINT AS b, 4294967295::UINTEGER AS c, NULL::UINTEGER AS d",
        "ubigint": "SELECT * FROM (VALUES (18446744073709551615::UBIGINT), (NULL), (1)) AS t (a)",
        "hugeint": "SELECT * FROM (VALUES (170141183460469231731687303715884105727::HUGEINT), "
        "(-170141183460469231731687303715884105727), (NULL), (1)) AS t (a)",
        "sums": "SELECT sum(i) AS s, avg(i) AS a, count(*) AS c FROM range(10) AS t (i)",
        "decimals": "SELECT 1.50::DECIMAL(4,2) AS a, -12345678901234567890.12::DECIMAL(38,2) AS b, "
        "NULL::DECIMAL(9,3) AS c, 0.00123::DECIMAL(5,5) AS d",
        "floats": "SELECT * FROM (VALUES (1.5::FLOAT, 0.1::DOUBLE), ('NaN', 'NaN'), ('Infinity', '-Infinity'), "
        "(NULL, NULL)) AS t (a, b)",
        "booleans": "SELECT * FROM (VALUES (true), (false), (NULL)) AS t (a)",
        "texts": "SELECT 'é€😀' AS a, '' AS b, NULL::VARCHAR AS c",
        "enum": "SELECT 'sad'::ENUM('sad', 'glad') AS a, NULL::ENUM('x') AS b",
        "large text": "SELECT repeat('0123456789abcdéf', 65536) AS large",
        "blobs": "SELECT '\\x00\\xFF'::BLOB AS a, ''::BLOB AS b, NULL::BLOB AS c",
        "dates": "SELECT DATE '2000-02-29' AS a, DATE '0001-01-01' AS b, DATE '9999-12-31' AS c, NULL::DATE AS d",
        "infinite date": "SELECT 'infinity'::DATE AS a",
        "infinite timestamp": "SELECT 'infinity'::TIMESTAMP AS a",
        "before Christ": "SELECT DATE '0044-03-15 (BC)' AS a",
        "times": "SELECT TIME '12:34:56.789012' AS a, TIME '00:00:00' AS b, NULL::TIME AS c",
        "timestamps": "SELECT TIMESTAMP '2000-02-29 12:34:56.789012' AS a, '1969-12-31 23:59:59'::TIMESTAMP_S AS b, "
        "'1969-12-31 23:59:59.5'::TIMESTAMP_MS AS c, NULL::TIMESTAMP AS d",
        "timestamptz": "SELECT TIMESTAMPTZ '2000-02-29 12:34:56.789012+02' AS a, NULL::TIMESTAMPTZ AS b",
        "intervals": "SELECT INTERVAL '1 year 2 months 3 days 04:05:06.789' AS a, INTERVAL '-1 month' AS b, "
        "NULL::INTERVAL AS c",
        "uuid": "SELECT '00112233-4455-6677-8899-aabbccddeeff'::UUID AS a, NULL::UUID AS b",
        "json": "SELECT '{\"a\": [1, 2.50]}'::JSON AS a, NULL::JSON AS b",
        "lists": "SELECT [1, 2, NULL]::INTEGER[] AS a, []::BIGINT[] AS b, NULL::SMALLINT[] AS c",
        **each_and_null(**DUCKDB_OPAQUE),
        "NULL": "SELECT NULL AS a",
        "no rows": "SELECT 1 AS a, 'x' AS b, 1.5 AS c WHERE false",
        "one column": "SELECT 1",
        "duplicate names": "SELECT 1 AS a, 'b' AS a, INTERVAL '1 day' AS a",
        "strange names": 'SELECT 1 AS "a ""b"" \'c\' ?", INTERVAL \'1 day\' AS "é €", now() - now() AS "%s {0}"',
        "operators": "SELECT 7 % 3 AS a, '?' AS b, 'x' LIKE '%' AS c",
        "1600 columns": wide(1600),
        "many rows": "SELECT i, 'row ' || i AS t, i / 7 AS d, nullif(i % 3, 0) AS n FROM range(3000) AS t (i)",
    },
    opaque=frozenset(DUCKDB_OPAQUE),
    own_ways={
        "infinite date": ("duckdb", "duckdb_jdbc"),  # as rows: 9999-12-31; 5881580-07-11
        "infinite timestamp": ("duckdb", "duckdb_jdbc"),
        "before Christ": ("duckdb_jdbc",),  # as 0044-03-15
    },
    types={
        "integers": "integer:16 integer:16 integer:32 integer:64",
        "unsigned": "integer:16 integer:32 integer:64 integer:64",
        "ubigint": "decimal(20,0)",
        "hugeint": "decimal(39,0)",
        "decimals": "decimal(4,2) decimal(38,2) decimal(9,3) decimal(5,5)",
        "lists": "array:32 array:64 array:16",
        "json": "json json",
        "uuid": "uuid uuid",
    },
    described_otherwise={"NULL": ("duckdb-go",)},  # as INTEGER: what DuckDB makes of it where it is prepared
    storage="v1.5.0",
)

ENGINES = {"postgresql": POSTGRESQL, "mariadb": MARIADB, "sqlite": SQLITE, "duckdb": DUCKDB}
