"""Access to a target that changes nothing in it: what a connection executes first, what is copied, what is noted."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path

from rowpath import text
from rowpath.engines import ENGINES
from rowpath.engines.base import Instance
from rowpath.engines.external.server import count_rows
from rowpath.errors import EnvironmentMissing, RowpathError, UsageError
from rowpath.journal.writer import Scrubber
from rowpath.model.path import AccessPath
from rowpath.probe import eligibility, file_copies, sessions
from rowpath.probe.instances import TABLE, ProbedDatabase, ProbedFile, ProbedServer
from rowpath.probe.options import ProbeOptions
from rowpath.probe.target import Target
from rowpath.runners import manifest
from rowpath.runners.manifest import Adapter
from rowpath.runners.process import Runner, RunnerFailure
from rowpath.runners.protocol import (
    Close,
    CloseReply,
    Describe,
    DescribedColumn,
    DescribeReply,
    Facts,
    FactsReply,
    Open,
    OpenReply,
    RunReply,
    RunStatements,
)

CONNECT_TIMEOUT_S = 60.0


class Access:
    """A target that can be reached; what was copied is removed on leaving the context."""

    def __init__(self, target: Target, options: ProbeOptions, instance: Instance, notes: tuple[str, ...]) -> None:
        self.target = target
        self.options = options
        self.instance = instance
        self.engine_version = ""
        self.before: tuple[str, ...] = ()  # what every connection executes right after `open`
        self.notes = notes  # for the user
        self.table = TABLE if target.deployment == "file" else ""  # what a file is called as a table
        self.scrubber = Scrubber()
        for secret in target.secrets():
            self.scrubber.add(secret)

    def __enter__(self) -> Access:
        return self

    def __exit__(self, *_error: object) -> None:
        self.instance.stop()

    def describe(self, sql: str) -> tuple[DescribedColumn, ...]:
        """The columns that a query delivers (of a file: `table`). Errors: RowpathError."""
        with self._connected() as runner:
            timeout_s = self.options.budget_s + CONNECT_TIMEOUT_S
            self._run(runner, self.before)
            return tuple(runner.request(Describe, timeout_s, sql=sql, expect=DescribeReply).columns)

    def look(self) -> None:
        """Connect once: learn the version, make sessions harmless, check the login. Errors: RowpathError."""
        if self.target.deployment == "file":
            return
        with self._connected() as runner:
            facts = runner.request(Facts, CONNECT_TIMEOUT_S, expect=FactsReply)
            self.engine_version = facts.engine_version
            version = f"{facts.engine_version} {facts.build}"
            engine = ENGINES[self.target.engine].probe
            pooled = sessions.pooler_query(self.target.engine, self._server_pid)
            if pooled and count_rows(runner, pooled):
                raise UsageError(
                    "a connection pooler is in front of the server: session settings could affect other users",
                    "give the URL of the server itself",
                )
            before = sessions.before(self.target.engine, version, self.options.budget_s, self.options.max_rows)
            self._run(runner, before)
            self.before = before
            if engine.privileged_query and count_rows(runner, engine.privileged_query):
                self.notes += (f"{self.target.user} is a superuser of this server; {sessions.RECOMMENDED}",)
        if engine.session_note and self.target.deployment == "server":
            self.notes += (engine.session_note,)

    def _run(self, runner: Runner, statements: tuple[str, ...]) -> None:
        if statements:
            runner.request(RunStatements, CONNECT_TIMEOUT_S, statements=list(statements), expect=RunReply)

    @contextlib.contextmanager
    def _connected(self) -> Iterator[Runner]:
        """A runner of ours, connected through the engine's reference adapter. Errors: RowpathError, in the body too."""
        adapter, version = self._reference()
        coordinates = {
            "engine": self.target.engine,
            "deployment": self.target.deployment,
            "language": adapter.language,
            "driver": adapter.driver,
            "durability": "none",
            "statement": "bound",
            "transport": self.target.transport,
            "tls": self.target.tls,
            "threads": "1",
        }
        path = AccessPath.of(coordinates)
        toolchain = manifest.toolchain(adapter.language)
        toolchain.build([(adapter, version)])
        runner: Runner | None = None
        try:
            runner = Runner.start(toolchain.command(adapter, version, path), ())
            runner.hello(adapter.driver)
            options = coordinates | self.instance.options(path)
            reply = runner.request(Open, CONNECT_TIMEOUT_S, options=options, expect=OpenReply)
            self._server_pid = reply.server_pid
            yield runner
            runner.request(Close, CONNECT_TIMEOUT_S, expect=CloseReply)
        except RunnerFailure as failure:
            raise self._error(failure) from None  # the driver's own words may hold the password
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
            must = eligibility.read_only(self.target, self.options.in_place)
            why, remedy = eligibility.unsuited(adapter, self.target.tls, must)
            if here.ok and not why:
                return adapter, version
            reasons.append((f"{adapter.driver} ({adapter.language}): {why or here.reason}", remedy or here.remedy))
        what, remedy = reasons[0] if reasons else ("no driver is known", "rowpath list drivers")
        raise EnvironmentMissing(f"no installed driver can describe a query of {engine}: {what}", remedy)

    def _error(self, failure: RunnerFailure) -> RowpathError:
        words = self.scrubber.clean(failure.text)
        if failure.kind == "connect":
            return EnvironmentMissing(
                f"cannot connect to {self.target.shown}: {words}", "check host, port, user, password and database"
            )
        if failure.kind in ("sql", "unsupported"):
            return UsageError(f"{self.target.shown} refused: {words}", "fix the query, or read fewer rows")
        return RowpathError(f"{self.target.shown}: {failure.kind}: {words}", "rowpath doctor")


def open_access(
    target: Target, options: ProbeOptions, directory: Path, ask: Callable[[str], bool] = lambda _question: False
) -> Access:
    """Access to the target, copied where only a copy keeps it unchanged, then connected to once.

    `directory` takes the copies; `ask` decides whether more than a gigabyte is copied. Errors: RowpathError.
    """
    notes = target.notes
    instance: Instance
    if target.deployment == "server":
        instance = ProbedServer(target)
        if options.in_place:
            raise UsageError("--in-place is for files", "remove --in-place: a server's data are never copied")
    elif target.deployment == "file":
        instance = ProbedFile(target, directory / "probed")
        notes += (f"{target.path} is read in place",)
    else:
        instance, note = _database(target, options, directory, ask)
        notes += (note,)
    access = Access(target, options, instance, notes)
    try:
        access.look()
    except BaseException:
        instance.stop()
        raise
    return access


def _database(
    target: Target, options: ProbeOptions, directory: Path, ask: Callable[[str], bool]
) -> tuple[ProbedDatabase, str]:
    """The database as it is opened, and a note for the user."""
    assert target.path is not None
    files = file_copies.files_of(target.engine, target.path)
    file_copies.refuse_locked(files)
    folder = directory / "probed"
    if options.in_place:
        if reason := file_copies.why_not_in_place(files):
            raise UsageError(
                f"cannot open {files.main} in place: {reason}", "remove --in-place: the file is then copied"
            )
        return ProbedDatabase(target, files.main, folder, in_place=True), f"{files.main} is opened read only"
    file_copies.allow_size(files, options.yes, ask)
    copied = file_copies.copy(files, folder / "copy")
    note = f"{files.main} was copied ({text.size(files.size_bytes)}); the measurement uses the copy"
    return ProbedDatabase(target, copied, folder, in_place=False), note
