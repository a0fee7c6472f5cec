"""The C runner's ways to store rows: each leaves the right table, and nothing of an operation that failed."""

from __future__ import annotations

import contextlib
import itertools
import shutil
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from rowpath.engines import ENGINES
from rowpath.engines.base import Instance
from rowpath.machine import c_compiler
from rowpath.model.workload import Parameters, Phase
from rowpath.runners.process import RunnerFailure
from rowpath.runners.protocol import RunReply, RunStatements
from rowpath.workloads.expected import Expected
from tests.runners.c.talk import ADAPTERS, Talk, expected_of, started

pytestmark = pytest.mark.skipif(shutil.which(c_compiler.words()[0]) is None, reason="no C compiler")
DRIVERS = {
    "sqlite": "sqlite",
    "libpq": "postgresql",
    "libmariadb": "mariadb",
    "libsqliteodbc": "sqlite",
    "psqlodbc": "postgresql",
    "odbc-mariadb": "mariadb",
}
BINDING = ("multi-row", "array", "unnest")  # ways that text has not
WAYS = [
    (driver, statement, bulk)
    for driver in DRIVERS
    for statement, bulk in itertools.product(
        ADAPTERS[driver].coordinates["statement"], ADAPTERS[driver].coordinates["bulk"]
    )
]
EVERY_TYPE = Phase(
    name="every-type",
    kind="load",
    way="bulk",
    sql="INSERT INTO types ({columns:types}) VALUES ({marks})",
    table="types",
    parameters=Parameters(generator="rows", table="types", count=6),
    rows_per_operation=3,
    writes=True,
    reset=("{drop:types}", "{create:types}"),
    after="types",
)


@pytest.fixture(scope="module")
def instances() -> Iterator[dict[str, Instance]]:
    """The engines, empty."""
    with started("sqlite") as sqlite:
        sqlite.load({})
        with contextlib.ExitStack() as cleanup:
            servers = [name for name in ("postgresql", "mariadb") if ENGINES[name].availability().ok]
            yield {"sqlite": sqlite} | {name: cleanup.enter_context(started(name)) for name in servers}


def instance_of(driver: str, instances: dict[str, Instance]) -> Instance:
    name = DRIVERS[driver]
    if name not in instances:
        pytest.skip(ENGINES[name].availability().reason)
    return instances[name]


def smaller(expected: Expected, name: str, rows: int) -> Phase:
    """The phase of the workload with fewer rows an operation, so that a statement's most are reached by wide ones."""
    return msgspec.structs.replace(expected.workload.phase(name), rows_per_operation=rows)


@pytest.mark.parametrize(("driver", "statement", "bulk"), WAYS)
def test_bulk(driver: str, statement: str, bulk: str, instances: dict[str, Instance], tmp_path: Path) -> None:
    """Ten thousand rows at a time are more than one statement may hold, ten are fewer."""
    with Talk(driver, instance_of(driver, instances), statement=statement, bulk=bulk) as talk:
        expected = expected_of("load", talk.engine)
        for rows, operations in ((10_000, 2), (10, 7)):
            phase = smaller(expected, "bulk", rows)
            if statement == "text" and bulk in BINDING:
                with pytest.raises(RunnerFailure, match="binds its values"):
                    talk.prepare(expected, phase, tmp_path)
                continue
            talk.prepare(expected, phase, tmp_path)
            reply = talk.sample("bulk", operations=operations, first=0)
            assert (reply.operations, reply.failed, reply.failure, reply.rows) == (operations, 0, None, 0)
            assert talk.stored(expected, phase, tmp_path) == expected.after_digest(phase, operations)


# What was stored is read on the same connection: with odbc-mariadb a query cannot travel as text there.
TRANSACTIONS = [
    (driver, statement)
    for driver in DRIVERS
    for statement in ("prepared", "bound", "text")
    if (driver, statement) != ("odbc-mariadb", "text")
]


@pytest.mark.parametrize(("driver", "statement"), TRANSACTIONS)
def test_transaction(driver: str, statement: str, instances: dict[str, Instance], tmp_path: Path) -> None:
    instance = instance_of(driver, instances)
    with Talk(driver, instance, statement=statement) as talk:
        expected = expected_of("load", talk.engine)
        phase = expected.workload.phase("batch-100")
        talk.prepare(expected, phase, tmp_path)
        before = instance.commits()
        reply = talk.sample("batch-100", operations=30, first=0)
        assert (reply.operations, reply.failed) == (30, 0)
        if before is not None:
            talk.ask(RunStatements, RunReply, statements=list(instance.flush_statements))
            assert 30 <= (instance.commits() or 0) - before < 60  # one for each operation, not one for each row
        assert talk.stored(expected, phase, tmp_path) == expected.after_digest(phase, 30)


def every_type(talk: Talk, without: tuple[str, ...]) -> tuple[Expected, Phase]:
    """The load of the table of every type but these."""
    whole = expected_of("types", talk.engine).workload
    columns = tuple(column for column in whole.tables["types"].columns if column.type not in without)
    table = msgspec.structs.replace(whole.tables["types"], columns=columns)
    sql = EVERY_TYPE.sql.replace("{marks}", ", ".join("?" * len(columns)))
    workload = msgspec.structs.replace(whole, tables={"types": table})
    return Expected(workload), msgspec.structs.replace(EVERY_TYPE, sql=sql)


@pytest.mark.parametrize(
    ("driver", "statement", "bulk"), [way for way in WAYS if way[1] != "text" or way[2] not in BINDING]
)
def test_every_type(driver: str, statement: str, bulk: str, instances: dict[str, Instance], tmp_path: Path) -> None:
    """NULL, empty texts, the least and greatest values."""
    with Talk(driver, instance_of(driver, instances), statement=statement, bulk=bulk) as talk:
        lost = {
            "copy-binary": ("interval", "array"),
            "unnest": ("array",),
            "libsqliteodbc": ("float32", "float64", "binary"),
        }
        expected, phase = every_type(talk, lost.get(bulk, lost.get(driver, ())))
        talk.prepare(expected, phase, tmp_path)
        reply = talk.sample("every-type", operations=2, first=0)
        assert (reply.operations, reply.failed, reply.failure) == (2, 0, None)
        assert talk.stored(expected, phase, tmp_path) == expected.after_digest(phase, 2)


@pytest.mark.parametrize("statement", ["prepared", "bound"])
def test_binary_arrays(statement: str, instances: dict[str, Instance], tmp_path: Path) -> None:
    """NULL, empty texts, the least and greatest values, as elements in binary."""
    with Talk("libpq", instance_of("libpq", instances), statement=statement, bulk="unnest", format="binary") as talk:
        expected, phase = every_type(talk, ("interval", "array"))
        talk.prepare(expected, phase, tmp_path)
        assert talk.sample("every-type", operations=2, first=0).failure is None
        assert talk.stored(expected, phase, tmp_path) == expected.after_digest(phase, 2)


@pytest.mark.parametrize(
    ("bulk", "form", "kept"),
    [
        ("copy-binary", "text", "interval"),
        ("copy-binary", "text", "array"),
        ("unnest", "binary", "interval"),
        ("unnest", "binary", "array"),
    ],
)
def test_no_binary_form(bulk: str, form: str, kept: str, instances: dict[str, Instance], tmp_path: Path) -> None:
    with Talk("libpq", instance_of("libpq", instances), bulk=bulk, format=form) as talk:
        expected, phase = every_type(talk, tuple({"interval", "array"} - {kept}))
        with pytest.raises(RunnerFailure, match="no form of it"):
            talk.prepare(expected, phase, tmp_path)


def test_no_array_of_arrays(instances: dict[str, Instance], tmp_path: Path) -> None:
    with Talk("libpq", instance_of("libpq", instances), bulk="unnest") as talk:
        expected, phase = every_type(talk, ())
        with pytest.raises(RunnerFailure, match="no array of it"):
            talk.prepare(expected, phase, tmp_path)


@pytest.mark.parametrize(
    ("driver", "way", "bulk"),
    [("sqlite", "transaction", "multi-row"), ("libpq", "transaction", "copy")]
    + [(driver, "bulk", bulk) for driver, statement, bulk in WAYS if statement == "prepared"],
)
def test_nothing_of_a_failed_operation_stays(
    driver: str, way: str, bulk: str, instances: dict[str, Instance], tmp_path: Path
) -> None:
    """The second operation meets a key that is there already; the third goes on with the connection as it was."""
    with Talk(driver, instance_of(driver, instances), bulk=bulk) as talk:
        expected = expected_of("keyed", talk.engine)
        insert = expected.workload.phase("insert")
        phase = msgspec.structs.replace(insert, kind="load", way=way, table=insert.after, rows_per_operation=100)
        single = msgspec.structs.replace(insert, name="single")
        talk.prepare(expected, single, tmp_path)
        assert talk.sample("single", operations=1, first=150).failed == 0
        talk.prepare(expected, msgspec.structs.replace(phase, reset=()), tmp_path)
        reply = talk.sample("insert", operations=3, first=0)
        assert (reply.operations, reply.failed) == (2, 1)
        assert reply.failure is not None
        assert reply.failure.kind == "sql"
        talk.ask(RunStatements, RunReply, statements=["DELETE FROM mydata2_new"])
        assert talk.sample("insert", operations=3, first=0).failed == 0
        assert talk.stored(expected, insert, tmp_path) == expected.after_digest(insert, 300)


def test_what_cannot_be_loaded(instances: dict[str, Instance], tmp_path: Path) -> None:
    with Talk("sqlite", instance_of("sqlite", instances), bulk="none") as talk:
        expected = expected_of("load", talk.engine)
        with pytest.raises(RunnerFailure, match="no bulk way"):
            talk.prepare(expected, smaller(expected, "bulk", 10), tmp_path)
        with pytest.raises(RunnerFailure, match="rows an operation"):
            talk.prepare(expected, smaller(expected, "batch-100", 10_001), tmp_path)
