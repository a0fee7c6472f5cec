"""From the round trips of a client's connections to the hops of an operation.

A receiver that waits has its message when its call returns. One that does not wait yet is late: then the message waits
for it, and that time is the receiver's own.
"""

from __future__ import annotations

import math
import statistics
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice, pairwise, takewhile
from typing import NamedTuple

from rowpath.machine.counters.call_stamps import Call, Kind
from rowpath.model.explanation import Hop, Hops, RoundTrip, Where
from rowpath.text import count

LEAST_BESIDE = 0.05  # of the sends of the busiest connection: one that has fewer is no part of the operations
MOST_OVERLAPPING = 0.01  # of the round trips: where more are under way at once, there is no one order of hops
NOT_STAMPED = "the {side} sends without the C library, so none of its calls was stamped"
SHOWN_TRIPS = 6  # more round trips of an operation are folded, after the first five
BETWEEN, TAKES = "takes rows, prepares the next", "takes rows"
AWAY, MORE = "there, at the server, and back", "more messages"
MEANWHILE = "the client takes rows in between"
ORDER: list[tuple[Where, str]] = [
    ("client", "prepares"),
    ("client", BETWEEN),
    ("client", "sends"),
    ("to server", AWAY),
    ("to server", "on the way to the server"),
    ("server", "works"),
    ("server", "sends"),
    ("to client", "on the way to the client"),
    ("both", MEANWHILE),
    ("both", MORE),
    ("client", TAKES),
]  # of a round trip
MOST_ODD = 0.01  # of the operations: where more have not one reading of the clock between them, its place is not known
LEAST_FITTING = 0.5  # of the operations: what is left of fewer is no fair choice
Step = tuple[Where, str, float]  # until when: each begins where the one before it ended
Interval = tuple[Where, str, float, float]  # from when until when
SteppedOperation = list[list[Interval]]  # by round trip and its steps; the first begins with it


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
        after = (calls[at] for at in range(bisect_left(calls, sent) + 1, len(calls)))
        return next((call.enter_ns for call in after if call.kind not in (Kind.SENT, Kind.CLOCK)), sent.exit_ns)

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
    """The server's ends that may be of the client's connection, by ports or by the process that made it.

    All where none fits: an emulated link stands between.
    """
    ends = {Name(call.process, call.descriptor): call for call in server if call.kind == Kind.CONNECTION}
    made = (call for call in client if call.kind == Kind.CONNECTION and Name(call.process, call.descriptor) == name)
    if (connected := next(made, None)) is None:
        return list(ends)
    # Ports, in turn; of a unix socket 0 and the client's process.
    there = (connected.exit_ns, connected.enter_ns) if connected.enter_ns else (0, name.process)
    return [other for other, end in ends.items() if (end.enter_ns, end.exit_ns) == there] or list(ends)


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
        if call.kind != Kind.CONNECTION and (call.result > 0 or call.kind >= Kind.WAITED):
            threads.setdefault(call.thread, []).append(call)
        end = ends.get(Name(call.process, call.descriptor))
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


def steps(trip: Trip, *, one_core: bool) -> list[Step] | None:
    """The steps of a round trip after the client has prepared; None where a side's calls do not fit together.

    On one core a sender keeps it until it waits: what it does until then is its own step, not the message's way.
    """
    client, server = trip.client, trip.server
    first = client.awaited(trip.receipts[0])
    requests = [send for send in trip.sends if send.enter_ns < first.exit_ns]
    if not requests:
        return None
    if server is None:
        sent_ns = max(requests[-1].exit_ns, min(first.enter_ns, first.exit_ns))
        begin: list[Step] = [("client", "sends", sent_ns), ("to server", AWAY, first.exit_ns)]
        return begin + _rest(trip, first.exit_ns, len(trip.receipts))
    if not trip.server_sends or not trip.server_receipts:
        return None
    answer = trip.server_sends[0]
    heard = [server.awaited(receipt) for receipt in trip.server_receipts if receipt.exit_ns <= answer.enter_ns]
    sent = [send for send in requests if send.enter_ns < answer.enter_ns]
    if not heard or not sent:
        return None
    left_ns, there_ns = _way(sent[-1], heard, client, server, one_core=one_core)
    if len(sent) > 1:  # the request is there with its last part
        there_ns = max(there_ns, heard[-1].exit_ns)
    waits = (client.awaited(receipt) for receipt in trip.receipts)
    first = next((wait for wait in waits if wait.exit_ns > answer.enter_ns), first)
    answered_ns, here_ns = _way(answer, [first], server, client, one_core=one_core)
    begin = [
        ("client", "sends", left_ns),
        ("to server", "on the way to the server", there_ns),
        ("server", "works", answer.enter_ns),
        ("server", "sends", answered_ns),
        ("to client", "on the way to the client", here_ns),
    ]
    return begin + _rest(trip, here_ns, len(trip.server_sends))


def _way(
    sent: Call, waits: Sequence[Call], sender: Endpoint, receiver: Endpoint, *, one_core: bool
) -> tuple[float, float]:
    """When a message left its sender, and when its receiver had it; the same where no receiver was ready for it.

    One that lost the core inside a call is ready: it could do nothing before that call ended.
    """
    waiting = [wait for wait in waits if wait.exit_ns > sent.enter_ns and wait.enter_ns < sent.exit_ns]
    kept_ns = max(sent.exit_ns, sender.next_wait_ns(sent)) if one_core else sent.exit_ns
    if waiting:
        return min(kept_ns, waiting[-1].exit_ns), waiting[-1].exit_ns
    late = next((wait for wait in waits if wait.enter_ns >= sent.exit_ns), None)
    if late is None:
        return sent.exit_ns, sent.exit_ns
    left_ns = min(kept_ns, late.enter_ns)
    ready_ns = receiver.inside_until_ns(sent.exit_ns) if one_core else 0
    return left_ns, max(left_ns, min(ready_ns, late.enter_ns))


def _rest(trip: Trip, from_ns: float, messages: int) -> list[Step]:
    """The steps of the messages after the first, none where there is one: what the client did, and all the rest."""
    until_ns = trip.receipts[-1].exit_ns
    if messages < 2 or until_ns <= from_ns:
        return []
    calls = trip.client.threads[trip.receipts[-1].thread]
    after = (calls[at] for at in range(bisect_left(calls, trip.receipts[0]), len(calls)))
    meanwhile = takewhile(lambda call: call.enter_ns < until_ns, after)
    inside_ns = sum((max(0.0, call.exit_ns - max(from_ns, call.enter_ns)) for call in meanwhile), 0.0)
    return [("both", MEANWHILE, max(from_ns, until_ns - inside_ns)), ("both", MORE, until_ns)]


def _ns(trips: SteppedOperation) -> float:
    """How long an operation took, or some of its round trips."""
    return trips[-1][-1][3] - trips[0][0][2]


def hops(
    client_calls: Sequence[Call],
    server_calls: Sequence[Call] | None,
    blocks: Sequence[int],
    *,
    one_core: bool,
    stamping_share: float,
    pipeline: int = 1,
) -> Hops:
    """The hops of blocks of `operations`, or pipelines of `pipeline` operations. Errors: Unknown.

    Without a server's calls those of the client only.
    """
    trips = round_trips(client_calls, server_calls)
    operations = sum(blocks)
    size = len(trips) // max(1, operations)
    if not size or len(trips) % operations:
        what = (
            f"{count(operations)} {'operations' if pipeline == 1 else 'pipelines'} had {count(len(trips))} round trips"
        )
        raise Unknown(f"{what}: their number per operation varies")
    by_operation = iter([trips[at : at + size] for at in range(0, len(trips), size)])
    together = [list(islice(by_operation, block)) for block in blocks]
    borders = [_borders(block) for block in together]
    if any(border is None for border in borders):
        borders = [None] * len(together)
    stepped: list[SteppedOperation] = []
    for block, border in zip(together, borders, strict=True):
        stepped += _operations(block, border, one_core=one_core)
    if len(stepped) < LEAST_FITTING * operations:
        raise Unknown(f"the calls of only {count(len(stepped))} of {count(operations)} operations fit together")
    example = trips[len(trips) // 2 // size * size :][:size]
    slowest = max(stepped, key=_ns)
    shown = size if size <= SHOWN_TRIPS else SHOWN_TRIPS - 1
    folded = size - shown
    rest = [_ns(operation[shown:]) for operation in stepped] if folded else []
    return Hops(
        len(stepped),
        *_spread(map(_ns, stepped)),
        tuple(_round_trip(number, example[number], stepped, slowest) for number in range(shown)),
        folded,
        statistics.median(rest) / folded if folded else 0.0,
        server_calls is not None,
        one_core,
        stamping_share,
        pipeline,
    )


def _operations(
    together: Sequence[Sequence[Trip]], borders: Sequence[int | None] | None, *, one_core: bool
) -> Iterator[SteppedOperation]:
    """The operations of a block whose calls fit together and whose ends are known."""
    before_ns = float(together[0][0].sends[0].enter_ns) if len(together) == 1 else None  # else of no operation
    for number, trips in enumerate(together):
        stepped = [steps(trip, one_core=one_core) for trip in trips]
        begin_ns, end_ns = (before_ns, None) if borders is None else borders[number : number + 2]
        before_ns = stepped[-1][-1][2] if stepped[-1] is not None else None
        if begin_ns is not None and (borders is None or end_ns is not None):
            operation = _operation(trips, stepped, begin_ns, end_ns)
            if operation is not None:
                yield operation


def _round_trip(number: int, trip: Trip, stepped: list[SteppedOperation], slowest: SteppedOperation) -> RoundTrip:
    times: dict[tuple[Where, str], list[float]] = {}
    for operation in stepped:
        for where, name, begin_ns, end_ns in operation[number]:
            times.setdefault((where, name), []).append(end_ns - begin_ns)
    slow = {(where, name): end_ns - begin_ns for where, name, begin_ns, end_ns in slowest[number]}
    for of_hop in times.values():
        of_hop.extend([0.0] * (len(stepped) - len(of_hop)))  # an answer may be of one message, or of more
    of_hops = (Hop(*key, *_spread(times[key]), slow.get(key, 0.0)) for key in sorted(times, key=ORDER.index))
    wholes = _spread(_ns([operation[number]]) for operation in stepped)
    sent, received = (sum(call.result for call in calls) for calls in (trip.sends, trip.receipts))
    return RoundTrip(tuple(of_hops), sent, received, len(trip.server_sends or trip.receipts), *wholes)


def _borders(together: Sequence[Sequence[Trip]]) -> list[int | None] | None:
    """When each operation began and the last one ended: the loop reads the clock once between two.

    None where something else reads it there too, so that the loop's reading is not known.
    """
    first_send = together[0][0].sends[0]
    thread = together[0][0].client.threads[first_send.thread]
    clocks = [call.enter_ns for call in thread if call.kind == Kind.CLOCK]
    borders: list[int | None] = []
    for before, after in zip((None, *together), (*together, None), strict=True):
        first = bisect_left(clocks, before[-1].receipts[-1].exit_ns) if before else 0
        last = bisect_left(clocks, after[0].sends[0].enter_ns) if after else len(clocks)
        inside = clocks[first:last]
        outside = before is None or after is None  # of all operations: there it may be read more often
        borders.append(inside[0 if before else -1] if inside and (outside or len(inside) == 1) else None)
    odd = sum(border is None for border in borders)
    return borders if odd <= 2 + MOST_ODD * len(borders) else None


def _operation(
    trips: Sequence[Trip], stepped: Sequence[list[Step] | None], begin_ns: float, end_ns: float | None
) -> SteppedOperation | None:
    """One operation; without its end known it ends with its last message. None where its calls do not fit together."""
    intervals: SteppedOperation = []
    at_ns = begin_ns
    for number, (trip, after) in enumerate(zip(trips, stepped, strict=True)):
        if after is None:
            return None
        begun: Step = ("client", BETWEEN if number or end_ns is None else "prepares", float(trip.sends[0].enter_ns))
        last: list[Step] = [("client", TAKES, end_ns)] if number == len(trips) - 1 and end_ns is not None else []
        intervals.append([])
        for where, name, until_ns in (begun, *after, *last):
            intervals[-1].append((where, name, at_ns, max(at_ns, until_ns)))
            at_ns = max(at_ns, until_ns)
    return intervals


def _spread(times_ns: Iterable[float]) -> tuple[float, float, float]:
    """Median, 99th percentile and worst."""
    ordered = sorted(times_ns)
    return statistics.median(ordered), ordered[math.ceil(0.99 * len(ordered)) - 1], ordered[-1]
