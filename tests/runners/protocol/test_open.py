"""An `open` that fails keeps no connection; one that comes too early changes nothing. In every language."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from rowpath.engines.postgresql.server import PostgresqlServer
from rowpath.machine import cpus
from rowpath.model.path import AccessPath
from rowpath.runners import manifest, protocol
from rowpath.runners.process import Runner, RunnerFailure
from tests.engines.insides import ask
from tests.runners.c.talk import started
from tests.runners.protocol.talk import Talk, adapter
from tests.runners.protocol.test_groups import skip_without
from tests.waiting import until

FEW = "few"  # a role that may have fewer connections than `open` requests
LIMIT = 3
PATHS = {
    "c-threads": ("c", "libpq", "threads"),
    "csharp-threads": ("csharp", "ado-psqlodbc", "threads"),
    "go-goroutines": ("go", "pgx", "goroutines"),
    "java-threads": ("java", "pgjdbc", "threads"),
    "node-tasks": ("node", "pg", "tasks"),
    "python-threads": ("python", "psycopg", "threads"),
    "python-tasks": ("python", "asyncpg", "tasks"),
    "python-processes": ("python", "psycopg", "processes"),
    "rust-tasks": ("rust", "tokio-postgres", "tasks"),
    "rust-threads": ("rust", "postgres", "threads"),
}


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresqlServer]:
    skip_without("python", "psycopg")
    with started("postgresql", deployment="server") as instance:
        assert isinstance(instance, PostgresqlServer)
        ask(instance, f"CREATE ROLE {FEW} LOGIN PASSWORD '{FEW}' CONNECTION LIMIT {LIMIT};")
        yield instance


def connections(server: PostgresqlServer) -> int:
    """How many the role has."""
    return int(ask(server, f"SELECT count(*) FROM pg_stat_activity WHERE usename = '{FEW}';"))


@pytest.mark.parametrize(("language", "driver", "concurrency"), PATHS.values(), ids=PATHS)
def test_no_connection_is_left(server: PostgresqlServer, language: str, driver: str, concurrency: str) -> None:
    skip_without(language, driver)
    found = adapter(language, driver)
    first = {key: values[0] for key, values in found.coordinates.items()}
    fixed = {"engine": "postgresql", "deployment": "server", "language": language, "driver": driver}
    path = AccessPath.of(fixed | {"version": found.versions[0]} | first | {"concurrency": concurrency})
    manifest.build([(found, found.versions[0])], paths=[path])
    runner = Runner.start(manifest.command(found, found.versions[0], path), tuple(cpus.usable()))
    try:
        runner.hello(driver, requires=("clients",))
        talk = Talk(runner)
        options: dict[str, Any] = path.as_dict() | server.options(path) | {"user": FEW, "password": FEW}
        with pytest.raises(RunnerFailure) as refused:
            talk.open(options, clients=str(LIMIT + 1))
        assert refused.value.kind == "connect", refused.value
        until(lambda: not connections(server), "end of the role's connections")
        with pytest.raises(RunnerFailure, match="open"):
            talk.facts()
        talk.open(options, clients=str(LIMIT))
        assert connections(server) == LIMIT
        with pytest.raises(RunnerFailure) as refused:
            talk.ask(protocol.Open, protocol.OpenReply, options=options | {"clients": "1"})
        assert refused.value.kind == "internal", refused.value
        assert connections(server) == LIMIT
        assert talk.facts().engine_version
        talk.close_connection()
        until(lambda: not connections(server), "end of the closed connections")
    finally:
        runner.stop()
