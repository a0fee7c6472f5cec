"""What passes as plainly a query; docs/probe.md says why that is advice, not protection."""

from __future__ import annotations

import pytest

from rowpath.engines.probe_facts import Syntax
from rowpath.errors import UsageError
from rowpath.own_database.query_check import check_query, leading_key

QUERIES = (
    "SELECT 1 -- a\r\n+ 1 -- b\r",
    "SELECT substring(a FOR key) FROM t WHERE use AND keep",
    "SELECT 1",
    "  select a, b from t where c = 'it''s; a -- string' ; ",
    "WITH x AS (SELECT 1) SELECT * FROM x",
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 9) SELECT * FROM n",
    "(SELECT 1) UNION (SELECT 2)",
    "VALUES (1), (2)",
    "TABLE orders",
    "-- what; for\nSELECT /* into; */ 1",
    'SELECT "into", "update" FROM "for update"',
    "SELECT replace(a, 'x', 'y'), insert(a, 1, 1, 'b'), extract(year FROM d) FROM t",
    "SELECT a FROM t FOR READ ONLY",
    "SELECT i - -1 FROM t",
    "SELECT id, (insert + update + delete) AS changes FROM audit WHERE use AND active",
    "SELECT count(delete), max(replace), (a) + (update) FROM audit WHERE lock IN (1, 2)",
    "WITH update AS (SELECT 1), delete AS (SELECT 2) SELECT * FROM update, delete",
    "WITH x AS (WITH delete AS (SELECT 1) SELECT * FROM delete) SELECT * FROM x",
    "SELECT t.insert, merge FROM t ORDER BY update",
)
OTHERS = (
    ("SELECT 1 -- a\r+ 1", "carriage return"),
    ("SELECT a FROM t FOR KEY SHARE", "locks"),
    ("", "empty"),
    (" ; ", "empty"),
    ("-- SELECT 1", "empty"),
    ("SELECT 1; SELECT 2", "several statements"),
    ("INSERT INTO t VALUES (1)", "begins with INSERT"),
    ("EXPLAIN ANALYZE SELECT 1", "begins with EXPLAIN"),
    ("COPY t TO PROGRAM 'sh'", "begins with COPY"),
    ("CALL f()", "begins with CALL"),
    ("SHOW TABLES", "begins with SHOW"),
    ("SELECT * INTO u FROM t", "INTO"),
    ("SELECT a FROM t INTO OUTFILE '/tmp/x'", "INTO"),
    ("SELECT a FROM t FOR UPDATE", "locks"),
    ("SELECT a FROM t FOR NO KEY UPDATE", "locks"),
    ("SELECT a FROM t LOCK IN SHARE MODE", "locks"),
    ("SELECT a FROM t WITH (UPDLOCK)", "locks"),
    ("WITH x AS (DELETE FROM t RETURNING *) SELECT * FROM x", "DELETE"),
    ("WITH x AS (SELECT 1) UPDATE t SET a = 1", "UPDATE"),
    ("WITH x AS MATERIALIZED (UPDATE t SET a = 1 RETURNING *) SELECT * FROM x", "UPDATE"),
    ("WITH x AS NOT MATERIALIZED (/* a */ DELETE FROM t RETURNING *) SELECT * FROM x", "DELETE"),
    ("WITH x AS (WITH y AS (SELECT 1) DELETE FROM t RETURNING *) SELECT * FROM x", "DELETE"),
    ("WITH update AS (SELECT 1) DELETE FROM t", "DELETE"),
    ("SELECT * FROM t WITH RS USE AND KEEP EXCLUSIVE LOCKS", "locks"),
    ("SELECT * FROM FINAL TABLE (INSERT INTO t VALUES (1))", "INSERT|INTO"),
    ("SELECT pg_terminate_backend(1)", "pg_terminate_backend"),
    ("SELECT pg_catalog.setval('s', 1)", "setval"),
    ("SELECT \"setval\"('s', 1)", "setval"),
    ("SELECT lo_unlink(1)", "lo_unlink"),
    ("SELECT NEXT VALUE FOR s", "sequence"),
    ("SELECT set_config('transaction_read_only', 'off', false)", "set_config"),
    ("WITH x AS MATERIALIZED (\ufeffUPDATE t SET a = 1) SELECT 1", "UPDATE"),  # a blank to DuckDB
    ("SELECT 1 AS a -- x\rINTO u", "carriage return"),
    ("SELECT /*! INTO OUTFILE '/tmp/x' */ 1", "comment"),
    ("SELECT 'a", "never closed"),
    ("SELECT /* a", "never closed"),
)


@pytest.mark.parametrize("sql", QUERIES)
@pytest.mark.parametrize("engine", ["postgresql", "sqlite", "jdbc"])
def test_a_query_passes(sql: str, engine: str) -> None:
    check_query(sql, engine)


@pytest.mark.parametrize(("sql", "why"), OTHERS)
@pytest.mark.parametrize("engine", ["postgresql", "mysql", "odbc"])
def test_anything_else_is_refused_with_the_reason(sql: str, why: str, engine: str) -> None:
    with pytest.raises(UsageError, match=why) as failure:
        check_query(sql, engine)
    assert failure.value.hint


@pytest.mark.parametrize(
    "sql",
    [
        "INSERT INTO t VALUES (?)",
        "update t set a = 1",
        "DELETE FROM t",
        "CALL f()",
        "WITH x AS (SELECT 1) UPDATE t SET a = 1",
        "WITH x AS (DELETE FROM t RETURNING *) SELECT * FROM x",
    ],
)
def test_what_writes_is_refused_with_where_writes_are_measured(sql: str) -> None:
    with pytest.raises(UsageError, match="only a single SELECT") as failure:
        check_query(sql, "postgresql")
    assert "a probe changes nothing" in failure.value.hint and "experiments" in failure.value.hint


@pytest.mark.parametrize(
    ("engine", "sql", "passes"),
    [
        ("mysql", "SELECT 'a\\'; DROP TABLE t; -- '", True),
        ("postgresql", "SELECT 'a\\'; DROP TABLE t; -- '", False),
        ("postgresql", "SELECT E'a\\'; DROP TABLE t; -- '", True),
        ("jdbc", "SELECT 'a\\'; DROP TABLE t; -- '", False),
        ("mysql", "SELECT 1 # ; DROP TABLE t", True),
        ("postgresql", "SELECT a #> '{b}' FROM t", True),
        ("mysql", "SELECT 1 --1; DROP TABLE t", False),
        ("mysql", "SELECT 1 --\u00a0; DROP TABLE t", False),
        ("mysql", "SELECT `into` FROM t", True),
        ("sqlite", "SELECT [into] FROM t", True),
        ("postgresql", "SELECT a[1] FROM t", True),
        ("postgresql", "SELECT $x$; DROP TABLE t; $x$", True),
        ("sqlite", "SELECT $x$; DROP TABLE t; $x$", False),
        ("postgresql", "SELECT /* /* */ 1; */ 2", True),
        ("mysql", "SELECT /* /* */ 1", False),
        ("duckdb", "FROM t", True),
        ("postgresql", "FROM t", False),
        ("parquet", "SELECT 1", False),
    ],
)
def test_each_engine_reads_strings_and_comments_its_own_way(engine: str, sql: str, passes: bool) -> None:
    if passes:
        check_query(sql, engine)
        return
    with pytest.raises(UsageError):
        check_query(sql, engine)


@pytest.mark.parametrize(
    ("sql", "key"),
    [
        ("SELECT 1", None),
        ("SELECT a FROM t ORDER BY a", "a"),
        ("SELECT a FROM t order by t.a desc, b limit 3", "a"),
        ("SELECT a FROM t ORDER BY 2 NULLS LAST", "2"),
        ('SELECT a FROM t ORDER BY "A b"', "A b"),
        ("SELECT a FROM t ORDER BY lower(a), b", ""),
        ("SELECT a FROM t ORDER BY a + 1", ""),
        ("SELECT a, row_number() OVER (ORDER BY a) FROM t", None),
        ("SELECT a FROM (SELECT a FROM t ORDER BY a) AS s", None),
        ("(SELECT a FROM t ORDER BY a) UNION ALL SELECT 1", None),
        ("SELECT a FROM t UNION SELECT 1 ORDER BY 1", "1"),
        ("SELECT 'ORDER BY x' FROM t -- ORDER BY y", None),
    ],
)
def test_by_what_a_query_sorts_first(sql: str, key: str | None) -> None:
    assert leading_key(sql, Syntax()) == key
