"""From the stamped calls of a client, and of its server where that is ours, to the round trips of its connections.

Both sides read one clock, so their calls need no pairing but that of the connection: what the server receives between
two requests of the client belongs to the first of them.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
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
        at = bisect_left(calls, sent) + 1
        while at < len(calls) and calls[at].kind in (Kind.SENT, Kind.CLOCK):
            at += 1
        return calls[at].enter_ns if at < len(calls) else sent.exit_ns

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
    """One request and its answer, as each side's calls had it. `server`: None where its calls are not seen."""

    client: Endpoint
    server: Endpoint | None
    sends: list[Call]
    receipts: list[Call] = field(default_factory=list)
    server_receipts: list[Call] = field(default_factory=list)
    server_sends: list[Call] = field(default_factory=list)


def round_trips(client: Sequence[Call], server: Sequence[Call] | None) -> list[Trip]:
    """All round trips in their order, over whichever connection; without a server's calls of the client only.

    Errors: Unknown, also where connections are at work at once.
    """
    names = _at_work(client)
    if not names:
        raise Unknown(NOT_STAMPED.format(side="client"))
    ends = _endpoints(server, _at_work(server, least=0.0)) if server is not None else {}
    found: list[Trip] = []
    for name, endpoints in _endpoints(client, names).items():
        trips = _of_connection(endpoints)
        if server is not None:
            _add_server(trips, {there: ends[there] for there in _peers(client, name, server) if there in ends})
        found += trips
    found = sorted((trip for trip in found if trip.receipts), key=lambda trip: trip.sends[0])
    overlapping = sum(after.sends[0].enter_ns < before.receipts[-1].exit_ns for before, after in pairwise(found))
    if overlapping > MOST_OVERLAPPING * len(found):
        raise Unknown("several connections are at work at once")
    return found


def _endpoints(calls: Sequence[Call], names: Iterable[Name]) -> dict[Name, Endpoint]:
    """The calls on each of these connections."""
    found = {name: Endpoint() for name in names}
    threads: dict[int, list[Call]] = {}
    for call in calls:
        if call.kind != Kind.CONNECTION and (call.result > 0 or call.kind >= Kind.WAITED):
            threads.setdefault(call.thread, []).append(call)
        end = found.get(Name(call.process, call.descriptor))
        if end is not None and call.result > 0 and call.kind in (Kind.SENT, Kind.RECEIVED):
            (end.sends if call.kind == Kind.SENT else end.receipts).append(call)
    for end in found.values():
        end.threads = {call.thread: threads[call.thread] for call in (*end.sends, *end.receipts)}
    return found


def _at_work(calls: Sequence[Call], least: float = LEAST_BESIDE) -> list[Name]:
    """The connections on which something was sent, at least that share of what the busiest sent."""
    sends: dict[Name, int] = {}
    for call in calls:
        if call.kind == Kind.SENT and call.result > 0:
            name = Name(call.process, call.descriptor)
            sends[name] = sends.get(name, 0) + 1
    return [name for name, count in sends.items() if count >= least * max(sends.values())]


def _peers(client: Sequence[Call], name: Name, server: Sequence[Call]) -> list[Name]:
    """The server's ends that may be of the client's connection, by ports or by the process that made it.

    All where none fits: an emulated link stands between.
    """
    ends = {Name(call.process, call.descriptor): call for call in server if call.kind == Kind.CONNECTION}
    connected = next(
        (one for one in client if one.kind == Kind.CONNECTION and Name(one.process, one.descriptor) == name), None
    )
    if connected is None:
        return list(ends)
    unix = not connected.enter_ns
    fitting = [
        other
        for other, end in ends.items()
        if (unix and not end.enter_ns and end.exit_ns == name.process)
        or (not unix and (end.enter_ns, end.exit_ns) == (connected.exit_ns, connected.enter_ns))
    ]
    return fitting or list(ends)


def _of_connection(client: Endpoint) -> list[Trip]:
    """The client's calls on a connection as round trips."""
    found: list[Trip] = []
    for call in sorted((*client.sends, *client.receipts)):
        if call.kind == Kind.SENT and (not found or found[-1].receipts):
            found.append(Trip(client, None, [call]))
        elif found:
            (found[-1].sends if call.kind == Kind.SENT else found[-1].receipts).append(call)
    return found


def _add_server(trips: Sequence[Trip], candidates: dict[Name, Endpoint]) -> None:
    """Give each round trip what the server did before the next one began. Errors: Unknown.

    Of several ends it is that which sends while the client waits.
    """
    if not candidates:
        raise Unknown(NOT_STAMPED.format(side="server"))
    begins = [trip.sends[0].enter_ns for trip in trips]

    def answers(end: Endpoint) -> int:
        """How many of its sends lie inside a round trip."""
        at = [bisect_left(begins, call.enter_ns) - 1 for call in end.sends]
        inside = zip(end.sends, at, strict=True)
        return sum(
            where >= 0 and bool(trips[where].receipts) and call.enter_ns < trips[where].receipts[-1].exit_ns
            for call, where in inside
        )

    server = max(candidates.values(), key=answers) if len(candidates) > 1 else next(iter(candidates.values()))
    for trip in trips:
        trip.server = server
    for call in server.receipts:
        if (at := bisect_left(begins, call.exit_ns) - 1) >= 0:
            trips[at].server_receipts.append(call)
    for call in server.sends:
        if (at := bisect_left(begins, call.enter_ns) - 1) >= 0:
            trips[at].server_sends.append(call)
