"""The steps of a round trip, by the calls of both sides, and of a pooler between them.

A receiver that waits has its message when its call returns. One that does not wait yet is late: then the message waits
for it, and that time is the receiver's own.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import takewhile

from rowpath.explain.round_trips import Endpoint, Trip
from rowpath.machine.counters.call_stamps import Call
from rowpath.model.explanation import Where

AWAY, MORE = "there, at the server, and back", "more messages"
MEANWHILE = "the client takes rows in between"
WORKS, FORWARDS, ANSWERS = "works", "passes it on", "works on the answer"
BACK = "on the way back to the pooler"
Step = tuple[Where, str, float]  # until when: each begins where the one before it ended


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


def through_pooler(outer: Sequence[Step] | None, inner: Sequence[Trip], *, one_core: bool) -> list[Step] | None:
    """The steps of a round trip to a pooler, which made the `inner` ones to the server for it.

    None where a side's calls do not fit together.
    """
    behind = [steps(trip, one_core=one_core) for trip in inner]
    if outer is None or None in behind:
        return None
    through: list[Step] = []
    for where, name, until_ns in outer:
        if where == "to server":
            through.append(("to pooler", "on the way to the pooler", until_ns))
        elif where == "server" and name == WORKS:
            for trip, stepped in zip(inner, behind, strict=True):
                made = [("pooler", WORKS, float(trip.sends[0].enter_ns)), *_behind_pooler(stepped or ())]
                through += [(there, step, min(at_ns, until_ns)) for there, step, at_ns in made]
            through.append(("pooler", ANSWERS if inner else WORKS, until_ns))
        else:
            through.append(("pooler" if where == "server" else where, name, until_ns))
    return through


def _behind_pooler(stepped: Sequence[Step]) -> Iterator[Step]:
    """The steps of a pooler's own round trip to the server, as seen from the client."""
    for where, name, until_ns in stepped:
        if where == "client":
            yield "pooler", FORWARDS, until_ns
        elif where in ("to server", "server"):
            yield where, name, until_ns
        else:
            yield "from server", BACK, until_ns
