"""Query texts as people have them: encodings, comments, semicolons, sizes; and where quotes end for a runner."""

from __future__ import annotations

from pathlib import Path

import pytest

from rowpath.engines import ENGINES
from rowpath.engines.probe_facts import Syntax
from rowpath.errors import UsageError
from rowpath.own_database.parameters import placeholders
from rowpath.own_database.query_check import check_query
from rowpath.own_database.query_text import LIMIT_BYTES, as_sent, text_of
from rowpath.own_database.question import limited


def sent(sql: str, engine: str = "postgresql") -> str:
    syntax = ENGINES[engine].probe.syntax
    assert syntax is not None
    return as_sent(sql, syntax)


@pytest.mark.parametrize("codec", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_a_file_is_read_as_editors_save_it(codec: str, tmp_path: Path) -> None:
    file = tmp_path / "q.sql"
    file.write_text("SELECT 'ä€'; \r\n", encoding=codec, newline="")
    assert sent(text_of(file)) == "SELECT 'ä€'"


def test_a_file_in_another_encoding_is_refused_with_the_place(tmp_path: Path) -> None:
    file = tmp_path / "q.sql"
    file.write_bytes("SELECT 'ä'".encode("latin-1"))
    with pytest.raises(UsageError, match="byte 0xe4 at 8 is not utf-8"):
        text_of(file)


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT 1; -- nightly report", "SELECT 1"),
        ("SELECT 1 -- nightly report", "SELECT 1"),
        ("SELECT 1;; /* a */ ; /* it's ; */\n", "SELECT 1"),
        ("-- the customer's\nSELECT 1 /* don't */ + 2", "SELECT 1   + 2"),
        ("\ufeffSELECT '; -- x' AS a;", "SELECT '; -- x' AS a"),
        ("/*+ IndexScan(t) */ SELECT 1 -- x", "/*+ IndexScan(t) */ SELECT 1"),
        ("SELECT 'a' -- b\n'c'", "SELECT 'a'  \n'c'"),
        ("SELECT a/**/b", "SELECT a b"),
        ("SELECT 1; SELECT 2; -- x", "SELECT 1; SELECT 2"),
    ],
)
def test_comments_and_the_end_are_taken_off(sql: str, expected: str) -> None:
    assert sent(sql) == expected


def test_each_engine_has_its_own_comments() -> None:
    assert sent("SELECT 1 --1 # it's", "mariadb") == "SELECT 1 --1"
    assert sent("SELECT a #> '{b}' FROM t") == "SELECT a #> '{b}' FROM t"
    assert sent("SELECT a --1\nFROM t; -- end", "jdbc") == "SELECT a --1\nFROM t"  # minus minus one, for all we know


def test_what_is_written_behind_a_query_is_no_comment() -> None:
    assert limited(sent("SELECT 1; -- x"), "postgresql", 5).splitlines()[1:] == ["SELECT 1", ") AS limited LIMIT 5"]


@pytest.mark.parametrize(
    ("sql", "why"),
    [
        ("SELECT '" + "x" * LIMIT_BYTES + "'", f"at most {LIMIT_BYTES:,}"),
        ("SELECT '\0'", "NUL"),
        ("-- only this", "empty"),
        (" ; \n", "empty"),
        ("SELECT '\udce9'", "not UTF-8"),
    ],
)
def test_what_no_runner_can_take_is_refused(sql: str, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        as_sent(sql, Syntax())


@pytest.mark.parametrize(
    ("sql", "engine", "written"),
    [
        (
            "SELECT 'it\\'s ?', \"a\\\"b\" FROM t WHERE b = ?",
            "mysql",
            "SELECT 'it''s ?', \"a\"\"b\" FROM t WHERE b = ?",
        ),
        ("SELECT '\\\\' FROM t WHERE b = ? AND c = 'x'", "mysql", "SELECT '\\\\' FROM t WHERE b = ? AND c = 'x'"),
        ("SELECT 'C:\\', ? FROM t WHERE b = 'x'", "postgresql", "SELECT 'C:\\', ? FROM t WHERE b = 'x'"),
        ("SELECT E'it\\'s' FROM t WHERE b = $1", "postgresql", "SELECT E'it''s' FROM t WHERE b = ?"),
        ("SELECT $x$it's $1 ?$x$ FROM t WHERE b = $1", "postgresql", "SELECT 'it''s $1 ?' FROM t WHERE b = ?"),
        ("SELECT $$a\\b$$ FROM t WHERE b = $1", "postgresql", "SELECT E'a\\\\b' FROM t WHERE b = ?"),
    ],
)
def test_quotes_are_written_so_that_runners_find_their_ends(sql: str, engine: str, written: str) -> None:
    assert placeholders(sql, engine).sql == written


def test_a_long_list_of_values_is_read() -> None:
    values = ", ".join(f"'{number}'" for number in range(40_000))
    sql = sent(f"SELECT id FROM t WHERE id IN ({values}) AND a = %(a)s; -- many")
    check_query(sql, "postgresql")
    assert placeholders(sql, "postgresql").takes == ("a",)
