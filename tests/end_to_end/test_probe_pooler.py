"""What a probe says of a PgBouncer between it and the server, and whether that is so: the real one, in each mode."""

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
from rowpath.errors import UsageError
from rowpath.execution.worker import Worker
from rowpath.machine import private_directories
from rowpath.model.path import AccessPath
from rowpath.model.workload import Column, Phase
from rowpath.own_database.access import open_access
from rowpath.own_database.candidates import Wanted, candidates
from rowpath.own_database.instances import ProbedServer
from rowpath.own_database.parameters import keyed
from rowpath.own_database.question import ProbeOptions, rows_by_options
from rowpath.own_database.target import Target, read_target
from rowpath.own_database.throttled_worker import work_of
from rowpath.runners import manifest
from rowpath.runners.process import RunnerFailure
from tests.engines.insides import ask, psql
from tests.engines.life import reaching
from tests.waiting import PATIENCE_S, until

PGBOUNCER = shutil.which("pgbouncer", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
QUERY = "SELECT b FROM t WHERE a = ?"
LONG_S = 600  # it is cancelled

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
def pooler(server: Instance, mode: str, folder: Path, ignored: str = "extra_float_digits,options") -> Iterator[Target]:
    """A PgBouncer in that mode that ignores these startup parameters, and the target behind it."""
    options = server.options(AccessPath.of({"transport": "tcp"}))
    folder.mkdir()
    for parent in reaching(folder):
        parent.chmod(parent.stat().st_mode | 0o055)
    (folder / "users").write_text(f'"{options["user"]}" "{options["password"]}"\n')
    settings = {
        "listen_addr": "127.0.0.1", "unix_socket_dir": "", "auth_type": "plain",
        "auth_file": folder / "users", "pool_mode": mode, "ignore_startup_parameters": ignored,
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


@pytest.mark.parametrize("mode", ["session", "transaction", "statement"])
def test_its_mode_is_said_and_the_probe_refused(server: Instance, tmp_path: Path, mode: str) -> None:
    with pooler(server, mode, tmp_path / "pooler") as target, pytest.raises(UsageError) as failure:
        open_access(target, ProbeOptions(""), tmp_path)
    assert "pooler" in failure.value.message and f"pools by {mode}" in failure.value.message
    assert "server itself" in failure.value.hint


def test_one_that_refuses_our_startup_parameters_is_named(server: Instance, tmp_path: Path) -> None:
    with pooler(server, "session", tmp_path / "pooler", "") as target, pytest.raises(UsageError) as failure:
        open_access(target, ProbeOptions(""), tmp_path)
    assert "pooler" in failure.value.message and "startup parameter" in failure.value.message


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
