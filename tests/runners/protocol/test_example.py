"""The example runner conforms, and PROTOCOL.md shows a conversation that it really had."""

from __future__ import annotations

import contextlib
import json
import os
import re
import sqlite3
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import msgspec

from rowpath.model.workload import Column, ColumnSpec
from rowpath.runners import protocol as p
from rowpath.workloads.codec import write_rows
from tests.end_to_end.command import rowpath
from tests.waiting import PATIENCE_S

ROOT = Path(__file__).parents[3]
EXAMPLE = ROOT / "runners" / "example"
PAGE = ROOT / "runners" / "PROTOCOL.md"
SHOWN = re.compile(r"(<!-- conversation -->\n```text\n)(.*?)```\n", re.DOTALL)
MEASURED = re.compile(rb'("(?:\w*_ns|ns|pid|loop_tid|runtime|driver_version|engine_version)": ?)("[^"]*"|[\d.]+)')
COLUMNS = (ColumnSpec("id", "integer"), ColumnSpec("name", "varchar", length=10, nullable=True))


def conversation(folder: Path) -> Iterator[p.Request]:
    """The requests, on a table of three rows; every path is in `folder`."""
    with contextlib.closing(sqlite3.connect(folder / "db")) as connection, connection:
        connection.execute("CREATE TABLE item (id INTEGER, name VARCHAR(10))")
        connection.executemany("INSERT INTO item VALUES (?, ?)", [(1, "one"), (2, "two"), (3, None)])
    write_rows(folder / "parameters", [(1,), (3,), (2,)], [Column("id", "integer")])
    sql = "SELECT id, name FROM item WHERE id = ?"
    read = p.PhaseSpec("shop.read", "query", sql, columns=list(COLUMNS), parameter_columns=[COLUMNS[0]])
    yield p.Hello(1, 60000, p.PROTOCOL, p.CODEC, list(p.REQUIREMENTS), "example")
    yield p.Open(2, 60000, {"engine": "sqlite", "path": f"{folder}/db", "statement": "prepared"})
    yield p.Prepare(3, 60000, read, p.ParameterSlice(f"{folder}/parameters", 0, 3))
    yield p.Sample(4, 60000, "shop.read", "cold", 0, 0, operations=1, first=0)
    yield p.Verify(5, 60000, "shop.read", 0, 3)
    yield p.Sample(6, 60000, "shop.read", "steady", 0, 0, operations=4)
    yield p.Load(7, 60000, "shop.read", 0, 3)
    yield p.Facts(8, 60000)
    yield p.Close(9, 60000)
    yield p.Bye(10, 60000)


def had(folder: Path) -> str:
    """The conversation as the page shows it; every reply is of its type."""
    command = [sys.executable, str(EXAMPLE / "runner.py"), "--adapter", "example"]
    lines = []
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin
        assert process.stdout
        for request in conversation(folder):
            asked = msgspec.json.encode(request)
            process.stdin.write(asked + b"\n")
            process.stdin.flush()
            reply = process.stdout.readline()
            if b'"error"' not in reply:
                msgspec.json.decode(reply, type=p.REPLIES[type(request)])
            lines += [wrapped("→", asked, folder), wrapped("←", MEASURED.sub(rb'\1"..."', reply), folder)]
        assert process.wait(timeout=PATIENCE_S) == 0
    return "\n".join(lines) + "\n"


def wrapped(arrow: str, line: bytes, folder: Path) -> str:
    """A message over lines of at most 120 characters; `…` for the folder and what was measured."""
    text = json.dumps(json.loads(line), ensure_ascii=False).replace(str(folder), "…").replace('"..."', "…")
    indent = "    "
    return textwrap.fill(
        f"{arrow} {text}", 120, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )


def test_the_page_shows_a_conversation_that_was_had(tmp_path: Path) -> None:
    page = PAGE.read_text(encoding="utf-8")
    made = had(tmp_path)
    if os.environ.get("ROWPATH_UPDATE_GOLDEN"):
        page = SHOWN.sub(lambda found: f"{found[1]}{made}```\n", page)
        PAGE.write_text(page, encoding="utf-8")
    assert [text for _, text in SHOWN.findall(page)] == [made]


def test_the_example_is_short() -> None:
    assert len((EXAMPLE / "runner.py").read_text(encoding="utf-8").splitlines()) <= 150


def test_the_example_conforms() -> None:
    manifest = "runners/example/adapters.toml"
    words = ("adapter", "test", "driver=example", "--adapters", manifest, "--", sys.executable)
    tested = rowpath(*words, "runners/example/runner.py", cwd=ROOT)
    assert tested.returncode == 0, tested.stdout + tested.stderr
    assert re.search(r"^0 failed, [1-9]\d* ok, \d+ not applicable, on 1 path$", tested.stdout, re.MULTILINE)
