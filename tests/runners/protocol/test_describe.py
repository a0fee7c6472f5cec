"""What runners say of a query's columns on SQLite, which declares none: the storage classes of values looked at."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rowpath.runners import manifest
from tests.runners.protocol.talk import Start, adapter, on_sqlite, sqlite_file, talks

DRIVERS = [("python", "sqlite3"), ("csharp", "mono-data-sqlite"), ("csharp", "ado-libsqliteodbc")]
pytestmark = pytest.mark.parametrize(("language", "driver"), DRIVERS)
LATE = 100_001  # the row that has another class than those before it


@pytest.fixture
def describe(language: str, driver: str, tmp_path: Path) -> Iterator[Any]:
    """What asks for the columns of a query; the reply's error where there is one."""
    found = adapter(language, driver)
    there = manifest.availability(found, found.versions[0])
    if not there.ok:
        pytest.skip(there.reason)
    runners: Iterator[Start] = talks(language)
    talk = next(runners)(driver, on_sqlite(sqlite_file(tmp_path)))
    assert "error" not in talk.hello(requires=["describe"])

    def ask(sql: str) -> Any:
        reply = talk.ask("describe", sql=sql)
        return reply.get("error") or reply["columns"]

    yield ask
    next(runners, None)


def types(columns: list[dict[str, Any]]) -> list[str]:
    return [column["type"] for column in columns]


def test_it_says_how_far_it_looked(describe: Any) -> None:
    late = f"WITH RECURSIVE t (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM t WHERE i < {LATE}) "
    late += f"SELECT i, CASE WHEN i = {LATE} THEN 'x' ELSE i END AS a FROM t"
    columns = describe(late)
    assert types(columns) == ["integer", "integer"]  # the last row was not looked at
    assert all("first" in column["engine_type"] and "no further" in column["engine_type"] for column in columns)
    assert "all 1 rows" in describe("SELECT 1 -- a comment to the end")[0]["engine_type"]


def test_names_that_occur_twice_and_several_classes(describe: Any) -> None:
    columns = describe("SELECT 1 AS a, 'b' AS a, x'00' AS b, NULL AS c UNION ALL SELECT 2, 3, NULL, NULL")
    assert [column["name"] for column in columns] == ["a", "a", "b", "c"]
    assert types(columns) == ["integer", "any", "binary", "text"]
    assert [column["engine_type"].partition(",")[0] for column in columns] == [
        "integer", "integer and text", "blob", "nothing but NULL",
    ]  # fmt: skip
    assert all(column["nullable"] for column in columns)


def test_a_query_that_is_wrong_is_an_error_and_the_next_one_is_served(describe: Any) -> None:
    failure = describe("SELECT * FROM missing")
    assert (failure["kind"], "no such table" in failure["text"]) == ("sql", True), failure
    assert types(describe("SELECT 1")) == ["integer"]


def test_text_that_is_no_utf_8(describe: Any) -> None:
    assert types(describe("SELECT CAST(X'ff' AS TEXT) AS a")) == ["text"]
