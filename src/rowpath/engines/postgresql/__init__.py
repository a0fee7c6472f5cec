"""PostgreSQL: a private server on 127.0.0.1 and a unix socket, with a role of its own for the runners."""

from __future__ import annotations

import shlex
import shutil
from pathlib import Path
from typing import Any

from typing_extensions import override

from rowpath.engines.base import LoadingCost, Place
from rowpath.engines.postgresql import backup, client_login
from rowpath.engines.postgresql.client_login import PORT
from rowpath.engines.postgresql.server import PostgresqlServer
from rowpath.engines.probe_facts import LOCK_TIMEOUT_S, SOCKET_KEYS, TLS_KEYS, ProbeFacts, Syntax
from rowpath.engines.sql_dialect import SqlDialect
from rowpath.machine import certificates, postgresql_programs, private_directories
from rowpath.model.availability import Availability

IDLE_TIMEOUT_S = 60  # of a transaction; a probe's never rest


def _session_statements(_version: str, timeout_ms: int) -> tuple[str, ...]:
    return (
        "SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY",
        "SET application_name = 'rowpath'",
        f"SET statement_timeout = {timeout_ms}",
        f"SET lock_timeout = {LOCK_TIMEOUT_S * 1000}",
        f"SET idle_in_transaction_session_timeout = {IDLE_TIMEOUT_S * 1000}",
    )


class Postgresql(SqlDialect):
    """The kind of engine: PostgreSQL, always a server."""

    name = "postgresql"
    title = "PostgreSQL"
    order = 20
    deployments = ("server",)
    types = {
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
    integers = {16: "smallint", 32: "integer", 64: "bigint"}
    loading = LoadingCost(50e6, 3.5, 40e6)
    probe = ProbeFacts(
        schemes=("postgresql", "postgres"),
        port=PORT,
        url_options=(*TLS_KEYS, *SOCKET_KEYS),
        protocol="postgresql",
        complete_login=client_login.complete,
        syntax=Syntax(nested_comments=True, dollar_quotes=True, escape_strings=True),
        row_limit="LIMIT {rows}",
        session_statements=_session_statements,
        privileged_query="SELECT rolname::text FROM pg_catalog.pg_roles WHERE rolname = current_user AND rolsuper",
        pooler_query="SELECT 'pooled' WHERE pg_backend_pid() <> {server_pid}",
    )

    @override
    def settings(self, durability: str) -> dict[str, tuple[str, ...]]:
        always = {"TimeZone": ("UTC",), "tls": ("on", "off")}
        return always | ({"synchronous_commit": ("off",)} if durability == "none" else {})

    @override
    def availability(self) -> Availability:
        """Whether it can run here; fetches and starts nothing."""
        return postgresql_programs.availability()

    @override
    def version(self) -> str:
        """The wheel's, or that of the one named."""
        return postgresql_programs.version_here()

    def versions(self) -> tuple[str, ...]:
        """The wheel's without TLS and one with it; or only the one named."""
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

    @override
    def instance(self, deployment: str, durability: str, place: Place) -> PostgresqlServer:
        """Its programs are fetched now. Errors: EnvironmentMissing."""
        return PostgresqlServer(self, durability, place, self._prefix(place.version))

    @override
    def connect_lines(self, options: dict[str, Any], folder: Path) -> tuple[str, ...]:
        file = folder / "pgpass"
        private_directories.write_private(file, f"*:*:*:{options['user']}:{options['password']}\n")
        program = shutil.which("psql") or str(postgresql_programs.install() / "bin" / "psql")
        login = ["-p", str(options["port"]), "-U", options["user"], "-d", options["database"]]
        return tuple(
            f"PGPASSFILE={shlex.quote(str(file))} {shlex.join([program, '-h', host, *login])}"
            for host in (options["host"], options["socket_dir"])
        )

    def backup_ways(self, deployment: str) -> tuple[str, ...]:
        """The cluster's files, and a dump."""
        return tuple(backup.PROGRAMS)

    def backup_availability(self, way: str) -> Availability:
        """Whether the programs for it are here."""
        return backup.availability(way)

    @override
    def slow_query(self) -> str:
        """Minutes of counting pairs."""
        return "SELECT count(*) FROM generate_series(1, 1000000) AS a CROSS JOIN generate_series(1, 1000000) AS b"

    def _prefix(self, version: str) -> Path:
        if version == postgresql_programs.VERSION_TLS and postgresql_programs.named() is None:
            return postgresql_programs.install_tls()
        return postgresql_programs.install()


ENGINE = Postgresql()
