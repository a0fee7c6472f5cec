"""What a runner says has no secret that `open` sent; names and numbers of replies stay."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec import inspect

from rowpath.runners import protocol
from rowpath.runners.manifest import Command
from rowpath.runners.process import Runner, RunnerFailure

SAYING = """
import json, sys, time
replies = iter(json.load(open(sys.argv[1])))
for line in sys.stdin:
    reply = next(replies)
    for part in ("a line with hun", "ter2", "\\n"):
        print(part, end="", file=sys.stderr, flush=True)
        time.sleep(0.05)
    if reply is None:
        sys.exit(3)
    print(json.dumps({"id": json.loads(line)["id"]} | reply), flush=True)
"""
SAID = "no 'hunter2' here; user plain has password=plain"
CLEAN = "no '***' here; user plain has password=***"
OPTIONS = {"user": "plain", "password": "hunter2", "sslpassword": "plain", "port": 1}
SAMPLE = {name: 0 for name in protocol.SampleReply.__struct_fields__ if name.endswith("ns")} | {
    **dict.fromkeys(("operations", "failed", "rows", "values", "first", "lead_in_operations"), 1),
    "touch": "hunter2",
}  # fmt: skip
# Texts of replies: a driver's words, which a runner's reader cleans; the journal cleans those of `facts`.
FOREIGN = {"ErrorBody.text", "CountedFailure.text", "InterruptReply.text"}
CODES = {"ErrorBody.code", "CountedFailure.code"}
FACTS = {f"FactsReply.{name}" for name in protocol.body(protocol.FactsReply(id=1))}
OWN = {
    "ColumnDigest": "digest order reason",
    "ColumnSpec": "name type",
    "DescribedColumn": "engine_type name type",
    "GroupTotal": "name touch",
    "HelloReply": "adapter language runner",
    "OpenReply": "delivers",
    "SampleReply": "touch",
    "VerifyReply": "converted delivered digest order touch",
}


def texts(kind: inspect.Type, at: str = "", inside: tuple[type, ...] = ()) -> Iterator[str]:
    """Every field of a type that may hold any text, as `Type.field`."""
    if isinstance(kind, inspect.StrType | inspect.AnyType):
        yield at
    elif isinstance(kind, inspect.UnionType):
        for one in kind.types:
            yield from texts(one, at, inside)
    elif isinstance(kind, inspect.DictType):
        yield from texts(kind.value_type, at, inside)
    elif isinstance(kind, inspect.CollectionType):
        yield from texts(kind.item_type, at, inside)
    elif isinstance(kind, inspect.StructType) and kind.cls not in inside:
        for field in kind.fields:
            yield from texts(field.type, f"{kind.cls.__name__}.{field.name}", (*inside, kind.cls))


def test_every_text_of_a_reply_is_ours_or_is_cleaned() -> None:
    found = {at for reply in set(protocol.REPLIES.values()) for at in texts(inspect.type_info(reply))}
    own = {f"{name}.{field}" for name, fields in OWN.items() for field in fields.split()}
    assert found == own | FOREIGN | FACTS | CODES, "say whose words a new text holds; foreign_texts finds a driver's"


@pytest.fixture(name="start")
def start_fixture(tmp_path: Path) -> Iterator[Any]:
    running: list[Runner] = []
    lines: list[str] = []

    def start(*replies: dict[str, Any] | None) -> tuple[Runner, list[str]]:
        file = tmp_path / "replies.json"
        file.write_text(json.dumps([{"connect_ns": 1}, *replies]), encoding="utf-8")
        runner = Runner.start(Command((sys.executable, "-c", SAYING, str(file)), {}), (), lines.append)
        running.append(runner)
        runner.request(protocol.Open, 60.0, options=OPTIONS, expect=protocol.OpenReply)
        return runner, lines

    yield start
    for runner in running:
        runner.kill()


def test_errors_lines_and_last_words_have_no_secret(start: Any) -> None:
    runner, lines = start({"error": {"kind": "sql", "code": "28P01", "text": SAID}}, None)
    with pytest.raises(RunnerFailure) as failed:
        runner.request(protocol.Facts, 60.0, expect=protocol.FactsReply)
    assert (failed.value.text, failed.value.code) == (CLEAN, "28P01")
    with pytest.raises(RunnerFailure) as lost:
        runner.request(protocol.Facts, 60.0, expect=protocol.FactsReply)
    assert "ended with status 3; last output: a line with ***" in lost.value.text
    assert set(lines) == {"a line with ***"}


def test_failures_beside_what_was_measured_have_no_secret_and_sums_stay(start: Any) -> None:
    failure = {"kind": "sql", "text": SAID}
    group = {"name": "plain", "touch": "hunter2"} | dict.fromkeys(
        ("operations", "failed", "rows", "values", "begun_ns", "ended_ns", "cpu_ns"), 1
    )
    runner, _ = start(
        SAMPLE | {"failure": failure},
        {"client_groups": [group | {"failures": [failure | {"count": 2}]}]},
        {"honoured": True, "text": SAID},
    )
    spans = dict.fromkeys(("lead_in_ns", "duration_ns", "operations", "first"), 0)
    how = {"phase": "x", "regime": "warm", **spans}
    sample = runner.request(protocol.Sample, 60.0, expect=protocol.SampleReply, **how)
    assert (sample.failure.text, sample.touch) == (CLEAN, "hunter2")
    ended = runner.request(protocol.ClientGroupsEnd, 60.0, expect=protocol.ClientGroupsEndReply)
    (total,) = ended.client_groups
    assert (total.failures[0].text, total.name, total.touch) == (CLEAN, "plain", "hunter2")
    how = {"kind": "x", "sql": "", "after_ms": 0, "most_ms": 0}
    assert runner.request(protocol.Interrupt, 60.0, expect=protocol.InterruptReply, **how).text == CLEAN
    assert msgspec.structs.asdict(sample)["failed"] == 1
