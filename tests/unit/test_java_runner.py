"""The Java runner's protocol and loop, and what it says of bad requests, as processes."""

from __future__ import annotations

import os
import signal
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path as FilePath
from typing import Any

import pytest
from codec_vectors import VECTORS, natural
from line_talk import NOTHING, Start, adapter, talks

from rowpath import codec
from rowpath.errors import EnvironmentMissing, UsageError
from rowpath.generators import delimited_value
from rowpath.languages import java, maven
from rowpath.model import Column
from rowpath.protocol import SampleReply

pytestmark = pytest.mark.skipif(bool(java._problem()), reason="no JDK")


@pytest.fixture
def start() -> Iterator[Start]:
    yield from talks("java")


def test_handshake(start: Start) -> None:
    talk = start("null")
    reply = talk.hello()
    assert (reply["protocol"], reply["codec"], reply["language"]) == ([1, 1], 1, "java")
    assert reply["pid"] == talk.process.pid
    comm = FilePath(f"/proc/{reply['pid']}/task/{reply['loop_tid']}/comm").read_text()
    assert comm.strip() == "rowpath-loop"
    assert 5 < reply["clock_read_ns"] < 2000
    assert talk.hello(protocol=[2, 0])["error"]["kind"] == "unsupported"
    assert talk.hello(codec=2)["error"]["kind"] == "unsupported"
    assert "magic" in talk.hello(requires=["magic"])["error"]["text"]
    assert talk.hello(adapter="sqlite")["error"]["kind"] == "unsupported"
    assert talk.ask("dance")["error"]["kind"] == "unsupported"
    assert talk.ask("close")["error"]["kind"] == "internal"
    assert "id" in talk.ask("bye")
    assert talk.process.wait(10) == 0


def test_noise_does_not_reach_the_replies(start: Start) -> None:
    talk = start("null")
    assert talk.process.stdin is not None
    talk.process.stdin.write(b"this is no request\n")
    assert "error" not in talk.hello()
    descriptors = FilePath(f"/proc/{talk.process.pid}/fd")
    assert (descriptors / "1").readlink() == (descriptors / "2").readlink() != (descriptors / "3").readlink()
    talk.process.kill()
    assert talk.process.stderr is not None
    err = talk.process.stderr.read()
    assert b"not a request" in err
    assert b"JAVA_TOOL_OPTIONS" not in err


def test_samples_of_nothing(start: Start) -> None:
    talk = start("null", {})
    assert talk.ask("prepare", phase=NOTHING, parameters=None)["parameters"] == 0
    first = talk.sample("null.nothing", operations=1000)
    second = talk.sample("null.nothing", duration_ns=10_000_000, lead_in_ns=1_000_000)
    assert (first["operations"], first["failed"], first["failure"], first["first"]) == (1000, 0, None, 0)
    assert (first["rows"], first["values"], first["touch"]) == (0, 0, "0" * 16)
    assert second["lead_in_operations"] > 0
    assert second["first"] == 1000 + second["lead_in_operations"]
    assert 10_000_000 <= second["ns"] <= second["window_ns"]
    assert second["min_ns"] <= second["ns"] / second["operations"] <= second["max_ns"]
    assert 0 < second["cpu_ns"] <= second["window_cpu_ns"] <= second["window_ns"] * 1.02
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


@pytest.fixture
def database(tmp_path: FilePath) -> FilePath:
    file = tmp_path / "a b é.sqlite"
    with sqlite3.connect(file) as connection:
        connection.execute("CREATE TABLE t (k INTEGER PRIMARY KEY, v TEXT, d TEXT)")
        connection.executemany("INSERT INTO t VALUES (?, ?, '2000-01-02')", [(k, "x" * k) for k in range(1, 11)])
    connection.close()
    return file


K = {"name": "k", "type": "integer"}
V = {"name": "v", "type": "text", "nullable": True}


def parameters(file: FilePath, values: list[int]) -> dict[str, Any]:
    codec.write_rows(file, [(value,) for value in values], [Column("k", "integer")])
    return {"file": str(file), "first": 1, "count": len(values) - 1}


@pytest.mark.parametrize("statement", ["prepared", "bound", "text"])
@pytest.mark.parametrize("transaction", ["autocommit", "transaction"])
def test_positions_wrap_and_touch(
    start: Start, database: FilePath, tmp_path: FilePath, statement: str, transaction: str
) -> None:
    talk = start("sqlite-jdbc", {"path": str(database), "statement": statement, "durability": "full"})
    phase = {
        "name": "x.read",
        "kind": "query",
        "sql": "SELECT k, v FROM t WHERE k = ? AND v <> '?'",
        "columns": [K, V],
        "parameter_columns": [K],
        "transaction": transaction,
    }
    reply = talk.ask("prepare", phase=phase, parameters=parameters(tmp_path / "p", [9, 1, 2, 3]))
    assert reply["parameters"] == 3
    sampled = talk.sample("x.read", operations=4, first=2)
    assert (sampled["rows"], sampled["values"], sampled["touch"]) == (4, 8, f"{2 * (3 + 1 + 2 + 3):016x}")
    assert talk.sample("x.read", operations=1)["first"] == 6
    verified = talk.ask("verify", phase="x.read", first=0, count=3, max_rows=2)
    rows = [(1, "x"), (2, "xx")]
    assert verified["digest"] == codec.digest(rows, [Column("k", "integer"), Column("v", "text")])
    assert (verified["rows"], verified["operations"]) == (3, 3)
    assert (verified["delivered"], verified["converted"]) == (["int", "String"], [])
    assert talk.sample("x.read", operations=1)["first"] == 7
    settings = talk.ask("facts")["settings"]
    assert (settings["journal_mode"], settings["synchronous"], settings["autocommit"]) == ("wal", "2", "on")


def test_failed_operations_are_counted_apart(start: Start, database: FilePath, tmp_path: FilePath) -> None:
    talk = start("sqlite-jdbc", {"path": str(database), "statement": "prepared", "durability": "none"})
    phase = {
        "name": "x.insert",
        "kind": "execute",
        "sql": "INSERT INTO t (k) VALUES (?)",
        "parameter_columns": [K],
        "transaction": "transaction",
    }
    talk.ask("prepare", phase=phase, parameters=parameters(tmp_path / "p", [0, 11, 3, 12]))
    sampled = talk.sample("x.insert", operations=3)
    assert (sampled["operations"], sampled["failed"]) == (2, 1)
    assert (sampled["failure"]["kind"], sampled["failure"]["code"]) == ("sql", "19")
    assert "constraint" in sampled["failure"]["text"].lower()
    again = talk.sample("x.insert", duration_ns=20_000_000_000)
    assert (again["operations"], again["failed"]) == (0, 100)
    with sqlite3.connect(database) as connection:
        assert connection.execute("SELECT count(*) FROM t").fetchone() == (12,)
    connection.close()


def test_errors_have_their_kinds(start: Start, database: FilePath, tmp_path: FilePath) -> None:
    talk = start("sqlite-jdbc")
    talk.hello()
    missing = talk.ask("open", options={"path": str(tmp_path / "no" / "such"), "durability": "full"})
    assert missing["error"]["kind"] == "connect"
    assert "missing" in talk.ask("open", options={})["error"]["text"]
    talk.ask("open", options={"path": str(database), "durability": "none"})

    def prepared(sql: str, column: dict[str, Any]) -> Any:
        phase = {"name": "x", "kind": "query", "sql": sql, "columns": [column]}
        return talk.ask("prepare", phase=phase, parameters=None)

    assert prepared("SELEC", K)["error"]["kind"] == "sql"
    assert prepared("SELECT 1", {"name": "k", "type": "colour"})["error"]["kind"] == "unsupported"
    assert prepared("SELECT 1", {"name": "k", "type": "interval"})["error"]["kind"] == "unsupported"
    for sql, column, text in (
        ("SELECT NULL", K, "column k: NULL where none is allowed"),
        ("SELECT 40000", {**K, "bits": 16}, "40000 in an integer of 16 bits"),
        ("SELECT v FROM t", {"name": "d", "type": "date"}, "no date or time"),
        ("SELECT 'x'", {"name": "d", "type": "decimal"}, ""),
    ):
        assert "error" not in prepared(sql, column)
        error = talk.ask("verify", phase="x", first=0, count=1)["error"]
        assert error["kind"] == "verify"
        assert text in error["text"]
    assert talk.sample("y")["error"]["kind"] == "internal"
    assert talk.ask("run", statements=["SELEC", "DELETE FROM t"])["error"]["kind"] == "sql"
    assert len(talk.ask("run", statements=["SELEC", "DELETE FROM t"], ignore_errors=True)["ns"]) == 2
    assert "error" in talk.ask("prepare", phase={"name": "x", "kind": "null"}, parameters=None)


def test_load(start: Start, database: FilePath, tmp_path: FilePath) -> None:
    talk = start("sqlite-jdbc", {"path": str(database), "durability": "none"})
    phase = {
        "name": "x.load",
        "kind": "execute",
        "sql": "INSERT INTO t (k) VALUES (?)",
        "parameter_columns": [{**K, "nullable": True}],
    }
    talk.ask("prepare", phase=phase, parameters=parameters(tmp_path / "p", list(range(20, 40))))
    assert talk.ask("load", phase="x.load", first=2, count=5)["rows"] == 5
    assert talk.ask("load", phase="x.load", first=0, count=5)["error"]["kind"] == "sql"
    with sqlite3.connect(database) as connection:
        keys = [key for (key,) in connection.execute("SELECT k FROM t WHERE k > 10 ORDER BY k")]
    connection.close()
    assert keys == [23, 24, 25, 26, 27]


def file_vectors() -> list[dict[str, Any]]:
    return [
        vector
        for vector in VECTORS["values"]
        if not (vector["type"] == "integer" and vector["value"] and int(vector["value"]) >= 2**63)  # no long
        and not (vector["type"] in ("date", "timestamp", "timestamptz") and vector["value"] in ("inf", "-inf"))
        and not (vector["type"] == "interval" and vector["value"] and vector["value"][2] % 1000)
    ]


def test_every_vector_from_a_file(start: Start, tmp_path: FilePath) -> None:
    talk = start("file", {"path": str(tmp_path), "delimiter": "|"})
    for vector in file_vectors():
        column = {"name": "value", "type": vector["type"], **vector.get("column", {})}
        value = natural(vector["value"], vector["type"])
        text = delimited_value(value)
        (tmp_path / "t.tbl").write_bytes(f"{text}\n".encode())
        phase = {"name": "x", "kind": "query", "table": "t", "scan": True, "columns": [column]}
        talk.ask("prepare", phase=phase, parameters=None)
        verified = talk.ask("verify", phase="x", first=0, count=1)
        assert verified.get("digest") == f"1:{vector['hash']}", (vector, verified)
        if vector["type"] != "char":
            assert verified["touch"] == vector.get("touch_utf16", vector["touch"])


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (b"1|2\n", "more than 1"),
        (b"x\n", ""),
        (b"\\N\n", "NULL where none"),
        (b"\xff\n", ""),
    ],
)
def test_a_file_that_does_not_fit(start: Start, tmp_path: FilePath, content: bytes, text: str) -> None:
    (tmp_path / "t.tbl").write_bytes(content)
    talk = start("file", {"path": str(tmp_path)})
    phase = {"name": "x", "kind": "query", "table": "t", "scan": True, "columns": [K]}
    talk.ask("prepare", phase=phase, parameters=None)
    error = talk.ask("verify", phase="x", first=0, count=1)["error"]
    assert error["kind"] == "verify"
    assert text in error["text"]


def test_what_is_fetched_is_checked(tmp_path: FilePath, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROWPATH_CACHE", str(tmp_path))
    one = "org.ow2.asm:asm:9.11.1"
    maven.jar(one).parent.mkdir(parents=True)
    maven.jar(one).write_bytes(b"something else")
    with pytest.raises(EnvironmentMissing, match="is not what was pinned"):
        java.fetch([one])
    with pytest.raises(UsageError, match="no Maven coordinates"):
        java.fetch(["a:b:1</version>"])
    with pytest.raises(UsageError, match="no artefact 'colour' is pinned"):
        java.class_path(["colour"])
    own = "org.example:own:1.0"
    maven.jar(own).write_bytes(b"first")
    java.fetch([own])
    maven.jar(own).write_bytes(b"second")
    with pytest.raises(EnvironmentMissing, match="is not what was pinned"):
        java.fetch([own])


def test_without_maven_or_a_jdk(tmp_path: FilePath, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROWPATH_CACHE", str(tmp_path))
    monkeypatch.setattr(maven.shutil, "which", lambda _name: None)
    lacking = java.availability(adapter("java", "pgjdbc"), "42.7.14")
    assert (lacking.ok, lacking.remedy) == (False, "apt-get install maven")
    monkeypatch.setattr(java, "_home", lambda: None)
    lacking = java.availability(adapter("java", "null"), "bundled")
    assert (lacking.ok, lacking.remedy) == (False, java.INSTALL)
    with pytest.raises(EnvironmentMissing, match="no JDK"):
        java.build([])
