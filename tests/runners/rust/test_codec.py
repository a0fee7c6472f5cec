"""The Rust runner's codec against the vectors that all runners share, and what its readers make of texts."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rowpath.runners.manifest import language, toolchain
from tests.runners.protocol.codec_vectors import UNUSUAL_TEXTS, VECTORS, bytes_of_unusual
from tests.runners.protocol.talk import Ask, answers

rust: Any = toolchain("rust")
Vector = dict[str, Any]


@pytest.fixture(name="ask", scope="module")
def ask_fixture() -> Iterator[Ask]:
    if problem := rust.tools_problem():
        pytest.skip(str(problem))
    source = Path(language("rust").folder) / "tests" / "codec_trial.rs"
    yield from answers([str(rust.Program("codec-trial", source).built())])


def name(vector: Vector) -> str:
    return f"{vector['type']}-{str(vector['value'])[:20]}"


def declared(vector: Vector) -> Vector:
    return {"name": "value", "type": vector["type"], **vector.get("column", {})}


def taken(ask: Ask, columns: list[Vector], *rows: list[Any]) -> Any:
    return json.loads(ask(f"result {json.dumps([columns, rows])}"))


def check(reply: Any, vector: Vector) -> None:
    """A CHAR is touched with as many trailing blanks as it came with."""
    assert (reply["bytes"], reply["digest"]) == ([vector["bytes"]], f"1:{vector['hash']}")
    touch = vector.get("touch_bytes", vector["touch"])
    if vector["type"] == "char" and isinstance(vector["value"], str) and vector["value"].endswith(" "):
        touch = f"{len(vector['value'].encode()):016x}"
    assert reply["touch"] == touch
    assert "foreign" not in reply["columns"][0]


@pytest.mark.parametrize("vector", VECTORS["values"], ids=name)
def test_value(ask: Ask, vector: Vector) -> None:
    check(taken(ask, [declared(vector)], [vector["value"]]), vector)


@pytest.mark.parametrize("vector", [vector for vector in VECTORS["values"] if vector.get("parameter", True)], ids=name)
def test_parameter(ask: Ask, vector: Vector) -> None:
    """Decoded as a parameter, its value is taken the usual way."""
    answered = ask(f"decoded {json.dumps(declared(vector))} {vector['bytes']}")
    if vector["type"] == "opaque" and vector["value"] is not None:
        assert answered == "error an opaque value is no parameter"
    else:
        blank = vector["value"].rstrip(" ") if vector["type"] == "char" and vector["value"] else vector["value"]
        check(json.loads(answered), vector | {"value": blank})


@pytest.mark.parametrize("vector", VECTORS["results"], ids=lambda vector: vector["digest"])
def test_result(ask: Ask, vector: Vector) -> None:
    reply = taken(ask, vector["columns"], *vector["rows"])
    assert (reply["digest"], reply["order"]) == (vector["digest"], vector["order"])
    columns = reply["columns"]
    assert [{key: column[key] for key in ("digest", "order")} for column in columns] == vector["column_digests"]
    assert [column.get("finest_ns", 0) for column in columns] == vector["finest_ns"]
    assert [column.get("bounds", False) for column in columns] == vector["bounds"]


@pytest.mark.parametrize("vector", VECTORS["xxh64"], ids=lambda vector: str(len(vector["bytes"]) // 2))
def test_hash(ask: Ask, vector: Vector) -> None:
    assert ask(f"hash {vector['bytes']}") == vector["hash"]


@pytest.mark.parametrize(
    ("column", "value", "bytes_"),
    [
        ({"type": "integer"}, None, "00"),
        ({"type": "integer", "bits": 16}, "32768", "4e050000003332373638"),
        ({"type": "integer"}, {"float": "0.5"}, "4e03000000302e35"),
        ({"type": "decimal"}, {"float": "NaN"}, "4e030000006e616e"),
        ({"type": "decimal"}, "-Infinity", "4e040000002d696e66"),
        ({"type": "float64"}, {"integer": "2"}, "460000000000000040"),
        ({"type": "boolean"}, {"integer": "2"}, "4c01"),
        ({"type": "boolean"}, "f", "4c00"),
        ({"type": "text"}, {"integer": "5"}, "530100000035"),
        ({"type": "timestamp"}, "2000-01-01", "5480436d380000000000000000"),
        ({"type": "date"}, "1970-01-01 00:00:00", "6400000000"),
    ],
)
def test_the_nearest_form(ask: Ask, column: Vector, value: Any, bytes_: str) -> None:
    reply = taken(ask, [{"name": "value", **column}], [value])
    assert reply["bytes"] == [bytes_]
    assert "foreign" not in reply["columns"][0]


@pytest.mark.parametrize(
    ("column", "value", "reason"),
    [
        ({"type": "integer"}, "abc", "no integer: 'abc'"),
        ({"type": "decimal"}, "1e999999999", "no decimal: '1e999999999'"),
        ({"type": "date"}, "2000-1-1", "no date: '2000-1-1'"),
        ({"type": "date"}, "1970-01-01 00:00:01", "no date: '1970-01-01 00:00:01'"),
        ({"type": "time"}, "10:00:00,5", "no time: '10:00:00,5'"),
        ({"type": "time"}, "", "no time: ''"),
        ({"type": "uuid"}, "no", "no uuid: 'no'"),
        ({"type": "boolean"}, "maybe", "no boolean: 'maybe'"),
        ({"type": "array"}, ["x"], "no integer: 'x'"),
        ({"type": "struct", "fields": [{"name": "a", "type": "integer"}]}, "x", "no struct: 'x'"),
    ],
)
def test_a_foreign_value(ask: Ask, column: Vector, value: Any, reason: str) -> None:
    """It fails nothing: its text stands in the digest, and its column tells how many there are, with a reason."""
    reply = taken(ask, [{"name": "value", **column}], [value], [value])
    text = (value[0] if isinstance(value, list) else value).encode()
    foreign = b"?" + len(text).to_bytes(4, "little") + text
    assert reply["bytes"] == [("41" + "01000000" if isinstance(value, list) else "") + foreign.hex()] * 2
    assert (reply["columns"][0]["foreign"], reply["columns"][0]["reason"]) == (2, reason)
    assert reply["touch"] == "000000000000000a"


def test_a_long_foreign_value_is_cut(ask: Ask) -> None:
    (row,) = taken(ask, [{"name": "value", "type": "integer"}], ["é" * 60])["bytes"]
    assert row == "3f64000000" + "c3a9" * 50


ISO = {
    "date 0001-01-01": "0001-01-01",
    "date 1500-03-01": "1500-03-01",
    "time 01:02:03.000000001": "01:02:03.000000001",
    "timestamp 2000-11-07T01:02:03.4": "2000-11-07T01:02:03.4",
    "instant 2000-11-07 01:02:03.4+02": "2000-11-06T23:02:03.4Z",
    "instant 2000-11-07 01:02:03-05:30": "2000-11-07T06:32:03Z",
    "instant 2000-11-07 01:02:03Z": "2000-11-07T01:02:03Z",
}


@pytest.mark.parametrize(("line", "answer"), ISO.items())
def test_text(ask: Ask, line: str, answer: str) -> None:
    assert ask(line) == answer


@pytest.mark.parametrize("line", UNUSUAL_TEXTS)
def test_text_that_the_usual_readers_leave(ask: Ask, line: str) -> None:
    assert ask(line).startswith("error")


@pytest.mark.parametrize("line", UNUSUAL_TEXTS)
def test_unusual_text_of_a_date_or_time_is_read_or_foreign(ask: Ask, line: str) -> None:
    kind, _, text = line.partition(" ")
    assert taken(ask, [declared({"type": kind})], [text])["bytes"] == [bytes_of_unusual(line)]
