"""From the round trips of a client's connections to the hops of an operation."""

from __future__ import annotations

import math
import statistics
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from rowpath.explain.round_trips import Trip, Unknown, made_for, round_trips
from rowpath.explain.steps import ANSWERS, AWAY, BACK, FORWARDS, MEANWHILE, MORE, WORKS, Step, steps, through_pooler
from rowpath.machine.counters.call_stamps import Call, Kind
from rowpath.model.explanation import Cores, Hop, Hops, RoundTrip, Speed, Where
from rowpath.text import count

SHOWN_TRIPS = 6  # more round trips of an operation are folded, after the first five
BETWEEN, TAKES = "takes rows, prepares the next", "takes rows"
ORDER: list[tuple[Where, str]] = [
    ("client", "prepares"),
    ("client", BETWEEN),
    ("client", "sends"),
    ("to pooler", "on the way to the pooler"),
    ("pooler", WORKS),
    ("pooler", FORWARDS),
    ("to server", AWAY),
    ("to server", "on the way to the server"),
    ("server", WORKS),
    ("server", "sends"),
    ("from server", BACK),
    ("pooler", ANSWERS),
    ("pooler", "sends"),
    ("to client", "on the way to the client"),
    ("both", MEANWHILE),
    ("both", MORE),
    ("client", TAKES),
]  # of a round trip
MOST_ODD = 0.01  # of the operations: where more have not one reading of the clock between them, its place is not known
LEAST_FITTING = 0.5  # of the operations: what is left of fewer is no fair choice
Interval = tuple[Where, str, float, float]  # from when until when
SteppedOperation = list[list[Interval]]  # by round trip and its steps; the first begins with it


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
    by_core: bool = False,
    pooler_calls: Sequence[Call] | None = None,
) -> Hops:
    """The hops of blocks of `operations`, or pipelines of `pipeline` operations. Errors: Unknown.

    Without a server's calls those of the client only. `by_core`: the server is on this machine, so that the core from
    which it answered tells the operations apart. `pooler_calls`: of what stands between client and server.
    """
    if pooler_calls is None or server_calls is None:
        trips = round_trips(client_calls, server_calls)
    else:
        trips = made_for(round_trips(client_calls, pooler_calls), pooler_calls, server_calls)
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
    found: list[tuple[Sequence[Trip], SteppedOperation]] = []
    for block, border in zip(together, borders, strict=True):
        found += _operations(block, border, one_core=one_core)
    stepped = [operation for _trips, operation in found]
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
        statistics.fmean(rest) / folded if folded else 0.0,
        server_calls is not None,
        one_core,
        stamping_share,
        pipeline,
        statistics.fmean(map(_ns, stepped)),
        _speeds(found) if by_core else (),
    )


def _speeds(found: Sequence[tuple[Sequence[Trip], SteppedOperation]]) -> tuple[Speed, ...]:
    """The operations by the core from which the server answered; none unless the kernel says it of every receipt."""
    times: dict[Cores, list[float]] = {}
    for trips, operation in found:
        same = {trip.client.same_core(trip.receipts[-1]) for trip in trips}
        if None in same:
            return ()
        times.setdefault("changing" if len(same) > 1 else "one" if True in same else "two", []).append(_ns(operation))
    by_count = sorted(times.items(), key=lambda item: -len(item[1]))
    return tuple(
        Speed(cores, len(ns) / len(found), statistics.fmean(ns), statistics.median(ns)) for cores, ns in by_count
    )


def _operations(
    together: Sequence[Sequence[Trip]], borders: Sequence[int | None] | None, *, one_core: bool
) -> Iterator[tuple[Sequence[Trip], SteppedOperation]]:
    """The round trips and steps of the operations of a block whose calls fit together and whose ends are known."""
    before_ns = float(together[0][0].sends[0].enter_ns) if len(together) == 1 else None  # else of no operation
    for number, trips in enumerate(together):
        stepped = [_steps(trip, one_core=one_core) for trip in trips]
        begin_ns, end_ns = (before_ns, None) if borders is None else borders[number : number + 2]
        before_ns = stepped[-1][-1][2] if stepped[-1] is not None else None
        if begin_ns is not None and (borders is None or end_ns is not None):
            operation = _operation(trips, stepped, begin_ns, end_ns)
            if operation is not None:
                yield trips, operation


def _steps(trip: Trip, *, one_core: bool) -> list[Step] | None:
    found = steps(trip, one_core=one_core)
    return found if trip.behind is None else through_pooler(found, trip.behind, one_core=one_core)


def _round_trip(number: int, trip: Trip, stepped: list[SteppedOperation], slowest: SteppedOperation) -> RoundTrip:
    times: dict[tuple[Where, str], list[float]] = {}
    for operation in stepped:
        for step, ns in _by_step(operation[number]).items():
            times.setdefault(step, []).append(ns)
    slow = _by_step(slowest[number])
    for of_hop in times.values():
        of_hop.extend([0.0] * (len(stepped) - len(of_hop)))  # an answer may be of one message, or of more
    of_hops = (
        Hop(*key, *_spread(times[key]), slow.get(key, 0.0), statistics.fmean(times[key]))
        for key in sorted(times, key=ORDER.index)
    )
    wholes = [_ns([operation[number]]) for operation in stepped]
    sent, received = (sum(call.result for call in calls) for calls in (trip.sends, trip.receipts))
    messages = len(trip.server_sends or trip.receipts)
    return RoundTrip(tuple(of_hops), sent, received, messages, *_spread(wholes), statistics.fmean(wholes))


def _by_step(intervals: Iterable[Interval]) -> dict[tuple[Where, str], float]:
    """The time of each step; a pooler takes some more than once."""
    times: dict[tuple[Where, str], float] = {}
    for where, name, begin_ns, end_ns in intervals:
        times[where, name] = times.get((where, name), 0.0) + end_ns - begin_ns
    return times


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
