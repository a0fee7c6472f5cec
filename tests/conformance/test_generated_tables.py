"""Tables of values that nobody thought of, by every driver: Hypothesis makes them, the controller's codec judges.

Only of values that every language has: what some driver refuses or changes stands in torture/. The tables are the same
in every session.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime
from decimal import Decimal
from functools import cache
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from tests.conformance.selection import project_paths

from rowpath.checks.conformance.fixture import EngineFixture
from rowpath.checks.conformance.paths import default_paths
from rowpath.execution.prepared_phases import PreparedPhase
from rowpath.model import workload
from rowpath.model.workload import Column
from rowpath.planning.plan import PlannedPath
from rowpath.workloads import codec

TABLES, ROWS, COLUMNS = 8, 12, 6  # of each path; at most in a table
ENGINES = ("sqlite", "postgresql", "mariadb", "duckdb")
# What these make of usual values: floating point of 15 digits, text of everything; decimals of 28 digits.
OWN_FORMS = ("libsqliteodbc", "ado-libsqliteodbc", "connectorx")
# Neither NUL, which PostgreSQL does not store, nor lone surrogates, which are no text.
TEXTS = st.text(st.characters(blacklist_categories=("Cs",), blacklist_characters="\x00\\"), max_size=40)
MOMENTS = st.datetimes(datetime(1000, 1, 1), datetime(9999, 12, 31, 23, 59, 59))


def doubles() -> st.SearchStrategy[float]:
    """Without those below the normal ones: MariaDB stores some as zero."""
    return st.floats(allow_nan=False, allow_infinity=False, allow_subnormal=False)


# By logical type: what it is in each engine ("" where it is not), and its values.
KINDS: dict[str, tuple[Column, dict[str, str], st.SearchStrategy[Any]]] = {
    "integer": (
        Column(name="v", type="integer", bits=64, nullable=True),
        {"": "BIGINT", "sqlite": "INTEGER"},
        st.integers(-(1 << 63), (1 << 63) - 1),
    ),
    "decimal": (
        Column(name="v", type="decimal", precision=30, scale=9, nullable=True),
        {"": "DECIMAL(30,9)", "sqlite": ""},
        st.decimals(-(10**20), 10**20, places=9),
    ),
    "float64": (
        Column(name="v", type="float64", nullable=True),
        {"": "DOUBLE PRECISION", "sqlite": "REAL", "duckdb": "DOUBLE"},
        doubles(),
    ),
    "text": (Column(name="v", type="text", nullable=True), {"": "TEXT"}, TEXTS),
    "binary": (
        Column(name="v", type="binary", nullable=True),
        {"": "BLOB", "postgresql": "BYTEA"},
        st.binary(max_size=40),
    ),
    "date": (
        Column(name="v", type="date", nullable=True),
        {"": "DATE", "sqlite": ""},
        st.dates(date(1000, 1, 1), date(9999, 12, 31)),
    ),
    "time": (Column(name="v", type="time", nullable=True), {"": "TIME(6)", "sqlite": "", "duckdb": "TIME"}, st.times()),
    "timestamp": (
        Column(name="v", type="timestamp", nullable=True),
        {"": "TIMESTAMP(6)", "sqlite": "", "mariadb": "DATETIME(6)", "duckdb": "TIMESTAMP"},
        MOMENTS,
    ),
    "uuid": (
        Column(name="v", type="uuid", nullable=True),
        {"": "", "postgresql": "UUID", "duckdb": "UUID"},
        st.uuids(),
    ),
}


def literal(value: Any, engine: str) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, int | Decimal):
        return format(value, "f") if isinstance(value, Decimal) else str(value)
    if isinstance(value, float):
        return (
            repr(value)
            if engine == "sqlite"
            else f"CAST('{value!r}' AS {'DOUBLE' + ' PRECISION' * (engine == 'postgresql')})"
        )
    if isinstance(value, bytes):
        forms = {"postgresql": f"'\\x{value.hex()}'", "duckdb": f"from_hex('{value.hex()}')"}
        return forms.get(engine, f"x'{value.hex()}'")
    text = str(value).replace("'", "''")
    return f"'{text}'"


def type_of(kind: str, engine: str) -> str:
    names = KINDS[kind][1]
    return names.get(engine, names[""])


@cache
def tables(engine: str) -> tuple[tuple[tuple[str, ...], tuple[tuple[Any, ...], ...]], ...]:
    """Tables as (kinds of columns, rows): always the same ones."""
    kinds = sorted(kind for kind in KINDS if type_of(kind, engine))
    made: list[tuple[tuple[str, ...], tuple[tuple[Any, ...], ...]]] = []

    @st.composite
    def one(draw: st.DrawFn) -> tuple[tuple[str, ...], tuple[tuple[Any, ...], ...]]:
        columns = tuple(draw(st.lists(st.sampled_from(kinds), min_size=1, max_size=COLUMNS)))
        row = st.tuples(*(st.none() | KINDS[kind][2] for kind in columns))
        return columns, tuple(draw(st.lists(row, max_size=ROWS)))

    @settings(
        max_examples=TABLES, derandomize=True, database=None, deadline=None, phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    @given(one())
    def generate(table: tuple[tuple[str, ...], tuple[tuple[Any, ...], ...]]) -> None:
        made.append(table)

    generate()
    return tuple(made)


def paths() -> Iterator[PlannedPath]:
    """Of each driver its default; those that a probe tries only by name have forms of their own for some types."""
    for planned in default_paths(project_paths()):
        adapter = planned.adapter
        queries = planned.path.engine in ENGINES and "scan.read" in planned.phases and not adapter.serves
        if queries and not adapter.only_named and adapter.driver not in OWN_FORMS:
            yield planned


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    metafunc.parametrize("planned", [pytest.param(planned, id=planned.name) for planned in paths()], indirect=True)


STORED: set[tuple[str, int]] = set()


def test_generated_tables(planned: PlannedPath, fixture: EngineFixture) -> None:
    engine = planned.path.engine
    worker, instance = fixture.connected(planned), fixture.instance(planned)
    for number, (kinds, rows) in enumerate(tables(engine)):
        columns = tuple(msgspec.structs.replace(KINDS[kind][0], name=f"c{at}") for at, kind in enumerate(kinds))
        key = f"{engine} {id(instance)}", number
        if key not in STORED:
            STORED.add(key)
            store(worker, engine, f"generated_{number}", kinds, rows)
        names = ", ".join(column.name for column in columns)
        sql = f"SELECT {names} FROM generated_{number}"
        phase = workload.Phase("read", "query", sql, columns=columns)
        work = PreparedPhase("generated.read", phase, sql, columns)
        worker.prepare(work)
        reply = worker.verify(work, 0, 1)
        wanted = codec.digest(rows, columns)
        if reply.digest != wanted:
            sums = [codec.digest([(row[at],) for row in rows], [column]) for at, column in enumerate(columns)]
            told = [f"{reply.rows}:{one.digest}" for one in reply.columns]
            wrong = [kinds[at] for at in range(len(kinds)) if told and told[at] != sums[at]]
            pytest.fail(f"table {number}: {wrong or 'rows'} of {rows}")


def store(worker: Any, engine: str, table: str, kinds: tuple[str, ...], rows: tuple[tuple[Any, ...], ...]) -> None:
    worker.run([f"DROP TABLE {table}"], ignore_errors=True)
    columns = ", ".join(f"c{at} {type_of(kind, engine)}" for at, kind in enumerate(kinds))
    worker.run([f"CREATE TABLE {table} ({columns})"])
    worker.run([f"INSERT INTO {table} VALUES ({', '.join(literal(value, engine) for value in row)})" for row in rows])
