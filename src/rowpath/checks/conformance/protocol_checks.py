"""How a runner behaves, whatever it hosts: strangers' messages, phases, opening again, facts, statements."""

from __future__ import annotations

import json
import re
import subprocess
import time
from collections.abc import Callable
from typing import Any

from rowpath.checks.conformance.cases import case_named, phase_name
from rowpath.checks.conformance.fixture import House
from rowpath.checks.conformance.mixed_load_checks import groups
from rowpath.checks.conformance.outcome import Broken, Outcome, same, true
from rowpath.engines import ENGINES
from rowpath.execution.prepared_phases import PreparedPhase
from rowpath.execution.worker import Worker
from rowpath.model.workload import Column, Phase, Table
from rowpath.planning.plan import PlannedPath
from rowpath.runners.process import Runner, RunnerFailure
from rowpath.runners.protocol import (
    CODEC,
    MESSAGE_LIMIT_BYTES,
    PROTOCOL,
    Close,
    CloseReply,
    Hello,
    HelloReply,
    Sample,
)

STRANGE_LINES = (b"{", b"[]", b'"text"', b"nonsense", b"\xff\xfe", b'{"id": 7}', b'{"type": "dance", "id": 8}')
LONG_LINE = b'{"id": 9, "type": "' + b"x" * MESSAGE_LIMIT_BYTES + b'"}'
STOPS_WITHIN_S = 5.0  # at once, on a busy machine
PASSING = Table(rows=0, generator="types", columns=(Column("a", "integer"),))
Manner = Callable[[PlannedPath, House], str]


def check_manner(name: str, planned: PlannedPath, house: House) -> Outcome:
    """What one manner came to on the path."""
    try:
        reason = MANNERS[name](planned, house)
    except Broken as broken:
        return Outcome.of(name, broken)
    except RunnerFailure as failure:
        return Outcome(name, "failed", "the runner answered with an error", "", str(failure))
    return Outcome(name, "not applicable" if reason else "ok", reason)


def refused(what: str, ask: Callable[[], object]) -> RunnerFailure:
    """The error that the runner answers with; Broken when it answers otherwise."""
    try:
        ask()
    except RunnerFailure as failure:
        if failure.fatal:
            raise
        return failure
    raise Broken(f"a request that cannot be served is refused: {what}", "an error", "a reply")


def say_hello(runner: Runner, **changed: Any) -> HelloReply:
    """A hello with some fields changed."""
    asked = {"protocol": PROTOCOL, "codec": CODEC, "requires": ["touch", "digest"], "adapter": ""} | changed
    return runner.request(Hello, 60, expect=HelloReply, **asked)


def strangers(planned: PlannedPath, house: House) -> str:
    """Wrong versions are refused, nonsense is survived, and the end of stdin ends it in the middle of a sample."""
    fresh = house.fresh(planned)
    try:
        _strangers(planned, house, fresh)
    finally:
        fresh.close()
    return ""


def _strangers(planned: PlannedPath, house: House, fresh: Worker) -> None:
    runner, driver = fresh.runner, planned.adapter.driver
    for changed in ({"protocol": (3, 0)}, {"codec": 99}, {"requires": ["touch", "magic"]}, {"adapter": "another"}):
        failure = refused(f"hello with {changed}", lambda c=changed: say_hello(runner, **({"adapter": driver} | c)))  # type: ignore[misc]
        same(f"the error's kind after a hello with {changed}", failure.kind, "unsupported")
        true("the error has a text", failure.text, "a reason", "nothing")
    same("the adapter that hello names", say_hello(runner, adapter=driver).adapter, driver)
    for line in (*STRANGE_LINES, LONG_LINE):
        _answer_after(runner, line, driver)
    fresh.open()
    work = house.some_work(planned)
    fresh.prepare(work)
    endless = {"lead_in_ns": 0, "duration_ns": 60_000_000_000, "operations": 0, "first": -1}
    runner.send(Sample, 60, phase=work.name, regime="steady", **endless)
    time.sleep(0.3)
    true("the runner is in the middle of a sample of a minute", runner.alive(), "alive", "it has ended")
    assert runner.process.stdin is not None
    runner.process.stdin.close()
    try:
        runner.process.wait(timeout=STOPS_WITHIN_S)
    except subprocess.TimeoutExpired:
        raise Broken("the end of stdin ends the runner", f"within {STOPS_WITHIN_S} s", "it still runs") from None


def _answer_after(runner: Runner, line: bytes, driver: str) -> None:
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
            true(f"hello is served after the line {line[:40]!r}", "error" not in replies[-1], "a reply", replies[-1])
            return
        time.sleep(0.001)
    raise Broken(f"hello is answered after the line {line[:40]!r}", "a reply", "none")


def phases(planned: PlannedPath, house: House) -> str:
    """Unknown phases are refused; positions go on from sample to sample; a phase may be prepared again."""
    living = house.living(planned)
    unknown = PreparedPhase("no.such", Phase("such", "query"), "", (), (), None, 0)
    for ask in (lambda: living.sample(unknown, "steady", operations=1), lambda: living.verify(unknown, 0, 1)):
        failure = refused("an unknown phase", ask)
        true("the error names the phase", "no.such" in failure.text, "no.such", failure.text)
    work = house.some_work(planned)
    for _ in range(2):
        living.prepare(work)
        reply = living.sample(work, "steady", lead_in_ns=1_000, duration_ns=1_000_000, first=3).reply
        same("`first` after a lead-in that began at 3", reply.first, 3 + reply.lead_in_operations)
        true("operations of the lead-in and of the block", reply.lead_in_operations >= 1 and reply.operations >= 1)
        same("failed operations", (reply.failed, reply.failure), (0, None))
    after = living.sample(work, "steady", operations=2).reply
    same(
        "first and operations of the next sample", (after.first, after.operations), (reply.first + reply.operations, 2)
    )
    return ""


def opens_again(planned: PlannedPath, house: House) -> str:
    """After `close` everything is refused until the next `open`."""
    living, work = house.living(planned), house.some_work(planned)
    living.prepare(work)
    living.runner.request(Close, 30, expect=CloseReply)
    for ask in (lambda: living.prepare(work), lambda: living.sample(work, "steady", operations=1), living.facts):
        refused("a request on a closed connection", ask)
    living.open()
    living.prepare(work)
    same("operations after opening again", living.sample(work, "steady", operations=2).reply.operations, 2)
    return ""


def facts(planned: PlannedPath, house: House) -> str:
    """Versions and effective settings, read from the live connection; asked-for settings come back as asked."""
    living = house.living(planned)
    found = living.facts()
    settings: dict[str, str] = found["settings"]
    true("facts name the runtime", found["runtime"], "a runtime", "nothing")
    engine, path = planned.path.get("engine"), planned.path
    password = living.instance.options(path).get("password")
    true("facts hold no password", password is None or password not in str(found), "none", "it is there")
    if "threads" in planned.adapter.coordinates:
        same("the setting `threads`, read back", settings.get("threads"), path.get("threads"))
    if engine in ("null", "file"):
        return ""
    true("facts name the driver's version", found["driver_version"], "a version", "nothing")
    if path.get("deployment") == "file":
        return ""
    true("facts name the engine's version", found["engine_version"], "a version", "nothing")
    if "scan" in planned.adapter.phases:  # which knows no transaction
        return ""
    if not path.get("result").startswith("cursor"):  # which lives in a transaction
        same("the setting `autocommit`", settings.get("autocommit"), "on")
    if path.get("deployment") == "server" and path.get("tls") in ("on", "off") and "tls" in settings:
        word = re.split(r"\W", settings["tls"])[0]
        same("the setting `tls`, read back (its first word)", word, path.get("tls"))
    if engine == "postgresql":
        true("the setting `tls` is read back", "tls" in settings)
        same("the setting `TimeZone`", settings.get("TimeZone"), "UTC")
    if path.get("durability") == "none" and engine == "postgresql":
        same("the setting `synchronous_commit` with durability=none", settings.get("synchronous_commit"), "off")
    if path.get("durability") == "none" and engine == "sqlite":
        off = settings.get("synchronous") in ("0", "OFF")
        true("`synchronous` is off with durability=none", off, "OFF", settings.get("synchronous"))
    return ""


def statements(planned: PlannedPath, house: House) -> str:
    """Statements outside the clock are committed; a failure is told, or ignored when asked to."""
    if phase_name(case_named("duplicate-key")) not in planned.phases:
        return f"the adapter {planned.adapter.driver} executes no statements"
    living = house.living(planned)
    create, drop = "CREATE TABLE passing (a INTEGER)", "DROP TABLE passing"
    if "records" in planned.adapter.phases:
        engine = ENGINES[planned.path.get("engine")]
        create, drop = engine.create("passing", PASSING), engine.drop("passing")
    same("times of two statements", len(living.run([create, drop])), 2)
    failure = refused("dropping a table that is not there", lambda: living.run([drop]))
    same("the error's kind", failure.kind, "sql")
    true("the error names the table", "passing" in failure.text.lower(), "passing", failure.text)
    same("times of four statements", len(living.run([drop, create, create, drop], ignore_errors=True)), 4)
    return ""


MANNERS: dict[str, Manner] = {
    "facts": facts,
    "phases": phases,
    "opens-again": opens_again,
    "statements": statements,
    "groups": groups,
    "strangers": strangers,
}
ON_EVERY_PATH = ("facts",)  # the others: on an adapter's default path
