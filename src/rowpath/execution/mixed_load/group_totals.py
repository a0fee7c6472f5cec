"""What one group did in one stage, and what was due by then: the journal's `client-group`."""

from __future__ import annotations

import random
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rowpath.execution.mixed_load.shared_counters import Snapshot
from rowpath.execution.prepared_phases import PreparedPhase
from rowpath.journal.mixed_load_records import ClientGroupRecord, CountedFailure, GroupSecond
from rowpath.model import histogram
from rowpath.model.experiment import ClientGroupTable
from rowpath.planning import client_groups
from rowpath.runners.protocol import GroupTotal
from rowpath.text import printable
from rowpath.workloads.expected import Touches

REACHED_SHARE = 0.99
TAIL_S = 0.01  # of a stage, in which an operation that is due need not have ended; or as long as the longest took

_GAMMA = np.uint64(0x9E3779B97F4A7C15)


def due_before(pacing: str, rate_per_s: float, clients: int, seed: int, elapsed_ns: int, most: int = 0) -> int:
    """How many operations of a group are due before that time since its begin, by all of its clients together.

    `most`: of each client; 0: no limit. runners/PROTOCOL.md defines how they are drawn.
    """
    if elapsed_ns <= 0:
        return 0
    counts = [_due_of_one(pacing, rate_per_s, clients, seed, number, elapsed_ns) for number in range(clients)]
    return sum(min(count, most) if most else count for count in counts)


def reached(operations: int, due: int, due_in_tail: int) -> bool:
    """Whether a rate was reached: of the operations due before the stage's tail 99 % have succeeded."""
    return operations >= REACHED_SHARE * (due - due_in_tail)


def _due_of_one(pacing: str, rate_per_s: float, clients: int, seed: int, number: int, elapsed_ns: int) -> int:
    distance_ns = clients / rate_per_s * 1e9
    if pacing == "fixed":
        return max(0, int(np.ceil((elapsed_ns - number / clients * distance_ns) / distance_ns)))
    state = (seed + number) % (1 << 64)
    counted, reached_ns = 0, 0.0
    size = int(elapsed_ns / distance_ns * 1.1) + 64
    while True:
        sums = reached_ns + np.cumsum(_distances(state, counted, size) * distance_ns)
        within = int(np.searchsorted(sums, elapsed_ns))
        counted += within
        if within < size:
            return counted
        reached_ns = float(sums[-1])


def _distances(seed: int, first: int, count: int) -> NDArray[np.float64]:
    """Exponential draws `[first, first + count)` with mean 1, from SplitMix64 (Steele, Lea, Flood 2014)."""
    with np.errstate(over="ignore"):
        mixed = np.uint64(seed) + np.arange(first + 1, first + count + 1, dtype=np.uint64) * _GAMMA
        mixed = (mixed ^ mixed >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ mixed >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
        mixed ^= mixed >> np.uint64(31)
    return -np.log1p(-(mixed >> np.uint64(11)).astype(np.float64) / 2**53)


@dataclass(frozen=True)
class Member:
    """A group with an operation as one stage has it; `touches` None: what it delivers is not compared."""

    table: ClientGroupTable
    work: PreparedPhase
    clients: int
    rate_per_s: float = 0.0
    seed: int = 0
    touches: Touches | None = None
    hosts: int = 1  # over which its clients are spread

    @property
    def name(self) -> str:
        """The group's name."""
        return self.table.name

    @property
    def open_loop(self) -> bool:
        """Whether its operations are due at times of their own."""
        return self.table.pacing != "closed"

    @property
    def counted_rows(self) -> int:
        """Parameter rows whose acknowledged operations are counted; 0: none."""
        return self.work.parameter_count if self.work.phase.counted else 0


def seed_of(seed: int, where: str) -> int:
    """The seed of a Poisson schedule: the same for the same run and place."""
    return random.Random(f"{seed}/{where}").getrandbits(48)


def figures(now: Snapshot, before: Snapshot | None, has_dues: bool) -> GroupSecond:
    """What a group did between two snapshots (None: since its begin), as a `second` record has it."""
    done = now.since(before)
    counts, spent_ns = (done.latency, done.latency_ns) if has_dues else (done.service, done.service_ns)
    used = np.flatnonzero(counts)
    return GroupSecond(
        operations=done.operations,
        failed=done.failed,
        rows=done.rows,
        arrivals=done.arrivals,
        mean_ns=spent_ns / done.operations if done.operations else None,
        p50_ns=histogram.percentile(counts, 50),
        p99_ns=histogram.percentile(counts, 99),
        most_ns=histogram.highest_of(int(used[-1])) if len(used) else None,
        under_way_ns=now.under_way_ns,
    )


def group_record(
    member: Member, total: GroupTotal | None, last: Snapshot, span: tuple[int, int, int], zero_ns: int
) -> ClientGroupRecord:
    """As the journal has it, without its stage; `total` None: the runner was lost, the shared counters remain.

    `span`: when it began and last ended something on the counters, and the stage's end; `zero_ns`: when the run began.
    """
    begun_ns, ended_ns, end_ns = span
    operations, failed = (total.operations, total.failed) if total else (last.operations, last.failed)
    first_ns = total.begun_ns if total and total.begun_ns else begun_ns
    last_ns = total.ended_ns if total and total.ended_ns else ended_ns
    if member.open_loop and not member.table.times:
        last_ns = max(last_ns, end_ns)  # on duty until then: what it did not begin must not raise its rate
    longest_ns = figures(last, None, has_dues=False).most_ns or 0
    record = ClientGroupRecord(
        client_group=member.name,
        phase=member.table.phase,
        clients=member.clients,
        pacing=member.table.pacing,
        requested_per_s=member.rate_per_s if member.open_loop else None,
        dispatch=member.table.dispatch,
        population=member.table.population,
        begun_ns=first_ns - zero_ns,
        ended_ns=max(last_ns, first_ns) - zero_ns,
        operations=operations,
        failed=failed,
        failures=[
            CountedFailure(failure.kind, printable(failure.code), printable(failure.text), failure.count)
            for failure in (total.failures if total else [])
        ],
        rows=total.rows if total else last.rows,
        values=total.values if total else None,
        touch_ok=_touch_ok(member, total),
        service=histogram.encode(last.service),
        latency=histogram.encode(last.latency),
        lateness=histogram.encode(last.lateness),
        arrivals=last.arrivals,
        cpu_ns=total.cpu_ns if total else None,
        blocked_ns=last.blocked_ns,
        borrow_ns=last.borrow_ns,
        return_ns=last.return_ns,
        # One client's longest operation is exactly the group's longest stall; of several clients the looks find it.
        longest_stall_ns=longest_ns if member.clients == 1 else 0,
    )
    if member.open_loop:
        elapsed_ns = max(0, end_ns - begun_ns) if begun_ns else 0
        due = _due(member, elapsed_ns)
        # What an operation may still have under way at the end: latency would excuse an overloaded engine's queue.
        tail_ns = min(max(int(TAIL_S * 1e9), longest_ns), elapsed_ns // 20)
        record.not_begun = max(0, due - last.arrivals)
        record.reached = reached(operations, due, due - _due(member, elapsed_ns - tail_ns))
    return record


def _due(member: Member, elapsed_ns: int) -> int:
    """Operations of all its clients that were due by then, each host with its own schedule."""
    if member.table.dispatch == "shared":  # one schedule, on one host
        most = member.table.times * member.clients
        return due_before(member.table.pacing, member.rate_per_s, 1, member.seed, elapsed_ns, most)
    shares = client_groups.shares(member.clients, member.rate_per_s, member.seed, range(member.hosts))
    later_ns = (client_groups.later_ns(member.table.pacing, member.rate_per_s, number) for number in shares)
    return sum(
        due_before(
            member.table.pacing, share.rate_per_s, share.clients, share.seed, elapsed_ns - late, member.table.times
        )
        for share, late in zip(shares.values(), later_ns, strict=True)
    )


def _touch_ok(member: Member, total: GroupTotal | None) -> bool | None:
    if total is None or total.failed or member.touches is None:
        return None
    regions = [(client.first, client.rows_of_its_own, client.operations) for client in total.clients]
    if member.table.dispatch == "shared":  # arrivals take the rows in turn, whoever has done them
        regions = [(0, max(1, member.work.parameter_count), total.operations)]
    expected = member.touches.expected_in_regions(regions)
    return None if expected is None else int(total.touch, 16) in expected
