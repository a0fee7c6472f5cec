"""PostgreSQL: start, load, settle, count, stop, start again, and every way of dying."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import ssl
import struct
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from rowpath.engines import server as private_server
from rowpath.engines.postgresql import ENGINE
from rowpath.engines.postgresql.server import PostgresqlServer
from rowpath.errors import RowpathError, UsageError
from rowpath.machine import postgresql_programs
from rowpath.machine.counters import syncs
from rowpath.model.path import AccessPath
from rowpath.workloads.workload_file import load_workload
from tests.engines.insides import ask, files_of, program_of, psql, remember_port
from tests.engines.life import kill_the_controller, loaded, place
from tests.waiting import PATIENCE_S, gone, until

pytestmark = pytest.mark.skipif(not ENGINE.availability().ok, reason=ENGINE.availability().reason)
ANY_PATH = AccessPath.of({"engine": "postgresql"})


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PostgresqlServer]:
    instance = ENGINE.instance("server", "full", place(tmp_path_factory.mktemp("run é x'y")))
    instance.start()
    yield instance
    instance.stop()


@pytest.fixture(scope="module")
def tls_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PostgresqlServer]:
    version = ENGINE.tls_version()
    here = ENGINE.availability_of(version, "on")
    if not here.ok:
        pytest.skip(here.reason)
    instance = ENGINE.instance("server", "full", place(tmp_path_factory.mktemp("run é x'y"), version=version))
    instance.start()
    yield instance
    instance.stop()


def test_loads_every_workload(server: PostgresqlServer) -> None:
    for name in ("scan", "keyed", "tab1", "types"):
        tables = loaded(load_workload(name))
        server.load(tables)
        for table, definition in tables.items():
            assert int(psql(server, f"SELECT count(*) FROM {table};")) == definition.rows
    assert (
        psql(server, "INSERT INTO tab1 SELECT nextval('tab1_c1_seq'), c2, c3, c4, c5, c6 FROM tab1 WHERE c1 = 1;") == ""
    )
    assert int(psql(server, "SELECT max(c1) FROM tab1;")) == 10001


def test_an_empty_directory_is_made_once_and_every_server_has_its_own_password(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(private_server, "cache_dir", lambda: tmp_path / "cache")
    verifiers = []
    for name in ("first", "second"):
        server = ENGINE.instance("server", "none", place(tmp_path / name))
        assert isinstance(server, PostgresqlServer)
        server.start()
        try:
            psql(server, "CREATE TABLE own (a integer);")  # not in the other's directory
            verifiers.append(ask(server, "SELECT rolpassword FROM pg_authid WHERE rolname = 'postgres';"))
        finally:
            server.stop()
        monkeypatch.setattr(PostgresqlServer, "_init", None)
    (kept,) = (tmp_path / "cache").iterdir()
    passwords = (kept / "global" / "1260").read_bytes()  # the table pg_authid
    assert b"SCRAM-SHA-256" in passwords
    assert len(set(verifiers)) == 2
    assert not any(verifier.encode() in passwords for verifier in verifiers)


def test_is_private(server: PostgresqlServer) -> None:
    check_privacy(server)


def check_privacy(server: PostgresqlServer) -> None:
    port = server.options(ANY_PATH)["port"]
    sockets = Path(server.options(ANY_PATH)["socket_dir"])
    assert sockets.stat().st_mode & 0o077 == 0
    assert Path(server.facts()["data_directory"]).parent.stat().st_mode & 0o077 == 0
    listening = [line.split()[1] for line in Path("/proc/net/tcp").read_text().splitlines() if line.split()[3] == "0A"]
    assert [each for each in listening if each.endswith(f":{port:04X}")] == [f"0100007F:{port:04X}"]
    for pid in server.pids():
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # a backend that ended meanwhile
            line = Path(f"/proc/{pid}/cmdline").read_bytes().decode()
            assert not any(secret in line for secret in server.secrets())
    assert not any(secret in (files_of(server) / "server.log").read_text() for secret in server.secrets())
    assert psql(server, "SELECT rolsuper FROM pg_roles WHERE rolname = 'rowpath';").strip() == "f"


def test_the_one_with_tls_is_private_as_well(tls_server: PostgresqlServer) -> None:
    check_privacy(tls_server)
    for name in ("server.key", "server.crt"):
        file = files_of(tls_server) / name
        assert file.stat().st_mode & 0o777 == 0o600
        assert file.stat().st_uid == (files_of(tls_server) / "data").stat().st_uid


def handshake(server: PostgresqlServer, most: ssl.TLSVersion) -> str:
    """The protocol that a client gets which asks for TLS of at most that version; empty when the server has none."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    certificate = files_of(server) / "server.crt"
    if certificate.is_file():
        context.load_verify_locations(certificate)
    context.maximum_version = most
    with socket.create_connection(("127.0.0.1", server.options(ANY_PATH)["port"]), timeout=PATIENCE_S) as plain:
        plain.sendall(struct.pack("!ii", 8, 80877103))  # SSLRequest
        if plain.recv(1) == b"N":
            return ""
        with context.wrap_socket(plain, server_hostname="localhost") as wrapped:
            return str(wrapped.version())


def test_tls_is_1_3_with_a_certificate_for_this_machine(tls_server: PostgresqlServer) -> None:
    assert handshake(tls_server, ssl.TLSVersion.TLSv1_3) == "TLSv1.3"
    with pytest.raises(ssl.SSLError):
        handshake(tls_server, ssl.TLSVersion.TLSv1_2)


def test_the_wheels_server_has_no_tls_and_says_so(server: PostgresqlServer) -> None:
    if postgresql_programs.named() is not None:
        pytest.skip("ROWPATH_POSTGRESQL names another one")
    assert handshake(server, ssl.TLSVersion.TLSv1_3) == ""
    assert server.facts()["ssl"] == "off"
    refused = ENGINE.availability_of(server.version, "on")
    assert refused.reason.endswith("was built without TLS")
    assert refused.remedy == f"engine_version={ENGINE.tls_version()}"


def test_the_one_with_tls_tells_how_it_was_built_and_set(tls_server: PostgresqlServer) -> None:
    facts = tls_server.facts()
    assert tls_server.version == ENGINE.tls_version()
    assert (facts["ssl"], facts["ssl_min_protocol_version"], facts["ssl_library"]) == ("on", "TLSv1.3", "OpenSSL")
    assert "self-signed" in facts["certificate"]
    assert facts["max_connections"] == "400"
    assert facts["timezone"] == "UTC"
    if postgresql_programs.named() is None:
        assert "-Os" in facts["build"].split()


def test_the_one_with_tls_loads_counts_and_starts_again(tls_server: PostgresqlServer) -> None:
    tables = loaded(load_workload("keyed"))
    tls_server.load(tables)
    pids = tls_server.pids()
    tls_server.stop()
    assert gone(pids)
    tls_server.start()
    for table, definition in tables.items():
        assert int(psql(tls_server, f"SELECT count(*) FROM {table};")) == definition.rows
    assert handshake(tls_server, ssl.TLSVersion.TLSv1_3) == "TLSv1.3"


def test_the_slow_query_is_slow(server: PostgresqlServer) -> None:
    with pytest.raises(RowpathError, match="statement timeout"):
        psql(server, f"SET statement_timeout = 1500; {ENGINE.slow_query};")


def test_settings_are_those_of_the_durability(server: PostgresqlServer) -> None:
    facts = server.facts()
    assert (facts["fsync"], facts["synchronous_commit"], facts["full_page_writes"]) == ("on", "on", "on")
    assert (facts["shared_buffers"], facts["jit"], facts["autovacuum"]) == ("256MB", "off", "off")
    assert "-O2" in facts["build"]


def test_runs_on_its_cpus(server: PostgresqlServer) -> None:
    wanted = {max(os.sched_getaffinity(0))}
    postmaster, *others = server.pids()
    assert os.sched_getaffinity(postmaster) == wanted
    for pid in others:
        with contextlib.suppress(ProcessLookupError):  # a backend that ended meanwhile
            assert os.sched_getaffinity(pid) == wanted


def test_counts_commits_exactly(server: PostgresqlServer) -> None:
    before = commits_of_ended(server)
    assert server.commits() == before, "asking must not count"
    psql(server, "SELECT 1;\n" * 50)
    after = commits_of_ended(server)
    assert after == before + 51, "fifty statements, and the login's own transaction"


def commits_of_ended(server: PostgresqlServer) -> int:
    """Commits once every backend of an earlier connection has reported its own, as it does when it ends."""
    clients = "SELECT count(*) FROM pg_stat_activity WHERE datname = 'rowpath' AND backend_type = 'client backend'"
    until(lambda: ask(server, clients) == "0", "end of earlier connections")
    commits = server.commits()
    assert commits is not None
    return commits


def test_flush_statements_report_at_once(server: PostgresqlServer) -> None:
    commits_of_ended(server)
    options = server.options(ANY_PATH)
    client = subprocess.Popen(
        [
            program_of(server, "psql"),
            "-X",
            "-q",
            "-A",
            "-t",
            "-h",
            options["host"],
            "-p",
            str(options["port"]),
            "-U",
            "rowpath",
        ],
        env={**os.environ, "PGPASSWORD": options["password"]},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        bufsize=1,
    )
    assert client.stdin is not None
    assert client.stdout is not None

    def execute(statement: str) -> None:
        client.stdin.write(f"{statement};\n")  # type: ignore[union-attr]
        client.stdout.readline()  # type: ignore[union-attr]

    for wait_s in (0.0, 1.1):  # a backend also reports by itself, once a second: then there is little left to report
        execute(server.flush_statements[0])
        before = server.commits()
        for _ in range(30):
            execute("SELECT 1")
        time.sleep(wait_s)
        execute("SELECT relname FROM pg_class LIMIT 1")
        execute(server.flush_statements[0])
        assert server.commits() == (before or 0) + 32
    client.stdin.close()
    client.wait()
    client.stdout.close()


def test_settle_tells_time_and_bytes(server: PostgresqlServer) -> None:
    psql(server, "CREATE TABLE scrap AS SELECT generate_series(1, 100000) AS n; DROP TABLE IF EXISTS nothing;")
    settled = server.settle(ANY_PATH)
    assert settled.ns > 0
    assert settled.bytes_written is not None
    assert settled.bytes_written > 1_000_000
    assert server.size_bytes() > 30_000_000


def test_starts_again_on_its_data_after_stop_and_after_kill(server: PostgresqlServer) -> None:
    psql(server, "CREATE TABLE kept AS SELECT 42 AS n;")
    pids = server.pids()
    server.stop()
    assert gone(pids)
    assert not server.check()
    server.start()
    assert psql(server, "SELECT n FROM kept;").strip() == "42"
    pids = server.pids()
    os.kill(pids[0], signal.SIGKILL)
    server.start()
    assert gone(pids)
    assert psql(server, "SELECT n FROM kept;").strip() == "42"


def test_a_port_that_was_asked_for_and_is_taken(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        instance = ENGINE.instance("server", "none", place(tmp_path, port))
        with pytest.raises(UsageError, match=f"port {port} of 127.0.0.1 is in use"):
            instance.start()
        instance.stop()
        assert instance.pids() == []


def test_a_random_port_that_is_taken_is_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        taken = other.getsockname()[1]
        instance = ENGINE.instance("server", "none", place(tmp_path))
        remember_port(instance, taken)
        instance.start()
        assert instance.options(ANY_PATH)["port"] != taken
        assert instance.facts()["fsync"] == "off"
        instance.stop()


def test_nothing_survives_the_controller(tmp_path: Path) -> None:
    pids = kill_the_controller("postgresql", tmp_path)
    assert len(pids) > 1
    assert gone(pids)


def test_a_folder_that_the_servers_user_cannot_reach(tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root runs servers as another user")
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    instance = ENGINE.instance("server", "none", place(closed))
    instance.start()
    try:
        sockets = Path(instance.options(ANY_PATH)["socket_dir"])
        assert not instance.facts()["data_directory"].startswith(str(closed))
        assert sockets.is_dir()
    finally:
        instance.stop()
    assert not sockets.exists()
    shutil.rmtree(files_of(instance), ignore_errors=True)


@pytest.mark.parametrize(("durability", "least", "most"), [("full", 20, 30), ("none", 0, 0)])
def test_syncs_of_commits_are_counted(tmp_path: Path, durability: str, least: int, most: int) -> None:
    if syncs.probe() != syncs.METHOD:
        pytest.skip(syncs.probe())
    file = syncs.make_file(tmp_path / "syncs")
    here = place(tmp_path)
    here.environment.update(syncs.environment(file))
    instance = ENGINE.instance("server", durability, here)
    instance.start()
    try:
        psql(instance, "CREATE TABLE counted (n integer);")
        before = syncs.read(file)["total"]
        psql(instance, "INSERT INTO counted VALUES (1);\n" * 20)
        assert least <= syncs.read(file)["total"] - before <= most
    finally:
        instance.stop()
