"""What groups of clients must do on any runner: each case takes a subject (group_talk.py) and asserts.

`NULL` are for a null adapter, `LEDGER` for one that executes SQL. A test file of a language parametrises over them.
"""

from __future__ import annotations

import itertools
import signal
import time
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from rowpath.execution.mixed_load.shared_counters import DONE, GAVE_UP, WAITS, SharedCounters, Snapshot
from rowpath.machine import processes
from rowpath.model import histogram
from rowpath.runners import protocol
from rowpath.runners.process import RunnerFailure
from rowpath.workloads import codec
from tests.runners.insides import slot_of
from tests.runners.protocol.group_talk import ID, NOTE, NOTHING, Group, Subject, Working, due_distances_s
from tests.waiting import PATIENCE_S

ROWS = 12
FAILS = "INSERT INTO ledger (id, n) VALUES (?, 0)"

Case = Callable[[Subject], None]


def closed_counts(subject: Subject) -> None:
    """Shared counters, reply and the histogram tell the same, and the sums lie within what the histogram allows."""
    with subject.talk(clients=3) as talk:
        talk.prepare_nothing()
        with talk.groups(Group(NOTHING, "one", 1), Group(NOTHING, "two", 2)) as working:
            assert working.shared_counters.states("two") == [WAITS, WAITS]
            begun_ns = working.begin()
            working.wait(lambda: all(seen_of(working, name).operations for name in ("one", "two")))
            totals = working.end()
            for name, total in totals.items():
                seen = agrees(working, name, total)
                assert seen.operations > 0
                assert (seen.failed, seen.arrivals, seen.latency_ns) == (0, 0, 0)
                assert int(seen.latency.sum()) == int(seen.lateness.sum()) == 0
                assert begun_ns <= total.begun_ns < total.ended_ns
                assert seen.service_ns <= len(total.clients) * (total.ended_ns - total.begun_ns)
                assert total.cpu_ns > 0


def number_of_operations(subject: Subject) -> None:
    """Each client does as many as it is asked for; then it is done, and groups may come again."""
    with subject.talk(clients=3) as talk:
        talk.prepare_nothing()
        for operations in (50, 7):
            with talk.groups(Group(NOTHING, clients=3, operations=operations)) as working:
                working.begin()
                working.wait_until_done()
                total = working.end()["group"]
                assert [each.operations for each in total.clients] == [operations] * 3
                assert working.shared_counters.states("group") == [DONE] * 3


def pauses(subject: Subject) -> None:
    """A pause lies between operations and in none of them."""
    pause_ns = 5_000_000
    with subject.talk() as talk:
        talk.prepare_nothing()
        with talk.groups(Group(NOTHING, pause_ns=pause_ns, operations=10)) as working:
            working.begin()
            working.wait_until_done()
            total = working.end()["group"]
            span_ns = total.ended_ns - total.begun_ns
            assert total.operations == 10
            assert span_ns >= 9 * pause_ns
            assert seen_of(working).service_ns <= span_ns - 9 * pause_ns


def fixed_arrivals(subject: Subject) -> None:
    """Operations are due at equal distances, each client's between those of the others: neither more nor fewer."""
    rate, clients, window_ns = 250.0, 2, 98_500_000
    distance_ns = clients / rate * 1e9
    expected = sum(
        1 for client in range(clients) for i in range(1000) if (i + client / clients) * distance_ns < window_ns
    )
    group = Group(NOTHING, clients=clients, pacing="fixed", rate_per_s=rate, spin_ns=100_000)
    exactly(subject, group, window_ns, expected)


def poisson_arrivals(subject: Subject) -> None:
    """As many as the generator of the protocol makes due, which is what the rate promises within five deviations."""
    rate, clients, window_ns, seed = 500.0, 2, 200_000_000, 2**53 - 5
    expected = sum(
        sum(1 for due in itertools.islice(itertools.accumulate(distances), 1000) if due * 1e9 < window_ns)
        for distances in (due_distances_s(seed + client, rate / clients) for client in range(clients))
    )
    mean = rate * window_ns / 1e9
    assert abs(expected - mean) <= 5 * mean**0.5
    group = Group(NOTHING, clients=clients, pacing="poisson", rate_per_s=rate, seed=seed)
    exactly(subject, group, window_ns, expected)


def due_instants(subject: Subject) -> None:
    """What the shared counters says is due stands in each client's schedule, computed from the protocol's text."""
    rate, clients, looks = 100.0, 2, 3
    with subject.talk(clients=clients) as talk:
        talk.prepare_nothing()
        for pacing in ("fixed", "poisson"):
            group = Group(NOTHING, clients=clients, pacing=pacing, rate_per_s=rate, seed=7)
            with talk.groups(group) as working:
                begun_ns = working.begin()
                seen: list[set[int]] = [set(), set()]

                def watch(working: Working = working, seen: list[set[int]] = seen) -> bool:
                    for client, dues in enumerate(seen):
                        dues.add(int(slot(working.shared_counters, client)[5]))
                    return all(len(dues - {0}) >= looks for dues in seen)

                working.wait(watch)
                assert working.end()["group"].operations >= clients * (looks - 1)
            for client, watched in enumerate(seen):
                if pacing == "fixed":
                    distances = itertools.chain([client / rate], itertools.repeat(clients / rate))
                else:
                    distances = due_distances_s(7 + client, rate / clients)
                last_ns = max(watched) + 1e9
                instants = (begun_ns + due * 1e9 for due in itertools.accumulate(distances))
                dues = [*itertools.takewhile(lambda due_ns, last_ns=last_ns: due_ns < last_ns, instants)]
                assert all(min(abs(due - each) for due in dues) <= 2_000 for each in watched - {0})


def stalls_in_open_loop(subject: Subject) -> None:
    """A stall of 60 ms in each 50th operation of a schedule of 2 ms: 29 others wait, and their latency says so."""
    stall_ns, every, operations = 60_000_000, 50, 150
    with subject.talk(stall_ns=str(stall_ns), stall_every=str(every)) as talk:
        talk.prepare_nothing()
        with talk.groups(Group(NOTHING, pacing="fixed", rate_per_s=500.0, operations=operations)) as working:
            working.begin()
            working.wait_until_done()
            total = working.end()["group"]
            seen = agrees(working, "group", total)
            assert total.operations == seen.arrivals == operations
            # The last stall is the last operation: nobody waits behind it.
            stalled, waited = operations // every, 29 * (operations // every - 1)
            assert int(seen.service[histogram.index_of(stall_ns - 1_000_000) :].sum()) >= stalled
            assert int(seen.lateness.sum()) <= operations - waited
            assert seen.latency_ns - seen.service_ns >= (operations // every - 1) * sum(range(0, 58, 2)) * 1_000_000
            above = histogram.count_above(seen.latency, 20_000_000)
            assert above >= stalled + (operations // every - 1) * 19


def refused_meanwhile(subject: Subject) -> None:
    """While groups are there, a second `groups` and a sample are refused; what shared counters cannot hold is too."""
    with subject.talk(clients=2) as talk:
        talk.prepare_nothing()
        with talk.groups(Group(NOTHING)) as working:
            sample = {"phase": NOTHING, "regime": "steady", "lead_in_ns": 0, "duration_ns": 0, "operations": 1}
            for ask in (
                lambda: Working(talk, working.shared_counters, working.groups),
                lambda: talk.ask(protocol.Sample, protocol.SampleReply, **sample),
                lambda: talk.ask(protocol.Verify, protocol.VerifyReply, phase=NOTHING, first=0, count=1),
                lambda: talk.ask(protocol.Close, protocol.CloseReply),
                talk.prepare_nothing,
            ):
                with pytest.raises(RunnerFailure) as refused:
                    ask()
                assert refused.value.kind == "internal"
            working.begin()
            assert working.end()["group"].failed == 0
        with pytest.raises(RunnerFailure), talk.groups(Group(NOTHING, clients=3)):
            pass
        with pytest.raises(RunnerFailure), talk.groups(Group("unheard-of")):
            pass
        with pytest.raises(RunnerFailure):
            talk.ask(protocol.ClientGroupsEnd, protocol.ClientGroupsEndReply)
        with talk.groups(Group(NOTHING, operations=1)) as working:
            working.begin()
            working.wait_until_done()
            assert working.end()["group"].operations == 1


def reads_and_writes(subject: Subject) -> None:
    """Two groups at once: touch and rows are those of the rows read, and each write is in the database once."""
    with subject.talk(clients=3) as talk:
        talk.make_ledger(ROWS)
        ids = list(range(1, ROWS + 1))
        talk.prepare_read([100 + id_ for id_ in ids[:1]] + ids[1:])  # of the first there is no row
        talk.prepare_write(ids)
        groups = (Group("read", "readers", 2), Group("write", "writer", rows=ROWS))
        with talk.groups(*groups) as working:
            working.work_a_little()
            totals = working.end()
            for name, total in totals.items():
                assert agrees(working, name, total).operations > 0
            known, doubtful = working.shared_counters.acknowledged("writer")
        readers, writer = totals["readers"], totals["writer"]
        assert [(each.first, each.rows_of_its_own) for each in readers.clients] == [(0, 6), (6, 6)]
        reads = _by_row(readers, ROWS)
        assert readers.rows == int(reads[1:].sum())
        assert readers.values == 2 * readers.rows
        assert doubtful.tolist() == [0] * ROWS
        assert known.tolist() == _by_row(writer, ROWS).tolist()
        assert talk.ledger() == {id_: int(count) for id_, count in zip(ids, known, strict=True)}
        # The writer changes n meanwhile: a read saw at least 0 and at most what is there now.
        least = sum(int(count) * id_ for id_, count in zip(ids[1:], reads[1:], strict=True))
        most = least + sum(int(count) * int(n) for count, n in zip(reads[1:], known[1:], strict=True))
        assert least <= int(readers.touch, 16) <= most


def touch(subject: Subject) -> None:
    """The touch of a group is the sum over the rows that its clients read."""
    with subject.talk(clients=3) as talk:
        talk.make_ledger(ROWS)
        talk.prepare_read(list(range(1, ROWS + 1)))
        with talk.groups(Group("read", clients=3, operations=7)) as working:
            working.begin()
            working.wait_until_done()
            total = working.end()["group"]
            assert seen_of(working).rows == total.rows == 21
        reads = _by_row(total, ROWS)
        assert int(total.touch, 16) == sum(int(count) * (row + 1) for row, count in enumerate(reads))


def regions(subject: Subject) -> None:
    """No two clients share a row, but where there are fewer rows than clients; the counts are by row."""
    with subject.talk(clients=4) as talk:
        for rows, clients, expected in (
            (10, 3, [(0, 3), (3, 3), (6, 4)]),
            (2, 4, [(0, 1), (1, 1), (0, 1), (1, 1)]),
            (5, 1, [(0, 5)]),
        ):
            talk.make_ledger(rows)
            talk.prepare_read(list(range(1, rows + 1)))
            with talk.groups(Group("read", clients=clients, operations=8, rows=rows)) as working:
                working.begin()
                working.wait_until_done()
                total = working.end()["group"]
                known, _doubtful = working.shared_counters.acknowledged("group")
            assert [(each.first, each.rows_of_its_own) for each in total.clients] == expected
            assert known.tolist() == _by_row(total, rows).tolist()


def failures(subject: Subject) -> None:
    """Failed operations are counted by kind, by row and in no histogram; the others are not hurt."""
    with subject.talk() as talk:
        talk.make_ledger(0)
        for id_ in range(1, ROWS + 1, 2):
            talk.run(f"INSERT INTO ledger VALUES ({id_}, 0)")
        talk.prepare_write(list(range(1, ROWS + 1)), sql=FAILS)
        with talk.groups(Group("write", operations=ROWS, rows=ROWS)) as working:
            working.begin()
            working.wait_until_done()
            total = working.end()["group"]
            seen = agrees(working, "group", total)
            known, doubtful = working.shared_counters.acknowledged("group")
            failed_ns = int(slot(working.shared_counters)[8])
        assert (seen.operations, seen.failed) == (ROWS // 2, ROWS // 2)
        assert failed_ns > 0
        assert total.ended_ns - total.begun_ns >= seen.service_ns + failed_ns + (ROWS // 2 - 1) * 10_000_000
        assert [(each.kind, each.count) for each in total.failures] == [("sql", ROWS // 2)]
        assert total.failures[0].text
        assert known.tolist() == [0, 1] * (ROWS // 2)
        assert doubtful.tolist() == [1, 0] * (ROWS // 2)
        assert set(talk.ledger()) == set(range(1, ROWS + 1))


def gives_up(subject: Subject) -> None:
    """After a hundred failures in a row a client gives up; the other group goes on."""
    with subject.talk(clients=2) as talk:
        talk.make_ledger(ROWS)
        talk.prepare_write([1, 2, 3], name="fails", sql=FAILS)
        talk.prepare_read([1, 2, 3])
        with talk.groups(Group("fails", "failing"), Group("read", "reading", pause_ns=1_000_000)) as working:
            working.begin()
            working.wait(lambda: working.shared_counters.states("failing") == [GAVE_UP])
            before = seen_of(working, "reading").operations
            working.wait(lambda: seen_of(working, "reading").operations > before)
            totals = working.end()
            assert agrees(working, "failing", totals["failing"]).gave_up == 1
        assert (totals["failing"].operations, totals["failing"].failed) == (0, 100)
        assert totals["failing"].touch == "0" * 16
        assert [each.count for each in totals["failing"].failures] == [100]
        assert totals["reading"].failed == 0


def killed(subject: Subject) -> None:
    """What a runner killed in the middle had been promised stands on the shared counters, and is in the database."""
    with subject.talk(clients=2) as talk:
        talk.make_ledger(ROWS)
        talk.prepare_write(list(range(1, ROWS + 1)))
        with talk.groups(Group("write", clients=2, rows=ROWS)) as working:
            working.begin()
            working.wait(lambda: seen_of(working).operations >= 30)
            talk.runner.process.send_signal(signal.SIGKILL)
            assert processes.wait(talk.runner.process, PATIENCE_S)
            known, doubtful = working.shared_counters.acknowledged("group")
            told = seen_of(working).operations
    # Within one operation's records the counts by row come first.
    assert told <= int(known.sum()) <= told + 2
    assert int(doubtful.sum()) <= 2
    with subject.talk() as talk:
        stored = talk.ledger()
    for row, id_ in enumerate(range(1, ROWS + 1)):
        assert int(known[row]) <= stored[id_] <= int(known[row]) + int(doubtful[row])


def keep(subject: Subject) -> None:
    """`verify` keeps the codec's bytes of the rows of the digest."""
    with subject.talk() as talk:
        rows = [(id_, "é" * 50 * id_) for id_ in range(1, ROWS)]
        talk.run("DROP TABLE ledger", ignore_errors=True)
        talk.run("CREATE TABLE ledger (id INTEGER NOT NULL PRIMARY KEY, note VARCHAR(600) NOT NULL)")
        talk.run("INSERT INTO ledger VALUES " + ", ".join(f"({id_}, '{note}')" for id_, note in rows))
        reply, kept = talk.kept(subject.folder / "kept", "SELECT id, note FROM ledger ORDER BY id", (ID, NOTE))
        assert kept == [codec.encode_row(row, (ID, NOTE)) for row in rows]
        assert reply.digest == codec.digest(rows, (ID, NOTE))
        with pytest.raises(RunnerFailure) as refused:
            talk.kept(subject.folder / "no such folder" / "kept", "SELECT id, note FROM ledger", (ID, NOTE))
        assert refused.value.kind == "internal"


NULL: tuple[Case, ...] = (
    closed_counts,
    number_of_operations,
    pauses,
    fixed_arrivals,
    poisson_arrivals,
    due_instants,
    stalls_in_open_loop,
    refused_meanwhile,
)
LEDGER: tuple[Case, ...] = (reads_and_writes, touch, regions, failures, gives_up, killed, keep)


def name_of(case: Case) -> str:
    """For pytest's `ids`."""
    return case.__name__


def seen_of(working: Working, name: str = "group") -> Snapshot:
    return working.shared_counters.snapshot(name, time.monotonic_ns())


def slot(shared_counters: SharedCounters, client: int = 0) -> NDArray[np.uint64]:
    return slot_of(shared_counters, "group", client)


def agrees(working: Working, name: str, total: protocol.GroupTotal) -> Snapshot:
    """The last word of the shared counters on a group, which must be the reply's and the histograms' too."""
    seen = seen_of(working, name)
    group = next(group for group in working.groups if group.name == name)
    assert (seen.operations, seen.failed, seen.rows) == (total.operations, total.failed, total.rows)
    assert sum(each.operations for each in total.clients) == total.operations
    assert sum(each.failed for each in total.clients) == total.failed == sum(each.count for each in total.failures)
    assert seen.working == seen.under_way_ns == 0
    assert seen.done == group.clients
    assert seen.arrivals == (seen.operations + seen.failed if group.has_dues else 0)
    for counts, sum_ns, kept in (
        (seen.service, seen.service_ns, True),
        (seen.latency, seen.latency_ns, group.has_dues),
    ):
        assert int(counts.sum()) == (seen.operations if kept else 0)
        least, most = (
            sum(int(counts[index]) * bound(int(index)) for index in np.flatnonzero(counts))
            for bound in (histogram.lowest_of, histogram.highest_of)
        )
        assert least <= sum_ns <= most
    assert int(seen.lateness.sum()) <= seen.arrivals
    ended = [ended_ns for _begun_ns, ended_ns in working.shared_counters.spans(name)]
    assert max(ended) == total.ended_ns
    return seen


def _by_row(total: protocol.GroupTotal, rows: int) -> NDArray[np.int64]:
    """How often each parameter row was taken, from where each client began and how far it came."""
    counts = np.zeros(rows, dtype=np.int64)
    for client in total.clients:
        for i in range(client.operations + client.failed):
            counts[client.first + i % client.rows_of_its_own] += 1
    return counts


def exactly(subject: Subject, group: Group, window_ns: int, expected: int) -> None:
    """So many operations are due in the window: never more are begun, and all where nobody holds the client up."""
    # A busy machine may hold the last operations back until the end, and they are never begun: then try a new window.
    deadline = time.monotonic() + PATIENCE_S
    with subject.talk(clients=group.clients) as talk:
        talk.prepare_nothing()
        while time.monotonic() < deadline:
            with talk.groups(group) as working:
                working.set_end(working.begin() + window_ns)
                working.wait_until_done()
                total = working.end()["group"]
                seen = agrees(working, "group", total)
                assert seen.latency_ns >= seen.service_ns
                assert seen.arrivals <= expected
                if seen.arrivals == expected:
                    return
    raise AssertionError(f"{seen.arrivals} operations were begun of {expected} that were due")
