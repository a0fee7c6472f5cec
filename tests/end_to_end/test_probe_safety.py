"""What `rowpath probe` promises of a database that is not ours: it only reads, gives way, and keeps the password."""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import json
import sqlite3
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote, quote_plus

import pytest

from rowpath.engines import ENGINES
from rowpath.engines.base import Place
from rowpath.errors import RowpathError
from rowpath.execution.worker import Worker
from rowpath.model.path import AccessPath
from rowpath.model.workload import Phase
from rowpath.own_database.access import open_access
from rowpath.own_database.candidates import Wanted, candidates
from rowpath.own_database.eligibility import ineligibility
from rowpath.own_database.question import ProbeOptions
from rowpath.own_database.target import read_target
from rowpath.own_database.throttled_worker import work_of
from rowpath.runners import manifest
from rowpath.runners import protocol as p
from rowpath.runners.manifest import Adapter, load_manifest
from tests.end_to_end.command import Command, every_pid, proc, records, rowpath
from tests.end_to_end.quick_probe import ONE_SET
from tests.engines.insides import ask, password_of, place_of, psql
from tests.engines.life import reaching
from tests.waiting import until

PASSWORD = "p w:ö/%@?"
FORMS = tuple({PASSWORD, quote(PASSWORD, safe=""), quote_plus(PASSWORD), json.dumps(PASSWORD)[1:-1]})
CONNECTIONS = 3
ROWS = 2000
ESTABLISHED = "01"  # in /proc/net/tcp
QUERY = "SELECT a, b FROM t ORDER BY a"
RESTING_S = 0.5  # so long no block of these waits between two of its statements, unless it waits for the CPU
LOOKS = 3  # in a row: who looks waits for the CPU as well
WATCH = f"""
    SELECT count(*),
           coalesce(string_agg(pid || '/' || extract(epoch FROM state_change), ' ')
                    FILTER (WHERE state LIKE 'idle in transaction%'
                            AND clock_timestamp() - state_change > interval '{RESTING_S} s'), ''),
           coalesce(string_agg(pid || '/' || extract(epoch FROM query_start), ' ')
                    FILTER (WHERE application_name <> 'rowpath' AND position('{QUERY}' IN query) > 0), '')
    FROM pg_stat_activity WHERE usename = 'probed'"""


@pytest.fixture(name="server", scope="module")
def server_fixture(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A private PostgreSQL with a table, and a role that may write, whose password has signs of every kind."""
    folder = tmp_path_factory.mktemp("probed")
    for parent in reaching(folder):
        parent.chmod(parent.stat().st_mode | 0o055)
    (folder / "s").mkdir(mode=0o777)
    (folder / "s").chmod(0o777)
    engine = ENGINES["postgresql"]
    instance: Any = engine.instance("server", "none", Place(folder / "d", folder / "s", (0,)))
    instance.start()
    try:
        secret = PASSWORD.replace("'", "''")
        psql(instance, f"CREATE ROLE probed LOGIN PASSWORD '{secret}';", "postgres", "postgres")
        psql(
            instance,
            f"CREATE TABLE t AS SELECT i AS a, 'text ' || i AS b FROM generate_series(1, {ROWS}) AS i;"
            "GRANT ALL ON t TO probed; GRANT CREATE ON SCHEMA public TO probed;",
        )
        yield instance
    finally:
        instance.stop()


def url(instance: Any, user: str = "probed", password: str = PASSWORD) -> str:
    options = instance.options(AccessPath.of({}))
    return f"postgresql://{user}:{quote(password, safe='')}@127.0.0.1:{options['port']}/rowpath"


def seen_in_processes(of: Command, watch: list[str]) -> None:
    """Adds what shows the password: any command line, and the environment of any process that the command started."""
    for pid in every_pid():
        if pid != of.process.pid and any(form in proc(pid, "cmdline") for form in FORMS):
            watch.append(proc(pid, "cmdline"))
    for pid in of.processes():
        if any(form in proc(pid, "environ") for form in FORMS):
            watch.append(f"environment of {proc(pid, 'cmdline')}")


def watched(arguments: list[str | Path], directory: Path, each: Callable[[Command], None]) -> tuple[str, list[str]]:
    """Runs a probe to its end, `each` called again and again; what it printed, and where the password was seen."""
    shown: list[str] = []
    with Command("probe", *arguments, "-o", directory, program=ONE_SET) as command:
        while command.process.poll() is None:
            each(command)
            seen_in_processes(command, shown)
            begun = (directory / "samples.jsonl").exists()  # before that it may still be reading its arguments
            if begun and any(form in proc(command.process.pid, "cmdline") for form in FORMS):
                shown.append("its own command line")
            time.sleep(0.05)
        done = command.end()
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr, shown


def files_with_password(directory: Path) -> list[str]:
    wanted = [form.encode() for form in FORMS]
    return [
        str(file)
        for file in directory.rglob("*")
        if file.is_file() and any(form in file.read_bytes() for form in wanted)
    ]


def test_a_probe_of_a_server_only_reads_gives_way_and_keeps_the_password(server: Any, tmp_path: Path) -> None:
    open_ones: list[set[str]] = [set()]
    nameless: dict[str, set[str]] = {}  # when the queries of a process of the server were sent
    resting: list[set[str]] = []
    written = "SELECT sum(n_tup_ins + n_tup_upd + n_tup_del) FROM pg_stat_all_tables"
    before = psql(server, written, "postgres", "rowpath")

    def each(_command: Command) -> None:
        open_ones.append(connections_to(server))
        _count, rest, without_name = ask(server, WATCH).split("|")
        resting.append(set(rest.split()))
        for pid, sent in (each.split("/") for each in without_name.split()):
            nameless.setdefault(pid, set()).add(sent)

    arguments: list[str | Path] = [url(server), "--query", QUERY, "--budget", "5s", "--redact-query"]
    arguments += ["--connections", str(CONNECTIONS), "--language", "c,python", "--driver", "libpq,psycopg,connectorx"]
    printed, shown = watched(arguments, tmp_path / "run", each)
    assert not shown
    assert not [form for form in FORMS if form in printed]
    assert not files_with_password(tmp_path / "run")
    # One look is no instant: those that are there twice were all there between both.
    held = max(len(earlier & later) for earlier, later in itertools.pairwise(open_ones))
    assert 1 <= held <= CONNECTIONS
    # connectorx has a query parsed, not executed, before the session's settings.
    assert max(map(len, nameless.values()), default=0) <= 1, nameless
    assert not any(set.intersection(*looks) for looks in zip(*(resting[at:] for at in range(LOOKS)), strict=False))
    assert records(tmp_path / "run", "sample")
    assert QUERY not in (tmp_path / "run" / "samples.jsonl").read_text(encoding="utf-8")
    assert psql(server, written, "postgres", "rowpath") == before
    wait_until_gone(server)


def test_what_a_session_of_a_probe_cannot_do(server: Any, tmp_path: Path) -> None:
    target = read_target(url(server), {})
    with open_access(target, ProbeOptions("", budget_s=3), tmp_path) as access:
        assert not access.notes
        assert access.engine_version == ENGINES["postgresql"].version()
        with access.connected() as runner:
            for statement, why in (
                ("INSERT INTO t VALUES (0, '')", "read-only"),
                ("CREATE TABLE u (a integer)", "read-only"),
                ("SELECT pg_sleep(20)", "statement timeout"),
            ):
                with pytest.raises(Exception, match=why):
                    runner.request(p.RunStatements, 60, statements=[statement], expect=p.RunReply)
    with (
        open_access(target, ProbeOptions("", budget_s=60), tmp_path) as access,
        locked(server),
        pytest.raises(RowpathError, match="lock timeout"),
        access.connected() as runner,
    ):
        access.run_statements(runner, ("SELECT * FROM t",))


def test_no_transaction_and_no_cursor_outlasts_a_block(server: Any, tmp_path: Path) -> None:
    phase = Phase("query", "query", QUERY)
    found = candidates(Wanted("postgresql", "server", phase, languages=("c", "python"))).paths
    # One path for each driver and way of fetching.
    kinds = {
        (each.adapter.driver, *(each.path.get(key).partition(":")[0] for key in ("fetch", "result"))): each
        for each in reversed(found)
    }
    chosen = kinds.values()
    manifest.build([(each.adapter, each.path.get("version")) for each in chosen], paths=[each.path for each in chosen])
    states = "SELECT string_agg(state, ' ') FROM pg_stat_activity WHERE usename = 'probed'"
    served = set()
    with open_access(read_target(url(server), {}), ProbeOptions(""), tmp_path) as access:
        work = work_of(QUERY, access.describe(QUERY))
        for kind, planned in kinds.items():
            worker = Worker(planned, access.instance, log=lambda _line: None, timeout_s=60.0)
            try:
                worker.open()
                worker.run(list(access.session.before))
                worker.prepare(work)
                measured = worker.sample(work, "warm", operations=2)
                assert (measured.reply.rows, measured.reply.failed) == (2 * ROWS, 0), planned.name
                # Of a query with a connection of its own that one may still end.
                until(lambda: set(ask(server, states).split()) <= {"idle"}, f"rest of {planned.name}", 20.0)
                served.add(kind)
            finally:
                worker.close()
            wait_until_gone(server)
    assert {("libpq", "row", "cursor"), ("psycopg", "row", "cursor"), ("asyncpg", "row", "cursor")} <= served
    assert ("libpq", "copy", "whole") in served


def wait_until_gone(server: Any) -> None:
    """Until the server has noticed that every connection was closed."""
    until(lambda: ask(server, WATCH) == "0||", "end of every connection")


def connections_to(server: Any) -> set[str]:
    """The clients' ends of connections over TCP that are open now: the server may see later that one was closed."""
    wanted = f"0100007F:{server.options(AccessPath.of({}))['port']:04X}"
    lines = (line.split() for line in Path("/proc/net/tcp").read_text().splitlines())
    return {fields[1] for fields in lines if fields[2] == wanted and fields[3] == ESTABLISHED}


@contextlib.contextmanager
def locked(server: Any) -> Iterator[None]:
    """Another session that keeps the table for itself, until the body ends."""
    options = server.options(AccessPath.of({}))
    own = read_target(url(server, options["user"], options["password"]), {})
    with open_access(own, ProbeOptions(""), place_of(server).directory) as access, access.connected() as runner:
        runner.request(
            p.RunStatements, 60, statements=["BEGIN", "LOCK TABLE t IN ACCESS EXCLUSIVE MODE"], expect=p.RunReply
        )
        yield


def test_a_superuser_is_warned_and_a_wrong_password_not_shown(server: Any, tmp_path: Path) -> None:
    target = read_target(url(server, "postgres", password_of(server, "postgres")), {})
    with open_access(target, ProbeOptions(""), tmp_path) as access:
        assert any("superuser" in note and "docs/probe.md" in note for note in access.notes)
    with pytest.raises(RowpathError) as failure:
        open_access(read_target(url(server, password="hunter2"), {}), ProbeOptions(""), tmp_path)
    assert "hunter2" not in f"{failure.value.message} {failure.value.hint}"
    assert "cannot connect to" in failure.value.message


def adapter(language: str, driver: str) -> Adapter:
    return next(each for each in load_manifest(language).adapter if each.driver == driver)


def test_an_adapter_that_cannot_keep_a_promise_is_left_out_with_the_reason() -> None:
    assert "TLS" in ineligibility(adapter("node", "pg-native"), "on", False)[0]
    assert ineligibility(adapter("python", "psycopg"), "on", False) == ("", "")
    assert "read-only" in ineligibility(adapter("c", "libsqliteodbc"), "default", True)[0]
    assert "socket" in ineligibility(adapter("csharp", "ado-psqlodbc"), "default", False, "unix")[0]
    assert ineligibility(adapter("csharp", "ado-psqlodbc"), "default", False, "tcp") == ("", "")
    phase = Phase("query", "query", "SELECT 1")
    found = candidates(Wanted("sqlite", "embedded", phase, languages=("c", "python"), read_only=True))
    assert {planned.adapter.driver for planned in found.paths} <= {"sqlite", "sqlite3"}
    assert "adbc-sqlite" in {dropped.path.get("driver") for dropped in found.dropped}


def checksums(folder: Path) -> dict[str, tuple[str, int]]:
    return {
        str(file): (hashlib.sha256(file.read_bytes()).hexdigest(), file.stat().st_mtime_ns)
        for file in sorted(folder.rglob("*"))
        if file.is_file()
    }


def test_a_probe_in_place_leaves_every_file_as_it_was(tmp_path: Path) -> None:
    home = tmp_path / "it's é"
    home.mkdir()
    file = home / "db.sqlite"
    with contextlib.closing(sqlite3.connect(file)) as connection:
        connection.execute("CREATE TABLE t (a INTEGER, b TEXT)")
        connection.executemany("INSERT INTO t VALUES (?, ?)", [(i, f"text {i}") for i in range(ROWS)])
        connection.commit()
    before = checksums(home)
    arguments: list[str | Path] = [f"sqlite://{file}", "--table", "t", "--budget", "5s", "--in-place"]
    printed, _ = watched([*arguments, "--language", "c,java,python"], tmp_path / "run", lambda _command: None)
    assert checksums(home) == before
    assert "is opened read only" in printed
    assert {file.name for file in (tmp_path / "run").iterdir()} >= {"fastest-c.c", "Fastest.java", "fastest-python.py"}
    assert "libsqliteodbc cannot open" in rowpath("show", tmp_path / "run", "--tables").stdout
    assert not list((tmp_path / "run").rglob("*.sqlite"))
