"""Node's codec against the shared vectors, what it makes of texts, and that no value that a driver delivers fails."""

from __future__ import annotations

import json
from collections.abc import Iterator
from decimal import Decimal
from typing import Any, get_args

import pytest

from rowpath.model import histogram
from rowpath.model.path import AccessPath
from rowpath.model.workload import Column, ColumnSpec, LogicalType
from rowpath.runners import manifest
from rowpath.workloads import codec
from tests.runners.protocol.codec_vectors import UNUSUAL_TEXTS, VECTORS, bytes_of_unusual
from tests.runners.protocol.talk import Ask, adapter, answers

NODE = adapter("node", "null")
Vector = dict[str, Any]
pytestmark = pytest.mark.skipif(not manifest.availability(NODE, "bundled").ok, reason="no Node")


@pytest.fixture(scope="module")
def ask() -> Iterator[Ask]:
    manifest.build([(NODE, "bundled")])
    program, main, *_ = manifest.command(NODE, "bundled", AccessPath.of({})).arguments
    yield from answers([program, main.replace("core/main.js", "tests/codec_trial.js")])


def name(vector: Vector) -> str:
    return f"{vector['type']}-{str(vector['value'])[:20]}"


@pytest.mark.parametrize("vector", VECTORS["values"], ids=name)
def test_value(ask: Ask, vector: Vector) -> None:
    touch = vector.get("touch_utf16", vector["touch"])
    assert ask(f"value {json.dumps(vector)}") == f"{vector['bytes']} 1:{vector['hash']} {touch} {touch}"


@pytest.mark.parametrize("result", VECTORS["results"], ids=lambda result: f"{len(result['rows'])} rows")
def test_result(ask: Ask, result: Vector) -> None:
    reply = json.loads(ask(f"result {json.dumps(result)}"))
    assert (reply["digest"], reply["order"]) == (result["digest"], result["order"])
    columns = reply["columns"]
    sums = [{key: column[key] for key in ("digest", "order")} for column in columns]
    assert sums == result["column_digests"]
    assert [column.get("finest_ns", 0) for column in columns] == result["finest_ns"]
    assert [column.get("bounds", False) for column in columns] == result["bounds"]
    assert not any("foreign" in column for column in columns)


@pytest.mark.parametrize("vector", VECTORS["xxh64"], ids=lambda vector: str(len(vector["bytes"]) // 2))
def test_hash(ask: Ask, vector: Vector) -> None:
    assert ask(f"hash {vector['bytes']}") == vector["hash"]


TEXTS = {
    "text date 0001-01-01": ("date", "0001-01-01"),
    "text date infinity": ("date", float("inf")),
    "text date 2024-02-30": ("date", "2024-02-30"),
    "text date 0351-02-28 BC": ("date", "0351-02-28 BC"),
    "text timestamp 1969-12-31 23:59:59.5": ("timestamp", "1969-12-31 23:59:59.5"),
    "text timestamp 2024-02-30 10:11:12": ("timestamp", "2024-02-30 10:11:12"),
    "text timestamp 2000-01-01": ("timestamp", "2000-01-01"),
    "text timestamptz 2000-11-07 01:02:03+02": ("timestamptz", "2000-11-07 01:02:03+02"),
    "text timestamptz 2000-11-07 01:02:03-05:30": ("timestamptz", "2000-11-07 01:02:03-05:30"),
    "text time 12:34:56.5": ("time", "12:34:56.5"),
    "text time 24:00:00": ("time", "24:00:00"),
    "text time -838:59:59.999999": ("time", "-838:59:59.999999"),
    "text timetz 12:34:56.5+05": ("timetz", "12:34:56.5+05:00"),
    "text interval P1Y2M3DT-4H-5M-6.000007S": ("interval", (14, 3, -14_706_000_007_000)),
    "text interval -infinity": ("interval", float("-inf")),
    "text array {NULL,0,-1}": ("array", [None, 0, -1]),
    "text array {{1,2},{3,4}}": ("array", [[1, 2], [3, 4]]),
    "text array [0:1]={5,6}": ("array", codec.Bounded(0, [5, 6])),
    "text array {}": ("array", []),
}


@pytest.mark.parametrize("line", TEXTS)
def test_text(ask: Ask, line: str) -> None:
    kind, value = TEXTS[line]
    column: Any = ColumnSpec(name="value", type=kind, bits=64)
    assert ask(line) == codec.encode_value(value, column).hex()


UNREADABLE = (
    "date no date",
    "timestamp 2000-01-01 0a:00:00",
    "timestamp 2000-01-01 00:00:00.",
    "timetz 12:00",
    "interval 3 days",
    "array {1,2",
    'array {"a',
    "array 1,2",
)


@pytest.mark.parametrize("line", UNUSUAL_TEXTS)
def test_unusual_text_of_a_date_or_time_is_read_or_foreign(ask: Ask, line: str) -> None:
    assert ask(f"text {line}") == bytes_of_unusual(line)


@pytest.mark.parametrize("line", UNREADABLE)
def test_text_that_cannot_be_read_is_foreign(ask: Ask, line: str) -> None:
    text = line.partition(" ")[2].encode()
    assert ask(f"text {line}") == (b"?" + len(text).to_bytes(4, "little") + text).hex()


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("5.00", "5"),
        ("0.5E1", "5"),
        ("-0.0", "0"),
        ("1E+3", "1000"),
        ("12e-3", "0.012"),
        ("007.10", "7.1"),
        (".5", "0.5"),
    ],
)
def test_plain_notation(ask: Ask, text: str, plain: str) -> None:
    assert ask(f"decimal {text}") == plain


@pytest.mark.parametrize(
    "text",
    ["0099-12-31 23:59:59", "0100-01-01 00:00:00", "2000-02-29 12:34:56.7", "9999-12-31 23:59:59.999999999"],
)
def test_a_timestamp_with_a_blank_and_with_a_t(ask: Ask, text: str) -> None:
    by_places = ask(f"text timestamp {text}")
    assert by_places == ask(f"text timestamp {text.replace(' ', 'T')}")
    assert by_places.startswith("54")


@pytest.mark.parametrize("value", [0, 1, 255, 256, 257, 1000, 123_456, 2**31, 2**32 - 1, 2**32, 2**40 + 12345, 2**52])
def test_histogram_buckets_are_those_of_the_controller(ask: Ask, value: int) -> None:
    assert ask(f"bucket {value}") == str(histogram.index_of(value))


# What was refused before codec 2, or kept an error of ours: a column, a driver's value, and the bytes that it has now.
DELIVERED: dict[str, tuple[str, dict[str, Any], Any]] = {
    "null": ("integer", {}, None),
    "undefined": ("integer", {}, b"?\x09\0\0\0undefined"),
    "40000": ("integer", {"bits": 16}, 40000),
    "2n ** 70n": ("integer", {"bits": 64}, 2**70),
    "' 12 '": ("integer", {}, 12),
    "'abc'": ("integer", {}, b"?\x03\0\0\0abc"),
    "1e300": ("integer", {}, 10**300),
    "1e23": ("decimal", {}, 1e23),
    "NaN": ("integer", {}, b"?\x03\0\0\0NaN"),
    "true": ("integer", {}, 1),
    "Buffer.from('00ff', 'hex')": ("integer", {}, b"?\x04\0\0\x0000ff"),
    "'1e400000'": ("decimal", {}, b"?\x08\0\0\x001e400000"),
    "'-Infinity'": ("decimal", {}, float("-inf")),
    "0.1": ("decimal", {}, 0.1),
    "1e-7": ("decimal", {}, 1e-7),
    "'1.5'": ("float64", {}, 1.5),
    "'no'": ("float64", {}, b"?\x02\0\0\0no"),
    "2": ("boolean", {}, b"?\x01\0\0\x002"),
    "'t'": ("boolean", {}, True),
    "'too long for it'": ("char", {"length": 3}, "too long for it"),
    "5": ("text", {}, "5"),
    "'\\ud800'": ("text", {}, "\ud800"),
    "'\\ud800\\udc00\\udc00'": ("text", {}, "\U00010000\udc00"),
    "['a', 'b']": ("text", {}, "a,b"),
    "Buffer.from('ff00', 'hex')": ("text", {}, b"\xff\x00"),
    "Buffer.from('ff2020', 'hex')": ("char", {}, b"\xff"),
    "({ a: 1 })": ("json", {}, '{"a":1}'),
    "({ b: 1 })": ("text", {}, b'?\x07\0\0\0{"b":1}'),
    "Object.create(null)": ("text", {}, b"?\x06\0\0\0object"),
    "'text'": ("binary", {}, b"text"),
    "Buffer.from('0a03', 'hex')": ("bits", {"length": 12}, "101000000011"),
    "false": ("bits", {"length": 1}, "0"),
    "new Date(NaN)": ("date", {}, b"?\x0c\0\0\0Invalid Date"),
    "new Date(-1)": ("date", {}, "1969-12-31"),
    "'0000-00-00'": ("date", {}, "0000-00-00"),
    "7": ("date", {}, b"?\x01\0\0\x007"),
    "'25:30:00'": ("time", {}, "25:30:00"),
    "new Date(1500)": ("timestamp", {}, "1970-01-01 00:00:01.5"),
    "'2024-00-15 10:11:12.5'": ("timestamp", {}, "2024-00-15 10:11:12.5"),
    "new Interval(1, 2, 2n ** 63n)": ("interval", {}, b"?\x08\0\0\0Interval"),
    "'{00112233-4455-6677-8899-AABBCCDDEEFF}'": ("uuid", {}, bytes.fromhex("00112233445566778899aabbccddeeff")),
    "[[1], [2]]": ("array", {}, [[1], [2]]),
    "'{1}'": ("array", {}, b"?\x03\0\0\0{1}"),
    "[1, 'x']": ("array", {}, b"A\x02\0\0\0N\x01\0\0\x001?\x01\0\0\0x"),
    "new Typed('uuid', '00112233-4455-6677-8899-aabbccddeeff')": (
        "any",
        {},
        b"U" + bytes.fromhex("00112233445566778899aabbccddeeff"),
    ),
    "true ": ("any", {}, b"L\x01"),
}


@pytest.mark.parametrize("javascript", DELIVERED)
def test_no_value_is_refused(ask: Ask, javascript: str) -> None:
    kind, declared, value = DELIVERED[javascript]
    asked = {"type": kind, "column": declared, "javascript": javascript.strip()}
    reply = json.loads(ask(f"delivered {json.dumps(asked)}"))
    encoded = bytes.fromhex(reply["bytes"])
    assert reply["digest"] == f"1:{codec.row_hash(encoded):016x}"
    assert reply["touches"][0] == reply["touches"][1]
    is_foreign = isinstance(value, bytes) and b"?" in value
    assert (reply["foreign"], bool(reply["reason"])) == (int(is_foreign), is_foreign)
    assert encoded == expected(value, kind)


@pytest.mark.parametrize("kind", get_args(LogicalType))
def test_null_where_none_may_be(ask: Ask, kind: str) -> None:
    reply = json.loads(ask(f"delivered {json.dumps({'type': kind, 'javascript': 'null'})}"))
    assert (reply["bytes"], reply["touches"], reply["foreign"]) == ("00", [f"{1:016x}"] * 2, 0)


def expected(value: Any, kind: str) -> bytes:
    """The bytes that the controller's codec has; a foreign value, and one of any type, are given as bytes."""
    if isinstance(value, bytes) and (value[:1] in (b"?", b"A") or kind == "any"):
        return value
    if kind == "uuid":
        return b"U" + bytes(value)
    if kind == "decimal":
        return codec.encode_value(Decimal(repr(value)), Column("a", "decimal"))
    column: Any = ColumnSpec("a", kind)
    return codec.encode_value(value, column)
