"""Connection strings of every form: which server, login and session each of them means, and what is refused."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from rowpath.engines.mariadb import login as mysql_login
from rowpath.engines.postgresql import login as postgresql_login
from rowpath.errors import EnvironmentMissing, UsageError
from rowpath.own_database import host_choice
from rowpath.own_database.target import Target, read_target

NO_SOCKETS = "no host in the URL, no socket of port 5432"


@pytest.fixture(autouse=True)
def without_sockets(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No server of this machine takes part."""
    monkeypatch.setattr(postgresql_login, "SOCKET_FOLDERS", (tmp_path / "run", tmp_path / "tmp"))
    monkeypatch.setattr(mysql_login, "SOCKETS", (tmp_path / "mysqld.sock",))


def read(text: str, **environment: str) -> Target:
    return read_target(text, {"HOME": "/nonexistent"} | environment)


def listening(path: Path) -> socket.socket:
    path.parent.mkdir(exist_ok=True)
    server = socket.socket(socket.AF_UNIX)
    server.bind(str(path))
    server.listen()
    return server


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("postgresql+psycopg2://u:p%40w@h:5/db", ("postgresql", "h", 5, "u", "p@w", "db")),
        ("postgres://u:p+w@h/db", ("postgresql", "h", 5432, "u", "p+w", "db")),
        ("mysql+pymysql://u:p@h/db?charset=utf8mb4", ("mysql", "h", 3306, "u", "p", "db")),
        ("mariadb+mariadbconnector://u:p@h/db", ("mariadb", "h", 3306, "u", "p", "db")),
        ("jdbc:postgresql://h:5/db?user=u&password=a%26b+c", ("postgresql", "h", 5, "u", "a&b c", "db")),
        ("jdbc:postgresql:db?user=u", ("postgresql", "localhost", 5432, "u", "", "db")),
        ("jdbc:mysql://localhost/db?user=u&useSSL=false", ("mysql", "localhost", 3306, "u", "", "db")),
        ("jdbc:mariadb://u:p@h/db", ("mariadb", "h", 3306, "u", "p", "db")),
        (r"host=h port=5 dbname='a b' user=u password='x\'y'", ("postgresql", "h", 5, "u", "x'y", "a b")),
        ("user=u host=::1 dbname=db", ("postgresql", "::1", 5432, "u", "", "db")),
        ("host=name hostaddr=10.0.0.1 user=u dbname=db", ("postgresql", "10.0.0.1", 5432, "u", "", "db")),
        ("postgresql://u@/db?host=h&port=5", ("postgresql", "h", 5, "u", "", "db")),
        ("postgresql://u@[fe80::1%25eth0]:5/db", ("postgresql", "fe80::1%eth0", 5, "u", "", "db")),
        (
            "Driver={PostgreSQL Unicode};Server=h;Port=5;Database=db;Uid=u;Pwd={a;b}}c};",
            ("postgresql", "h", 5, "u", "a;b}c", "db"),
        ),
        ("odbc:DRIVER=MariaDB Unicode;SERVER=h;DATABASE=db;UID=u;PWD=x", ("mariadb", "h", 3306, "u", "x", "db")),
        (
            "Driver={MySQL ODBC 8.0 Unicode Driver};Server=h;Db=db;User=u;Password=x",
            ("mysql", "h", 3306, "u", "x", "db"),
        ),
    ],
)
def test_every_form_names_the_server_and_the_login(text: str, place: tuple[str, str, int, str, str, str]) -> None:
    target = read(text)
    assert (target.engine, target.host, target.port, target.user, target.password, target.database) == place
    assert not target.password or target.password not in target.shown


@pytest.mark.parametrize(
    ("query", "statements"),
    [
        ("options=-csearch_path%3Dtenant1", ('SET search_path = "tenant1"',)),
        ("options=-c%20search_path=a,B", ('SET search_path = "a", "b"',)),
        ("options=--search_path=a%20--work-mem=4MB", ('SET search_path = "a"', "SET work_mem = '4MB'")),
        (r"options=-c%20search_path=a\%20,\%20b", ('SET search_path = "a", "b"',)),
        ('search_path="A b","c""d",public', ('SET search_path = "A b", "c""d", "public"',)),
        ("currentSchema=t1,public", ('SET search_path = "t1", "public"',)),
        ('schema=T,"1', ('SET search_path = "T,""1"',)),
        ("options=-csearch_path=a&search_path=b", ('SET search_path = "b"',)),
        ("options=-c%20role=it's", ("SET role = 'it''s'",)),
        ("app.tenant=5", ("SET app.tenant = '5'",)),
        ("TimeZone=UTC&application_name=x", ("SET timezone = 'UTC'",)),
    ],
)
def test_what_changes_rows_is_given_to_every_session(query: str, statements: tuple[str, ...]) -> None:
    target = read(f"postgresql://u@h/db?{query}")
    assert target.session_statements == statements
    assert read(target.shown).session_statements == statements, "what is shown means the same"


@pytest.mark.parametrize(
    ("text", "said", "hint"),
    [
        ("postgresql://u@h/db?TimeZone=Europe/Berlin", "timezone=Europe/Berlin", "AT TIME ZONE"),
        ("postgresql://u@h/db?datestyle=German", "datestyle=German", "2026-03-04"),
        ("postgresql://u@h/db?ssl=true", "clients differ about what it checks", "sslmode=verify-full"),
        ("postgresql://u@h/db?client_encoding=latin1", "client_encoding=latin1", "remove"),
        ("postgresql://u@h/db?serch_path=a", "unknown option serch_path", "did you mean 'search_path'?"),
        ("postgresql://u@h/db?options=-c%20zzzzzzzzzz=1", "unknown option zzzzzzzzzz", "remove it"),
        ("postgresql://u@h/db?options=-B%205", "unknown word '-B'", "search_path"),
        ("postgresql://u@h/db?search_path=a,,b", "invalid search_path", "commas"),
        ("postgresql://u@h/db?load_balance_hosts=random", "load_balance_hosts=random", "one host"),
        ("postgresql://u@h/db?target_session_attrs=mast", "unknown target_session_attrs 'mast'", "prefer-standby"),
        ("postgresql://u@h/db", "", ""),
        ("mysql://u@h/db?charset=latin1", "charset=latin1", "utf8mb4"),
        ("mysql://u@h/db?sql_mode=ANSI_QUOTES", "sql_mode=ANSI_QUOTES", "query"),
        ("jdbc:mysql://h/db?connectionTimeZone=Asia/Kathmandu", "Asia/Kathmandu", "CONVERT_TZ"),
        ("mysql://u@h/db?schema=other", "schema=other", "behind the host"),
        ("mysql://u@h1,h2/db", "several hosts ('h1, h2')", "host"),
        ("jdbc:mysql:replication://h1,h2/db", "replication", "jdbc:mysql://"),
        ("postgresql://u@h:abc/db", "not 'h:abc'", "host:5432"),
        ("postgresql://u@::1/db", "not '::1'", "[::1]"),
        ("postgresql://u@h1:1,h2:x/db", "not 'h2:x'", "host:5432"),
        ("postgresql://u@/db?host=a,b,c&port=1,2", "3 hosts, but 2 ports", "one port"),
        ("postgresql://u@/db?host=a&port=99999", "invalid port '99999'", "5432"),
        ("host=h dbname", "without '='", "quote a value"),
        ("host='h dbname=x", "not closed", "host='a value'"),
        ("host=h nonsense=1", "unknown key nonsense", "dbname"),
        ("DSN=shop;UID=u", "odbc.ini is not read", "Driver="),
        ("postgresql://?service=nope", "service 'nope' is not in", "PGSERVICEFILE"),
    ],
)
def test_what_cannot_be_obeyed_is_refused_by_name_and_value(text: str, said: str, hint: str) -> None:
    if not said:
        assert read(text).session_statements == ()
        return
    with pytest.raises(UsageError) as failure:
        read(text)
    assert said in failure.value.message
    assert hint in failure.value.hint
    assert "password" not in failure.value.message + failure.value.hint


def test_a_driver_named_in_the_url_is_what_the_user_has_now(tmp_path: Path) -> None:
    file = tmp_path / "own.db"
    file.touch()
    for text, driver in (
        (f"sqlite+pysqlite:///{file}", "sqlite3"),  # an absolute path has four slashes there
        ("postgresql+psycopg2://u@h/db", "psycopg2"),
        ("postgresql+asyncpg://u@h/db", "asyncpg"),
        ("mysql+mysqldb://u@h/db", "mysqlclient"),
        ("mariadb+mariadbconnector://u@h/db", "mariadb"),
    ):
        mine = read(text).mine
        assert mine is not None and (mine.language, mine.driver) == ("python", driver)
    other = read("postgresql+pg8000://u@h/db")
    assert other.mine is None and "pg8000" in other.notes[0]


def test_without_a_host_the_default_socket_is_taken_where_there_is_one(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=NO_SOCKETS):
        read("postgresql:///db")
    with listening(tmp_path / "tmp" / ".s.PGSQL.5433"):
        target = read("postgresql://u@/db", PGPORT="5433")
        assert (target.host, target.socket, target.transport) == ("", str(tmp_path / "tmp"), "unix")
        assert read(target.shown).port == 5433
        assert read("postgresql://localhost/db", PGPORT="5433").transport == "tcp"
        assert read("postgresql:///db", PGHOST="/elsewhere").socket == "/elsewhere"


def test_localhost_is_the_socket_of_mysql_unless_a_port_is_given(tmp_path: Path) -> None:
    assert read("mysql://u@localhost/db").transport == "tcp"
    assert read("mysql://u@localhost/db", MYSQL_UNIX_PORT="/run/x").socket == "/run/x"
    with listening(tmp_path / "mysqld.sock"):
        for text in ("mysql://u@localhost/db", "mariadb://u@/db", "mysql+pymysql://u@localhost/db"):
            assert read(text).socket == str(tmp_path / "mysqld.sock")
        for text in ("mysql://u@localhost:3306/db", "mysql://u@127.0.0.1/db", "jdbc:mysql://localhost/db?user=u"):
            assert read(text).transport == "tcp"


def test_a_service_stands_between_the_url_and_the_variables(tmp_path: Path) -> None:
    file = tmp_path / "services"
    file.write_text(
        "# ours\n[shop]\nhost=h\nport=5\nuser=u\npassword=a%b\noptions=-c search_path=t1\n", encoding="utf-8"
    )
    given = {"PGSERVICEFILE": str(file), "PGUSER": "other", "PGDATABASE": "db"}
    target = read("postgresql://v@/?service=shop", **given)
    assert (target.host, target.port, target.user, target.password, target.database) == ("h", 5, "v", "a%b", "db")
    assert target.session == {"search_path": "t1"}
    assert read("postgresql://", PGSERVICE="shop", **given).host == "h"
    assert read("postgresql://i/db?service=shop", **given).host == "i"
    file.write_text("nonsense\n", encoding="utf-8")
    with pytest.raises(UsageError, match="cannot read"):
        read("service=shop", **given)


def test_a_passfile_of_the_url_is_read(tmp_path: Path) -> None:
    file = tmp_path / "saved"
    file.write_text("h:*:db:u:s3cret\n", encoding="utf-8")
    file.chmod(0o600)
    assert read(f"postgresql://u@h/db?passfile={file}").password == "s3cret"
    with pytest.raises(UsageError, match="different passwords"):
        read(f"postgresql://u@h,i/db?passfile={file}")


def test_the_first_host_that_answers_and_fits_is_taken() -> None:
    with socket.create_server(("127.0.0.1", 0)) as one, socket.create_server(("127.0.0.1", 0)) as two:
        first, second = one.getsockname()[1], two.getsockname()[1]
        text = f"postgresql://u@127.0.0.1:1,127.0.0.1:{first},127.0.0.1:{second}/db?target_session_attrs="
        here, notes = host_choice.chosen(read(text + "any"), lambda _target, _query: False)
        assert here.port == first
        assert notes == (f"host 2 of 3, 127.0.0.1:{first}, is measured: 127.0.0.1:1 refused the connection",)
        here, _ = host_choice.chosen(read(text + "standby"), lambda target, _query: target.port == second)
        assert here.port == second
        here, _ = host_choice.chosen(read(text + "prefer-standby"), lambda _target, _query: False)
        assert here.port == first
        with pytest.raises(EnvironmentMissing, match=f":{second} is not primary"):
            host_choice.chosen(read(text + "primary"), lambda _target, _query: False)


def test_localhost_is_the_address_that_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    both = [(socket.AF_INET6, 1, 6, "", (address, 0)) for address in ("127.0.0.2", "127.0.0.1")]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_words, **_options: both)
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        port = server.getsockname()[1]
        monkeypatch.setattr(host_choice, "refusal", lambda address, _port: "" if address == "127.0.0.1" else "refused")
        for engine in ("postgresql", "mysql"):
            here, notes = host_choice.chosen(read(f"{engine}://u@localhost:{port}/db"), lambda *_: True)
            assert here.host == "127.0.0.1" and "localhost is 127.0.0.1: 127.0.0.2 refused" in notes[0]
        monkeypatch.setattr(host_choice, "refusal", lambda _address, _port: "refused")
        with pytest.raises(EnvironmentMissing, match=r"127\.0\.0\.2 refused; 127\.0\.0\.1 refused"):
            host_choice.chosen(read(f"mysql://u@localhost:{port}/db"), lambda *_: True)
