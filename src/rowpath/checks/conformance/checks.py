"""A case on a path: right rows, right counts, typed errors, and a runner that goes on after each error."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import Any, Literal

from rowpath.checks.conformance.fixture import EngineFixture, any_case
from rowpath.checks.conformance.paths import Case, phase_name
from rowpath.execution.prepared_phases import PreparedPhase
from rowpath.execution.worker import Worker
from rowpath.planning.plan import PlannedPath
from rowpath.runners.process import RunnerFailure
from rowpath.runners.protocol import VERIFIED_ROWS, ErrorBody, SampleReply, VerifyReply
from rowpath.workloads.expected import Expected

MOST_ROWS = 100_000


class CheckFailed(Exception):
    """Something is not as it must be: what, and what it should have been and was."""


class NotApplicable(Exception):
    """A check is not one for this path, and why."""


@dataclass
class CaseOutcome:
    """One check on one path; `notes` is what was seen on the way (the types handed over)."""

    name: str
    status: Literal["ok", "failed", "not applicable"]
    reason: str = ""  # what is wrong, or why it does not apply
    expected: str = ""
    got: str = ""
    notes: dict[str, Any] = field(default_factory=dict)


def outcome_of(name: str, fixture: EngineFixture, check: Callable[[], object]) -> CaseOutcome:
    """The outcome of a check, which raises NotApplicable, or what is wrong.

    After a failure the next check gets a new process.
    """
    try:
        check()
    except NotApplicable as reason:
        return CaseOutcome(name, "not applicable", str(reason))
    except (CheckFailed, RunnerFailure) as failure:
        fixture.end_processes()
        if isinstance(failure, CheckFailed):
            return CaseOutcome(name, "failed", *map(str, failure.args))  # type: ignore[arg-type]
        return CaseOutcome(name, "failed", "the runner answered with an error", "", str(failure))
    return CaseOutcome(name, "ok")


def expect_equal(what: str, got: object, expected: object) -> None:
    """CheckFailed unless both are equal."""
    expect(what, got == expected, expected, got)


def expect(what: str, holds: object, expected: object = "yes", got: object = "no") -> None:
    """CheckFailed unless it holds."""
    if not holds:
        raise CheckFailed(what, expected, got)


def expect_touch(what: str, touch: str, touches: Collection[int] | None) -> None:
    """CheckFailed unless the touch sum is one of these; None: no one knows it."""
    if touches is not None and int(touch, 16) not in touches:
        raise CheckFailed(what, " or ".join(f"{known:016x}" for known in sorted(touches)), touch)


def check_case(case: Case, planned: PlannedPath, fixture: EngineFixture) -> CaseOutcome:
    """The result of the case on the path; after a failure the next check gets a new process."""
    notes: dict[str, Any] = {}

    def check() -> None:
        try:
            _run(case, planned, fixture, notes)
        except RunnerFailure as failure:
            if failure.kind == "unsupported" and failure.text:
                raise NotApplicable(failure.text) from failure
            raise

    outcome = outcome_of(case.name, fixture, check)
    outcome.notes = notes
    return outcome


def _run(case: Case, planned: PlannedPath, fixture: EngineFixture, notes: dict[str, Any]) -> None:
    """The case through the connection under test; what it writes is read back."""
    worker = fixture.connected(planned)
    work, expected = fixture.work(case, planned), fixture.prepared_workload(case, planned).expected
    if work.phase.writes:
        worker.reset(work)
    try:
        worker.prepare(work)
        if case.verify:
            reply = _check_verified(case, work, expected, worker)
            notes["delivered"] = [
                [column.name, type_name] for column, type_name in zip(work.columns, reply.delivered, strict=True)
            ]
            notes["converted"] = reply.converted
        if case.sample:
            _check_sampled(case, planned, work, expected, worker.sample(work, "steady", **case.sample).reply)
    except RunnerFailure as failure:
        if failure.kind == "unsupported" or not case.error or failure.fatal:
            raise
        _check_error(case, planned, failure)
        if (other := any_case(planned)) is not None:  # the runner goes on
            work_after = fixture.work(other, planned)
            worker.prepare(work_after)
            _check_verified(other, work_after, fixture.prepared_workload(other, planned).expected, worker)
    else:
        expect("an error is reported", case.failed or not case.error, case.error, "no error")
    for proof in work.proofs:
        worker.prepare(proof)
        operations = min(case.sample["operations"] - case.failed, work.phase.operations)
        expect_equal(
            f"the rows in {proof.phase.table} afterwards (number:digest)",
            worker.verify(proof, 0, 1).digest,
            expected.after_digest(work.phase, operations, proof.phase.table),
        )


def _rows(case: Case, work: PreparedPhase, expected: Expected, first: int, count: int) -> int | None:
    return case.rows if case.rows is not None else expected.rows(work.phase, first, count)


def _check_verified(case: Case, work: PreparedPhase, expected: Expected, worker: Worker) -> VerifyReply:
    first, count = case.verify["first"], case.verify["count"]
    reply = worker.verify(work, first, count, case.verify.get("max_rows", VERIFIED_ROWS))
    expect_equal("operations that were verified", reply.operations, count)
    expect_equal("rows delivered in verify", reply.rows, _rows(case, work, expected, first, count))
    digest = case.digest or expected.verify_digest(work.phase, first, count, case.verify.get("max_rows", MOST_ROWS))
    expect_equal("digest (rows:hash)", reply.digest, digest)
    expect_equal("names in `delivered`, one per column", len(reply.delivered), len(work.columns))
    names = {column.name for column in work.columns}
    expect_equal("names in `converted` that are no columns", sorted(set(reply.converted) - names), [])
    return reply


def _check_sampled(
    case: Case, planned: PlannedPath, work: PreparedPhase, expected: Expected, reply: SampleReply
) -> None:
    first, operations = case.sample["first"], case.sample["operations"]
    if not case.failed and (failure := reply.failure) is not None:
        raise CheckFailed("failed operations", "none", f"{reply.failed}: {failure.kind} {failure.code} {failure.text}")
    expect_equal(
        "operations and failed operations of the sample",
        (reply.operations, reply.failed),
        (operations - case.failed, case.failed),
    )
    expect_equal("`first` and `lead_in_operations`", (reply.first, reply.lead_in_operations), (first, 0))
    times = (reply.min_ns, reply.max_ns, reply.ns, reply.window_ns)
    in_order = times[0] > 0 and list(times) == sorted(times)
    expect("0 < min_ns <= max_ns <= ns <= window_ns", in_order, "in this order", times)
    _check_clients(planned, reply, first, operations)
    if case.failed:
        expect("a `failure` beside failed operations", reply.failure)
        assert reply.failure is not None
        _check_error(case, planned, reply.failure)
        return
    rows = _rows(case, work, expected, first, operations)
    expect_equal("rows delivered in the sample", reply.rows, rows)
    expect_equal("values delivered in the sample", reply.values, (rows or 0) * len(work.columns))
    touches = expected.touches(work.phase).expected(first, operations)
    expect_touch("touch sum", reply.touch, {0} if touches is None and rows == 0 else touches)


def _check_clients(planned: PlannedPath, reply: SampleReply, first: int, operations: int) -> None:
    """Check that exactly one of several clients did each operation."""
    if planned.path.clients == 1:
        return
    expect_equal("entries of `clients`", len(reply.clients), planned.path.clients)
    at = first
    for begin, done in sorted((client.first, client.operations + client.failed) for client in reply.clients):
        if done:
            expect_equal("where the next client begins, so that each operation is done once", begin, at)
            at += done
    expect_equal("where the last client ends", at, first + operations)
    expect_equal("failed operations of all clients", sum(client.failed for client in reply.clients), reply.failed)
    expect_equal("rows of all clients", sum(client.rows for client in reply.clients), reply.rows)


def _check_error(case: Case, planned: PlannedPath, error: RunnerFailure | ErrorBody) -> None:
    expect_equal("the error's kind", error.kind, case.error.get(planned.path.engine, case.error["kind"]))
    expect("the error has the driver's own code", error.code, "a code", repr(error.code))
    word = case.error.get("text", "")
    expect("the error's text is the engine's own", word in error.text.lower(), f"a text with {word!r}", error.text)
    expect(
        "the text has no control characters", not re.search(r"[\x00-\x1f\x7f]", error.text), "none", repr(error.text)
    )


def is_eligible(case: Case, planned: PlannedPath) -> bool:
    """Whether the path can run the case's phase."""
    return phase_name(case) in planned.phases
