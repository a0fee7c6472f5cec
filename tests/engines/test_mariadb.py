"""Servers of MariaDB and MySQL: start, load, settle, count, stop, start again, and every way of dying."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from rowpath.engines.mariadb import settings
from rowpath.engines.mariadb.server import MariadbServer
from rowpath.errors import EnvironmentMissing, RowpathError, UsageError
from rowpath.machine.counters import syncs
from tests.engines.insides import (
    client_of,
    console_pid_of,
    dialect_of,
    files_of,
    give_files,
    place_of,
    remember_port,
    rows_of,
)
from tests.engines.life import kill_the_controller
from tests.engines.mariadb_life import ANY_PATH, Console, engine_of, logged_in, made, tables_of
from tests.waiting import gone, until

KINDS = [
    ("mariadb", "innodb"),
    ("mariadb", "myisam"),
    ("mariadb", "aria"),
    ("mysql", "innodb"),
    ("mysql", "myisam"),
]
LOADED = ("scan", "keyed", "tab1", "types")


@pytest.fixture(scope="module", params=KINDS, ids=" ".join)
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[MariadbServer]:
    instance = made(request.param[0], tmp_path_factory.mktemp("run é x'y"), request.param[1])
    place_of(instance).environment.update(syncs.environment(syncs.make_file(tmp_path_factory.mktemp("syncs"))))
    instance.start()
    instance.load(tables_of(dialect_of(instance), *LOADED))
    yield instance
    instance.stop()


def test_loads_every_workload_and_loads_again(server: MariadbServer) -> None:
    tables = tables_of(dialect_of(server), *LOADED)
    for again in (True, False):
        with logged_in(server, tcp=True) as runner:
            for name, table in tables.items():
                assert runner.ask(f"SELECT count(*) FROM {name};") == [[str(table.rows)]]
            kept = runner.ask("SELECT DISTINCT engine FROM information_schema.tables WHERE table_schema = 'rowpath';")
            assert kept == [[settings.ENGINE_NAMES[server.storage]]]
        if again:
            server.load(tables)
    with logged_in(server) as runner:
        runner.ask("INSERT INTO tab1 (c2, c3, c4, c5, c6) VALUES ('a', 'b', 'c', 'd', 1);")
        assert runner.ask("SELECT max(c1) FROM tab1;") == [["10001"]]


def test_keeps_awkward_values_exactly(server: MariadbServer) -> None:
    with logged_in(server) as runner:
        rows = runner.ask(
            "SELECT c_decimal, c_float32, c_float64, c_boolean, c_date, c_timestamp, c_uuid FROM types"
            " WHERE id IN (2, 6) ORDER BY id;"
        )
        least = ["-99999999999999999999999999.99999", "-3.4028234663852886e38", "-1.7976931348623157e308", "0"]
        days = ["0001-01-01", "0001-01-01 00:00:00.000000", "00000000-0000-0000-0000-000000000000"]
        awkward = ["-0.00001", "0.10000000149011612", "0.1", "1", "1582-10-04", "1969-12-31 23:59:59.500000"]
        assert rows == [least + days, [*awkward, "80000000-0000-0000-0000-000000000000"]]
        texts = runner.ask(
            "SELECT HEX(c_char), HEX(c_varchar), HEX(c_text), HEX(c_binary) FROM types"
            " WHERE id IN (3, 5, 6) ORDER BY id;"
        )
    wanted = [
        ("~" * 10, "~" * 100, "\U0010fffd" * 40, bytes(range(256))),
        ("", "", "", b""),
        (" a  b", "trailing  ", "a|b\\c\nd\re\tf'g\"h?i%j", b"\\x41|\n"),
    ]
    assert texts == [[*(each.encode().hex().upper() for each in row[:3]), row[3].hex().upper()] for row in wanted]


def test_equality_is_exact(server: MariadbServer) -> None:
    with logged_in(server) as runner:
        assert runner.ask("SELECT count(*) FROM types WHERE c_varchar = 'VARCHAR';") == [["0"]]
        assert runner.ask("SELECT count(*) FROM hits WHERE REQTYPE = 'get';") == [["0"]]


def test_is_private(server: MariadbServer) -> None:
    options = server.options(ANY_PATH)
    assert Path(options["socket"]).parent.stat().st_mode & 0o077 == 0
    assert files_of(server).stat().st_mode & 0o077 == 0
    assert not (files_of(server) / "logins.sql").exists()
    suffix = f":{options['port']:04X}"
    listening = [line.split()[1] for line in Path("/proc/net/tcp").read_text().splitlines() if line.split()[3] == "0A"]
    assert [each for each in listening if each.endswith(suffix)] == [f"0100007F{suffix}"]
    over_ipv6 = [line.split()[1] for line in Path("/proc/net/tcp6").read_text().splitlines() if line.split()[3] == "0A"]
    assert not [each for each in over_ipv6 if each.endswith(suffix)]
    running = [server.pids()[0], console_pid_of(server)]
    for pid in running:
        for told in ("cmdline", "environ"):
            text = Path(f"/proc/{pid}/{told}").read_bytes().decode(errors="replace")
            assert not any(secret in text for secret in server.secrets())
    assert not any(secret in (files_of(server) / "server.log").read_text() for secret in server.secrets())


def test_nobody_comes_in_without_a_password(server: MariadbServer) -> None:
    options = server.options(ANY_PATH)
    ways = [[f"--socket={options['socket']}"], ["--host=127.0.0.1", "--protocol=tcp", f"--port={options['port']}"]]
    for way in ways:
        for user in ("root", "rowpath", "nobody", "mysql", ""):
            asked = [client_of(server), "--no-defaults", *way, f"--user={user}", "--skip-password", "-e", "DO 1"]
            done = subprocess.run(asked, capture_output=True, text=True, check=False)
            assert done.returncode != 0, (way, user)
            assert "Access denied" in done.stderr


def test_nobody_else_has_a_login(server: MariadbServer) -> None:
    known = {(user, host) for user, host in rows_of(server, "SELECT user, host FROM mysql.user;")}
    ours = {("root", "localhost"), ("rowpath", "localhost"), ("rowpath", "127.0.0.1")}
    assert ours <= known
    assert all(user.startswith(("mariadb.", "mysql.")) for user, _ in known - ours), "the server's own, locked"


def test_runners_may_use_their_database_alone(server: MariadbServer) -> None:
    for statement in ("SELECT * FROM mysql.user", "SET GLOBAL max_connections = 5", "CREATE DATABASE other"):
        with logged_in(server) as runner, pytest.raises(RowpathError, match="denied"):
            runner.ask(f"{statement};")


def test_settings_are_those_of_the_durability(server: MariadbServer) -> None:
    facts = server.facts()
    assert facts["innodb_flush_log_at_trx_commit"] == ("1" if server.durability == "full" else "0")
    assert facts["default_storage_engine"].lower() == server.storage
    assert (facts["character_set_server"], facts["collation_server"]) == ("utf8mb4", "utf8mb4_bin")
    assert (facts["time_zone"], facts["log_bin"], facts["have_ssl"]) == ("+00:00", "OFF", "DISABLED")
    assert facts["performance_schema"] == "OFF"
    assert facts["version"].startswith(server.version)
    assert facts.get("query_cache_type", "OFF") == "OFF"


def test_runs_on_its_cpus(server: MariadbServer) -> None:
    assert os.sched_getaffinity(server.pids()[0]) == {max(os.sched_getaffinity(0))}


def test_counts_statements_by_their_kind(server: MariadbServer) -> None:
    with logged_in(server) as runner:
        runner.ask("DO 1;")
        before = server.statement_counts()
        assert server.statement_counts() == before, "asking must not count"
        runner.ask("SELECT 1;\n" * 9)
        after = server.statement_counts()
    assert after["query"] - before["query"] == 10, "nine, and the console's own mark"
    assert (after["prepare"], after["execute"]) == (before["prepare"], before["execute"])


def test_counts_commits_exactly(server: MariadbServer) -> None:
    if (dialect_of(server).flavour, server.storage) != ("mariadb", "innodb"):
        assert server.flush_statements == ()
        assert server.commits() is None
        return
    (flush,) = server.flush_statements
    with logged_in(server) as runner:
        runner.ask(
            "CREATE TABLE counted (n integer PRIMARY KEY); INSERT INTO counted VALUES (0); SELECT * FROM counted;"
        )

        def commits_of(statements: str) -> int:
            runner.ask(f"{flush};")
            before = server.commits()
            assert before is not None
            assert server.commits() == before, "asking must not count"
            runner.ask(f"{statements}\n{flush};")
            return (server.commits() or 0) - before - 1

        assert commits_of("") == 0
        assert commits_of("\n".join(f"INSERT INTO counted VALUES ({number});" for number in range(1, 31))) == 30
        assert commits_of("SELECT * FROM counted WHERE n = 3;\n" * 30) == 30
        assert commits_of("BEGIN;" + "UPDATE counted SET n = n + 100 WHERE n = 3;\n" * 30 + "COMMIT;") == 1
        runner.ask("DROP TABLE counted;")


def _is_clean(server: MariadbServer) -> bool:
    server.settle(ANY_PATH)
    return rows_of(server, "SHOW GLOBAL STATUS LIKE 'Innodb_buffer_pool_pages_dirty';")[0][1] == "0"


def test_settle_tells_time_and_bytes(server: MariadbServer) -> None:
    with logged_in(server) as runner:
        runner.ask("CREATE TABLE scrap (n integer, filling CHAR(200));")
        runner.ask("INSERT INTO scrap SELECT a.c1, 'x' FROM tab1 AS a, mydata2 AS b WHERE a.c1 <= 40;")
        settled = server.settle(ANY_PATH)
        assert settled.ns > 0
        assert settled.bytes_written is not None
        if server.storage == "innodb":
            assert settled.bytes_written > 1_000_000
            until(lambda: _is_clean(server), "rest: its purge may change pages right after, but not for ever")
        # Neither what is open nor an unfinished transaction holds it up.
        runner.ask("HANDLER scrap OPEN; HANDLER scrap READ FIRST; BEGIN; SELECT 1 FROM scrap LIMIT 1;")
        server.settle(ANY_PATH)
        runner.ask("HANDLER scrap CLOSE; COMMIT; DROP TABLE scrap;")
    assert server.size_bytes() > 10_000_000


def test_the_slow_query_is_slow_and_can_be_stopped(server: MariadbServer) -> None:
    limit = "max_statement_time = 1" if dialect_of(server).flavour == "mariadb" else "max_execution_time = 1000"
    with logged_in(server) as runner, pytest.raises(RowpathError, match="interrupted"):
        runner.ask(f"SET {limit}; {dialect_of(server).slow_query};")


def test_starts_again_on_its_data_after_stop_and_after_kill(server: MariadbServer) -> None:
    with logged_in(server) as runner:
        runner.ask("CREATE TABLE kept (n integer); INSERT INTO kept VALUES (42);")
    server.settle(ANY_PATH)
    pids = server.pids()
    server.stop()
    assert gone(pids)
    assert not server.check()
    assert server.pids() == []
    server.start()
    pids = server.pids()
    assert server.check()
    os.kill(pids[0], signal.SIGKILL)
    assert gone(pids)
    assert not server.check()
    server.start()
    with logged_in(server, tcp=True) as runner:
        assert runner.ask("SELECT n FROM kept;") == [["42"]]
        runner.ask("DROP TABLE kept;")


@pytest.mark.parametrize("name", ["mariadb", "mysql"])
def test_a_port_that_was_asked_for_and_is_taken(tmp_path: Path, name: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        instance = made(name, tmp_path, "innodb", "none", port)
        with pytest.raises(UsageError, match=f"port {port} of 127.0.0.1 is in use"):
            instance.start()
        assert instance.pids() == []
        place_of(instance).port = 0
        remember_port(instance, port)
        instance.start()  # it had that one, but any other is as good
        assert instance.options(ANY_PATH)["port"] != port
        instance.stop()


def test_a_data_directory_that_is_in_use(server: MariadbServer, tmp_path: Path) -> None:
    second = made(dialect_of(server).name, tmp_path, server.storage)
    give_files(second, files_of(server))
    with pytest.raises(RowpathError, match=f"is in use by process {server.pids()[0]}: one process at a time"):
        second.start()
    assert server.check()


@pytest.mark.parametrize("name", ["mariadb", "mysql"])
def test_a_server_that_does_not_start_says_why(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    instance = made(name, tmp_path, "innodb", "none")
    flavour = dialect_of(instance).flavour
    monkeypatch.setitem(settings.SERVER_ONLY, flavour, ("--no-such-option=1",))
    with pytest.raises(EnvironmentMissing, match=r"did not start: .*no-such-option"):
        instance.start()
    assert instance.pids() == []


@pytest.mark.parametrize("name", ["mariadb", "mysql"])
def test_nothing_survives_the_controller(tmp_path: Path, name: str) -> None:
    engine_of(name)
    pids = kill_the_controller(name, tmp_path)
    assert gone(pids)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root runs servers as another user")
def test_a_folder_that_the_servers_user_cannot_reach(tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    instance = made("mariadb", tmp_path, "innodb", "none")
    instance.start()
    elsewhere = Path(instance.facts()["data_directory"])
    instance.stop()
    assert not elsewhere.is_relative_to(tmp_path)
    shutil.rmtree(elsewhere.parent)


def test_what_the_highest_durability_promises_is_synced(server: MariadbServer) -> None:
    if (dialect_of(server).flavour, server.storage) == ("mysql", "myisam"):
        most = 5  # of the server's own tables, which are InnoDB's
    else:
        most = 60 if server.durability == "full" else 0
    _check_syncs(server, 20 if server.durability == "full" else 0, most)


@pytest.mark.parametrize(
    ("name", "storage", "most"), [("mariadb", "innodb", 5), ("mariadb", "aria", 0), ("mysql", "innodb", 5)]
)
def test_without_durability_nothing_is_synced(tmp_path: Path, name: str, storage: str, most: int) -> None:
    instance = made(name, tmp_path, storage, "none")
    place_of(instance).environment.update(syncs.environment(syncs.make_file(tmp_path / "syncs")))
    instance.start()
    try:
        _check_syncs(instance, 0, most)
    finally:
        instance.stop()


def _check_syncs(server: MariadbServer, least: int, most: int) -> None:
    file = Path(place_of(server).environment[syncs.VARIABLE])
    if syncs.probe() != syncs.METHOD:
        pytest.skip(syncs.probe())
    with logged_in(server) as runner:
        runner.ask("CREATE TABLE counted (n integer); INSERT INTO counted VALUES (0);")
        counted = [_syncs_of_twenty_commits(runner, file) for _ in range(3)]
        # The engine's own threads sync now and then, so more is counted; a sync per commit is in every count.
        assert least <= min(counted) <= most, counted
        runner.ask("DROP TABLE counted;")


def _syncs_of_twenty_commits(runner: Console, file: Path) -> int:
    """Counted once the engine has not synced for a while: it goes on with what starting and creating left to do."""
    before = -1
    for _ in range(10):
        if before == (before := syncs.read(file)["total"]):
            break
        runner.ask("DO SLEEP(1.5);")
    runner.ask("INSERT INTO counted VALUES (1);\n" * 20)
    return syncs.read(file)["total"] - before
