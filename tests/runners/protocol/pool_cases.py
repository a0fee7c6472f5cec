"""What a pool must do on any runner: each case takes a subject (group_talk.py), the pool's name, and asserts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import MappingProxyType
from typing import Any

import pytest

from rowpath.execution.mixed_load.shared_counters import DONE
from rowpath.machine.counters.counting_proxy import Proxy
from rowpath.model.path import AccessPath
from rowpath.model.workload import Column
from rowpath.runners import protocol
from rowpath.runners.process import RunnerFailure
from rowpath.workloads import codec
from tests.runners.insides import slot_of
from tests.runners.protocol.group_talk import LEDGER_SQL, Group, GroupTalk, Subject
from tests.waiting import until

SIZE = 4
CLIENTS = 16
ROWS = 32
BORROW_WORD, RETURN_WORD = 12, 13
COUNT = (Column(name="n", type="integer", bits=64),)
CONNECTIONS = {
    "postgresql": "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'",
    "mariadb": "SELECT count(*) FROM information_schema.processlist WHERE command <> 'Daemon'",
}
FAILS = "INSERT INTO ledger (id, n) VALUES (?, 0)"

Case = Callable[[Subject, str], None]
NOTHING_ELSE: Mapping[str, str] = MappingProxyType({})


@contextmanager
def lent(subject: Subject, pool: str, clients: int = CLIENTS, size: int = SIZE, **options: str) -> Iterator[GroupTalk]:
    """A runner whose clients share a pool."""
    named = {"pool": pool, "pool_size": str(size), "validation": "none", "profile": "tuned"}
    with subject.talk(clients=clients, **(named | options)) as talk:
        yield talk


def connections(watcher: GroupTalk) -> int:
    """How many connections the server has beside the watcher's own."""
    engine = watcher.subject.path.engine
    _reply, (row,) = watcher.kept(watcher.subject.folder / "connections", CONNECTIONS[engine], COUNT)
    return int(codec.decode_row(row, COUNT)[0]) - 1


def in_use(talk: GroupTalk) -> tuple[str, str]:
    settings = talk.facts().settings
    return settings["pool_in_use"], settings["pool_open"]


def same_rows(subject: Subject, pool: str) -> None:
    """What is read on borrowed connections is what the bare driver reads, in every statement mode."""
    for statement in subject.adapter.coordinates["statement"]:
        with subject.talk(statement=statement) as bare:
            bare.make_ledger(ROWS)
            bare.prepare_read(range(1, ROWS + 1))
            proven = bare.verify("read", count=ROWS)
            summed = bare.sample("read", operations=ROWS, first=0)
            assert (summed.borrow_ns, summed.return_ns) == (0, 0)
        with lent(subject, pool, statement=statement) as talk:
            talk.prepare_read(range(1, ROWS + 1))
            again = talk.verify("read", count=ROWS)
            assert (again.digest, again.touch) == (proven.digest, proven.touch)
            sampled = talk.sample("read", operations=ROWS, first=0)
            assert (sampled.touch, sampled.operations, sampled.failed) == (summed.touch, ROWS, 0)
            assert sampled.borrow_ns > 0
            assert sampled.return_ns > 0
            assert sampled.borrow_ns + sampled.return_ns < sum(client.ns for client in sampled.clients)


def alone(subject: Subject, pool: str) -> None:
    """One client borrows too, and its borrowing, work and returning are the whole block."""
    with lent(subject, pool, clients=1, size=1) as talk:
        talk.make_ledger(ROWS)
        talk.prepare_read(range(1, ROWS + 1))
        sampled = talk.sample("read", operations=ROWS, first=0)
        assert (sampled.operations, sampled.clients) == (ROWS, [])
        assert sampled.borrow_ns > 0
        assert sampled.return_ns > 0
        assert sampled.borrow_ns + sampled.return_ns < sampled.ns
        assert in_use(talk) == ("0", "1")


def never_more(subject: Subject, pool: str, pause_ns: int = 0) -> None:
    """Groups of 16 clients have 4 connections in all, wait for them, and give every one back.

    `pause_ns` after each operation: for pools that let a client overtake those that wait.
    """
    with subject.talk() as watcher, lent(subject, pool) as talk:
        assert connections(watcher) == SIZE
        talk.make_ledger(ROWS)
        talk.prepare_read(range(1, ROWS + 1))
        talk.prepare_write(range(1, ROWS + 1))
        groups = [Group(name, name, CLIENTS // 2, pause_ns=pause_ns) for name in ("write", "read")]
        with talk.groups(*groups) as working:
            working.begin()
            seen = set()

            def at_work() -> bool:
                seen.add(connections(watcher))
                return all(slot_of(working.shared_counters, name, 0)[1] > 1 for name in ("read", "write"))

            until(at_work, "operations of both groups")
            working.set_end()
            working.wait_until_done()
            for name in ("read", "write"):
                for client in range(CLIENTS // 2):
                    slot = slot_of(working.shared_counters, name, client)
                    assert slot[0] == DONE
                    assert not slot[1] or 0 < slot[BORROW_WORD] + slot[RETURN_WORD] < slot[6]
            totals = working.end()
        assert seen == {SIZE}
        assert [total.failed for total in totals.values()] == [0, 0]
        assert in_use(talk) == ("0", str(SIZE))
        assert sum(talk.ledger().values()) == totals["write"].operations
        talk.close_connection()
        until(lambda: connections(watcher) == 0, "end of the pool's connections")


def errors_return(subject: Subject, pool: str) -> None:
    """A failed statement gives its connection back, in autocommit and in a transaction; the next ones work on it."""
    with lent(subject, pool) as talk:
        talk.make_ledger(ROWS)
        for transaction in ("autocommit", "transaction"):
            columns, file = (Column(name="id", type="integer"),), subject.folder / "fails.rows"
            codec.write_rows(file, [(id_,) for id_ in range(1, ROWS + 1)], columns)
            spec = protocol.PhaseSpec(
                name="fails",
                kind="execute",
                sql=FAILS,
                table="ledger",
                parameter_columns=columns,
                transaction=transaction,
            )
            talk.prepare_spec(spec, protocol.ParameterSlice(file=str(file), first=0, count=ROWS))
            failed = talk.sample("fails", operations=3 * CLIENTS, first=0)
            assert (failed.operations, failed.failed) == (0, 3 * CLIENTS)
            assert failed.failure is not None
            assert failed.failure.kind == "sql"
            assert (failed.borrow_ns, failed.return_ns) == (0, 0)
            assert in_use(talk) == ("0", str(SIZE))
            talk.prepare_read(range(1, ROWS + 1))
            assert talk.sample("read", operations=ROWS, first=0).failed == 0


def groups_fail(subject: Subject, pool: str) -> None:
    """A group whose every operation fails gives up, and no connection stays with it."""
    with lent(subject, pool, clients=SIZE + 1) as talk:
        talk.make_ledger(ROWS)
        talk.prepare_write(range(1, ROWS + 1), "fails", FAILS)
        with talk.groups(Group("fails", "fails", SIZE + 1, operations=3)) as working:
            working.begin()
            working.wait_until_done()
            for client in range(SIZE + 1):
                slot = slot_of(working.shared_counters, "fails", client)
                assert [int(slot[word]) for word in (1, 2, BORROW_WORD, RETURN_WORD)] == [0, 3, 0, 0]
            assert working.end()["fails"].failed == 3 * (SIZE + 1)
        assert in_use(talk) == ("0", str(SIZE))


def transactions(subject: Subject, pool: str) -> None:
    """Begin and commit are on the borrowed connection: every write is there once."""
    with lent(subject, pool) as talk:
        talk.make_ledger(ROWS)
        columns, file = (Column(name="id", type="integer"),), subject.folder / "adds.rows"
        codec.write_rows(file, [(id_,) for id_ in range(1, ROWS + 1)], columns)
        spec = protocol.PhaseSpec(
            name="adds",
            kind="execute",
            sql="UPDATE ledger SET n = n + 1 WHERE id = ?",
            table="ledger",
            parameter_columns=columns,
            transaction="transaction",
        )
        talk.prepare_spec(spec, protocol.ParameterSlice(file=str(file), first=0, count=ROWS))
        assert talk.sample("adds", operations=2 * ROWS, first=0).failed == 0
        assert set(talk.ledger().values()) == {2}


def refused(subject: Subject, pool: str) -> None:
    """An unknown pool, a kind that is none of a pool's, and a login that fails; then a pool opens all the same."""
    with subject.talk() as watcher, lent(subject, pool) as talk:
        with pytest.raises(RunnerFailure, match=r"only|not for") as told:
            talk.prepare_spec(protocol.PhaseSpec(name="connect", kind="connect", sql=LEDGER_SQL))
        assert told.value.kind == "unsupported"
        path = subject.path.as_dict() | subject.instance.options(subject.path) | {"pool_size": str(SIZE)}
        for wrong, kind in (({"pool": "other"}, "unsupported"), ({"pool": pool, "password": "wrong"}, "connect")):
            with pytest.raises(RunnerFailure) as told:
                talk.open(path | wrong)
            assert told.value.kind == kind
        talk.open(path | {"pool": pool})
        assert in_use(talk) == ("0", str(SIZE))
        assert connections(watcher) == SIZE


CASES: tuple[Case, ...] = (same_rows, alone, never_more, errors_return, groups_fail, transactions, refused)


def round_trips(subject: Subject, pool: str, **options: Any) -> float:
    """How many an operation takes of a single client, by the counting proxy."""
    path = AccessPath.of(subject.path.as_dict() | {"transport": "tcp"})
    options = path.as_dict() | subject.instance.options(path) | {"profile": "tuned"} | options
    with subject.talk() as talk:
        talk.make_ledger(ROWS)
        proxy = Proxy(int(options["port"]))
        try:
            talk.open(options | {"port": proxy.port, "pool": pool, "pool_size": "1", "clients": "1"})
            talk.prepare_read(range(1, ROWS + 1))
            talk.sample("read", operations=2, first=0)
            proxy.reset()
            assert talk.sample("read", operations=ROWS, first=0).failed == 0
            seen = proxy.read()
            talk.close_connection()
        finally:
            proxy.stop()
    return seen.round_trips / ROWS
