"""On real engines: any query text gets rows or a refusal, and what passes the check of queries changes no data."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import strategies as st

from rowpath.engines import ENGINES
from rowpath.engines.base import Place
from rowpath.engines.external_server import count_rows
from rowpath.errors import UsageError
from rowpath.model.path import AccessPath
from rowpath.own_database.access import Access, open_access
from rowpath.own_database.query_check import check_query
from rowpath.own_database.question import ProbeOptions, keyed_by_options
from rowpath.own_database.session import Session
from rowpath.own_database.target import read_target
from rowpath.runners import protocol
from rowpath.runners.process import Runner, RunnerFailure
from tests.engines.life import reaching
from tests.engines.mariadb_life import made
from tests.engines.test_probed_files import opened
from tests.fuzz import texts
from tests.fuzz.fuzzing import tried

TIMEOUT_S = 60.0
TABLE = ("CREATE TABLE t (a INTEGER, b VARCHAR(9))", "INSERT INTO t VALUES (1, 'x'), (2, 'y'), (3, 'z')")
UNCHANGED = (
    "SELECT 'same' AS state FROM (SELECT count(*) AS n, sum(a) AS a, min(b) AS b, max(b) AS c FROM t) AS q"
    " WHERE n = 3 AND a = 6 AND b = 'x' AND c = 'z'"
)
# What else is there: has one row with a text, always the same one while nothing is made, dropped or moved.
OTHERS = {
    "sqlite": "SELECT 'same' AS state FROM (SELECT count(*) AS n FROM sqlite_master) AS q WHERE n = 1",
    "duckdb": "SELECT 'same' AS state FROM (SELECT count(*) AS n FROM information_schema.tables) AS q WHERE n = 1",
    "postgresql": "SELECT 'same' AS state FROM (SELECT count(*) AS n FROM pg_class"
    " WHERE relnamespace = 'public'::regnamespace) AS q, s WHERE n = 2 AND NOT is_called",
    "mariadb": "SELECT 'same' AS state FROM (SELECT count(*) AS n FROM information_schema.tables"
    " WHERE table_schema = database()) AS q WHERE n = 1",
}


@pytest.fixture(name="target", scope="module", params=list(OTHERS))
def target_fixture(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of a database that these tests may break."""
    name, folder = request.param, tmp_path_factory.mktemp(request.param)
    if name in ("sqlite", "duckdb"):
        file = folder / f"db.{name}"
        file.touch()
        if name == "duckdb":
            file.unlink()
            with opened(name, str(file)) as runner:
                runner.request(protocol.RunStatements, TIMEOUT_S, statements=["CHECKPOINT"], expect=protocol.RunReply)
        yield f"{name}://{file}"
        return
    for parent in reaching(folder):
        parent.chmod(parent.stat().st_mode | 0o055)
    (folder / "s").mkdir()
    (folder / "s").chmod(0o777)
    server: Any = (
        made(name, folder / "m", "innodb")
        if name == "mariadb"
        else ENGINES[name].instance("server", "none", Place(folder / "d", folder / "s", (0,)))
    )
    server.start()
    try:
        at = server.options(AccessPath.of({"transport": "tcp"}))
        yield f"{name}://{at['user']}:{at['password']}@{at['host']}:{at['port']}/{at['database']}"
    finally:
        server.stop()


class Writable:
    """A runner on the database, without what keeps sessions of a probe from writing."""

    def __init__(self, access: Access) -> None:
        self.access = access
        self.session, access.session = access.session, Session()
        instance: Any = access.instance
        probed = instance.options
        instance.options = lambda path: {key: value for key, value in probed(path).items() if key != "read_only"}
        self._stack = ExitStack()
        self.engine = access.target.engine
        self.runner: Runner = self._stack.enter_context(access.connected())

    def run(self, *statements: str, ignore: bool = False) -> None:
        fields = {"statements": list(statements), "ignore_errors": ignore}
        self.runner.request(protocol.RunStatements, TIMEOUT_S, expect=protocol.RunReply, **fields)

    def restore(self) -> None:
        """The table as it was at first, in a connection of its own."""
        self.renew()
        self.run("DROP VIEW v", "DROP TABLE u", "DROP TABLE t", ignore=True)
        if self.engine == "postgresql":
            self.run("DROP SEQUENCE s", ignore=True)
            self.run("CREATE SEQUENCE s")
        self.run(*TABLE)

    def renew(self) -> None:
        self._stack.close()
        self._stack = ExitStack()
        self.runner = self._stack.enter_context(self.access.connected())

    def is_unchanged(self) -> bool:
        return all(count_rows(self.runner, query) == 1 for query in (UNCHANGED, OTHERS[self.engine]))

    def close(self) -> None:
        self._stack.close()
        self.access.session = self.session


@pytest.fixture(name="writable")
def writable_fixture(target: str, tmp_path: Path) -> Iterator[Writable]:
    with open_access(read_target(target, {}), ProbeOptions("", yes=True), tmp_path) as access:
        writable = Writable(access)
        writable.restore()
        assert writable.is_unchanged()
        try:
            yield writable
        finally:
            writable.close()


def test_a_change_would_be_noticed(writable: Writable) -> None:
    for change in ("DELETE FROM t WHERE a = 2", "CREATE TABLE u (a INTEGER)"):
        writable.run(change)
        assert not writable.is_unchanged(), change
        writable.restore()
        assert writable.is_unchanged()


def test_what_the_check_of_queries_lets_pass_changes_no_data(writable: Writable) -> None:
    def property_of(text: str) -> None:
        try:
            check_query(text, writable.engine)
        except UsageError:
            return
        try:
            with suppress(RunnerFailure):
                writable.run(text)
            try:
                assert writable.is_unchanged(), f"{writable.engine}: {text!r}"
            except RunnerFailure as failure:
                raise AssertionError(f"{writable.engine}: {text!r}: {failure}") from failure
        except BaseException:
            writable.restore()
            raise

    tried(property_of, texts.writing(), ordinary=200)


def test_any_query_is_described_or_refused(writable: Writable) -> None:
    def property_of(text: str, words: list[str]) -> None:
        engine = writable.engine
        try:
            check_query(text, engine)
            query = keyed_by_options(text, engine, ProbeOptions("", params=tuple(words)))
        except UsageError:
            return
        sql = query.with_literals(engine, query.rows[0]) if query else text
        try:
            reply = protocol.DescribeReply
            writable.runner.request(protocol.Describe, TIMEOUT_S, sql=sql, expect=reply)
        except RunnerFailure as failure:
            if failure.kind not in ("sql", "unsupported"):
                writable.renew()
            assert failure.kind in ("sql", "unsupported"), f"{engine}: {sql!r}: {failure}"

    tried(property_of, texts.QUERIES, st.lists(texts.PARAMETERS, max_size=2), ordinary=80)


def test_the_front_door_gives_columns_or_an_error_for_the_user(writable: Writable) -> None:
    writable.close()  # some engines let only one process open a database

    def property_of(text: str) -> None:
        try:
            check_query(text, writable.engine)
            writable.access.describe(text)
        except UsageError:
            return

    tried(property_of, texts.QUERIES, ordinary=10)
