"""The check `groups`: clients at work at once, counted in shared counters as in the reply; rows and writes right."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator, Sequence

from rowpath.checks.conformance.cases import case_named, phase_name
from rowpath.checks.conformance.fixture import NOTHING, House, any_case
from rowpath.checks.conformance.outcome import Broken, same, true
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
STRETCH_NS = 300_000_000
BEGIN_NS = 20_000_000  # from the word to begin to the begin: clients look for it once a millisecond
ENDS_WITHIN_S = 60.0
TABLE = "counted"
ROWS = 12
ID = Column("id", "integer")
N = Column("n", "integer")
DROP = f"DROP TABLE {TABLE}"
CREATE = f"CREATE TABLE {TABLE} (id INTEGER NOT NULL PRIMARY KEY, n INTEGER NOT NULL)"
WRITE = Phase("write", "execute", sql=f"UPDATE {TABLE} SET n = n + 1 WHERE id = ?", writes=True)
LEFT = Phase("left", "query", sql=f"SELECT id, n FROM {TABLE} ORDER BY id")


def groups(planned: PlannedPath, house: House) -> str:
    """Readers and a writer at work at once: all that they did is counted, touched and stored, each write once."""
    if len(planned.adapter.coordinates.get("clients", ())) < 2:
        return f"the adapter {planned.adapter.driver} has one client alone"
    writes = writes_any_statement(planned)
    fresh = house.fresh(planned, clients=READERS + writes * WRITERS)
    try:
        fresh.open()
    except RunnerFailure as failure:
        fresh.close()
        if failure.kind == "unsupported" and failure.text:
            return failure.text
        raise
    with contextlib.closing(fresh), _ledger(fresh, house) if writes else contextlib.nullcontext() as ledger:
        _work(planned, house, fresh, ledger)
    return ""


def writes_any_statement(planned: PlannedPath) -> bool:
    """Whether the path executes SQL that no program was written for beforehand."""
    executes = phase_name(case_named("duplicate-key")) in planned.phases
    return executes and "records" not in planned.adapter.phases and not planned.adapter.serves


@contextlib.contextmanager
def _ledger(living: Worker, house: House) -> Iterator[PreparedPhase]:
    """The phase that counts its writes, in a table that is there meanwhile."""
    living.run([DROP], ignore_errors=True)
    living.run([CREATE, *(f"INSERT INTO {TABLE} VALUES ({id_}, 0)" for id_ in range(1, ROWS + 1))])
    file = house.directory / f"{TABLE}.rows"
    codec.write_rows(file, [(id_,) for id_ in range(1, ROWS + 1)], (ID,))
    yield PreparedPhase(f"{TABLE}.{WRITE.name}", WRITE, WRITE.sql, (), (ID,), file, ROWS)
    living.run([DROP], ignore_errors=True)


def _work(planned: PlannedPath, house: House, living: Worker, ledger: PreparedPhase | None) -> None:
    case = case_named("by-key")
    found = case if phase_name(case) in planned.phases else any_case(planned)
    read = NOTHING if found is None else house.work(found, planned)
    asked = [("readers", read, READERS, 0)]
    if ledger is not None:
        asked.append(("writer", ledger, WRITERS, ROWS))
    for _name, work, _clients, _rows in asked:
        living.prepare(work)
    with contextlib.closing(
        SharedCounters([(name, clients, rows) for name, _work, clients, rows in asked])
    ) as shared_counters:
        totals = _totals(living, shared_counters, asked)
        for total in totals:
            _check_counts(shared_counters, total)
        if found is not None:
            _check_rows(totals[0], house.prepared_workload(found, planned).truth, read)
        if ledger is not None:
            _check_ledger(living, shared_counters, totals[1])


def _totals(
    living: Worker, shared_counters: SharedCounters, asked: Sequence[tuple[str, PreparedPhase, int, int]]
) -> list[GroupTotal]:
    """Let them work for a stage: what the runner says they did."""
    specs, first = [], 0
    for name, work, clients, _rows in asked:
        place = shared_counters.places[name]
        specs.append(
            GroupSpec(
                name=name,
                phase=work.name,
                first_client=first,
                clients=clients,
                pacing="closed",
                control=place.control,
                slots=place.slots,
                slot_bytes=place.slot_bytes,
                acknowledged=place.acknowledged,
            )
        )
        first += clients
    living.groups(shared_counters.file, specs)
    begin_ns = time.monotonic_ns() + BEGIN_NS
    for spec in specs:
        shared_counters.end(spec.name, begin_ns + STRETCH_NS)
        shared_counters.begin(spec.name, begin_ns)
    return living.groups_end(ENDS_WITHIN_S)


def _check_counts(shared_counters: SharedCounters, total: GroupTotal) -> None:
    seen = shared_counters.snapshot(total.name, time.monotonic_ns())
    if total.failures:
        first = total.failures[0]
        raise Broken(f"failed operations of {total.name}", "none", f"{first.count}: {first.kind} {first.text}")
    true(f"operations of {total.name}", total.operations)
    on_board = (seen.operations, seen.failed, seen.rows)
    same(
        f"operations, failed, rows of {total.name} on the shared_counters", on_board, (total.operations, 0, total.rows)
    )
    same(f"operations in {total.name}'s histogram", int(seen.service.sum()), total.operations)
    same(f"operations of {total.name}'s clients", sum(one.operations for one in total.clients), total.operations)
    same(f"clients of {total.name} that are done", seen.done, len(total.clients))
    true(f"begun_ns < ended_ns of {total.name}", total.begun_ns < total.ended_ns)


def _check_rows(total: GroupTotal, truth: Expected, work: PreparedPhase) -> None:
    phase = work.phase
    rows = sum(_rows_of(client, truth, phase) for client in total.clients)
    same("rows and values that the readers took", (total.rows, total.values), (rows, rows * len(work.columns)))
    regions = [(client.first, client.rows_of_its_own, client.operations) for client in total.clients]
    touches = truth.touches(phase).expected_in_regions(regions)
    if touches is not None and int(total.touch, 16) not in touches:
        raise Broken("the readers' touch sum", " or ".join(f"{one:016x}" for one in sorted(touches)), total.touch)


def _rows_of(client: GroupClient, truth: Expected, phase: Phase) -> int:
    """Rows that one client took, round after round of its own parameters."""
    rounds, rest = divmod(client.operations, client.rows_of_its_own)
    each = truth.rows(phase, client.first, client.rows_of_its_own) or 0
    return rounds * each + (truth.rows(phase, client.first, rest) or 0)


def _check_ledger(living: Worker, shared_counters: SharedCounters, total: GroupTotal) -> None:
    known, doubtful = shared_counters.acknowledged(total.name)
    same("writes in doubt", int(doubtful.sum()), 0)
    same("writes acknowledged, row by row", int(known.sum()), total.operations)
    left = PreparedPhase(f"{TABLE}.{LEFT.name}", LEFT, LEFT.sql, (ID, N), (), None, 0)
    living.prepare(left)
    stored = codec.digest([(row + 1, int(n)) for row, n in enumerate(known)], (ID, N))
    same("the table's rows, each with the writes acknowledged (digest)", living.verify(left, 0, 1).digest, stored)
