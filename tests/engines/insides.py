"""What tests look at or change inside an engine's instance: private members are used here, not in the tests."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rowpath.engines.base import Instance, Place
from rowpath.engines.embedded import EmbeddedDatabase
from rowpath.engines.mariadb.dialect import MariadbDialect
from rowpath.engines.mariadb.server import MariadbServer
from rowpath.engines.postgresql.server import DATABASE, ROLE, SUPERUSER, PostgresqlServer
from rowpath.engines.server import PrivateServer
from rowpath.machine import certificates

AUTHORITY = "authority.crt"  # of the certificates that a server demands of its clients


def psql(server: Instance, script: str, role: str = ROLE, database: str = DATABASE) -> str:
    """What PostgreSQL's client prints of a script, by default with the runners' login. Errors: RowpathError."""
    assert isinstance(server, PostgresqlServer)
    return server._psql(script, role, database)


def ask(server: Instance, query: str) -> str:
    """PostgreSQL's answer to a query of its superuser. Errors: RowpathError."""
    return psql(server, query, SUPERUSER, "postgres").strip()


def rows_of(server: MariadbServer, query: str) -> list[list[str]]:
    """The answer to a query of the superuser. Errors: RowpathError."""
    return server._ask(query)


def password_of(server: Instance, user: str) -> str:
    assert isinstance(server, PostgresqlServer | MariadbServer)
    return server._passwords[user]


def files_of(server: PrivateServer[Any]) -> Path:
    """The folder with everything of a server that was started once."""
    home = server.home()
    assert home is not None
    return home


def data_of(server: PrivateServer[Any]) -> Path:
    return server._data()


def restart_showing(
    server: PostgresqlServer | MariadbServer, certificate: Callable[[Path, str | None], tuple[Path, Path]] | None
) -> None:
    """Stop and start; `certificate` gives it and its key in a folder for a user, beside AUTHORITY. None: no TLS."""
    server.stop()
    server._tls = certificate is not None
    command = MariadbServer._command

    def with_authority(mariadb: MariadbServer, logins: Path) -> list[str | Path]:
        authority = [f"--ssl-ca={mariadb._files() / AUTHORITY}"] if mariadb._tls else []
        return [*command(mariadb, logins), *authority]

    with pytest.MonkeyPatch.context() as patch:
        if certificate is not None:
            patch.setattr(certificates, "make", lambda folder, user, *_, **__: certificate(folder, user))
        patch.setattr(MariadbServer, "_command", with_authority)
        server.start()


def database_of(instance: Instance) -> Path:
    """The file or directory that an embedded engine loads, from which paths get their copies."""
    assert isinstance(instance, EmbeddedDatabase)
    database: Any = instance._database
    return Path(database)


def place_of(server: Instance) -> Place:
    """What the server was made with; a change counts from its next start."""
    assert isinstance(server, PrivateServer)
    return server._place


def remember_port(server: PrivateServer[Any], port: int) -> None:
    """Let the server think that it listened on this port before."""
    server._port = port


def give_files(server: PrivateServer[Any], files: Path) -> None:
    """Let the server think that these files are its own."""
    server._home = files


def dialect_of(server: MariadbServer) -> MariadbDialect:
    return server._engine


def client_of(server: MariadbServer) -> Path:
    """The client program of the server's installation."""
    return server._programs.client


def console_pid_of(server: MariadbServer) -> int:
    console = server._console
    assert console is not None
    assert console._process is not None
    return console._process.pid


def program_of(server: PostgresqlServer, name: str) -> Path:
    """A program of the server's installation."""
    return server._program(name)
