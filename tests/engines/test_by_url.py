"""A server given by URL, from start to stop, on a real one: marked, filled, refused to a second, left empty."""

from __future__ import annotations

import os
import urllib.parse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rowpath.engines import ENGINES
from rowpath.engines.base import Instance, Place
from rowpath.engines.external_server import count_rows
from rowpath.engines.load_through_runner import connected, run
from rowpath.engines.mysql import KIND
from rowpath.errors import RowpathError, UsageError
from rowpath.model.path import AccessPath
from rowpath.workloads import workload_file
from tests.engines.life import reaching

TCP = AccessPath.of({"engine": "mysql", "engine_version": "by-url", "deployment": "server", "transport": "tcp"})
TABLES = KIND.tables


@pytest.fixture(name="place")
def place_fixture(tmp_path: Path) -> Place:
    for parent in reaching(tmp_path):
        parent.chmod(parent.stat().st_mode | 0o055)
    return Place(tmp_path, tmp_path, (max(os.sched_getaffinity(0)),), version="by-url", storage="innodb")


@pytest.fixture(name="theirs")
def theirs_fixture(place: Place, monkeypatch: pytest.MonkeyPatch) -> Iterator[Instance]:
    """A server that a user might have, with an empty database."""
    engine = ENGINES["mariadb"]
    if not engine.availability().ok:
        pytest.skip(engine.availability().reason)
    instance = engine.instance("server", "none", place)
    instance.start()
    try:
        known = instance.options(TCP)
        password = urllib.parse.quote(known["password"], safe="")
        where = f"{known['user']}:{password}@localhost:{known['port']}/{known['database']}"
        monkeypatch.setenv("ROWPATH_MYSQL_URL", f"mysql://{where}?create-tables=yes")
        yield instance
    finally:
        instance.stop()


def mine(place: Place, durability: str = "none") -> Instance:
    return ENGINES["mysql"].instance("server", durability, place)


def asked(theirs: Instance, *statements: str) -> int:
    """How many tables their database has, after some statements."""
    options: dict[str, Any] = {"engine": "mysql", "deployment": "server", "durability": "none", "statement": "bound"}
    with connected(options | {"transport": "tcp"} | theirs.options(TCP)) as runner:
        run(runner, list(statements))
        return count_rows(runner, TABLES)


def test_it_is_filled_kept_from_a_second_run_and_left_empty(theirs: Instance, place: Place) -> None:
    instance = mine(place)
    instance.start()
    assert instance.check()
    workload = workload_file.load_workload("keyed")
    filled = {name: table for name, table in workload.tables.items() if table.rows}
    instance.load(filled)
    assert asked(theirs) == len(filled) + 1
    second = mine(place)
    with pytest.raises(UsageError, match=r"is not empty \(tables: \d\).*rowpath_works_here"):
        second.start()
    second.stop()
    assert asked(theirs) == len(filled) + 1
    facts = instance.facts()
    assert "MariaDB" in facts["version"]
    assert facts["given by"] == "ROWPATH_MYSQL_URL"
    assert not any(secret in str(facts) for secret in instance.secrets())
    # What runners made is dropped with the rest.
    assert asked(theirs, "CREATE TABLE made_by_a_runner (a INTEGER)") == len(filled) + 2
    instance.stop()
    instance.stop()
    assert asked(theirs) == 0
    again = mine(place)
    again.start()
    again.stop()
    assert asked(theirs) == 0


def test_what_others_keep_there_is_never_touched(theirs: Instance, place: Place) -> None:
    asked(theirs, "CREATE TABLE hits (a INTEGER)", "INSERT INTO hits VALUES (1)")
    instance = mine(place)
    with pytest.raises(UsageError, match=r"is not empty \(tables: 1\)"):
        instance.start()
    instance.stop()
    assert asked(theirs, "UPDATE hits SET a = 2 WHERE a = 1") == 1


def test_a_promise_that_the_server_does_not_keep_is_refused(theirs: Instance, place: Place) -> None:
    instance = mine(place, "full")
    with pytest.raises(UsageError, match="innodb_flush_log_at_trx_commit is 0") as refused:
        instance.start()
    assert refused.value.hint == "durability=none"
    assert asked(theirs) == 0


def test_a_server_that_is_gone_is_told_without_its_password(
    theirs: Instance, place: Place, caplog: pytest.LogCaptureFixture
) -> None:
    instance = mine(place)
    instance.start()
    theirs.stop()
    assert not instance.check()
    instance.stop()
    assert "Rowpath's tables remain in the database rowpath of ROWPATH_MYSQL_URL" in caplog.text
    with pytest.raises(RowpathError, match="Can't connect") as gone:
        mine(place).start()
    for secret in instance.secrets():
        assert secret not in str(gone.value) + caplog.text
