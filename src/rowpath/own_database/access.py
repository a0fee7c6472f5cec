"""Access to a target that changes nothing in it: what a connection executes first, what is copied, what is noted."""

from __future__ import annotations

import contextlib
import re
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from rowpath import text
from rowpath.engines import ENGINES
from rowpath.engines.base import Instance
from rowpath.engines.external_server import count_rows
from rowpath.errors import EnvironmentMissing, RowpathError, UsageError
from rowpath.model.path import AccessPath
from rowpath.model.workload import Column
from rowpath.own_database import host_choice, instances
from rowpath.own_database.eligibility import ineligibility
from rowpath.own_database.parameters import MOST_ROWS, KeyedQuery, ParameterRows, Row, sized
from rowpath.own_database.question import ProbeOptions
from rowpath.own_database.refusals import AT_THE_SERVER, RefusedStartup, error_of
from rowpath.own_database.session import PooledSession, Session
from rowpath.own_database.target import Target
from rowpath.own_database.throttled_worker import WHOLE, as_columns
from rowpath.runners import manifest, protocol
from rowpath.runners.manifest import Adapter
from rowpath.runners.process import Runner, RunnerFailure
from rowpath.runners.protocol import DescribedColumn, PhaseSpec
from rowpath.scrubber import Scrubber
from rowpath.workloads.codec import read_kept

STATEMENT_POOLING = (
    "a connection pooler that pools by statement is in front of the server: it has no transactions, so that nothing "
    "would keep a query from writing"
)
POOLED_NOTE = (
    "a connection pooler is in front of the server; it pools by {mode}, as far as two connections show. Rowpath makes "
    "no session settings: each block of executions, of every driver alike, is one read-only transaction. Its begin and "
    "end, {trips} statements, are outside the clock"
)
LOOKS = 4  # by turns, at the processes that serve two connections: a busy pool changes them
CONNECT_TIMEOUT_S = 60.0
READ = "probe.read"  # the phase of what we read for ourselves
SERVING_PROCESS = "SELECT pg_catalog.pg_backend_pid()"
READING_SHARE = 1 / 30  # of the budget, to read what the rows of parameters deliver
VERIFY_SHARE = 1 / 300  # of the budget: verifying a path executes the query with all of these rows
REQUEST_S = 0.001  # what asking a runner takes beside the execution
ENGINES_CODE = re.compile(r"[0-9A-Z]{5}|\d+")  # SQLSTATE or a number: the engine's own error, not the driver's
DESCRIBED_ROWS = 200  # of parameters, whose rows show the types where an engine declares none


def row_limit(engine: str, max_rows: int | None) -> tuple[str, ...]:
    """The statement that limits the rows of every result, where the engine has one; the query's own LIMIT wins."""
    statement = ENGINES[engine].probe.row_limit_statement
    return (statement.format(rows=max_rows),) if max_rows is not None and statement else ()


def pooler_query(engine: str, server_pid: int | None) -> str:
    """A query that has a row when another process serves the session than the one that answered the connection."""
    return ENGINES[engine].probe.pooler_query.format(server_pid=int(server_pid)) if server_pid else ""


class Access:
    """A target that can be reached; what was copied is removed on leaving the context."""

    def __init__(
        self, target: Target, options: ProbeOptions, instance: Instance, notes: tuple[str, ...], scrubber: Scrubber
    ) -> None:
        self.target = target
        self.options = options
        self.instance = instance
        self.engine_version = ""
        self.session = Session()  # what keeps every connection harmless
        self.notes = notes  # for the user
        self.table = instances.TABLE if target.deployment == "file" else ""  # what a file is called as a table
        self.scrubber = scrubber

    def __enter__(self) -> Access:
        return self

    def __exit__(self, *_error: object) -> None:
        self.instance.stop()

    def describe(self, sql: str) -> tuple[DescribedColumn, ...]:
        """The columns that a query delivers (of a file: `table`). Errors: RowpathError."""
        timeout_s = self.options.budget_s + CONNECT_TIMEOUT_S
        with self.connected() as runner:
            return tuple(runner.request(protocol.Describe, timeout_s, sql=sql, expect=protocol.DescribeReply).columns)

    def described(self, query: KeyedQuery) -> tuple[DescribedColumn, ...]:
        """The columns that a query with parameters delivers. Errors: RowpathError."""
        engine = self.target.engine
        by_rows = ENGINES[engine].probe.described_by_rows
        texts = [query.with_literals(engine, row) for row in query.rows[: DESCRIBED_ROWS if by_rows else 1]]
        several = " UNION ALL ".join(f"SELECT * FROM (\n{text}\n)" for text in texts)
        return self.describe(several if len(texts) > 1 else texts[0])

    def parameter_rows_of(self, sql: str, file: Path) -> ParameterRows:
        """The rows of a query as rows of parameters, typed as the query is; `file` is written. Errors: RowpathError."""
        columns = self.describe(sql)
        for column in columns:
            if column.type == "opaque":
                what = f"--params-from: no parameter can have the type {column.engine_type} of column {column.name}"
                raise UsageError(what, "cast the column to a type that can be a parameter")
        typed = as_columns(columns)
        with self.connected() as runner:
            self._prepare(runner, sql=sql, columns=typed)
            rows, count = self._read(runner, 0, MOST_ROWS, typed, file)
        if not rows:
            raise UsageError("--params-from: the query delivered no rows", "give a query that delivers parameters")
        return ParameterRows(sized(typed, rows), rows, count, tuple(column.name for column in columns))

    def deliveries(
        self, query: KeyedQuery, columns: tuple[Column, ...], parameters: Path
    ) -> tuple[list[list[Row]], float]:
        """What each row of parameters delivers, in order, as far as bounds go; and what one execution takes, in s.

        Rows of none where the reference driver refuses a value that it has no room for. The parameter file is there
        already. Errors: RowpathError.
        """
        row_sets: list[list[Row]] = []
        rows = 0
        file, budget_s = parameters.with_suffix(".kept"), self.options.budget_s
        sql, given = query.placeholders.sql, protocol.ParameterSlice(str(parameters), 0, len(query.rows))
        with self.connected() as runner:
            self._prepare(runner, given, sql=sql, columns=columns, parameter_columns=query.columns)
            began_s = time.monotonic()
            for position in range(len(query.rows)):
                try:
                    row_sets.append(self._read(runner, position, WHOLE, columns, file)[0])
                except RunnerFailure as failure:
                    if failure.kind != "sql" or ENGINES_CODE.fullmatch(failure.code):
                        raise
                    return [], 0.0
                rows += len(row_sets[-1])
                spent_s = time.monotonic() - began_s
                busy_s = spent_s - len(row_sets) * REQUEST_S
                too_long = spent_s > budget_s * READING_SHARE or busy_s > budget_s * VERIFY_SHARE
                if too_long or rows > protocol.VERIFIED_ROWS:
                    break
        return row_sets, max(0.0, busy_s) / len(row_sets)

    def ask(self, statements: Sequence[str], queries: Sequence[str], file: Path) -> list[list[str]]:
        """What each query of one text column delivers, in one session, after the statements. Errors: RowpathError."""
        with self.asking(statements, file) as ask:
            return [ask(query, 1) for query in queries]

    @contextlib.contextmanager
    def asking(self, statements: Sequence[str], file: Path) -> Iterator[Callable[[str, int], list[str]]]:
        """What delivers a query of one text column, executed that often in turn, after the statements, in one session.

        Errors: RowpathError, in the body too.
        """
        columns = (Column(name="text", type="text", nullable=True),)
        with self.connected() as runner:
            self.run_statements(runner, tuple(statements))

            def ask(query: str, times: int) -> list[str]:
                self._prepare(runner, sql=query, columns=columns)
                return [row[0] or "" for row in self._read(runner, 0, MOST_ROWS, columns, file, times)[0]]

            yield ask

    def _prepare(self, runner: Runner, parameters: protocol.ParameterSlice | None = None, **query: Any) -> None:
        reply, phase = protocol.PrepareReply, PhaseSpec(name=READ, kind="query", **query)
        runner.request(protocol.Prepare, CONNECT_TIMEOUT_S, phase=phase, parameters=parameters, expect=reply)

    def _read(
        self, runner: Runner, position: int, most: int, columns: Sequence[Column], file: Path, times: int = 1
    ) -> tuple[list[Row], int]:
        """The rows of one execution, or of several in turn, up to a limit, and how many there were."""
        how = {"phase": READ, "first": position, "count": times, "max_rows": most, "keep": str(file)}
        timeout_s = self.options.budget_s + CONNECT_TIMEOUT_S
        reply = runner.request(protocol.Verify, timeout_s, expect=protocol.VerifyReply, **how)
        rows = read_kept(file, columns)
        file.unlink()
        return rows, reply.rows

    def look(self) -> None:
        """Connect once: learn the version, make sessions harmless, check the login. Errors: RowpathError."""
        if self.target.deployment == "file":
            return
        try:
            self._look()
        except RefusedStartup:
            self._plain()
            self._look()
        if ENGINES[self.target.engine].probe.session_note and self.target.deployment == "server":
            self.notes += (ENGINES[self.target.engine].probe.session_note,)

    def _plain(self) -> None:
        """From now on connections begin without settings of ours."""
        if isinstance(self.instance, instances.ProbedServer):
            self.instance.pooled = True

    def _look(self) -> None:
        with self.connected() as runner:
            facts = runner.request(protocol.Facts, CONNECT_TIMEOUT_S, expect=protocol.FactsReply)
            self.engine_version = facts.engine_version
            engine = ENGINES[self.target.engine].probe
            pooled = pooler_query(self.target.engine, self._server_pid)
            timeout_ms = max(1, round(self.options.budget_s * 1000))
            if pooled and count_rows(runner, pooled):
                self.session = self._pooled_session(runner, timeout_ms)
            else:
                before = self.target.session_statements
                before += engine.session_statements(f"{facts.engine_version} {facts.build}", timeout_ms)
                before += row_limit(self.target.engine, self.options.max_rows)
                self.run_statements(runner, before)
                self.session = Session(before)
            if engine.privileged_query and count_rows(runner, engine.privileged_query):
                role = "a read-only role is safer: docs/probe.md has its SQL"
                self.notes += (f"{self.target.user} is a superuser of this server; {role}",)

    def _pooled_session(self, runner: Runner, timeout_ms: int) -> Session:
        """How to work through the pooler that this runner is connected to. Errors: RowpathError."""
        transaction, mode = ENGINES[self.target.engine].probe.pooled, self._pooling(runner)
        if transaction is None or mode == "statement":
            raise UsageError(STATEMENT_POOLING, AT_THE_SERVER)
        self._plain()
        pooled = PooledSession(mode, transaction, timeout_ms, self.target.session_statements)
        if mode == "session" or self._keeps_statements(pooled):
            pooled = replace(pooled, keeps=True)
        trips = len(pooled.begin()) + len(pooled.end()) + 1
        self.notes += (POOLED_NOTE.format(mode=mode, trips=trips),)
        return Session(pooled=pooled)

    def _keeps_statements(self, pooled: PooledSession) -> bool:
        """Whether the pooler itself keeps a statement that is prepared by name."""
        transaction = pooled.transaction
        with self.connected(statement="prepared") as runner:
            self.run_statements(runner, tuple(pooled.begin()))
            named = count_rows(runner, transaction.check) and count_rows(runner, transaction.named)
            self.run_statements(runner, (transaction.clean, transaction.commit))
        return not named

    def _pooling(self, runner: Runner) -> str:
        """How the pooler shares connections: a transaction that it refuses, or two of ours in one process, tell."""
        try:
            self.run_statements(runner, ("BEGIN", "COMMIT"))
        except RunnerFailure:
            return "statement"
        try:
            with self.connected() as other:
                seen = [(self._process(runner), self._process(other)) for _look in range(LOOKS)]
                return "session" if len(set(seen)) == 1 and seen[0][0] != seen[0][1] else "transaction"
        except RowpathError:  # ours had the pool's only connection
            return "session"

    def _process(self, runner: Runner) -> str:
        """The server process that executes statements now: a sum of integers, and of one integer that is itself."""
        self._prepare(runner, sql=SERVING_PROCESS, columns=[Column("pid", "integer")])
        how = {"phase": READ, "first": 0, "count": 1}
        return runner.request(protocol.Verify, CONNECT_TIMEOUT_S, expect=protocol.VerifyReply, **how).touch

    def run_statements(self, runner: Runner, statements: tuple[str, ...]) -> None:
        """Have a runner of ours execute them, if there are any. Errors: RunnerFailure."""
        if statements:
            expect = protocol.RunReply
            runner.request(protocol.RunStatements, CONNECT_TIMEOUT_S, statements=list(statements), expect=expect)

    @contextlib.contextmanager
    def _transaction(self, runner: Runner, settings: Iterable[tuple[str, str]]) -> Iterator[None]:
        """Behind a pooler what is executed inside is one transaction, and nothing of it stays."""
        if (pooled := self.session.pooled) is None:
            yield
            return
        self.run_statements(runner, tuple(pooled.begin(settings)))
        yield
        self.run_statements(runner, (pooled.transaction.clean, pooled.transaction.commit))

    @contextlib.contextmanager
    def connected(self, statement: str = "bound") -> Iterator[Runner]:
        """A runner of ours, connected through the engine's reference adapter, its session harmless once that is known.

        Errors: RowpathError, in the body too.
        """
        adapter, version = self._reference()
        coordinates = {
            "engine": self.target.engine,
            "deployment": self.target.deployment,
            "language": adapter.language,
            "driver": adapter.driver,
            "durability": "none",
            "statement": statement,
            "transport": self.target.transport,
            "tls": self.target.tls,
            "threads": "1",
        }
        path = AccessPath.of(coordinates)
        toolchain = manifest.toolchain(adapter.language)
        toolchain.build([(adapter, version)])
        runner: Runner | None = None
        try:
            runner = Runner.start(toolchain.command(adapter, version, path), (), scrubber=self.scrubber)
            runner.hello(adapter.driver)
            options = coordinates | self.instance.options(path)
            reply = runner.request(protocol.Open, CONNECT_TIMEOUT_S, options=options, expect=protocol.OpenReply)
            self._server_pid = reply.server_pid
            self.run_statements(runner, self.session.before)
            with self._transaction(runner, adapter.session.get(self.target.engine, {}).items()):
                yield runner
            runner.request(protocol.Close, CONNECT_TIMEOUT_S, expect=protocol.CloseReply)
        except RunnerFailure as failure:
            raise error_of(failure, self.target) from None  # the driver's own words may hold the password
        finally:
            if runner is not None:
                runner.stop()

    def _reference(self) -> tuple[Adapter, str]:
        engine = self.target.engine
        describing = [adapter for adapter in manifest.every_adapter() if engine in adapter.describes]
        reasons = []
        for adapter in sorted(describing, key=lambda adapter: adapter.describes[engine]):
            version = str(self.target.driver_file) if self.target.driver_file else adapter.versions[0]
            here = manifest.availability(adapter, version)
            must = self.target.read_only(self.options.in_place)
            demands = self.target.encryption.demands
            why, remedy = ineligibility(adapter, self.target.tls, must, self.target.transport, demands)
            if here.ok and not why:
                return adapter, version
            reasons.append((f"{adapter.driver} ({adapter.language}): {why or here.reason}", remedy or here.remedy))
        what, remedy = reasons[0] if reasons else ("no driver is known", "rowpath list drivers")
        raise EnvironmentMissing(f"no installed driver can describe a query of {engine}: {what}", remedy)

    def fits(self, query: str) -> bool:
        """Whether the query has a row, before anything is set. Errors: RowpathError."""
        with self.connected() as runner:
            return count_rows(runner, query) > 0


def open_access(
    target: Target,
    options: ProbeOptions,
    directory: Path,
    ask: Callable[[str], bool] = lambda _question: False,
    scrubber: Scrubber | None = None,
) -> Access:
    """Access to the target, copied where only a copy keeps it unchanged, then connected to once.

    `directory` takes the copies; `ask` decides whether more than a gigabyte is copied. `scrubber`: of what drivers say.
    Errors: RowpathError.
    """
    notes, folder = target.notes, directory / "probed"
    instance: Instance
    if target.deployment == "server":
        if target.driver_file is None:
            target, which = host_choice.chosen(target, partial(_fits, options))
            notes += which
        instance = instances.ProbedServer(target)
        notes += host_choice.where_resolved(target.host, options.from_host)
        if options.in_place:
            raise UsageError("--in-place is for files", "remove --in-place: a server's data are never copied")
    elif target.deployment == "file":
        instance = instances.ProbedFile(target, folder)
        notes += (f"{target.path} is read in place",)
    else:
        assert target.path is not None
        files = instances.files_of(target.engine, target.path)
        instances.refuse_locked(files)
        if options.in_place:
            if reason := instances.why_not_in_place(files):
                what = f"cannot open {files.main} in place: {reason}"
                raise UsageError(what, "remove --in-place: the file is then copied")
            opened = files.main
            notes += (f"{files.main} is opened read only",)
        else:
            instances.allow_size(files, options.yes, ask)
            opened = instances.copy_files(files, folder / "copy")
            notes += (f"{files.main} was copied ({text.size(files.size_bytes)}); the measurement uses the copy",)
        instance = instances.ProbedDatabase(target, opened, folder, in_place=options.in_place)
    access = Access(target, options, instance, notes, scrubber or target.scrubber())
    try:
        access.look()
    except BaseException:
        instance.stop()
        raise
    return access


def _fits(options: ProbeOptions, target: Target, query: str) -> bool:
    with Access(target, options, instances.ProbedServer(target), (), target.scrubber()) as access:
        return access.fits(query)
