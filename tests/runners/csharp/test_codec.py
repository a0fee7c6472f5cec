"""The C# runner's codec against the vectors that every language shares."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from rowpath.runners.toolchains import csharp
from tests.runners.protocol.talk import Ask, answers
from tests.unit.codec_vectors import NO_DATE_OR_TIME, VECTORS

pytestmark = pytest.mark.skipif(csharp._tools_problem() is not None, reason="no Mono")


@pytest.fixture(scope="module")
def ask() -> Iterator[Ask]:
    trial = csharp.compiled(
        "codec-trial", [*csharp.sources_of("core"), *csharp.sources_of("tests")], main="Rowpath.CodecTrial"
    )
    command = [csharp.RUNTIME, str(trial)]
    yield from answers(command)


def value_line(vector: dict[str, Any]) -> str:
    """An unsigned integer beyond C#'s long is declared a decimal here."""
    column = vector.get("column", {})
    beyond = vector["type"] == "integer" and vector["value"] and int(vector["value"]) >= 2**63
    kind, precision = ("decimal", 20) if beyond else (vector["type"], column.get("precision", 0))
    nullable = str(column.get("nullable", False)).lower()
    return f"value {kind} {precision} {column.get('bits', 32)} {nullable} {vector['bytes']}"


@pytest.mark.parametrize(
    "vector", VECTORS["values"], ids=lambda vector: f"{vector['type']}-{str(vector['value'])[:20]}"
)
def test_value(ask: Ask, vector: dict[str, Any]) -> None:
    answered = ask(value_line(vector))
    touch = vector.get("touch_utf16", vector["touch"])
    if vector["value"] in ("inf", "-inf") and not vector["type"].startswith("float"):
        assert answered == "error column value: a DateTime has no infinity"
    else:
        assert answered == f"{vector['bytes']} 1:{vector['hash']} {touch} {touch}"


@pytest.mark.parametrize("vector", VECTORS["xxh64"], ids=lambda vector: str(len(vector["bytes"]) // 2))
def test_hash(ask: Ask, vector: dict[str, Any]) -> None:
    assert ask(f"hash {vector['bytes']}") == vector["hash"]


def test_a_decimal_of_few_digits_is_the_same_as_a_wide_one(ask: Ask) -> None:
    hexadecimal = "4e060000002d31322e3035"  # -12.05
    for precision in (10, 38):
        answered = ask(f"value decimal {precision} 32 false {hexadecimal}").split()
        assert answered[0] == hexadecimal
        assert answered[2:] == ["fffffffffffffff4"] * 2


def test_null_where_none_may_be(ask: Ask) -> None:
    for kind in ("integer", "float64", "boolean", "text", "date", "uuid"):
        assert ask(f"value {kind} 0 32 false 00") == "error column value: NULL where none is allowed"


def test_an_integer_wider_than_declared(ask: Ask) -> None:
    assert ask("value integer 0 32 false 4e0a00000032313437343833363438").startswith("error ")
    assert ask("value integer 0 16 false 4e050000003332373638").startswith("error ")


@pytest.mark.parametrize(
    ("request_line", "answer"),
    [
        ("date 0001-01-01", "0001-01-01"),
        ("date 1500-03-01", "1500-03-01"),
        ("time 01:02:03.0000001", "01:02:03.0000001"),
        ("timestamp 2000-11-07T01:02:03.4", "2000-11-07T01:02:03.4000000"),
        ("timestamp 9999-12-31 23:59:59.999999", "9999-12-31T23:59:59.9999990"),
        ('json {"a" : [1, -2.5, null, true, {}], "b":"\\u00e9\\n\\"\\ud83d\\ude00"}', None),
    ],
)
def test_text(ask: Ask, request_line: str, answer: str | None) -> None:
    assert ask(request_line) == (answer or '{"a":[1,-2.5,null,true,{}],"b":"é\\u000a\\"\\ud83d\\ude00"}')


@pytest.mark.parametrize(
    "request_line",
    [
        *NO_DATE_OR_TIME,
        "timestamp 2000-01-01 00:00:00.12345678",
        "json [1]",
        'json {"a":1',
        'json {"a":1} x',
        'json {"a" 1}',
        "json " + '{"a":' * 200,
    ],
)
def test_text_that_does_not_fit(ask: Ask, request_line: str) -> None:
    assert ask(request_line).startswith("error ")
