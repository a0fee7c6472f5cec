"""Every case on every path: right rows, right counts, errors typed, and the runner goes on after each of them."""

from __future__ import annotations

import re

import pytest
from house import Case, House, any_case, cases, phase_name, planned_paths

from rowpath.invocation import Invocation, Work
from rowpath.plan import PlannedPath
from rowpath.protocol import ErrorBody, SampleReply, VerifyReply
from rowpath.runners import RunnerFailure
from rowpath.truth import Truth

MOST_ROWS = 100_000
PAIRS = [(path, case) for path in planned_paths() for case in cases() if phase_name(case) in path.phases]


@pytest.mark.parametrize(
    ("planned", "case"), PAIRS, indirect=["planned"], ids=[f"{path.name}-{case.name}" for path, case in PAIRS]
)
def test_case(planned: PlannedPath, case: Case, living: Invocation, house: House) -> None:
    work, truth = house.work(case, planned), house.engine_work(case, planned).truth
    if work.phase.writes:
        living.reset(work)
    notes = house.observed.setdefault(planned.name, {})
    try:
        living.prepare(work)
        if case.verify:
            reply = living.verify(work, **case.verify)
            check_verified(case, work, truth, reply)
            notes[f"{case.name}.delivered"] = [
                [column.name, type_name] for column, type_name in zip(work.columns, reply.delivered, strict=True)
            ]
            notes[f"{case.name}.converted"] = reply.converted
        if case.sample:
            check_sampled(case, planned, work, truth, living.sample(work, "steady", **case.sample).reply)
    except RunnerFailure as failure:
        if failure.kind == "unsupported":
            notes[case.name] = failure.text
            assert failure.text
            return
        assert case.error, failure
        check_error(case, planned, failure)
        check_goes_on(planned, living, house)
    else:
        assert case.failed or not case.error, "no error was told"
    if work.after is not None:
        living.prepare(work.after)
        rows = min(case.sample["operations"] - case.failed, work.phase.operations)
        assert living.verify(work.after, 0, 1).digest == truth.after_digest(work.phase, rows)
    notes[case.name] = "yes"


def check_verified(case: Case, work: Work, truth: Truth, reply: VerifyReply) -> None:
    first, count = case.verify["first"], case.verify["count"]
    expected = case.digest or truth.verify_digest(work.phase, first, count, case.verify.get("max_rows", MOST_ROWS))
    rows = case.rows if case.rows is not None else truth.rows(work.phase, first, count)
    assert (reply.digest, reply.rows, reply.operations) == (expected, rows, count)
    assert len(reply.delivered) == len(work.columns)
    assert set(reply.converted) <= {column.name for column in work.columns}


def check_sampled(case: Case, planned: PlannedPath, work: Work, truth: Truth, reply: SampleReply) -> None:
    first, operations = case.sample["first"], case.sample["operations"]
    assert (reply.operations, reply.failed) == (operations - case.failed, case.failed), reply.failure
    assert (reply.first, reply.lead_in_operations) == (first, 0)
    assert 0 < reply.min_ns <= reply.max_ns <= reply.ns
    assert reply.ns <= reply.window_ns
    if case.failed:
        assert reply.failure is not None
        check_error(case, planned, reply.failure)
        return
    assert reply.failure is None
    rows = case.rows if case.rows is not None else truth.rows(work.phase, first, operations)
    assert (reply.rows, reply.values) == (rows, (rows or 0) * len(work.columns))
    expected = truth.touches(work.phase).expected(first, operations)
    if expected is not None:
        assert int(reply.touch, 16) in expected
    elif rows == 0:
        assert int(reply.touch, 16) == 0


def check_error(case: Case, planned: PlannedPath, error: RunnerFailure | ErrorBody) -> None:
    assert error.kind == case.error.get(planned.path.get("engine"), case.error["kind"]), error
    assert error.code, error
    assert case.error.get("text", "") in error.text.lower()
    assert not re.search(r"[\x00-\x1f\x7f]", error.text)


def check_goes_on(planned: PlannedPath, living: Invocation, house: House) -> None:
    case = any_case(planned)
    work = house.work(case, planned)
    living.prepare(work)
    check_verified(case, work, house.engine_work(case, planned).truth, living.verify(work, **case.verify))
