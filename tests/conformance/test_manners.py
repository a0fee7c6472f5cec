"""How a runner behaves, whatever it hosts: one path of every adapter and deployment."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import Any

import pytest
from house import House, any_case, case_named, one_of_each, phase_name

from rowpath.invocation import Invocation, Work
from rowpath.model import Phase
from rowpath.plan import PlannedPath
from rowpath.protocol import CODEC, MESSAGE_LIMIT_BYTES, PROTOCOL, Close, CloseReply, Hello, HelloReply, Sample
from rowpath.runners import Runner, RunnerFailure

each_adapter = pytest.mark.parametrize("planned", one_of_each(), indirect=True, ids=lambda path: path.name)
EXECUTING = [path for path in one_of_each() if phase_name(case_named("duplicate-key")) in path.phases]
NOTHING = Work("null.nothing", Phase("nothing", "null"), "", (), (), None, 0)
STRANGE_LINES = (b"{", b"[]", b'"text"', b"nonsense", b"\xff\xfe", b'{"id": 7}', b'{"type": "dance", "id": 8}')
LONG_LINE = b'{"id": 9, "type": "' + b"x" * MESSAGE_LIMIT_BYTES + b'"}'


def some_work(planned: PlannedPath, house: House) -> Work:
    """A phase with a result, or the null operation where there is nothing else."""
    return NOTHING if planned.path.get("engine") == "null" else house.work(any_case(planned), planned)


@pytest.fixture
def fresh(planned: PlannedPath, house: House) -> Iterator[Invocation]:
    """A runner of this test's own, not yet spoken to."""
    invocation = house.invocation(planned)
    yield invocation
    invocation.close()


def say_hello(runner: Runner, **changed: Any) -> HelloReply:
    asked = {"protocol": PROTOCOL, "codec": CODEC, "requires": ["touch", "digest"], "adapter": ""} | changed
    return runner.request(Hello, 60, expect=HelloReply, **asked)


@each_adapter
def test_it_survives_strangers_and_stops_with_its_stdin(planned: PlannedPath, fresh: Invocation, house: House) -> None:
    runner, driver = fresh.runner, planned.adapter.driver
    for changed in ({"protocol": (2, 0)}, {"codec": 99}, {"requires": ["touch", "magic"]}, {"adapter": "another"}):
        with pytest.raises(RunnerFailure) as refused:
            say_hello(runner, **({"adapter": driver} | changed))
        assert refused.value.kind == "unsupported", changed
        assert refused.value.text
    assert say_hello(runner, adapter=driver).adapter == driver
    for line in (*STRANGE_LINES, LONG_LINE):
        answer_after(runner, line, driver)
    fresh.open()
    work = some_work(planned, house)
    fresh.prepare(work)
    endless = {"lead_in_ns": 0, "duration_ns": 60_000_000_000, "operations": 0, "first": -1}
    runner.send(Sample, 60, phase=work.name, regime="steady", **endless)
    time.sleep(0.3)
    assert runner.alive(), "the sample has not begun"
    assert runner.process.stdin is not None
    runner.process.stdin.close()
    runner.process.wait(timeout=1)


def answer_after(runner: Runner, line: bytes, driver: str) -> None:
    """Send a line that is no sensible request, then a hello; the hello must be answered."""
    hello = {"id": 1000, "type": "hello", "deadline_ms": 60_000, "protocol": PROTOCOL, "codec": CODEC}
    sent = line + b"\n" + json.dumps(hello | {"requires": [], "adapter": driver}).encode() + b"\n"
    assert runner.process.stdin is not None
    assert runner.process.stdout is not None
    runner.process.stdin.write(sent)
    runner.process.stdin.flush()
    deadline = time.monotonic() + 20
    read = b""
    while time.monotonic() < deadline and runner.alive():
        read += runner.process.stdout.read() or b""
        replies = [json.loads(one) for one in read.split(b"\n")[:-1]]
        if replies and replies[-1]["id"] == 1000:
            assert "error" not in replies[-1], (line[:40], replies[-1])
            return
        time.sleep(0.001)
    pytest.fail(f"no answer after {line[:40]!r}")


@each_adapter
def test_phases(planned: PlannedPath, living: Invocation, house: House) -> None:
    unknown = Work("no.such", Phase("such", "query"), "", (), (), None, 0)
    for ask in (lambda: living.sample(unknown, "steady", operations=1), lambda: living.verify(unknown, 0, 1)):
        with pytest.raises(RunnerFailure, match=r"no\.such"):
            ask()
    work = some_work(planned, house)
    for _ in range(2):
        living.prepare(work)
        reply = living.sample(work, "steady", lead_in_ns=1_000, duration_ns=1_000_000, first=3).reply
        assert reply.first == 3 + reply.lead_in_operations
        assert reply.lead_in_operations >= 1
        assert reply.operations >= 1
        assert reply.failed == 0
    after = living.sample(work, "steady", operations=2).reply
    assert (after.first, after.operations) == (reply.first + reply.operations, 2)


@each_adapter
def test_it_opens_again(planned: PlannedPath, living: Invocation, house: House) -> None:
    work = some_work(planned, house)
    living.prepare(work)
    living.runner.request(Close, 30, expect=CloseReply)
    for ask in (lambda: living.prepare(work), lambda: living.sample(work, "steady", operations=1), living.facts):
        with pytest.raises(RunnerFailure):
            ask()
    living.open()
    living.prepare(work)
    assert living.sample(work, "steady", operations=2).reply.operations == 2


@each_adapter
def test_facts(planned: PlannedPath, living: Invocation) -> None:
    facts = living.facts()
    assert facts["runtime"]
    assert all(isinstance(value, str) for value in facts["settings"].values())
    engine = planned.path.get("engine")
    if engine in ("null", "file"):
        return
    assert facts["driver_version"]
    assert facts["engine_version"]
    assert facts["settings"]["autocommit"] == "on"
    if engine == "postgresql":
        assert facts["settings"]["TimeZone"] == "UTC"
        assert (facts["settings"]["tls"], facts["settings"]["synchronous_commit"]) == ("off", "off")
    if engine == "sqlite":
        assert facts["settings"]["synchronous"] in ("0", "OFF")
    password = living.instance.options(planned.path).get("password")
    assert password is None or password not in str(facts)


@pytest.mark.parametrize("planned", EXECUTING, indirect=True, ids=lambda path: path.name)
def test_statements_outside_the_clock(planned: PlannedPath, living: Invocation, house: House) -> None:
    create, drop = "CREATE TABLE passing (a INTEGER)", "DROP TABLE passing"
    assert len(living.run([create, drop])) == 2
    with pytest.raises(RunnerFailure) as refused:
        living.run([drop])
    assert refused.value.kind == "sql"
    assert "passing" in refused.value.text.lower()
    assert len(living.run([drop, create, create, drop], ignore_errors=True)) == 4
