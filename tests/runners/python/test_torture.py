"""Every type's usual and awkward values through Python's drivers: the right bytes, or the driver's own words or value.

What is here is what the drivers have; none of it is a refusal of ours.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from rowpath.engines import ENGINES
from rowpath.engines.base import Instance
from rowpath.model.workload import ColumnSpec
from rowpath.runners import protocol as p
from rowpath.runners.process import RunnerFailure
from rowpath.workloads import codec
from tests.runners.python.engines import running
from tests.runners.python.talk import Talk, kept_fixture, living_fixture, start_fixture  # noqa: F401
from tests.runners.python.test_mysql import PATH, mariadb_fixture  # noqa: F401
from tests.runners.python.torture import BOUNDED, DUCKDB, MARIADB, POSTGRESQL, POSTGRESQL_TYPES, Case

# What Python has no room for: a type with such values, whose first one is usual.
NO_ROOM = ("date", "time", "timetz", "timestamp", "timestamptz", "date[]")
UNSIGNED = ("oid", "oid[]")
FLAT = ("int4[]", "int8[]")  # arrays of more dimensions lose them

SET = "SET('a','b')"  # a set has lost the order of its type

# By path: the types of which the driver delivers some values as others, or refuses them in words of its own.
ON_POSTGRESQL: dict[tuple[str, ...], tuple[str, ...]] = {
    ("psycopg", "format=text", "statement=prepared"): NO_ROOM,
    ("psycopg", "format=binary", "statement=prepared"): NO_ROOM,
    ("psycopg", "format=binary", "statement=text", "fetch=copy"): NO_ROOM,
    ("psycopg2", "statement=text"): NO_ROOM,
    ("asyncpg", "statement=prepared"): NO_ROOM,
    ("psqlpy", "statement=prepared"): ("oid", "time"),
    ("adbc-postgresql", "statement=prepared", "fetch=columnar"): (
        *("date", "time", "timestamp", "timestamptz", "interval", "date[]"),
        *UNSIGNED,
        *FLAT,
    ),
}
DESCRIBER = ("psycopg", "statement=prepared")
# All tests of a path before those of the next, so that they share its runner.
EACH_ON_POSTGRESQL = pytest.mark.parametrize("path", ON_POSTGRESQL, ids=" ".join, scope="module")
ON_MARIADB: dict[tuple[str, ...], tuple[str, ...]] = {
    ("pymysql", "statement=bound"): (),
    ("mysqlclient", "statement=bound"): ("DATE", "DATETIME(6)"),
    ("mysql-connector", "statement=bound", "implementation=pure"): ("DATE", "DATETIME(6)", SET),
    ("mysql-connector", "statement=bound", "implementation=c"): ("DATE", "DATETIME(6)", SET),
}
ON_DUCKDB: dict[tuple[str, ...], tuple[str, ...]] = {
    ("duckdb", "statement=prepared", "fetch=row"): ("DATE", "TIMESTAMP", "TIME_NS", "TIMESTAMP_NS", "TIMESTAMP_NS[]"),
    ("duckdb", "statement=prepared", "fetch=columnar"): (
        *("UHUGEINT", "BIGNUM", "DATE", "TIME", "TIME WITH TIME ZONE", "TIMESTAMP", "TIMESTAMP_NS"),
        "TIMESTAMP WITH TIME ZONE",
    ),
}
LOST = (
    SET,
    "oid",
    "oid[]",
    "TIME_NS",
    "UHUGEINT",
    "BIGNUM",
    "TIME WITH TIME ZONE",
    "TIMESTAMP_NS[]",
)  # the first one too
NS_CUT = ("TIMESTAMP_NS",)


@pytest.fixture(name="postgresql", scope="module")
def postgresql_fixture(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    if not ENGINES["postgresql"].availability().ok:
        pytest.skip(ENGINES["postgresql"].availability().reason)
    yield from running(tmp_path_factory.mktemp("pg"), ())


def opened(kept: Callable[..., Talk], path: tuple[str, ...], engine: str, options: dict[str, Any]) -> Talk:
    chosen = dict(each.split("=") for each in path[1:])
    talk = kept(path[0], engine=engine, **chosen)
    talk.open(options, engine=engine, **chosen)
    return talk


def described(talk: Talk, case: Case, sql: str) -> p.DescribedColumn:
    """The query's one column, as the case declares it."""
    [found] = talk.describe(sql)
    for name in ("type", "bits", "precision", "scale", "fields", "nullable"):
        assert getattr(found, name) == getattr(case.column, name), (case.sql, found)
    assert found.type == "binary" or found.length == case.column.length, (case.sql, found)
    return found


def delivered(talk: Talk, sql: str, column: p.DescribedColumn, kept: Path) -> str:
    """The bytes of the query's one value, touched as in a sample; or the driver's own words."""
    talk.prepare_spec(p.PhaseSpec(name="t", kind="query", sql=sql, columns=(column,)))
    cold = talk.sample("t", operations=1)
    try:
        verified = talk.verify("t", keep=str(kept))
    except RunnerFailure as failure:
        assert failure.kind == "sql", (sql, failure)
        assert cold.failed and cold.failure and cold.failure.kind == "sql"
        return failure.text
    assert (cold.failed, cold.rows, cold.touch) == (0, 1, verified.touch), sql
    return kept.read_bytes()[4:].hex()


def tried(
    talk: Talk, case: Case, column: p.DescribedColumn, query: Callable[[int, str], str], kept: Path
) -> list[tuple[str, str, str]]:
    """The values that did not arrive as they are: the SQL of each, what came and what is right."""
    found = []
    for number, (literal, value) in enumerate(case.values.items()):
        came = delivered(talk, query(number, literal), column, kept)
        if came != case.right(value):
            found.append((literal, came, case.right(value)))
    return found


def check(short: tuple[str, ...], case: Case, others: list[tuple[str, str, str]]) -> None:
    """Values that arrive as others are of the types named, whose first and usual value arrives."""
    if case.sql in short:
        assert others, f"{case.sql} arrives whole by now"
        usual = next(iter(case.values))
        assert case.sql in (*LOST, *NS_CUT) or usual not in [literal for literal, *_ in others], others
    else:
        assert others == [], case.sql


@EACH_ON_POSTGRESQL
def test_postgresql(
    kept: Callable[..., Talk], postgresql: dict[str, Any], tmp_path: Path, path: tuple[str, ...]
) -> None:
    options = {**postgresql, "transport": "unix", "tls": "off"}
    describer = opened(kept, DESCRIBER, "postgresql", options)
    describer.run("DROP TYPE IF EXISTS mood, comp CASCADE", "DROP DOMAIN IF EXISTS positive, positives CASCADE")
    describer.run(*POSTGRESQL_TYPES)
    talk = opened(kept, path, "postgresql", options)
    for case in POSTGRESQL:

        def query(_number: int, literal: str, case: Case = case) -> str:
            return f"SELECT CAST({literal} AS {case.sql}) AS v"

        column = described(describer, case, query(0, next(iter(case.values))))
        check(ON_POSTGRESQL[path], case, tried(talk, case, column, query, tmp_path / "kept"))


@EACH_ON_POSTGRESQL
def test_what_postgresql_does_not_compare_is_delivered(
    kept: Callable[..., Talk], postgresql: dict[str, Any], tmp_path: Path, path: tuple[str, ...]
) -> None:
    options = {**postgresql, "transport": "unix", "tls": "off"}
    talk = opened(kept, DESCRIBER, "postgresql", options)
    talk.run("DROP TYPE IF EXISTS comp CASCADE", *(each for each in POSTGRESQL_TYPES if "comp" in each))
    literals = (
        *("ROW(1, 'x')::comp", "ARRAY[ROW(1, 'x')::comp]", "numrange(1, 2)", "'1.2.3.4'::inet", "'1 2'::int2vector"),
        *("box '(1,1),(0,0)'", "5::money", "'16/B374D848'::pg_lsn", "'a & b'::tsquery"),
    )
    columns = [talk.describe(f"SELECT {literal} AS v")[0] for literal in literals]
    assert {column.type for column in columns} == {"opaque"}
    other = opened(kept, path, "postgresql", options)
    for literal, column in zip(literals, columns, strict=True):
        assert delivered(other, f"SELECT {literal} AS v", column, tmp_path / "k") == "4f", literal


def test_bounds_of_arrays_where_the_driver_has_them(
    kept: Callable[..., Talk], postgresql: dict[str, Any], tmp_path: Path
) -> None:
    talk = opened(kept, ("psqlpy", "statement=prepared"), "postgresql", {**postgresql, "transport": "unix"})
    [(literal, value)] = BOUNDED.values.items()
    sql = f"SELECT CAST({literal} AS {BOUNDED.sql}) AS v"
    talk.prepare_spec(p.PhaseSpec(name="t", kind="query", sql=sql, columns=(BOUNDED.column,)))
    verified = talk.verify("t", keep=str(tmp_path / "kept"))
    assert (tmp_path / "kept").read_bytes()[4:].hex() == BOUNDED.right(value)
    assert verified.columns[0].bounds


@pytest.mark.parametrize("driver", ["psycopg", "psycopg2", "asyncpg", "psqlpy", "adbc-postgresql"])
def test_rows_without_columns_and_columns_of_one_name(
    kept: Callable[..., Talk], postgresql: dict[str, Any], driver: str
) -> None:
    talk = opened(kept, (driver, "statement=bound"), "postgresql", {**postgresql, "transport": "unix", "tls": "off"})
    talk.prepare_spec(p.PhaseSpec(name="t", kind="query", sql="SELECT FROM generate_series(1, 1000)"))
    assert talk.sample("t", operations=2).rows == 2000
    assert (talk.verify("t").rows, talk.verify("t").columns) == (1000, [])
    twice = tuple(ColumnSpec(name="a", type=kind, nullable=True) for kind in ("integer", "text"))
    talk.prepare_spec(p.PhaseSpec(name="u", kind="query", sql="SELECT 1 AS a, 'x' AS a", columns=twice))
    assert talk.verify("u").digest == codec.digest([(1, "x")], twice)  # type: ignore[arg-type]


@pytest.mark.parametrize("path", ON_MARIADB, ids=" ".join)
def test_mariadb(start: Callable[..., Talk], mariadb: Instance, tmp_path: Path, path: tuple[str, ...]) -> None:
    talk = opened(start, path, "mariadb", {**mariadb.options(PATH), "transport": "unix"})
    describer = opened(start, ("pymysql", "statement=bound"), "mariadb", {**mariadb.options(PATH), "transport": "unix"})
    describer.run("SET sql_mode = ''")
    for case in MARIADB:
        describer.run(
            "DROP TABLE IF EXISTS torture", f"CREATE TABLE torture (k INT, v {case.sql}) CHARACTER SET utf8mb4"
        )
        describer.run(*(f"INSERT INTO torture VALUES ({k}, {literal})" for k, literal in enumerate(case.values)))

        def query(number: int, _literal: str) -> str:
            return f"SELECT v FROM torture WHERE k = {number}"

        column = described(describer, case, query(0, ""))
        check(ON_MARIADB[path], case, tried(talk, case, column, query, tmp_path / "kept"))


@pytest.mark.parametrize("path", ON_DUCKDB, ids=" ".join)
def test_duckdb(start: Callable[..., Talk], tmp_path: Path, path: tuple[str, ...]) -> None:
    talk = opened(start, path, "duckdb", {"path": str(tmp_path / "db"), "durability": "none"})
    for case in DUCKDB:

        def query(_number: int, literal: str, case: Case = case) -> str:
            return f"SELECT CAST({literal} AS {case.sql}) AS v"

        column = described(talk, case, query(0, next(iter(case.values))))
        check(ON_DUCKDB[path], case, tried(talk, case, column, query, tmp_path / "kept"))


def test_sqlite(start: Callable[..., Talk], tmp_path: Path) -> None:
    file = tmp_path / "mixed.sqlite"
    rows = [(9007199254740993,), (0.5,), ("a\0b",), (b"\x00\xff",), (None,), (-0.0,), (2.0**60,), ("",)]
    with sqlite3.connect(file) as connection:
        connection.execute("CREATE TABLE t (v)")
        connection.executemany("INSERT INTO t VALUES (?)", rows)
    connection.close()
    talk = start("sqlite3")
    talk.open(path=str(file), statement="prepared", durability="none")
    [column] = talk.describe("SELECT v FROM t")
    assert column.type == "any"
    talk.prepare_spec(p.PhaseSpec(name="t", kind="query", sql="SELECT v FROM t", columns=(column,)))
    cold, verified = talk.sample("t", operations=1), talk.verify("t")
    assert verified.digest == codec.digest(rows, [column])  # type: ignore[list-item]
    assert (cold.touch, verified.columns[0].foreign) == (verified.touch, 0)
    with sqlite3.connect(file) as connection:
        connection.execute("INSERT INTO t VALUES (CAST(X'ff00fe41' AS TEXT))")
    connection.close()
    with pytest.raises(RunnerFailure, match="UTF-8") as caught:  # the module refuses it by itself
        talk.verify("t")
    assert caught.value.kind == "sql"
