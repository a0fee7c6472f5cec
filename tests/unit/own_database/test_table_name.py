"""--table names a table: never a word of SQL, an alias, or another table."""

from __future__ import annotations

import sqlite3

import pytest

from rowpath.engines import ENGINES
from rowpath.errors import UsageError
from rowpath.own_database.table_name import queries_of


def queries(name: str, engine: str) -> tuple[str, ...]:
    syntax = ENGINES[engine].probe.syntax
    assert syntax is not None
    return tuple(sql.removeprefix("SELECT * FROM ") for sql in queries_of(name, syntax))


@pytest.mark.parametrize(
    ("name", "engine", "expected"),
    [
        ("orders", "postgresql", ('"orders"',)),
        ("User", "postgresql", ('"User"', '"user"')),
        ("shop.Orders", "postgresql", ('"shop"."Orders"', '"shop"."orders"')),
        ('shop."Orders"', "postgresql", ('"shop"."Orders"',)),
        ("weird name", "postgresql", ('"weird name"',)),
        ("Weird name", "postgresql", ('"Weird name"',)),
        ('"a.b"', "postgresql", ('"a.b"',)),
        ('"a""b"', "postgresql", ('"a""b"',)),
        ("it's", "postgresql", ('"it\'s"',)),
        ("orders o", "postgresql", ('"orders o"',)),
        ("user", "h2", ('"user"', '"USER"')),
        ("public.User", "h2", ('"public"."User"', '"public"."USER"', '"PUBLIC"."User"', '"PUBLIC"."USER"')),
        ('PUBLIC."User"', "postgresql", ('"PUBLIC"."User"', '"public"."User"')),
        ("ORDERS", "derby", ('"ORDERS"',)),
        ("Order", "mariadb", ("`Order`",)),
        ('"a`b"', "mariadb", ("`a``b`",)),
        ("Orders", "sqlite", ('"Orders"',)),
        ("dbo.Orders", "odbc", ("dbo.Orders",)),
        ("`Orders`", "jdbc", ("`Orders`",)),
    ],
)
def test_a_name_is_quoted_and_folded_as_the_engine_does(name: str, engine: str, expected: tuple[str, ...]) -> None:
    assert queries(name, engine) == expected


@pytest.mark.parametrize("name", ["", ".", "a..b", 'a"b', '"a', "a.", '"a"b'])
def test_what_is_no_name_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match="not the name of a table"):
        queries(name, "postgresql")


@pytest.mark.parametrize("name", ["weird name", "orders o", "f(1)", "a; DROP TABLE b"])
def test_in_an_unknown_dialect_only_plain_names_are_taken(name: str) -> None:
    with pytest.raises(UsageError, match="not a plain name"):
        queries(name, "odbc")


def test_an_alias_is_no_table() -> None:
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE weird (id)")
    with pytest.raises(sqlite3.OperationalError, match="weird name"):
        connection.execute(f"SELECT * FROM {queries('weird name', 'sqlite')[0]}")
