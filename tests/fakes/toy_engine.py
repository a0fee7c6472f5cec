"""An engine from outside `src/`: a database file of Python's own SQLite, each path with its own copy."""

from __future__ import annotations

import contextlib
import sqlite3
from typing import Any

from typing_extensions import override

from rowpath.engines.base import Instance, Place
from rowpath.engines.embedded import EmbeddedDatabase
from rowpath.engines.probe_facts import FileLayout, ProbeFacts
from rowpath.engines.sql_dialect import SqlDialect
from rowpath.model.availability import Availability
from rowpath.model.workload import Table
from rowpath.workloads.generators import delimited_value, rows


class Toy(SqlDialect):
    name = "toy"
    title = "Toy"
    order = 15
    deployments = ("embedded",)
    durabilities = ("none",)
    types = {"float64": "REAL"} | dict.fromkeys(("decimal", "char", "varchar", "text", "date", "timestamp"), "TEXT")
    probe = ProbeFacts(schemes=("toy",), layout=FileLayout(), row_limit="LIMIT {rows}")

    @override
    def availability(self) -> Availability:
        return Availability(True, "Toy 1")

    @override
    def version(self) -> str:
        return "1"

    @override
    def instance(self, deployment: str, durability: str, place: Place) -> Instance:
        return ToyFile(self, durability, place)


class ToyFile(EmbeddedDatabase[Toy]):
    loaded_name, copy_name = "loaded.toy", "rowpath.toy"

    @override
    def load(self, tables: dict[str, Table]) -> None:
        with contextlib.closing(sqlite3.connect(self._database)) as connection, connection:
            for name, table in tables.items():
                connection.execute(ENGINE.drop(name))
                connection.execute(ENGINE.create(name, table))
                marks = ", ".join("?" * len(table.columns))
                connection.executemany(f"INSERT INTO {name} VALUES ({marks})", map(_kept, rows(table)))


def _kept(row: tuple[Any, ...]) -> list[Any]:
    return [value if isinstance(value, int | float | str | None) else delimited_value(value) for value in row]


ENGINE = Toy()
