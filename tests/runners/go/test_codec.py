"""The Go runner's codec against the vectors that every runner shares, and what it makes of texts."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rowpath.runners.manifest import language, toolchain
from tests.runners.protocol.codec_vectors import UNUSUAL_TEXTS, VECTORS, bytes_of_unusual
from tests.runners.protocol.talk import Ask, answers

go: Any = toolchain("go")
pytestmark = pytest.mark.skipif(go.tools_problem() is not None, reason="no Go")
Vector = dict[str, Any]


@pytest.fixture(scope="module")
def ask() -> Iterator[Ask]:
    """A program that encodes what it is asked."""
    yield from answers([str(go.built("codec-trial", Path(language("go").folder) / "tests" / "codec_trial.go"))])


def name(vector: Vector) -> str:
    return f"{vector['type']}-{str(vector['value'])[:20]}"


def declared(vector: Vector) -> Vector:
    return {"name": "value", "type": vector["type"], **vector.get("column", {})}


def expected(vector: Vector) -> str:
    return f"{vector['bytes']} 1:{vector['hash']} {vector.get('touch_bytes', vector['touch'])}"


@pytest.mark.parametrize("vector", VECTORS["values"], ids=name)
def test_value(ask: Ask, vector: Vector) -> None:
    line = json.dumps({"column": declared(vector), "value": vector["value"]})
    answered = ask(f"value {line}")
    if vector["type"] == "char" and str(vector["value"]).endswith(
        " "
    ):  # its touch counts the blanks that were delivered
        assert answered.split()[:2] == expected(vector).split()[:2]
    else:
        assert answered == expected(vector)


@pytest.mark.parametrize(
    "vector",
    [each for each in VECTORS["values"] if each.get("parameter", True) and each["bytes"] != "4f"],
    ids=name,
)
def test_parameter(ask: Ask, vector: Vector) -> None:
    answered = ask(f"parameter {vector['bytes']} {json.dumps({'column': declared(vector)})}")
    assert answered.split()[:2] == expected(vector).split()[:2]


@pytest.mark.parametrize("vector", VECTORS["results"], ids=lambda vector: vector["digest"])
def test_result(ask: Ask, vector: Vector) -> None:
    replied = json.loads(ask(f"result {json.dumps({'columns': vector['columns'], 'rows': vector['rows']})}"))
    assert (replied["digest"], replied["order"]) == (vector["digest"], vector["order"])
    columns = replied["columns"]
    assert [{key: each[key] for key in ("digest", "order")} for each in columns] == vector["column_digests"]
    assert [each.get("finest_ns", 0) for each in columns] == vector["finest_ns"]
    assert [each.get("bounds", False) for each in columns] == vector["bounds"]


@pytest.mark.parametrize("kind", sorted({vector["type"] for vector in VECTORS["values"]} - {"opaque"}))
def test_a_value_of_no_such_form_is_foreign_or_text(ask: Ask, kind: str) -> None:
    answered, _digest, touch = ask(f"foreign {kind}").split()
    text = kind in ("char", "varchar", "text", "json")
    assert bytes.fromhex(answered) == (b"S" if text else b"?") + b"\x0c\x00\x00\x00{a stranger}"
    assert int(touch, 16) == (12 if text else 5)


@pytest.mark.parametrize("vector", VECTORS["xxh64"], ids=lambda vector: str(len(vector["bytes"]) // 2))
def test_hash(ask: Ask, vector: Vector) -> None:
    assert ask(f"hash {vector['bytes']}") == vector["hash"]


NEAREST = {
    ("integer", "12"): "4e020000003132",
    ("integer", "nan"): "3f030000006e616e",
    ("integer", None): "00",
    ("decimal", "1e3"): "4e0400000031303030",
    ("decimal", "Infinity"): "4e03000000696e66",
    ("float64", "-Infinity"): "46000000000000f0ff",
    ("boolean", "t"): "4c01",
    ("date", "soon"): "3f04000000736f6f6e",
    ("date", "infinity"): "5803000000696e66",
    ("date", "2000-01-02 03:04:05"): "64ce2a0000",
    ("timestamp", "2000-01-01T00:00:00Z"): "5480436d380000000000000000",
    ("time", "soon"): "3f04000000736f6f6e",
    ("timetz", "24:00:00+00"): "7900004f91944e000000000000",
    ("bits", "102"): "3f03000000313032",
    ("uuid", "none"): "3f040000006e6f6e65",
    ("array", "{}"): "3f020000007b7d",
}


@pytest.mark.parametrize(("kind", "value"), NEAREST, ids=str)
def test_a_value_of_another_kind_takes_the_nearest_form(ask: Ask, kind: str, value: str | None) -> None:
    line = json.dumps({"column": {"name": "value", "type": kind}, "value": value})
    if kind in ("integer", "decimal", "float64"):  # as text, not as the number that a vector's text stands for
        line = json.dumps({"column": {"name": "value", "type": kind}, "value": value, "as_text": True})
    assert ask(f"value {line}").split()[0] == NEAREST[kind, value]


ISO = {
    "date 0001-01-01": "0001-01-01",
    "date 1500-03-01": "1500-03-01",
    "time 01:02:03.000000001": "01:02:03.000000001",
    "timestamp 2000-11-07T01:02:03.4": "2000-11-07T01:02:03.4",
    "instant 2000-11-07 01:02:03.4+02": "2000-11-06T23:02:03.4Z",
    "instant 2000-11-07 01:02:03-05:30": "2000-11-07T06:32:03Z",
    "instant 2000-11-07 01:02:03Z": "2000-11-07T01:02:03Z",
}


@pytest.mark.parametrize("line", ISO)
def test_text(ask: Ask, line: str) -> None:
    assert ask(line) == ISO[line]


UNUSUAL = (
    *UNUSUAL_TEXTS,
    "time --1:00:00",
    "time x38:59:59",
)


@pytest.mark.parametrize("line", [line for line in UNUSUAL if line != "time 25:00:00"])  # a length of time
def test_text_that_is_not_in_the_usual_form(ask: Ask, line: str) -> None:
    assert ask(line).startswith("error ")


@pytest.mark.parametrize("line", UNUSUAL_TEXTS)
def test_unusual_text_of_a_date_or_time_is_read_or_foreign(ask: Ask, line: str) -> None:
    kind, _, text = line.partition(" ")
    asked = json.dumps({"column": declared({"type": kind}), "value": text})
    assert ask(f"value {asked}").split()[0] == bytes_of_unusual(line)
