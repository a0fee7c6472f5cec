"""Servers that others run, named by a URL in the environment: where they are, and the empty database to use there."""

from __future__ import annotations

import logging
import os
import socket
import stat
import urllib.parse
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from typing_extensions import override

from rowpath.engines.base import BY_URL, Engine, Instance, Place, Settled
from rowpath.engines.load_through_runner import connected, make_tables, run
from rowpath.errors import EnvironmentMissing, RowpathError, UsageError
from rowpath.machine import processes
from rowpath.model.availability import Availability
from rowpath.model.path import AccessPath
from rowpath.model.workload import Column, Table
from rowpath.runners.process import Runner
from rowpath.runners.protocol import Facts, FactsReply, PhaseSpec, Prepare, PrepareReply, Verify, VerifyReply

MARKER = "rowpath_works_here"  # a table that is there while a run goes on
CONSENT = "create-tables"
LOOPBACK = ("localhost", "127.0.0.1", "::1")
ANSWER_TIMEOUT_S = 5.0
OWN_KEYS = (CONSENT, "password_file", "socket")

log = logging.getLogger("rowpath")


@dataclass(frozen=True)
class ServerKind:
    """How servers of one kind are named and used. `tables` gives one row per table, `clear` drops them all."""

    engine: str  # which is the scheme of its URLs too
    title: str
    port: int
    example: str
    why_none: str  # why Rowpath has no such server of its own
    tables: str
    clear: tuple[str, ...]
    make_marker: str = f"CREATE TABLE {MARKER} (a INTEGER)"

    @property
    def variable(self) -> str:
        """What the names of its environment variables begin with."""
        return f"ROWPATH_{self.engine.upper()}"

    @property
    def url_variable(self) -> str:
        """The environment variable with the URL."""
        return f"{self.variable}_URL"

    @property
    def remedy(self) -> str:
        """The next command for a user who has a server."""
        return f"export {self.url_variable}='{self.example}?{CONSENT}=yes'"

    def has_url(self) -> bool:
        """Whether a URL is there."""
        return bool(os.environ.get(self.url_variable))

    def url(self) -> Url:
        """The URL, read and checked. Errors: EnvironmentMissing without one, UsageError when it is invalid."""
        text = os.environ.get(self.url_variable, "")
        if not text:
            raise EnvironmentMissing(f"no server is given; {self.why_none}", self.remedy)
        return read_url(self, text)

    def availability(self) -> Availability:
        """Whether a URL names a server and lets Rowpath use its database; connects to none."""
        try:
            url = self.url()
        except RowpathError as error:
            return Availability(False, self.title, error.message, error.hint)
        return Availability(True, f"{self.title} at {url.shown} (given by {self.url_variable})")


@dataclass(frozen=True)
class Url:
    """`scheme://[user[:password]@]host[:port]/database[?key=value&…]`, percent-decoded."""

    scheme: str
    user: str
    password: str
    host: str
    port: int
    database: str
    socket: str
    options: dict[str, str]  # all others: for the drivers

    @property
    def shown(self) -> str:
        """The URL without any secret."""
        return f"{self.scheme}://{self.user}@{self.host}:{self.port}/{self.database}"


def read_url(kind: ServerKind, text: str) -> Url:
    """The parts of a URL of that kind. Errors: UsageError, which never shows the password."""

    def refuse(what: str) -> UsageError:
        return UsageError(f"{kind.url_variable} {what}", kind.remedy)

    try:
        parts = urllib.parse.urlsplit(text)
        port = parts.port or kind.port
    except ValueError as error:
        raise refuse("is not a URL, or has an invalid port") from error
    if parts.scheme != kind.engine:
        raise refuse(f"begins with {parts.scheme or 'nothing'}://, not with {kind.engine}://")
    database = urllib.parse.unquote(parts.path.removeprefix("/"))
    for what, name in (("host", parts.hostname), ("user", parts.username), ("database", database)):
        if not name:
            raise refuse(f"names no {what}")
    query = dict(urllib.parse.parse_qsl(parts.query, keep_blank_values=True))
    if query.get(CONSENT) != "yes":
        raise refuse(
            f"lacks {CONSENT}=yes, your consent: Rowpath creates, fills and drops tables, so it needs an empty "
            "database for itself"
        )
    host = str(parts.hostname)
    return Url(
        scheme=parts.scheme,
        user=urllib.parse.unquote(str(parts.username)),
        password=_password(kind, parts.password, query.get("password_file", "")),
        host="127.0.0.1" if host in LOOPBACK else host,
        port=port,
        database=database,
        socket=query.get("socket", ""),
        options={key: value for key, value in query.items() if key not in OWN_KEYS},
    )


def _password(kind: ServerKind, inside: str | None, file: str) -> str:
    """The password from the URL, its variable, or a file that only its owner may read."""
    if inside is not None:
        return urllib.parse.unquote(inside)
    variable = f"{kind.variable}_PASSWORD"
    if not file:
        return os.environ.get(variable, "")
    try:
        if stat.S_IMODE(Path(file).stat().st_mode) & 0o077:
            raise UsageError(f"the password file {file} is readable by other users", f"chmod 600 {file}")
        return Path(file).read_text(encoding="utf-8").rstrip("\n")
    except OSError as error:
        raise UsageError(
            f"the password file {file} cannot be read: {error.strerror}", f"write it, or set {variable}"
        ) from error


class ExternalServer(Instance):
    """A server that is never started, stopped or changed.

    It takes an empty database, marks it as in use, and leaves it empty.
    """

    deployment = "server"

    def __init__(self, engine: Engine, kind: ServerKind, durability: str, place: Place) -> None:
        self.durability = durability
        self.version = BY_URL
        self.given_by = kind.url_variable
        self._engine = engine
        self._kind = kind
        self._place = place
        self._url = kind.url()
        self._facts: dict[str, str] = {}
        self._ours = False

    @override
    def others_pids(self) -> list[int]:
        return processes.serving(self._url.host, self._engine.probe.server_programs)

    @override
    def start(self) -> None:
        """Look whether its database is empty and mark it. Errors: RowpathError, EnvironmentMissing."""
        if self._ours:
            return
        self._place.directory.mkdir(parents=True, exist_ok=True)
        with self._connected() as runner:
            facts = runner.request(Facts, 60.0, expect=FactsReply)
            self._facts = facts.settings | {"version": facts.engine_version, "build": facts.build}
            self._check_settings(facts.settings)
            if tables := count_rows(runner, self._kind.tables):
                raise UsageError(
                    f"the database {self._url.database} of {self.given_by} is not empty (tables: {tables}). "
                    f"Rowpath changed nothing. If {MARKER} is among them, another run uses it or was killed",
                    "name an empty database",
                )
            run(runner, [self._kind.make_marker])
            self._ours = True

    @override
    def check(self) -> bool:
        """Whether something listens there."""
        try:
            with socket.create_connection((self._url.host, self._url.port), ANSWER_TIMEOUT_S):
                return True
        except OSError:
            return False

    @override
    def stop(self) -> None:
        """Leave the database empty, or warn that tables remain; harmless when it was left already."""
        if not self._ours:
            return
        self._ours = False
        where = f"in the database {self._url.database} of {self.given_by}: drop them"
        try:
            with self._connected() as runner:
                run(runner, list(self._kind.clear))
                if left := count_rows(runner, self._kind.tables):
                    log.warning("%s tables remain %s", left, where)
        except RowpathError as error:
            log.warning("%s; Rowpath's tables remain %s", error.message, where)

    @override
    def load(self, tables: dict[str, Table]) -> None:
        """Make and fill these tables through a driver."""
        with self._connected() as runner:
            make_tables(runner, self._engine, tables, self._place.directory)

    @override
    def options(self, path: AccessPath) -> dict[str, Any]:
        """Where it is and who logs in, from the URL."""
        url = self._url
        login = {"host": url.host, "port": url.port, "user": url.user, "password": url.password}
        options = {"url_options": "\n".join(f"{key}={value}" for key, value in url.options.items())}
        return login | {"database": url.database} | options | ({"socket": url.socket} if url.socket else {})

    @override
    def settle(self, path: AccessPath) -> Settled:
        """Do nothing: its owner decides when it writes."""
        return Settled(0, None, "nothing was done: the server is external")

    @override
    def facts(self) -> dict[str, str]:
        """What it reported of itself, and where it is."""
        return self._facts | {"given by": self.given_by, "url": self._url.shown}

    @override
    def secrets(self) -> list[str]:
        """The password, plain and percent-encoded."""
        password = self._url.password
        return [password, urllib.parse.quote(password, safe="")] if password else []

    def _check_settings(self, settings: dict[str, str]) -> None:
        """Refuse a server whose effective settings are not as the path's coordinates promise. Errors: UsageError."""

    def _connected(self) -> Any:
        usual = {
            "engine": self._engine.name,
            "deployment": "server",
            "durability": self.durability,
            "statement": "bound",
            "transport": "unix" if self._url.socket else "tcp",
        }
        return connected(usual | self.options(AccessPath.of({})))


def count_rows(runner: Runner, query: str) -> int:
    """How many rows a query of one text column delivers. Errors: RunnerFailure."""
    column = Column(name="name", type="varchar", length=128, nullable=True)
    phase = PhaseSpec(name="count", kind="query", sql=query, columns=[column])
    runner.request(Prepare, 60.0, phase=phase, parameters=None, expect=PrepareReply)
    return runner.request(Verify, 60.0, phase="count", first=0, count=1, max_rows=0, expect=VerifyReply).rows
