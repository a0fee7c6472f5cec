"""The Go runner's codec against the vectors that every language shares."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rowpath.runners.manifest import language, toolchain
from tests.runners.protocol.talk import Ask, answers
from tests.unit.codec_vectors import NO_DATE_OR_TIME, VECTORS

go: Any = toolchain("go")
pytestmark = pytest.mark.skipif(go._tools_problem() is not None, reason="no Go")


@pytest.fixture(scope="module")
def ask() -> Iterator[Ask]:
    yield from answers([str(go.built("codec-trial", Path(language("go").folder) / "tests" / "codec_trial.go"))])


def name(vector: dict[str, Any]) -> str:
    return f"{vector['type']}-{str(vector['value'])[:20]}"


@pytest.mark.parametrize("vector", VECTORS["values"], ids=name)
def test_value(ask: Ask, vector: dict[str, Any]) -> None:
    column = vector.get("column", {})
    beyond = vector["type"] == "integer" and vector["value"] and int(vector["value"]) >= 2**63
    kind = "decimal" if beyond else vector["type"]
    nullable = str(column.get("nullable", False)).lower()
    answered = ask(f"value {kind} {column.get('bits', 32)} {nullable} {vector['bytes']}")
    touch = vector.get("touch_bytes", vector["touch"])
    assert answered == f"{vector['bytes']} 1:{vector['hash']} {touch}"


@pytest.mark.parametrize("vector", VECTORS["xxh64"], ids=lambda vector: str(len(vector["bytes"]) // 2))
def test_hash(ask: Ask, vector: dict[str, Any]) -> None:
    assert ask(f"hash {vector['bytes']}") == vector["hash"]


def test_null_where_none_may_be(ask: Ask) -> None:
    for kind in ("integer", "float64", "boolean", "text", "date", "uuid"):
        assert ask(f"value {kind} 32 false 00") == "error column value: NULL where none is allowed"


def test_an_integer_wider_than_declared(ask: Ask) -> None:
    assert ask("value integer 16 false 4e050000003332373638") == "error column value: 32768 in an integer of 16 bits"


@pytest.mark.parametrize(
    ("request_line", "answer"),
    [
        ("date 0001-01-01", "0001-01-01"),
        ("date 1500-03-01", "1500-03-01"),
        ("time 01:02:03.000000001", "01:02:03.000000001"),
        ("timestamp 2000-11-07T01:02:03.4", "2000-11-07T01:02:03.4"),
        ("instant 2000-11-07 01:02:03.4+02", "2000-11-06T23:02:03.4Z"),
        ("instant 2000-11-07 01:02:03-05:30", "2000-11-07T06:32:03Z"),
        ("instant 2000-11-07 01:02:03Z", "2000-11-07T01:02:03Z"),
    ],
)
def test_text_of_dates_and_times(ask: Ask, request_line: str, answer: str) -> None:
    assert ask(request_line) == answer


@pytest.mark.parametrize(
    "request_line", [*NO_DATE_OR_TIME, "date 2000-02-30", "timestamp 2000-01-01 00:00:00.1234567890"]
)
def test_text_that_is_no_date_or_time(ask: Ask, request_line: str) -> None:
    assert ask(request_line).startswith("error ")
