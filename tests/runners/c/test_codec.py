"""The C runner's codec against the vectors that every language shares."""

from __future__ import annotations

import contextlib
import json
import shutil
import struct
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from rowpath.machine import c_compiler
from rowpath.model.workload import Column, LogicalType
from rowpath.runners.manifest import toolchain
from rowpath.workloads import codec
from tests.runners.protocol.codec_vectors import VECTORS
from tests.runners.protocol.talk import answers

c: Any = toolchain("c")
pytestmark = pytest.mark.skipif(shutil.which(c_compiler.words()[0]) is None, reason="no C compiler")

Asked = Callable[[dict[str, Any]], str]


@pytest.fixture(scope="module")
def ask() -> Iterator[Asked]:
    with contextlib.contextmanager(answers)([str(c.codec_trial())]) as answer:
        yield lambda request: answer(json.dumps(request))


def column(vector: dict[str, Any]) -> dict[str, Any]:
    return {"name": "value", "type": vector["type"], **vector.get("column", {})}


def spelled(vector: dict[str, Any], value: Any) -> str | None:
    """The value as a driver's text has it."""
    if value is None:
        return None
    kind = vector["type"]
    if kind == "boolean":
        return "t" if value else "f"
    if kind == "binary":
        return f"\\x{value}"
    if kind == "interval":
        months, days, nanoseconds = value
        seconds, rest = divmod(abs(nanoseconds), 1_000_000_000)
        return f"P{months}M{days}DT{'-' if nanoseconds < 0 else ''}{seconds}.{rest:09d}S"
    if kind == "array":
        return "{" + ",".join("NULL" if element is None else str(element) for element in value) + "}"
    return str(value)


def name(vector: dict[str, Any]) -> str:
    return f"{vector['type']}-{str(vector['value'])[:20]}"


@pytest.mark.parametrize("vector", VECTORS["values"], ids=name)
def test_value(ask: Asked, vector: dict[str, Any]) -> None:
    text = spelled(vector, vector["value"])
    answered = ask({"kind": "query", "columns": [column(vector)], "rows": [[text]]})
    touch = vector.get("touch_bytes", vector["touch"])
    if vector["type"] == "char" and text is not None:
        touch = f"{len(text.encode()):016x}"  # as delivered: this text came unpadded, or padded by hand
    assert answered == f"{vector['bytes']} 1:{vector['hash']} {touch}"


@pytest.mark.parametrize("vector", VECTORS["values"], ids=name)
def test_parameter(ask: Asked, vector: dict[str, Any], tmp_path: Path) -> None:
    encoded = bytes.fromhex(vector["bytes"])
    if vector["type"] == "char":
        vector = vector | {"value": (vector["value"] or "").rstrip(" ")}
    file = tmp_path / "phase.rows"
    write_parameters(file, [b"", encoded, b""])
    slice_ = {"file": str(file), "first": 1, "count": 1}
    answered = ask({"kind": "execute", "parameter_columns": [column(vector)], "parameters": slice_})
    assert answered.split()[:2] == [vector["bytes"], f"1:{vector['hash']}"]


def write_parameters(file: Path, rows: list[bytes]) -> None:
    offsets = [16 + 8 * (len(rows) + 1)]
    for row in rows:
        offsets.append(offsets[-1] + len(row))
    file.write_bytes(b"RPROWS1\n" + struct.pack(f"<{len(offsets) + 1}Q", len(rows), *offsets) + b"".join(rows))


@pytest.mark.parametrize("vector", VECTORS["digests"], ids=lambda vector: str(vector["rows"]))
def test_digest(ask: Asked, vector: dict[str, Any]) -> None:
    rows = [VECTORS["rows"][index]["value"] for index in vector["rows"]]
    answered = ask({"kind": "query", "columns": VECTORS["row_columns"], "rows": rows})
    assert answered.split()[-2:] == [vector["digest"], vector["touch"]]


@pytest.mark.parametrize("vector", VECTORS["xxh64"], ids=lambda v: str(len(v["bytes"]) // 2))
def test_hash(ask: Asked, vector: dict[str, Any]) -> None:
    assert ask({"hash": vector["bytes"]}) == vector["hash"]


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("integer", "1.5"),
        ("integer", ""),
        ("integer", "12x"),
        ("decimal", "1e"),
        ("decimal", "."),
        ("boolean", "2"),
        ("date", "2000-13-01"),
        ("date", "2000-01-01 00:00:00"),
        ("time", "25:00:00"),
        ("timestamp", "2000-01-01"),
        ("timestamptz", "2000-01-01 00:00:00"),
        ("timestamp", "2000-01-01 00:00:00.1234567"),
        ("timestamp", "2000-01-01 00:00:00.123456 "),
        ("timestamp", "2000-01-01 00:00:00.000000.5"),
        ("timestamp", "2000-01-01 00:00:00,123456"),
        ("timestamp", "2000-01-01 00:00:00.12/456"),
        ("timestamp", "2000-01-01 00:00:00.1234:6"),
        ("binary", "\\x0"),
        ("binary", "00"),
        ("uuid", "c0ffee00-1234-4567-89ab-cdef0123456"),
        ("interval", "P1X"),
        ("array", "{1,2"),
        ("array", "{a}"),
        ("float64", "1,5"),
    ],
)
def test_text_that_does_not_fit(ask: Asked, kind: str, text: str) -> None:
    answered = ask({"kind": "query", "columns": [{"name": "value", "type": kind}], "rows": [[text]]})
    assert "error column value: " in answered


@pytest.mark.parametrize("kind", ["timestamp", "timestamptz"])
@pytest.mark.parametrize("fraction", ["", ".5", ".12345", ".123456", ".654321", ".000000", ".999999", ".1234560"])
def test_a_timestamps_fraction(ask: Asked, kind: LogicalType, fraction: str) -> None:
    microseconds = int(fraction[1:7].ljust(6, "0"))
    zone = UTC if kind == "timestamptz" else None
    declared = Column(name="value", type=kind)
    for at in (datetime(1969, 12, 31, 23, 59, 59), datetime(2024, 2, 29, 1, 2, 3)):
        value = at.replace(microsecond=microseconds, tzinfo=zone)
        text = f"{value:%Y-%m-%d %H:%M:%S}{fraction}{'+00' if zone else ''}"
        answered = ask({"kind": "query", "columns": [{"name": "value", "type": kind}], "rows": [[text]]})
        assert answered.split()[0] == codec.encode_value(value, declared).hex()
        assert answered.split()[-1] == f"{codec.touch_value(value, declared):016x}"


def test_null_where_none_may_be(ask: Asked) -> None:
    answered = ask({"kind": "query", "columns": [{"name": "value", "type": "text"}], "rows": [[None]]})
    assert "error column value: NULL" in answered


def test_damaged_parameter_file(ask: Asked, tmp_path: Path) -> None:
    file = tmp_path / "phase.rows"
    write_parameters(file, [b"\x4e\xff\x00\x00\x00"])
    request = {"kind": "execute", "parameter_columns": [{"name": "value", "type": "integer"}]}
    assert ask(request | {"parameters": {"file": str(file), "first": 0, "count": 1}}).startswith("error ")
    assert ask(request | {"parameters": {"file": str(file), "first": 0, "count": 2}}).startswith("error ")
    assert ask(request | {"parameters": {"file": str(tmp_path), "first": 0, "count": 1}}).startswith("error ")
