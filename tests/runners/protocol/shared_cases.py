"""Shared dispatch: what groups must do on every runner whose free clients take a group's next arrival.

As in group_cases.py, each case takes a subject and asserts; `NULL` are for a null adapter, `LEDGER` for one with SQL.
"""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from rowpath.model import histogram
from rowpath.runners.process import RunnerFailure
from tests.runners.protocol.group_cases import ROWS, Case, agrees, exactly, seen_of, slot
from tests.runners.protocol.group_talk import NOTHING, Group, Subject, Working, due_distances_s


def shared_arrivals(subject: Subject) -> None:
    """Any free client takes the next arrival of the group's one schedule: as many as are due, in the rows' order."""
    rate, window_ns, seed = 500.0, 200_000_000, 2**53 - 5
    fixed = int(np.ceil(window_ns / 1e9 * rate))
    dues = itertools.islice(itertools.accumulate(due_distances_s(seed, rate)), 1000)
    poisson = sum(1 for due in dues if due * 1e9 < window_ns)
    for pacing, expected in (("fixed", fixed), ("poisson", poisson)):
        shared = {"dispatch": "shared", "spin_ns": 100_000, "rate_per_s": rate, "seed": seed}
        exactly(subject, Group(NOTHING, clients=3, pacing=pacing, **shared), window_ns, expected)


def shared_due_instants(subject: Subject) -> None:
    """What is due stands in the one schedule of the group, computed from the protocol's text."""
    rate, looks = 100.0, 3
    with subject.talk(clients=2) as talk:
        talk.prepare_nothing()
        for pacing in ("fixed", "poisson"):
            group = Group(NOTHING, clients=2, pacing=pacing, rate_per_s=rate, seed=7, dispatch="shared")
            with talk.groups(group) as working:
                begun_ns = working.begin()
                seen: set[int] = set()

                def watch(working: Working = working, seen: set[int] = seen) -> bool:
                    seen |= {int(slot(working.shared_counters, client)[5]) for client in range(2)}
                    return len(seen - {0}) >= 2 * looks

                working.wait(watch)
                assert working.end()["group"].operations >= 2 * (looks - 1)
            distances = due_distances_s(7, rate)
            if pacing == "fixed":
                distances = itertools.chain([0.0], itertools.repeat(1 / rate))
            last_ns = max(seen) + 1e9
            instants = (begun_ns + due * 1e9 for due in itertools.accumulate(distances))
            dues = [*itertools.takewhile(lambda due_ns, last_ns=last_ns: due_ns < last_ns, instants)]
            assert all(min(abs(due - each) for due in dues) <= 2_000 for each in seen - {0})


def shared_by_free_clients(subject: Subject) -> None:
    """While one client is stalled for long the other does what arrives: hardly an arrival waits."""
    stall_ns, operations = 200_000_000, 80
    with subject.talk(clients=2, stall_ns=str(stall_ns), stall_every=str(operations // 2)) as talk:
        talk.prepare_nothing()
        group = Group(NOTHING, clients=2, pacing="fixed", rate_per_s=200.0, operations=operations // 2)
        group = replace(group, dispatch="shared")
        with talk.groups(group) as working:
            working.begin()
            working.wait_until_done()
            seen = agrees(working, "group", working.end()["group"])
        assert seen.operations == seen.arrivals == operations
        # A schedule for each client would let 20 of its own arrivals wait behind a stall in the middle.
        assert histogram.count_above(seen.latency, stall_ns // 4) <= operations // 8


def shared_callers(subject: Subject) -> None:
    """A population of callers in one queue: each waits for the others, and for a client."""
    stall_ns, population, clients, operations = 5_000_000, 6, 2, 15
    with subject.talk(clients=clients, stall_ns=str(stall_ns), stall_every="1") as talk:
        talk.prepare_nothing()
        shared = {"dispatch": "shared", "population": population}
        with talk.groups(Group(NOTHING, clients=clients, operations=operations, **shared)) as working:
            working.begin()
            working.wait_until_done()
            seen = agrees(working, "group", working.end()["group"])
        assert seen.operations == seen.arrivals == clients * operations
        # Every caller but the first few waits for (population - clients)/clients operations before its own.
        later = seen.operations - population
        assert histogram.count_above(seen.latency, (population // clients) * stall_ns - 1_000_000) >= later
        with talk.groups(Group(NOTHING, clients=clients, pause_ns=10**12, **shared)) as working:
            working.begin()
            working.wait(lambda: seen_of(working).operations == population)
            assert agrees(working, "group", working.end()["group"]).arrivals == population
        for wrong in ({"population": 1}, {"dispatch": "none"}):
            with pytest.raises(RunnerFailure), talk.groups(Group(NOTHING, clients=clients, **shared | wrong)):
                pass


def shared_rows(subject: Subject) -> None:
    """Arrivals take the parameter rows in turn, whoever does them: counts by row differ by one at most."""
    with subject.talk(clients=3) as talk:
        talk.make_ledger(ROWS)
        talk.prepare_write(list(range(1, ROWS + 1)))
        talk.prepare_read(list(range(1, ROWS + 1)))
        shared: dict[str, Any] = {"dispatch": "shared", "population": 4, "rows": ROWS}
        for phase in ("read", "write"):
            with talk.groups(Group(phase, clients=3, **shared)) as working:
                working.work_a_little()
                total = working.end()["group"]
                assert agrees(working, "group", total).operations > 0
                known, doubtful = working.shared_counters.acknowledged("group")
            rounds, rest = divmod(total.operations, ROWS)
            assert known.tolist() == [rounds + (row < rest) for row in range(ROWS)]
            assert doubtful.tolist() == [0] * ROWS
            assert [(each.first, each.rows_of_its_own) for each in total.clients] == [(0, ROWS)] * 3
            if phase == "read":
                assert int(total.touch, 16) == sum(int(count) * (row + 1) for row, count in enumerate(known))
        assert list(talk.ledger().values()) == known.tolist()


NULL: tuple[Case, ...] = (shared_arrivals, shared_due_instants, shared_by_free_clients, shared_callers)
LEDGER: tuple[Case, ...] = (shared_rows,)
