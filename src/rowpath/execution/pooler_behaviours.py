"""What a path's pooler does to its statements, settings and cancels: real attempts by two clients, outside the clock.

Client B begins a transaction: it has the server connection that client A had last, where the pooler lends them.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from rowpath.execution.prepared_phases import PreparedPhase
from rowpath.execution.run_context import RunContext
from rowpath.execution.worker import Worker
from rowpath.journal.records import PoolerRecord
from rowpath.planning.plan import PlannedPath, key_of
from rowpath.poolers import POOLERS
from rowpath.poolers.attempts import ATTEMPTS, SLEEP_S, Attempts
from rowpath.runners.process import RunnerFailure
from rowpath.runners.protocol import Interrupt, InterruptReply

SETTLING_OPERATIONS = 12  # until every driver has prepared what it prepares by itself
CANCEL_AFTER_MS, MOST_MS = 300, SLEEP_S * 1000 + 3000
REPLY_WITHIN_S = 30.0

NewWorker = Callable[[], Worker]
LENT = "its statement fails once the pooler has lent the connection to another client"


def checked(context: RunContext, planned: PlannedPath) -> dict[str, str]:
    """Journal what two clients of the path meet; of one whose statements do not survive the status of the whole path.

    With a client of its own such a path would often work, by chance: it would be measured as nobody can use it.
    """
    instance, path = context.engine_instances[key_of(planned.path)], planned.path
    phases = [work for one in context.prepared_workloads(planned).values() for work in one.phases.values()]
    queries = [work for work in phases if work.name in planned.phases and work.phase.kind == "query"]

    def new() -> Worker:
        return Worker(planned, instance, log=context.log_of(planned), timeout_s=context.timeout_s)

    try:
        way = context.engine_instances.way_to(path, clients=2 * path.clients)
        record = observe(new, way, next(iter(queries), None))
    except RunnerFailure as refused:
        return {"": context.keep(-1, planned, "", refused)}
    finally:
        context.engine_instances.stop_pooler(path)  # what the attempts left in its connections is measured by no one
    context.write(record, -1, planned)
    if record.statement_stays is not False:
        return {}
    failure = RunnerFailure(record.statement_kind, f"{LENT}: {record.statement_text}", record.statement_code)
    return {"": context.keep(-1, planned, "", failure)}


def observe(new: NewWorker, way: dict[str, Any], work: PreparedPhase | None) -> PoolerRecord:
    """What two clients of the path meet; `work`: a query of it. A failure that the pooler makes is part of the result.

    Errors: RunnerFailure where they cannot connect, or the query fails by itself.
    """
    with contextlib.ExitStack() as cleanup:
        workers: list[Worker] = []
        for _client in range(2):
            workers.append(new())
            cleanup.callback(workers[-1].close)
            workers[-1].open(**way)
        a, b = workers
        path = a.planned.path
        attempts = ATTEMPTS[path.engine]
        record = PoolerRecord(pooler=path.pooler, version=POOLERS[path.pooler].version_here())
        record.unprepared = a.planned.adapter.unprepared
        if work is not None:
            _statement(record, a, b, work, attempts)
        _setting(record, a, b, attempts)
        _cancel(record, a, attempts)
    return record


@contextlib.contextmanager
def _elsewhere(worker: Worker, attempts: Attempts) -> Iterator[bool]:
    """That client is inside a transaction; whether it could begin one."""
    began = _done(worker, attempts.begin)
    try:
        yield bool(began)
    finally:
        _done(worker, attempts.end)


def _done(worker: Worker, statement: str) -> bool | None:
    """Whether the statement was executed without an error; None: this driver executes no statement as it is."""
    try:
        worker.run([statement])
    except RunnerFailure as failure:
        return None if failure.kind == "unsupported" else False
    return True


def _statement(record: PoolerRecord, a: Worker, b: Worker, work: PreparedPhase, attempts: Attempts) -> None:
    """Whether a statement that A has executed goes on working while B has the connection that it was executed on."""
    a.prepare(work)
    _executed(a, work)
    try:
        with _elsewhere(b, attempts) as has_it:
            if not has_it:
                return
            _executed(a, work)
    except RunnerFailure as failure:
        record.statement_stays = False
        record.statement_kind, record.statement_code, record.statement_text = failure.kind, failure.code, failure.text
    else:
        record.statement_stays = True


def _executed(worker: Worker, work: PreparedPhase) -> None:
    reply = worker.sample(work, "warm", operations=SETTLING_OPERATIONS, first=0).reply
    if reply.failed:
        failure = reply.failure
        raise RunnerFailure(
            (failure and failure.kind) or "sql", failure.text if failure else "", failure.code if failure else ""
        )


def _setting(record: PoolerRecord, a: Worker, b: Worker, attempts: Attempts) -> None:
    """Whether A's SET holds for A afterwards, and whether B meets it."""
    if not _done(a, attempts.mark):
        return
    with _elsewhere(b, attempts) as has_it:
        if has_it:
            record.set_stays = _done(a, attempts.marked)
            record.set_leaks = _done(b, attempts.marked)


def _cancel(record: PoolerRecord, a: Worker, attempts: Attempts) -> None:
    """Whether a cancel, sent the driver's own way, ends a statement."""
    how = {"kind": "cancel", "sql": attempts.sleep, "after_ms": CANCEL_AFTER_MS, "most_ms": MOST_MS}
    try:
        reply = a.runner.request(Interrupt, REPLY_WITHIN_S, expect=InterruptReply, **how)
    except RunnerFailure as failure:
        record.cancel_text = failure.text
        return
    record.cancel_heard = reply.honoured or reply.took_ns < SLEEP_S * 900_000_000
    record.cancel_text = "" if record.cancel_heard else reply.text
