"""Groups of clients at work at once: counted in shared memory as in the reply; rows right, each write stored once."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator, Sequence

from rowpath.checks.conformance.cases import case_named, phase_name
from rowpath.checks.conformance.fixture import NOTHING, EngineFixture, any_case
from rowpath.checks.conformance.outcome import CheckFailed, expect, expect_equal, expect_touch
from rowpath.execution.mixed_load.shared_counters import SharedCounters
from rowpath.execution.prepared_phases import PreparedPhase
from rowpath.execution.worker import Worker
from rowpath.model.workload import Column, Phase
from rowpath.planning.plan import PlannedPath
from rowpath.runners.process import RunnerFailure
from rowpath.runners.protocol import GroupClient, GroupSpec, GroupTotal
from rowpath.workloads import codec
from rowpath.workloads.expected import Expected

READERS, WRITERS = 2, 1
OPERATIONS_OF_EACH = 3  # that a group's clients do on average before the end is set
BEGIN_NS = 20_000_000  # from setting the begin to the begin: clients look for it once a millisecond
WITHIN_S = 60.0
TABLE = "counted"
ROWS = 12
ID = Column("id", "integer")
N = Column("n", "integer")
DROP = f"DROP TABLE {TABLE}"
CREATE = f"CREATE TABLE {TABLE} (id INTEGER NOT NULL PRIMARY KEY, n INTEGER NOT NULL)"
WRITE = Phase("write", "execute", sql=f"UPDATE {TABLE} SET n = n + 1 WHERE id = ?", writes=True)
LEFT = Phase("left", "query", sql=f"SELECT id, n FROM {TABLE} ORDER BY id")


def mixed_load(planned: PlannedPath, fixture: EngineFixture) -> str:
    """Readers and a writer at work at once: all that they did is counted, touched and stored, each write once."""
    if len(planned.adapter.coordinates.get("clients", ())) < 2:
        return f"the adapter {planned.adapter.driver} has only one client"
    writes = writes_any_statement(planned)
    try:
        worker = fixture.connected(planned, clients=READERS + writes * WRITERS)
    except RunnerFailure as failure:
        if failure.kind == "unsupported" and failure.text:
            return failure.text
        raise
    with _ledger(worker, fixture) if writes else contextlib.nullcontext() as ledger:
        _work(planned, fixture, worker, ledger)
    return ""


def writes_any_statement(planned: PlannedPath) -> bool:
    """Whether the path executes SQL that no program was written for beforehand."""
    executes = phase_name(case_named("duplicate-key")) in planned.phases
    return executes and "records" not in planned.adapter.phases and not planned.adapter.serves


@contextlib.contextmanager
def _ledger(worker: Worker, fixture: EngineFixture) -> Iterator[PreparedPhase]:
    """The phase that counts its writes, in a table that exists during the body."""
    worker.run([DROP], ignore_errors=True)
    worker.run([CREATE, *(f"INSERT INTO {TABLE} VALUES ({id_}, 0)" for id_ in range(1, ROWS + 1))])
    file = fixture.directory / f"{TABLE}.rows"
    codec.write_rows(file, [(id_,) for id_ in range(1, ROWS + 1)], (ID,))
    yield PreparedPhase(f"{TABLE}.{WRITE.name}", WRITE, WRITE.sql, (), (ID,), file, ROWS)
    worker.run([DROP], ignore_errors=True)


def _work(planned: PlannedPath, fixture: EngineFixture, worker: Worker, ledger: PreparedPhase | None) -> None:
    case = case_named("by-key")
    found = case if phase_name(case) in planned.phases else any_case(planned)
    read = NOTHING if found is None else fixture.work(found, planned)
    groups = [("readers", read, READERS, 0)]
    if ledger is not None:
        groups.append(("writer", ledger, WRITERS, ROWS))
    for _name, work, _clients, _rows in groups:
        worker.prepare(work)
    with contextlib.closing(
        SharedCounters([(name, clients, rows) for name, _work, clients, rows in groups])
    ) as counters:
        totals = _totals(worker, counters, groups)
        for total in totals:
            _check_counts(counters, total)
        if found is not None:
            _check_rows(totals[0], fixture.prepared_workload(found, planned).expected, read)
        if ledger is not None:
            _check_ledger(worker, counters, totals[1])


def _totals(
    worker: Worker, counters: SharedCounters, groups: Sequence[tuple[str, PreparedPhase, int, int]]
) -> list[GroupTotal]:
    """Let each group do some operations: what the runner reports of them."""
    specs, first = [], 0
    for name, work, clients, _rows in groups:
        specs.append(counters.spec(name, work.name, first))
        first += clients
    worker.groups(counters.file, specs)
    begin_ns = time.monotonic_ns() + BEGIN_NS
    for spec in specs:
        counters.begin(spec.name, begin_ns)
    deadline_s = time.monotonic() + WITHIN_S
    while time.monotonic() < deadline_s and not all(_has_worked(counters, spec) for spec in specs):
        time.sleep(0.01)
    for spec in specs:
        counters.end(spec.name, time.monotonic_ns())
    return worker.groups_end(WITHIN_S)


def _has_worked(counters: SharedCounters, spec: GroupSpec) -> bool:
    group = counters.snapshot(spec.name, time.monotonic_ns())
    return group.operations + group.failed >= OPERATIONS_OF_EACH * spec.clients or group.done == spec.clients


def _check_counts(counters: SharedCounters, total: GroupTotal) -> None:
    seen = counters.snapshot(total.name, time.monotonic_ns())
    if total.failures:
        first = total.failures[0]
        raise CheckFailed(f"failed operations of {total.name}", "none", f"{first.count}: {first.kind} {first.text}")
    expect(f"operations of {total.name}", total.operations)
    counted = (seen.operations, seen.failed, seen.rows)
    expect_equal(
        f"operations, failed, rows of {total.name} in the shared counters", counted, (total.operations, 0, total.rows)
    )
    expect_equal(f"operations in {total.name}'s histogram", int(seen.service.sum()), total.operations)
    expect_equal(
        f"operations of {total.name}'s clients", sum(client.operations for client in total.clients), total.operations
    )
    expect_equal(f"clients of {total.name} that are done", seen.done, len(total.clients))
    expect(f"begun_ns < ended_ns of {total.name}", total.begun_ns < total.ended_ns)


def _check_rows(total: GroupTotal, expected: Expected, work: PreparedPhase) -> None:
    phase = work.phase
    rows = sum(_rows_of(client, expected, phase) for client in total.clients)
    expect_equal("rows and values that the readers took", (total.rows, total.values), (rows, rows * len(work.columns)))
    regions = [(client.first, client.rows_of_its_own, client.operations) for client in total.clients]
    expect_touch("the readers' touch sum", total.touch, expected.touches(phase).expected_in_regions(regions))


def _rows_of(client: GroupClient, expected: Expected, phase: Phase) -> int:
    """Rows that one client took, round after round of its own parameters."""
    rounds, rest = divmod(client.operations, client.rows_of_its_own)
    rows_of_a_round = expected.rows(phase, client.first, client.rows_of_its_own) or 0
    return rounds * rows_of_a_round + (expected.rows(phase, client.first, rest) or 0)


def _check_ledger(worker: Worker, counters: SharedCounters, total: GroupTotal) -> None:
    known, doubtful = counters.acknowledged(total.name)
    expect_equal("writes in doubt", int(doubtful.sum()), 0)
    expect_equal("writes acknowledged, row by row", int(known.sum()), total.operations)
    left = PreparedPhase(f"{TABLE}.{LEFT.name}", LEFT, LEFT.sql, (ID, N), (), None, 0)
    worker.prepare(left)
    stored = codec.digest([(row + 1, int(n)) for row, n in enumerate(known)], (ID, N))
    expect_equal(
        "the table's rows, each with the writes acknowledged (digest)", worker.verify(left, 0, 1).digest, stored
    )
