"""The clients of one `open`: each has a connection and a thread of its own; they go through a sample at once."""

import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from time import perf_counter_ns, thread_time_ns

from core.adapter import Unsupported
from core.collector import COLLECTOR
from core.group_client import GroupClient
from core.prepared_phase import PreparedPhase, prepared_sampler
from core.touch import touch_text


class CommonStart:
    """When all clients had ended their lead-in (`ns`, `cpu_ns`: this process's clocks), and what they share."""

    def __init__(self):
        self.ns = self.cpu_ns = 0
        self.shared_cpu_ns = self.shared_window_cpu_ns = 0  # of a thread that all clients share
        self.collected_ns = self.collections = 0  # in the other clients' processes

    def note(self):
        """Called once, when the last one has come."""
        self.ns, self.cpu_ns = perf_counter_ns(), thread_time_ns()


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
        return PreparedPhase(phase, parameters, self._samplers(phase, parameters))

    def run(self, statement, every=False, ignore_errors=False):
        """Execute it on the first connection, or on every one of this process; how many those were.

        Which ones a pool would lend is not known: through it, it is one.
        """

        def run(adapter):
            try:
                adapter.run(statement)
            except Exception:
                if not ignore_errors:
                    raise

        if every and not self.adapters[0].shares:
            return len(self._one_by_one(run))
        run(self.adapters[0])
        return 1

    def sample(self, prepared, request):
        """(the first failure, the reply's other fields) of one sample."""
        operations, first = request.get("operations", 0), request.get("first", -1)
        shares = prepared.shares(first, request["lead_in_ns"], request["duration_ns"], operations)
        collected = COLLECTOR.ns, COLLECTOR.collections
        start, started = CommonStart(), perf_counter_ns()
        turns = self._at_once(prepared.samplers, shares, start)
        window_ns = perf_counter_ns() - started
        collected_ns = COLLECTOR.ns - collected[0] + start.collected_ns
        collections = COLLECTOR.collections - collected[1] + start.collections
        prepared.ended(turns)
        reply = summed(turns, prepared.phase.columns)
        reply |= {"window_ns": window_ns, "collector_ns": collected_ns, "collections": collections}
        if len(turns) > 1:
            reply["cpu_ns"] += start.shared_cpu_ns
            reply["window_cpu_ns"] += start.shared_window_cpu_ns
            reply["ns"] = max(turn.ended_ns for turn in turns) - start.ns
            reply["clients"] = [fields_of(turn) for turn in turns]
        return next((turn.outcome.failure for turn in turns if turn.outcome.failure), None), reply

    def gather(self, parts):
        """Let clients of groups wait for their begin: `parts` has (prepared, assignment) or None for each connection.

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
            part and GroupClient(part[0].samplers[number], part[1], adapter)
            for number, (part, adapter) in enumerate(zip(parts, self.adapters, strict=False))
        ]

    def _open_others(self, count):
        for _ in range(count):
            self.adapters.append(self._another())

    def _another(self):
        thread = ThreadPoolExecutor(1)
        adapter = thread.submit(self.adapters[0].another).result()
        self._threads.append(thread)
        return adapter

    def _samplers(self, phase, parameters):
        """Every client's sampler of the phase."""
        return self._one_by_one(partial(prepared_sampler, phase, parameters))

    def _one_by_one(self, do):
        """`do(adapter)` of every client in its own thread, one after the other."""
        others = zip(self._threads, self.adapters[1:], strict=False)
        return [do(self.adapters[0]), *(thread.submit(do, adapter).result() for thread, adapter in others)]

    def _at_once(self, samplers, shares, start):
        """Every client's turn, all at the same time."""
        if len(samplers) == 1:
            return [samplers[0].sample(shares[0])]
        barrier = threading.Barrier(len(samplers), start.note)

        def turn(sampler, share):
            try:
                return sampler.sample(share, barrier.wait)
            except BaseException:
                barrier.abort()
                raise

        others = [
            thread.submit(turn, sampler, share)
            for thread, sampler, share in zip(self._threads, samplers[1:], shares[1:], strict=True)
        ]
        return [turn(samplers[0], shares[0]), *(other.result() for other in others)]


def fields_of(turn):
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
        "touch": touch_text(total("total")),
        "first": turns[0].first,
        "lead_in_operations": sum(turn.led for turn in turns),
        "window_cpu_ns": sum(turn.window_cpu_ns for turn in turns),
        "cpu_ns": total("cpu_ns"),
        "min_ns": min(outcome.low_ns for outcome in busy),
        "max_ns": max(outcome.high_ns for outcome in busy),
        "execute_ns": total("execute_ns"),
        "first_row_ns": total("first_row_ns"),
        "connect_ns": total("connect_ns"),
        "borrow_ns": total("borrow_ns"),
        "return_ns": total("return_ns"),
    }
