"""The runners that are spoken to line by line: protocol and loop, what they say of bad requests."""

from __future__ import annotations

import os
import signal
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from rowpath.model.workload import Column
from rowpath.runners import manifest
from rowpath.runners.protocol import SampleReply
from rowpath.workloads import codec
from tests.runners.protocol.talk import NOTHING, K, LineTalk, Start, V, adapter, on_sqlite, sqlite_file, talks
from tests.waiting import PATIENCE_S, at_work


class Words(NamedTuple):
    """What a language calls the same things."""

    delivered: list[str]  # of an integer and a text
    constraint: str  # the code of an error of SQLite
    too_wide: str  # 40000 in 16 bits
    no_decimal: str  # 'x' as a decimal
    early: tuple[str, ...]  # kinds of errors that preparing tells, not the first execution
    units: int = 1  # in which `é` is counted
    misfit: str = "verify"  # kind of a text that is no date; C# cannot tell it from a date that it has no value for


WORDS = {
    "csharp": Words(["Int32", "String"], "Constraint", "column k", "column d", ("unsupported",), misfit="unsupported"),
    "go": Words(
        ["int64", "string"],
        "19",
        "40000 in an integer of 16 bits",
        "no decimal: 'x'",
        ("unsupported", "sql"),
        units=2,
    ),
    "java": Words(["int", "String"], "19", "40000 in an integer of 16 bits", "Character x", ("unsupported", "sql")),
    "node": Words(
        ["number", "string"],
        "SQLITE_CONSTRAINT_PRIMARYKEY",
        "40000 (number) is no integer",
        '"x" (string) is no decimal',
        ("unsupported", "sql"),
    ),
    "rust": Words(
        ["i64", "&str"],
        "19",
        "40000 in an integer of 16 bits",
        "no decimal: 'x'",
        ("unsupported", "sql"),
        units=2,
    ),
}
DRIVERS = {
    "mono-data-sqlite": "csharp",
    "ado-libsqliteodbc": "csharp",
    "mattn-sqlite3": "go",
    "modernc-sqlite": "go",
    "ncruces-sqlite": "go",
    "sqlite-jdbc": "java",
    "better-sqlite3": "node",
    "node-sqlite": "node",
    "rusqlite": "rust",
}
CONSTRAINT = {"node-sqlite": "1555"}  # where a driver's code is not its language's
every_language = pytest.mark.parametrize(
    ("language", "driver"), [*((language, "null") for language in WORDS), ("node", "null-promise")]
)
every_driver = pytest.mark.parametrize(("language", "driver"), [(DRIVERS[driver], driver) for driver in DRIVERS])
main_driver = pytest.mark.parametrize(
    ("language", "driver"),
    [(DRIVERS[driver], driver) for driver in DRIVERS if driver != "ado-libsqliteodbc"],
)


@pytest.fixture
def start(language: str, driver: str) -> Iterator[Start]:
    found = adapter(language, driver)
    there = manifest.availability(found, found.versions[0])
    if not there.ok:
        pytest.skip(there.reason)
    yield from talks(language)


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return sqlite_file(tmp_path)


def parameters(file: Path, rows: list[tuple[Any, ...]], *columns: Column) -> dict[str, Any]:
    codec.write_rows(file, rows, columns or [Column("k", "integer")])
    return {"file": str(file), "first": 1, "count": len(rows) - 1}


def insert_keys(**changed: Any) -> dict[str, Any]:
    phase = {"name": "x", "kind": "execute", "sql": "INSERT INTO t (k) VALUES (?)", "parameter_columns": [K]}
    return phase | changed


def keys(database: Path) -> list[int]:
    with sqlite3.connect(database) as connection:
        found = [key for (key,) in connection.execute("SELECT k FROM t ORDER BY k")]
    connection.close()
    return found


def left_behind(talk: LineTalk) -> bool:
    """Mono's shared memory."""
    return Path(f"/dev/shm/mono.{talk.process.pid}").exists()


@every_language
def test_handshake(start: Start, language: str, driver: str) -> None:
    talk = start(driver)
    reply = talk.hello()
    assert (reply["protocol"], reply["codec"], reply["language"]) == ([3, 0], 2, language)
    assert reply["pid"] == talk.process.pid
    if language == "go":
        assert reply["loop_tid"] == 0
    else:
        assert Path(f"/proc/{reply['pid']}/task/{reply['loop_tid']}").is_dir()
        assert (reply["loop_tid"] == reply["pid"]) == (language in ("node", "rust"))  # the others need more stack
    assert 5 < reply["clock_read_ns"] < 2000
    assert talk.hello(protocol=[2, 1])["error"]["kind"] == "unsupported"
    assert talk.hello(codec=1)["error"]["kind"] == "unsupported"
    assert "magic" in talk.hello(requires=["magic"])["error"]["text"]
    assert talk.hello(adapter="sqlite")["error"]["kind"] == "unsupported"
    assert talk.ask("dance")["error"]["kind"] == "unsupported"
    assert talk.ask("close")["error"]["kind"] == "internal"
    assert "id" in talk.ask("bye")
    assert talk.process.wait(PATIENCE_S) == 0
    assert not left_behind(talk)


@every_language
def test_noise_does_not_reach_the_replies(start: Start, driver: str) -> None:
    talk = start(driver)
    assert talk.process.stdin is not None
    assert talk.process.stdout is not None
    talk.process.stdin.write(b"this is no request\n\xff{\n")
    assert "error" not in talk.hello()
    descriptors = Path(f"/proc/{talk.process.pid}/fd")
    replies = Path(f"/proc/self/fd/{talk.process.stdout.fileno()}").readlink()
    assert (descriptors / "1").readlink() == (descriptors / "2").readlink() != replies
    talk.process.kill()
    assert talk.process.stderr is not None
    err = talk.process.stderr.read()
    assert err.count(b"not a request") == 2
    assert b"JAVA_TOOL_OPTIONS" not in err


@every_language
def test_samples_of_nothing(start: Start, language: str, driver: str) -> None:
    talk = start(driver, {})
    assert talk.ask("prepare", phase=NOTHING, parameters=None)["parameters"] == 0
    first = talk.sample("null.nothing", operations=1000)
    second = talk.sample("null.nothing", duration_ns=10_000_000, lead_in_ns=1_000_000)
    assert (first["operations"], first["failed"], first["failure"], first["first"]) == (1000, 0, None, 0)
    assert (first["rows"], first["values"], first["touch"]) == (0, 0, "0" * 16)
    assert second["first"] == 1000 + second["lead_in_operations"] > 1000
    assert 10_000_000 <= second["ns"] <= second["window_ns"]
    assert second["min_ns"] <= second["ns"] / second["operations"] <= second["max_ns"]
    cores = (os.cpu_count() or 1) if language == "go" else 1  # its CPU clock is the whole process's
    assert 0 < second["cpu_ns"] <= second["window_cpu_ns"] <= second["window_ns"] * cores * 1.02
    assert second["collections"] == 0 or language == "node"  # V8 keeps each time read on the heap
    assert talk.sample("null.nothing", operations=1, first=7)["first"] == 7
    assert set(SampleReply.__struct_fields__) - set(first) <= {"error", "clients", "bytes", "borrow_ns", "return_ns"}


@every_language
def test_end_of_stdin_stops_a_sample(start: Start, driver: str) -> None:
    talk = start(driver, {})
    talk.ask("prepare", phase=NOTHING, parameters=None)
    talk.send("sample", phase="null.nothing", regime="steady", lead_in_ns=0, duration_ns=60_000_000_000, first=-1)
    at_work(talk.process.pid)
    assert talk.process.stdin is not None
    talk.process.stdin.close()
    assert talk.process.wait(PATIENCE_S / 2) == 0
    assert talk.process.stdout is not None
    assert talk.process.stdout.read() == b""


@every_language
def test_a_killed_runner_leaves_nothing(start: Start, driver: str) -> None:
    talk = start(driver, {})
    os.kill(talk.process.pid, signal.SIGKILL)
    assert talk.process.wait(PATIENCE_S) == -signal.SIGKILL
    assert not left_behind(talk)


@every_driver
@pytest.mark.parametrize("statement", ["prepared", "bound", "text"])
@pytest.mark.parametrize("transaction", ["autocommit", "transaction"])
def test_positions_wrap_and_touch(
    start: Start, database: Path, tmp_path: Path, language: str, driver: str, statement: str, transaction: str
) -> None:
    talk = start(driver, on_sqlite(database, statement=statement, durability="full"))
    phase = {
        "name": "x.read",
        "kind": "query",
        "sql": "SELECT k, v FROM t WHERE k = ? AND v <> '?'",
        "columns": [K, V],
        "parameter_columns": [K],
        "transaction": transaction,
    }
    read = parameters(tmp_path / "p", [(9,), (1,), (2,), (3,)])
    assert talk.ask("prepare", phase=phase, parameters=read)["parameters"] == 3
    sampled = talk.sample("x.read", operations=4, first=2)
    assert (sampled["rows"], sampled["values"], sampled["touch"]) == (
        4,
        8,
        f"{(1 + WORDS[language].units) * (3 + 1 + 2 + 3):016x}",
    )
    assert talk.sample("x.read", operations=1)["first"] == 6
    verified = talk.ask("verify", phase="x.read", first=0, count=3, max_rows=2)
    rows = [(1, "é"), (2, "éé")]
    assert verified["digest"] == codec.digest(rows, [Column("k", "integer"), Column("v", "text")])
    assert (verified["rows"], verified["operations"]) == (3, 3)
    assert (verified["delivered"], verified["converted"]) == (WORDS[language].delivered, [])
    assert talk.sample("x.read", operations=1)["first"] == 7
    settings = talk.ask("facts")["settings"]
    assert (settings["journal_mode"], settings["synchronous"], settings["autocommit"]) == ("wal", "2", "on")


@every_driver
@pytest.mark.parametrize("statement", ["prepared", "bound", "text"])
def test_text_beyond_ascii_goes_in_and_out(
    start: Start, database: Path, tmp_path: Path, driver: str, statement: str
) -> None:
    talk = start(driver, on_sqlite(database, statement=statement))
    phase = insert_keys(sql="INSERT INTO t (k, v) VALUES (?, ?)", parameter_columns=[K, V])
    columns = Column("k", "integer"), Column("v", "text", nullable=True)
    rows = [(0, ""), (20, "é€😀 'q'"), (21, None), (22, "")]
    talk.ask("prepare", phase=phase, parameters=parameters(tmp_path / "p", rows, *columns))
    assert talk.sample("x", operations=3)["operations"] == 3
    with sqlite3.connect(database) as connection:
        assert connection.execute("SELECT k, v FROM t WHERE k >= 20 ORDER BY k").fetchall() == rows[1:]
    connection.close()
    phase = {"name": "x", "kind": "query", "sql": "SELECT k, v FROM t WHERE k >= 20", "columns": [K, V]}
    talk.ask("prepare", phase=phase, parameters=None)
    assert talk.ask("verify", phase="x", first=0, count=1)["digest"] == codec.digest(rows[1:], columns)


@main_driver
def test_failed_operations_are_counted_apart(
    start: Start, database: Path, tmp_path: Path, language: str, driver: str
) -> None:
    talk = start(driver, on_sqlite(database))
    given = parameters(tmp_path / "p", [(0,), (11,), (3,), (12,)])
    talk.ask("prepare", phase=insert_keys(transaction="transaction"), parameters=given)
    sampled = talk.sample("x", operations=3)
    assert (sampled["operations"], sampled["failed"]) == (2, 1)
    code = CONSTRAINT.get(driver, WORDS[language].constraint)
    assert (sampled["failure"]["kind"], sampled["failure"]["code"]) == ("sql", code)
    assert "constraint" in sampled["failure"]["text"].lower()
    again = talk.sample("x", duration_ns=20_000_000_000)
    assert (again["operations"], again["failed"]) == (0, 100)
    assert keys(database) == list(range(1, 13))


@main_driver
def test_errors_have_their_kinds(start: Start, database: Path, tmp_path: Path, language: str, driver: str) -> None:
    talk = start(driver)
    talk.hello()
    nowhere = talk.ask("open", options={"path": str(tmp_path / "no" / "such"), "durability": "full"})
    assert nowhere["error"]["kind"] == "connect"
    assert "missing" in talk.ask("open", options={})["error"]["text"]
    talk.ask("open", options={"path": str(database), "durability": "none"})
    for sql, column, kind, text in (
        ("SELEC", K, "sql", "SELEC"),
        ("SELECT 1", {"name": "k", "type": "colour"}, "unsupported", "colour"),
    ):
        phase = {"name": "x", "kind": "query", "sql": sql, "columns": [column]}
        reply = talk.ask("prepare", phase=phase, parameters=None)
        assert ("error" in reply) == (kind in WORDS[language].early), (sql, reply)
        error = (reply if "error" in reply else talk.ask("verify", phase="x", first=0, count=1))["error"]
        assert (error["kind"], text.lower() in error["text"].lower()) == (kind, True), error
    assert talk.sample("y")["error"]["kind"] == "internal"
    assert talk.ask("run", statements=["SELEC", "DELETE FROM t"])["error"]["kind"] == "sql"
    assert len(talk.ask("run", statements=["SELEC", "DELETE FROM t"], ignore_errors=True)["ns"]) == 2
    assert "error" in talk.ask("prepare", phase={"name": "x", "kind": "null"}, parameters=None)


@main_driver
def test_load(start: Start, database: Path, tmp_path: Path, driver: str) -> None:
    talk = start(driver, on_sqlite(database))
    given = parameters(tmp_path / "p", [(key,) for key in range(20, 40)])
    talk.ask("prepare", phase=insert_keys(parameter_columns=[{**K, "nullable": True}]), parameters=given)
    assert talk.ask("load", phase="x", first=2, count=5)["rows"] == 5
    assert talk.ask("load", phase="x", first=0, count=5)["error"]["kind"] == "sql"
    assert [key for key in keys(database) if key > 10] == [23, 24, 25, 26, 27]
