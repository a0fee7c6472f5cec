"""The codec of Go, of Java and of Rust against the vectors that every language shares."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from rowpath.runners.manifest import language, toolchain
from rowpath.runners.toolchains import java
from tests.runners.protocol.talk import Ask, answers
from tests.unit.codec_vectors import NO_DATE_OR_TIME, VECTORS

go: Any = toolchain("go")
rust: Any = toolchain("rust")


class Trial(NamedTuple):
    """A language's program that encodes what it is asked."""

    ask: Ask
    touch: str  # the vectors' field with what a text's touch is: its units differ
    milliseconds: str  # zeros behind a fraction of one digit


def go_command() -> list[str]:
    return [str(go.built("codec-trial", Path(language("go").folder) / "tests" / "codec_trial.go"))]


def rust_command() -> list[str]:
    return [str(rust.built("codec-trial", Path(language("rust").folder) / "tests" / "codec_trial.rs"))]


def java_command() -> list[str]:
    java.build([])
    core = java._compile("core", java._sources("core"), [])
    trial = java._compile("trial", java._sources("tests"), [core])
    return [java.java_command(), "-cp", f"{trial}:{core}", "rowpath.CodecTrial"]


TRIALS: dict[str, tuple[Callable[[], object], Callable[[], list[str]], str, str]] = {
    "go": (go._tools_problem, go_command, "touch_bytes", ""),
    "java": (java._problem, java_command, "touch_utf16", "00"),
    "rust": (rust._tools_problem, rust_command, "touch_bytes", ""),
}


@pytest.fixture(scope="module", params=TRIALS)
def trial(request: pytest.FixtureRequest) -> Iterator[Trial]:
    problem, command, touch, milliseconds = TRIALS[request.param]
    if problem():
        pytest.skip(str(problem()))
    for ask in answers(command()):
        yield Trial(ask, touch, milliseconds)


@pytest.fixture
def ask(trial: Trial) -> Ask:
    return trial.ask


def name(vector: dict[str, Any]) -> str:
    return f"{vector['type']}-{str(vector['value'])[:20]}"


def fitting(vector: dict[str, Any]) -> str:
    """The type to declare: an unsigned integer beyond 63 bits is a decimal here."""
    beyond = vector["type"] == "integer" and vector["value"] and int(vector["value"]) >= 2**63
    return "decimal" if beyond else str(vector["type"])


@pytest.mark.parametrize("vector", VECTORS["values"], ids=name)
def test_value(trial: Trial, vector: dict[str, Any]) -> None:
    column = vector.get("column", {})
    nullable = str(column.get("nullable", False)).lower()
    kind = fitting(vector)
    answered = trial.ask(f"value {kind} {column.get('bits', 32)} {nullable} {vector['bytes']}")
    touch = vector.get(trial.touch, vector["touch"])
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
        ("timestamp 2000-11-07T01:02:03.4", "2000-11-07T01:02:03.4{}"),
        ("instant 2000-11-07 01:02:03.4+02", "2000-11-06T23:02:03.4{}Z"),
        ("instant 2000-11-07 01:02:03-05:30", "2000-11-07T06:32:03Z"),
        ("instant 2000-11-07 01:02:03Z", "2000-11-07T01:02:03Z"),
    ],
)
def test_text_of_dates_and_times(trial: Trial, request_line: str, answer: str) -> None:
    assert trial.ask(request_line) == answer.format(trial.milliseconds)


@pytest.mark.parametrize(
    "request_line",
    [
        *NO_DATE_OR_TIME,
        "date 2000-02-30",
        "timestamp 2000-01-01 00:00:00.1234567890",
    ],
)
def test_text_that_is_no_date_or_time(ask: Ask, request_line: str) -> None:
    assert ask(request_line).startswith("error ")
