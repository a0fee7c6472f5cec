"""The codec of C#, Go, Node and Rust against the vectors that all share, and what they make of texts."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from rowpath.model import histogram
from rowpath.model.path import AccessPath
from rowpath.runners import manifest
from rowpath.runners.manifest import language, toolchain
from tests.runners.protocol.codec_vectors import NO_DATE_OR_TIME, VECTORS
from tests.runners.protocol.talk import Ask, adapter, answers

csharp: Any = toolchain("csharp")
go: Any = toolchain("go")
rust: Any = toolchain("rust")
NODE = adapter("node", "null")
Vector = dict[str, Any]


def value_line(vector: Vector) -> str:
    """An unsigned integer beyond 63 bits is declared a decimal."""
    column = vector.get("column", {})
    return f"value {fitting(vector)} {column.get('bits', 32)} {nullable(vector)} {vector['bytes']}"


def fitting(vector: Vector) -> str:
    beyond = vector["type"] == "integer" and vector["value"] and int(vector["value"]) >= 2**63
    return "decimal" if beyond else str(vector["type"])


def nullable(vector: Vector) -> str:
    return str(vector.get("column", {}).get("nullable", False)).lower()


def csharp_value_line(vector: Vector) -> str:
    """A decimal's digits as well: few ones come as C#'s own decimal."""
    column = vector.get("column", {})
    kind = fitting(vector)
    precision = column.get("precision", 0 if kind == vector["type"] else 20)
    return f"value {kind} {precision} {column.get('bits', 32)} {nullable(vector)} {vector['bytes']}"


def node_value_line(vector: Vector) -> str:
    return f"value {vector['bytes']} {json.dumps(vector.get('column', {}) | {'type': vector['type']})}"


def go_command() -> list[str]:
    return [str(go.built("codec-trial", Path(language("go").folder) / "tests" / "codec_trial.go"))]


def rust_command() -> list[str]:
    source = Path(language("rust").folder) / "tests" / "codec_trial.rs"
    return [str(rust.Program("codec-trial", source).built())]


def csharp_command() -> list[str]:
    sources = [*csharp.sources_of("core"), *csharp.sources_of("tests")]
    return [csharp.RUNTIME, str(csharp.compiled("codec-trial", sources, main="Rowpath.CodecTrial"))]


def node_command() -> list[str]:
    manifest.build([(NODE, "bundled")])
    program, main, *_ = manifest.command(NODE, "bundled", AccessPath.of({})).arguments
    return [program, main.replace("core/main.js", "tests/codec_trial.js")]


class Language(NamedTuple):
    """How a language's program that encodes what it is asked is started and asked."""

    problem: Callable[[], object]  # why it cannot be here
    command: Callable[[], list[str]]
    touch: str  # the vectors' field with what a text's touch is: its units differ
    touches: int = 1  # how many it answers: of the encoder, of the loop
    value_line: Callable[[Vector], str] = value_line
    misfit: str = "error column value"
    too_wide: str = "error column value: 32768 in an integer of 16 bits"


LANGUAGES = {
    "csharp": Language(csharp.tools_problem, csharp_command, "touch_utf16", 2, csharp_value_line, too_wide="error "),
    "go": Language(go.tools_problem, go_command, "touch_bytes"),
    "node": Language(
        lambda: manifest.availability(NODE, "bundled").reason,
        node_command,
        "touch_utf16",
        2,
        node_value_line,
        "error verify: column value",
        "error verify: column value",
    ),
    "rust": Language(rust.tools_problem, rust_command, "touch_bytes"),
}


class Trial(NamedTuple):
    """A language's program at work."""

    language: Language
    ask: Ask


@pytest.fixture(scope="module", params=LANGUAGES)
def trial(request: pytest.FixtureRequest) -> Iterator[Trial]:
    found = LANGUAGES[request.param]
    if problem := found.problem():
        pytest.skip(str(problem))
    for ask in answers(found.command()):
        yield Trial(found, ask)


def name(vector: Vector) -> str:
    return f"{vector['type']}-{str(vector['value'])[:20]}"


@pytest.mark.parametrize("vector", VECTORS["values"], ids=name)
def test_value(trial: Trial, vector: Vector) -> None:
    answered = trial.ask(trial.language.value_line(vector))
    touch = [vector.get(trial.language.touch, vector["touch"])] * trial.language.touches
    endless = vector["value"] in ("inf", "-inf") and not vector["type"].startswith("float")
    if endless and trial.language is LANGUAGES["csharp"]:
        assert answered == "error column value: a DateTime has no infinity"
    else:
        assert answered == " ".join([vector["bytes"], f"1:{vector['hash']}", *touch])


@pytest.mark.parametrize("vector", VECTORS["xxh64"], ids=lambda vector: str(len(vector["bytes"]) // 2))
def test_hash(trial: Trial, vector: Vector) -> None:
    assert trial.ask(f"hash {vector['bytes']}") == vector["hash"]


@pytest.mark.parametrize("kind", ["integer", "float64", "boolean", "text", "date", "uuid"])
def test_null_where_none_may_be(trial: Trial, kind: str) -> None:
    line = trial.language.value_line({"type": kind, "value": None, "bytes": "00"})
    assert trial.ask(line) == f"{trial.language.misfit}: NULL where none is allowed"


@pytest.mark.parametrize(("data", "bits"), [("4e0a00000032313437343833363438", 32), ("4e050000003332373638", 16)])
def test_an_integer_wider_than_declared(trial: Trial, data: str, bits: int) -> None:
    line = trial.language.value_line({"type": "integer", "value": None, "bytes": data, "column": {"bits": bits}})
    assert trial.ask(line).startswith(trial.language.too_wide if bits == 16 else "error ")


ISO = {
    "date 0001-01-01": "0001-01-01",
    "date 1500-03-01": "1500-03-01",
    "time 01:02:03.000000001": "01:02:03.000000001",
    "timestamp 2000-11-07T01:02:03.4": "2000-11-07T01:02:03.4",
    "instant 2000-11-07 01:02:03.4+02": "2000-11-06T23:02:03.4Z",
    "instant 2000-11-07 01:02:03-05:30": "2000-11-07T06:32:03Z",
    "instant 2000-11-07 01:02:03Z": "2000-11-07T01:02:03Z",
}
TEXTS = {
    "csharp": {
        "date 0001-01-01": "0001-01-01",
        "date 1500-03-01": "1500-03-01",
        "time 01:02:03.0000001": "01:02:03.0000001",
        "timestamp 2000-11-07T01:02:03.4": "2000-11-07T01:02:03.4000000",
        "timestamp 9999-12-31 23:59:59.999999": "9999-12-31T23:59:59.9999990",
        'json {"a" : [1, -2.5, null, true, {}], "b":"\\u00e9\\n\\"\\ud83d\\ude00"}': (
            '{"a":[1,-2.5,null,true,{}],"b":"é\\u000a\\"\\ud83d\\ude00"}'
        ),
    },
    "go": ISO,
    "node": {
        "text date 0001-01-01": "64c606f5ff",
        "text timestamp 1969-12-31 23:59:59.5": "54ffffffffffffffff0065cd1d",
        "text timestamptz 2000-11-07 01:02:03+02": "5a6b38073a0000000000000000",
        "text time 12:34:56.5": "7400c5ca6932290000",
        "text date infinity": "5803000000696e66",
        "text interval P1Y2M3DT-4H-5M-6.000007S": "490e00000003000000a8f017fe9ff2ffff",
        "text array {NULL,0,-1}": "4103000000004e01000000304e020000002d31",
        "decimal 5.00": "5",
        "decimal 0.5E1": "5",
        "decimal -0.0": "0",
        "decimal 1E+3": "1000",
        "decimal 12e-3": "0.012",
        "decimal 007.10": "7.1",
        "decimal .5": "0.5",
    },
    "rust": ISO,
}
NO_ISO = (*NO_DATE_OR_TIME, "date 2000-02-30", "timestamp 2000-01-01 00:00:00.1234567890")
REFUSED = {
    "csharp": (
        *NO_ISO,
        "timestamp 2000-01-01 00:00:00.12345678",
        "json [1]",
        'json {"a":1',
        'json {"a":1} x',
        'json {"a" 1}',
        "json " + '{"a":' * 200,
    ),
    "go": NO_ISO,
    "node": (
        *(
            f"text {line}"
            for line in NO_DATE_OR_TIME
            if line not in ("date 2000-01-01 00:00:00", "time 10:00", "timestamp 2000-01-01")
        ),
        "text timestamp 2000-02-30 00:00:00",
        "text timestamp 2000-01-01 00:60:00",
        "text timestamp 2000-13-01 00:00:00",
        "text timestamp 2000-01-01 0a:00:00",
        "text timestamp 2000-01-01 00:00:00.",
        "text timestamp 2000-01-01 00:00:00.12a",
        "text timestamp 2000-01-01 00:00:00.1234567890",
        "text time 24:00:00",
        "text interval 3 days",
    ),
    "rust": NO_ISO,
}


@pytest.mark.parametrize(
    ("trial", "line", "answer"),
    [(language, line, answer) for language, texts in TEXTS.items() for line, answer in texts.items()],
    indirect=["trial"],
)
def test_text(trial: Trial, line: str, answer: str) -> None:
    assert trial.ask(line).split(" ")[0] == answer


@pytest.mark.parametrize(
    ("trial", "line"),
    [(language, line) for language, lines in REFUSED.items() for line in lines],
    indirect=["trial"],
)
def test_text_that_does_not_fit(trial: Trial, line: str) -> None:
    assert trial.ask(line).startswith("error ")


@pytest.mark.parametrize("trial", ["csharp"], indirect=True)
@pytest.mark.parametrize("precision", [10, 38])
def test_a_decimal_of_few_digits_is_the_same_as_a_wide_one(trial: Trial, precision: int) -> None:
    hexadecimal = "4e060000002d31322e3035"  # -12.05
    answered = trial.ask(f"value decimal {precision} 32 false {hexadecimal}").split()
    assert answered[0] == hexadecimal
    assert answered[2:] == ["fffffffffffffff4"] * 2


@pytest.mark.parametrize("trial", ["node"], indirect=True)
@pytest.mark.parametrize(
    "text",
    ["0099-12-31 23:59:59", "0100-01-01 00:00:00", "2000-02-29 12:34:56.7", "9999-12-31 23:59:59.999999999"],
)
def test_a_timestamp_with_a_blank_and_with_a_t(trial: Trial, text: str) -> None:
    by_places = trial.ask(f"text timestamp {text}")
    assert by_places == trial.ask(f"text timestamp {text.replace(' ', 'T')}")
    assert by_places.startswith("54")


@pytest.mark.parametrize("trial", ["node"], indirect=True)
@pytest.mark.parametrize("value", [0, 1, 255, 256, 257, 1000, 123_456, 2**31, 2**32 - 1, 2**32, 2**40 + 12345, 2**52])
def test_histogram_buckets_are_those_of_the_controller(trial: Trial, value: int) -> None:
    assert trial.ask(f"bucket {value}") == str(histogram.index_of(value))
