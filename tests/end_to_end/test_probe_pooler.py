"""A probe through a PgBouncer between it and the server, and what it leaves there: the real one, in each mode."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rowpath.engines import ENGINES
from rowpath.engines.base import Instance, Place
from rowpath.engines.postgresql.pooled import TRANSACTION
from rowpath.errors import RowpathError, UsageError
from rowpath.execution.worker import Worker
from rowpath.machine import private_directories
from rowpath.model.path import AccessPath
from rowpath.model.workload import Column, Phase
from rowpath.own_database.access import open_access
from rowpath.own_database.candidates import Wanted, candidates
from rowpath.own_database.instances import ProbedServer
from rowpath.own_database.parameters import keyed
from rowpath.own_database.question import ProbeOptions, rows_by_options
from rowpath.own_database.session import Session
from rowpath.own_database.target import Target, read_target
from rowpath.own_database.throttled_worker import Budget, DatabaseRest, RowConsistency, ThrottledWorker, work_of
from rowpath.runners import manifest
from rowpath.runners.process import RunnerFailure
from tests.end_to_end.command import Command, Records, records, rowpath
from tests.end_to_end.quick_probe import ONE_SET
from tests.engines.insides import ask, psql
from tests.engines.life import reaching
from tests.waiting import PATIENCE_S, until

PGBOUNCER = shutil.which("pgbouncer", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
QUERY = "SELECT b FROM t WHERE a = ?"
LONG_S = 600  # it is cancelled
# What the pooler itself keeps for each of its clients is no trace.
TRACKED = "'client_encoding', 'DateStyle', 'TimeZone', 'application_name', 'standard_conforming_strings'"
LEFT = (
    f"SELECT name FROM pg_settings WHERE source = 'session' AND name NOT IN ({TRACKED})"
    " UNION ALL SELECT 'statement ' || name FROM pg_prepared_statements"
    " UNION ALL SELECT 'lock' FROM pg_locks WHERE locktype = 'advisory'"
    " UNION ALL SELECT 'channel' FROM pg_listening_channels() ORDER BY 1"
)
IN_TRANSACTION = (
    "SELECT string_agg(state, ' ') FROM pg_stat_activity WHERE usename <> 'postgres' AND xact_start IS NOT NULL"
)

pytestmark = pytest.mark.skipif(PGBOUNCER is None, reason="no pgbouncer: apt-get install pgbouncer")


@pytest.fixture(name="server", scope="module")
def server_fixture(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    folder = tmp_path_factory.mktemp("pooled")
    for parent in reaching(folder):
        parent.chmod(parent.stat().st_mode | 0o055)
    (folder / "s").mkdir(mode=0o777)
    (folder / "s").chmod(0o777)
    instance: Any = ENGINES["postgresql"].instance("server", "none", Place(folder / "d", folder / "s", (0,)))
    instance.start()
    try:
        psql(instance, "CREATE TABLE t AS SELECT i AS a, 'text ' || i AS b FROM generate_series(1, 100) AS i;")
        yield instance
    finally:
        instance.stop()


@contextlib.contextmanager
def pooler(
    server: Instance, mode: str, folder: Path, ignored: str = "extra_float_digits,options", pool: int = 20
) -> Iterator[Target]:
    """A PgBouncer in that mode that ignores these startup parameters, and the target behind it."""
    options = server.options(AccessPath.of({"transport": "tcp"}))
    folder.mkdir()
    for parent in reaching(folder):
        parent.chmod(parent.stat().st_mode | 0o055)
    (folder / "users").write_text(f'"{options["user"]}" "{options["password"]}"\n')
    settings = {
        "listen_addr": "127.0.0.1", "unix_socket_dir": "", "auth_type": "plain",
        "auth_file": folder / "users", "pool_mode": mode, "ignore_startup_parameters": ignored,
        "default_pool_size": pool,
    }  # fmt: skip
    where = f"{options['database']} = host=127.0.0.1 port={options['port']}"
    lines = [f"[databases]\n{where}\n[pgbouncer]", *(f"{key} = {value}" for key, value in settings.items())]
    (folder / "ini").write_text("\n".join(lines))
    process, port = listening(folder)
    try:
        login = f"{options['user']}:{options['password']}@127.0.0.1:{port}/{options['database']}"
        yield read_target(f"postgresql://{login}", {})
    finally:
        process.terminate()
        process.wait()


def listening(folder: Path) -> tuple[subprocess.Popen[bytes], int]:
    """A PgBouncer of the settings in the folder, and its port: another one where a neighbour took it meanwhile."""
    as_user: dict[str, Any] = {"user": "nobody", "group": "nogroup", "extra_groups": []} if os.getuid() == 0 else {}
    settings, log = (folder / "ini").read_text(), folder / "log"
    while True:
        port = private_directories.free_port()
        (folder / "ini").write_text(f"{settings}\nlisten_port = {port}\n")
        for file in folder.iterdir():
            file.chmod(0o644)
        with log.open("w") as output:
            process = subprocess.Popen([str(PGBOUNCER), folder / "ini"], stdout=output, stderr=output, **as_user)
        ended = process.poll
        until(lambda ended=ended: "process up" in log.read_text() or ended() is not None, "pgbouncer")
        if ended() is None:
            return process, port
        assert "in use" in log.read_text(), log.read_text()


@contextlib.contextmanager
def busy(server: Any, other: Worker) -> Iterator[None]:
    """The other client executes a long statement until the body ends."""

    def sleep() -> None:
        with contextlib.suppress(RunnerFailure):
            other.run([f"SELECT pg_sleep({LONG_S})"])

    sleeping = "FROM pg_stat_activity WHERE wait_event = 'PgSleep'"
    waiting = threading.Thread(target=sleep)
    waiting.start()
    try:
        until(lambda: ask(server, f"SELECT count(*) {sleeping}") == "1", "a sleep")
        yield
    finally:
        ask(server, f"SELECT pg_cancel_backend(pid) {sleeping}")
        waiting.join()


@pytest.mark.parametrize("ignored", ["extra_float_digits,options", ""], ids=["ignoring", "strict"])
@pytest.mark.parametrize("mode", ["session", "transaction"])
def test_its_mode_is_said_and_queries_work_without_session_settings(
    server: Instance, tmp_path: Path, mode: str, ignored: str
) -> None:
    with (
        pooler(server, mode, tmp_path / "pooler", ignored) as target,
        open_access(target, ProbeOptions(""), tmp_path) as access,
    ):
        assert f"pools by {mode}" in access.notes[-1]
        assert access.session.before == ()
        assert access.session.pooled is not None and access.session.pooled.keeps == (mode == "session")
        assert [column.name for column in access.describe("SELECT * FROM t")] == ["a", "b"]
        seen = "SELECT current_setting('transaction_read_only') || current_setting('TimeZone')"
        assert access.ask((), [seen], tmp_path / "kept") == [["onUTC"]]
        with pytest.raises(UsageError, match="read-only transaction"):
            access.ask((), ["DELETE FROM t RETURNING b"], tmp_path / "kept")


def test_one_that_pools_by_statement_is_refused(server: Instance, tmp_path: Path) -> None:
    with pooler(server, "statement", tmp_path / "pooler") as target, pytest.raises(UsageError) as failure:
        open_access(target, ProbeOptions(""), tmp_path)
    assert "pools by statement" in failure.value.message and "server itself" in failure.value.hint


def test_statements_that_the_pooler_itself_keeps_stay(server: Instance) -> None:
    """As PgBouncer 1.21 and newer name them; others are removed, and refused."""
    count = "SELECT string_agg(name, ' ') FROM pg_prepared_statements;"
    prepare = 'PREPARE "PGBOUNCER_7" AS SELECT 1; PREPARE "a b" AS SELECT 2;'
    assert psql(server, f"BEGIN READ ONLY; {prepare} {TRANSACTION.clean}; {count} COMMIT;").strip() == "PGBOUNCER_7"
    with pytest.raises(RowpathError, match="prepares statements by name"):
        psql(server, f"BEGIN READ ONLY; {prepare} {TRANSACTION.refuse};")


def left_behind(target: Target, folder: Path) -> list[str]:
    """What another client finds in the only server connection of the pool: settings, statements, locks."""
    with open_access(target, ProbeOptions(""), folder) as access:
        access.session = Session()
        (found,) = access.ask((), [LEFT], folder / "kept")
    return found


def test_the_check_of_what_is_left_notices_it(server: Instance, tmp_path: Path) -> None:
    with pooler(server, "transaction", tmp_path / "pooler", pool=1) as target:
        assert left_behind(target, tmp_path) == []
        with open_access(target, ProbeOptions(""), tmp_path) as access, access.connected() as runner:
            access.run_statements(runner, ("COMMIT", "SET lock_timeout = 7", "PREPARE p AS SELECT 1", "BEGIN"))
        assert left_behind(target, tmp_path) == ["lock_timeout", "statement p"]


@pytest.mark.parametrize("killed", [False, True], ids=["ended", "killed"])
def test_nothing_of_a_probe_stays_in_the_server(server: Instance, tmp_path: Path, killed: bool) -> None:
    where = ("--language", "c,python", "--driver", "libpq,psycopg2", "--budget", "6s", "-o", tmp_path / "run")
    query = ("--query", QUERY, "--param", "integer:7")
    with pooler(server, "transaction", tmp_path / "pooler", pool=1) as target:
        login = f"{target.user}:{target.password}@127.0.0.1:{target.port}/{target.database}"
        with Command("probe", f"postgresql://{login}", *query, *where, program=ONE_SET) as command:
            if killed:
                until(lambda: "transaction" in ask(server, IN_TRANSACTION) and records(tmp_path / "run"), "a block")
                command.process.kill()
                command.process.communicate()
            else:
                ended = command.end()
                assert ended.returncode == 0, ended.stderr
                check_answer(ended.stdout, records(tmp_path / "run"))
                check_program(tmp_path / "run" / "fastest-python.py", target)
        until(lambda: ask(server, IN_TRANSACTION) == "", "the end of all transactions")
        assert left_behind(target, tmp_path) == []


def check_program(program: Path, target: Target) -> None:
    """The written program works through the pooler too."""
    adapter = next(each for each in manifest.load_manifest("python").adapter if each.driver == "psycopg2")
    path = AccessPath.of({"engine": "postgresql", "driver": "psycopg2"})
    start = manifest.toolchain("python").command(adapter, adapter.versions[0], path)
    words, added = [start.arguments[0], program], start.environment | {"PGPASSWORD": target.password}
    done = subprocess.run(words, env=os.environ | added, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def check_answer(screen: str, found: Records) -> None:
    """What works through the pooler was measured, and what does not is named as its mode's failure."""
    tried = {each["tried"]["name"]: each["tried"] for each in found if each.get("tried")}
    assert any(one["execution_ns"] and "libpq" in name for name, one in tried.items())
    assert any(one["execution_ns"] and "psycopg2" in name for name, one in tried.items())
    assert not [name for name in tried if "prepared" in name]
    assert [each for each in found if "Prepared statements fail through this pooler" in str(each.get("caveat"))]
    assert [each for each in found if "pools by transaction" in str(each.get("text"))]
    assert "libpq" in screen


def test_explain_works_through_it(server: Instance, tmp_path: Path) -> None:
    with pooler(server, "transaction", tmp_path / "pooler", "", pool=2) as target:
        login = f"{target.user}:{target.password}@127.0.0.1:{target.port}/{target.database}"
        ended = rowpath(
            "explain",
            f"postgresql://{login}",
            "--query",
            "SELECT * FROM t",
            "driver=libpq",
            "statement=text",
            "fetch=row",
            "result=whole",
            "format=text",
            "--blocks",
            "1",
            "--no-flame",
            "--no-hops",
            "-o",
            tmp_path / "explained",
        )
    assert ended.returncode == 0, ended.stderr
    assert "libpq" in ended.stdout


@pytest.mark.parametrize(
    ("language", "driver", "settings", "why"),
    [
        ("python", "psycopg2", {"result": "cursor:1000"}, "transactions of its own"),
        ("c", "libpq", {"statement": "prepared"}, "prepares statements by name"),
        ("c", "libpq", {"statement": "bound", "result": "cursor:1000"}, ""),
        ("python", "psycopg", {"statement": "bound"}, ""),
    ],
)
def test_a_path_that_would_not_only_read_or_leave_something_fails(
    server: Instance, tmp_path: Path, language: str, driver: str, settings: dict[str, str], why: str
) -> None:
    sql = "SELECT a FROM t ORDER BY a"
    phase = Phase("query", "query", sql)
    found = candidates(
        Wanted("postgresql", "server", phase, languages=(language,), drivers=(driver,), keyed=True)
    ).paths
    planned = next(p for p in found if all(p.path.get(key) == value for key, value in settings.items()))
    manifest.build([(planned.adapter, planned.path.version)], paths=[planned.path])
    work = replace(work_of(sql, ()), columns=(Column("a", "integer", nullable=True),))
    with (
        pooler(server, "transaction", tmp_path / "pooler", "", pool=1) as target,
        open_access(target, ProbeOptions(""), tmp_path) as access,
    ):
        worker = ThrottledWorker(
            planned, access.instance, session=access.session, rest=DatabaseRest(Budget(60.0)),
            row_consistency=RowConsistency(), log=lambda _line: None, timeout_s=PATIENCE_S,
        )  # fmt: skip
        failed = ""
        try:
            worker.open()
            worker.prepare(work)
            assert worker.sample(work, "warm", operations=3).reply.rows == 300
            assert worker.verify(work, 0, 2).rows == 200
        except RunnerFailure as failure:
            failed = failure.text
        finally:
            worker.close()
        assert (why in failed) if why else not failed
        assert left_behind(target, tmp_path) == []


@pytest.mark.parametrize("mode", ["session", "transaction", "statement"])
def test_which_statement_modes_work_through_it(server: Instance, tmp_path: Path, mode: str) -> None:
    phase = Phase("query", "query", QUERY)
    query = keyed(QUERY, "postgresql", rows_by_options(ProbeOptions("", params=("integer:7",))))
    query.write(tmp_path / "rows")
    work = replace(
        work_of(QUERY, ()),
        columns=(Column("b", "text", nullable=True),),
        parameter_columns=query.columns,
        parameter_file=tmp_path / "rows",
        parameter_count=1,
    )
    found = candidates(Wanted("postgresql", "server", phase, languages=("c",), drivers=("libpq",), keyed=True)).paths
    first = {each.path.get("statement"): each for each in reversed(found) if each.path.get("fetch") == "row"}
    cursor = next(
        each for each in found if (each.path.get("statement"), each.path.get("result")) == ("bound", "cursor:1000")
    )
    manifest.build([(each.adapter, each.path.version) for each in found], paths=[each.path for each in found])
    works = {}
    with pooler(server, mode, tmp_path / "pooler") as target:
        instance = ProbedServer(target)
        for name, planned in {**first, "cursor": cursor}.items():
            worker = Worker(planned, instance, log=lambda _line: None, timeout_s=PATIENCE_S)
            other = Worker(planned, instance, log=lambda _line: None, timeout_s=PATIENCE_S)
            try:
                worker.open()
                worker.prepare(work)
                other.open()
                with busy(server, other):  # with the connection that the statement was prepared on
                    works[name] = not worker.sample(work, "warm", operations=2).reply.failed
            except RunnerFailure:
                works[name] = False
            finally:
                other.close()
                worker.close()
    fine = mode == "session"
    assert works == {"prepared": fine, "bound": True, "text": True, "cursor": mode != "statement"}
