"""Every type's usual, smallest, largest, awkward and missing values on real engines: none fails, each is what it is."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import msgspec
import pytest

from rowpath.engines import ENGINES
from rowpath.engines.base import Instance
from rowpath.machine.c_compiler import library_file
from rowpath.model.path import AccessPath
from rowpath.model.workload import Column, Phase, Table, Workload
from rowpath.runners import building
from rowpath.runners.manifest import toolchain
from rowpath.runners.protocol import (
    Describe,
    DescribeReply,
    ParameterSlice,
    PhaseSpec,
    Prepare,
    PrepareReply,
    RunReply,
    RunStatements,
    Verify,
    VerifyReply,
)
from rowpath.workloads import codec
from rowpath.workloads.expected import Expected
from rowpath.workloads.workload_file import load_workload
from tests.runners.c.talk import ADAPTERS, Talk, started
from tests.runners.c.test_odbc import any_driver
from tests.runners.c.torture import MARIADB, MARIADB_TABLE, POSTGRESQL, SQLITE, Case

c: Any = toolchain("c")


def verified(talk: Talk, sql: str, columns: Sequence[Column]) -> VerifyReply:
    """What one query delivers, and that a sample's touch sum is that of `verify`."""
    named = tuple(msgspec.structs.replace(each, name=f"c{i}") for i, each in enumerate(columns))
    phase = Phase("asked", "query", sql, columns=named)
    workload = Workload("asked", "", {"none": Table(named, 0, "hits")}, (phase,))
    talk.prepare(Expected(workload), phase, Path("/nonexistent"))
    first = talk.sample("asked", operations=1, first=0)
    assert first.failed == 0, first.failure
    reply: VerifyReply = talk.ask(Verify, VerifyReply, phase="asked", first=0, count=1)
    assert reply.touch == first.touch
    assert reply.touch == talk.sample("asked", operations=1, first=0).touch
    return reply


def differing(talk: Talk, cases: Sequence[Case], source: str = "") -> dict[str, str]:
    """The cases whose column is another one than the value's bytes, by their SQL, with what is said of it."""
    sql = "SELECT " + ", ".join(f"{case.sql} AS c{i}" for i, case in enumerate(cases)) + source
    reply = verified(talk, sql, [case.column for case in cases])
    assert reply.rows == 1
    wrong = {}
    for case, found, delivered in zip(cases, reply.columns, reply.delivered, strict=True):
        right = codec.encode_value(case.value, case.column)
        if found.digest != f"{codec.row_hash(right):016x}":
            wrong[case.sql] = f"{case.column.type} {delivered}: {found.reason or 'another value'}"
    return wrong


@pytest.fixture(scope="module")
def postgresql() -> Iterator[Instance]:
    if not ENGINES["postgresql"].availability().ok:
        pytest.skip("no PostgreSQL")
    with started("postgresql") as server:
        yield server


@pytest.fixture(scope="module")
def mariadb() -> Iterator[Instance]:
    if not ENGINES["mariadb"].availability().ok:
        pytest.skip("no MariaDB")
    with started("mariadb") as server:
        with Talk("libmariadb", server) as talk:
            talk.ask(RunStatements, RunReply, statements=list(MARIADB_TABLE), ignore_errors=False)
        yield server


@pytest.fixture(scope="module")
def embedded() -> Iterator[Instance]:
    if not c.availability(ADAPTERS["libmariadbd"], "system").ok:
        pytest.skip("no embedded MariaDB")
    with started("mariadb", deployment="embedded") as directory:
        directory.load(load_workload("keyed").tables)
        yield directory


@pytest.fixture(scope="module")
def sqlite() -> Iterator[Instance]:
    with started("sqlite") as file:
        file.load(load_workload("keyed").tables)
        yield file


@pytest.mark.parametrize(
    ("form", "how", "statement"),
    [
        *itertools.product(("text", "binary"), ("whole", "single-row", "cursor:1000"), ("prepared",)),
        *itertools.product(("text",), ("whole", "single-row", "cursor:1000"), ("text",)),
        *itertools.product(("text", "binary"), ("copy",), ("text",)),
    ],
)
def test_libpq(postgresql: Instance, form: str, how: str, statement: str) -> None:
    fetch = {"fetch": "copy"} if how == "copy" else {"result": how}
    with Talk("libpq", postgresql, format=form, statement=statement, **fetch) as talk:
        assert differing(talk, POSTGRESQL) == {}


@pytest.mark.parametrize("form", ["text", "binary"])
def test_libpq_rows_without_columns(postgresql: Instance, form: str) -> None:
    with Talk("libpq", postgresql, format=form) as talk:
        reply = verified(talk, "SELECT FROM generate_series(1, 1000)", ())
        assert (reply.rows, reply.touch, reply.columns) == (1000, "0" * 16, [])
        assert reply.digest.startswith("1000:")


def test_psqlodbc_fetches_no_rows_without_columns(postgresql: Instance) -> None:
    with Talk("psqlodbc", postgresql) as talk, pytest.raises(AssertionError, match="Bindings were not allocated"):
        verified(talk, "SELECT FROM generate_series(1, 1000)", ())


@pytest.mark.parametrize("form", ["text", "binary"])
def test_libpq_null_in_a_column_that_has_none(postgresql: Instance, form: str) -> None:
    columns = [Column("a", "integer"), Column("b", "text"), Column("c", "timestamp")]
    with Talk("libpq", postgresql, format=form) as talk:
        reply = verified(talk, "SELECT NULL::int, NULL::text, NULL::timestamp", columns)
        assert int(reply.touch, 16) == len(columns)


@pytest.mark.parametrize("form", ["text", "binary"])
def test_libpq_an_interval_beyond_the_codec(postgresql: Instance, form: str) -> None:
    """Foreign, and the same in both formats."""
    intervals = {
        "2562047788:00:54.775807": "PT2562047788H54.775807S",
        "13 months -3 days -2562047788:00:00.5": "P1Y1M-3DT-2562047788H-0.5S",
        "3000000:01:00": "PT3000000H1M",
    }
    columns = [Column(f"c{i}", "interval") for i in range(len(intervals))]
    with Talk("libpq", postgresql, format=form) as talk:
        sql = "SELECT " + ", ".join(f"'{interval}'::interval" for interval in intervals)
        reply = verified(talk, sql, columns)
    assert [each.foreign for each in reply.columns] == [1] * len(columns)
    expected = [b"?" + len(text).to_bytes(4, "little") + text.encode() for text in intervals.values()]
    assert [each.digest for each in reply.columns] == [f"{codec.row_hash(each):016x}" for each in expected]


@pytest.mark.parametrize("driver", ["libmariadb", "libmariadbd"])
@pytest.mark.parametrize(
    ("statement", "result"),
    [
        *itertools.product(("prepared",), ("whole", "single-row", "cursor:100")),
        *itertools.product(("text",), ("whole", "single-row")),
    ],
)
def test_mariadb(mariadb: Instance, embedded: Instance, driver: str, statement: str, result: str) -> None:
    instance = mariadb if driver == "libmariadb" else embedded
    with Talk(driver, instance, statement=statement, result=result) as talk:
        if driver == "libmariadbd":  # each path has a copy of its own
            talk.ask(RunStatements, RunReply, statements=list(MARIADB_TABLE), ignore_errors=False)
        assert differing(talk, MARIADB, " FROM torture") == {}


@pytest.mark.parametrize("statement", ["prepared", "text"])
def test_sqlite(sqlite: Instance, statement: str) -> None:
    with Talk("sqlite", sqlite, statement=statement) as talk:
        assert differing(talk, SQLITE) == {}


# What the drivers make of values for which C's structures have no room, or ODBC none: without an error.
PSQLODBC_OWN = {
    "'infinity'::date",  # today
    "'-infinity'::date",
    "'infinity'::timestamp",  # 9999-12-31 24:00
    "'-infinity'::timestamptz",
    "'0044-03-15 BC'::date",  # AD; of timestamps it is -44
    "'4713-11-24 BC'::date",
    "'5874897-12-31'::date",  # modulo 65536
    "'294276-12-31 23:59:59.999999'::timestamp",
}
ODBC_MARIADB_OWN = {
    "da",  # NULL
    "ma",
    "sa",
    "de",  # as SQLBIGINT modulo 2^64
}


LIBSQLITEODBC_OWN = {
    "9007199254740993",  # in a column of any type everything is text
    "0.5",  # of an integer column 0
    "1e300",
    "2.0",
    "x'00ff'",
    "CAST(x'62617200' || x'ff' AS TEXT)",  # text ends at the NUL
    "x'e9'",  # a blob's text is hexadecimal
}


@pytest.mark.parametrize("fetch", ["row", "get-data", "block:100"])
def test_psqlodbc(postgresql: Instance, fetch: str) -> None:
    with Talk("psqlodbc", postgresql, fetch=fetch) as talk:
        cases = [case for case in POSTGRESQL if "repeat" not in case.sql or fetch != "block:100"]
        assert set(differing(talk, cases)) == PSQLODBC_OWN


@pytest.mark.parametrize("fetch", ["row", "get-data", "block:100"])
def test_odbc_mariadb(mariadb: Instance, fetch: str) -> None:
    with Talk("odbc-mariadb", mariadb, fetch=fetch) as talk:
        cases = [case for case in MARIADB if case.sql != "tx" or fetch != "block:100"]
        assert set(differing(talk, cases, " FROM torture")) == ODBC_MARIADB_OWN


def test_libsqliteodbc(sqlite: Instance) -> None:
    with Talk("libsqliteodbc", sqlite) as talk:
        cases = [case for case in SQLITE if not case.column.type.startswith("float")]
        wrong = differing(talk, cases)
        assert wrong.keys() == LIBSQLITEODBC_OWN, wrong


@pytest.mark.parametrize("fetch", ["row", "get-data", "block:100"])
def test_any_odbc_driver_describes_what_it_delivers(mariadb: Instance, fetch: str) -> None:
    """The columns that it reports are those that are compared."""
    login = mariadb.options(AccessPath.of({"transport": "tcp"}))
    file = building.odbc_driver(ADAPTERS["odbc-mariadb"], "system", library_file)
    if file is None:
        pytest.skip("no MariaDB Connector/ODBC")
    where = f"SERVER=127.0.0.1;PORT={login['port']};DATABASE={login['database']};CHARSET=utf8mb4;"
    wanted = {
        "ubi": ("integer", 18446744073709551615), "ye": ("integer", 2155), "ti": ("integer", 127),
        "b9": ("bits", "101000001"), "te": ("time", "100:00:00"), "tf": ("time", "-01:00:00"),
        "ta": ("time", "838:59:59.999999"), "dc": ("date", "2024-02-30"), "en": ("char", "x"), "ge": ("opaque", ""),
    }  # fmt: skip
    sql = f"SELECT {', '.join(wanted)} FROM torture"
    with any_driver(file, where, login["user"], login["password"], fetch=fetch) as talk:
        found = talk.ask(Describe, DescribeReply, sql=sql).columns
        assert [each.type for each in found] == [kind for kind, _ in wanted.values()]
        columns = [Column(**{key: getattr(each, key) for key in Column.__struct_fields__}) for each in found]
        reply = verified(talk, sql, columns)
        values = [
            codec.encode_value(value, column) for (_, value), column in zip(wanted.values(), columns, strict=True)
        ]
        assert [each.digest for each in reply.columns] == [f"{codec.row_hash(value):016x}" for value in values]


WIDE = (Column("i", "integer", bits=128, nullable=True), Column("d", "decimal", nullable=True))
WIDE_ROWS: list[tuple[int | None, Decimal | None]] = [
    (170141183460469231731687303715884105727, Decimal("1.5")),
    (-170141183460469231731687303715884105728, Decimal("-12345678901234567890.25")),
    (7, Decimal(0)),
    (None, None),
]
NO_NUMBERS: list[tuple[int | None, Decimal | None]] = [
    (1, Decimal("NaN")),
    (2, Decimal("Infinity")),
    (3, Decimal("-Infinity")),
]


@pytest.mark.parametrize(
    ("driver", "coordinates"),
    [
        ("libpq", {"format": "text"}),
        ("libpq", {"format": "binary"}),
        ("libpq", {"statement": "text"}),
        ("psqlodbc", {}),
        ("libmariadb", {}),
        ("libmariadb", {"statement": "text"}),
        ("odbc-mariadb", {}),
    ],
)
def test_wide_parameters(
    driver: str, coordinates: dict[str, str], postgresql: Instance, mariadb: Instance, tmp_path: Path
) -> None:
    """Integers of 128 bits, and decimals that are no number where the engine has such."""
    ours = "postgresql" in ADAPTERS[driver].engines
    rows = WIDE_ROWS + (NO_NUMBERS if ours else [])
    kinds = ("numeric", "numeric") if ours else ("DECIMAL(65,0)", "DECIMAL(65,2)")
    sql = f"SELECT CAST(? AS {kinds[0]}), CAST(? AS {kinds[1]})"
    file = tmp_path / "wide.rows"
    codec.write_rows(file, rows, WIDE)
    with Talk(driver, postgresql if ours else mariadb, **coordinates) as talk:
        spec = PhaseSpec(name="q", kind="query", sql=sql, columns=WIDE, parameter_columns=WIDE)
        slice_ = ParameterSlice(file=str(file), first=0, count=len(rows))
        talk.ask(Prepare, PrepareReply, phase=spec, parameters=slice_)
        reply = talk.ask(Verify, VerifyReply, phase="q", first=0, count=len(rows))
        assert reply.digest == codec.digest(rows, WIDE)


@pytest.mark.parametrize("bulk", ["copy", "copy-binary", "multi-row"])
def test_wide_parameters_in_bulk(bulk: str, postgresql: Instance, tmp_path: Path) -> None:
    rows = WIDE_ROWS + NO_NUMBERS
    file = tmp_path / "wide.rows"
    codec.write_rows(file, rows, WIDE)
    with Talk("libpq", postgresql, bulk=bulk) as talk:
        statements = ["DROP TABLE IF EXISTS wide", "CREATE TABLE wide (i numeric, d numeric)"]
        talk.ask(RunStatements, RunReply, statements=statements, ignore_errors=False)
        sql = "INSERT INTO wide (i, d) VALUES (?, ?)"
        spec = PhaseSpec(name="l", kind="load", sql=sql, table="wide", parameter_columns=WIDE,
                         rows_per_operation=len(rows), way="bulk")  # fmt: skip
        slice_ = ParameterSlice(file=str(file), first=0, count=len(rows))
        talk.ask(Prepare, PrepareReply, phase=spec, parameters=slice_)
        assert talk.sample("l", operations=1, first=0).failure is None
        assert verified(talk, "SELECT i, d FROM wide", WIDE).digest == codec.digest(rows, WIDE)
