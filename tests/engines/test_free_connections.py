"""Free connections of real servers with small limits, and other sessions that are active."""

from __future__ import annotations

import contextlib
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rowpath.engines import ENGINES
from rowpath.engines.base import Place
from rowpath.errors import RowpathError, UsageError
from rowpath.machine import cpus
from rowpath.model.path import AccessPath
from rowpath.own_database.access import open_access
from rowpath.own_database.free_connections import FreeConnections, Limit, allowed, free_connections
from rowpath.own_database.question import ProbeOptions
from rowpath.own_database.target import Target, read_target
from tests.engines.insides import ask, rows_of

PASSWORD = "limited-1"


@contextlib.contextmanager
def started(engine: str) -> Iterator[Any]:
    directory = Path(tempfile.mkdtemp(prefix="rowpath-"))
    directory.chmod(0o711)
    place = Place(directory / "d", directory / "s", cpus.server_cpus())
    instance: Any = ENGINES[engine].instance("server", "none", place)
    try:
        instance.start()
        yield instance
    finally:
        instance.stop()
        shutil.rmtree(directory, ignore_errors=True)


@pytest.fixture(name="postgresql", scope="module")
def postgresql_fixture() -> Iterator[Any]:
    with started("postgresql") as instance:
        ask(instance, f"CREATE ROLE limited LOGIN PASSWORD '{PASSWORD}' CONNECTION LIMIT 9")
        yield instance


@pytest.fixture(name="mariadb", scope="module")
def mariadb_fixture() -> Iterator[Any]:
    if not (state := ENGINES["mariadb"].private()).ok:  # type: ignore[attr-defined]
        pytest.skip(state.reason)
    with started("mariadb") as instance:
        for statement in (
            f"CREATE USER 'limited'@'%' IDENTIFIED BY '{PASSWORD}' WITH MAX_USER_CONNECTIONS 7;",
            "GRANT SELECT ON *.* TO 'limited'@'%';",
        ):
            rows_of(instance, statement)
        yield instance


def target_of(instance: Any, scheme: str, user: str = "", password: str = "") -> Target:
    options = instance.options(AccessPath.of({"transport": "tcp"}))
    login = f"{user or options['user']}:{password or options['password']}"
    return read_target(f"{scheme}://{login}@127.0.0.1:{options['port']}/{options['database']}", {})


def found(target: Target, folder: Path) -> FreeConnections:
    with open_access(target, ProbeOptions("", budget_s=20.0), folder) as access:
        return free_connections(access, folder / "limits.kept")


def by_name(limits: tuple[Limit, ...], word: str) -> Limit:
    (limit,) = (limit for limit in limits if word in limit.name)
    return limit


def test_postgresql_limits_of_server_role_and_database(postgresql: Any, tmp_path: Path) -> None:
    target = target_of(postgresql, "postgresql")
    most = int(ask(postgresql, "SHOW max_connections"))
    reserve = sum(int(ask(postgresql, f"SHOW {name}_connections")) for name in ("superuser_reserved", "reserved"))
    free = found(target, tmp_path)
    whole = by_name(free.limits, "max_connections")
    assert (whole.limit, whole.reserve, free.tightest) == (most, reserve, whole)
    limited = replace(target, user="limited", password=PASSWORD)
    role = found(limited, tmp_path).tightest
    assert (role.name, role.limit, role.in_use) == ("CONNECTION LIMIT of role limited", 9, 0)
    ask(postgresql, f"ALTER DATABASE {target.database} CONNECTION LIMIT 6")
    try:
        with found_while_connected(limited, tmp_path, 2) as busy:
            assert (busy.tightest.name, busy.tightest.limit) == (f"CONNECTION LIMIT of database {target.database}", 6)
            assert (busy.tightest.in_use, by_name(busy.limits, "role").in_use, busy.most) == (2, 2, 2)
    finally:
        ask(postgresql, f"ALTER DATABASE {target.database} CONNECTION LIMIT -1")


@contextlib.contextmanager
def found_while_connected(target: Target, folder: Path, sessions: int) -> Iterator[FreeConnections]:
    """What is free while that many other sessions of the same login are open, each of which has done something."""
    with contextlib.ExitStack() as stack:
        others = stack.enter_context(open_access(target, ProbeOptions("", budget_s=20.0), folder / "others"))
        for _ in range(sessions):
            stack.enter_context(others.connected())
        yield found(target, folder)


def test_other_sessions_need_agreement(postgresql: Any, tmp_path: Path) -> None:
    target = target_of(postgresql, "postgresql", "limited", PASSWORD)
    quiet = found(target, tmp_path)
    assert quiet.others == 0
    assert allowed(quiet, 50, 51, agreed=False) == 3  # half of 9 is 4, and one watches
    assert allowed(quiet, 2, 51, agreed=False) == 2
    assert allowed(quiet, 50, 2, agreed=False) == 1
    with found_while_connected(target, tmp_path, 2) as busy:
        assert busy.others == 2
        with pytest.raises(UsageError, match="2 other sessions were active") as refused:
            allowed(busy, 50, 50, agreed=False)
        assert "--yes" in refused.value.hint
        assert allowed(busy, 50, 51, agreed=True) == 2
    ask(postgresql, "ALTER ROLE limited CONNECTION LIMIT 2")
    try:
        with pytest.raises(UsageError, match="too few connections"):
            allowed(found(target, tmp_path), 50, 50, agreed=True)
    finally:
        ask(postgresql, "ALTER ROLE limited CONNECTION LIMIT 9")


def test_mariadb_limits_of_server_and_user(mariadb: Any, tmp_path: Path) -> None:
    whole = found(target_of(mariadb, "mariadb"), tmp_path)
    (row,) = rows_of(mariadb, "SELECT @@GLOBAL.max_connections;")
    assert by_name(whole.limits, "max_connections").limit == int(row[0])
    target = target_of(mariadb, "mariadb", "limited", PASSWORD)
    with found_while_connected(target, tmp_path, 2) as busy:
        user = busy.tightest
        assert (user.name, user.limit, user.in_use) == ("max_user_connections of limited@%", 7, 2)
        assert busy.others >= 2


def test_a_server_without_known_limits_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "own.db"
    sqlite3.connect(file).execute("CREATE TABLE t (a INTEGER)")
    with pytest.raises(RowpathError, match=r"how many connections .* is not known") as refused:
        found(read_target(str(file), {}), tmp_path)
    assert refused.value.hint == "connections are sized on servers of mariadb, mysql, postgresql"
