"""What the engines written in Java share beside their kind: names, types, how a JVM is started."""

from __future__ import annotations

from dataclasses import dataclass

from rowpath.machine import jvm

DATABASE = "rowpath"
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
    """How a server's JVM is started: its properties, main class with arguments, and what it logs once it listens."""

    jars: tuple[str, ...]  # by the names of their pinned artefacts
    properties: tuple[str, ...]
    arguments: tuple[str, ...]
    ready: str


def jvm_command(jars: tuple[str, ...], *options: str) -> list[str]:
    """A JVM with these pinned jars, up to the main class."""
    return [jvm.java_command(), *options, "-cp", jvm.class_path(jars)]
