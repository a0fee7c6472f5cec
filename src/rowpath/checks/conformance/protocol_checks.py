"""What a runner owes the protocol, whatever it hosts: bad messages, phases, opening again, facts, groups of clients."""

from __future__ import annotations

import contextlib
import json
import re
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from rowpath.checks.conformance.checks import (
    CaseOutcome,
    CheckFailed,
    NotApplicable,
    expect,
    expect_equal,
    expect_touch,
    outcome_of,
)
from rowpath.checks.conformance.fixture import NOTHING, EngineFixture, any_case
from rowpath.checks.conformance.paths import case_named, phase_name
from rowpath.engines import ENGINES
from rowpath.execution.mixed_load.shared_counters import SharedCounters
from rowpath.execution.prepared_phases import PreparedPhase
from rowpath.execution.worker import Worker
from rowpath.machine import processes
from rowpath.model.workload import Column, Phase, Table
from rowpath.planning.plan import PlannedPath
from rowpath.runners import protocol
from rowpath.runners.process import Runner, RunnerFailure
from rowpath.runners.protocol import CODEC, PROTOCOL, REQUEST_LIMIT_BYTES, GroupSpec, GroupTotal, HelloReply
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
BAD_LINES = (b"{", b"[]", b'"text"', b"nonsense", b"\xff\xfe", b'{"id": 7}', b'{"type": "dance", "id": 8}')
LONG_LINE = b'{"id": 9, "type": "' + b"x" * REQUEST_LIMIT_BYTES + b'"}'
STOPS_WITHIN_S = 30.0  # of a sample of a minute: at once, but a busy machine may take its time
ANSWERS_WITHIN_S = 60.0
PASSING = Table(rows=0, generator="types", columns=(Column("a", "integer"),))
ON_EVERY_PATH = ("facts",)  # the others: on an adapter's default path


def mixed_load(planned: PlannedPath, fixture: EngineFixture) -> None:
    """Readers and a writer at work at once: all that they did is counted, touched and stored, each write once."""
    if len(planned.adapter.coordinates.get("clients", ())) < 2:
        raise NotApplicable(f"the adapter {planned.adapter.driver} has only one client")
    # Where the path executes SQL that no program was written for beforehand.
    executes = phase_name(case_named("duplicate-key")) in planned.phases
    writes = executes and "records" not in planned.adapter.phases and not planned.adapter.serves
    try:
        worker = fixture.connected(planned, clients=READERS + writes * WRITERS)
    except RunnerFailure as failure:
        if failure.kind == "unsupported" and failure.text:
            raise NotApplicable(failure.text) from failure
        raise
    with _ledger(worker, fixture) if writes else contextlib.nullcontext() as ledger:
        _work(planned, fixture, worker, ledger)


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
    by_key = case_named("by-key")
    case = by_key if phase_name(by_key) in planned.phases else any_case(planned)
    read = NOTHING if case is None else fixture.work(case, planned)
    groups = [("readers", read, READERS, 0)]
    if ledger is not None:
        groups.append(("writer", ledger, WRITERS, ROWS))
    for _name, work, _clients, _rows in groups:
        worker.prepare(work)
    sizes = [(name, clients, rows) for name, _work, clients, rows in groups]
    with contextlib.closing(SharedCounters(sizes)) as counters:
        totals = _totals(worker, counters, groups)
        for total in totals:
            _check_counts(counters, total)
        if case is not None:
            _check_rows(totals[0], fixture.prepared_workload(case, planned).expected, read)
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

    def has_worked(spec: GroupSpec) -> bool:
        group = counters.snapshot(spec.name, time.monotonic_ns())
        return group.operations + group.failed >= OPERATIONS_OF_EACH * spec.clients or group.done == spec.clients

    while time.monotonic() < deadline_s and not all(map(has_worked, specs)):
        time.sleep(0.01)
    for spec in specs:
        counters.end(spec.name, time.monotonic_ns())
    return worker.groups_end(WITHIN_S)


def _check_counts(counters: SharedCounters, total: GroupTotal) -> None:
    name, operations = total.name, total.operations
    seen = counters.snapshot(name, time.monotonic_ns())
    for first in total.failures[:1]:
        raise CheckFailed(f"failed operations of {name}", "none", f"{first.count}: {first.kind} {first.text}")
    expect(f"operations of {name}", operations)
    counted = (seen.operations, seen.failed, seen.rows)
    expect_equal(f"operations, failed, rows of {name} in the shared counters", counted, (operations, 0, total.rows))
    expect_equal(f"operations in {name}'s histogram", int(seen.service.sum()), operations)
    expect_equal(f"operations of {name}'s clients", sum(client.operations for client in total.clients), operations)
    expect_equal(f"clients of {name} that are done", seen.done, len(total.clients))
    expect(f"begun_ns < ended_ns of {name}", total.begun_ns < total.ended_ns)


def _check_rows(total: GroupTotal, expected: Expected, work: PreparedPhase) -> None:
    phase = work.phase
    regions = [(client.first, client.rows_of_its_own, client.operations) for client in total.clients]
    rows = 0
    for first, own, operations in regions:  # round after round of its own parameters
        rows += operations // own * (expected.rows(phase, first, own) or 0)
        rows += expected.rows(phase, first, operations % own) or 0
    expect_equal("rows and values that the readers took", (total.rows, total.values), (rows, rows * len(work.columns)))
    expect_touch("the readers' touch sum", total.touch, expected.touches(phase).expected_in_regions(regions))


def _check_ledger(worker: Worker, counters: SharedCounters, total: GroupTotal) -> None:
    known, doubtful = counters.acknowledged(total.name)
    expect_equal("writes in doubt", int(doubtful.sum()), 0)
    expect_equal("writes acknowledged, row by row", int(known.sum()), total.operations)
    left = PreparedPhase(f"{TABLE}.{LEFT.name}", LEFT, LEFT.sql, (ID, N), (), None, 0)
    worker.prepare(left)
    stored = codec.digest([(row, int(n)) for row, n in enumerate(known, 1)], (ID, N))
    digest = worker.verify(left, 0, 1).digest
    expect_equal("the table's rows, each with the writes acknowledged (digest)", digest, stored)


def check_protocol(name: str, planned: PlannedPath, fixture: EngineFixture) -> CaseOutcome:
    """The result of one check on the path; after a failure the next one gets a new process."""
    return outcome_of(name, fixture, lambda: PROTOCOL_CHECKS[name](planned, fixture))


def refused(what: str, ask: Callable[[], object]) -> RunnerFailure:
    """The error that the runner answers with; CheckFailed when it answers otherwise."""
    try:
        ask()
    except RunnerFailure as failure:
        if failure.fatal:
            raise
        return failure
    raise CheckFailed(f"a request that cannot be served is refused: {what}", "an error", "a reply")


def say_hello(runner: Runner, **changed: Any) -> HelloReply:
    """A hello with some fields changed."""
    fields = {"protocol": PROTOCOL, "codec": CODEC, "requires": ["touch", "digest"], "adapter": ""} | changed
    return runner.request(protocol.Hello, 60, expect=HelloReply, **fields)


def bad_messages(planned: PlannedPath, fixture: EngineFixture) -> None:
    """Wrong versions are refused, nonsense is survived, and the end of stdin ends it in the middle of a sample."""
    driver = planned.adapter.driver
    with contextlib.closing(fixture.exclusive(planned)) as worker:
        runner = worker.runner
        for changed in (
            {"protocol": (PROTOCOL[0] + 1, 0)},
            {"codec": 99},
            {"requires": ["touch", "magic"]},
            {"adapter": "another"},
        ):
            failure = refused(f"hello with {changed}", lambda c=changed: say_hello(runner, **({"adapter": driver} | c)))  # type: ignore[misc]
            expect_equal(f"the error's kind after a hello with {changed}", failure.kind, "unsupported")
            expect("the error has a text", failure.text, "a reason", "nothing")
        expect_equal("the adapter that hello names", say_hello(runner, adapter=driver).adapter, driver)
        for line in (*BAD_LINES, LONG_LINE):
            _answer_after(runner, line, driver)
        worker.open()
        work = fixture.some_work(planned)
        worker.prepare(work)
        endless = {"lead_in_ns": 0, "duration_ns": 60_000_000_000, "operations": 0, "first": -1}
        runner.send(protocol.Sample, 60, phase=work.name, regime="steady", **endless)
        time.sleep(0.3)
        expect("the runner is in the middle of a sample of a minute", runner.alive(), "alive", "it has ended")
        assert runner.process.stdin is not None
        runner.process.stdin.close()
        within, ended = f"within {STOPS_WITHIN_S} s", processes.wait(runner.process, STOPS_WITHIN_S)
        expect("the end of stdin ends the runner", ended, within, "it still runs")


def _answer_after(runner: Runner, line: bytes, driver: str) -> None:
    """Send a line that is no sensible request, then a hello; the hello must be answered."""
    hello = {"id": 1000, "type": "hello", "deadline_ms": 60_000, "protocol": PROTOCOL, "codec": CODEC}
    sent = line + b"\n" + json.dumps(hello | {"requires": [], "adapter": driver}).encode() + b"\n"
    assert runner.process.stdin is not None
    assert runner.process.stdout is not None
    runner.process.stdin.write(sent)
    runner.process.stdin.flush()
    deadline = time.monotonic() + ANSWERS_WITHIN_S
    read = b""
    while time.monotonic() < deadline and runner.alive():
        read += runner.process.stdout.read() or b""
        replies = [json.loads(reply) for reply in read.split(b"\n")[:-1]]
        if replies and replies[-1]["id"] == 1000:
            expect(f"hello is served after the line {line[:40]!r}", "error" not in replies[-1], "a reply", replies[-1])
            return
        time.sleep(0.001)
    raise CheckFailed(f"hello is answered after the line {line[:40]!r}", "a reply", "none")


def phases(planned: PlannedPath, fixture: EngineFixture) -> None:
    """Unknown phases are refused; positions go on from sample to sample; a phase may be prepared again."""
    worker = fixture.connected(planned)
    unknown = PreparedPhase("no.such", Phase("such", "query"), "", (), (), None, 0)
    for ask in (lambda: worker.sample(unknown, "steady", operations=1), lambda: worker.verify(unknown, 0, 1)):
        failure = refused("an unknown phase", ask)
        expect("the error names the phase", "no.such" in failure.text, "no.such", failure.text)
    work = fixture.some_work(planned)
    for _ in range(2):
        worker.prepare(work)
        reply = worker.sample(work, "steady", lead_in_ns=1_000, duration_ns=1_000_000, first=3).reply
        expect_equal("`first` after a lead-in that began at 3", reply.first, 3 + reply.lead_in_operations)
        expect("operations of the lead-in and of the block", reply.lead_in_operations >= 1 and reply.operations >= 1)
        expect_equal("failed operations", (reply.failed, reply.failure), (0, None))
    after = worker.sample(work, "steady", operations=2).reply
    next_first = reply.first + reply.operations
    expect_equal("first and operations of the next sample", (after.first, after.operations), (next_first, 2))


def opens_once(planned: PlannedPath, fixture: EngineFixture) -> None:
    """A second `open` is refused; what is open stays usable."""
    worker, work = fixture.connected(planned), fixture.some_work(planned)
    worker.prepare(work)
    failure = refused("a second `open`", worker.open)
    expect_equal("the error's kind after a second `open`", failure.kind, "internal")
    expect_equal("operations after it", worker.sample(work, "steady", operations=2).reply.operations, 2)


def opens_again(planned: PlannedPath, fixture: EngineFixture) -> None:
    """Check that a closed connection refuses everything until the next `open`."""
    worker, work = fixture.connected(planned), fixture.some_work(planned)
    worker.prepare(work)
    worker.runner.request(protocol.Close, 30, expect=protocol.CloseReply)
    for ask in (lambda: worker.prepare(work), lambda: worker.sample(work, "steady", operations=1), worker.facts):
        refused("a request on a closed connection", ask)
    worker.open()
    worker.prepare(work)
    expect_equal("operations after opening again", worker.sample(work, "steady", operations=2).reply.operations, 2)


def facts(planned: PlannedPath, fixture: EngineFixture) -> None:
    """Versions and effective settings, read from the live connection; requested settings come back as requested."""
    worker = fixture.connected(planned)
    read = worker.facts()
    settings: dict[str, str] = read["settings"]
    expect("facts name the runtime", read["runtime"], "a runtime", "nothing")
    path, engine = planned.path, ENGINES[planned.path.engine]
    password = worker.instance.options(path).get("password")
    expect("facts hold no password", password is None or password not in str(read), "none", "it is there")
    if "threads" in planned.adapter.coordinates:
        expect_equal("the setting `threads`, read back", settings.get("threads"), path.get("threads"))
    if engine.is_floor:
        return
    if path.deployment != "file" or path.version != "bundled":  # our own code has no version
        expect("facts name the driver's version", read["driver_version"], "a version", "nothing")
    if path.deployment == "file":
        return
    expect("facts name the engine's version", read["engine_version"], "a version", "nothing")
    if "scan" in planned.adapter.phases:  # which knows no transaction
        return
    if not path.result.startswith("cursor"):  # which lives in a transaction
        expect_equal("the setting `autocommit`", settings.get("autocommit"), "on")
    reads_tls = "tls" in settings or "tls" in planned.adapter.coordinates
    if path.served and path.tls in ("on", "off") and reads_tls:
        word = re.split(r"\W", settings.get("tls", ""))[0]
        expect_equal("the setting `tls`, read back (its first word)", word, path.tls)
    for name, spellings in engine.settings(path.durability).items():
        value, what = re.split(r"\W", settings.get(name, ""))[0], f"the setting `{name}`, read back (its first word)"
        expect(what, value in spellings, " or ".join(spellings), value or "nothing")


def statements(planned: PlannedPath, fixture: EngineFixture) -> None:
    """Statements outside the clock are committed; a failure is reported, or ignored on request."""
    if phase_name(case_named("duplicate-key")) not in planned.phases:
        raise NotApplicable(f"the adapter {planned.adapter.driver} executes no statements")
    worker = fixture.connected(planned)
    create, drop = "CREATE TABLE passing (a INTEGER)", "DROP TABLE passing"
    if "records" in planned.adapter.phases:
        engine = ENGINES[planned.path.engine]
        create, drop = engine.create("passing", PASSING), engine.drop("passing")
    expect_equal("times of two statements", len(worker.run([create, drop])), 2)
    failure = refused("dropping a table that is not there", lambda: worker.run([drop]))
    expect_equal("the error's kind", failure.kind, "sql")
    expect("the error names the table", "passing" in failure.text.lower(), "passing", failure.text)
    expect_equal("times of four statements", len(worker.run([drop, create, create, drop], ignore_errors=True)), 4)


PROTOCOL_CHECKS: dict[str, Callable[[PlannedPath, EngineFixture], None]] = {
    "facts": facts,
    "phases": phases,
    "opens-once": opens_once,
    "opens-again": opens_again,
    "statements": statements,
    "mixed-load": mixed_load,
    "bad-messages": bad_messages,
}
