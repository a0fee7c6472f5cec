"""Whether the JDBC drivers honour a request to stop a long statement: as observed, not as documented."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from rowpath.engines import ENGINES
from rowpath.machine import jvm
from rowpath.runners.process import RunnerFailure
from rowpath.runners.protocol import Close, CloseReply, Interrupt, InterruptReply, Open, OpenReply
from tests.runners.java.talk import ADAPTERS, Instances, Talk, loaded, path_of

pytestmark = pytest.mark.skipif(bool(jvm.compiler_problem()), reason="no JDK")
AFTER_MS = 1_000  # by then the statement is at work on a busy machine too: an earlier request would be lost
MOST_MS, IGNORED_MS = 40_000, 6_000
YES, NO = True, False
SEEN = [
    ("sqlite-jdbc", "embedded", "cancel", YES, "interrupt"),
    ("sqlite-jdbc", "embedded", "timeout", NO, "went on"),  # its query timeout is a time to wait for locks
    ("derby", "embedded", "timeout", YES, "timed out"),
    ("derby", "server", "timeout", YES, "timed out"),
    ("pgjdbc", "server", "cancel", YES, "cancel"),
    ("pgjdbc", "server", "timeout", YES, "cancel"),
]


@pytest.fixture(scope="module")
def instances() -> Iterator[Instances]:
    with loaded(
        [("sqlite", "embedded"), ("derby", "embedded"), ("derby", "server"), ("postgresql", "server")], []
    ) as started:
        yield started


def talk_on(driver: str, deployment: str, instances: Instances) -> Talk:
    path = path_of(driver, deployment=deployment)
    key = path.get("engine"), deployment
    if key not in instances:
        pytest.skip(ENGINES[key[0]].availability().reason)
    instances[key].own_copy(path)
    return Talk(ADAPTERS[driver], path, instances[key].options(path))


def behave(talk: Talk, behaviour: str, sql: str = "", most_ms: int = MOST_MS) -> InterruptReply:
    fields = {"kind": behaviour, "sql": sql or talk.engine.slow_query, "after_ms": AFTER_MS}
    reply: InterruptReply = talk.ask(Interrupt, InterruptReply, most_ms=most_ms, **fields)
    return reply


@pytest.mark.parametrize(("driver", "deployment", "behaviour", "honoured", "words"), SEEN)
def test_as_observed(
    driver: str, deployment: str, behaviour: str, honoured: bool, words: str, instances: Instances
) -> None:
    talk = talk_on(driver, deployment, instances)
    try:
        reply = behave(talk, behaviour, most_ms=MOST_MS if honoured else IGNORED_MS)
        assert (reply.honoured, reply.usable) == (honoured, honoured), reply
        assert words in reply.text
        least_ms = AFTER_MS if behaviour == "cancel" else 1_000  # JDBC's timeouts are whole seconds
        assert reply.took_ns >= least_ms * 1_000_000 * 0.9
        talk.ask(Close, CloseReply)
        options = instances[talk.engine.name, deployment].options(path_of(driver, deployment=deployment))
        talk.ask(Open, OpenReply, options=path_of(driver, deployment=deployment).as_dict() | options)
    finally:
        talk.runner.stop()


@pytest.mark.parametrize("deployment", ["embedded", "server"])
def test_what_a_driver_does_not_have(deployment: str, instances: Instances) -> None:
    talk = talk_on("derby", deployment, instances)
    try:
        with pytest.raises(RunnerFailure, match="cancel") as raised:
            behave(talk, "cancel")
        assert raised.value.kind == "unsupported"
        with pytest.raises(RunnerFailure, match="no behaviour dance") as raised:
            behave(talk, "dance")
        assert raised.value.kind == "unsupported"
        ended = behave(talk, "timeout", "VALUES 1")
        assert (ended.honoured, ended.usable, ended.text) == (False, True, "the statement came to its own end")
    finally:
        talk.runner.stop()
