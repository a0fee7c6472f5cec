"""A probed file is not changed: copied with everything that belongs to it, or opened where it cannot be written to."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rowpath import text
from rowpath.engines import ENGINES
from rowpath.errors import EnvironmentMissing, UsageError
from rowpath.model.path import AccessPath
from rowpath.model.workload import ColumnSpec
from rowpath.own_database import instances
from rowpath.own_database.access import Access, open_access
from rowpath.own_database.instances import files_of
from rowpath.own_database.question import ProbeOptions
from rowpath.own_database.session import Session
from rowpath.own_database.target import read_target
from rowpath.runners import protocol as p
from rowpath.runners.manifest import load_manifest, toolchain
from rowpath.runners.process import Runner

DRIVERS = {"duckdb": ("python", "duckdb"), "derby": ("java", "derby"), "h2": ("java", "h2")}
KEEP_OPEN = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
for statement in sys.argv[2:]:
    connection.execute(statement).fetchall()
print("ready", flush=True)
sys.stdin.read()
"""


def tree(folder: Path) -> dict[str, tuple[str, int]]:
    """Every file under a folder with checksum and time of change."""
    return {
        str(file.relative_to(folder)): (hashlib.sha256(file.read_bytes()).hexdigest(), file.stat().st_mtime_ns)
        for file in sorted(folder.rglob("*"))
        if file.is_file()
    }


def probe(url: str, work: Path, options: ProbeOptions | None = None) -> Access:
    return open_access(read_target(url, {}), options or ProbeOptions(""), work)


def rows(access: Access, sql: str = "SELECT a FROM t", column: str = "a") -> int:
    """How many rows the query delivers through the path that a probe would take."""
    with access.connected() as runner:
        phase = p.PhaseSpec("q", "query", sql, columns=[ColumnSpec(column, "integer", nullable=True)])
        runner.request(p.Prepare, 60, phase=phase, parameters=None, expect=p.PrepareReply)
        return runner.request(p.Verify, 60, phase="q", first=0, count=1, max_rows=10, expect=p.VerifyReply).rows


@contextlib.contextmanager
def opened(engine: str, place: str) -> Iterator[Runner]:
    """Another program that has the database open, and is killed at the end."""
    tongue, driver = DRIVERS[engine]
    adapter = next(each for each in load_manifest(tongue).adapter if each.driver == driver)
    module: Any = toolchain(tongue)
    module.build([(adapter, adapter.versions[0])])
    coordinates = {"engine": engine, "deployment": "embedded", "durability": "full", "driver": driver}
    runner = Runner.start(module.command(adapter, adapter.versions[0], AccessPath.of(coordinates)), ())
    try:
        runner.hello(driver)
        options = coordinates | {"path": place, "statement": "bound", "threads": "1"}
        runner.request(p.Open, 60, options=options, expect=p.OpenReply)
        yield runner
    finally:
        runner.kill()
        runner.stop()


def run(runner: Runner, *statements: str) -> None:
    runner.request(p.RunStatements, 60, statements=list(statements), expect=p.RunReply)


def made_sqlite(file: Path, journal: str = "DELETE") -> Path:
    with contextlib.closing(sqlite3.connect(file)) as connection:
        connection.execute(f"PRAGMA journal_mode = {journal}")
        connection.execute("CREATE TABLE t (a INTEGER)")
        connection.execute("INSERT INTO t VALUES (1), (2)")
        connection.commit()
    return file


@contextlib.contextmanager
def kept_open(file: Path, *statements: str) -> Iterator[subprocess.Popen[bytes]]:
    """Another process with the SQLite database open, after these statements."""
    command = [sys.executable, "-c", KEEP_OPEN, str(file), *statements]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == b"ready\n"
            yield process
        finally:
            process.kill()


@pytest.fixture(name="home")
def home_fixture(tmp_path: Path) -> Path:
    folder = tmp_path / "the user's é"
    folder.mkdir()
    return folder


def test_rows_that_stand_in_sqlite_s_log_alone_are_in_the_copy(home: Path, tmp_path: Path) -> None:
    file = made_sqlite(home / "db.sqlite", "WAL")
    statements = ("PRAGMA wal_autocheckpoint = 0", "INSERT INTO t VALUES (3)")
    with kept_open(file, *statements):
        before = tree(home)
        assert {"db.sqlite", "db.sqlite-wal", "db.sqlite-shm"} == before.keys()
        with probe(f"sqlite://{file}", tmp_path / "work") as access:
            assert rows(access) == 3
            assert "copied" in access.notes[0]
            assert text.size(sum((home / name).stat().st_size for name in before)) in access.notes[0]
        assert tree(home) == before
    assert not (tmp_path / "work" / "probed").exists()


@pytest.mark.parametrize("journal", ["DELETE", "WAL"])
def test_a_database_that_somebody_writes_to_is_an_error(journal: str, home: Path, tmp_path: Path) -> None:
    file = made_sqlite(home / "db.sqlite", journal)
    with kept_open(file, "BEGIN IMMEDIATE", "INSERT INTO t VALUES (3)") as process:
        before = tree(home)
        with pytest.raises(UsageError, match=f"locked by process {process.pid}"):
            probe(f"sqlite://{file}", tmp_path / "work")
        assert tree(home) == before
        assert process.poll() is None
    with kept_open(file, "SELECT * FROM t"), probe(f"sqlite://{file}", tmp_path / "work") as access:
        assert rows(access) == 2


def test_a_database_that_changes_while_it_is_copied_is_an_error(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = made_sqlite(home / "db.sqlite")
    usual = shutil.copyfile

    def slowly(source: Path, to: Path) -> None:
        usual(source, to)
        os.utime(file, ns=(0, 0))

    monkeypatch.setattr("shutil.copyfile", slowly)
    with pytest.raises(UsageError, match="changed while"):
        instances.copy_files(files_of("sqlite", file), tmp_path / "copy")


def test_more_than_a_gigabyte_is_asked_about_and_a_full_disk_said(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = made_sqlite(home / "db.sqlite")
    monkeypatch.setattr(instances, "CONFIRMED_FROM_BYTES", 1000)
    asked: list[str] = []

    def ask(question: str) -> bool:
        asked.append(question)
        return False

    target = read_target(f"sqlite://{file}", {})
    with pytest.raises(UsageError, match="must be copied"):
        open_access(target, ProbeOptions(""), tmp_path / "a", ask)
    assert "8.00 KiB" in asked[0]
    with open_access(target, ProbeOptions(""), tmp_path / "b", lambda _question: True) as access:
        assert rows(access) == 2
    with open_access(target, ProbeOptions("", yes=True), tmp_path / "c", ask) as access:
        assert rows(access) == 2
    assert len(asked) == 1
    usage = type(shutil.disk_usage(home))
    monkeypatch.setattr("shutil.disk_usage", lambda _place: usage(1, 1, 0))
    with pytest.raises(EnvironmentMissing, match=r"takes 8\.00 KiB"):
        open_access(target, ProbeOptions("", yes=True), tmp_path / "d", ask)


def test_sqlite_in_place_is_truly_read_only(home: Path, tmp_path: Path) -> None:
    file = made_sqlite(home / "db.sqlite")
    before = tree(home)
    with probe(f"sqlite://{file}", tmp_path / "work", ProbeOptions("", in_place=True)) as access:
        assert rows(access) == 2
        assert access.instance.options(AccessPath.of({})) == {"path": str(file), "read_only": "yes"}
        access.session = Session()
        with pytest.raises(UsageError, match="readonly"), access.connected() as runner:
            run(runner, "INSERT INTO t VALUES (3)")
    assert tree(home) == before


def test_in_place_is_refused_where_opening_could_write(home: Path, tmp_path: Path) -> None:
    in_place = ProbeOptions("", in_place=True)
    file = made_sqlite(home / "wal.sqlite", "WAL")
    journal = made_sqlite(home / "journal.sqlite")
    journal.with_name("journal.sqlite-journal").write_bytes(b"unfinished")
    before = tree(home)
    for place, why in ((file, "write-ahead log"), (journal, "not in the main file yet")):
        with pytest.raises(UsageError, match=why):
            probe(f"sqlite://{place}", tmp_path / "work", in_place)
    assert tree(home) == before


def test_duckdb_is_copied_with_its_log_and_opened_in_place_without_one(home: Path, tmp_path: Path) -> None:
    file = home / "db.duckdb"
    with opened("duckdb", str(file)) as runner:
        run(runner, "CREATE TABLE t (a INTEGER)", "INSERT INTO t VALUES (1)", "CHECKPOINT", "INSERT INTO t VALUES (2)")
        before = tree(home)
        with pytest.raises(UsageError, match=f"locked by process {runner.pid}"):
            probe(f"duckdb://{file}", tmp_path / "work")
        assert tree(home) == before
    assert before.keys() == {"db.duckdb", "db.duckdb.wal"}
    with probe(f"duckdb://{file}", tmp_path / "work") as access:
        assert rows(access) == 2
        with access.connected(), access.connected():  # two at once
            assert rows(access) == 2
    with pytest.raises(UsageError, match=r"db\.duckdb\.wal is not in the main file"):
        probe(f"duckdb://{file}", tmp_path / "work", ProbeOptions("", in_place=True))
    assert tree(home) == before
    with opened("duckdb", str(file)) as runner:
        run(runner, "CHECKPOINT")
    before = tree(home)
    with probe(f"duckdb://{file}", tmp_path / "work", ProbeOptions("", in_place=True)) as access:
        assert rows(access) == 2
        with pytest.raises(UsageError, match="read-only"), access.connected() as runner:
            run(runner, "INSERT INTO t VALUES (3)")
    assert tree(home) == before


@pytest.mark.parametrize("engine", ["derby", "h2"])
def test_derby_and_h2_are_copied_and_never_opened_in_place(engine: str, home: Path, tmp_path: Path) -> None:
    assert ENGINES[engine].availability().ok
    place = home / "db"
    with opened(engine, str(place)) as runner:
        run(runner, "CREATE TABLE t (a INTEGER)", "INSERT INTO t VALUES (1), (2)")
        run(runner, *(["CHECKPOINT SYNC"] if engine == "h2" else []))  # its commits wait in memory
        os.kill(runner.pid, signal.SIGSTOP)  # an engine tidies its files up in the background
        before = tree(home)
        with pytest.raises(UsageError, match=f"locked by process {runner.pid}"):
            probe(f"{engine}://{place}", tmp_path / "work")
        assert tree(home) == before
    before = tree(home)  # nobody closed it: what was committed may stand in its log alone
    with pytest.raises(UsageError, match=r"cannot open .* in place"):
        probe(f"{engine}://{place}", tmp_path / "work", ProbeOptions("", in_place=True))
    with probe(f"{engine}://{place}", tmp_path / "work") as access:
        assert rows(access, column="A") == 2
        first, second = (AccessPath.of({"driver": name}) for name in ("one", "two"))
        one = access.instance.options(first)["path"]
        with opened(engine, one):
            other = access.instance.options(second)["path"]
            assert len({one, other, str(place)}) == 3
            with opened(engine, other):
                assert tree(home) == before
        assert access.instance.options(second)["path"] == one
    assert not (tmp_path / "work" / "probed").exists()
    assert tree(home) == before


def test_a_single_file_is_read_where_it_is(home: Path, tmp_path: Path) -> None:
    file = home / "t.csv"
    file.write_text("1,x\n2,y\n", encoding="utf-8")
    before = tree(home)
    with probe(f"file://{file}", tmp_path / "work") as access:
        options = access.instance.options(AccessPath.of({}))
        assert options["delimiter"] == ","
        assert (Path(options["path"]) / f"{access.table}.tbl").resolve() == file
        assert next(column.type for column in access.describe(access.table)) == "integer"
    assert tree(home) == before


def test_a_file_that_is_no_database_is_said_so(home: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"service\.properties"):
        probe(f"derby://{home}", tmp_path / "work")
    (home / "no.sqlite").write_bytes(b"x" * 5000)
    with pytest.raises((UsageError, EnvironmentMissing), match="not a database"):
        probe(f"sqlite://{home}/no.sqlite", tmp_path / "work")
    assert not (tmp_path / "work" / "probed").exists()
