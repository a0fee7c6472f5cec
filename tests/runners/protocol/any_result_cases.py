"""Queries of results of any type, by engine: what `test_any_result.py` puts through every adapter."""

from __future__ import annotations

from tests.runners.protocol.any_result_postgresql import POSTGRESQL
from tests.runners.protocol.query_cases import Cases, each_and_null, wide

ZERO_DATES = (  # 0000-00-00 as NULL, or as 0001-01-01
    "odbc-mariadb",
    "ado-odbc-mariadb",
    "mariadb-java-client",
    "mysqlclient",
    "mariadb",
    "mysql-connector",
    "sqlx-mysql",
    "go-sql-driver-mysql",
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
    frozenset(("geometry",)),
    {
        "integers": ("mariadb",),  # binary: a TINYINT of -128 as 128
        "unsigned": ("mysql-connector",),  # prepared: the greatest BIGINT UNSIGNED as -1
        "decimals": ("mysql-connector",),
        "set": ("mysql-connector",),  # without the type's order
        "fractional times": ("ado-odbc-mariadb",),  # whole seconds alone
        "beyond a day": ("mariadb-java-client",),
        # as a time of the day, or without the sign
        "before midnight": ("mariadb-java-client", "connector-j", "ado-odbc-mariadb", "sqlx-mysql"),
        "zero date": ZERO_DATES,
        "zero datetime": ZERO_DATES,
    },
    {
        "integers": "integer:16 integer:16 integer:32 integer:32 integer:64",
        "unsigned": "integer:16 integer:32 integer:32 integer:64 integer:128 integer:64",
        "tinyint(1)": "integer:16 integer:16 integer:16",
        "decimals": "decimal(9,2) decimal(60,20) decimal(5,5) decimal(3,2) decimal(6,4) integer:128",
        "floats": "float32 float64",
        "binaries": "binary(4) binary(10) binary(4294967295) binary(2)",
        "timestamps": "timestamp timestamp timestamp",
        "beyond a day": "time",
        "enum": "text",
        "set": "text",
        "bit": "bits(10)",
        "uuid": "char",
        "inet6": "char",
    },
    {
        "binaries": ("ado-odbc-mariadb",),  # no length beyond 31 bits
        "enum": ("ado-odbc-mariadb",),  # a char
        "set": ("ado-odbc-mariadb",),
        "bit": ("ado-odbc-mariadb",),  # the bits of whole bytes
    },
    own_errors={
        "connectorx": "^not implemented: |^Could not retrieve ",
        "mariadb": "returned a result with an exception set",  # binary: a date of no calendar
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
    own_ways={
        # text of a column declared as a date or decimal, as a time or number of the driver's
        "declared": (
            "modernc-sqlite",
            "ncruces-sqlite",
            "mattn-sqlite3",
            "mono-data-sqlite",
            "adbc-sqlite",
            "libsqliteodbc",
            "ado-libsqliteodbc",
        ),
        "integers and reals": ("libsqliteodbc", "ado-libsqliteodbc"),  # each value as the first one's type
        "text and integer": ("libsqliteodbc", "ado-libsqliteodbc", "adbc-sqlite"),
        "text and blob": ("libsqliteodbc", "ado-libsqliteodbc", "adbc-sqlite"),
        "many rows": ("ado-libsqliteodbc", "libsqliteodbc"),  # 15 digits of floating point
    },
    types={
        "integers": "integer:64 integer:64",
        "integers and reals": "any",
        "text and integer": "any",
        "text and blob": "any",
        "blobs": "binary",
        "NULL": "text",
        "no rows": "text text",
    },
    own_errors={
        "libsqliteodbc": "takes no SQL beyond ASCII",
        "ado-libsqliteodbc": "takes no SQL beyond ASCII",
    },
)

DUCKDB_TYPES = {
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
        **each_and_null(**DUCKDB_TYPES),
        "NULL": "SELECT NULL AS a",
        "no rows": "SELECT 1 AS a, 'x' AS b, 1.5 AS c WHERE false",
        "one column": "SELECT 1",
        "duplicate names": "SELECT 1 AS a, 'b' AS a, INTERVAL '1 day' AS a",
        "strange names": 'SELECT 1 AS "a ""b"" \'c\' ?", INTERVAL \'1 day\' AS "é €", now() - now() AS "%s {0}"',
        "operators": "SELECT 7 % 3 AS a, '?' AS b, 'x' LIKE '%' AS c",
        "1600 columns": wide(1600),
        "many rows": "SELECT i, 'row ' || i AS t, i / 7 AS d, nullif(i % 3, 0) AS n FROM range(3000) AS t (i)",
    },
    own_ways={
        "infinite date": ("python_duckdb",),  # 9999-12-31
        "infinite timestamp": ("python_duckdb",),
        "uhugeint": ("duckdb-go", "rust_duckdb"),  # in columns of Arrow: another number
        "timestamp_ns": ("python_duckdb",),  # microseconds
        "timetz": ("duckdb-go", "rust_duckdb"),  # in columns of Arrow, and of Rust in rows: without the zone
    },
    types={
        "integers": "integer:16 integer:16 integer:32 integer:64",
        "unsigned": "integer:16 integer:32 integer:64 integer:64",
        "ubigint": "integer:128",
        "hugeint": "integer:128",
        "uhugeint": "integer:128",
        "decimals": "decimal(4,2) decimal(38,2) decimal(9,3) decimal(5,5)",
        "lists": "array[integer:32] array[integer:64] array[integer:16]",
        "list of lists": "array[array[integer:32]]",
        "list of decimals": "array[decimal(2,1)]",
        "list of structures": "array[struct[integer:32]]",
        "list of timestamps": "array[timestamp]",
        "array": "array[integer:32]",
        "struct": "struct[integer:32 struct[text text]]",
        "map": "map[text integer:32]",
        "map of intervals": "map[integer:32 interval]",
        "union": "any",
        "bit": "bits",
        "timetz": "timetz",
        "json": "json json",
        "uuid": "uuid uuid",
    },
    described_otherwise={  # NULL as INTEGER: what DuckDB makes of it where it is prepared
        "NULL": ("duckdb-go",),
        "struct": ("duckdb-go",),
    },
    storage="v1.5.0",
)

ENGINES = {"postgresql": POSTGRESQL, "mariadb": MARIADB, "sqlite": SQLITE, "duckdb": DUCKDB}
