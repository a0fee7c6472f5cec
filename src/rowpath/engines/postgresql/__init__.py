"""PostgreSQL: a private server on 127.0.0.1 and a unix socket, with a role of its own for the runners."""

from __future__ import annotations

import json
import shlex
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from typing_extensions import override

from rowpath.engines import probe_facts as probing
from rowpath.engines.backup import BackupWays
from rowpath.engines.base import LoadingCost, Place, Wire
from rowpath.engines.postgresql import connections, login, url_options
from rowpath.engines.postgresql.pooled import IDLE_TIMEOUT_S, TRANSACTION
from rowpath.engines.postgresql.server import BACKUP_PROGRAMS, PostgresqlServer
from rowpath.machine import certificates, postgresql_programs, private_directories
from rowpath.model.availability import Availability
from rowpath.model.workload import Table


def _session_statements(_version: str, timeout_ms: int) -> tuple[str, ...]:
    return (
        "SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY",
        "SET application_name = 'rowpath'",
        f"SET statement_timeout = {timeout_ms}",
        f"SET lock_timeout = {probing.LOCK_TIMEOUT_S * 1000}",
        f"SET idle_in_transaction_session_timeout = {IDLE_TIMEOUT_S * 1000}",
    )


def _server_times(text: str) -> probing.ServerTimes:
    """The times in the output of `EXPLAIN (ANALYZE, FORMAT JSON)`."""
    (plan,) = json.loads(text)
    return probing.ServerTimes(plan["Planning Time"], plan["Execution Time"], tuple(_steps(plan["Plan"])))


def _steps(plan: dict[str, Any]) -> Iterator[str]:
    yield plan["Node Type"]
    for below in plan.get("Plans", ()):
        yield from _steps(below)


def _primary_key_query(parts: Sequence[str]) -> str:
    """Of a table by the parts of its name, which the search path completes as it does for the query."""
    name = ".".join('"{}"'.format(part.replace('"', '""')) for part in parts).replace("'", "''")
    return (
        "SELECT a.attname::text FROM pg_catalog.pg_index AS i "
        "CROSS JOIN LATERAL pg_catalog.unnest(i.indkey::int2[]) WITH ORDINALITY AS k(number, position) "
        "JOIN pg_catalog.pg_attribute AS a ON a.attrelid = i.indrelid AND a.attnum = k.number "
        f"WHERE i.indisprimary AND i.indrelid = '{name}'::pg_catalog.regclass ORDER BY k.position"
    )


class Postgresql(BackupWays):
    """The kind of engine: PostgreSQL, always a server."""

    name = "postgresql"
    title = "PostgreSQL"
    order = 20
    ways = tuple(BACKUP_PROGRAMS)
    deployments = ("server",)
    listens = True
    availability = staticmethod(postgresql_programs.availability)
    version = staticmethod(postgresql_programs.version_here)
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
    slow_query = "SELECT count(*) FROM generate_series(1, 1000000) AS a CROSS JOIN generate_series(1, 1000000) AS b"
    loading = LoadingCost(50e6, 3.5, 40e6)
    wire = Wire(
        "postgresql",
        chunk_bytes=8192,  # its send buffer
        socket_name=".s.PGSQL.{port}",
        socket_folder=True,
        url_query="sslmode=disable",
        password_variable="PGPASSWORD",
    )
    probe = probing.ProbeFacts(
        schemes=("postgresql", "postgres"),
        port=login.PORT,
        server_programs=("postgres", "pgbouncer"),
        url_options=probing.SOCKET_KEYS,
        protocol="postgresql",
        options=url_options.OPTIONS,
        key_values=url_options.KEY_VALUES,
        with_defaults=login.with_defaults,
        complete_login=login.complete,
        tls=probing.TlsFacts(
            "sslmode=verify-full",
            {"ca": "sslrootcert", "cert": "sslcert", "key": "sslkey"},
            {"mode": "PGSSLMODE", "ca": "PGSSLROOTCERT", "cert": "PGSSLCERT", "key": "PGSSLKEY"},
            {"ca": ".postgresql/root.crt", "cert": ".postgresql/postgresql.crt", "key": ".postgresql/postgresql.key"},
            checks_with_ca="on",
        ),
        syntax=probing.Syntax(fold=str.lower, nested_comments=True, dollar_quotes=True, escape_strings=True),
        row_limit="LIMIT {rows}",
        session_statements=_session_statements,
        prepared_settings={"plan_cache_mode": ("auto", "force_custom_plan", "force_generic_plan")},
        cast_literals=True,
        untyped_literals=("text",),
        binary_literal=r"'\x{}'",
        primary_key_query=_primary_key_query,
        privileged_query="SELECT rolname::text FROM pg_catalog.pg_roles WHERE rolname = current_user AND rolsuper",
        server_clock=probing.ServerClock(
            "EXPLAIN ANALYZE",
            "EXPLAIN (ANALYZE, TIMING OFF{output}, FORMAT JSON) {sql}",
            _server_times,
            prepare="PREPARE rowpath_explained{types} AS {sql}",
            call="EXECUTE rowpath_explained{values}",
            cursor="DECLARE rowpath_explained CURSOR FOR {sql}",
            output=", SERIALIZE {format}",
            output_since=17,
            output_work="detoasting values and making the output",
            parallel_step="Gather",
        ),
        empty_query="SELECT 1",
        pooler_query="SELECT 'pooled' WHERE pg_backend_pid() <> {server_pid}",
        pooled=TRANSACTION,
        connection_limits=connections.LIMITS,
    )

    @override
    def settings(self, durability: str) -> dict[str, tuple[str, ...]]:
        always = {"TimeZone": ("UTC",), "tls": ("on", "off")}
        return always | ({"synchronous_commit": ("off",)} if durability == "none" else {})

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
        """Fetch the programs and make a server, not yet started. Errors: EnvironmentMissing."""
        return PostgresqlServer(self, durability, place)

    @override
    def filled(self, name: str, table: Table) -> list[str]:
        statements = super().filled(name, table)
        if table.identity and table.rows:
            place = f"pg_get_serial_sequence('{name}', '{table.identity}')"
            statements.append(f"SELECT setval({place}, (SELECT max({table.identity}) FROM {name}))")
        return [*statements, f"VACUUM ANALYZE {name}"]

    @override
    def connect_lines(self, options: dict[str, Any], folder: Path) -> tuple[str, ...]:
        file = folder / "pgpass"
        private_directories.write_private(file, f"*:*:*:{options['user']}:{options['password']}\n")
        program = shutil.which("psql") or str(postgresql_programs.install() / "bin" / "psql")
        arguments = ["-p", str(options["port"]), "-U", options["user"], "-d", options["database"]]
        return tuple(
            f"PGPASSFILE={shlex.quote(str(file))} {shlex.join([program, '-h', host, *arguments])}"
            for host in (options["host"], options["socket_dir"])
        )

    @override
    def backup_availability(self, way: str) -> Availability:
        """Whether the programs for it are here, or come with the server's."""
        here, named = super().backup_availability(way), postgresql_programs.named()
        if here.ok and named is not None:
            for program in BACKUP_PROGRAMS[way]:
                if not (named / "bin" / program).is_file():
                    remedy = "apt-get install postgresql-client, or unset ROWPATH_POSTGRESQL"
                    return Availability(False, here.what, f"there is no {named}/bin/{program}", remedy)
        return here


ENGINE = Postgresql()
