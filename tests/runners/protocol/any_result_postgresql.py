"""Results of any query on PostgreSQL, and what every runner must make of them."""

from __future__ import annotations

from tests.runners.protocol.query_cases import Cases, each_and_null, wide

POSTGRESQL_COMPARED = {
    "numeric array": "'{1.5,NULL,NaN}'::numeric[]",
    "boolean array": "'{t,NULL}'::bool[]",
    "float array": "'{1.5,NaN}'::float8[]",
    "date array": "'{2000-02-29,NULL}'::date[]",
    "timestamptz array": "'{2000-02-29 12:34:56+02}'::timestamptz[]",
    "interval array": "'{1 day}'::interval[]",
    "uuid array": "'{00112233-4455-6677-8899-aabbccddeeff}'::uuid[]",
    "jsonb array": "ARRAY['{}'::jsonb]",
    "bytea array": "ARRAY['\\x00ff'::bytea]",
    "enum array": "'{sad,NULL}'::mood[]",
    "two dimensions of texts": "'{{a,b},{c,d}}'::text[]",
    "bit(8)": "B'01010101'",
    "varbit": "B'010'::varbit",
    "domain of texts": "'{a}'::words",
    "xid": "'7'::xid",
}
POSTGRESQL_OPAQUE = {
    "inet array": "'{::1,127.0.0.1/8}'::inet[]",
    "composite array": "ARRAY[ROW(1, 'a')::pair]",
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
    "tsvector": "'a:1 b:2'::tsvector",
    "tsquery": "'a & b'::tsquery",
    "pair": "ROW(1, 'é')::pair",
    "regclass": "'pg_class'::regclass",
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
        **each_and_null(**POSTGRESQL_COMPARED, **POSTGRESQL_OPAQUE),
        "many rows": "SELECT i, i::text, i::numeric / 7, CASE WHEN i % 3 = 0 THEN NULL ELSE i END "
        "FROM generate_series(1, 3000) AS i",
    },
    [
        "CREATE TYPE mood AS ENUM ('sad', 'glad')",
        "CREATE DOMAIN positive AS int CHECK (VALUE > 0)",
        "CREATE DOMAIN words AS text[]",
        "CREATE TYPE pair AS (a int, b text)",
    ],
    frozenset(("inet", "money", "range", "composite", "void")) | set(POSTGRESQL_OPAQUE),
    {
        # 9999-12-31 and 0001-01-01; of ConnectorX and columns of Arrow, the infinite days of the wire
        "infinite dates": ("psqlodbc", "ado-psqlodbc", "psycopg2", "asyncpg", "connectorx", "adbc-postgresql"),
        "infinite timestamps": ("psqlodbc", "ado-psqlodbc", "psycopg2", "asyncpg", "connectorx", "adbc-postgresql"),
        "before Christ": ("psqlodbc", "ado-psqlodbc"),  # the year 44 of our era
        "after 9999": ("psqlodbc", "ado-psqlodbc"),
        "times": ("ado-psqlodbc",),  # whole seconds alone
        "24:00": ("psycopg2", "adbc-postgresql", "connectorx"),  # 00:00
        "two dimensions": ("adbc-postgresql",),  # as one
        "two dimensions of texts": ("adbc-postgresql",),
        "void": ("asyncpg",),  # as NULL
        "json": ("connectorx",),  # without the text's blanks
        "bit": ("connectorx",),
        "many rows": ("connectorx",),  # ten digits of a decimal's fraction
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
        "arrays": "array[integer:32] array[integer:32] array[integer:32] array[integer:16] array[integer:64]",
        "text[]": "array[text]",
        "two dimensions": "array[integer:32]",
        "numeric array": "array[decimal(0,0)]",
        "interval array": "array[interval]",
        "domain of texts": "array[text]",
        "oid": "integer:64",
        "xid": "integer:64",
        "bit": "bits",
        "timetz": "timetz",
        "json": "json json json json",
        "enum": "text text",
        "domain": "integer:32",
        "duplicate names": "integer:32 text decimal(0,0) interval",
    },
    {"question mark operator": ("ado-psqlodbc",)},
    own_errors={
        "": "no binary output function available",  # the server's: aclitem
        # A date or time beyond Python's.
        "psycopg": r"too (large|small) \((after year 10K|before year 1)\)|hour must be in 0..23|time not supported by",
        "psycopg2": r"^year -?\d+ is out of range",
        "asyncpg": r"^year -?\d+ is out of range|^ordinal must be >= 1|^hour must be in 0..23",
        "adbc-postgresql": r"^date value out of range|^days=-\d+; must have magnitude|"
        "Expected nested record type",  # a record of no declared type
        "connectorx": "^not implemented: |error deserializing column|^Number less than minimum|^decimal scale is not",
        "sqlx-postgres": "unknown type code 109",  # a multirange
        # `?` is always a placeholder to them.
        "pgjdbc": "^No value specified for parameter 1",
        "psqlodbc": "Parameters exist but IPD|The # of binded parameters",
        "ado-psqlodbc": "Parameters exist but IPD|The # of binded parameters",
    },
)
