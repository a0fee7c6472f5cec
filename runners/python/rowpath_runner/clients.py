"""The clients of one `open`: each has a connection and a thread of its own; they go through a sample at once."""

import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from time import perf_counter_ns, thread_time_ns
from typing import NamedTuple

from rowpath_runner.adapter import Unsupported
from rowpath_runner.codec import MASK64
from rowpath_runner.collector import COLLECTOR
from rowpath_runner.group_loop import Client
from rowpath_runner.load import load_work
from rowpath_runner.loop import Outcome


class Turn(NamedTuple):
    """What one client did in a sample: its lead-in's operations, its block and when that ended."""

    first: int
    led: int
    outcome: Outcome
    window_cpu_ns: int
    ended_ns: int


class Share(NamedTuple):
    """What one client is to do; `limit` is None when it goes by time."""

    position: int
    lead_in_ns: int
    duration_ns: int
    limit: int | None


class Meeting:
    """Where clients wait for each other: `ns` and `cpu_ns` are this process's clocks when all had come."""

    def __init__(self):
        self.ns = self.cpu_ns = 0
        self.shared_cpu_ns = self.shared_window_cpu_ns = 0  # of a thread that all clients share
        self.collected_ns = self.collections = 0  # in the other clients' processes

    def note(self):
        """Called once, when the last one has come."""
        self.ns, self.cpu_ns = perf_counter_ns(), thread_time_ns()


class Prepared:
    """One phase: a loop per client, and where each client goes on."""

    def __init__(self, phase, parameters, loops):
        self.phase = phase
        self.parameters = parameters
        self.loops = loops
        wrap = len(parameters or ()) // (phase.rows_per_operation if phase.kind == "load" else 1)
        self._starts = [client * wrap // len(loops) for client in range(len(loops))]
        self._positions = list(self._starts)
        self._next = 0

    def shares(self, first, lead_in_ns, duration_ns, operations):
        """What each client is to do in a sample, as the protocol divides it."""
        count = len(self.loops)
        if operations:
            begin = self._next if first < 0 else first
            bounds = [client * operations // count for client in range(count + 1)]
            return [
                Share(begin + bounds[client], lead_in_ns, 0, bounds[client + 1] - bounds[client])
                for client in range(count)
            ]
        positions = self._positions if first < 0 else [first + start for start in self._starts]
        return [Share(position, lead_in_ns, duration_ns, None) for position in positions]

    def ended(self, turns):
        """Go on from here the next time."""
        self._positions = [turn.first + turn.outcome.operations + turn.outcome.failed for turn in turns]
        self._next = max(self._positions)


def take_turn(loop, share, meet=None):
    """One client's lead-in, the meeting with the others, and its block."""
    cpu, led = thread_time_ns(), 0
    if share.lead_in_ns:
        led = sum(loop.by_time(share.position, share.lead_in_ns, 0)[:2])
    first = share.position + led
    if meet:
        meet()
    if share.limit is None:
        block = loop.by_time(first, share.duration_ns, 0)
    else:
        block = loop.by_count(first, 0, share.limit) if share.limit else ()
    return Turn(first, led, Outcome(*block), thread_time_ns() - cpu, perf_counter_ns())


class Clients:
    """Several clients, each in a thread that waits outside samples; the first one's is the main thread."""

    def __init__(self, adapter, count):
        """`adapter` is connected; the other connections are opened here. Errors: the driver's own."""
        self.adapters = [adapter]
        self._threads = []
        try:
            self._open_others(count - 1)
        except BaseException:
            self.close()
            raise

    def prepare(self, phase, parameters):
        """The phase prepared on every connection."""
        if len(self.adapters) > 1 and phase.kind not in ("query", "execute", "null"):
            raise Unsupported(f"several clients at once are for queries and single statements, not for {phase.kind}")
        return Prepared(phase, parameters, self._loops(phase, parameters))

    def sample(self, prepared, request):
        """(the first failure, the reply's other fields) of one sample."""
        operations, first = request.get("operations", 0), request.get("first", -1)
        shares = prepared.shares(first, request["lead_in_ns"], request["duration_ns"], operations)
        collected = COLLECTOR.ns, COLLECTOR.collections
        meeting, started = Meeting(), perf_counter_ns()
        turns = self._at_once(prepared.loops, shares, meeting)
        window_ns = perf_counter_ns() - started
        collected_ns = COLLECTOR.ns - collected[0] + meeting.collected_ns
        collections = COLLECTOR.collections - collected[1] + meeting.collections
        prepared.ended(turns)
        reply = summed(turns, prepared.phase.columns)
        reply |= {"window_ns": window_ns, "collector_ns": collected_ns, "collections": collections}
        if len(turns) > 1:
            reply["cpu_ns"] += meeting.shared_cpu_ns
            reply["window_cpu_ns"] += meeting.shared_window_cpu_ns
            reply["ns"] = max(turn.ended_ns for turn in turns) - meeting.ns
            reply["clients"] = [alone(turn) for turn in turns]
        return next((turn.outcome.failure for turn in turns if turn.outcome.failure), None), reply

    def gather(self, parts):
        """Let clients of groups wait for their begin: `parts` has a (prepared, place), or None, for every connection.

        Gives the function that does the first client's part in this thread and returns, once all are done, what each
        did (None of those without a part).
        """
        first, *others = self._clients(parts)
        under_way = [
            client and thread.submit(client.work) for thread, client in zip(self._threads, others, strict=True)
        ]
        return lambda: [first and first.work(), *(other and other.result() for other in under_way)]

    def close(self):
        """Close every connection, each in its client's thread, the first one last; end the threads."""
        for thread, adapter in zip(self._threads, self.adapters[1:], strict=False):
            thread.submit(adapter.close).result()
            thread.shutdown()
        self.adapters[0].close()

    def _clients(self, parts):
        """The groups' client of each connection that has a part."""
        return [
            part and Client(part[0].loops[number], part[1], adapter)
            for number, (part, adapter) in enumerate(zip(parts, self.adapters, strict=False))
        ]

    def _open_others(self, count):
        for _ in range(count):
            self.adapters.append(self._another())

    def _another(self):
        thread = ThreadPoolExecutor(1)
        self._threads.append(thread)
        return thread.submit(self.adapters[0].another).result()

    def _loops(self, phase, parameters):
        """Every client's loop of the phase."""
        return self._one_by_one(partial(prepared_loop, phase, parameters))

    def _one_by_one(self, do):
        """`do(adapter)` of every client in its own thread, one after the other."""
        others = zip(self._threads, self.adapters[1:], strict=False)
        return [do(self.adapters[0]), *(thread.submit(do, adapter).result() for thread, adapter in others)]

    def _at_once(self, loops, shares, meeting):
        """Every client's turn, all at the same time."""
        if len(loops) == 1:
            return [take_turn(loops[0], shares[0])]
        barrier = threading.Barrier(len(loops), meeting.note)

        def turn(loop, share):
            try:
                return take_turn(loop, share, barrier.wait)
            except BaseException:
                barrier.abort()
                raise

        others = [
            thread.submit(turn, loop, share)
            for thread, loop, share in zip(self._threads, loops[1:], shares[1:], strict=True)
        ]
        return [turn(loops[0], shares[0]), *(other.result() for other in others)]


def prepared_loop(phase, parameters, adapter):
    """The loop of a phase on one connection."""
    if phase.kind == "load":
        work, transaction = load_work(adapter, phase, parameters or [], adapter.options.get("bulk", "none"))
    else:
        work = adapter.prepare(phase, parameters)
        transaction = adapter.transaction(phase)
    loop = work.loop(phase.kind, phase.columns, phase.stamps, transaction)
    loop.prepare_ns = work.prepare_ns
    return loop


def alone(turn):
    """One client's own object of the reply."""
    return {
        "first": turn.first,
        "operations": turn.outcome.operations,
        "failed": turn.outcome.failed,
        "lead_in_operations": turn.led,
        "rows": turn.outcome.rows,
        "ns": turn.outcome.ns,
        "cpu_ns": turn.outcome.cpu_ns,
        "min_ns": turn.outcome.low_ns,
        "max_ns": turn.outcome.high_ns,
    }


def summed(turns, columns):
    """The reply's fields that are sums, extremes, or the first client's."""

    def total(name):
        return sum(getattr(turn.outcome, name) for turn in turns)

    busy = [turn.outcome for turn in turns if turn.outcome.operations + turn.outcome.failed]
    return {
        "ns": turns[0].outcome.ns,
        "operations": total("operations"),
        "failed": total("failed"),
        "rows": total("rows"),
        "values": total("rows") * len(columns),
        "touch": f"{total('total') & MASK64:016x}",
        "first": turns[0].first,
        "lead_in_operations": sum(turn.led for turn in turns),
        "window_cpu_ns": sum(turn.window_cpu_ns for turn in turns),
        "cpu_ns": total("cpu_ns"),
        "min_ns": min(outcome.low_ns for outcome in busy),
        "max_ns": max(outcome.high_ns for outcome in busy),
        "execute_ns": total("execute_ns"),
        "first_row_ns": total("first_row_ns"),
        "connect_ns": total("connect_ns"),
    }
