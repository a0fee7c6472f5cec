"""What a driver does when a statement must stop: observed, never judged.

Each is `yes`, `no` or `unsupported`, with the driver's own words.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from rowpath.checks.conformance.fixture import EngineFixture
from rowpath.engines import ENGINES
from rowpath.planning.plan import PlannedPath
from rowpath.runners.process import RunnerFailure
from rowpath.runners.protocol import Interrupt, InterruptReply

CANCEL, TIMEOUT = "cancellation honoured", "statement timeout honoured"
# The kind of request, and after how many ms it comes. Drivers that count whole seconds have no timeout below 1 s. A
# request may be lost while a cold engine still plans: a later one shows whether the driver can stop a statement at all.
STOPS = {CANCEL: ("cancel", (300, 2000, 3000)), TIMEOUT: ("timeout", (1000, 3000))}
MAX_MS = 8000
ON_TIME_MS = 4000  # an end later than this is not due to the request
ON_TIME_TO_CONFIRM_MS = 1000  # enough to see once more that nothing stops the statement


@dataclass(frozen=True)
class Behaviour:
    """One behaviour as it was observed."""

    name: str
    observed: Literal["yes", "no", "unsupported"]
    text: str = ""


def observe(planned: PlannedPath, fixture: EngineFixture, documented: Mapping[str, str] = {}) -> list[Behaviour]:
    """All behaviours on the path. One that is documented as `no`, by name, is tried only once, and briefly."""
    if "records" in planned.adapter.phases:
        return _unsupported("there are no statements: a call of the library is over when it returns")
    if not {"query", "execute"} <= set(planned.adapter.phases):
        return []
    if not ENGINES[planned.path.engine].slow_query:
        return _unsupported("the engine has no statement that would run for long")
    return [_stop(planned, fixture, name, documented.get(name, "")) for name in STOPS]


def _unsupported(reason: str) -> list[Behaviour]:
    return [Behaviour(name, "unsupported", reason) for name in STOPS]


def _stop(planned: PlannedPath, fixture: EngineFixture, name: str, documented: str) -> Behaviour:
    waits_ms = STOPS[name][1]
    if documented == "no":
        return _stop_after(planned, fixture, name, waits_ms[0], waits_ms[0] + ON_TIME_TO_CONFIRM_MS)
    for after_ms in waits_ms:
        result = _stop_after(planned, fixture, name, after_ms, MAX_MS)
        if result.observed != "no":
            break
    return result


def _stop_after(planned: PlannedPath, fixture: EngineFixture, name: str, after_ms: int, max_ms: int) -> Behaviour:
    """Stop a statement on a connection of its own; a process is killed while its statement runs."""
    fixture.disconnect()
    worker = fixture.connected(planned)
    how = {"kind": STOPS[name][0], "sql": ENGINES[planned.path.engine].slow_query, "after_ms": after_ms}
    try:
        reply = worker.runner.request(Interrupt, max_ms / 1000 + 20, most_ms=max_ms, expect=InterruptReply, **how)
    except RunnerFailure as failure:
        worker.runner.kill()  # what cannot be stopped may still run
        return Behaviour(name, "unsupported" if failure.kind == "unsupported" else "no", failure.text)
    if not reply.honoured:
        worker.runner.kill()
    fixture.disconnect()
    in_time = reply.took_ns <= (after_ms + ON_TIME_MS) * 1_000_000
    text = reply.text if in_time else f"after {reply.took_ns / 1e9:.1f} s: {reply.text}"
    if reply.honoured and in_time and not reply.usable:
        text = f"{text} (the connection could not be used afterwards)"
    return Behaviour(name, "yes" if reply.honoured and in_time else "no", text)
