"""What the engines written in Java share: the same database embedded in a client's JVM and behind a server of its own.

A database is a directory; `embedded.py` makes, fills and copies it, `server.py` runs the server over it.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rowpath.engines import backup as backups
from rowpath.engines.base import Backup, Instance, Place
from rowpath.model.availability import Availability
from rowpath.model.workload import Column, Table
from rowpath.runners.manifest import Adapter, adapter_of

DATABASE = "rowpath"
INTEGERS = {16: "SMALLINT", 32: "INTEGER", 64: "BIGINT"}
SQL_TYPES = {
    "decimal": "DECIMAL({precision},{scale})",
    "float32": "REAL",
    "float64": "DOUBLE PRECISION",
    "boolean": "BOOLEAN",
    "char": "CHAR({length})",
    "varchar": "VARCHAR({length})",
    "binary": "VARBINARY({length})",
    "date": "DATE",
    "time": "TIME(6)",
    "timestamp": "TIMESTAMP(6)",
    "timestamptz": "TIMESTAMP(6) WITH TIME ZONE",
    "uuid": "UUID",
}  # as the SQL standard spells them


@dataclass(frozen=True)
class ServerCommand:
    """How a server's JVM is started: its properties, main class with arguments, and what it says once it listens."""

    jars: tuple[str, ...]  # by the names of their pinned artefacts
    properties: tuple[str, ...]
    arguments: tuple[str, ...]
    ready: bytes


class JvmDialect:
    """The kind of engine: one of those written in Java. Its module fills in what makes it that one."""

    name: str
    title: str
    deployments: tuple[str, ...] = ("embedded", "server")
    durabilities: tuple[str, ...] = ("full", "none")
    server_warm_s = 4.0
    types: Mapping[str, str]
    lacks: Mapping[str, str] = {}  # reasons that say more than that there is no such type
    create_words = "CREATE TABLE"
    inside = ""  # what a URL appends to the database's directory
    made_file: str  # in that directory once the database was made
    lock_file = ""  # in it while the database is open; empty where no file tells
    user: str
    backup_way: str
    greeting = b""  # what the server answers, or hangs up on, at once; empty where `answers` asks in another way

    def availability(self) -> Availability:
        """What the Java side says of its adapter, which makes and loads the databases."""
        java: Any = importlib.import_module("rowpath.runners.toolchains.java")
        found: Availability = java.availability(self.adapter(), self.version())
        return Availability(found.ok, f"{self.title} {self.version()}", found.reason, found.remedy)

    def adapter(self) -> Adapter:
        """The Java runner's adapter for it."""
        return adapter_of("java", self.name)

    def version(self) -> str:
        """Of the pinned jar."""
        return self.adapter().versions[0]

    def instance(self, deployment: str, durability: str, place: Place) -> Instance:
        """A database directory, or a server over one, not yet made."""
        raise NotImplementedError

    def create(self, name: str, table: Table) -> str:
        """CREATE TABLE in its dialect."""
        lines = [self._column(column, table) for column in table.columns]
        if table.primary_key:
            lines.append(f"PRIMARY KEY ({', '.join(table.primary_key)})")
        return f"{self.create_words} {name} ({', '.join(lines)})"

    def drop(self, name: str) -> str:
        """DROP TABLE in its dialect."""
        return f"DROP TABLE {name} IF EXISTS"

    def supports(self, logical_type: str) -> str:
        """Empty when it has the logical type, else the reason."""
        if logical_type == "integer" or logical_type in self.types:
            return ""
        return self.lacks.get(logical_type, f"{self.title} has no type for {logical_type}")

    def settle_statements(self) -> list[str]:
        """A checkpoint, by whoever is connected: the embedded runner, or any client of the server."""
        return ["CHECKPOINT"]

    def slow_query(self) -> str:
        """A query that runs for minutes and needs no table of ours."""
        raise NotImplementedError

    def backup_ways(self, deployment: str) -> tuple[str, ...]:
        """Its one statement."""
        return (self.backup_way,)

    def backup_availability(self, way: str) -> Availability:
        """Whether it can run here: it needs no program."""
        return self.availability() if way == self.backup_way else backups.unknown(self.title, way)

    def backup(self, way: str, folder: Path) -> Backup:
        """How an open database is backed up into that folder of the server's user. Errors: EnvironmentMissing."""
        backups.require(self.backup_availability(way))
        kept, statement = self.backup_statement(folder)
        return Backup(way, kept, statement)

    def backup_statement(self, folder: Path) -> tuple[Path, str]:
        """What a backup into that folder leaves, and the statement that makes it."""
        raise NotImplementedError

    def restore(self, kept: Path, database: Path) -> None:
        """Make a database directory that is not there from what a backup left. Errors: RowpathError, OSError."""
        raise NotImplementedError

    def path(self, database: Path) -> str:
        """What an embedded connection's URL names."""
        return str(database / self.inside if self.inside else database)

    def once(self, durability: str) -> list[str]:
        """What a database is told when its tables are made."""
        return []

    def filled(self, name: str, table: Table) -> list[str]:
        """What follows when a table was filled: where its numbering goes on, and statistics."""
        if not table.identity:
            return []
        return [f"ALTER TABLE {name} ALTER COLUMN {table.identity} RESTART WITH {table.rows + 1}"]

    def set_password(self, password: str) -> list[str]:
        """What gives the database's only user this password; empty where the database knows no users."""
        return [f"ALTER USER {self.user} SET PASSWORD '{password}'"]

    def server_files(self, password: str) -> dict[str, str]:
        """Private files that its server reads, by name."""
        return {}

    def server_command(self, home: Path, port: int, durability: str) -> ServerCommand:
        """How its server is started on that port of 127.0.0.1, over the database in `home`."""
        raise NotImplementedError

    def server_settings(self, durability: str) -> dict[str, str]:
        """What a user should know of how its server was started."""
        return {}

    def ping(self, port: int) -> list[str]:
        """The class and arguments that ask whether a server answers, where it has a program for that."""
        return []

    def _column(self, column: Column, table: Table) -> str:
        values: dict[str, Any] = {"length": column.length, "precision": column.precision, "scale": column.scale}
        kind = self._kept_as(column)
        if kind in ("integer", "array"):
            spelt = INTEGERS[column.bits] + (" ARRAY" if kind == "array" else "")
        else:
            spelt = self.types[kind].format(**values)
        identity = " GENERATED BY DEFAULT AS IDENTITY (START WITH 1)" if column.name == table.identity else ""
        null = "" if column.nullable else " NOT NULL"
        return f"{column.name} {spelt}{identity}{null}"

    def _kept_as(self, column: Column) -> str:
        return column.type


def jvm_command(jars: tuple[str, ...], *options: str) -> list[str]:
    """A JVM with these pinned jars, up to the main class."""
    java: Any = importlib.import_module("rowpath.runners.toolchains.java")
    return [java.java_command(), *options, "-cp", java.class_path(jars)]
