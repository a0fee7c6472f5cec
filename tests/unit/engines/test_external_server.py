"""Servers given by URL: what a URL may say, what is refused, what no child process learns, DDL of their dialects."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from rowpath.engines import ENGINES
from rowpath.engines.base import Engine, External, Place
from rowpath.engines.external_engines import IBMI, ORACLE
from rowpath.engines.external_server import read_url
from rowpath.engines.mysql import KIND
from rowpath.errors import EnvironmentMissing, UsageError
from rowpath.machine import processes
from rowpath.model.path import AccessPath
from rowpath.model.workload import Column, Table
from rowpath.planning import availability, selection
from rowpath.runners.manifest import load_manifest
from tests.unit.insides import forget_axes

URL = "mysql://us%40er:pw%2F%25%20x@db.example:3307/my%20db?create-tables=yes&useSSL=false"
SECRET = "pw/% x"


@pytest.fixture(autouse=True)
def _nothing_given(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if processes.SECRET_NAMES.fullmatch(name)]:
        monkeypatch.delenv(name)


def test_a_url_is_percent_decoded_and_shown_without_its_password() -> None:
    url = read_url(KIND, URL)
    assert (url.user, url.password, url.host, url.port, url.database) == (
        "us@er",
        SECRET,
        "db.example",
        3307,
        "my db",
    )
    assert url.options == {"useSSL": "false"}
    assert SECRET not in url.shown


def test_a_host_that_is_this_machine_goes_by_its_address_and_ports_have_a_default() -> None:
    url = read_url(KIND, "mysql://u@localhost/d?create-tables=yes&socket=/run/s.sock")
    assert (url.host, url.port, url.socket, url.password) == ("127.0.0.1", 3306, "/run/s.sock", "")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (URL.replace("create-tables=yes", "create-tables=no"), "create-tables=yes"),
        (URL.replace("mysql:", "postgres:"), "postgres://"),
        (URL.replace("db.example:3307", "db.example:none"), "port"),
        (URL.replace("/my%20db", "/"), "names no database"),
        (URL.replace("db.example:3307", ""), "names no host"),
        ("mysql://db.example/d?create-tables=yes", "names no user"),
        ("nonsense", "nothing://"),
    ],
)
def test_a_url_that_cannot_be_used_is_refused_without_showing_its_password(text: str, words: str) -> None:
    with pytest.raises(UsageError, match=words) as refused:
        read_url(KIND, text)
    assert "ROWPATH_MYSQL_URL" in refused.value.message
    assert "create-tables=yes" in refused.value.hint
    for form in (SECRET, "pw%2F"):
        assert form not in refused.value.message + refused.value.hint


def test_the_password_comes_from_a_variable_or_a_private_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ROWPATH_MYSQL_PASSWORD", "of the variable")
    assert read_url(KIND, "mysql://u@h/d?create-tables=yes").password == "of the variable"
    file = tmp_path / "password"
    file.write_text("of the file\n")
    text = f"mysql://u@h/d?create-tables=yes&password_file={file}"
    file.chmod(0o640)
    with pytest.raises(UsageError, match="readable by other users") as refused:
        read_url(KIND, text)
    assert refused.value.hint == f"chmod 600 {file}"
    file.chmod(0o600)
    assert read_url(KIND, text).password == "of the file"
    with pytest.raises(UsageError, match="cannot be read"):
        read_url(KIND, f"{text}.missing")


@pytest.mark.parametrize("name", ["oracle", "ibmi"])
def test_without_a_url_it_is_said_how_to_give_one(name: str) -> None:
    engine = ENGINES[name]
    here = engine.availability()
    assert not here.ok
    assert here.reason.startswith("no server is given")
    assert f"ROWPATH_{name.upper()}_URL='{name}://user@host" in here.remedy
    with pytest.raises(EnvironmentMissing, match="no server is given"):
        engine.instance("server", "full", Place(Path("/nowhere"), Path("/nowhere"), (0,)))


def test_with_a_url_the_instance_hands_out_what_it_says(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ROWPATH_ORACLE_URL", "oracle://u:p%2Fw@h/SERVICE?create-tables=yes&a=1&b=2")
    assert ORACLE.availability().ok
    assert "p/w" not in ORACLE.availability().what
    instance = ORACLE.instance("server", "full", Place(tmp_path, tmp_path, (0,)))
    assert isinstance(instance, External)
    options = instance.options(AccessPath.of({"engine": "oracle"}))
    assert options == {
        "host": "h",
        "port": 1521,
        "user": "u",
        "password": "p/w",
        "database": "SERVICE",
        "url_options": "a=1\nb=2",
    }
    assert instance.secrets() == ["p/w", "p%2Fw"]
    assert (instance.pids(), instance.commits()) == ([], None)
    instance.stop()  # nothing was started


def test_no_child_process_learns_where_a_server_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROWPATH_MYSQL_URL", URL)
    monkeypatch.setenv("ROWPATH_ORACLE_PASSWORD", SECRET)
    monkeypatch.setenv("ROWPATH_CACHE", "/somewhere")
    told = processes.run(["env"]).stdout
    assert SECRET not in told
    assert "ROWPATH_MYSQL_URL" not in told
    assert "ROWPATH_CACHE=/somewhere" in told


def test_mysql_by_url_comes_first_when_it_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = ENGINES["mysql"]
    own = engine.version()
    assert own != "by-url"
    monkeypatch.setenv("ROWPATH_MYSQL_URL", URL)
    assert engine.version() == "by-url"
    assert engine.availability().ok
    assert "us@er@db.example:3307" in engine.availability().what


@pytest.fixture
def fresh_lattice() -> Iterator[None]:
    """The environment is looked at once in a process."""
    forget_axes()
    yield
    forget_axes()


@pytest.mark.usefixtures("fresh_lattice")
def test_paths_to_it_know_no_placement_and_no_socket_that_is_not_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROWPATH_MYSQL_URL", URL)
    adapter = next(one for one in load_manifest("python").adapter if one.driver == "pymysql")
    wanted = {"engine": ("mysql",), "transport": ("unix", "tcp"), "placement": ("*",)}
    unix, tcp = selection.lattice(adapter, wanted)
    assert [path.get("placement") for path in (unix, tcp)] == ["none", "none"]
    assert availability.unavailable(adapter, unix)[0] == "ROWPATH_MYSQL_URL names no unix socket"
    assert availability.unavailable(adapter, tcp) == ("", "")
    monkeypatch.setenv("ROWPATH_MYSQL_URL", f"{URL}&socket=/run/s.sock")
    assert availability.unavailable(adapter, unix) == ("", "")


TABLE = Table(
    columns=(
        Column("id", "integer"),
        Column("small", "integer", bits=16, nullable=True),
        Column("c", "char", length=10),
        Column("wide", "char", length=3000),
        Column("wider", "varchar", length=5000, nullable=True),
        Column("d", "decimal", precision=31, scale=5),
        Column("b", "binary", length=0),
    ),
    rows=0,
    generator="types",
    primary_key=("id",),
    identity="id",
)


@pytest.mark.parametrize(
    ("engine", "columns"),
    [
        (
            ORACLE,
            "id NUMBER(10) GENERATED BY DEFAULT AS IDENTITY NOT NULL, small NUMBER(5), c CHAR(10 CHAR) NOT NULL, "
            "wide VARCHAR2(3000 CHAR) NOT NULL, wider CLOB, d NUMBER(31,5) NOT NULL, b BLOB NOT NULL",
        ),
        (
            IBMI,
            "id INTEGER GENERATED BY DEFAULT AS IDENTITY NOT NULL, small SMALLINT, c CHAR(10) CCSID 1208 NOT NULL, "
            "wide CHAR(3000) CCSID 1208 NOT NULL, wider VARCHAR(5000) CCSID 1208, d DECIMAL(31,5) NOT NULL, "
            "b BLOB(16M) NOT NULL",
        ),
    ],
)
def test_create_table_in_their_dialects(engine: Engine, columns: str) -> None:
    assert engine.create("t", TABLE) == f"CREATE TABLE t ({columns}, PRIMARY KEY (id))"
    assert engine.supports("array")
    assert engine.supports("decimal") == ""
