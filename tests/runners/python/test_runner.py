"""The Python runner: its codec, its loop and its manners as a process."""

from __future__ import annotations

import importlib.metadata
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, date, datetime, time
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from rowpath.runners import protocol as p
from rowpath.runners.manifest import Adapter, toolchain
from rowpath.workloads import generators, workload_file
from rowpath.workloads.expected import Expected
from tests.runners.protocol.codec_vectors import VECTORS, natural
from tests.runners.python.talk import ADAPTERS, Talk, command_of, start_fixture  # noqa: F401
from tests.waiting import PATIENCE_S, at_work, gone

SOURCE = Path(__file__).parents[3] / "runners" / "python"
sys.path.append(str(SOURCE))
from core import codec as runner_codec  # noqa: E402
from core.digest import row_hash  # noqa: E402
from core.operation import Operation  # noqa: E402
from core.row_bytes import row_encoder  # noqa: E402
from core.sampler import Sampler  # noqa: E402
from families.sql.literals import with_literals  # noqa: E402
from families.sql.placeholders import split_placeholders  # noqa: E402
from families.text.values import FROM_TEXT  # noqa: E402

language: Any = toolchain("python")
NULL_OPERATION_LIMIT_NS = 350


@pytest.mark.parametrize("vector", VECTORS["values"], ids=lambda v: f"{v['type']}-{v['value']}"[:40])
def test_its_codec_keeps_the_shared_vectors(vector: dict[str, Any]) -> None:
    column = runner_codec.Column({"name": "v", "type": vector["type"], **vector.get("column", {})})
    value = natural(vector["value"], vector["type"])
    encoded = runner_codec.encode_value(value, column)
    assert encoded.hex() == vector["bytes"]
    assert f"{row_hash(encoded):016x}" == vector["hash"]
    encode = row_encoder([column])
    assert encode((value,)) == encode(runner_codec.decode_row(encoded, [column])) == encoded
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


def bytes_or_error(encode: Callable[[], bytes]) -> bytes | tuple[type[Exception], str]:
    try:
        return encode()
    except Exception as error:
        return type(error), str(error)


class Text(str):
    """What a driver may hand over instead of a plain str."""


@pytest.mark.parametrize("nullable", [True, False])
@pytest.mark.parametrize("kind", sorted(runner_codec.ENCODERS))
def test_whole_rows_have_the_bytes_and_the_errors_of_their_values(kind: str, nullable: bool) -> None:
    column = runner_codec.Column({"name": "v", "type": kind, "nullable": nullable, "bits": 64})
    odd = (
        None, True, False, 0, -1, 7, 2**63 - 1, -(2**63), 2**64 - 1, 2**64, 2**80, 0.0, -0.0, 1.5, 5.0, 1e300, "", "é",
        Text("x"), "inf", "2000-01-01", b"", b"x", bytearray(b"y"), memoryview(b"z"), date(1, 1, 1),
        datetime(2000, 1, 2, 3, 4, 5, 6),
        datetime(1969, 12, 31, tzinfo=UTC), datetime.min, time(1, 2, 3, 4), UUID(int=5), (1, 2, 3), [1, None], [[1]],
        float("nan"), float("inf"), float("-inf"),
        *map(Decimal, ("-0", "0.00", "-0.00", "100", "1E+3", "1E-9", "0.10", "-5.50", "NaN", "-Infinity", "sNaN", "7")),
    )  # fmt: skip
    encode = row_encoder([column])
    for value in odd:
        wanted = bytes_or_error(lambda value=value: runner_codec.encode_value(value, column))  # type: ignore[misc]
        assert bytes_or_error(lambda value=value: encode((value,))) == wanted, value  # type: ignore[misc]
    for wrong in ((), (None, None)):
        with pytest.raises(ValueError):
            encode(wrong)


def test_a_row_of_nothing_and_rows_of_several_columns() -> None:
    columns = [runner_codec.Column(spec) for spec in VECTORS["row_columns"]]
    for vector in VECTORS["rows"]:
        row = tuple(natural(value, column.type) for value, column in zip(vector["value"], columns, strict=True))
        assert row_encoder(columns)(row).hex() == vector["bytes"]
    assert row_encoder([])(()) == b""


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
        "protocol": [2, 1],
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
        for name, text in language.locked_in(SOURCE / lock).items():
            assert "==" in text, name
            assert "--hash=sha256:" in text, name
        assert "://" not in (SOURCE / lock).read_text()
    for adapter, requirement in ((ADAPTERS["psycopg"], "psycopg[binary]"), (ADAPTERS["mysqlclient"], "mysqlclient")):
        assert language.locked_version(adapter, requirement) == adapter.versions[0]
    assert language.own_requirement(ADAPTERS["psycopg"], "3.2.10") == "psycopg[binary]==3.2.10"


def _locked_here(adapter: Adapter) -> bool:
    return not language.own_requirement(adapter, adapter.versions[0]) and not language.is_compiled(adapter)


def test_the_shared_environment_gets_only_what_is_asked_for(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ROWPATH_CACHE", str(tmp_path))
    installed: list[list[str]] = []

    def install(pip: list[str], what: list[str], *_more: object) -> None:
        installed.append(
            [name for name in language.locked_in(SOURCE / "requirements.lock") if name in _names(what[-1])]
        )

    monkeypatch.setattr(language, "_install", install)
    null, psycopg = (ADAPTERS[name] for name in ("null", "psycopg"))
    version = psycopg.versions[0]
    assert language.interpreter(null, "bundled") is None
    language.build([(null, "bundled")])
    assert installed == [["xxhash"]]
    assert language.interpreter(null, "bundled") and language.interpreter(psycopg, version) is None
    language.build([(null, "bundled"), (psycopg, version)])
    language.build([(psycopg, version)])
    assert installed[1:] == [["psycopg", "psycopg-binary", "typing-extensions"]]
    assert language.interpreter(psycopg, version) == language.interpreter(null, "bundled")


def _names(file: str) -> set[str]:
    return set(re.findall(r"^([a-z0-9-]+)==", Path(file).read_text(), re.MULTILINE))


def test_an_earlier_environment_has_every_package(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ROWPATH_CACHE", str(tmp_path))
    psycopg = ADAPTERS["psycopg"]
    environment = language.environment_of(psycopg, psycopg.versions[0])
    environment.mkdir(parents=True)
    (environment / language.COMPLETE).touch()
    assert language.interpreter(psycopg, psycopg.versions[0])


def test_the_packages_of_every_driver_are_those_that_its_own_metadata_asks_for() -> None:
    locked = language.locked_in(SOURCE / "requirements.lock")
    named = {
        name
        for each in ADAPTERS.values()
        if _locked_here(each)
        for name in language.packages_of(each, each.versions[0])
    }
    assert named == {name for name, entry in locked.items() if "sys_platform == 'win32'" not in entry}
    for adapter in filter(_locked_here, ADAPTERS.values()):
        interpreter = language.interpreter(adapter, adapter.versions[0])
        packages = language.packages_of(adapter, adapter.versions[0])
        folders = next(interpreter.parents[1].glob("lib/python*/site-packages")) if interpreter else None
        for found in importlib.metadata.distributions(path=[str(folders)]) if folders else ():
            if canonicalize_name(found.name) in packages:
                wanted = [Requirement(text) for text in found.requires or ()]
                needed = {canonicalize_name(each.name) for each in wanted if not each.marker or each.marker.evaluate()}
                assert needed <= set(packages), f"{adapter.driver}: {found.name}"
        sources = [SOURCE / adapter.source, *(SOURCE / "families").glob("*/*.py")]
        for source in sources:
            if source.parent.name in ("adapters", *adapter.build.get("families", ())):
                assert "import pyarrow" not in source.read_text() or "pyarrow" in packages, (adapter.driver, source)


def test_without_pip_there_is_a_remedy(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ROWPATH_CACHE", str(tmp_path))
    monkeypatch.setattr(language, "_has", lambda module: module == "venv")
    found = language.availability(ADAPTERS["psycopg"], "3.3.9")
    assert not found.ok
    assert "apt-get install python3-venv" in found.remedy
