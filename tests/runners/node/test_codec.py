"""The Node runner's codec against the vectors that every language shares."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from rowpath.model import histogram
from rowpath.model.path import AccessPath
from rowpath.runners import manifest
from tests.runners.protocol.talk import Ask, adapter, answers
from tests.unit.codec_vectors import NO_DATE_OR_TIME, VECTORS

NODE = adapter("node", "null")
pytestmark = pytest.mark.skipif(not manifest.availability(NODE, "bundled").ok, reason="no Node")


@pytest.fixture(scope="module")
def ask() -> Iterator[Ask]:
    manifest.build([(NODE, "bundled")])
    program, main, *_ = manifest.command(NODE, "bundled", AccessPath.of({})).arguments
    yield from answers([program, main.replace("core/main.js", "tests/codec_trial.js")])


@pytest.mark.parametrize(
    "vector", VECTORS["values"], ids=lambda vector: f"{vector['type']}-{str(vector['value'])[:20]}"
)
def test_value(ask: Ask, vector: dict[str, Any]) -> None:
    column = json.dumps(vector.get("column", {}) | {"type": vector["type"]})
    touch = vector.get("touch_utf16", vector["touch"])
    assert ask(f"value {vector['bytes']} {column}") == f"{vector['bytes']} 1:{vector['hash']} {touch} {touch}"


@pytest.mark.parametrize("vector", VECTORS["xxh64"], ids=lambda vector: str(len(vector["bytes"]) // 2))
def test_hash(ask: Ask, vector: dict[str, Any]) -> None:
    assert ask(f"hash {vector['bytes']}") == vector["hash"]


def test_null_where_none_may_be(ask: Ask) -> None:
    for kind in ("integer", "float64", "boolean", "text", "date", "uuid"):
        expected = "error verify: column value: NULL where none is allowed"
        assert ask(f'value 00 {{"type": "{kind}"}}') == expected


def test_an_integer_wider_than_declared(ask: Ask) -> None:
    for data, bits in (("4e0a00000032313437343833363438", 32), ("4e050000003332373638", 16)):
        assert ask(f'value {data} {{"type": "integer", "bits": {bits}}}').startswith("error verify: column value")


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
def test_a_decimal_in_plain_notation(ask: Ask, text: str, plain: str) -> None:
    assert ask(f"decimal {text}") == plain


@pytest.mark.parametrize(
    ("line", "data"),
    [
        ("date 0001-01-01", "64c606f5ff"),
        ("timestamp 1969-12-31 23:59:59.5", "54ffffffffffffffff0065cd1d"),
        ("timestamptz 2000-11-07 01:02:03+02", "5a6b38073a0000000000000000"),
        ("time 12:34:56.5", "7400c5ca6932290000"),
        ("date infinity", "5803000000696e66"),
        ("interval P1Y2M3DT-4H-5M-6.000007S", "490e00000003000000a8f017fe9ff2ffff"),
        ("array {NULL,0,-1}", "4103000000004e01000000304e020000002d31"),
    ],
)
def test_text(ask: Ask, line: str, data: str) -> None:
    assert ask(f"text {line}").split()[0] == data


@pytest.mark.parametrize(
    "line",
    [
        *(
            line
            for line in NO_DATE_OR_TIME
            if line not in ("date 2000-01-01 00:00:00", "time 10:00", "timestamp 2000-01-01")
        ),
        "timestamp 2000-02-30 00:00:00",
        "timestamp 2000-01-01 00:60:00",
        "timestamp 2000-13-01 00:00:00",
        "timestamp 2000-01-01 0a:00:00",
        "timestamp 2000-01-01 00:00:00.",
        "timestamp 2000-01-01 00:00:00.12a",
        "timestamp 2000-01-01 00:00:00.1234567890",
        "time 24:00:00",
        "interval 3 days",
    ],
)
def test_text_that_does_not_fit(ask: Ask, line: str) -> None:
    assert ask(f"text {line}").startswith("error ")


@pytest.mark.parametrize(
    "text",
    ["0099-12-31 23:59:59", "0100-01-01 00:00:00", "2000-02-29 12:34:56.7", "9999-12-31 23:59:59.999999999"],
)
def test_a_timestamp_with_a_blank_and_with_a_t(ask: Ask, text: str) -> None:
    by_places = ask(f"text timestamp {text}")
    assert by_places == ask(f"text timestamp {text.replace(' ', 'T')}")
    assert by_places.startswith("54")


def test_histogram_buckets_are_those_of_the_controller(ask: Ask) -> None:
    for value in (0, 1, 255, 256, 257, 1000, 123_456, 2**31, 2**32 - 1, 2**32, 2**40 + 12345, 2**52):
        assert ask(f"bucket {value}") == str(histogram.index_of(value))
