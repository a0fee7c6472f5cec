"""Every private server that listens refuses a login without the run's secret, over TCP and over its socket."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rowpath.engines import ENGINES
from rowpath.engines.base import Instance, Versioned
from rowpath.engines.server import PrivateServer
from rowpath.machine import cpus, jvm
from rowpath.model.path import AccessPath
from rowpath.runners import manifest
from rowpath.runners.process import Runner, RunnerFailure
from rowpath.runners.protocol import Close, CloseReply, Open, OpenReply
from tests.engines import ddm
from tests.engines.life import place
from tests.runners.java.talk import ADAPTERS, path_of

# By engine: the driver that tries, and names of users that its kind of server has or lets in without more.
SERVERS = {
    "postgresql": ("pgjdbc", ("postgres", "root", "template1")),
    "mariadb": ("mariadb-java-client", ("root", "mysql", "mariadb.sys", "nobody")),
    "mysql": ("connector-j", ("root", "mysql.sys", "mysql.session", "nobody")),
    "derby": ("derby", ("sa", "admin")),
    "h2": ("h2", ("ADMIN", "PUBLIC")),
    "hsqldb": ("hsqldb", ("PUBLIC", "ADMIN")),
    "sqlite-flightsql": ("flight-sql-jdbc", ("root", "admin")),
    "ibmi-stand-in": ("jt400", ("QSECOFR", "QUSER")),
    "duckdb": ("duckdb-quack", ()),  # a token, and no users
}
# The ping server has nothing to log in to: it sends back the bytes that it gets. Servers of a URL are not ours.
NO_LOGIN = {"null"}
NO_DRIVER = {"file"}  # netcat: below
BY_URL = {"oracle", "ibmi", "jdbc", "odbc"}
WRONG = ("", "wrong", "password", None)  # None: no password at all
SLOW = {"h2"}  # each refusal takes longer
TIMEOUT_S = 60.0
pytestmark = pytest.mark.skipif(bool(jvm.compiler_problem()), reason=str(jvm.compiler_problem()))


def test_no_engine_that_listens_is_left_out() -> None:
    listening = {name for name, engine in ENGINES.items() if "server" in engine.deployments}
    assert listening - NO_LOGIN - NO_DRIVER - BY_URL == set(SERVERS)


@contextlib.contextmanager
def started(name: str, folder: Path, version: str) -> Iterator[Instance]:
    engine = ENGINES[name]
    here = engine.availability_of(version, "") if isinstance(engine, Versioned) else engine.availability()
    if not here.ok:
        pytest.skip(here.reason)
    instance = engine.instance("server", engine.durabilities[0], place(folder, version=version))
    try:
        instance.start()
        yield instance
    finally:
        instance.stop()


@contextlib.contextmanager
def trying(driver: str, way: dict[str, str]) -> Iterator[tuple[Runner, AccessPath]]:
    """A runner of that driver, not connected."""
    path = path_of(driver, deployment="server", **way) if driver in ADAPTERS else AccessPath.of({"driver": driver})
    adapter = ADAPTERS.get(driver) or manifest.adapter_of("python", driver)
    version = adapter.versions[0]
    manifest.build([(adapter, version)], paths=[path])
    runner = Runner.start(manifest.command(adapter, version, path), tuple(cpus.usable()))
    try:
        runner.hello(driver)
        yield runner, path
    finally:
        runner.stop()


def let_in(runner: Runner, options: dict[str, Any]) -> bool:
    try:
        runner.request(Open, TIMEOUT_S, options=options, expect=OpenReply)
    except RunnerFailure as failure:
        assert failure.kind != "internal", failure
        return False
    runner.request(Close, TIMEOUT_S, expect=CloseReply)
    return True


VERSIONS = [(name, "", driver) for name, (driver, _others) in SERVERS.items()] + [
    (name, version, SERVERS[name][0])
    for name in ("postgresql", "mariadb", "mysql")
    for version in (ENGINES[name].tls_version(),)  # type: ignore[attr-defined]
]
RECORDS = ("ibmi-stand-in", "", "jt400-records")  # by the sign-on server, then over DDM


@pytest.mark.parametrize(("name", "version", "driver"), [*VERSIONS, RECORDS])
def test_only_the_run_s_secret_opens_it(name: str, version: str, driver: str, tmp_path: Path) -> None:
    others = SERVERS[name][1]
    transports = ADAPTERS[driver].coordinates.get("transport", ()) if driver in ADAPTERS else ()
    with started(name, tmp_path, version) as instance:
        assert isinstance(instance, PrivateServer)
        assert ("unix" in transports) == instance.has_socket
        instance.load({})  # what has no database yet gets one: a refusal must come from the login
        for way in [{"transport": transport} for transport in transports] or [{}]:
            with trying(driver, way) as (runner, path):
                right = path.as_dict() | {"engine": name} | instance.options(path)
                for user in (right["user"], *others):
                    for password in WRONG[:2] if name in SLOW else WRONG:
                        wrong = right | {"user": user, "password": password}
                        if password is None:
                            del wrong["password"]
                        assert not let_in(runner, wrong), (way, user, password)
                    if user != right["user"]:
                        assert not let_in(runner, right | {"user": user}), (way, user)
                assert let_in(runner, right), way


def test_netcat_sends_nothing_without_the_secret(tmp_path: Path) -> None:
    with started("file", tmp_path, "") as instance:
        options = instance.options(AccessPath.of({}))
        (next(tmp_path.rglob("file")) / "t.tbl").write_text("1|2\n")
        for line in (*WRONG[:3], "", options["password"]):
            with socket.create_connection(("127.0.0.1", options["port"]), TIMEOUT_S) as client:
                client.sendall(f"{line}\nt\n../file/t\n".encode())
                took = b""
                with contextlib.suppress(ConnectionResetError):  # it reads no more of who may not ask
                    while piece := client.recv(4096):
                        took += piece
                assert took == (b"\n\4" + bytes(7) + b"1|2\n" if line == options["password"] else b""), line


def test_the_stand_in_answers_nothing_before_a_login(tmp_path: Path) -> None:
    """Nobody who leaves the login out gets further, nor whose proof is for no seeds."""
    with started("ibmi-stand-in", tmp_path, "") as instance:
        options = instance.options(path_of("jt400"))
        with socket.create_connection(("127.0.0.1", options["port"]), TIMEOUT_S) as client:
            attributes = bytearray(40)
            attributes[0:4] = (40).to_bytes(4, "big")
            attributes[6:8], attributes[18:20] = b"\xe0\x04", b"\x1f\x80"
            attributes[20] = 0x80  # a reply is wanted
            start = bytearray(22 + 6 + 20)
            start[0:4] = len(start).to_bytes(4, "big")
            start[18:20], start[22:26], start[26:28] = b"\x70\x02", (26).to_bytes(4, "big"), b"\x11\x05"
            client.sendall(attributes + start)
            reply = client.recv(4096)  # of the second request only
            assert (reply[18:20], reply[20:24]) == (b"\xf0\x02", b"\x00\x03\x00\x0b")


def test_the_stand_in_opens_no_file_before_a_login(tmp_path: Path) -> None:
    """DDM has a login of its own: nobody gets round it by leaving the sign-on server out."""
    with started("ibmi-stand-in", tmp_path, "") as instance:
        options = instance.options(path_of("jt400"))
        for password, right in (("wrong", False), (options["password"], True)):
            with ddm.connected(options["port"]) as client:
                assert not client.asked(ddm.S38OPEN)
                assert client.logs_in(options["user"], password) == right
                assert bool(client.asked(ddm.S38OPEN)) == right


def test_records_are_only_read_and_a_refusal_is_named(tmp_path: Path) -> None:
    with started("ibmi-stand-in", tmp_path, "") as instance:
        options = instance.options(path_of("jt400"))
        with ddm.connected(options["port"]) as client:
            assert client.logs_in(options["user"], options["password"])
            for point, name in ((0xD013, "S38PUTM"), (0xD019, "S38UPDAT"), (0xD0FE, "D0FE")):
                assert f"knows no DDM request {name}" in client.message(client.asked(point))
