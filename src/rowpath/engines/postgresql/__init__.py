"""PostgreSQL: a private server on 127.0.0.1 and a unix socket, with a role of its own for the runners."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rowpath.engines.base import Place
from rowpath.engines.postgresql import backup
from rowpath.engines.postgresql.server import Server
from rowpath.machine import certificates, postgresql_programs
from rowpath.model.availability import Availability
from rowpath.model.workload import Column, Table

TYPES = {
    "decimal": "numeric({precision},{scale})",
    "float32": "real",
    "float64": "double precision",
    "boolean": "boolean",
    "char": "char({length})",
    "varchar": "varchar({length})",
    "text": "text",
    "json": "json",
    "binary": "bytea",
    "date": "date",
    "time": "time",
    "timestamp": "timestamp",
    "timestamptz": "timestamptz",
    "interval": "interval",
    "uuid": "uuid",
    "array": "integer[]",
}
INTEGERS = {16: "smallint", 32: "integer", 64: "bigint"}


class Postgresql:
    """The kind of engine: PostgreSQL, always a server."""

    name = "postgresql"
    deployments = ("server",)
    durabilities = ("full", "none")
    server_warm_s = 0.0

    def availability(self) -> Availability:
        """Whether it can run here; fetches and starts nothing."""
        return postgresql_programs.availability()

    def version(self) -> str:
        """The wheel's, or that of the one named."""
        return postgresql_programs.version_here()

    def versions(self) -> tuple[str, ...]:
        """The wheel's without TLS and one with it; or the one named alone."""
        if postgresql_programs.named() is not None:
            return (self.version(),)
        return self.version(), postgresql_programs.VERSION_TLS

    def tls_version(self) -> str:
        """The one with TLS; the one named if it was built with it."""
        named = postgresql_programs.named()
        if named is None:
            return postgresql_programs.VERSION_TLS
        return self.version() if self.availability().ok and postgresql_programs.has_tls(named) else ""

    def availability_of(self, version: str, tls: str) -> Availability:
        """Whether that version can run here, and with tls=on whether it speaks TLS."""
        here = self.availability()  # its psql serves the other version too
        if here.ok and version == postgresql_programs.VERSION_TLS:
            here = postgresql_programs.availability_tls()
        if not here.ok or tls != "on":
            return here
        with_tls = self.tls_version()
        if version != with_tls:
            remedy = f"engine_version={with_tls}" if with_tls else "unset ROWPATH_POSTGRESQL"
            return Availability(False, here.what, f"{here.what} was built without TLS", remedy)
        missing = certificates.problem()
        return Availability(False, here.what, missing, certificates.INSTALL) if missing else here

    def instance(self, deployment: str, durability: str, place: Place) -> Server:
        """A server, not yet started; its programs are fetched now. Errors: EnvironmentMissing."""
        return Server(self, deployment, durability, place, self._prefix(place.version))

    def create(self, name: str, table: Table) -> str:
        """CREATE TABLE in its dialect."""
        lines = [self._column(column, table) for column in table.columns]
        if table.primary_key:
            lines.append(f"PRIMARY KEY ({', '.join(table.primary_key)})")
        return f"CREATE TABLE {name} ({', '.join(lines)})"

    def drop(self, name: str) -> str:
        """DROP TABLE in its dialect."""
        return f"DROP TABLE IF EXISTS {name}"

    def supports(self, logical_type: str) -> str:
        """Empty: it has every logical type."""
        return "" if logical_type == "integer" or logical_type in TYPES else f"no logical type {logical_type}"

    def settle_statements(self) -> list[str]:
        """None: `settle` does it from outside."""
        return []

    def backup_ways(self, deployment: str) -> tuple[str, ...]:
        """The cluster's files, and a dump."""
        return tuple(backup.PROGRAMS)

    def backup_availability(self, way: str) -> Availability:
        """Whether the programs for it are here."""
        return backup.availability(way)

    def slow_query(self) -> str:
        """Minutes of counting pairs."""
        return "SELECT count(*) FROM generate_series(1, 1000000) AS a CROSS JOIN generate_series(1, 1000000) AS b"

    def _prefix(self, version: str) -> Path:
        if version == postgresql_programs.VERSION_TLS and postgresql_programs.named() is None:
            return postgresql_programs.install_tls()
        return postgresql_programs.install()

    def _column(self, column: Column, table: Table) -> str:
        values: dict[str, Any] = {"length": column.length, "precision": column.precision, "scale": column.scale}
        spelt = INTEGERS[column.bits] if column.type == "integer" else TYPES[column.type].format(**values)
        if column.name == table.identity:
            spelt += " GENERATED BY DEFAULT AS IDENTITY"  # the loaded rows bring their own numbers
        return f"{column.name} {spelt}{'' if column.nullable else ' NOT NULL'}"


ENGINE = Postgresql()
