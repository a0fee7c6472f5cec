"""The poolers that stand before a server: private, closed to who has no secret, and gone on every way out."""

from __future__ import annotations

import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rowpath.engines import ENGINES
from rowpath.engines.base import Instance
from rowpath.machine import certificates, processes
from rowpath.model.path import AccessPath
from rowpath.poolers import POOLERS
from rowpath.poolers.pooler import Pooler
from tests.engines.life import place, reaching
from tests.engines.test_logins import WRONG, let_in, trying
from tests.waiting import alive, until

WAYS = [(engine, name, mode) for name, kind in POOLERS.items() for engine in kind.engines for mode in kind.modes]
FIRST = [(engine, name, kind.modes[0]) for name, kind in POOLERS.items() for engine in kind.engines]
DRIVERS = {"postgresql": "pgjdbc", "mariadb": "mariadb-java-client"}
CLIENTS = 2


@pytest.fixture(name="server", scope="module")
def server_fixture(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    engine: Any = ENGINES[request.param]
    there = engine.availability()
    if not there.ok:
        pytest.skip(there.reason)
    folder = tmp_path_factory.mktemp("behind")
    for parent in reaching(folder):
        parent.chmod(parent.stat().st_mode | 0o055)
    instance = engine.instance("server", "none", place(folder))
    try:
        instance.start()
        instance.load({})
        yield request.param, instance
    finally:
        instance.stop()


def made(behind: Instance, engine: str, name: str, mode: str, folder: Path, tls: str = "off") -> Pooler:
    kind = POOLERS[name]
    if not (there := kind.availability(encrypted=tls == "on")).ok:
        pytest.skip(there.reason)
    for parent in reaching(folder):
        parent.chmod(parent.stat().st_mode | 0o055)
    words = {"engine": engine, "transport": "tcp", "tls": tls, "pooler": name, "pooler_mode": mode}
    return kind(behind, AccessPath.of(words), place(folder), CLIENTS)


@pytest.mark.parametrize(("server", "name", "mode"), WAYS, indirect=["server"])
def test_only_the_run_s_secret_opens_it(server: Any, name: str, mode: str, tmp_path: Path) -> None:
    engine = server[0]
    pooler = made(server[1], engine, name, mode, tmp_path)
    pooler.start()
    pids = pooler.pids()
    try:
        with trying(DRIVERS[engine], {"transport": "tcp"}) as (runner, path):
            right = path.as_dict() | {"engine": engine} | server[1].options(path) | pooler.options(path)
            assert right["port"] != server[1].options(path)["port"]
            for user in (right["user"], "postgres", "root", "pgbouncer"):
                for password in WRONG:
                    wrong = right | {"user": user, "password": password}
                    if password is None:
                        del wrong["password"]
                    assert not let_in(runner, wrong), (user, password)
            assert not let_in(runner, right | {"user": "pgbouncer"})
            assert let_in(runner, right)
        files = [file for file in (tmp_path / "data").iterdir() if file.is_file()]
        secrets = pooler.secrets()
        for file in files:
            if any(secret in file.read_text(errors="replace") for secret in secrets):
                assert stat.S_IMODE(file.stat().st_mode) == 0o600, file
        pids += pooler.pids()  # pgpool starts another process after each refused login
        for pid in pooler.pids():
            command = processes.shown(f"{pid}/cmdline") + processes.shown(f"{pid}/environ")
            assert not any(secret.encode() in command for secret in secrets)
    finally:
        pooler.stop()
    until(lambda: not any(map(alive, pids)), "the end of every process")


@pytest.mark.parametrize(("server", "name", "mode"), FIRST, indirect=["server"])
def test_it_listens_only_on_loopback(server: Any, name: str, mode: str, tmp_path: Path) -> None:
    pooler = made(server[1], server[0], name, mode, tmp_path)
    pooler.start()
    try:
        inodes = set()
        for pid in pooler.pids():
            for descriptor in Path(f"/proc/{pid}/fd").iterdir():
                inodes.add(str(descriptor.readlink()))
        listening = []
        for table in ("tcp", "tcp6"):
            for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
                fields = line.split()
                if fields[3] == "0A" and f"socket:[{fields[9]}]" in inodes:
                    listening.append(fields[1].partition(":")[0])
        assert listening and set(listening) == {"0100007F"}
    finally:
        pooler.stop()


def test_a_program_of_one_s_own_is_used(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program = tmp_path / "mine"
    program.write_text("#!/bin/sh\necho PgBouncer 1.99.7\n")
    program.chmod(0o755)
    monkeypatch.setenv("ROWPATH_PGBOUNCER", str(program))
    assert POOLERS["pgbouncer"].version_here() == f"1.99.7 ({program})"
    monkeypatch.setenv("ROWPATH_PGBOUNCER", str(tmp_path / "gone"))
    there = POOLERS["pgbouncer"].availability()
    assert not there.ok and "gone" in there.reason and there.remedy == "unset ROWPATH_PGBOUNCER"


def test_encryption_needs_the_program_that_makes_certificates(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(certificates, "problem", lambda: "openssl is missing")
    monkeypatch.setattr(POOLERS["haproxy"], "program", classmethod(lambda _cls: Path("/bin/true")))
    assert POOLERS["haproxy"].availability().ok
    assert not POOLERS["haproxy"].availability(encrypted=True).ok
