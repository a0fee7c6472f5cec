"""A query on a database that is not ours: its columns, its parameters, and runners that only read it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import msgspec

from rowpath.errors import UsageError
from rowpath.execution.prepared_phases import PreparedPhase
from rowpath.journal.writer import RunDirectory
from rowpath.machine import cpus
from rowpath.own_database import layers, parameters, throttled_worker
from rowpath.own_database.access import Access, open_access
from rowpath.own_database.mapped_table import MappedTable
from rowpath.own_database.parameters import KeyedQuery
from rowpath.own_database.question import ProbeOptions, Question, parameters_query_of
from rowpath.own_database.throttled_worker import RowConsistency, ThrottledWorker
from rowpath.planning.plan import PlannedPath
from rowpath.runners.manifest import build
from rowpath.runners.protocol import REPLY_LIMIT_BYTES, DescribedColumn
from rowpath.scrubber import Scrubber
from rowpath.workloads.expected import Delivery

REST_OF_A_MESSAGE = 4096  # bytes, at most, besides query and columns
SETTLING_SHARE = 1 / 50  # of the budget, at most, for a path's executions before it is timed
GRACE_S = 5.0  # so that a runner can answer late
UNREAD = "The describing driver refuses a value of these rows, so blocks were not compared with what they must deliver."
BUSY_SHARE = 0.5  # of the time, at most, on a server that is not ours


@dataclass(kw_only=True)
class ProbedQuery:
    """The query as it is sent, the access to its database, and how busy that may be kept."""

    access: Access
    sql: str
    budget: throttled_worker.Budget
    options: ProbeOptions
    directory: RunDirectory
    scrubber: Scrubber
    row_consistency: RowConsistency = field(default_factory=RowConsistency)
    keyed: KeyedQuery | None = None  # the query's parameters
    columns: tuple[DescribedColumn, ...] = ()  # of the result, once it is described
    mapped: MappedTable | None = None  # what layers make their classes of
    caveats: list[str] = field(default_factory=list)  # what the result cannot say, in sentences
    proves_rows: ClassVar[bool] = True  # paths' rows are compared, after executions that settle the server's plans
    _settling: int = throttled_worker.SETTLING_EXECUTIONS
    _rest: throttled_worker.DatabaseRest = field(init=False)

    def __post_init__(self) -> None:
        self._rest = throttled_worker.DatabaseRest(self.budget)

    def work(self) -> PreparedPhase:
        """The query as a phase, once the database has described it. Errors: RowpathError."""
        access, keyed = self.access, self.keyed
        self.columns = access.described(keyed) if keyed else access.describe(self.sql or access.table)
        if not self.columns:
            raise UsageError("the query delivers rows without columns", "name the columns that your program reads")
        if self.options.layers:
            self.mapped = layers.mapped_table(access, self.sql, self.options, self.directory.work)
        work = throttled_worker.work_of(self.sql, self.columns, table=access.table, scan=bool(access.table))
        size = len(msgspec.json.encode((work.columns, work.table_columns))) + REST_OF_A_MESSAGE
        if size > REPLY_LIMIT_BYTES:
            what = f"{len(self.columns):,} columns do not fit into a runner's message: "
            what += f"{size:,} bytes, at most {REPLY_LIMIT_BYTES:,}"
            raise UsageError(what, "read fewer columns at a time")
        return self._with_parameters(work, keyed) if keyed else work

    def _with_parameters(self, work: PreparedPhase, keyed: KeyedQuery) -> PreparedPhase:
        """With the rows of parameters that are used: those of which the reference driver could read the delivery."""
        file = self.directory.work / "parameters.rows"
        keyed.write(file)
        given = keyed.count
        row_sets, execution_s = self.access.deliveries(keyed, work.columns, file)
        used = len(row_sets) or given
        before = f"Every path executed it {self._settling} times before it was timed."
        if execution_s * throttled_worker.SETTLING_EXECUTIONS > self.budget.total_s * SETTLING_SHARE:
            self._settling = 0
            before = "One execution takes too long for more of them before timing: "
            before += "the server may plan differently later."
        self.keyed = keyed.first(used)
        delivery = Delivery(row_sets, work.columns) if row_sets else None
        self.row_consistency = throttled_worker.KeyedRowConsistency(delivery=delivery)
        if delivery is None and self.proves_rows:
            self.caveats.append(UNREAD)
        of = f"the first {used:,} of {given:,} rows" if used < given else f"{given:,} row{'s' * (given != 1)}"
        said = f"Each operation executes the query with the next row of parameters, out of {of}."
        self.caveats.append(f"{said} The digests cover all of these. {before}" if self.proves_rows else said)
        return replace(work, parameter_columns=keyed.columns, parameter_file=file, parameter_count=used)

    def start(
        self,
        planned: PlannedPath,
        log: Callable[[str], None] | None = None,
        environment: dict[str, str] | None = None,
        clients: int = 0,
    ) -> ThrottledWorker:
        """A new runner process for the path, not connected yet, with this environment too. Errors: RunnerFailure.

        `clients`: connections for groups at work at once.
        """
        return ThrottledWorker(
            planned,
            self.access.instance,
            log=log or self.log,
            timeout_s=self.timeout_s(),
            session=self.access.session,
            rest=self._rest,
            row_consistency=self.row_consistency,
            changed=self.changed,
            settling=self._settling,
            environment=environment,
            scrubber=self.scrubber,
            mapped=self.mapped,
            clients=clients,
        )

    def changed(self, worker: ThrottledWorker, work: PreparedPhase) -> None:
        """What to do when a block delivered other rows than the executions before it: nothing."""

    def timeout_s(self) -> float:
        """How long a request may take."""
        return self.budget.left_s + GRACE_S

    def log(self, line: str) -> None:
        """Keep a line that a runner printed."""
        with (self.directory.logs / "search.log").open("a", encoding="utf-8") as stream:
            stream.write(line + "\n")

    def floor_work(self) -> PreparedPhase:
        """The query as the scan that a floor drains."""
        return throttled_worker.work_of(self.sql, self.columns, table=self.access.table, scan=True)


def connected(
    question: Question,
    planned: Sequence[PlannedPath],
    options: ProbeOptions,
    directory: RunDirectory,
    note: Callable[[str], None],
    cleanup: ExitStack,
) -> dict[str, Any]:
    """What a ProbedQuery is made of: runners are built, the database is open until `cleanup`. Errors: RowpathError."""
    target, keyed_query = question.target, question.keyed
    build([(p.adapter, p.path.version) for p in planned], note, [p.path for p in planned])
    note(f"{'connecting to' if target.deployment == 'server' else 'opening'} {target.shown}")
    access = cleanup.enter_context(open_access(target, options, directory.work, confirmed, question.scrubber))
    cpus.usable()
    os.sched_setaffinity(0, cpus.controller_cpus())
    sql = question.phase.sql if target.deployment != "file" else ""
    if question.other_sqls:
        sql = existing(access, sql, *question.other_sqls)
    if options.params_query:
        rows = access.parameter_rows_of(parameters_query_of(options, target.engine), directory.work / "parameters.kept")
        keyed_query = parameters.keyed(sql, target.engine, rows)
    return {
        "access": access,
        "sql": keyed_query.placeholders.sql if keyed_query else sql,
        "keyed": keyed_query,
        "budget": throttled_worker.Budget(options.budget_s, BUSY_SHARE if target.deployment == "server" else 1.0),
        "options": options,
        "directory": directory,
        "scrubber": question.scrubber,
    }


def existing(access: Access, *queries: str) -> str:
    """The first of the queries whose table there is. Errors: RowpathError, of the first, where none is."""
    first: UsageError | None = None
    for sql in queries:
        try:
            access.describe(sql)
        except UsageError as error:
            first = first or error
        else:
            return sql
    assert first is not None
    raise first


def confirmed(question: str) -> bool:
    """Whether the user agrees, on the terminal; without a terminal the answer is no."""
    if not sys.stdin.isatty():
        return False
    print(f"{question} [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")
