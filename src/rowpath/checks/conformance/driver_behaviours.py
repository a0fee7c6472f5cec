"""What a driver does when a statement must stop or its server restarts: observed, never judged.

Each is `yes`, `no` or `unsupported`, with the driver's own words.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from rowpath.checks.conformance.fixture import House
from rowpath.engines import ENGINES
from rowpath.engines.base import External
from rowpath.execution.prepared_phases import PreparedPhase
from rowpath.execution.worker import Worker
from rowpath.planning.plan import PlannedPath
from rowpath.runners.process import RunnerFailure
from rowpath.runners.protocol import Close, CloseReply, Interrupt, InterruptReply

# Drivers whose timeouts are whole seconds have none below 1. A request that comes while a cold engine still makes its
# plan may be lost: then a later one tells whether the driver can stop a statement at all.
AFTER_MS = {"cancel": (300, 2000, 3000), "timeout": (1000, 3000)}
CANCEL, TIMEOUT = "cancellation honoured", "statement timeout honoured"
MOST_MS = 8000
ON_TIME_MS = 4000  # an end later than this was not the request's doing


@dataclass(frozen=True)
class Behaviour:
    """One behaviour as it was seen."""

    name: str
    seen: Literal["yes", "no", "unsupported"]
    words: str = ""


def observe(planned: PlannedPath, house: House) -> list[Behaviour]:
    """All behaviours on the path, each on a connection of its own."""
    if "records" in planned.adapter.phases:
        reason = "there are no statements: a call of the library is over when it returns"
        stops = [Behaviour(name, "unsupported", reason) for name in (CANCEL, TIMEOUT)]
        return [*stops, *_restart(planned, house)]
    if not {"query", "execute"} <= set(planned.adapter.phases):
        return []
    return [
        _stops(planned, house, "cancel", CANCEL),
        _stops(planned, house, "timeout", TIMEOUT),
        *_restart(planned, house),
    ]


def _stops(planned: PlannedPath, house: House, behaviour: str, name: str) -> Behaviour:
    for after_ms in AFTER_MS[behaviour]:
        seen = _stops_after(planned, house, behaviour, name, after_ms)
        if seen.seen != "no":
            break
    return seen


def _stops_after(planned: PlannedPath, house: House, behaviour: str, name: str, after_ms: int) -> Behaviour:
    fresh = house.fresh(planned)
    try:
        fresh.open()
        reply = fresh.runner.request(
            Interrupt,
            MOST_MS / 1000 + 20,
            kind=behaviour,
            sql=ENGINES[planned.path.get("engine")].slow_query(),
            after_ms=after_ms,
            most_ms=MOST_MS,
            expect=InterruptReply,
        )
    except RunnerFailure as failure:
        return Behaviour(name, "unsupported" if failure.kind == "unsupported" else "no", failure.text)
    finally:
        fresh.close()
    in_time = reply.took_ns <= (after_ms + ON_TIME_MS) * 1_000_000
    words = reply.text if in_time else f"after {reply.took_ns / 1e9:.1f} s: {reply.text}"
    if reply.honoured and in_time and not reply.usable:
        words = f"{words} (the connection could not be used afterwards)"
    return Behaviour(name, "yes" if reply.honoured and in_time else "no", words)


def _restart(planned: PlannedPath, house: House) -> list[Behaviour]:
    same, again = "survives a server restart", "works again after close and open"
    if planned.path.get("deployment") != "server":
        reason = "the engine lives in the client's process: there is no server"
        return [Behaviour(same, "unsupported", reason), Behaviour(again, "unsupported", reason)]
    if isinstance(house.instance(planned), External):
        reason = "the server is another's: it is not ours to restart"
        return [Behaviour(same, "unsupported", reason), Behaviour(again, "unsupported", reason)]
    fresh = house.fresh(planned)
    try:
        fresh.open()
        work = house.some_work(planned)
        fresh.prepare(work)
        fresh.sample(work, "warm", operations=2, first=0)
        house.restart(planned)
        return [_goes_on(fresh, work, same), _opens(fresh, work, again)]
    except RunnerFailure as failure:
        return [Behaviour(same, "no", failure.text)]
    finally:
        fresh.close()


def _goes_on(fresh: Worker, work: PreparedPhase, name: str) -> Behaviour:
    """The next sample on the connection that was open all the time."""
    try:
        reply = fresh.sample(work, "warm", operations=2, first=0).reply
    except RunnerFailure as failure:
        return Behaviour(name, "no", failure.text)
    return Behaviour(name, "no" if reply.failed else "yes", reply.failure.text if reply.failure else "")


def _opens(fresh: Worker, work: PreparedPhase, name: str) -> Behaviour:
    try:
        fresh.runner.request(Close, 30, expect=CloseReply)
    except RunnerFailure as failure:
        if failure.fatal:
            return Behaviour(name, "no", failure.text)  # what a dead connection says on closing is of no use
    try:
        fresh.open()
        fresh.prepare(work)
        reply = fresh.sample(work, "warm", operations=2, first=0).reply
    except RunnerFailure as failure:
        return Behaviour(name, "no", failure.text)
    return Behaviour(name, "no" if reply.failed else "yes", reply.failure.text if reply.failure else "")
