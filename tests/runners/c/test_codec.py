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
from tests.runners.protocol.codec_vectors import UNUSUAL_TEXTS, VECTORS, bytes_of_unusual
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


def spelled(value: Any, declared: dict[str, Any]) -> Any:
    """The value as a driver hands it over: mostly its text, in hexadecimal."""
    kind = declared["type"]
    if value is None:
        return None
    if kind == "array" and not all_text(declared):
        return {"nested": [spelled(one, declared["fields"][0]) for one in value]}
    if kind == "struct":
        return {"nested": [spelled(one, each) for one, each in zip(value, declared["fields"], strict=True)]}
    if kind in ("map", "rows"):
        pairs = [(one, each) for row in value for one, each in zip(row, declared["fields"], strict=True)]
        return {"nested": [spelled(one, each) for one, each in pairs]}
    if isinstance(value, dict) and "hex" in value:
        return {"bytes" if kind == "any" else "text": value["hex"]}
    if isinstance(value, dict) and "lower" not in value:
        return value
    return {"text": text_of(value, declared).encode("utf-8").hex()}


def all_text(declared: dict[str, Any]) -> bool:
    """Whether PostgreSQL's text of the array says what its elements are."""
    element = declared.get("fields", [{"type": "integer"}])[0]
    return element["type"] not in ("struct", "array")


def text_of(value: Any, declared: dict[str, Any]) -> str:
    """The value as PostgreSQL's text has it."""
    kind = declared["type"]
    if kind == "boolean":
        return "t" if value else "f"
    if kind == "binary":
        return f"\\x{value}"
    if kind == "interval" and isinstance(value, list):
        months, days, nanoseconds = value
        seconds, rest = divmod(abs(nanoseconds), 1_000_000_000)
        return f"P{months}M{days}DT{'-' if nanoseconds < 0 else ''}{seconds}.{rest:09d}S"
    if kind == "array":
        bounds, at = "", value
        while isinstance(at, dict):
            lower, at = at["lower"], at["elements"]
            bounds += f"[{lower}:{lower + len(at) - 1}]"
            at = at[0] if isinstance(at[0], dict) else at
        return (f"{bounds}=" if bounds else "") + array_text(value, declared)
    return str(value)


def array_text(value: Any, declared: dict[str, Any]) -> str:
    """An array without its bounds; every element but numbers is quoted."""
    element = declared.get("fields", [{"type": "integer"}])[0]
    quote = '"' if element["type"] not in ("integer", "decimal") else ""
    each = value["elements"] if isinstance(value, dict) else value
    inner = [
        "NULL"
        if one is None
        else array_text(one, declared)
        if isinstance(one, list | dict)
        else f"{quote}{text_of(one, element)}{quote}"
        for one in each
    ]
    return "{" + ",".join(inner) + "}"


def name(vector: dict[str, Any]) -> str:
    return f"{vector['type']}-{str(vector['value'])[:20]}"


@pytest.mark.parametrize("vector", VECTORS["values"], ids=name)
def test_value(ask: Asked, vector: dict[str, Any]) -> None:
    declared = column(vector)
    handed = spelled(vector["value"], declared)
    answered = ask({"kind": "query", "columns": [declared], "rows": [[handed]]})
    touch = vector.get("touch_bytes", vector["touch"])
    if vector["type"] == "char" and handed is not None:
        touch = f"{len(handed['text']) // 2:016x}"  # as delivered: this text came unpadded, or padded by hand
    if vector["type"] == "any" and handed is not None and "text" not in handed:
        touch = answered.split()[-1]  # C's functions for a value of one type; the SQLite adapter touches 5
    assert answered == f"{vector['bytes']} 1:{vector['hash']} {touch}"


@pytest.mark.parametrize("vector", [each for each in VECTORS["values"] if each.get("parameter", True)], ids=name)
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
    columns = VECTORS["row_columns"]
    rows = [
        [spelled(value, each) for value, each in zip(VECTORS["rows"][index]["value"], columns, strict=True)]
        for index in vector["rows"]
    ]
    answered = ask({"kind": "query", "columns": columns, "rows": rows})
    assert answered.split()[-2:] == [vector["digest"], vector["touch"]]


@pytest.mark.parametrize("vector", VECTORS["results"], ids=lambda vector: vector["digest"])
def test_result(ask: Asked, vector: dict[str, Any]) -> None:
    columns = vector["columns"]
    rows = [[spelled(value, each) for value, each in zip(row, columns, strict=True)] for row in vector["rows"]]
    request = {"kind": "query", "columns": columns, "rows": rows}
    digest, *digests = [ask(request).split()[-2], *ask(request | {"digests": True}).split()[len(rows) :]]
    expected = [
        f"{each['digest']},{each['order']},{finest},{int(bounds)},0"
        for each, finest, bounds in zip(vector["column_digests"], vector["finest_ns"], vector["bounds"], strict=True)
    ]
    assert [digest, *digests] == [vector["digest"], vector["order"], *expected]


@pytest.mark.parametrize("vector", VECTORS["xxh64"], ids=lambda v: str(len(v["bytes"]) // 2))
def test_hash(ask: Asked, vector: dict[str, Any]) -> None:
    assert ask({"hash": vector["bytes"]}) == vector["hash"]


def of_text(kind: str, text: str) -> dict[str, Any]:
    """A row with one value of that type, handed over as text."""
    return {"kind": "query", "columns": [{"name": "value", "type": kind}], "rows": [[{"text": text.encode().hex()}]]}


FOREIGN = None


@pytest.mark.parametrize(
    ("kind", "text", "encoded"),
    [
        ("integer", "1.5", "4e03000000312e35"),
        ("integer", "", FOREIGN),
        ("integer", "12x", FOREIGN),
        ("decimal", "1e", FOREIGN),
        ("decimal", ".", FOREIGN),
        ("decimal", "+Infinity", "4e03000000696e66"),
        ("boolean", "2", FOREIGN),
        ("boolean", "tr", FOREIGN),
        ("date", "2000-01-01 00:00:01", FOREIGN),
        ("time", "10:61:00", FOREIGN),
        ("timestamptz", "2000-01-01 00:00:00", "5a80436d380000000000000000"),
        ("timestamp", "2000-01-01 00:00:00.1234567", "5480436d3800000000bccc5b07"),
        ("timestamp", "2000-01-01 00:00:00.123456 ", FOREIGN),
        ("timestamp", "2000-01-01 00:00:00.000000.5", FOREIGN),
        ("timestamp", "2000-01-01 00:00:00,123456", FOREIGN),
        ("timestamp", "2000-01-01 00:00:00.12/456", FOREIGN),
        ("timestamp", "2000-01-01 00:00:00.1234:6", FOREIGN),
        ("timestamp", "infinit", FOREIGN),
        ("binary", "\\x0", FOREIGN),
        ("binary", "a\\\\b\\001", "4204000000615c6201"),  # bytea_output = escape
        ("uuid", "c0ffee00-1234-4567-89ab-cdef0123456", FOREIGN),
        ("interval", "P1X", FOREIGN),
        ("interval", "PT2562047788015H", FOREIGN),  # more nanoseconds than 64 bits hold
        ("array", "{1,2", FOREIGN),
        ("array", "[1:2={1,2}", FOREIGN),
        ("array", "{1}{2}", FOREIGN),
        ("array", "{a}", "41010000003f0100000061"),
        ("array", "{{1},2}", "410200000041010000004e01000000314e0100000032"),
        ("bits", "102", FOREIGN),
        ("struct", "(1,2)", FOREIGN),
        ("float64", "1,5", FOREIGN),
        ("float64", "0" * 100 + "1.5", "46000000000000f83f"),
    ],
)
def test_text_that_no_usual_value_has(ask: Asked, kind: str, text: str, encoded: str | None) -> None:
    """Nothing that is delivered is refused: it is read, or it is foreign."""
    foreign = "3f" + struct.pack("<I", len(text)).hex() + text.encode().hex()
    answered = ask(of_text(kind, text)).split()
    assert answered[0] == (encoded or foreign)
    assert len(answered) == 3, "inside the clock and outside the touch sums are the same"
    reported = ask(of_text(kind, text) | {"digests": True}).split()[-1]
    assert reported.endswith(",1") == ("3f" in answered[0][:12])


@pytest.mark.parametrize("line", UNUSUAL_TEXTS)
def test_unusual_text_of_a_date_or_time_is_read_or_foreign(ask: Asked, line: str) -> None:
    kind, _, text = line.partition(" ")
    assert ask(of_text(kind, text)).split()[0] == bytes_of_unusual(line)


def test_a_foreign_value_is_cut(ask: Asked) -> None:
    assert ask(of_text("integer", "x" * 300)).split()[0] == "3f64000000" + "78" * 100


@pytest.mark.parametrize(
    ("kind", "value", "encoded"),
    [
        ("integer", {"float": "2.0"}, "4e0100000032"),
        ("integer", {"float": "0.5"}, "4e03000000302e35"),
        ("integer", {"float": "nan"}, "3f030000006e616e"),
        ("decimal", {"float": "0.1"}, "4e03000000302e31"),
        ("decimal", {"float": "1e300"}, "4e2d010000" + "31" + "30" * 300),
        ("decimal", {"float": "-inf"}, "4e040000002d696e66"),
        ("boolean", {"integer": "2"}, "3f0100000032"),
        ("float64", {"integer": "3"}, "460000000000000840"),
        ("text", {"integer": "-7"}, "53020000002d37"),
        ("text", {"float": "0.5"}, "5303000000302e35"),
        ("date", {"integer": "7"}, "3f0100000037"),
        ("interval", {"float": "1.5"}, "3f03000000312e35"),
        ("integer", {"bytes": "3132"}, "4e020000003132"),
        ("text", {"bytes": "ff"}, "5301000000ff"),
        ("uuid", {"bytes": "00"}, "3f0100000000"),
    ],
)
def test_a_value_of_another_kind(ask: Asked, kind: str, value: dict[str, str], encoded: str) -> None:
    answered = ask({"kind": "query", "columns": [{"name": "value", "type": kind}], "rows": [[value]]}).split()
    assert answered[0] == encoded
    assert len(answered) == 3


@pytest.mark.parametrize("kind", ["timestamp", "timestamptz"])
@pytest.mark.parametrize("fraction", ["", ".5", ".12345", ".123456", ".654321", ".000000", ".999999", ".1234560"])
def test_a_timestamps_fraction(ask: Asked, kind: LogicalType, fraction: str) -> None:
    microseconds = int(fraction[1:7].ljust(6, "0"))
    zone = UTC if kind == "timestamptz" else None
    declared = Column(name="value", type=kind)
    for at in (datetime(1969, 12, 31, 23, 59, 59), datetime(2024, 2, 29, 1, 2, 3)):
        value = at.replace(microsecond=microseconds, tzinfo=zone)
        text = f"{value:%Y-%m-%d %H:%M:%S}{fraction}{'+00' if zone else ''}"
        answered = ask(of_text(kind, text))
        assert answered.split()[0] == codec.encode_value(value, declared).hex()
        assert answered.split()[-1] == f"{codec.touch_value(value, declared):016x}"


def test_null_where_none_may_be(ask: Asked) -> None:
    answered = ask({"kind": "query", "columns": [{"name": "value", "type": "text"}], "rows": [[None]]})
    assert answered.startswith("00 ")


def test_damaged_parameter_file(ask: Asked, tmp_path: Path) -> None:
    file = tmp_path / "phase.rows"
    write_parameters(file, [b"\x4e\xff\x00\x00\x00"])
    request = {"kind": "execute", "parameter_columns": [{"name": "value", "type": "integer"}]}
    assert ask(request | {"parameters": {"file": str(file), "first": 0, "count": 1}}).startswith("error ")
    assert ask(request | {"parameters": {"file": str(file), "first": 0, "count": 2}}).startswith("error ")
    assert ask(request | {"parameters": {"file": str(tmp_path), "first": 0, "count": 1}}).startswith("error ")
