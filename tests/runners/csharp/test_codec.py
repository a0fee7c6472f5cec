"""C#'s codec against the vectors that all languages share, and what it makes of texts."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from rowpath.runners.manifest import toolchain
from tests.runners.protocol.codec_vectors import UNUSUAL_TEXTS, VECTORS, bytes_of_unusual
from tests.runners.protocol.talk import Ask, answers

csharp: Any = toolchain("csharp")
pytestmark = pytest.mark.skipif(csharp.tools_problem() is not None, reason="no Mono")
Vector = dict[str, Any]


@pytest.fixture(scope="module")
def trial() -> Iterator[Ask]:
    sources = [*csharp.sources_of("core"), *csharp.sources_of("tests")]
    yield from answers([csharp.RUNTIME, str(csharp.compiled("codec-trial", sources, main="Rowpath.CodecTrial"))])


def declared(vector: Vector) -> Vector:
    return {"name": "value", "type": vector["type"], **vector.get("column", {})}


def name(vector: Vector) -> str:
    return f"{vector['type']}-{str(vector['value'])[:20]}"


def touch(vector: Vector) -> str:
    return str(vector.get("touch_utf16", vector["touch"]))


def touch_as_delivered(vector: Vector) -> str:
    """With the blanks that a CHAR came with."""
    delivered = vector["value"]
    return f"{len(delivered):016x}" if vector["type"] == "char" and isinstance(delivered, str) else touch(vector)


@pytest.mark.parametrize("vector", VECTORS["values"], ids=name)
def test_value(trial: Ask, vector: Vector) -> None:
    asked = json.dumps({"column": declared(vector), "value": vector["value"]})
    assert trial(f"value {asked}") == f"{vector['bytes']} 1:{vector['hash']} {touch_as_delivered(vector)}"


@pytest.mark.parametrize("vector", [each for each in VECTORS["values"] if each.get("parameter", True)], ids=name)
def test_parameter(trial: Ask, vector: Vector) -> None:
    answered = trial(f"parameter {json.dumps({'column': declared(vector), 'bytes': vector['bytes']})}")
    if vector["bytes"].startswith("58"):
        assert answered == "error column value: a DateTime has no infinity"
    else:
        touches = [touch(vector)] * (1 if vector["value"] is None else 2)
        assert answered == " ".join([vector["bytes"], f"1:{vector['hash']}", *touches])


@pytest.mark.parametrize("result", VECTORS["results"])
def test_result(trial: Ask, result: Vector) -> None:
    answered = json.loads(trial(f"result {json.dumps(result)}"))
    assert (answered["digest"], answered["order"]) == (result["digest"], result["order"])
    columns = answered["columns"]
    assert [{key: each[key] for key in ("digest", "order")} for each in columns] == result["column_digests"]
    assert [each.get("finest_ns", 0) for each in columns] == result["finest_ns"]
    assert [each.get("bounds", False) for each in columns] == result["bounds"]
    assert not any("foreign" in each for each in columns)


@pytest.mark.parametrize("vector", VECTORS["xxh64"], ids=lambda vector: str(len(vector["bytes"]) // 2))
def test_hash(trial: Ask, vector: Vector) -> None:
    assert trial(f"hash {vector['bytes']}") == vector["hash"]


NEAREST: list[tuple[str, Any, str]] = [  # a value of another kind than declared, and what it is taken for
    ("integer", "12", "N12"),
    ("integer", 2**40, f"N{2**40}"),
    ("integer", {"float": "0.5"}, "N0.5"),
    ("decimal", {"float": "0.1"}, "N0.1"),
    ("decimal", {"float": "1e22"}, "N10000000000000000000000"),
    ("decimal", " 1", "? 1"),
    ("integer", "NaN", "?NaN"),
    ("integer", "1e999999", "?1e999999"),
    ("boolean", "t", "L\1"),
    ("boolean", 0, "L\0"),
    ("boolean", 2, "?2"),
    ("text", 5, "S5"),
    ("text", True, "Strue"),
    ("date", "yesterday", "?yesterday"),
    ("date", "2000-1-01", "?2000-1-01"),
    ("time", "2000-01-01", "?2000-01-01"),
    ("timestamp", "", "?"),
    ("uuid", "x", "?x"),
    ("interval", "1 day", "?1 day"),
    ("bits", "102", "?102"),
    ("bits", {"hex": "05"}, "b\5"),
    ("array", "{1}", "?{1}"),
    ("struct", "(1)", "?(1)"),
    ("any", True, "L\1"),
    ("float64", "x", "?x"),
    ("date", "é" * 60, "?" + "é" * 50),
]


def spelt(form: str) -> str:
    """The bytes in hexadecimal digits of a tag and a text, a truth value or eight bits."""
    tag, data = form[0].encode(), form[1:].encode()
    size = b"" if tag == b"L" else (8 if tag == b"b" else len(data)).to_bytes(4, "little")
    return (tag + size + data).hex()


@pytest.mark.parametrize(("kind", "value", "form"), NEAREST)
def test_a_value_of_another_kind(trial: Ask, kind: str, value: Any, form: str) -> None:
    asked = json.dumps({"column": {"name": "value", "type": kind}, "value": value})
    assert trial(f"value {asked}").split()[0] == spelt(form)


def test_foreign_values_are_counted_with_the_first_reason(trial: Ask) -> None:
    column = {"name": "d", "type": "date"}
    answered = json.loads(trial("result " + json.dumps({"columns": [column], "rows": [["x"], ["2000-01-01"], ["y"]]})))
    (found,) = answered["columns"]
    assert (found["foreign"], found["reason"]) == (2, "String 'x' in a column of type date")


TEXTS = {
    "date 0001-01-01": "0001-01-01",
    "date 1500-03-01": "1500-03-01",
    "time 01:02:03.0000001": "01:02:03.0000001",
    "timestamp 2000-11-07T01:02:03.4": "2000-11-07T01:02:03.4000000",
    "timestamp 9999-12-31 23:59:59.999999": "9999-12-31T23:59:59.9999990",
    'json {"a" : [1, -2.5, null, true, {}], "b":"\\u00e9\\n\\"\\ud83d\\ude00"}': (
        '{"a":[1,-2.5,null,true,{}],"b":"é\\u000a\\"\\ud83d\\ude00"}'
    ),
}
REFUSED = (  # by the reader of usual texts; what it refuses is read with patience
    *UNUSUAL_TEXTS,
    "timestamp 2000-01-01 00:00:00.12345678",
    "json [1]",
    'json {"a":1',
    'json {"a":1} x',
    'json {"a" 1}',
    "json " + '{"a":' * 200,
)


@pytest.mark.parametrize(("line", "answer"), TEXTS.items())
def test_text(trial: Ask, line: str, answer: str) -> None:
    assert trial(line).split(" ")[0] == answer


@pytest.mark.parametrize("line", REFUSED)
def test_text_that_does_not_fit(trial: Ask, line: str) -> None:
    assert trial(line).startswith("error ")


@pytest.mark.parametrize("line", UNUSUAL_TEXTS)
def test_unusual_text_of_a_date_or_time_is_read_or_foreign(trial: Ask, line: str) -> None:
    kind, _, text = line.partition(" ")
    asked = json.dumps({"column": declared({"type": kind}), "value": text})
    assert trial(f"value {asked}").split()[0] == bytes_of_unusual(line)


@pytest.mark.parametrize("precision", [10, 38])
def test_a_decimal_of_few_digits_is_the_same_as_a_wide_one(trial: Ask, precision: int) -> None:
    column = {"name": "value", "type": "decimal", "precision": precision}
    answered = trial(f"parameter {json.dumps({'column': column, 'bytes': '4e060000002d31322e3035'})}").split()
    assert answered[0] == "4e060000002d31322e3035"  # -12.05
    assert answered[2:] == ["fffffffffffffff4"] * 2
