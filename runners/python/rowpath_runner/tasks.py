"""Asynchronous drivers: the measured loop as a coroutine, and several clients as tasks on one event loop."""

import asyncio
from time import perf_counter_ns, thread_time_ns

from rowpath_runner.adapter import Adapter
from rowpath_runner.clients import Clients, Turn, take_turn
from rowpath_runner.loop import Loop, Outcome, Work


class AsyncAdapter(Adapter):
    """An adapter whose `connection` is used by `await`; its `transaction` returns coroutine functions."""

    concurrency = "tasks"

    def __init__(self, options, event_loop=None):
        super().__init__(options)
        self._owns = event_loop is None
        self.event_loop = event_loop or asyncio.new_event_loop()

    def another(self):
        """One more client's adapter on the same event loop."""
        other = type(self)(self.options, self.event_loop)
        other.connect()
        return other

    def wait(self, awaitable):
        """Run the event loop until this is done; returns its result."""
        return self.event_loop.run_until_complete(awaitable)

    def work(self, execute, arguments=None, **given):
        """An `AsyncWork` on this adapter's event loop."""
        return AsyncWork(self.wait, execute, arguments, **given)

    def close(self):
        """Close the connection, and the event loop with the adapter that made it."""
        self.wait(self.connection.close())
        if self._owns:
            self.event_loop.close()


class AsyncWork(Work):
    """A `Work` whose functions are awaited; `each`: `execute` gives an asynchronous iterator, and is not awaited."""

    def __init__(self, wait, execute, arguments=None, each=False, **given):
        super().__init__(execute, arguments, **given)
        self.wait = wait
        self.each = each

    def loop(self, kind, columns, stamps=False, transaction=None):
        """The loop that measures this work."""
        return AsyncLoop(kind, columns, self, stamps, transaction)

    def batches(self, batches):
        """This work of single operations, done for every argument of each batch."""
        execute = self.execute

        async def execute_each(batch):
            for argument in batch:
                await execute(argument)

        return AsyncWork(self.wait, execute_each, batches, prepare_ns=self.prepare_ns)


class AsyncLoop(Loop):
    """The loop as coroutine functions `begin_by_time` and `begin_by_count`, and as a `Loop` that waits for them."""

    def __init__(self, kind, columns, work, stamps=False, transaction=None):
        each, iterate = ("async ", "aiter") if work.each else ("", "iter")
        fetch = "" if work.each else "await "
        self.syntax = {"define": "async def", "wait": "await ", "fetch": fetch, "each": each, "iter": iterate}
        super().__init__(kind, columns, work, stamps, transaction)
        self.begin_by_time, self.begin_by_count = by_time, by_count = self.by_time, self.by_count
        self.by_time = lambda *given: work.wait(by_time(*given))
        self.by_count = lambda *given: work.wait(by_count(*given))

    def waited(self, outcome):
        return self.work.wait(outcome)

    def _rows(self, position):
        return self.work.wait(self._collected(position))

    async def _collected(self, position):
        work, rows = self.work, []
        begin, commit, rollback = self.transaction or (None, None, None)
        connection = await work.connect() if work.connect else None
        if begin:
            await begin()
        try:
            found = work.execute(connection if work.connect else work.arguments[position % len(work.arguments)])
            if work.each:
                rows = [row async for row in found]
            else:
                rows = await found
        except BaseException:
            if rollback:
                await rollback()
            raise
        if commit:
            await commit()
        if work.connect:
            await work.close(connection)
        return rows if self.columns else []


class Tasks(Clients):
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
        done = iter(await asyncio.gather(*(client.work_as_task() for client in clients if client)))
        return [client and next(done) for client in clients]

    def _one_by_one(self, do):
        return [do(adapter) for adapter in self.adapters]

    def _at_once(self, loops, shares, meeting):
        if len(loops) == 1:
            return [take_turn(loops[0], shares[0])]
        cpu = thread_time_ns()
        turns = self.adapters[0].wait(self._all(loops, shares, meeting))
        now = thread_time_ns()
        meeting.shared_cpu_ns, meeting.shared_window_cpu_ns = now - meeting.cpu_ns, now - cpu
        return turns

    async def _all(self, loops, shares, meeting):
        barrier = asyncio.Barrier(len(loops))

        async def turn(loop, share):
            led = 0
            try:
                if share.lead_in_ns:
                    led = sum((await loop.begin_by_time(share.position, share.lead_in_ns, 0))[:2])
                await barrier.wait()
            except BaseException:
                await barrier.abort()
                raise
            if not meeting.ns:
                meeting.note()
            first, block = share.position + led, ()
            if share.limit is None:
                block = await loop.begin_by_time(first, share.duration_ns, 0)
            elif share.limit:
                block = await loop.begin_by_count(first, 0, share.limit)
            # The thread is everyone's: what one task takes of it cannot be told.
            return Turn(first, led, Outcome(*block)._replace(cpu_ns=0), 0, perf_counter_ns())

        return await asyncio.gather(*map(turn, loops, shares))
