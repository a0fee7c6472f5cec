"""psycopg 3's asynchronous connection: clients are tasks (`concurrency=tasks`)."""

from contextlib import nullcontext
from functools import partial

import psycopg

from core.client_tasks import AsyncAdapter
from families.libpq.adapter import copy_command
from families.postgresql.binary import reader
from families.postgresql.connection import libpq_keywords
from families.postgresql.facts import server_facts
from families.psycopg.copy import types_in
from families.psycopg.rows import row_factory
from families.psycopg.statement import Statement, check_implementation, driver_facts, settings_of
from families.psycopg.values import with_loaders
from families.sql.blocks import block_size
from families.sql.placeholders import formatted
from families.sql.rows import reads


async def nothing():
    """Shipped, the driver begins a transaction by itself."""


class TasksAdapter(AsyncAdapter):
    """A result is whole when it is handed over: by `fetchall`, or by `fetchmany` again and again."""

    errors = (psycopg.Error,)
    bulk_ways = ("copy", "executemany")

    def connect(self):
        check_implementation(self.options)
        self.shipped = self.options.get("profile") == "shipped"
        self.binary = self.options.get("format") == "binary"
        self.connection = self.wait(self.log_in())

    async def log_in(self):
        connect = psycopg.AsyncConnection.connect
        return with_loaders(await connect(**libpq_keywords(self.options), autocommit=not self.shipped))

    def server_pid(self):
        return self.connection.info.backend_pid

    def prepare(self, phase, parameters):
        operation = self.fetching(phase, parameters)
        operation.reads = reads(self.options, phase)
        if self.binary:
            operation.readers = [reader(column) for column in phase.columns]
        return operation

    def fetching(self, phase, parameters):
        """The operation of a phase, as coroutine functions."""
        if phase.kind == "connect":

            async def first(opened):
                return await (await opened.execute(phase.sql, binary=self.binary)).fetchall()

            return self.operation(first, connect=self.log_in, close=psycopg.AsyncConnection.close)
        cursor = self.connection.cursor(binary=self.binary, **row_factory(self.options, phase))
        statement = Statement(self.options, phase, parameters, self.connection)
        execute, size = statement.through(cursor.execute), block_size(self.options)

        async def whole(argument):
            await execute(argument)
            return await cursor.fetchall()

        async def blocks(argument):
            await execute(argument)
            rows = []
            while block := await cursor.fetchmany(size):
                rows += block
            return rows

        deliver = (blocks if size else whole) if phase.delivers else execute
        return self.operation(deliver, statement.arguments)

    def transaction(self, phase):
        connection = self.connection
        if self.shipped:
            return nothing, connection.commit, connection.rollback
        if not phase.transaction:
            return None
        return tuple(partial(connection.execute, word, prepare=False) for word in ("BEGIN", "COMMIT", "ROLLBACK"))

    def bulk(self, phase, way):
        connection, cursor = self.connection, self.connection.cursor()
        query = formatted(phase.sql)

        async def executemany(rows):
            async with connection.transaction():
                await cursor.executemany(query, rows)

        if way == "executemany":
            return self.operation(executemany)
        types = types_in(phase, self.binary)
        command = copy_command(phase, "binary" if types else "text")
        transaction = connection.transaction if self.shipped else nullcontext  # a COPY by itself is one

        async def copy_in(rows):
            async with transaction(), cursor.copy(command) as copy:
                if types:
                    copy.set_types(types)
                for row in rows:
                    await copy.write_row(row)

        return self.operation(copy_in)

    def run(self, statement):
        async def executed():
            await self.connection.execute(statement, prepare=False)  # however often: it is outside the clock
            if self.shipped:
                await self.connection.commit()

        self.wait(executed())

    def one(self, sql):
        """The value of the first row and column of a query."""

        async def value():
            return (await (await self.connection.execute(sql)).fetchone())[0]

        return self.wait(value())

    def cancel(self):
        self.connection.cancel()

    def set_timeout(self, milliseconds):
        self.run(f"SET statement_timeout = {milliseconds}")

    def facts(self):
        connection = self.connection
        settings = settings_of(connection) | {
            "autocommit": "on" if connection.autocommit else "off",
            "tls": "on" if connection.pgconn.ssl_in_use else "off",
            "event_loop": self.loop_class,
        }
        reply = server_facts(self.one, settings)
        if self.shipped:
            self.wait(connection.commit())
        return reply | driver_facts()

    def code(self, error):
        return error.sqlstate or type(error).__name__
