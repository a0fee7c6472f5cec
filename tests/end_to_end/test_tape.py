"""`rowpath record` and `rowpath replay`: a conversation of a command, with and without its server."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from rowpath.engines.base import Place
from rowpath.engines.postgresql import ENGINE
from rowpath.engines.postgresql.server import PostgresqlServer
from rowpath.model.path import AccessPath
from rowpath.tape.format import read
from tests.end_to_end.command import Command, error_form, rowpath

PSQL = ("psql", "-X", "-A", "-t", "{url}")
PARAMETER = ("-c", "SELECT 1 + 1", "-c", "SELECT 'Zoe Mueller', 41, DATE '2024-02-29'")
ROW = "Zoe Mueller|41|2024-02-29"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PostgresqlServer]:
    folder = tmp_path_factory.mktemp("server")
    instance = ENGINE.instance("server", "full", Place(folder, folder, ()))
    instance.start()
    yield instance
    instance.stop()


def login(server: PostgresqlServer) -> tuple[str, str]:
    """The URL and the password in it."""
    given = server.options(AccessPath.of({}))
    where = f"127.0.0.1:{given['port']}/{given['database']}"
    return f"postgresql://{given['user']}:{given['password']}@{where}?sslmode=disable", str(given["password"])


def test_a_command_is_recorded_and_replayed_without_its_server(server: PostgresqlServer, tmp_path: Path) -> None:
    url, password = login(server)
    tape = tmp_path / "slow.tape"
    done = rowpath("record", url, "-o", tape, "--", *PSQL, *PARAMETER)
    assert done.returncode == 0, done.stderr
    assert ROW in done.stdout and "postgresql (PostgreSQL 18" in done.stdout
    content = read(tape).content
    assert b"Zoe Mueller" in content and password.encode() not in content and b"SCRAM" not in content
    again = rowpath("replay", tape, "--", *PSQL, *PARAMETER)
    assert again.returncode == 0 and again.stdout.splitlines() == ["2", ROW], again.stderr
    assert "2 requests answered, 0 refused" in again.stderr
    other = rowpath("replay", tape, "--", *PSQL, "-c", "SELECT 3")
    assert other.returncode == 1 and "the tape has no answer" in other.stderr
    assert "1 refused\n  the tape has no answer: this request was not recorded: Query SELECT 3" in other.stderr


def test_rows_are_scrubbed_where_that_is_asked_for(server: PostgresqlServer, tmp_path: Path) -> None:
    url, _password = login(server)
    tape = tmp_path / "slow.tape"
    query = ("-c", "SELECT name, born FROM (VALUES ('Zoe' || ' Mueller', DATE '2024-02-29')) AS t(name, born)")
    done = rowpath("record", url, "--scrub", "-o", tape, "--", *PSQL, *query)
    assert done.returncode == 0, done.stderr
    (shown,) = rowpath("replay", tape, "--", *PSQL, *query).stdout.splitlines()
    assert "rows scrubbed" in done.stdout and len(shown) == len("Zoe Mueller|2024-02-29")
    assert "Zoe" not in shown and b"Zoe Mueller" not in read(tape).content


def test_what_cannot_be_recorded_leaves_no_tape(server: PostgresqlServer, tmp_path: Path) -> None:
    url, password = login(server)
    tape = tmp_path / "slow.tape"

    def refused(*words: str, given: str = url) -> str:
        done = rowpath("record", given, "-o", tape, "--", *words)
        assert done.returncode == 2 and not tape.exists(), done.stdout
        return error_form(done.stderr)[0]

    assert "COPY from the client" in refused(*PSQL, "-c", "CREATE TEMP TABLE t (a int)", "-c", "COPY t FROM STDIN")
    assert "a statement or a row contains the password" in refused(*PSQL, "-c", f"SELECT '{password}'")
    assert "nothing was recorded" in refused(sys.executable, "-c", "pass")
    assert "cannot start no-such-program" in refused("no-such-program")
    assert "cannot record sqlite" in refused("true", given=f"sqlite://{__file__}")
    done = rowpath("record", "-o", tape, url)
    assert done.returncode == 2 and error_form(done.stderr)[0] == "no command to record"


def test_a_command_that_fails_is_recorded_all_the_same(server: PostgresqlServer, tmp_path: Path) -> None:
    url, _password = login(server)
    done = rowpath("record", url, "-o", tmp_path / "a.tape", "--", *PSQL, "-c", "SELECT 1/0")
    assert done.returncode == 1 and "error: the command ended with code 1" in done.stderr
    again = rowpath("replay", tmp_path / "a.tape", "--", *PSQL, "-c", "SELECT 1/0")
    assert again.returncode == 1 and "division by zero" in again.stderr and "0 refused" in again.stderr


def test_the_replay_server_ends_with_an_interruption(server: PostgresqlServer, tmp_path: Path) -> None:
    url, _password = login(server)
    assert rowpath("record", url, "-o", tmp_path / "a.tape", "--", *PSQL, "-c", "SELECT 1").returncode == 0
    with Command("replay", tmp_path / "a.tape") as command:
        stdout = command.process.stdout
        assert stdout is not None
        stdout.readline()
        assert stdout.readline().startswith("postgresql://rowpath@127.0.0.1:")
        assert len(command.processes()) == 1
        command.signal(signal.SIGINT)
        done = command.end()
    assert done.returncode == 0 and "0 requests answered, 0 refused" in done.stderr
