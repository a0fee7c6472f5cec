"""The calls of both sides of a path's connections as round trips: a request, its answer, and who did what meanwhile."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import NamedTuple

from rowpath.machine.counters.call_stamps import Call, Kind

LEAST_BESIDE = 0.05  # of the sends of the busiest connection: one that has fewer is no part of the operations
MOST_OVERLAPPING = 0.01  # of the round trips: where more are under way at once, there is no one order of hops
NOT_STAMPED = "the {side} sends without the C library, so none of its calls was stamped"


class Unknown(Exception):
    """Why the hops of a path are not known, in words for the user."""


@dataclass
class Endpoint:
    """One side's calls on a connection, and all calls of the threads that made them, in order."""

    sends: list[Call] = field(default_factory=list)
    receipts: list[Call] = field(default_factory=list)
    cores: list[Call] = field(default_factory=list)  # after receipts by IP: whether it came from the receiver's core
    threads: dict[int, list[Call]] = field(default_factory=dict)

    def awaited(self, receipt: Call) -> Call:
        """The call that waited for what was received: the one before it of its thread where that waited, else it."""
        calls = self.threads[receipt.thread]
        at = bisect_left(calls, receipt)
        before = calls[at - 1] if at else receipt
        return before if before.kind == Kind.WAITED and before.result > 0 else receipt

    def next_wait_ns(self, sent: Call) -> int:
        """When the thread that sent this called again to receive or to wait; its end where it did not."""
        calls = self.threads[sent.thread]
        after = (calls[at] for at in range(bisect_left(calls, sent) + 1, len(calls)))
        return next((call.enter_ns for call in after if call.kind not in (Kind.SENT, Kind.CLOCK)), sent.exit_ns)

    def same_core(self, receipt: Call) -> bool | None:
        """Whether what was received came from the receiver's own core; None where the kernel does not say."""
        at = bisect_left(self.cores, receipt.exit_ns, key=lambda call: call.enter_ns)
        found = self.cores[at] if at < len(self.cores) else None
        return None if found is None or found.enter_ns != receipt.exit_ns else bool(found.result)

    def inside_until_ns(self, at_ns: int) -> int:
        """When the call ends that was under way then; 0 where none was."""
        for calls in self.threads.values():
            at = bisect_left(calls, at_ns, key=lambda call: call.enter_ns) - 1
            if at >= 0 and calls[at].exit_ns > at_ns:
                return calls[at].exit_ns
        return 0


class Name(NamedTuple):
    """A connection as one process knows it."""

    process: int
    descriptor: int


@dataclass
class Trip:
    """One request and its answer, as each side's calls had it. `server`: None where its calls are not seen.

    `behind`: what a pooler, which is the `server` then, asked the real one for it; None without a pooler.
    """

    client: Endpoint
    server: Endpoint | None
    sends: list[Call]
    receipts: list[Call] = field(default_factory=list)
    server_receipts: list[Call] = field(default_factory=list)
    server_sends: list[Call] = field(default_factory=list)
    behind: list[Trip] | None = None


def round_trips(client: Sequence[Call], server: Sequence[Call] | None) -> list[Trip]:
    """All round trips in their order, over whichever connection; without a server's calls of the client only.

    Errors: Unknown, also where connections are at work at once.
    """
    return _of_names(_at_work(client), client, server)


def made_for(trips: Sequence[Trip], pooler: Sequence[Call], server: Sequence[Call]) -> list[Trip]:
    """The round trips of a client to a pooler, each with those that the pooler then made to the server.

    Errors: Unknown.
    """
    to_server = [name for name in _at_work(pooler, least=0.0) if _matching(pooler, name, server)]
    if not to_server:
        raise Unknown("no connection of the pooler to the server was stamped")
    begins = [trip.sends[0].enter_ns for trip in trips]
    behind: list[list[Trip]] = [[] for _trip in trips]
    for inner in _of_names(to_server, pooler, server):
        at = bisect_right(begins, inner.sends[0].enter_ns) - 1
        if at >= 0:
            behind[at].append(inner)
    return [replace(trip, behind=made) for trip, made in zip(trips, behind, strict=True)]


def _of_names(names: Sequence[Name], client: Sequence[Call], server: Sequence[Call] | None) -> list[Trip]:
    if not names:
        raise Unknown(NOT_STAMPED.format(side="client"))
    ends = _endpoints(server, _at_work(server, least=0.0)) if server is not None else {}
    trips: list[Trip] = []
    for name, endpoint in _endpoints(client, names).items():
        of_connection: list[Trip] = []
        for call in sorted((*endpoint.sends, *endpoint.receipts)):
            if call.kind == Kind.SENT and (not of_connection or of_connection[-1].receipts):
                of_connection.append(Trip(endpoint, None, []))
            if of_connection:
                latest = of_connection[-1]
                (latest.sends if call.kind == Kind.SENT else latest.receipts).append(call)
        if server is not None:
            _add_server(of_connection, [ends[there] for there in _peers(client, name, server) if there in ends])
        trips += of_connection
    trips = sorted((trip for trip in trips if trip.receipts), key=lambda trip: trip.sends[0])
    overlapping = sum(after.sends[0].enter_ns < before.receipts[-1].exit_ns for before, after in pairwise(trips))
    if overlapping > MOST_OVERLAPPING * len(trips):
        raise Unknown("several connections are at work at once")
    return trips


def _peers(client: Sequence[Call], name: Name, server: Sequence[Call]) -> list[Name]:
    """The server's ends that may be of the client's connection; all where none fits: an emulated link is between."""
    return _matching(client, name, server) or [
        Name(call.process, call.descriptor) for call in server if call.kind == Kind.CONNECTION
    ]


def _matching(client: Sequence[Call], name: Name, server: Sequence[Call]) -> list[Name]:
    """The server's ends of the client's connection, by ports or by the process that made it."""
    made = (call for call in client if call.kind == Kind.CONNECTION and Name(call.process, call.descriptor) == name)
    if (connected := next(made, None)) is None:
        return []
    # Ports, in turn; of a unix socket 0 and the client's process.
    there = (connected.exit_ns, connected.enter_ns) if connected.enter_ns else (0, name.process)
    ends = {Name(call.process, call.descriptor): call for call in server if call.kind == Kind.CONNECTION}
    return [other for other, end in ends.items() if (end.enter_ns, end.exit_ns) == there]


def _add_server(trips: Sequence[Trip], candidates: Sequence[Endpoint]) -> None:
    """Give each round trip what the server did before the next one began. Errors: Unknown.

    Of several ends it is that which sends while the client waits.
    """
    if not candidates:
        raise Unknown(NOT_STAMPED.format(side="server"))
    begins = [trip.sends[0].enter_ns for trip in trips]

    def trips_at(at_ns: int) -> Sequence[Trip]:
        """The round trip that was the latest then, if there was one."""
        after = bisect_left(begins, at_ns)
        return trips[max(0, after - 1) : after]

    def answers(end: Endpoint) -> int:
        """How many of its sends lie inside a round trip."""
        latest = ((call, trip) for call in end.sends for trip in trips_at(call.enter_ns) if trip.receipts)
        return sum(call.enter_ns < trip.receipts[-1].exit_ns for call, trip in latest)

    server = max(candidates, key=answers)
    for trip in trips:
        trip.server = server
    for call in server.receipts:
        for trip in trips_at(call.exit_ns):
            trip.server_receipts.append(call)
    for call in server.sends:
        for trip in trips_at(call.enter_ns):
            trip.server_sends.append(call)


def _endpoints(calls: Sequence[Call], names: Iterable[Name]) -> dict[Name, Endpoint]:
    """The calls on each of these connections."""
    ends = {name: Endpoint() for name in names}
    threads: dict[int, list[Call]] = {}
    for call in calls:
        end = ends.get(Name(call.process, call.descriptor))
        if call.kind == Kind.CORES:
            if end is not None:
                end.cores.append(call)
            continue
        if call.kind != Kind.CONNECTION and (call.result > 0 or call.kind >= Kind.WAITED):
            threads.setdefault(call.thread, []).append(call)
        if end is not None and call.result > 0 and call.kind in (Kind.SENT, Kind.RECEIVED):
            (end.sends if call.kind == Kind.SENT else end.receipts).append(call)
    for end in ends.values():
        end.threads = {call.thread: threads[call.thread] for call in (*end.sends, *end.receipts)}
    return ends


def _at_work(calls: Sequence[Call], least: float = LEAST_BESIDE) -> list[Name]:
    """The connections on which something was sent, at least that share of what the busiest sent."""
    sent = (call for call in calls if call.kind == Kind.SENT and call.result > 0)
    sends = Counter(Name(call.process, call.descriptor) for call in sent)
    return [name for name, count in sends.items() if count >= least * max(sends.values())]
