"""The C runner's protocol and loop, the ping server and the counter of syncs, as processes."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sqlite3
import struct
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from rowpath.errors import InternalError
from rowpath.machine import c_compiler, c_tools, processes
from rowpath.runners import manifest
from rowpath.runners.manifest import toolchain
from tests.runners.protocol.talk import NOTHING, LineTalk, Start, adapter, talks
from tests.waiting import PATIENCE_S, at_work, gone, until

c: Any = toolchain("c")
python: Any = toolchain("python")
pytestmark = pytest.mark.skipif(shutil.which(c_compiler.words()[0]) is None, reason="no C compiler")


@pytest.fixture(name="start")
def start_fixture() -> Iterator[Start]:
    yield from talks("c")


@pytest.fixture
def null(start: Start) -> LineTalk:
    talk = start("null")
    talk.hello()
    talk.ask("open", options={})
    talk.ask("prepare", phase=NOTHING)
    return talk


def test_hello(start: Start) -> None:
    talk = start("null")
    reply = talk.hello(unknown="ignored")
    assert (reply["protocol"], reply["codec"], reply["language"], reply["pid"]) == ([3, 0], 2, "c", talk.process.pid)
    threads = Path(f"/proc/{reply['pid']}/task")
    assert [each.name for each in threads.iterdir()] == [str(reply["loop_tid"])]
    # A neighbour can only add to it.
    assert 5 < min(talk.hello()["clock_read_ns"] for _ in range(20)) < 5000


@pytest.mark.parametrize(
    "changed", [{"protocol": [2, 1]}, {"codec": 1}, {"requires": ["load"]}, {"adapter": "libpq"}, {"protocol": None}]
)
def test_hello_refused(start: Start, changed: dict[str, Any]) -> None:
    talk = start("null")
    assert talk.hello(**changed)["error"]["kind"] == "unsupported"
    assert "error" not in talk.hello()


def test_sample_runs_exactly_as_told(null: LineTalk) -> None:
    counted = null.sample("null.nothing", operations=10, first=5)
    assert (counted["operations"], counted["first"], counted["lead_in_operations"]) == (10, 5, 0)
    timed = null.sample("null.nothing", lead_in_ns=100_000, duration_ns=1_000_000)
    assert timed["first"] == 15 + timed["lead_in_operations"]
    assert timed["lead_in_operations"] >= 1
    assert timed["ns"] >= 1_000_000
    assert timed["window_ns"] >= timed["ns"] + 100_000
    assert 0 < timed["min_ns"] <= timed["max_ns"]
    assert null.sample("null.nothing")["operations"] == 1


@pytest.mark.parametrize(
    "line",
    [b"{", b"[]", b"{} x", b'"text"', b'{"type": "nonsense"}', b'{"type": "sample"}', b'{"type": "open"}', b"\xff\xfe"],
)
def test_senseless_requests_are_answered(null: LineTalk, line: bytes) -> None:
    assert null.process.stdin is not None
    assert null.process.stdout is not None
    null.process.stdin.write(line + b"\n")
    null.process.stdin.flush()
    assert json.loads(null.process.stdout.readline())["error"]["text"]
    assert "error" not in null.sample("null.nothing")


def test_end_of_stdin_stops_a_sample(null: LineTalk) -> None:
    assert null.process.stdin is not None
    null.send("sample", phase="null.nothing", regime="steady", lead_in_ns=0, duration_ns=60_000_000_000)
    at_work(null.process.pid)
    null.process.stdin.close()
    assert null.process.wait(timeout=PATIENCE_S / 2) == 0


def test_bye(null: LineTalk) -> None:
    assert null.ask("bye") == {"id": null.id}
    assert null.process.wait(timeout=PATIENCE_S) == 0


def test_dies_with_its_parent(tmp_path: Path) -> None:
    program = c.executable(adapter("c", "null"), "")
    script = f"import os, subprocess, time; p = subprocess.Popen([{str(program)!r}], stdin=subprocess.PIPE);"
    script += "print(p.pid, flush=True); time.sleep(600)"
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        parent.send_signal(signal.SIGKILL)
    assert gone([pid])


def test_failed_operations_are_never_counted(start: Start, tmp_path: Path) -> None:
    file = tmp_path / "data base é.sqlite"
    with sqlite3.connect(file) as connection:
        connection.execute("CREATE TABLE t (k INTEGER PRIMARY KEY)")
    talk = start("sqlite")
    talk.hello()
    missing = talk.ask("open", options={"path": str(tmp_path / "missing"), "statement": "bound"})
    assert missing["error"]["kind"] == "connect"
    talk.ask("open", options={"path": str(file), "statement": "bound", "durability": "none"})
    talk.ask("prepare", phase={"name": "insert", "kind": "execute", "sql": "INSERT INTO t VALUES (1)"})
    sampled = talk.sample("insert", operations=1000)
    assert (sampled["operations"], sampled["failed"]) == (1, 100)
    assert (sampled["failure"]["kind"], sampled["failure"]["code"]) == ("sql", "1555")
    other = {"name": "read", "kind": "query", "sql": "SELECT k FROM t", "columns": [{"name": "k", "type": "date"}]}
    talk.ask("prepare", phase=other)
    delivered = talk.ask("verify", phase="read", first=0, count=1, max_rows=10)
    assert (delivered["rows"], delivered["columns"][0]["foreign"]) == (1, 1)
    talk.ask("prepare", phase=other | {"sql": "SELECT k, k FROM t", "columns": [{"name": "k", "type": "integer"}]})
    assert talk.ask("verify", phase="read", first=0, count=1, max_rows=10)["error"]["kind"] == "verify"
    assert talk.ask("run", statements=["DELETE FROM t", "nonsense"])["error"]["kind"] == "sql"
    assert len(talk.ask("run", statements=["nonsense", "DELETE FROM t"], ignore_errors=True)["ns"]) == 2


def test_transaction_is_ended(start: Start, tmp_path: Path) -> None:
    file = tmp_path / "t.sqlite"
    sqlite3.connect(file).execute("CREATE TABLE t (k INTEGER)")
    talk = start("sqlite")
    talk.hello()
    talk.ask("open", options={"path": str(file), "statement": "prepared", "durability": "full"})
    insert = {"name": "insert", "kind": "execute", "sql": "INSERT INTO t VALUES (1)", "transaction": "transaction"}
    talk.ask("prepare", phase=insert)
    assert talk.sample("insert", operations=3)["operations"] == 3
    settings = talk.ask("facts")["settings"]
    assert (settings["autocommit"], settings["journal_mode"], settings["synchronous"]) == ("on", "wal", "2")
    assert sqlite3.connect(file).execute("SELECT count(*) FROM t").fetchone() == (3,)


def test_file_in_pieces(start: Start, tmp_path: Path) -> None:
    """Lines longer than the buffer, lines across its border, and lines that are damaged."""
    long = "x" * 700_000
    (tmp_path / "t.tbl").write_text("".join(f"{k}|{'y' * (k % 977)}\n" for k in range(5000)) + f"5000|{long}\n")
    talk = start("file")
    talk.hello()
    talk.ask("open", options={"path": str(tmp_path), "delimiter": "|"})
    columns = [{"name": "k", "type": "integer"}, {"name": "v", "type": "text"}]
    phase = {"name": "scan", "kind": "query", "table": "t", "scan": True, "columns": columns, "stamps": True}
    talk.ask("prepare", phase=phase)
    sampled = talk.sample("scan", operations=2)
    touch = sum(k + k % 977 for k in range(5000)) + 5000 + 700_000
    assert (sampled["rows"], sampled["values"], int(sampled["touch"], 16)) == (10_002, 20_004, 2 * touch)
    assert 0 < sampled["execute_ns"] < sampled["first_row_ns"] < sampled["ns"]
    for damaged in ("1|a\n2\n", "1|a\n2|b|c\n", "1|a\n2|b"):
        (tmp_path / "t.tbl").write_text(damaged)
        assert talk.ask("verify", phase="scan", first=0, count=1, max_rows=10)["error"]["kind"] == "verify"
    (tmp_path / "t.tbl").unlink()
    assert talk.sample("scan", operations=1)["failure"]["code"] == "ENOENT"


@pytest.mark.parametrize("transport", ["unix", "tcp"])
def test_ping(start: Start, tmp_path: Path, transport: str) -> None:
    socket = tmp_path / "ping"
    command = c_tools.echo_command(unix=socket, tcp=0, burn_ns=50_000)
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        port = int(server.stdout.readline().removeprefix("ready tcp="))
        for _ in range(2):  # two clients at once
            talk = start("ping")
            talk.hello()
            opened = talk.ask("open", options={"transport": transport, "socket": str(socket), "port": port})
            assert opened["connect_ns"] > 0
            talk.ask("prepare", phase=NOTHING)
            sampled = talk.sample("null.nothing", operations=20)
            assert (sampled["operations"], sampled["failed"]) == (20, 0)
            assert sampled["min_ns"] >= 50_000
        server.stdin.close()
        assert server.wait(timeout=PATIENCE_S) == 0
    assert talk.sample("null.nothing", operations=1)["failure"]["kind"] == "connect"


def test_syncs_are_counted(tmp_path: Path) -> None:
    file = tmp_path / "syncs"
    file.write_bytes(bytes(64))
    script = f"""
import mmap, os
fd = os.open({str(tmp_path / "data")!r}, os.O_RDWR | os.O_CREAT)
os.write(fd, b"x" * 4096)
os.fsync(fd); os.fsync(fd); os.fdatasync(fd)
mmap.mmap(fd, 4096).flush()
if os.fork() == 0:
    synced = os.open({str(tmp_path / "data")!r}, os.O_WRONLY | os.O_DSYNC)
    os.write(synced, b"y"); os.pwrite(synced, b"y", 1); os.pwritev(synced, [b"z"], 2)
    os.close(synced)
    plain = os.open({str(tmp_path / "data")!r}, os.O_WRONLY)
    assert plain == synced
    os.write(plain, b"y")
    os._exit(0)
os.wait()
try: os.fsync(999)
except OSError: pass
"""
    counting = {"LD_PRELOAD": str(c_tools.sync_count_library()), "ROWPATH_SYNC_COUNT_FILE": str(file)}
    subprocess.run([sys.executable, "-c", script], check=True, env=os.environ | counting)
    assert struct.unpack("<8Q", file.read_bytes()) == (2, 1, 0, 1, 3, 0, 0, 0)
    without = os.environ | {"LD_PRELOAD": str(c_tools.sync_count_library())}
    subprocess.run([sys.executable, "-c", script], check=True, env=without)


def test_clients_have_threads_of_their_own(start: Start) -> None:
    """Made when the connections are opened, ended when they are closed; one client has none beside the loop's."""
    talk = start("null")
    talk.hello(requires=["clients"])
    threads = Path(f"/proc/{talk.process.pid}/task")
    alone = len(list(threads.iterdir()))
    talk.ask("open", options={"clients": "1"})
    assert len(list(threads.iterdir())) == alone
    talk.ask("close")
    talk.ask("open", options={"clients": "4", "burn_ns": "100000"})
    assert len(list(threads.iterdir())) == alone + 4
    talk.ask("prepare", phase=NOTHING)
    sampled = talk.sample("null.nothing", operations=40, lead_in_ns=1_000_000)
    assert [client["operations"] for client in sampled["clients"]] == [10] * 4
    talk.ask("close")
    until(lambda: len(list(threads.iterdir())) == alone, "end of the clients' threads")
    assert talk.sample("null.nothing")["error"]["text"] == "no connection is open"
    for senseless in ("0", "-1", "100000"):
        assert talk.ask("open", options={"clients": senseless})["error"]["kind"] == "unsupported"


def test_building_is_said_only_when_something_is_built(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ROWPATH_CACHE", str(tmp_path))
    said: list[str] = []
    wanted = [(adapter("c", "null"), "bundled"), (adapter("c", "ping"), "bundled")]
    manifest.build(wanted, said.append)
    assert said == ["building the C runner"]
    manifest.build(wanted, said.append)
    assert said == ["building the C runner"]
    made = [file.name for file in (tmp_path / "build" / "c").iterdir()]
    assert len(made) == 3, "the core, two runners, and no folder in which one was made"


def test_a_compile_error_beside_other_languages_is_readable(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ROWPATH_CACHE", str(tmp_path))
    monkeypatch.setattr(python, "build", lambda *_what: processes.run(["sleep", "100"]))
    source = tmp_path / "wrong.c"
    source.write_text("this is no C\n")
    broken = msgspec.structs.replace(adapter("c", "null"), driver="wrong", source=str(source))
    before = set(processes.living())  # other tests of this process share runners and servers
    with pytest.raises(InternalError, match=r"wrong does not compile:\n.*wrong\.c:1"):
        manifest.build([(broken, "bundled"), (adapter("python", "null"), "bundled")])
    assert set(processes.living()) <= before
