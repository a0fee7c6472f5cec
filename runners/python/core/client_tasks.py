"""Asynchronous drivers: the measured loop as a coroutine, and several clients as tasks on one event loop."""

import asyncio
import importlib
from time import perf_counter_ns, thread_time_ns

from core.adapter import Adapter
from core.clients import Clients
from core.operation import Operation
from core.sampler import Outcome, Sampler, Turn
from core.shared_counters import WORKS

LOOK_NS = 10_000_000


def new_event_loop(options):
    """asyncio's own event loop, or that of the package that the coordinate `loop` names."""
    name = options.get("loop", "none")
    return (asyncio if name == "none" else importlib.import_module(name)).new_event_loop()


class AsyncAdapter(Adapter):
    """An adapter whose `connection` is used by `await`; its `transaction` returns coroutine functions."""

    concurrency = "tasks"

    def __init__(self, options, event_loop=None):
        super().__init__(options)
        self._owns = event_loop is None
        self.event_loop = event_loop or new_event_loop(options)

    def another(self):
        """One more client's adapter on the same event loop."""
        other = type(self)(self.options, self.event_loop)
        other.connect()
        return other

    @property
    def loop_class(self):
        """Which event loop it is, for `facts`."""
        kind = type(self.event_loop)
        return kind.__name__ if kind.__module__.startswith("asyncio.") else f"{kind.__module__}.{kind.__name__}"

    def wait(self, awaitable):
        """Run the event loop until this is done; returns its result."""
        return self.event_loop.run_until_complete(awaitable)

    def operation(self, execute, arguments=None, **given):
        """An `AsyncOperation` on this adapter's event loop."""
        return AsyncOperation(self.wait, execute, arguments, **given)

    def close(self):
        """Close the connection, and the event loop with the adapter that made it."""
        self.wait(self.connection.close())
        if self._owns:
            self.event_loop.close()


class AsyncOperation(Operation):
    """Its functions are awaited; `each`: `execute` gives an asynchronous iterator, and is not awaited."""

    def __init__(self, wait, execute, arguments=None, each=False, **given):
        super().__init__(execute, arguments, **given)
        self.wait = wait
        self.each = each

    def sampler(self, kind, columns, stamps=False, transaction=None):
        """The sampler of this operation."""
        return AsyncSampler(kind, columns, self, stamps, transaction)

    def batches(self, batches):
        """An operation that does this one for every argument of a batch."""
        execute = self.execute

        async def execute_each(batch):
            for argument in batch:
                await execute(argument)

        return AsyncOperation(self.wait, execute_each, batches, prepare_ns=self.prepare_ns)


class AsyncSampler(Sampler):
    """The loop as coroutine functions `begin_by_time` and `begin_by_count`, and as a `Sampler` that waits for them."""

    def __init__(self, kind, columns, operation, stamps=False, transaction=None):
        each, iterate = ("async ", "aiter") if operation.each else ("", "iter")
        fetch = "" if operation.each else "await "
        self.syntax = {"define": "async def", "wait": "await ", "fetch": fetch, "each": each, "iter": iterate}
        super().__init__(kind, columns, operation, stamps, transaction)

    def _generate(self):
        super()._generate()
        operation = self.operation
        self.begin_by_time, self.begin_by_count = by_time, by_count = self.by_time, self.by_count
        self.by_time = lambda *given: operation.wait(by_time(*given))
        self.by_count = lambda *given: operation.wait(by_count(*given))

    async def begin(self, first, share):
        """One client's block."""
        if share.limit is None:
            return await self.begin_by_time(first, share.duration_ns, 0)
        return await self.begin_by_count(first, 0, share.limit) if share.limit else ()

    def waited(self, outcome):
        return self.operation.wait(outcome)

    def _rows(self, position):
        return self.operation.wait(self._collected(position))

    async def _collected(self, position):
        operation, rows = self.operation, []
        begin, commit, rollback = self.transaction or (None, None, None)
        connection = await operation.connect() if operation.connect else None
        if begin:
            await begin()
        try:
            found = operation.execute(
                connection if operation.connect else operation.arguments[position % len(operation.arguments)]
            )
            if operation.each:
                rows = [row async for row in found]
            else:
                rows = await found
        except BaseException:
            if rollback:
                await rollback()
            raise
        if commit:
            await commit()
        if operation.connect:
            await operation.close(connection)
        return rows if self._delivers else []


class LoopWatch:
    """Notes in clients' slots the longest time in which their event loop was blocked, as a task on it.

    It wakes each LOOK_NS and sees how late: a block that begins between two looks is seen from the later one on, and
    the loop's own timer is up to 1 ms late.
    """

    def __init__(self, heads):
        self._heads = dict(enumerate(heads))
        self._least_ns = 0  # of what the slots have: a look that finds no more changes none
        self._due = perf_counter_ns() + LOOK_NS

    async def run(self):
        """Look until it is cancelled."""
        while True:
            await asyncio.sleep((self._due - perf_counter_ns()) / 1e9)
            self._look()
            self._due = perf_counter_ns() + LOOK_NS

    def done(self, number):
        """That client has ended its work: what its last operation blocked counts too."""
        self._note([self._heads.pop(number)])

    def _look(self):
        if perf_counter_ns() - self._due > self._least_ns:
            self._note(self._heads.values())
            self._least_ns = min((head[14] for head in self._heads.values()), default=0)

    def _note(self, heads):
        late = perf_counter_ns() - self._due
        for head in heads:
            if late > head[14] and head[0] >= WORKS:
                head[14] = late


class ClientTasks(Clients):
    """Several clients, each a task; all on the main thread's event loop."""

    def _another(self):
        return self.adapters[0].another()

    def close(self):
        """Close every connection, the one with the event loop last."""
        for adapter in reversed(self.adapters):
            adapter.close()

    def gather(self, parts):
        clients = self._clients(parts)
        return lambda: self.adapters[0].wait(self._work(clients))

    async def _work(self, clients):
        working = [client for client in clients if client]
        watch = LoopWatch([client.head for client in working])
        watching = asyncio.create_task(watch.run())

        async def work(number, client):
            done = await client.work_as_task()
            watch.done(number)
            return done

        try:
            done = iter(await asyncio.gather(*(work(*each) for each in enumerate(working))))
        finally:
            watching.cancel()
        return [client and next(done) for client in clients]

    def _one_by_one(self, do):
        return [do(adapter) for adapter in self.adapters]

    def _at_once(self, samplers, shares, start):
        if len(samplers) == 1:
            return [samplers[0].sample(shares[0])]
        cpu = thread_time_ns()
        turns = self.adapters[0].wait(self._all(samplers, shares, start))
        now = thread_time_ns()
        start.shared_cpu_ns, start.shared_window_cpu_ns = now - start.cpu_ns, now - cpu
        return turns

    async def _all(self, samplers, shares, start):
        barrier = asyncio.Barrier(len(samplers))

        async def turn(sampler, share):
            led = 0
            try:
                if share.lead_in_ns:
                    lead_in = await sampler.begin_by_time(share.position, share.lead_in_ns, 0)
                    sampler.usual(lead_in)
                    led = sum(lead_in[:2])
                await barrier.wait()
            except BaseException:
                await barrier.abort()
                raise
            if not start.ns:
                start.note()
            first = share.position + led
            block = await sampler.begin(first, share)
            if not sampler.usual(block):
                block = await sampler.begin(first, share)
            # The thread is everyone's: what one task takes of it is not known.
            return Turn(first, led, Outcome(*block)._replace(cpu_ns=0), 0, perf_counter_ns())

        return await asyncio.gather(*map(turn, samplers, shares))
