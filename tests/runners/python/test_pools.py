"""Every pool of the Python runner: its operations are the driver's, on no more connections than the pool has."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from rowpath.engines.postgresql import Postgresql
from rowpath.machine.counters.counting_proxy import Proxy
from rowpath.runners import protocol as p
from rowpath.runners.manifest import load_manifest
from rowpath.runners.process import RunnerFailure
from rowpath.workloads.expected import Expected
from rowpath.workloads.workload_file import load_workload, reset_for
from tests.runners.protocol import pool_cases as cases
from tests.runners.protocol.group_talk import Group, Subject, subject
from tests.runners.python.engines import postgresql_fixture  # noqa: F401
from tests.runners.python.talk import Talk, kept_fixture, living_fixture, start_fixture  # noqa: F401
from tests.runners.python.test_clients import wait_for_connections

KEYED = load_workload("keyed")
READ, INSERT = KEYED.phase("read"), KEYED.phase("insert")
EXPECTED = Expected(KEYED)
PAGE = Path(__file__).parents[3] / "docs" / "add-a-pool.md"
CLIENTS, SIZE, COUNT = 8, 3, 200
PATHS = [
    (pool.name, driver, validation, profile)
    for pool in load_manifest("python").pool
    for driver in pool.over
    for validation in pool.validations
    for profile in ("tuned", "shipped")
]
# All tests of a path before those of the next, so that they share its runner.
EACH = pytest.mark.parametrize("path", PATHS, ids=" ".join, scope="module")


def opened(kept: Callable[..., Talk], options: dict[str, Any], path: tuple[str, ...], **more: str) -> Talk:
    pool, driver, validation, profile = path
    named = {"engine": "postgresql", "pool": pool, "validation": validation, "profile": profile, "pool_size": str(SIZE)}
    talk = kept(driver, engine="postgresql", pool=pool)
    talk.open(**options, transport="tcp", driver=driver, **{**named, **more})
    return talk


@pytest.mark.parametrize("statement", ["prepared", "bound", "text"])
@EACH
def test_a_borrowed_connection_does_what_the_drivers_own_does(
    kept: Callable[..., Talk], postgresql: dict[str, Any], path: tuple[str, ...], statement: str
) -> None:
    pooled = opened(kept, postgresql, path, statement=statement, clients=str(CLIENTS))
    read = pooled.prepare(KEYED, READ)
    assert pooled.verify(read, 5, 40).digest == EXPECTED.verify_digest(READ, 5, 40, 100)
    pooled.run(*reset_for(KEYED, INSERT, Postgresql()), ignore_errors=True)
    for phase, name in ((READ, read), (INSERT, pooled.prepare(KEYED, INSERT))):
        sample = pooled.sample(name, operations=COUNT, lead_in_ns=0, first=0)
        assert (sample.failed, sample.failure, sample.operations) == (0, None, COUNT)
        assert phase is INSERT or int(sample.touch, 16) in (EXPECTED.touches(READ).expected(0, COUNT) or ())
        # Each client's borrowing and returning is a part of its own time.
        spent_ns = sum(client.ns for client in sample.clients)
        assert min(sample.borrow_ns, sample.return_ns) > 0
        assert sample.borrow_ns + sample.return_ns < spent_ns
    pooled.engine = Postgresql()
    assert pooled.digest_after(KEYED, INSERT, pooled.folder) == EXPECTED.after_digest(INSERT, COUNT)


@EACH
def test_all_clients_share_the_pools_connections(
    kept: Callable[..., Talk], postgresql: dict[str, Any], path: tuple[str, ...]
) -> None:
    watcher = kept("psycopg")
    watcher.open(**postgresql, transport="unix", statement="bound")
    wait_for_connections(watcher, 1)
    talk = opened(kept, postgresql, path, clients=str(CLIENTS), statement="prepared")
    wait_for_connections(watcher, 1 + SIZE)
    talk.sample(talk.prepare(KEYED, READ), operations=COUNT, lead_in_ns=0, first=0)
    wait_for_connections(watcher, 1 + SIZE)
    settings = talk.facts().settings
    assert (settings["pool_in_use"], settings["pool_open"], settings["clients"]) == ("0", str(SIZE), str(CLIENTS))
    reached = talk.ask(p.RunStatements, p.RunReply, statements=["SELECT 1"], ignore_errors=False, every_client=True)
    assert reached.clients == 1  # which ones it would lend is not known
    talk.close_connection()
    wait_for_connections(watcher, 1)


@pytest.mark.parametrize(("pool", "driver"), [("sqlalchemy", "psycopg"), ("asyncpg", "asyncpg")])
def test_a_pool_that_does_not_open_leaves_no_connection(
    kept: Callable[..., Talk], postgresql: dict[str, Any], pool: str, driver: str
) -> None:
    watcher = kept("psycopg")
    watcher.open(**postgresql, transport="unix", statement="bound")
    wait_for_connections(watcher, 1)
    limit = f"ALTER DATABASE {postgresql['database']} CONNECTION LIMIT"
    watcher.run(f"{limit} {SIZE}")
    try:
        with pytest.raises(RunnerFailure, match="too many connections") as refused:
            opened(
                kept,
                postgresql,
                (pool, driver, "none", "tuned"),
                statement="bound",
                clients="1",
                pool_size=str(2 * SIZE),
            )
        assert refused.value.kind == "connect"
        wait_for_connections(watcher, 1)
    finally:
        watcher.run(f"{limit} -1")


@EACH
def test_a_refused_login_says_why(kept: Callable[..., Talk], postgresql: dict[str, Any], path: tuple[str, ...]) -> None:
    with pytest.raises(RunnerFailure, match="password authentication failed") as refused:
        opened(kept, postgresql | {"password": "wrong"}, path, statement="bound", clients="1")
    assert refused.value.kind == "connect"


@EACH
def test_a_connection_comes_back_after_a_failed_operation(
    kept: Callable[..., Talk], postgresql: dict[str, Any], path: tuple[str, ...]
) -> None:
    talk = opened(kept, postgresql, path, clients=str(CLIENTS), statement="bound")
    wrong = talk.prepare(KEYED, READ, "SELECT KEY1, CAST(1 / (length(KEY1) - 10) AS text) FROM mydata2 WHERE KEY1 = ?")
    sample = talk.sample(wrong, operations=4 * CLIENTS, lead_in_ns=0, first=0)
    assert (sample.operations, sample.failed) == (0, 4 * CLIENTS)
    assert sample.failure and sample.failure.code == "22012"
    assert (sample.borrow_ns, sample.return_ns) == (0, 0)  # they are of successful operations
    assert talk.facts().settings["pool_in_use"] == "0"


@EACH
def test_a_dead_connection_is_lent_once_at_most(
    kept: Callable[..., Talk], postgresql: dict[str, Any], path: tuple[str, ...]
) -> None:
    watcher = kept("psycopg")
    watcher.open(**postgresql, transport="unix", statement="bound")
    wait_for_connections(watcher, 1)
    talk = opened(kept, postgresql, path, clients=str(CLIENTS), statement="bound")
    wait_for_connections(watcher, 1 + SIZE)
    read = talk.prepare(KEYED, READ)
    others = "backend_type = 'client backend' AND usename = current_user AND pid <> pg_backend_pid()"
    watcher.run(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE {others}")
    wait_for_connections(watcher, 1)
    assert talk.sample(read, operations=COUNT, lead_in_ns=0, first=0).failed <= SIZE
    assert talk.sample(read, operations=COUNT, lead_in_ns=0, first=0).failed == 0
    wait_for_connections(watcher, 1 + SIZE)


@pytest.fixture(name="found", scope="module")
def found_fixture(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Subject]:
    """The driver of a pool, on a server that its tests share."""
    pool = request.param
    driver = "asyncpg" if pool == "asyncpg" else "psycopg"
    with subject("python", driver, tmp_path_factory.mktemp(pool), pool=pool, transport="tcp") as found:
        yield found


@pytest.mark.parametrize("found", ["psycopg_pool", "asyncpg"], indirect=True)
def test_the_clients_of_a_group_write_down_how_long_they_waited(found: Subject) -> None:
    how = {"pool_size": str(SIZE), "validation": "none", "profile": "tuned"}
    with found.talk(clients=CLIENTS, **how) as talk:
        talk.make_ledger(COUNT)
        talk.prepare_read(range(1, COUNT + 1))
        with talk.groups(Group("read", clients=CLIENTS, operations=50)) as working:
            working.begin()
            working.wait_until_done()
            counters = Path(working.shared_counters.file).read_bytes()
            place = working.shared_counters.client_groups["group"]
            total = working.end()["group"]
        assert (total.operations, total.failed) == (50 * CLIENTS, 0)
        for client in range(CLIENTS):
            words = struct.unpack_from("<16Q", counters, place.slots + client * place.slot_bytes)
            service_ns, borrow_ns, return_ns = words[6], words[12], words[13]
            assert min(borrow_ns, return_ns) > 0
            assert borrow_ns + return_ns < service_ns


@pytest.mark.parametrize("found", ["psycopg_pool", "asyncpg", "sqlalchemy"], indirect=True)
@pytest.mark.parametrize("case", [cases.transactions, cases.errors_return])
def test_a_transaction_begins_and_ends_on_the_lent_connection(case: cases.Case, found: Subject) -> None:
    case(found, found.path.get("pool"))


@pytest.mark.parametrize("pool", ["psycopg_pool", "sqlalchemy"])
def test_validation_is_a_round_trip(kept: Callable[..., Talk], postgresql: dict[str, Any], pool: str) -> None:
    proxy = Proxy((postgresql["host"], int(postgresql["port"])))
    try:

        def round_trips(validation: str, profile: str = "tuned") -> float:
            path = (pool, "psycopg", validation, profile)
            talk = opened(kept, postgresql | {"port": proxy.port}, path, statement="prepared")
            read = talk.prepare(KEYED, READ)
            talk.sample(read, operations=8 * SIZE, lead_in_ns=0, first=0)  # every connection has it prepared
            proxy.reset()
            talk.sample(read, operations=COUNT, lead_in_ns=0, first=0)
            return proxy.reset().round_trips / COUNT

        assert round_trips("none") == 1
        assert round_trips("borrow") == 2
        assert round_trips("borrow", "shipped") == round_trips("none", "shipped")  # it is left to the pool
    finally:
        proxy.stop()


def test_only_queries_and_single_writes_are_done_on_a_pools_connection(
    kept: Callable[..., Talk], postgresql: dict[str, Any]
) -> None:
    talk = opened(kept, postgresql, PATHS[0], statement="bound")
    connect = load_workload("connect")
    with pytest.raises(RunnerFailure, match="only queries and single writes"):
        talk.prepare(connect, connect.phases[0])


def from_the_page(tmp_path: Path, *changed: str) -> Path:
    """The file that docs/add-a-pool.md has, with a text in it replaced by another."""
    (code,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert not changed or changed[0] in code
    file = tmp_path / "queue.py"
    file.write_text(code.replace(*changed) if changed else code)
    return file


def queued(start: Callable[..., Talk], options: dict[str, Any], source: Path) -> Talk:
    talk = start("psycopg", source=source)
    talk.open(**options, transport="tcp", driver="psycopg", statement="bound", pool_size=str(SIZE), clients="1")
    return talk


def test_the_pool_of_the_page_works(start: Callable[..., Talk], postgresql: dict[str, Any], tmp_path: Path) -> None:
    talk = queued(start, postgresql, from_the_page(tmp_path))
    read = talk.prepare(KEYED, READ)
    assert talk.verify(read, 5, 40).digest == EXPECTED.verify_digest(READ, 5, 40, 100)
    sample = talk.sample(read, operations=COUNT, lead_in_ns=0, first=0)
    assert (sample.operations, sample.failed) == (COUNT, 0)
    assert min(sample.borrow_ns, sample.return_ns) > 0
    settings = talk.facts().settings
    assert (settings["pool_in_use"], settings["pool_open"]) == ("0", str(SIZE))


def test_a_pool_that_loses_a_connection_says_so(
    start: Callable[..., Talk], postgresql: dict[str, Any], tmp_path: Path
) -> None:
    # It keeps what comes back the eighth time.
    forgets = "lambda lent, turns=iter([7] * 7 + [0] + [7] * 9**5): next(turns) and self.free.put(lent)"
    talk = queued(start, postgresql, from_the_page(tmp_path, "self.free.put\n", f"({forgets})\n"))
    talk.sample(talk.prepare(KEYED, READ), operations=COUNT, lead_in_ns=0, first=0)
    assert talk.facts().settings["pool_in_use"] == "1"
