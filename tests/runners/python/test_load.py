"""Storing rows through the Python runner: every way of every driver, read back from the engine by digest."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import pytest

from rowpath.engines.postgresql import Postgresql
from rowpath.engines.sqlite import Sqlite
from rowpath.model.workload import Parameters, Phase, Workload
from rowpath.runners import protocol as p
from rowpath.runners.process import RunnerFailure
from rowpath.workloads import workload_file
from rowpath.workloads.expected import Expected
from tests.runners.python.engines import postgresql_fixture, sqlite_file_fixture, sqlite_loaded_fixture  # noqa: F401
from tests.runners.python.talk import ADAPTERS, Talk, kept_fixture, living_fixture, start_fixture  # noqa: F401

POSTGRESQL_WAYS = [
    "psycopg copy text tuned",
    "psycopg copy binary tuned",
    "psycopg copy binary shipped",
    "psycopg executemany text tuned",
    "psycopg executemany text shipped",
    "psycopg one-by-one text tuned",
    "psycopg unnest text tuned",
    "psycopg unnest text shipped",
    "psycopg2 copy text tuned",
    "psycopg2 copy text shipped",
    "psycopg2 multi-row text tuned",
    "psycopg2 executemany text tuned",
    "psycopg2 one-by-one text shipped",
    "asyncpg copy binary tuned",
    "asyncpg executemany binary tuned",
    "asyncpg one-by-one binary tuned",
]
# What a driver takes no natural value of; asyncpg stores the least day, which is among the values, as -infinity.
NOT_TAKEN = {
    "psycopg": ("interval",),
    "psycopg2": ("interval",),
    "asyncpg": ("date", "timestamp", "timestamptz"),
}
WITHOUT = {"unnest": ("array",)}  # what a bulk way cannot store


@dataclass
class Storing:
    """A table `stored` like one of a shipped workload, and the phase that fills it with that table's rows."""

    engine: Any
    talk: Talk
    workload: Workload
    phase: Phase

    @classmethod
    def of(cls, engine: Any, talk: Talk, name: str, lacking: tuple[str, ...] = (), **given: Any) -> Storing:
        def supports(kind: str) -> str:
            return "not taken here" if kind in lacking else str(engine.supports(kind))

        source, _ = workload_file.for_engine(workload_file.load_workload(name), supports)
        (table,) = source.tables.values()
        workload = Workload(
            name="store", title="", tables={"stored": msgspec.structs.replace(table, rows=0)}, phases=()
        )
        names = tuple(column.name for column in table.columns)
        phase = Phase(
            **{"name": "store", "kind": "load", **given},
            sql=f"INSERT INTO stored ({', '.join(names)}) VALUES ({', '.join('?' * len(names))})",
            table="stored",
            parameters=Parameters(generator="rows", table="stored", count=table.rows, columns=names),
            after="stored",
        )
        return cls(engine, talk, workload, phase)

    def prepare(self) -> str:
        """The table made anew, the phase prepared."""
        self.talk.run(self.engine.drop("stored"), ignore_errors=True)
        self.talk.run(self.engine.create("stored", self.workload.tables["stored"]))
        return self.talk.prepare(self.workload, self.phase, columns=[])

    def check(self, operations: int) -> None:
        """The table holds the rows of operations [0, operations) and nothing else."""
        read = Phase(
            name="read",
            kind="query",
            sql=workload_file.whole_sql(self.phase.after, self.workload.tables[self.phase.after]),
            table="stored",
        )
        found = self.talk.verify(self.talk.prepare(self.workload, read))
        assert found.digest == Expected(self.workload).after_digest(self.phase, operations)


def check_way(talk: Talk, engine: Any, way: str, lacking: tuple[str, ...]) -> None:
    """A hundred hits an operation, in two samples; every logical type in one operation."""
    hits = Storing.of(engine, talk, "scan", way=way, rows_per_operation=100)
    name = hits.prepare()
    first = talk.sample(name, operations=5, lead_in_ns=0, first=0)
    assert (first.operations, first.failed, first.failure, first.rows) == (5, 0, None, 0)
    hits.check(5)
    assert talk.sample(name, operations=15, lead_in_ns=0).first == 5
    hits.check(20)
    every_type = Storing.of(engine, talk, "types", lacking, way=way, rows_per_operation=3)
    assert talk.sample(every_type.prepare(), operations=2, lead_in_ns=0, first=0).failure is None
    every_type.check(2)


@pytest.mark.parametrize("case", POSTGRESQL_WAYS)
def test_postgresql(kept: Callable[..., Talk], postgresql: dict[str, Any], case: str) -> None:
    driver, bulk, form, profile = case.split()
    assert bulk in (*ADAPTERS[driver].coordinates["bulk"], "one-by-one")
    talk = kept(driver)
    chosen = {"bulk": bulk, "format": form, "profile": profile, "statement": "bound", "transport": "unix"}
    talk.open(**postgresql, **chosen)
    lacking = (*NOT_TAKEN[driver], *WITHOUT.get(bulk, ()))
    check_way(talk, Postgresql(), "transaction" if bulk == "one-by-one" else "bulk", lacking)


@pytest.mark.parametrize(
    ("way", "profile", "statement"),  # every two values meet
    [
        ("bulk", "tuned", "prepared"),
        ("bulk", "shipped", "text"),
        ("transaction", "tuned", "text"),
        ("transaction", "shipped", "prepared"),
    ],
)
def test_sqlite(kept: Callable[..., Talk], tmp_path: Path, way: str, profile: str, statement: str) -> None:
    talk = kept("sqlite3")
    path = str(tmp_path / "own.sqlite")
    talk.open(path=path, bulk="executemany", durability="none", profile=profile, statement=statement)
    check_way(talk, Sqlite(), way, ())


def test_a_failed_operation_leaves_nothing(kept: Callable[..., Talk], postgresql: dict[str, Any]) -> None:
    for driver, ways in (
        ("psycopg", ("copy", "executemany", "unnest")),
        ("psycopg2", ("copy", "multi-row", "executemany")),
    ):
        for bulk in (*ways, ""):
            talk = kept(driver)
            talk.open(**postgresql, bulk=bulk, statement="bound", transport="unix", format="text")
            way, lacking = "bulk" if bulk else "transaction", ("interval", *WITHOUT.get(bulk, ()))
            storing = Storing.of(Postgresql(), talk, "types", lacking, way=way, rows_per_operation=3)
            name = storing.prepare()
            twice = talk.sample(name, operations=4, lead_in_ns=0, first=0)
            assert (twice.operations, twice.failed) == (2, 2), (driver, bulk)
            assert twice.failure is not None and twice.failure.code == "23505"
            storing.check(2)


def test_what_cannot_be_is_refused(kept: Callable[..., Talk], postgresql: dict[str, Any]) -> None:
    talk = kept("psycopg")
    for options, given, text in (
        ({"bulk": "arrow"}, {"way": "bulk"}, "no bulk way 'arrow'.*copy, executemany"),
        ({"bulk": "copy", "clients": "2"}, {"way": "bulk"}, "several clients"),
    ):
        talk.open(**(postgresql | {"statement": "bound", "transport": "unix"} | options))
        with pytest.raises(RunnerFailure, match=text) as caught:
            Storing.of(Postgresql(), talk, "types", **given).prepare()
        assert caught.value.kind == "unsupported"


@pytest.mark.parametrize("driver", ["sqlite3", "psycopg", "psycopg2", "asyncpg"])
def test_an_engine_is_loaded_in_slices(
    kept: Callable[..., Talk], postgresql: dict[str, Any], sqlite_file: Path, driver: str
) -> None:
    engine: Any = Sqlite() if driver == "sqlite3" else Postgresql()
    talk = kept(driver)
    talk.open(**postgresql, path=str(sqlite_file), statement="bound", transport="unix", durability="full")
    storing = Storing.of(engine, talk, "scan", kind="execute")
    name = storing.prepare()

    def load(first: int, count: int) -> p.LoadReply:
        return talk.runner.request(p.Load, 60, phase=name, first=first, count=count, expect=p.LoadReply)

    assert [load(first, count).rows for first, count in ((0, 1), (1, 0), (1, 6000), (6001, 70))] == [1, 0, 6000, 70]
    storing.check(6071)
    with pytest.raises(RunnerFailure, match="6071 parameters"):
        load(6000, 72)


def test_asyncpg_stores_the_least_day_as_minus_infinity(kept: Callable[..., Talk], postgresql: dict[str, Any]) -> None:
    talk = kept("asyncpg")
    talk.open(**postgresql, statement="bound", transport="unix", bulk="copy")
    storing = Storing.of(Postgresql(), talk, "types", way="bulk", rows_per_operation=6)
    assert talk.sample(storing.prepare(), operations=1, lead_in_ns=0, first=0).failure is None
    sql = "SELECT count(*)::int AS one FROM stored WHERE c_date = '-infinity' AND c_timestamp = '-infinity'"
    connect = workload_file.load_workload("connect")
    asked = talk.verify(talk.prepare(connect, connect.phases[0], sql, kind="query"))
    assert asked.digest == Expected(connect).verify_digest("first", 0, 1, 1)  # one row of the integer 1
