"""What one group did in one stage, from the runner's reply and the shared counters: the journal's `client-group`."""

from __future__ import annotations

import random
from dataclasses import dataclass

import numpy as np

from rowpath.execution.mixed_load import pacing
from rowpath.execution.mixed_load.shared_counters import Snapshot
from rowpath.execution.prepared_phases import PreparedPhase
from rowpath.journal.mixed_load_records import ClientGroupRecord, CountedFailure, GroupSecond
from rowpath.model import histogram
from rowpath.model.experiment import ClientGroupTable
from rowpath.planning import client_groups
from rowpath.runners.protocol import GroupTotal
from rowpath.text import printable
from rowpath.workloads.expected import Touches


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


def figures(now: Snapshot, before: Snapshot | None, open_loop: bool) -> GroupSecond:
    """What a group did between two snapshots (None: since its begin), as a `second` record has it."""
    done = now.since(before)
    counts, spent_ns = (done.latency, done.latency_ns) if open_loop else (done.service, done.service_ns)
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
    # One client's longest operation is exactly the group's longest stall; of several clients the looks find it.
    stall = (figures(last, None, open_loop=False).most_ns or 0) if member.clients == 1 else 0
    record = ClientGroupRecord(
        client_group=member.name,
        phase=member.table.phase,
        clients=member.clients,
        pacing=member.table.pacing,
        requested_per_s=member.rate_per_s if member.open_loop else None,
        begun_ns=first_ns - zero_ns,
        ended_ns=max(last_ns, first_ns) - zero_ns,
        operations=operations,
        failed=failed,
        failures=_failures(total),
        rows=total.rows if total else last.rows,
        values=total.values if total else None,
        touch_ok=_touch_ok(member, total),
        service=histogram.encode(last.service),
        latency=histogram.encode(last.latency),
        lateness=histogram.encode(last.lateness),
        arrivals=last.arrivals,
        cpu_ns=total.cpu_ns if total else None,
        longest_stall_ns=stall,
    )
    if member.open_loop:
        elapsed_ns = max(0, end_ns - begun_ns) if begun_ns else 0
        record.not_begun, record.reached = _arrived(member, operations, last, elapsed_ns)
    return record


def _failures(total: GroupTotal | None) -> list[CountedFailure]:
    return [
        CountedFailure(each.kind, printable(each.code), printable(each.text), each.count)
        for each in (total.failures if total else [])
    ]


def _arrived(member: Member, operations: int, last: Snapshot, elapsed_ns: int) -> tuple[int, bool]:
    """Operations that were due and never begun, and whether the rate was reached."""
    due = _due(member, elapsed_ns)
    # What a single operation may still have under way at the end: latency would excuse an overloaded engine's queue.
    longest_ns = figures(last, None, open_loop=False).most_ns or 0
    tail_ns = min(max(int(pacing.TAIL_S * 1e9), longest_ns), elapsed_ns // 20)
    before_tail = _due(member, elapsed_ns - tail_ns)
    return max(0, due - last.arrivals), pacing.reached(operations, due, due - before_tail)


def _due(member: Member, elapsed_ns: int) -> int:
    """Operations of all its clients that were due by then, each host with its own schedule."""
    shares = client_groups.shares(member.clients, member.rate_per_s, member.seed, range(member.hosts))
    later_ns = (client_groups.later_ns(member.table.pacing, member.rate_per_s, each) for each in shares)
    return sum(
        pacing.due_before(
            member.table.pacing, share.rate_per_s, share.clients, share.seed, elapsed_ns - late, member.table.times
        )
        for share, late in zip(shares.values(), later_ns, strict=True)
    )


def _touch_ok(member: Member, total: GroupTotal | None) -> bool | None:
    if total is None or total.failed or member.touches is None:
        return None
    regions = [(client.first, client.rows_of_its_own, client.operations) for client in total.clients]
    expected = member.touches.expected_in_regions(regions)
    return None if expected is None else int(total.touch, 16) in expected
