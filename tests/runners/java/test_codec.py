"""The codec of the Java runner against the vectors that all runners share, and what it makes of texts."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from rowpath.machine import jvm
from tests.runners.java.insides import java, java_compiled
from tests.runners.protocol.codec_vectors import UNUSUAL_TEXTS, VECTORS, bytes_of_unusual
from tests.runners.protocol.talk import Ask, answers

pytestmark = pytest.mark.skipif(bool(jvm.compiler_problem()), reason="no JDK")
Vector = dict[str, Any]


@pytest.fixture(scope="module")
def ask() -> Iterator[Ask]:
    java.build([])
    core = java_compiled("core", [])
    trial = java_compiled("trial", [core], "tests")
    tools = java_compiled("tools", java.fetch(java.TOOLS))
    libraries = ":".join(map(str, [tools, *java.fetch(java.TOOLS)]))
    yield from answers(
        [jvm.java_command(), f"-Drowpath.tools={libraries}", "-cp", f"{trial}:{core}", "rowpath.CodecTrial"]
    )


def line_of(kind: str, vector: Vector) -> str:
    column = vector.get("column", {}) | {"name": "value", "type": vector["type"]}
    return f"{kind} {json.dumps(vector | {'column': column})}"


def answer(vector: Vector) -> str:
    touch = vector.get("touch_utf16", vector["touch"])
    if vector["type"] == "char" and isinstance(vector["value"], str):
        touch = f"{len(vector['value']):016x}"  # as delivered
    return f"{vector['bytes']} 1:{vector['hash']} {touch}"


def name(vector: Vector) -> str:
    return f"{vector['type']}-{str(vector['value'])[:20]}"


@pytest.mark.parametrize("vector", VECTORS["values"], ids=name)
def test_value(ask: Ask, vector: Vector) -> None:
    assert ask(line_of("value", vector)) == answer(vector)


@pytest.mark.parametrize("vector", [each for each in VECTORS["values"] if each.get("parameter", True)], ids=name)
def test_decoded(ask: Ask, vector: Vector) -> None:
    value = vector["value"]
    stripped = value.rstrip(" ") if vector["type"] == "char" and value else value
    assert ask(line_of("decode", vector)) == answer(vector | {"value": stripped})


@pytest.mark.parametrize("vector", VECTORS["results"])
def test_result(ask: Ask, vector: Vector) -> None:
    reply = json.loads(ask(f"result {json.dumps(vector)}"))
    digests = [{key: column[key] for key in ("digest", "order")} for column in reply["columns"]]
    assert (reply["digest"], reply["order"], digests) == (vector["digest"], vector["order"], vector["column_digests"])
    assert [column.get("finest_ns", 0) for column in reply["columns"]] == vector["finest_ns"]
    assert [column.get("bounds", False) for column in reply["columns"]] == vector["bounds"]


@pytest.mark.parametrize("vector", VECTORS["xxh64"], ids=lambda vector: str(len(vector["bytes"]) // 2))
def test_hash(ask: Ask, vector: Vector) -> None:
    assert ask(f"hash {vector['bytes']}") == vector["hash"]


NEAREST: list[tuple[str, Any, dict[str, Any], str]] = [  # a value of another kind than its column: type, value, bytes
    ("integer", None, {"bits": 16}, "00"),
    ("integer", "32768", {"bits": 16}, "4e050000003332373638"),
    ("integer", "2147483648", {"bits": 32}, "4e0a00000032313437343833363438"),
    ("any", True, {}, "4c01"),
    ("text", True, {}, "530400000074727565"),
    ("integer", True, {}, "4e0100000031"),
    ("binary", True, {}, "3f0400000074727565"),
    ("date", True, {}, "3f0400000074727565"),
    ("date", "no date", {}, "3f070000006e6f2064617465"),
    ("time", "inf", {}, "3f03000000696e66"),
    ("timestamp", "x" * 101, {}, "3f64000000" + "78" * 100),
    ("timestamp", "2000-01-01", {}, "5480436d380000000000000000"),
    ("date", "2000-01-01 01:02:03", {}, "64cd2a0000"),
    ("timestamptz", "2000-01-01 00:00:00", {}, "5a80436d380000000000000000"),
    ("interval", "1 year 2 mons -3 days 01:02:03.5", {}, "490e000000fdffffff0013e5f162030000"),
    ("interval", "1 years 2 mons -3 days 1 hours 2 mins 3.5 secs", {}, "490e000000fdffffff0013e5f162030000"),
    ("interval", "P1Y2M-3DT1H2M3.5S", {}, "490e000000fdffffff0013e5f162030000"),
    ("interval", "-1 days +00:00:01", {}, "4900000000ffffffff00ca9a3b00000000"),
    ("interval", "soon", {}, "3f04000000736f6f6e"),
    ("bits", "12", {}, "3f020000003132"),
    ("bits", {"hex": "05"}, {"length": 3}, "6203000000a0"),
    ("bits", {"hex": "0005"}, {}, "62100000000005"),
    ("text", "\ud800x", {}, "5304000000eda08078"),
]


@pytest.mark.parametrize(("kind", "value", "column", "data"), NEAREST, ids=lambda value: str(value)[:20])
def test_nothing_that_a_driver_delivers_is_refused(
    ask: Ask, kind: str, value: object, column: Vector, data: str
) -> None:
    answered = ask(line_of("value", {"type": kind, "value": value, "column": column})).split(" ")
    assert answered[0] == data
    assert (answered[-1] == "foreign") == data.startswith("3f")
    assert "but" not in answered


ISO = {
    "date 0001-01-01": "0001-01-01",
    "date 1500-03-01": "1500-03-01",
    "time 01:02:03.000000001": "01:02:03.000000001",
    "timestamp 2000-11-07T01:02:03.4": "2000-11-07T01:02:03.400",
    "instant 2000-11-07 01:02:03.4+02": "2000-11-06T23:02:03.400Z",
    "instant 2000-11-07 01:02:03-05:30": "2000-11-07T06:32:03Z",
    "instant 2000-11-07 01:02:03Z": "2000-11-07T01:02:03Z",
}


@pytest.mark.parametrize("text", ISO)
def test_text(ask: Ask, text: str) -> None:
    assert ask(text) == ISO[text]


@pytest.mark.parametrize("text", UNUSUAL_TEXTS)
def test_text_that_takes_the_slow_way(ask: Ask, text: str) -> None:
    """The quick reader of the loop throws: the value is taken as text then."""
    assert ask(text).startswith("error ")


@pytest.mark.parametrize("line", UNUSUAL_TEXTS)
def test_unusual_text_of_a_date_or_time_is_read_or_foreign(ask: Ask, line: str) -> None:
    kind, _, text = line.partition(" ")
    asked = line_of("value", {"type": kind, "value": text})
    assert ask(asked).split()[0] == bytes_of_unusual(line)
