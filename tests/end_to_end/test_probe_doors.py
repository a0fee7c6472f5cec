"""Connection strings as people have them against real servers: the right server, and the rows of the right schema."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from rowpath.engines.postgresql import login
from rowpath.errors import EnvironmentMissing, RowpathError
from rowpath.model.path import AccessPath
from rowpath.own_database.access import Access, open_access
from rowpath.own_database.question import ProbeOptions
from rowpath.own_database.target import read_target
from tests.end_to_end.command import rowpath
from tests.end_to_end.quick_probe import FIRST_TRIES
from tests.engines.insides import psql
from tests.runners.c.talk import started

SCHEMA_ROWS, PUBLIC_ROWS = 300, 10
COUNT = "SELECT count(*)::text FROM orders"


@pytest.fixture(name="server", scope="module")
def server_fixture() -> Iterator[Any]:
    """A PostgreSQL with two tables of one name, and one that only the schema has."""
    with started("postgresql") as instance:
        options = instance.options(AccessPath.of({"transport": "tcp"}))
        table = "CREATE TABLE {} AS SELECT i AS id, i * 2.50 AS amount FROM generate_series(1, {}) AS i;"
        psql(
            instance,
            table.format("public.orders", PUBLIC_ROWS)
            + "CREATE SCHEMA tenant1;"
            + table.format("tenant1.orders", SCHEMA_ROWS)
            + table.format("tenant1.only_here", SCHEMA_ROWS)
            + "GRANT USAGE ON SCHEMA tenant1 TO PUBLIC;"
            "GRANT SELECT ON ALL TABLES IN SCHEMA tenant1, public TO PUBLIC;",
            "postgres",
            options["database"],
        )
        yield instance


def parts(instance: Any) -> dict[str, Any]:
    found: dict[str, Any] = instance.options(AccessPath.of({"engine": "postgresql", "transport": "tcp"}))
    return found | {"quoted": quote(found["password"], safe="")}


def asked(text: str, folder: Path, sql: str = COUNT, **environment: str) -> tuple[str, Access]:
    """What the query delivers in a session of a probe of that connection string."""
    target = read_target(text, {"HOME": str(folder)} | environment)
    with open_access(target, ProbeOptions(""), folder) as access:
        [[answer]] = access.ask((), [sql], folder / "kept")
        return answer, access


@pytest.mark.parametrize(
    "form",
    [
        "postgresql://{user}:{quoted}@127.0.0.1:{port}/{database}?options=-csearch_path%3Dtenant1",
        "postgresql://{user}:{quoted}@127.0.0.1:{port}/{database}?search_path=tenant1,public",
        "postgresql://{user}:{quoted}@127.0.0.1:{port}/{database}?currentSchema=tenant1",
        "postgresql+psycopg2://{user}:{quoted}@127.0.0.1:{port}/{database}?schema=tenant1",
        "jdbc:postgresql://127.0.0.1:{port}/{database}?user={user}&password={quoted}&currentSchema=tenant1",
        "host=127.0.0.1 port={port} dbname={database} user={user} password={password} options='-c search_path=tenant1'",
        "Driver={{PostgreSQL Unicode}};Server=127.0.0.1;Port={port};Database={database};Uid={user};Pwd={password};"
        "pqopt={{options='-c search_path=tenant1'}}",
    ],
)
def test_a_session_reads_the_schema_of_the_connection_string(server: Any, form: str, tmp_path: Path) -> None:
    assert asked(form.format(**parts(server)), tmp_path)[0] == str(SCHEMA_ROWS)
    plain = "postgresql://{user}:{quoted}@127.0.0.1:{port}/{database}".format(**parts(server))
    assert asked(plain, tmp_path)[0] == str(PUBLIC_ROWS)


def test_a_service_and_its_password_file_are_read(server: Any, tmp_path: Path) -> None:
    where = "host=127.0.0.1\nport={port}\ndbname={database}\nuser={user}\n".format(**parts(server))
    (tmp_path / ".pg_service.conf").write_text(f"[shop]\n{where}options=-c search_path=tenant1\n")
    (tmp_path / ".pgpass").write_text("127.0.0.1:*:*:{user}:{password}\n".format(**parts(server)))
    (tmp_path / ".pgpass").chmod(0o600)
    assert asked("postgresql://?service=shop", tmp_path)[0] == str(SCHEMA_ROWS)
    assert asked("service=shop", tmp_path)[0] == str(SCHEMA_ROWS)


def test_the_default_socket_is_taken(server: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = server.options(AccessPath.of({"engine": "postgresql", "transport": "unix"}))["socket_dir"]
    monkeypatch.setattr(login, "SOCKET_FOLDERS", (tmp_path, Path(folder)))
    text = "postgresql://{user}:{quoted}@/{database}".format(**parts(server))
    local = "SELECT coalesce(inet_server_addr()::text, 'socket')"
    answer, access = asked(text, tmp_path, local, PGPORT=str(parts(server)["port"]))
    assert (answer, access.target.transport) == ("socket", "unix")


def test_the_host_that_answers_and_fits_is_measured(server: Any, tmp_path: Path) -> None:
    text = "postgresql://{user}:{quoted}@127.0.0.1:1,localhost:{port}/{database}?target_session_attrs="
    for attribute in ("any", "read-write", "primary", "prefer-standby"):
        answer, access = asked(text.format(**parts(server)) + attribute, tmp_path)
        assert answer == str(PUBLIC_ROWS)
        [note] = [note for note in access.notes if "host 2 of 2" in note]
        assert "127.0.0.1:1 refused the connection" in note
    for attribute in ("standby", "read-only"):
        with pytest.raises(EnvironmentMissing, match=f"is not {attribute}"):
            asked(text.format(**parts(server)) + attribute, tmp_path)
    wrong = text.format(**parts(server) | {"quoted": "hunter2"})
    with pytest.raises(RowpathError) as failure:  # a login that is refused ends it, as with libpq
        asked(wrong + "read-write", tmp_path)
    assert "hunter2" not in failure.value.message


def test_every_driver_reads_the_schema_and_explain_too(server: Any, tmp_path: Path) -> None:
    text = "postgresql://{user}:{quoted}@127.0.0.1:{port}/{database}?schema=tenant1".format(**parts(server))
    # Read in another schema the first table has fewer rows, and the second one is not there.
    query = "SELECT id, o.amount FROM orders AS o JOIN only_here USING (id)"
    words = ("--query", query, "--budget", "60s", "--tables", "-o", tmp_path / "run")
    done = rowpath("probe", text, *words, program=FIRST_TRIES)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.findall(r"^(\d+):[0-9a-f]{16}", done.stdout, re.M) == [str(SCHEMA_ROWS)], done.stdout
    words = "host=127.0.0.1 port={port} dbname={database} user={user} password={password}".format(**parts(server))
    words += " options='-c search_path=tenant1'"
    query = "SELECT id FROM only_here"
    done = rowpath(
        "explain", words, "--query", query, "driver=libpq", "-b", "1", "--no-flame", "--no-hops", "-o", tmp_path / "e"
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_role_that_sees_nothing_of_its_own_connection_reads_by_each_language(server: Any, tmp_path: Path) -> None:
    make = "CREATE ROLE reader; GRANT reader TO {user}".format(**parts(server))
    psql(server, make, "postgres", parts(server)["database"])
    text = "postgresql://{user}:{quoted}@127.0.0.1:{port}/{database}".format(**parts(server))
    text += "?options=-c%20role%3Dreader%20-c%20search_path%3Dtenant1"
    drivers = "psqlodbc,adbc-postgresql,pgjdbc,pgx,pg,tokio-postgres,ado-psqlodbc"  # one of each language
    words = ("--query", "SELECT id FROM orders", "--budget", "60s", "--tables", f"--driver={drivers}")
    done = rowpath("probe", text, *words, "-o", tmp_path / "run", program=FIRST_TRIES)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.findall(r"^(\d+):[0-9a-f]{16}", done.stdout, re.M) == [str(SCHEMA_ROWS)]
    assert "failed" not in done.stdout


def test_localhost_is_the_socket_of_mysql_s_clients(tmp_path: Path) -> None:
    with started("mariadb") as instance:
        options = instance.options(AccessPath.of({"engine": "mariadb", "transport": "unix"}))
        account = f"{options['user']}:{quote(options['password'], safe='')}"
        socket = {"MYSQL_UNIX_PORT": str(options["socket"])}
        _, access = asked(f"mariadb://{account}@localhost/{options['database']}", tmp_path, "SELECT 'x'", **socket)
        assert access.target.transport == "unix"
        port = instance.options(AccessPath.of({"engine": "mariadb", "transport": "tcp"}))["port"]
        text = f"mysql+pymysql://{account}@localhost:{port}/{options['database']}"
        answer, access = asked(text, tmp_path, "SELECT USER()", **socket)
        assert access.target.transport == "tcp"
        assert access.target.host == "127.0.0.1" and answer.startswith(options["user"])
