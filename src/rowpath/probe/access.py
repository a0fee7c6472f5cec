"""Access to a target that changes nothing in it: what a connection executes first, what is copied, what is noted."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from rowpath.engines.base import Instance
from rowpath.engines.external.server import count_rows
from rowpath.errors import EnvironmentMissing, RowpathError, UsageError
from rowpath.journal.writer import Scrubber
from rowpath.model.path import AccessPath
from rowpath.probe import eligibility, file_copies, sessions
from rowpath.probe.instances import TABLE, ProbedDatabase, ProbedFile, ProbedServer
from rowpath.probe.row_limit import session_limit
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


@dataclass(frozen=True)
class Rules:
    """What the user allows."""

    in_place: bool = False
    connections: int = 4  # open at once, at most
    statement_timeout_s: float = 60.0
    allow_large: bool = False  # copies of more than a gigabyte
    max_rows: int | None = None  # of a result


class Access:
    """A target that can be reached; what was copied is removed on leaving the context."""

    def __init__(self, target: Target, rules: Rules, instance: Instance, notes: tuple[str, ...]) -> None:
        self.target = target
        self.rules = rules
        self.instance = instance
        self.engine_version = ""
        self.before: tuple[str, ...] = ()  # what every connection executes right after `open`
        self.notes = notes  # for the user
        self.table = TABLE if target.deployment == "file" else ""  # what a file is called as a table
        self.scrubber = Scrubber()
        for secret in self.secrets():
            self.scrubber.add(secret)

    def __enter__(self) -> Access:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.instance.stop()

    def secrets(self) -> list[str]:
        """Everything that must never reach a log, a journal or a report."""
        return self.target.secrets()

    def describe(self, sql: str) -> tuple[DescribedColumn, ...]:
        """The columns that a query delivers (of a file: `table`). Errors: RowpathError."""
        with self._connected() as runner:
            timeout_s = self.rules.statement_timeout_s + CONNECT_TIMEOUT_S
            self._run(runner, self.before)
            return tuple(runner.request(Describe, timeout_s, sql=sql, expect=DescribeReply).columns)

    def look(self) -> None:
        """Connect once: which version, what makes its sessions harmless, whose login. Errors: RowpathError."""
        if self.target.deployment == "file":
            return
        with self._connected() as runner:
            facts = runner.request(Facts, CONNECT_TIMEOUT_S, expect=FactsReply)
            self.engine_version = facts.engine_version
            version = f"{facts.engine_version} {facts.build}"
            pooled = sessions.pooler_query(self.target.engine, self._server_pid)
            if pooled and count_rows(runner, pooled):
                raise UsageError(
                    "a connection pooler is in front of the server: session settings could affect other users",
                    "give the URL of the server itself",
                )
            before = sessions.before(self.target, version, self.rules.statement_timeout_s)
            before += session_limit(self.target.engine, self.rules.max_rows)
            self._run(runner, before)
            self.before = before
            privileged = sessions.privileged_query(self.target.engine)
            if privileged and count_rows(runner, privileged):
                self.notes += (sessions.privileged_note(self.target),)
        self.notes += sessions.notes(self.target)

    def _run(self, runner: Runner, statements: tuple[str, ...]) -> None:
        if statements:
            runner.request(RunStatements, CONNECT_TIMEOUT_S, statements=list(statements), expect=RunReply)

    @contextlib.contextmanager
    def _connected(self) -> Iterator[Runner]:
        """A runner of ours, connected through the engine's reference adapter. Errors: RowpathError, in the body too."""
        adapter, version = self._reference()
        options = self._coordinates(adapter)
        path = AccessPath.of({key: str(value) for key, value in options.items()})
        toolchain = manifest.toolchain(adapter.language)
        toolchain.build([(adapter, version)])
        runner: Runner | None = None
        try:
            runner = Runner.start(toolchain.command(adapter, version, path), ())
            runner.hello(adapter.driver)
            reply = runner.request(
                Open, CONNECT_TIMEOUT_S, options=options | self.instance.options(path), expect=OpenReply
            )
            self._server_pid = reply.server_pid
            yield runner
            runner.request(Close, CONNECT_TIMEOUT_S, expect=CloseReply)
        except RunnerFailure as failure:
            raise self._told(failure) from None  # the driver's own words may hold the password
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
            must = eligibility.read_only(self.target, self.rules.in_place)
            why, remedy = eligibility.unsuited(adapter, self.target.tls, must)
            if here.ok and not why:
                return adapter, version
            reasons.append((f"{adapter.driver} ({adapter.language}): {why or here.reason}", remedy or here.remedy))
        what, remedy = reasons[0] if reasons else ("no driver is known", "rowpath list drivers")
        raise EnvironmentMissing(f"no installed driver can describe a query of {engine}: {what}", remedy)

    def _coordinates(self, adapter: Adapter) -> dict[str, Any]:
        target = self.target
        transport = "none" if target.deployment != "server" else "unix" if target.socket and not target.host else "tcp"
        return {
            "engine": target.engine,
            "deployment": target.deployment,
            "language": adapter.language,
            "driver": adapter.driver,
            "durability": "none",
            "statement": "bound",
            "transport": transport,
            "tls": target.tls,
            "threads": "1",
        }

    def _told(self, failure: RunnerFailure) -> RowpathError:
        text = self.scrubber.clean(failure.text)
        if failure.kind == "connect":
            return EnvironmentMissing(
                f"cannot connect to {self.target.shown}: {text}", "check host, port, user, password and database"
            )
        if failure.kind in ("sql", "unsupported"):
            return UsageError(f"{self.target.shown} refused: {text}", "fix the query, or read fewer rows")
        return RowpathError(f"{self.target.shown}: {failure.kind}: {text}", "rowpath doctor")


def open_access(
    target: Target, rules: Rules, directory: Path, ask: Callable[[str], bool] = lambda _question: False
) -> Access:
    """Access to the target: copied where that is what changes nothing, then looked at once.

    `directory` takes the copies; `ask` is asked before more than a gigabyte is copied. Errors: RowpathError.
    """
    notes = target.notes
    instance: Instance
    if target.deployment == "server":
        instance = ProbedServer(target)
        if rules.in_place:
            raise UsageError("--in-place is for files", "remove --in-place: a server's data are never copied")
    elif target.deployment == "file":
        instance = ProbedFile(target, directory / "probed")
        notes += (f"{target.path} is read in place",)
    else:
        instance, copied = _database(target, rules, directory, ask)
        notes += copied
    access = Access(target, rules, instance, notes)
    try:
        access.look()
    except BaseException:
        instance.stop()
        raise
    return access


def _database(
    target: Target, rules: Rules, directory: Path, ask: Callable[[str], bool]
) -> tuple[ProbedDatabase, tuple[str, ...]]:
    assert target.path is not None
    files = file_copies.files_of(target.engine, target.path)
    file_copies.refuse_locked(files)
    size = file_copies.spelt_size(files.size_bytes)
    folder = directory / "probed"
    if rules.in_place:
        if reason := file_copies.why_not_in_place(files):
            raise UsageError(
                f"cannot open {files.main} in place: {reason}", "remove --in-place: the file is then copied"
            )
        return ProbedDatabase(target, files.main, folder, in_place=True), (f"{files.main} is opened read only",)
    file_copies.allow_size(files, rules.allow_large, ask)
    copied = file_copies.copy(files, folder / "copy")
    note = f"{files.main} was copied ({size}); the measurement uses the copy"
    return ProbedDatabase(target, copied, folder, in_place=False), (note,)
