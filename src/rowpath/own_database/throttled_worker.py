"""A worker on a user's database: read only, busy for at most half of the time, watching whether rows change."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from typing_extensions import override

from rowpath.engines.base import Instance
from rowpath.execution.measured import Measured
from rowpath.execution.prepared_phases import PreparedPhase
from rowpath.execution.worker import Worker
from rowpath.journal.records import WorkerRecord
from rowpath.model.path import MAPPED, AccessPath
from rowpath.model.workload import Column, Phase, PhaseName
from rowpath.own_database.candidates import NAME, prepared_settings
from rowpath.own_database.mapped_table import MappedTable
from rowpath.own_database.session import PooledSession, Session
from rowpath.planning.plan import PlannedPath
from rowpath.runners import protocol
from rowpath.runners.manifest import language
from rowpath.runners.process import RunnerFailure
from rowpath.runners.protocol import VERIFIED_ROWS, DescribedColumn, SampleReply, VerifyReply
from rowpath.scrubber import Scrubber
from rowpath.workloads.codec import MASK64, read_kept
from rowpath.workloads.expected import Delivery

CURSORS = ("cursor:", "fetch-size:")  # results that the server keeps and hands over in parts
LONGEST_SHARE = 1 / 20  # of the budget: when one execution takes more, no settings and no ranking can be known
LONGEST_FIRST_SHARE = 1 / 4  # of the budget: a first execution that takes more is not repeated
FULL_SETS_MOST = 0.65  # of the budget, at most, is kept free for the full sets
LEAST_WARM_S, MOST_WARM_S = 0.05, 1.0  # of a path in a set: runtimes that compile need more than others
WHOLE = 1 << 40  # rows of a digest: all of them, for different paths may deliver them in different orders
WORKLOAD, PHASE = PhaseName.of(NAME)
# Executions of a statement with parameters before it is timed: PostgreSQL decides about a generic plan after the fifth,
# and drivers prepare by themselves at the fifth.
SETTLING_EXECUTIONS = 12
CHECKS = 2  # executions that must only read before the user's query is executed
OWN_TRANSACTION = "the driver makes transactions of its own, which would not be read only through the pooler"


@dataclass
class Budget:
    """A number of seconds from `begin` on; the database is busy for at most `busy_share` of them.

    `delivery_s`: what the server needs to deliver the rows to a client that only drains them; infinite when unknown.
    """

    total_s: float
    busy_share: float = 1.0
    clock: Callable[[], float] = time.monotonic
    began_s: float | None = None
    delivery_s: float = math.inf

    def begin(self) -> None:
        """The first try begins: until then nothing is spent. Harmless when it has begun."""
        if self.began_s is None:
            self.began_s = self.clock()

    @property
    def spent_s(self) -> float:
        """Seconds that are over."""
        return 0.0 if self.began_s is None else self.clock() - self.began_s

    @property
    def left_s(self) -> float:
        """Seconds that are left; never negative."""
        return max(0.0, self.total_s - self.spent_s)

    def search_s(self, reserve_s: float) -> float:
        """Seconds of the whole budget that the search may take when the full sets will take `reserve_s`."""
        return self.total_s - min(reserve_s, FULL_SETS_MOST * self.total_s)

    def rest_s(self, path: AccessPath, block_s: float, executions: int) -> float:
        """How long the database rests after a block: the server was at work no longer than it needs to deliver.

        Behind a cursor it does more than for a drain: there the whole block counts.
        """
        has_cursor = path.result.startswith(CURSORS)
        at_work_s = block_s if has_cursor else min(block_s, executions * self.delivery_s)
        return at_work_s * (1 / self.busy_share - 1)

    def wall_s(self, path: AccessPath, execution_s: float, executions: int = 1) -> float:
        """What this many executions take with the rest after them."""
        block_s = executions * execution_s
        return block_s + self.rest_s(path, block_s, executions)

    def too_long(self, execution_s: float) -> bool:
        """Whether one execution is so long that nothing but single executions fits."""
        return execution_s > self.total_s * LONGEST_SHARE

    def maybe_too_long(self, first_s: float) -> bool:
        """Whether a second execution decides: the first of a process also loads what later ones find loaded."""
        return self.too_long(first_s) and first_s < self.total_s * LONGEST_FIRST_SHARE


@dataclass
class DatabaseRest:
    """When the database may be asked again: a block is followed by a rest, in which other things may be done."""

    budget: Budget
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    until_s: float = 0.0

    def wait(self) -> None:
        """Sleep until the rest after the last block is over."""
        if (left_s := self.until_s - self.clock()) > 0:
            self.sleep(left_s)

    def after(self, path: AccessPath, ended_s: float, block_s: float, executions: int) -> None:
        """A block of that length ended then."""
        self.until_s = max(self.until_s, ended_s + self.budget.rest_s(path, block_s, executions))


def warm_s(planned: PlannedPath) -> float:
    """How long a path of a new process is warmed up in a full set: as its language needs, within limits."""
    return min(MOST_WARM_S, max(LEAST_WARM_S, language(planned.adapter.language).probe_warm_s[0]))


@dataclass
class RowConsistency:
    """The touch sums of one execution, as the paths that agree deliver it; in the place of `workloads.expected`."""

    touches_seen: set[int] = field(default_factory=set)  # of one execution, each in its language's own unit
    changed: bool = False  # rows change while the probe runs, so that nothing can be expected
    volatile: bool = False  # the engine makes other values at every execution: no touch sum can be expected

    def learn(self, touch: int) -> None:
        """One execution of a path that agrees gives this sum."""
        self.touches_seen.add(touch & MASK64)

    @contextmanager
    def unwatched(self) -> Iterator[None]:
        """What is executed inside may deliver other rows: those of a path that is known to be wrong."""
        before, self.volatile = self.volatile, True
        try:
            yield
        finally:
            self.volatile = before

    def touches(self, _phase: object) -> RowConsistency:
        """This object: there is one phase."""
        return self

    def expected_of(self, spans: Iterable[tuple[int, int]]) -> frozenset[int] | None:
        """The sums that this many operations may have; None where nothing is expected."""
        if self.changed or self.volatile or not self.touches_seen:
            return None
        operations = sum(count for _first, count in spans)
        return frozenset(operations * touch & MASK64 for touch in self.touches_seen)

    def fits(self, reply: SampleReply) -> bool:
        """Whether a block delivered what all the executions before it did."""
        expected = self.expected_of([(reply.first, reply.operations)])
        return expected is None or reply.failed > 0 or int(reply.touch, 16) in expected

    def rows(self, *_where: object) -> None:
        """None: a probe expects no number of rows."""

    def payload_bytes(self, *_where: object) -> None:
        """None: a probe expects no payload."""


@dataclass
class KeyedRowConsistency(RowConsistency):
    """The consistency of a query with parameters: each operation delivers the rows of its own parameters.

    `delivery`: what the reference driver read of each; it counts once a path's whole pass has had the same sum.
    """

    delivery: Delivery | None = None
    confirmed: bool = False

    @override
    def learn(self, touch: int) -> None:
        if self.delivery is not None:
            whole = self.delivery.touches.expected(0, len(self.delivery.row_sets))
            self.confirmed = self.confirmed or (whole is not None and touch & MASK64 in whole)

    @override
    def expected_of(self, spans: Iterable[tuple[int, int]]) -> frozenset[int] | None:
        if self.changed or self.volatile or not self.confirmed or self.delivery is None:
            return None
        return self.delivery.touches.expected_of(list(spans))


def as_columns(described: Iterable[DescribedColumn]) -> tuple[Column, ...]:
    """What a query's columns are as columns of a workload."""
    fields = Column.__struct_fields__
    return tuple(Column(**{field: getattr(column, field) for field in fields}) for column in described)


def work_of(sql: str, columns: tuple[DescribedColumn, ...], *, table: str = "", scan: bool = False) -> PreparedPhase:
    """The query as a phase: only the engine knows what it delivers; it described the columns."""
    kept = as_columns(columns)
    phase = Phase(PHASE, "query", sql, table=table, scan=scan, columns=kept, stamps=True)
    return PreparedPhase(NAME, phase, sql, kept, table_columns=kept if scan else ())


def settings_of(path: AccessPath) -> tuple[tuple[str, str], ...]:
    """The coordinates of a path that are settings of its session, as key and value."""
    return tuple((key, path.get(key)) for key in prepared_settings(path))


class ThrottledWorker(Worker):
    """A living runner that takes one path of its adapter after another; each of its blocks is followed by a rest.

    `rest`: the one of all workers on the database. `session`: what keeps each connection harmless.
    `changed` is called with a block that delivered other rows than the executions before it, and says whether it counts
    all the same.
    """

    def __init__(
        self,
        planned: PlannedPath,
        instance: Instance,
        *,
        session: Session,
        rest: DatabaseRest,
        row_consistency: RowConsistency,
        changed: Callable[[ThrottledWorker, PreparedPhase], None] = lambda _worker, _work: None,
        log: Callable[[str], None],
        timeout_s: float,
        settling: int = SETTLING_EXECUTIONS,
        environment: dict[str, str] | None = None,
        scrubber: Scrubber | None = None,
        mapped: MappedTable | None = None,
        clients: int = 0,
    ) -> None:
        """`clients`: connections for groups at work at once, as a program has them: on every core."""
        how: dict[str, Any] = {"environment": environment, "scrubber": scrubber, "clients": clients}
        super().__init__(planned, instance, log=log, timeout_s=timeout_s, pinned=not clients, **how)
        self.connected = False
        self.settling = 0 if clients else settling
        self.warm_most_s = warm_s(planned)
        self._operation_s = math.inf  # of the last sample
        self.fresh = True  # started for this path: its runtime has compiled nothing yet
        self._session = session
        self._inside = False  # a transaction
        self._rest = rest
        self._row_consistency = row_consistency
        self._changed = changed
        self._mapped = mapped

    def greet(self) -> None:
        """Wait until the process is up, so that starting it can be told from connecting."""
        self.runner.hello(self.planned.adapter.driver, self.timeout_s)

    @override
    def open(self, **overrides: Any) -> WorkerRecord:
        """Connect, and make the connection harmless before anything else."""
        record = super().open(**overrides)
        self.connected = True
        if self._session.pooled is None:
            self._run_everywhere([*self._session.before, *self._session.setting(self._settings)])
        elif self.planned.path.fetch_form != "drain":  # of ours, and without values
            self._check_transaction(self._session.pooled)
        return record

    def _run_everywhere(self, statements: list[str]) -> None:
        """Execute them on every connection. Errors: RunnerFailure, also where the runner did so on fewer."""
        if self.clients == 1:
            self.run(statements)
        elif statements:
            what = {"statements": statements, "every_client": True}
            done = self._ask(protocol.RunStatements, protocol.RunReply, **what).clients
            if done != self.clients:
                raise RunnerFailure("unsupported", f"{done} of {self.clients} sessions are read only")

    @property
    def _settings(self) -> tuple[tuple[str, str], ...]:
        return settings_of(self.planned.path)

    @contextmanager
    def transaction(self) -> Iterator[Callable[[], None]]:
        """Behind a pooler what is executed inside is one read-only transaction; call what it yields after a failure.

        Errors: RunnerFailure, also where the driver ended it or leaves something in the server's process.
        """
        pooled, failed = self._session.pooled, False

        def fail() -> None:
            nonlocal failed
            failed = True

        if pooled is None or self._inside:
            yield fail
            return
        adapter, engine = self.planned.adapter, self.planned.path.engine
        try:
            self.run(pooled.begin([*adapter.session.get(engine, {}).items(), *self._settings]))
        except RunnerFailure as failure:
            if failure.fatal:
                raise
            raise RunnerFailure("unsupported", f"{OWN_TRANSACTION}: {failure.text}") from None
        self._inside = True
        try:
            yield fail
            if not failed:
                self.run(pooled.end())
        except BaseException:
            failed = True
            raise
        finally:
            self._inside = False
            with suppress(RunnerFailure):  # a process that is gone has ended its transaction
                if failed:
                    self.run(pooled.give_up(), ignore_errors=True)
                self.run([pooled.transaction.commit])

    def _check_transaction(self, pooled: PooledSession) -> None:
        """Execute a harmless query by this path, twice: some drivers end the transaction after the first."""
        sql, columns = pooled.transaction.check, (Column("only_reads", "text", nullable=True),)
        check = PreparedPhase("probe.check", Phase("check", "query", sql, columns=columns), sql, columns)
        with TemporaryDirectory() as folder, self.transaction():
            super().prepare(check)
            super().verify(check, 0, CHECKS, CHECKS, f"{folder}/kept")
            if read_kept(Path(folder) / "kept", columns) != [(pooled.transaction.check_text,)] * CHECKS:
                raise RunnerFailure("unsupported", OWN_TRANSACTION)

    @override
    def disconnect(self) -> None:
        """Close the connection where there is one, keep the process; never raises."""
        if self.connected:
            self.connected = False
            self._operation_s = math.inf
            super().disconnect()

    def turn_to(self, planned: PlannedPath) -> None:
        """Go on with another path of the same program; connects again."""
        self.disconnect()
        self.planned = planned
        self.open()

    def rest(self) -> None:
        """Sleep until the database may be asked again."""
        self._rest.wait()

    @override
    def prepare(self, work: PreparedPhase) -> int:
        """Prepare; a statement with parameters is executed as often as it takes to get its lasting plan."""
        if self._mapped is not None and self.planned.path.technique == MAPPED:
            work = self._mapped.work(work, self.planned)
        with self.transaction():
            prepare_ns = super().prepare(work)
        if work.parameter_count and self.settling:
            self.sample(work, "warm", operations=self.settling, first=0)
        return prepare_ns

    @override
    def sample(self, work: PreparedPhase, regime: str, **how: int) -> Measured:
        """One sample, once the rest after the one before is over."""
        self._rest.wait()
        with self.transaction() as fail:
            measured = super().sample(work, regime, **how)
            reply = measured.reply
            if reply.failed:
                fail()
        executions = reply.operations + reply.lead_in_operations
        self._rest.after(self.planned.path, time.monotonic(), reply.window_ns / 1e9, executions)
        self._operation_s = reply.ns / max(1, reply.operations) / 1e9
        if self.planned.path.fetch_form != "drain" and not self._row_consistency.fits(reply):
            self._changed(self, work)
        return measured

    def verify_all(self, work: PreparedPhase, keep: str = "") -> VerifyReply:
        """The digest of one execution with each row of parameters; `keep`: a file of rows. Errors: RunnerFailure."""
        return self.verify(work, 0, work.parameter_count or 1, VERIFIED_ROWS if keep else WHOLE, keep)

    @override
    def verify(self, work: PreparedPhase, first: int, count: int, max_rows: int = WHOLE, keep: str = "") -> VerifyReply:
        """The digest of whole executions, after a rest.

        The next rest is as long as executions are in a sample: the digest is the client's work.
        """
        self._rest.wait()
        began_s = time.monotonic()
        with self.transaction():
            reply = super().verify(work, first, count, max_rows, keep)
        ended_s = time.monotonic()
        self._rest.after(self.planned.path, ended_s, min(ended_s - began_s, count * self._operation_s), count)
        return reply
