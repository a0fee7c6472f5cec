"""The Python runner: its codec, its loop and its manners as a process."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rowpath.runners import protocol as p
from rowpath.runners.toolchains import python as language
from rowpath.workloads import generators, workload_file
from rowpath.workloads.expected import Expected
from tests.runners.python.talk import ADAPTERS, Talk, command_of, start_fixture  # noqa: F401
from tests.unit.codec_vectors import VECTORS, natural
from tests.waiting import PATIENCE_S, at_work, gone

SOURCE = Path(__file__).parents[3] / "runners" / "python"
sys.path.append(str(SOURCE))
from core import codec as runner_codec  # noqa: E402
from core.digest import row_hash  # noqa: E402
from core.operation import Operation  # noqa: E402
from core.sampler import Sampler  # noqa: E402
from families.sql.literals import with_literals  # noqa: E402
from families.sql.placeholders import split_placeholders  # noqa: E402
from families.text.values import FROM_TEXT  # noqa: E402

NULL_OPERATION_LIMIT_NS = 350


@pytest.mark.parametrize("vector", VECTORS["values"], ids=lambda v: f"{v['type']}-{v['value']}"[:40])
def test_its_codec_keeps_the_shared_vectors(vector: dict[str, Any]) -> None:
    column = runner_codec.Column({"name": "v", "type": vector["type"], **vector.get("column", {})})
    value = natural(vector["value"], vector["type"])
    encoded = runner_codec.encode_value(value, column)
    assert encoded.hex() == vector["bytes"]
    assert f"{row_hash(encoded):016x}" == vector["hash"]
    assert runner_codec.encode_row(runner_codec.decode_row(encoded, [column]), [column]) == encoded
    if vector["value"] in ("inf", "-inf") and not vector["type"].startswith("float"):
        return  # the drivers hosted here refuse infinite dates
    touched = Sampler("query", [column], Operation(lambda _: [(value,)])).verify(0, 1, 1)["touch"]
    right = {vector["touch"], vector.get("touch_padded")} if not str(value).endswith(" ") else None
    assert right is None or touched in right


def test_its_codec_refuses_what_does_not_fit() -> None:
    for kind, value in (
        ("integer", "5"), ("integer", 1.5), ("decimal", 1.5), ("float64", "1"), ("char", b"x"), ("text", 5),
        ("text", "\ud800"), ("binary", "00"), ("date", "2000-01-01"), ("timestamp", "x"), ("boolean", 2), ("uuid", "x"),
        ("integer", None),
    ):  # fmt: skip
        with pytest.raises(ValueError):
            runner_codec.encode_value(value, runner_codec.Column({"name": "v", "type": kind}))


def test_text_becomes_the_natural_type() -> None:
    table = workload_file.load_workload("types").tables["types"]
    for row in generators.rows(table):
        for value, column in zip(row, table.columns, strict=True):
            convert = FROM_TEXT.get(column.type)
            if convert and value is not None:
                text = generators.delimited_value(value).replace("\\\\", "\\")
                assert convert(text) == value


def test_placeholders() -> None:
    assert split_placeholders("a = ? AND b = '?' AND \"c?\" = ?") == ["a = ", " AND b = '?' AND \"c?\" = ", ""]
    assert with_literals("VALUES (?, ?)", (1, "x"), repr) == "VALUES (1, 'x')"


def test_the_loop_counts_failures_apart() -> None:
    column = runner_codec.Column({"name": "v", "type": "integer"})
    done = []

    def execute(argument: int) -> list[tuple[int]]:
        done.append(argument)
        if argument == 2:
            raise ValueError("broken")
        return [(argument,)]

    sampler = Sampler("query", [column], Operation(execute, [0, 1, 2, 3]))
    operations, failed, failure, rows, total, *_rest = sampler.by_count(1, 0, 8)
    assert done == [1, 2, 3, 0, 1, 2, 3, 0]
    assert (operations, failed, rows, total) == (6, 2, 6, 8)
    assert str(failure) == "broken"
    always = Sampler("query", [column], Operation(execute, [2]))
    assert always.by_count(0, 0, 1000)[:2] == (0, 100)
    assert always.by_time(0, 10**12, 0)[:2] == (0, 100)


def test_a_transaction_is_around_each_operation() -> None:
    told: list[str] = []
    around = (lambda: told.append("begin"), lambda: told.append("commit"), lambda: told.append("rollback"))

    def execute(argument: str) -> None:
        told.append(argument)
        if argument == "bad":
            raise OSError("bad")

    sampler = Sampler("execute", [], Operation(execute, ["good", "bad"]), transaction=around)
    sampler.by_count(0, 0, 2)
    assert told == ["begin", "good", "commit", "begin", "bad", "rollback"]


TOY = """
import os, sys
from core.adapter import Adapter as Base
from core.operation import Operation

class Adapter(Base):
    def prepare(self, phase, parameters):
        print("a chatty driver")
        os.write(1, b"a chattier one\\n")
        return Operation(lambda argument: [(1,)])
"""


def test_a_driver_is_one_file_and_may_chatter(start: Callable[..., Talk], tmp_path: Path) -> None:
    (tmp_path / "adapters").mkdir()
    (tmp_path / "adapters" / "toy.py").write_text(TOY)
    talk = start("toy", tmp_path)
    talk.open()
    connect = workload_file.load_workload("connect")
    name = talk.prepare(connect, connect.phases[0], kind="query")
    assert talk.verify(name, 0, 3).digest == Expected(connect).verify_digest("first", 0, 3, 10)


def test_it_refuses_what_it_does_not_know() -> None:
    hello = {
        "id": 1,
        "type": "hello",
        "deadline_ms": 1000,
        "protocol": [2, 0],
        "codec": 1,
        "requires": [],
        "adapter": "null",
    }
    for changed, text in (
        ({"protocol": [3, 0]}, "protocol"),
        ({"codec": 2}, "codec"),
        ({"requires": ["touch", "magic"]}, "magic"),
        ({"adapter": "other"}, "other"),
        ({"type": "dance"}, "dance"),
    ):
        reply = spoken(hello | changed)
        assert reply["error"]["kind"] == "unsupported"
        assert text in reply["error"]["text"]
    assert spoken(hello | {"protocol": [2, 9], "unknown": True})["loop_tid"] > 0


def started(arguments: tuple[str, ...] | None = None) -> subprocess.Popen[bytes]:
    command = command_of(ADAPTERS["null"])
    environment = {**os.environ, **command.environment}
    return subprocess.Popen(
        arguments or command.arguments, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )


def spoken(*requests: dict[str, Any]) -> Any:
    with started() as process:
        assert process.stdin and process.stdout
        reply = b""
        for request in requests:
            process.stdin.write(json.dumps(request).encode() + b"\n")
            process.stdin.flush()
            reply = process.stdout.readline()
        process.kill()
    return json.loads(reply)


def test_the_end_of_stdin_stops_it_in_the_middle_of_a_sample(start: Callable[..., Talk]) -> None:
    talk = start("null")
    talk.open()
    workload = workload_file.load_workload("null")
    name = talk.prepare(workload, workload.phases[0])
    talk.runner.send(
        p.Sample, 60, phase=name, regime="steady", lead_in_ns=0, duration_ns=60_000_000_000, operations=0, first=-1
    )
    at_work(talk.runner.pid)
    process = talk.runner.process
    assert process.stdin
    process.stdin.close()
    process.wait(timeout=PATIENCE_S / 2)


def test_it_dies_with_its_parent() -> None:
    command = command_of(ADAPTERS["null"])
    code = (
        "import json, os, subprocess, sys\n"
        "read, write = os.pipe()\n"
        f"child = subprocess.Popen({command.arguments!r}, stdin=read, stdout=subprocess.PIPE)\n"
        "os.set_inheritable(write, True)\n"
        'os.write(write, b\'{"id": 1, "type": "facts"}\\n\')\n'
        "child.stdout.readline()\n"  # by now it has asked the kernel
        "print(child.pid, flush=True)\n"
        "sys.stdin.read()\n"
    )
    with started((sys.executable, "-c", code)) as parent:
        assert parent.stdout
        child = int(parent.stdout.readline())
        os.kill(parent.pid, signal.SIGKILL)
    assert gone([child])


def test_the_environment_is_locked_and_names_no_host() -> None:
    for lock in ("requirements.lock", "compiled.lock"):
        for name, text in language._locked(SOURCE / lock).items():
            assert "==" in text, name
            assert "--hash=sha256:" in text, name
        assert "://" not in (SOURCE / lock).read_text()
    for adapter, requirement in ((ADAPTERS["psycopg"], "psycopg[binary]"), (ADAPTERS["mysqlclient"], "mysqlclient")):
        assert language._locked_version(adapter, requirement) == adapter.versions[0]
    assert language._own(ADAPTERS["psycopg"], "3.2.10") == "psycopg[binary]==3.2.10"


def test_without_pip_there_is_a_remedy(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ROWPATH_CACHE", str(tmp_path))
    monkeypatch.setattr(language, "_has", lambda module: module == "venv")
    found = language.availability(ADAPTERS["psycopg"], "3.3.9")
    assert not found.ok
    assert "apt-get install python3-venv" in found.remedy
