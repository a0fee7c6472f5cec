"""--max-rows: the engine itself stops, whatever the query looks like."""

from __future__ import annotations

import sqlite3

import pytest

from rowpath.errors import UsageError
from rowpath.own_database.access import row_limit
from rowpath.own_database.question import limited


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT 1 AS a UNION ALL SELECT 2 UNION ALL SELECT 3",
        "VALUES (1), (2), (3)",
        "WITH t(a) AS (VALUES (1), (2), (3)) SELECT a FROM t ORDER BY a -- the end",
        "SELECT a, a FROM (SELECT 1 AS a UNION ALL SELECT 2 UNION ALL SELECT 3) LIMIT 3",
    ],
)
def test_no_more_rows_are_delivered(sql: str) -> None:
    assert len(sqlite3.connect(":memory:").execute(sql).fetchall()) == 3
    assert len(sqlite3.connect(":memory:").execute(limited(sql, "sqlite", 2)).fetchall()) == 2
    assert limited(sql, "sqlite", None) == sql


def test_where_the_session_says_it_the_query_stays() -> None:
    assert limited("SELECT 1", "mariadb", 5) == "SELECT 1"
    assert row_limit("mariadb", 5) == ("SET SESSION sql_select_limit = 5",)
    assert row_limit("mariadb", None) == row_limit("postgresql", 5) == ()


@pytest.mark.parametrize("engine", ["jdbc", "odbc", "parquet"])
def test_an_unknown_dialect_is_refused(engine: str) -> None:
    with pytest.raises(UsageError, match="--max-rows 5"):
        limited("SELECT 1", engine, 5)
