"""asyncpg's own pool. What it lends stands before the connection, and a statement that was prepared ends with it."""

import asyncio
from functools import partial
from operator import attrgetter

import asyncpg

from core.pool import TIMEOUT_S, LendingOperation, PoolAdapter
from families.postgresql.connection import numbered
from families.sql.literals import literal, with_literals


async def nothing(_connection):
    """Shipped, it resets the session with a round trip when a connection returns."""


class Adapter(PoolAdapter):
    def open(self):
        async def log_in(*_address, **_options):
            return await self.driver.log_in()

        async def opened():
            self.pool = asyncpg.create_pool(
                connect=log_in,
                min_size=self.size,
                max_size=self.size,
                max_inactive_connection_lifetime=0,
                max_queries=1 << 60,  # it would connect again after 50,000
                **({"reset": nothing} if self.tuned else {}),
            )
            await self.pool

        self.driver.wait(opened())
        self.borrow, self.give_back = partial(self.pool.acquire, timeout=TIMEOUT_S), self.pool.release

    def adapter_of(self, connection):
        adapter = type(self.driver)(self.options, self.driver.event_loop)
        adapter.connection = connection
        return adapter

    def lending(self, phase, parameters):
        query = numbered(phase.sql) if phase.parameter_columns else phase.sql
        name = "fetch" if phase.delivers else "execute"
        text = parameters is not None and self.options.get("statement") == "text"

        def bound(lent):
            call = getattr(lent, name)
            return lambda row: call(query, *row)

        execute = attrgetter(name) if text else bound

        def in_transaction(lent):
            return execute(lent), *(partial(lent.execute, word) for word in ("BEGIN", "COMMIT", "ROLLBACK"))

        work = in_transaction if self.transaction(phase) else execute
        arguments = [with_literals(phase.sql, row, literal) for row in parameters] if text else parameters
        own = self.driver.operation(None, arguments)
        return LendingOperation(self, "works(lent)", work, own)

    def counts(self):
        opened = self.pool.get_size()
        return opened - self.pool.get_idle_size(), opened

    def shut(self):
        async def closed():
            connecting = asyncio.all_tasks() - {asyncio.current_task()}  # where another login has failed
            for task in connecting:
                task.cancel()
            await asyncio.gather(*connecting, return_exceptions=True)
            await self.pool.close()

        try:
            self.driver.wait(closed())
        finally:
            self.driver.event_loop.close()

    def version(self):
        return {}
