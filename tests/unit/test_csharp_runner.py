"""The C# runner's protocol and loop, and what it says of bad requests, as processes."""

from __future__ import annotations

import os
import signal
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path as FilePath
from typing import Any

import msgspec
import pytest
from line_talk import NOTHING, Start, Talk, adapter, talks

from rowpath import codec
from rowpath.languages import Adapter, csharp
from rowpath.model import Column
from rowpath.protocol import SampleReply

pytestmark = pytest.mark.skipif(csharp._tools_problem() is not None, reason="no Mono")
K = {"name": "k", "type": "integer"}
V = {"name": "v", "type": "text", "nullable": True}
SQLITE = ("mono-data-sqlite", "ado-libsqliteodbc")


@pytest.fixture
def start() -> Iterator[Start]:
    yield from talks("csharp")


@pytest.fixture
def database(tmp_path: FilePath) -> FilePath:
    file = tmp_path / "a b é%20.sqlite"
    with sqlite3.connect(file) as connection:
        connection.execute("CREATE TABLE t (k INTEGER PRIMARY KEY, v TEXT, d TEXT)")
        connection.executemany("INSERT INTO t VALUES (?, ?, '2000-01-02')", [(k, "é" * k) for k in range(1, 11)])
    connection.close()
    return file


def opened(start: Start, driver: str, database: FilePath, **options: str) -> Talk:
    found = csharp.availability(adapter("csharp", driver), "system")
    if not found.ok:
        pytest.skip(found.reason)
    return start(driver, {"path": str(database), "statement": "prepared", "durability": "none"} | options)


def parameters(file: FilePath, rows: list[tuple[Any, ...]], *columns: Column) -> dict[str, Any]:
    codec.write_rows(file, rows, columns or [Column("k", "integer")])
    return {"file": str(file), "first": 1, "count": len(rows) - 1}


def test_handshake(start: Start) -> None:
    talk = start("null")
    reply = talk.hello()
    assert (reply["protocol"], reply["codec"], reply["language"]) == ([1, 1], 1, "csharp")
    assert reply["pid"] == talk.process.pid
    assert FilePath(f"/proc/{reply['pid']}/task/{reply['loop_tid']}").is_dir()
    assert reply["loop_tid"] != reply["pid"]
    assert 5 < reply["clock_read_ns"] < 2000
    assert talk.hello(protocol=[2, 0])["error"]["kind"] == "unsupported"
    assert talk.hello(codec=2)["error"]["kind"] == "unsupported"
    assert "magic" in talk.hello(requires=["magic"])["error"]["text"]
    assert talk.hello(adapter="sqlite")["error"]["kind"] == "unsupported"
    assert talk.ask("dance")["error"]["kind"] == "unsupported"
    assert talk.ask("close")["error"]["kind"] == "internal"
    assert "id" in talk.ask("bye")
    assert talk.process.wait(10) == 0
    assert not FilePath(f"/dev/shm/mono.{reply['pid']}").exists()


def test_noise_does_not_reach_the_replies(start: Start) -> None:
    talk = start("null")
    assert talk.process.stdin is not None
    talk.process.stdin.write(b"this is no request\n\xff{\n")
    assert "error" not in talk.hello()
    descriptors = FilePath(f"/proc/{talk.process.pid}/fd")
    assert (descriptors / "1").readlink() == (descriptors / "2").readlink()
    talk.process.kill()
    assert talk.process.stderr is not None
    assert talk.process.stderr.read().count(b"not a request") == 2


def test_samples_of_nothing(start: Start) -> None:
    talk = start("null", {})
    assert talk.ask("prepare", phase=NOTHING, parameters=None)["parameters"] == 0
    first = talk.sample("null.nothing", operations=1000)
    second = talk.sample("null.nothing", duration_ns=10_000_000, lead_in_ns=1_000_000)
    assert (first["operations"], first["failed"], first["failure"], first["first"]) == (1000, 0, None, 0)
    assert (first["rows"], first["values"], first["touch"]) == (0, 0, "0" * 16)
    assert second["first"] == 1000 + second["lead_in_operations"] > 1000
    assert 10_000_000 <= second["ns"] <= second["window_ns"]
    assert second["min_ns"] <= second["ns"] / second["operations"] <= second["max_ns"]
    assert 0 < second["cpu_ns"] <= second["window_cpu_ns"] <= second["window_ns"] * 1.02
    assert second["collections"] == 0
    assert talk.sample("null.nothing", operations=1, first=7)["first"] == 7
    assert set(SampleReply.__struct_fields__) - set(first) <= {"error", "clients"}


def test_burn_and_stall(start: Start) -> None:
    talk = start("null", {"burn_ns": "200000"})
    talk.ask("prepare", phase=NOTHING, parameters=None)
    burnt = talk.sample("null.nothing", operations=200)
    assert burnt["ns"] >= 200 * 200_000
    assert burnt["cpu_ns"] >= 0.2 * burnt["ns"]
    talk.ask("close")
    talk.ask("open", options={"stall_ns": 3_000_000, "stall_every": 10})
    talk.ask("prepare", phase=NOTHING, parameters=None)
    stalled = talk.sample("null.nothing", operations=100)
    assert stalled["ns"] >= 10 * 3_000_000
    assert stalled["max_ns"] >= 3_000_000
    assert stalled["cpu_ns"] < stalled["ns"] / 2


def test_end_of_stdin_stops_a_sample(start: Start) -> None:
    talk = start("null", {})
    talk.ask("prepare", phase=NOTHING, parameters=None)
    talk.send("sample", phase="null.nothing", regime="steady", lead_in_ns=0, duration_ns=60_000_000_000, first=-1)
    time.sleep(0.3)
    assert talk.process.stdin is not None
    talk.process.stdin.close()
    assert talk.process.wait(5) == 0
    assert talk.process.stdout is not None
    assert talk.process.stdout.read() == b""


def test_a_killed_runner_leaves_nothing(start: Start) -> None:
    talk = start("null", {})
    os.kill(talk.process.pid, signal.SIGKILL)
    assert talk.process.wait(5) == -signal.SIGKILL
    assert not FilePath(f"/dev/shm/mono.{talk.process.pid}").exists()


@pytest.mark.parametrize("driver", SQLITE)
@pytest.mark.parametrize("statement", ["prepared", "bound", "text"])
@pytest.mark.parametrize("transaction", ["autocommit", "transaction"])
def test_positions_wrap_and_touch(
    start: Start, database: FilePath, tmp_path: FilePath, driver: str, statement: str, transaction: str
) -> None:
    talk = opened(start, driver, database, statement=statement, durability="full")
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
    assert (sampled["rows"], sampled["values"], sampled["touch"]) == (4, 8, f"{2 * (3 + 1 + 2 + 3):016x}")
    assert talk.sample("x.read", operations=1)["first"] == 6
    verified = talk.ask("verify", phase="x.read", first=0, count=3, max_rows=2)
    rows = [(1, "é"), (2, "éé")]
    assert verified["digest"] == codec.digest(rows, [Column("k", "integer"), Column("v", "text")])
    assert (verified["rows"], verified["operations"]) == (3, 3)
    assert (verified["delivered"], verified["converted"]) == (["Int32", "String"], [])
    assert talk.sample("x.read", operations=1)["first"] == 7
    settings = talk.ask("facts")["settings"]
    assert (settings["journal_mode"], settings["synchronous"], settings["autocommit"]) == ("wal", "2", "on")


@pytest.mark.parametrize("driver", SQLITE)
@pytest.mark.parametrize("statement", ["prepared", "bound", "text"])
def test_text_beyond_ascii_goes_in_and_out(
    start: Start, database: FilePath, tmp_path: FilePath, driver: str, statement: str
) -> None:
    talk = opened(start, driver, database, statement=statement)
    phase = {
        "name": "x.insert",
        "kind": "execute",
        "sql": "INSERT INTO t (k, v) VALUES (?, ?)",
        "parameter_columns": [K, V],
    }
    columns = Column("k", "integer"), Column("v", "text", nullable=True)
    rows = [(0, ""), (20, "é€😀 'q'"), (21, None), (22, "")]
    talk.ask("prepare", phase=phase, parameters=parameters(tmp_path / "p", rows, *columns))
    assert talk.sample("x.insert", operations=3)["operations"] == 3
    with sqlite3.connect(database) as connection:
        assert connection.execute("SELECT k, v FROM t WHERE k >= 20 ORDER BY k").fetchall() == rows[1:]
    connection.close()
    phase = {"name": "x", "kind": "query", "sql": "SELECT k, v FROM t WHERE k >= 20", "columns": [K, V]}
    talk.ask("prepare", phase=phase, parameters=None)
    assert talk.ask("verify", phase="x", first=0, count=1)["digest"] == codec.digest(rows[1:], columns)


def test_failed_operations_are_counted_apart(start: Start, database: FilePath, tmp_path: FilePath) -> None:
    talk = opened(start, "mono-data-sqlite", database)
    phase = {
        "name": "x.insert",
        "kind": "execute",
        "sql": "INSERT INTO t (k) VALUES (?)",
        "parameter_columns": [K],
        "transaction": "transaction",
    }
    talk.ask("prepare", phase=phase, parameters=parameters(tmp_path / "p", [(0,), (11,), (3,), (12,)]))
    sampled = talk.sample("x.insert", operations=3)
    assert (sampled["operations"], sampled["failed"]) == (2, 1)
    assert (sampled["failure"]["kind"], sampled["failure"]["code"]) == ("sql", "Constraint")
    assert "constraint" in sampled["failure"]["text"].lower()
    again = talk.sample("x.insert", duration_ns=20_000_000_000)
    assert (again["operations"], again["failed"]) == (0, 100)


def test_errors_have_their_kinds(start: Start, database: FilePath, tmp_path: FilePath) -> None:
    talk = start("mono-data-sqlite")
    talk.hello()
    assert "missing" in talk.ask("open", options={})["error"]["text"]
    nowhere = talk.ask("open", options={"path": str(tmp_path / "no" / "such"), "durability": "full"})
    assert nowhere["error"]["kind"] == "connect"
    talk.ask("open", options={"path": str(database), "durability": "none"})

    def verified(sql: str, column: dict[str, Any]) -> Any:
        phase = {"name": "x", "kind": "query", "sql": sql, "columns": [column]}
        prepared = talk.ask("prepare", phase=phase, parameters=None)
        return prepared if "error" in prepared else talk.ask("verify", phase="x", first=0, count=1)

    for sql, column, kind, text in (
        ("SELEC", K, "sql", "SELEC"),
        ("SELECT 1", {"name": "k", "type": "colour"}, "unsupported", "colour"),
        ("SELECT 1", {"name": "k", "type": "interval"}, "unsupported", "Interval"),
        ("SELECT NULL", K, "verify", "column k: NULL where none is allowed"),
        ("SELECT 40000", {**K, "bits": 16}, "verify", "column k"),
        ("SELECT v FROM t", {"name": "d", "type": "date"}, "verify", "no date or time"),
        ("SELECT 'x'", {"name": "d", "type": "decimal"}, "verify", "column d"),
        ("SELECT k, v FROM t", K, "verify", "2 columns where 1 are declared"),
    ):
        error = verified(sql, column)["error"]
        assert (error["kind"], text in error["text"]) == (kind, True), error
    assert talk.sample("y")["error"]["kind"] == "internal"
    assert talk.ask("run", statements=["SELEC", "DELETE FROM t"])["error"]["kind"] == "sql"
    assert len(talk.ask("run", statements=["SELEC", "DELETE FROM t"], ignore_errors=True)["ns"]) == 2
    assert "error" in talk.ask("prepare", phase={"name": "x", "kind": "null"}, parameters=None)


def test_load(start: Start, database: FilePath, tmp_path: FilePath) -> None:
    talk = opened(start, "mono-data-sqlite", database)
    phase = {
        "name": "x.load",
        "kind": "execute",
        "sql": "INSERT INTO t (k) VALUES (?)",
        "parameter_columns": [{**K, "nullable": True}],
    }
    rows = [(key,) for key in range(20, 40)]
    talk.ask("prepare", phase=phase, parameters=parameters(tmp_path / "p", rows))
    assert talk.ask("load", phase="x.load", first=2, count=5)["rows"] == 5
    assert talk.ask("load", phase="x.load", first=0, count=5)["error"]["kind"] == "sql"
    with sqlite3.connect(database) as connection:
        keys = [key for (key,) in connection.execute("SELECT k FROM t WHERE k > 10 ORDER BY k")]
    connection.close()
    assert keys == [23, 24, 25, 26, 27]


def test_collections_are_counted(start: Start, database: FilePath) -> None:
    talk = opened(start, "mono-data-sqlite", database)
    phase = {"name": "x", "kind": "query", "sql": "SELECT k, v FROM t", "columns": [K, V]}
    talk.ask("prepare", phase=phase, parameters=None)
    for _ in range(30):
        sampled = talk.sample("x", duration_ns=300_000_000)
        if sampled["collections"]:
            break
    assert sampled["collections"] > 0
    assert sampled["collector_ns"] == 0


@pytest.mark.parametrize(
    ("driver", "behaviour", "honoured", "words"),
    [
        ("ado-libsqliteodbc", "cancel", True, "interrupted"),
        ("ado-libsqliteodbc", "timeout", False, "went on"),  # the driver takes a timeout and forgets it
        ("mono-data-sqlite", "cancel", False, "went on"),  # its Cancel is empty
    ],
)
def test_stopping_a_long_statement_as_observed(
    start: Start, database: FilePath, driver: str, behaviour: str, honoured: bool, words: str
) -> None:
    talk = opened(start, driver, database)
    slow = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1e12) SELECT count(*) FROM n"
    reply = talk.ask("behave", behaviour=behaviour, sql=slow, after_ms=300, most_ms=2_000)
    assert (reply["honoured"], reply["usable"]) == (honoured, honoured), reply
    assert words in reply["text"]
    assert reply["took_ns"] >= 300_000_000


def test_behaviours_that_are_none(start: Start, database: FilePath) -> None:
    talk = opened(start, "mono-data-sqlite", database)
    asked = {"sql": "SELECT 1", "after_ms": 100, "most_ms": 2_000}
    assert talk.ask("behave", behaviour="dance", **asked)["error"]["kind"] == "unsupported"
    ended = talk.ask("behave", behaviour="timeout", **asked)
    assert (ended["honoured"], ended["usable"], ended["text"]) == (False, True, "the statement came to its own end")


def fewer(found: Adapter, **changed: Any) -> Adapter:
    return msgspec.structs.replace(found, build=found.build | changed)


def test_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    found = adapter("csharp", "ado-psqlodbc")
    monkeypatch.setattr(csharp, "assembly_file", lambda name: None)
    lacking = csharp.availability(found, "system")
    assert (lacking.ok, lacking.remedy) == (False, "apt-get install libmono-system-core4.0-cil")
    monkeypatch.setattr(csharp, "assembly_file", lambda name: FilePath("/x.dll"))
    lacking = csharp.availability(fewer(found, libraries={"libnowhere.so.1": "libnowhere1"}), "system")
    assert (lacking.reason, lacking.remedy) == (
        "the library libnowhere.so.1 is missing",
        "apt-get install libnowhere1",
    )
    odbc = {"file": "odbc/nowhere.so", "package": "odbc-nowhere"}
    lacking = csharp.availability(fewer(found, odbc=odbc, libraries={}), "system")
    assert (lacking.reason, lacking.remedy) == (
        "the ODBC driver odbc/nowhere.so is missing",
        "apt-get install odbc-nowhere",
    )
    assert "/no/such.so is missing" in csharp.availability(fewer(found, libraries={}), "/no/such.so").reason
    monkeypatch.setattr("rowpath.languages.csharp.shutil.which", lambda name: None)
    lacking = csharp.availability(found, "system")
    assert (lacking.ok, lacking.remedy) == (False, "apt-get install mono-runtime mono-mcs")
    assert "Mono is missing" in lacking.reason
