"""Whether the C runner's drivers stop a long statement when asked: on the real engines."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

import pytest

from rowpath.engines import ENGINES
from rowpath.machine import c_compiler
from rowpath.runners.process import RunnerFailure
from rowpath.runners.protocol import Close, CloseReply, Interrupt, InterruptReply
from tests.runners.c.talk import ADAPTERS, Talk, started

pytestmark = pytest.mark.skipif(shutil.which(c_compiler.words()[0]) is None, reason="no C compiler")

AFTER_MS = 1_000  # by then the statement is at work on a busy machine too: an earlier request would be lost


@pytest.fixture(scope="module", params=["sqlite", "libpq"])
def talk(request: pytest.FixtureRequest) -> Iterator[Talk]:
    """A runner on the driver's engine, of several clients, which change nothing here."""
    engine = ENGINES[ADAPTERS[request.param].engines[0]]
    if not engine.availability().ok:
        pytest.skip(engine.availability().reason)
    with started(engine.name) as instance:
        instance.load({})
        with Talk(request.param, instance, clients="2") as connected:
            yield connected


def behave(
    talk: Talk, behaviour: str, sql: str = "", *, after_ms: int = AFTER_MS, most_ms: int = 50_000
) -> InterruptReply:
    asked = {"kind": behaviour, "sql": sql or talk.engine.slow_query, "after_ms": after_ms, "most_ms": most_ms}
    reply: InterruptReply = talk.ask(Interrupt, InterruptReply, **asked)
    return reply


def test_cancel(talk: Talk) -> None:
    for _ in range(2):
        reply = behave(talk, "cancel")
        assert (reply.honoured, reply.usable) == (True, True), reply
        assert 0.99 * AFTER_MS * 1e6 <= reply.took_ns < 40e9
        assert "cancel" in reply.text or "interrupted" in reply.text


def test_timeout(talk: Talk) -> None:
    if talk.engine.name == "sqlite":
        with pytest.raises(RunnerFailure, match="no statement timeout") as refused:
            behave(talk, "timeout")
        assert refused.value.kind == "unsupported"
        return
    reply = behave(talk, "timeout")
    assert (reply.honoured, reply.usable) == (True, True), reply
    assert 0.99 * AFTER_MS * 1e6 <= reply.took_ns < 40e9
    assert "statement timeout" in reply.text
    assert talk.facts().settings["statement_timeout"] == "0"


def test_a_statement_that_ends_by_itself(talk: Talk) -> None:
    reply = behave(talk, "cancel", "SELECT 1")
    assert (reply.honoured, reply.usable) == (False, True)
    with pytest.raises(RunnerFailure) as broken:
        behave(talk, "cancel", "SELECT nonsense")
    assert broken.value.kind == "sql"


def test_senseless_requests(talk: Talk) -> None:
    with pytest.raises(RunnerFailure, match="no kind 'nonsense'"):
        behave(talk, "nonsense")
    with pytest.raises(RunnerFailure, match="ms to wait"):
        behave(talk, "cancel", after_ms=500, most_ms=100)


def test_a_statement_that_does_not_stop_keeps_its_connection(talk: Talk) -> None:
    """The last: the runner gives up before the statement is cancelled, and the connection is not used again."""
    reply = behave(talk, "cancel", after_ms=AFTER_MS, most_ms=AFTER_MS)
    if reply.honoured:  # it ended within the same moment
        return
    assert not reply.usable
    with pytest.raises(RunnerFailure, match="did not stop"):
        talk.facts()
    assert talk.ask(Close, CloseReply).close_ns < 40_000_000_000
