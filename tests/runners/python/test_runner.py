"""The Python runner: its codec, its loop and its manners as a process."""

from __future__ import annotations

import importlib.metadata
import json
import os
import re
import signal
import struct
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

import msgspec
import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from rowpath.model.path import AccessPath
from rowpath.model.workload import ColumnSpec
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
from core.decoder import decode_row  # noqa: E402
from core.digest import row_hash  # noqa: E402
from core.iso import Bounded, Days, Nanoseconds  # noqa: E402
from core.operation import Operation  # noqa: E402
from core.prepared_phase import Share  # noqa: E402
from core.row_bytes import row_encoder  # noqa: E402
from core.sampler import Sampler  # noqa: E402
from core.touch import MASK64  # noqa: E402
from families.sql.literals import with_literals  # noqa: E402
from families.sql.placeholders import split_placeholders  # noqa: E402
from families.text.values import FROM_TEXT  # noqa: E402

language: Any = toolchain("python")
NULL_OPERATION_LIMIT_NS = 350


def column_of(vector: dict[str, Any]) -> Any:
    return runner_codec.Column({"name": "v", "type": vector["type"], **vector.get("column", {})})


def delivered(value: Any, spec: dict[str, Any]) -> Any:
    """A vector's value as the natural Python value."""
    return natural(value, msgspec.convert({"name": "v", **spec}, ColumnSpec))


def encoded_alone(value: Any, column: Any) -> bytes:
    """The bytes of one value, whole rows and single values being the same."""
    met, again = runner_codec.Met(), runner_codec.Met()
    encoded: bytes = runner_codec.encode_value(value, column, met)
    assert row_encoder([column], [again])((value,)) == [encoded]
    assert again.fields() == met.fields()
    return encoded


@pytest.mark.parametrize("vector", VECTORS["values"], ids=lambda v: f"{v['type']}-{v['value']}"[:40])
def test_its_codec_keeps_the_shared_vectors(vector: dict[str, Any]) -> None:
    column = column_of(vector)
    value = delivered(vector["value"], {"type": vector["type"], **vector.get("column", {})})
    encoded = encoded_alone(value, column)
    assert encoded.hex() == vector["bytes"]
    assert f"{row_hash(encoded):016x}" == vector["hash"]
    if vector.get("parameter", True):
        assert encoded_alone(*decode_row(encoded, [column]), column) == encoded
    sampler = Sampler("query", [column], Operation(lambda _: [(value,)]))
    verified = sampler.verify(0, 1, 1)
    assert verified["digest"] == f"1:{vector['hash']}"
    assert "foreign" not in verified["columns"][0]
    trimmed = str(value).endswith(" ")  # a text with the padding in it
    assert trimmed or verified["touch"] in {vector["touch"], vector.get("touch_padded"), vector.get("touch_bytes")}
    assert f"{sampler.by_count(0, 0, 1)[4] & MASK64:016x}" == verified["touch"]


@pytest.mark.parametrize("vector", VECTORS["results"], ids=lambda v: v["order"])
def test_verify_replies_what_the_shared_results_say(vector: dict[str, Any]) -> None:
    columns = [runner_codec.Column(spec) for spec in vector["columns"]]
    rows = [
        [delivered(value, spec) for value, spec in zip(row, vector["columns"], strict=True)] for row in vector["rows"]
    ]
    reply = Sampler("query", columns, Operation(lambda _: rows)).verify(0, 1, 1000)
    assert (reply["digest"], reply["order"]) == (vector["digest"], vector["order"])
    assert [{"digest": one["digest"], "order": one["order"]} for one in reply["columns"]] == vector["column_digests"]
    assert [one.get("finest_ns", 0) for one in reply["columns"]] == vector["finest_ns"]
    assert [one.get("bounds", False) for one in reply["columns"]] == vector["bounds"]
    assert all("foreign" not in one for one in reply["columns"])


class Text(str):
    """What a driver may hand over instead of a plain str."""


class Awkward:
    """A value of a class of a driver's own that refuses everything."""

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(name)

    def __str__(self) -> str:
        raise ValueError("no text either")


ODD = (
    None, True, False, 0, -1, 7, 2**63 - 1, -(2**63), 2**64 - 1, 2**64, 2**80, 2**200, 10**5000, 0.0, -0.0, 1.5, 5.0,
    1e300, "", "é", "\ud800", Text("x"), "inf", "2000-01-01", "2000-02-30", "44:61", "0000-00-00", "1 mons", "{1,{2}",
    "{", "[2:3]={1,NULL}", "24:00:00", b"", b"x", b"\xff", bytearray(b"y"), memoryview(b"z"), date(1, 1, 1), date.max,
    datetime(2000, 1, 2, 3, 4, 5, 6), datetime(1969, 12, 31, tzinfo=UTC), datetime.min, datetime.max, time(1, 2, 3, 4),
    time(1, tzinfo=UTC), timedelta(-1, 5), UUID(int=5), (1, 2, 3), [1, None], [[1]], {"a": 1}, {}, [("a", 1)],
    float("nan"), float("inf"), float("-inf"), 1j, object(), Awkward(), Bounded(0, [1]), Days(10**9), Nanoseconds(-1),
    *map(Decimal, ("-0", "0.00", "-0.00", "100", "1E+3", "1E-9", "0.10", "-5.50", "NaN", "-Infinity", "sNaN", "7")),
)  # fmt: skip


@pytest.mark.parametrize("nullable", [True, False])
@pytest.mark.parametrize("kind", sorted(runner_codec.ENCODERS))
def test_every_value_is_delivered_touched_and_counted(kind: str, nullable: bool) -> None:
    fields = [] if kind == "array" else [{"name": "a", "type": "integer"}, {"name": "b", "type": "text"}]
    column = runner_codec.Column({"name": "v", "type": kind, "nullable": nullable, "bits": 64, "fields": fields})
    for value in ODD:
        encoded = encoded_alone(value, column)
        assert encoded, value
        sampler = Sampler("query", [column], Operation(lambda _, value=value: [(value,), (value,)]))
        verified = sampler.verify(0, 1, 10)
        block = sampler.sample(Share(0, 0, 0, 3)).outcome
        assert (block.operations, block.failed, block.rows) == (3, 0, 6), value
        assert f"{block.total & MASK64:016x}" == f"{3 * int(verified['touch'], 16) & MASK64:016x}", value
        foreign = encoded.startswith(b"?") or (kind in ("array", "struct", "map", "rows") and b"?" in encoded)
        assert verified["columns"][0].get("foreign", 0) >= 2 * foreign, value
        assert bool(verified["columns"][0].get("reason")) == bool(verified["columns"][0].get("foreign")), value
    for wrong in ((), (None, None)):
        with pytest.raises(ValueError):
            row_encoder([column], [runner_codec.Met()])(wrong)


def test_a_sample_that_met_another_kind_before_verify_is_repeated_with_care() -> None:
    column = runner_codec.Column({"name": "v", "type": "integer"})
    sampler = Sampler("query", [column], Operation(lambda _: [(1,), (0.5,), (Decimal("2.5"),)]))
    first = sampler.sample(Share(0, 0, 0, 4)).outcome
    assert first.total == sampler.sample(Share(0, 0, 0, 4)).outcome.total
    assert f"{first.total & MASK64:016x}" == f"{4 * int(sampler.verify(0, 1, 9)['touch'], 16):016x}"


NEAREST = (
    ("integer", "5", b"N\1\0\0\0005"),
    ("integer", 1.5, b"N\3\0\0\0001.5"),
    ("decimal", 0.1, b"N\3\0\0\0000.1"),
    ("decimal", "NaN", b"N\3\0\0\0nan"),
    ("float64", "1", b"F" + struct.pack("<d", 1)),
    ("char", b"x  ", b"S\1\0\0\0x"),
    ("text", b"\xff", b"S\1\0\0\0\xff"),
    ("text", Days(3663382), b"S\x0b\0\0\00012000-01-01"),
    ("text", Days(-735160), b"S\x0d\0\0\0000044-03-15 BC"),
    ("text", "\ud800", b"S\3\0\0\0\xed\xa0\x80"),
    ("boolean", "t", b"L\1"),
    ("date", "2000-01-01", b"d" + struct.pack("<i", 10957)),
    ("date", datetime(2000, 1, 1), b"d" + struct.pack("<i", 10957)),
    ("date", "infinity", b"X\3\0\0\0inf"),
    ("date", "0044-03-15 (BC)", bytes.fromhex("6448c8f4ff")),
    ("timestamp", "-infinity", b"X\4\0\0\0-inf"),
    ("timestamptz", "2000-01-01 00:00:00+05:45", b"Z" + struct.pack("<qI", 946684800 - 20700, 0)),
    ("time", timedelta(hours=25, minutes=30), bytes.fromhex("7400f063da7d530000")),
    ("timetz", time(12, 34, 56, 500000, timezone(timedelta(hours=5))), bytes.fromhex("7900c5ca693229000050460000")),
    ("interval", "P1Y2M-3DT1H2M3.5S", b"I" + struct.pack("<iiq", 14, -3, 3723500000000)),
    ("interval", "1 year 2 mons -3 days +01:02:03.5", b"I" + struct.pack("<iiq", 14, -3, 3723500000000)),
    ("interval", "infinity", b"X\3\0\0\0inf"),
    ("interval", timedelta(-1, 1), b"I" + struct.pack("<iiq", 0, -1, 10**9)),
    ("bits", b"\5", bytes.fromhex("620800000005")),
    ("uuid", "00000000-0000-0000-0000-000000000005", b"U" + bytes(15) + b"\5"),
    ("array", "{1,NULL}", b"A\2\0\0\0N\1\0\0\0001\0"),
    ("array", "[0:1]={1,2}", b"a\0\0\0\0A\2\0\0\0N\1\0\0\0001N\1\0\0\0002"),
    ("any", True, b"L\1"),
    ("any", date(1970, 1, 2), b"d\1\0\0\0"),
    ("any", [1, "x"], b"A\2\0\0\0N\1\0\0\0001S\1\0\0\0x"),
    ("integer", None, b"\0"),
    ("integer", "five", b"?\4\0\0\0five"),
    ("date", "soon" * 100, b"?\x64\0\0\0" + b"soon" * 25),
)


@pytest.mark.parametrize(("kind", "value", "right"), NEAREST, ids=lambda x: str(x)[:30])
def test_a_value_of_another_kind_takes_the_nearest_form(kind: str, value: Any, right: bytes) -> None:
    assert encoded_alone(value, runner_codec.Column({"name": "v", "type": kind})) == right


def test_bits_of_mysql_have_the_declared_number() -> None:
    column = runner_codec.Column({"name": "v", "type": "bits", "length": 5})
    assert encoded_alone(b"\x05", column) == encoded_alone(5, column) == encoded_alone("00101", column)


def test_a_row_of_nothing_and_rows_of_several_columns() -> None:
    columns = [runner_codec.Column(spec) for spec in VECTORS["row_columns"]]
    for vector in VECTORS["rows"]:
        row = tuple(delivered(v, spec) for v, spec in zip(vector["value"], VECTORS["row_columns"], strict=True))
        encode = row_encoder(columns, [runner_codec.Met() for _ in columns])
        assert b"".join(encode(row)).hex() == vector["bytes"]
    assert row_encoder([], [])(()) == []
    wide = Sampler("query", [runner_codec.Column({"type": "integer"})] * 12_000, Operation(lambda _: [[1] * 12_000]))
    assert wide.by_count(0, 0, 2)[4] == 24_000
    nothing = Sampler("query", [], Operation(lambda _: [(), ()]))
    assert nothing.by_count(0, 0, 3)[3:5] == (6, 0)
    assert nothing.verify(0, 1, 10)["digest"] == f"2:{2 * row_hash(b'') & MASK64:016x}"


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
        "protocol": [3, 0],
        "codec": 2,
        "requires": [],
        "adapter": "null",
    }
    for changed, text in (
        ({"protocol": [2, 1]}, "protocol"),
        ({"codec": 1}, "codec"),
        ({"requires": ["touch", "magic"]}, "magic"),
        ({"adapter": "other"}, "other"),
        ({"type": "dance"}, "dance"),
    ):
        reply = spoken(hello | changed)
        assert reply["error"]["kind"] == "unsupported"
        assert text in reply["error"]["text"]
    assert spoken(hello | {"protocol": [3, 9], "unknown": True})["loop_tid"] > 0


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
    for lock in ("requirements.lock", "compiled.lock", "duckdb-1.5.lock"):
        for name, text in language.locked_in(SOURCE / lock).items():
            assert "==" in text, name
            assert "--hash=sha256:" in text, name
        assert "://" not in (SOURCE / lock).read_text()
    for adapter, requirement in ((ADAPTERS["psycopg"], "psycopg[binary]"), (ADAPTERS["mysqlclient"], "mysqlclient")):
        assert language.locked_version(adapter, requirement) == adapter.versions[0]
    assert language.own_requirement(ADAPTERS["psycopg"], "3.2.10") == "psycopg[binary]==3.2.10"


def _locked_here(adapter: Adapter) -> bool:
    return not language.own_requirement(adapter, adapter.versions[0]) and not language.is_compiled(adapter)


def _with_layers() -> Iterator[Adapter]:
    """Each adapter of the shared environment, by itself and as each layer above it needs it."""
    for adapter in filter(_locked_here, ADAPTERS.values()):
        yield adapter
        for layer in adapter.layers:
            yield language.variants_of(adapter, AccessPath.of({"layer": layer.name}))[0]
        for pool in adapter.pools:
            yield language.variants_of(adapter, AccessPath.of({"pool": pool.name}))[0]


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
    named = {name for each in _with_layers() for name in language.packages_of(each, each.versions[0])}
    loops = (loop for each in ADAPTERS.values() for loop in each.build.get("loop", {}).values())
    named |= {name for loop in loops for name in loop["packages"]}
    assert named == {name for name, entry in locked.items() if "sys_platform == 'win32'" not in entry}
    for adapter in _with_layers():
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


def test_a_version_with_a_lock_of_its_own_has_an_environment_made_of_that(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("ROWPATH_CACHE", str(tmp_path))
    installed: list[list[str]] = []
    monkeypatch.setattr(language, "_install", lambda _pip, what, *_more: installed.append(what))
    duckdb, quack = ADAPTERS["duckdb"], ADAPTERS["duckdb-quack"]
    language.build([(duckdb, "1.5.5"), (quack, "1.5.5")])
    assert [_names(what[-1]) for what in installed] == [
        {"xxhash", "pyarrow"},
        {"duckdb", "duckdb-extension-httpfs", "duckdb-extension-quack"},
    ]
    assert all("--require-hashes" in what for what in installed)
    assert language.interpreter(duckdb, "1.5.5") == language.interpreter(quack, "1.5.5") is not None
    assert language.environment_of(duckdb, "1.5.5") != language.environment_of(duckdb, "2.0.0")


def test_without_pip_there_is_a_remedy(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ROWPATH_CACHE", str(tmp_path))
    monkeypatch.setattr(language, "_has", lambda module: module == "venv")
    found = language.availability(ADAPTERS["psycopg"], "3.3.9")
    assert not found.ok
    assert "apt-get install python3-venv" in found.remedy
