"""What a probe's URL means, whose login completes it, and that no error, note or process list shows a password."""

from __future__ import annotations

import getpass
import sqlite3
import subprocess
import sys
from pathlib import Path
from urllib.parse import quote

import pytest

from rowpath.errors import UsageError
from rowpath.own_database import question
from rowpath.own_database.target import Target, read_target, typed_secrets

SECRET = "p:w/ö?#%x"
HIDE = """
import sys
from rowpath.own_database import question
question.hide([sys.argv[1]])
print(open("/proc/self/cmdline", "rb").read())
"""


def read(text: str, home: Path | None = None, **environment: str) -> Target:
    return read_target(text, {"HOME": str(home or "/nonexistent")} | environment)


def private(file: Path, text: str, mode: int = 0o600) -> Path:
    file.write_text(text, encoding="utf-8")
    file.chmod(mode)
    return file


def test_every_part_of_a_server_url_is_read_percent_encoded() -> None:
    target = read(f"postgres://us%40er:{quote(SECRET, safe='')}@db.example:5433/my%20d%C3%A9b?sslmode=require")
    assert (target.engine, target.deployment, target.host, target.port) == ("postgresql", "server", "db.example", 5433)
    assert (target.user, target.password, target.database, target.tls) == ("us@er", SECRET, "my déb", "on")
    assert target.shown == "postgres://us%40er@db.example:5433/my%20d%C3%A9b?sslmode=require"
    assert SECRET not in repr(target)
    assert target.secrets() == [SECRET]


@pytest.mark.parametrize(
    ("password", "written"), [("a b", "a b"), ("é", "é"), ("a/b?c", "a/b?c"), ("a@b", "a@b"), ("a#b", "a#b")]
)
def test_a_password_may_be_plain(password: str, written: str) -> None:
    target = read(f"mysql://u:{written}@h/my db é")
    assert (target.password, target.host, target.database) == (password, "h", "my db é")
    assert written not in target.shown.removesuffix("é")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (f"{SECRET}@h", "neither a URL nor a file"),
        ("./shop/none.db", "no file './shop/none.db'"),
        ("postgre://u:hunter2@h/db", "did you mean 'postgres"),
        ("postgresql:u:hunter2@h/db", "expected //"),
        ("postgresql://u:hunter2@h:99999/db", "expected host:port"),
        ("mysql://@[@password=hunter2", "expected host:port"),
        ("postgresql://u:12/hunter2@h/db", "is ambiguous"),
        ("postgresql://u:x@hunter2/y@h/db", "is ambiguous"),
        ("postgresql://u:x@hunter2?y@h/db", "is ambiguous"),
        ("mysql://u:hunter2@h", "names no database"),
        ("postgresql://u:hunter2@h/db?sslmode=verify-full", "root.crt"),
        ("postgresql://u:hunter2@h/db?sslmode=requier", "did you mean 'require'?"),
        ("jdbc:acme://h/db?password=hunter2", "--jar"),
        ("odbc:SERVER=h;PWD=hunter2", "--odbc-driver"),
    ],
)
def test_a_mistyped_url_gets_a_hint_and_never_shows_the_password(text: str, said: str) -> None:
    with pytest.raises(UsageError) as failure:
        read(text)
    told = f"{failure.value.message} {failure.value.hint}"
    assert said in told
    assert failure.value.hint
    assert "hunter2" not in told
    assert SECRET not in told


def test_an_option_without_meaning_is_said_and_one_with_a_login_is_taken() -> None:
    target = read("postgresql://h/db?user=u&password=hunter2&connect_timeout=5")
    assert (target.user, target.password) == ("u", "hunter2")
    assert [note for note in target.notes if "connect_timeout" in note]
    assert "hunter2" not in f"{target.shown} {target.notes}"


def test_sockets_are_named_as_an_option_or_as_libpq_does() -> None:
    assert read("postgresql://u@/db?socket=/run/pg").socket == "/run/pg"
    assert read("postgresql://u@%2Frun%2Fpg/db").socket == "/run/pg"
    target = read("mysql://u@localhost/db?socket=/run/my.sock")
    assert (target.socket, target.host) == ("/run/my.sock", "")
    assert read("postgresql://u@[::1]:5433/db").shown == "postgresql://u@[::1]:5433/db"


def test_the_environment_completes_a_postgresql_url() -> None:
    said = {"PGHOST": "h", "PGPORT": "6000", "PGUSER": "u", "PGDATABASE": "d", "PGPASSWORD": "s"}
    target = read("postgresql://", None, **said)
    assert (target.host, target.port, target.user, target.database, target.password) == ("h", 6000, "u", "d", "s")
    target = read("postgresql://v:t@i:1/e", None, **said)
    assert (target.host, target.port, target.user, target.database, target.password) == ("i", 1, "v", "e", "t")
    assert read("postgresql://h").user == getpass.getuser()
    assert read("postgresql://u@h/d", ROWPATH_PROBE_PASSWORD="r", PGPASSWORD="s").password == "r"


def test_a_pgpass_file_is_read_by_libpq_s_rules(tmp_path: Path) -> None:
    lines = "# no\n*:5433:*:u:wrong port\nh\\:x:*:*:u:wrong host\n*:*:db:u:a\\:b\\\\c\n*:*:*:*:last\n"
    file = private(tmp_path / ".pgpass", lines)
    assert read("postgresql://u@h/db", tmp_path).password == "a:b\\c"
    assert read("postgresql://w@h/db", tmp_path).password == "last"
    assert read("postgresql://u:own@h/db", tmp_path).password == "own"
    other = private(tmp_path / "other", "localhost:*:*:*:local\n/run/pg:*:*:*:socket\n")
    assert read("postgresql://u@localhost/db", PGPASSFILE=str(other)).password == "local"
    assert read("postgresql://u@/db?socket=/run/pg", PGPASSFILE=str(other)).password == "local"
    file.chmod(0o640)
    target = read("postgresql://u@h/db", tmp_path)
    assert target.password == ""
    assert "chmod 600" in target.notes[0]


def test_an_option_file_of_mysql_is_read(tmp_path: Path) -> None:
    text = '[mysqld]\npassword=no\n[client]\nuser = u # who\npassword="a\\\\b#\\"c"\nhost=h\nport=3307\n'
    file = private(tmp_path / ".my.cnf", text)
    target = read("mysql:///db", tmp_path)
    assert (target.user, target.password, target.host, target.port) == ("u", 'a\\b#"c', "h", 3307)
    assert read("mysql://v@i/db", tmp_path).password == ""  # another's login
    assert read("mysql://u@i/db", tmp_path, MYSQL_PWD="e").password == "e"
    file.chmod(0o666)
    assert "is ignored" in read("mysql://u@h/db", tmp_path).notes[0]
    private(tmp_path / ".my.cnf", "[client-mariadb]\npassword=m\n")
    assert read("mariadb://u@h/db", tmp_path).password == "m"
    assert read("mysql://u@h/db", tmp_path).password == ""


@pytest.mark.parametrize(
    ("url", "user", "password", "rest"),
    [
        ("jdbc:postgresql://h:1/db?user=u&password=p%26w&ssl=true", "u", "p&w", "jdbc:postgresql://h:1/db?ssl=true"),
        ("jdbc:postgresql://h/db?ssl=true&password=hunter2", "", "hunter2", "jdbc:postgresql://h/db?ssl=true"),
        ("jdbc:mysql://u:p%40w@h/db", "u", "p@w", "jdbc:mysql://h/db"),
        ("jdbc:sqlserver://h;user=u;password={p;w}}};encrypt=true", "u", "p;w}", "jdbc:sqlserver://h;encrypt=true"),
        ("jdbc:oracle:thin:u/hunter2@//h:1521/s", "u", "hunter2", "jdbc:oracle:thin:@//h:1521/s"),
        ("jdbc:db2://h:1/db:user=u;password=hunter2;", "u", "hunter2", "jdbc:db2://h:1/db"),
        ("jdbc:h2:file:/tmp/x;USER=sa;PASSWORD=hunter2", "sa", "hunter2", "jdbc:h2:file:/tmp/x"),
    ],
)
def test_the_login_is_taken_out_of_a_jdbc_url(tmp_path: Path, url: str, user: str, password: str, rest: str) -> None:
    jar = private(tmp_path / "driver.jar", "")
    target = read_target(url, {}, jar=jar)
    assert (target.engine, target.user, target.password, target.options) == ("jdbc", user, password, {"url": rest})
    assert target.shown == rest
    assert target.driver_file == jar


def test_other_secrets_of_a_driver_s_url_stay_in_it_and_are_masked(tmp_path: Path) -> None:
    jar = private(tmp_path / "driver.jar", "")
    target = read_target("jdbc:x://h;trustStorePassword=hunter2;a=b", {}, jar=jar)
    assert target.options["url"].endswith("trustStorePassword=hunter2;a=b")
    assert target.shown == "jdbc:x://h;trustStorePassword=***;a=b"
    assert target.secrets() == ["hunter2"]
    assert "hunter2" not in repr(target)


def test_an_odbc_connection_string_is_read(tmp_path: Path) -> None:
    driver = private(tmp_path / "driver.so", "")
    text = "odbc:DRIVER={X};SERVER=h;UID=u;PWD={a;b}}c};Token=hunter2"
    target = read_target(text, {}, odbc_driver=driver)
    assert (target.user, target.password) == ("u", "a;b}c")
    assert target.options == {"connection": "SERVER=h;Token=hunter2;"}
    assert target.shown == "odbc:SERVER=h;Token=***;"
    assert set(target.secrets()) == {"a;b}c", "hunter2"}
    with pytest.raises(UsageError, match="no driver"):
        read_target(text, {}, odbc_driver=tmp_path / "none.so")


@pytest.mark.parametrize(
    ("text", "secrets"),
    [
        (f"postgresql://u:{quote(SECRET, safe='')}@h/d?sslmode=require", {SECRET}),
        ("postgresql://u@h/d?password=hunter2", {"hunter2"}),
        ("postgresql://h", set()),
        ("derby:///no/such/place?user=u&password=hunter2", {"hunter2"}),
        ("jdbc:x://h;password=hunter2;trustStorePassword=hunter3", {"hunter2", "hunter3"}),
        ("odbc:DRIVER={X};SERVER=h;UID=u;PWD=hunter2;Token=hunter3", {"hunter2", "hunter3"}),
        ("/data/own.db", set()),
        ("own.db", set()),
    ],
)
def test_what_is_secret_in_a_url_is_known_without_its_files(text: str, secrets: set[str]) -> None:
    assert {secret for secret in typed_secrets(text) if secret} == secrets


def test_files_are_named_plain_or_percent_encoded(tmp_path: Path) -> None:
    file = private(tmp_path / "my é?db 100%.sqlite", "")
    for written in (str(file), quote(str(file))):
        assert read(f"sqlite://{written}").path == file
    table = private(tmp_path / "t.csv", "a;b\n")
    target = read(f"file://{table}?delimiter=;")
    assert (target.engine, target.deployment, target.options["delimiter"]) == ("file", "file", ";")
    assert read(f"{table}?delimiter=;") == target
    own = private(tmp_path / "t.tbl", "a;b\n")
    assert read(f"file://{own}?delimiter=;").options == {"delimiter": ";"}, "Rowpath's own form"
    assert read(f"file://{own}?header=no").options["quote"] == "off"
    assert read(f"h2://{private(tmp_path / 'd.mv.db', '')}").path == tmp_path / "d"
    assert read(f"h2://{tmp_path}/d").path == tmp_path / "d"
    for url, said in (
        (f"file://{tmp_path}", "unknown file suffix"),
        (f"sqlite://{tmp_path}", "not a file"),
        (f"duckdb://{tmp_path}/none", "no file"),
        ("h2:///nonexistent/none", "no file"),
    ):
        with pytest.raises(UsageError, match=said):
            read(url)


def test_a_file_is_known_by_its_first_bytes_or_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with sqlite3.connect("own: é?.db") as connection:
        connection.execute("CREATE TABLE t (id INTEGER)")
    connection.close()
    Path("own.ddb").write_bytes(bytes(8) + b"DUCK" + bytes(4084))
    Path("derby").mkdir()
    private(Path("Orders.CSV"), "id,name\n")
    for name in ("own.mv.db", "orders.parquet", "derby/service.properties"):
        private(Path(name), "")
    for name, engine, path in (
        ("own: é?.db", "sqlite", "own: é?.db"),
        ("own.ddb", "duckdb", "own.ddb"),
        ("own.mv.db", "h2", "own"),
        ("./derby", "derby", "derby"),
        ("Orders.CSV", "file", "Orders.CSV"),
        (str(tmp_path / "orders.parquet"), "parquet", "orders.parquet"),
    ):
        target = read(name)
        assert (target.engine, target.path) == (engine, tmp_path / path)


def test_a_file_of_no_known_engine_is_refused_by_name(tmp_path: Path) -> None:
    for file in (private(tmp_path / "notes.log", "SQLite"), tmp_path):
        with pytest.raises(UsageError, match=f"{file}: not a database or file of an engine") as failure:
            read(str(file))
        assert "own.db" in failure.value.hint


def test_a_relative_file_is_answered_with_the_url_it_would_have(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    private(tmp_path / "here.sqlite", "")
    with pytest.raises(UsageError) as failure:
        read("sqlite:///here.sqlite")
    assert failure.value.hint == f"sqlite://{tmp_path}/here.sqlite"


def test_a_password_disappears_from_our_own_command_line() -> None:
    source = Path(question.__file__).parents[2]
    url = f"postgresql://u:{quote(SECRET, safe='')}@h/db"
    done = subprocess.run(
        [sys.executable, "-c", HIDE, SECRET, url],
        env={"PYTHONPATH": str(source), "LC_ALL": "C.UTF-8"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert SECRET not in done.stdout
    assert quote(SECRET, safe="") not in done.stdout
    assert "postgresql://u:***" in done.stdout


def test_a_password_of_asterisks_is_hidden_already() -> None:
    question.hide(["***"])
