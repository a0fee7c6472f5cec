"""PostgreSQL through asyncpg: binary results, on an event loop."""

import asyncio
from functools import partial
from time import perf_counter_ns

import asyncpg

from core.client_tasks import AsyncAdapter
from core.driver_settings import with_settings
from families.postgresql.connection import address, numbered, plain, tls
from families.postgresql.facts import server_facts
from families.python_ssl.context import context
from families.sql.literals import literal, with_literals
from families.sql.rows import reads, row_class

ROWS = {"tuple": tuple, "dict": dict}  # by a program's own conversion: the driver's are records
SSL = {"off": {"ssl": False}, "on": {"ssl": "require"}, "default": {}}


def encryption(options):
    """What `connect` takes: a context of Python's own for what is more than a word."""
    wanted = tls(options)
    if wanted in SSL and not options.get("tls_cert"):
        return SSL[wanted]
    return {"ssl": context(options)}


def from_interval(parts):
    """(months, days, nanoseconds): asyncpg's own timedelta has no months."""
    months, days, microseconds = parts
    return months, days, microseconds * 1000


def to_interval(parts):
    months, days, nanoseconds = parts
    return months, days, nanoseconds // 1000


async def set_codecs(connection):
    """Let values arrive in the forms that are compared."""
    await connection.set_type_codec(
        "interval", schema="pg_catalog", format="tuple", encoder=to_interval, decoder=from_interval
    )


def converted(execute, convert, each):
    """The same, each record converted as a program would; `each`: it gives an asynchronous iterator."""

    async def rows(argument):
        return [convert(record) for record in await execute(argument)]

    async def one_by_one(argument):
        async for record in execute(argument):
            yield convert(record)

    return one_by_one if each else rows


class Adapter(AsyncAdapter):
    errors = (asyncpg.PostgresError, asyncpg.InterfaceError)
    bulk_ways = ("copy", "executemany")
    running = timeout_s = None

    def connect(self):
        self.connection = self.wait(self.log_in())

    async def log_in(self):
        options = self.options
        # With none kept each execution prepares again, also a statement that `prepare` gave.
        keeps = options.get("statement") == "prepared" or options.get("profile") == "shipped"
        connection = await with_settings(
            asyncpg.connect,
            options,
            **address(options | {"host": options.get("host", "").split(",")}),
            **encryption(options),
            **({} if keeps else {"statement_cache_size": 0}),
            database=options["database"],
            server_settings={} if plain(options) else {"TimeZone": "UTC"},
        )
        await set_codecs(connection)
        return connection

    def adopt(self, connection):
        """Work on a connection that a layer made, with values as on one of the driver's own."""
        self.connection = connection
        self.wait(set_codecs(connection))

    def server_pid(self):
        return self.connection.get_server_pid()

    def prepare(self, phase, parameters):
        operation = self.fetching(phase, parameters)
        operation.reads = reads(self.options, phase)
        if convert := ROWS.get(row_class(self.options, phase)):
            operation.execute = converted(operation.execute, convert, operation.each)
        return operation

    def fetching(self, phase, parameters):
        """The operation of a phase, its rows as the driver's records."""
        connection = self.connection
        query = numbered(phase.sql) if phase.parameter_columns else phase.sql  # a ? may be an operator
        if phase.kind == "connect":
            close = asyncpg.Connection.close
            return self.operation(lambda opened: opened.fetch(query), connect=self.log_in, close=close)
        execute = connection.fetch if phase.delivers else connection.execute
        statement, prepare_ns = self.options.get("statement"), 0
        result, _, size = self.options.get("result", "whole").partition(":")
        in_server = result == "cursor" and phase.delivers
        if parameters is not None and statement == "text":
            texts = [with_literals(phase.sql, row, literal) for row in parameters]
            if in_server:
                return self.operation(lambda text: connection.cursor(text, prefetch=int(size)), texts, each=True)
            return self.operation(execute, texts)
        if statement == "prepared" and self.options.get("profile") != "shipped" and (parameters or phase.delivers):
            started = perf_counter_ns()
            prepared = self.wait(connection.prepare(query))
            prepare_ns = perf_counter_ns() - started
            # It asks for a flush, not for a sync: the server's implicit transaction keeps its locks until the next one.
            self.wait(connection.execute("SELECT 1"))
            execute, cursor = prepared.fetch, prepared.cursor
        else:
            execute, cursor = partial(execute, query), partial(connection.cursor, query)
        if in_server:
            cursor = partial(cursor, prefetch=int(size))
            return self.operation(lambda row: cursor(*row), parameters, each=True, prepare_ns=prepare_ns)
        return self.operation(lambda row: execute(*row), parameters, prepare_ns=prepare_ns)

    def transaction(self, phase):
        in_server = phase.delivers and self.options.get("result", "").startswith("cursor")
        if not phase.transaction and not in_server:
            return None
        execute = self.connection.execute
        return partial(execute, "BEGIN"), partial(execute, "COMMIT"), partial(execute, "ROLLBACK")

    def bulk(self, phase, way):
        connection = self.connection
        if way == "executemany":  # it is one transaction by itself
            query = numbered(phase.sql)
            return self.operation(lambda rows: connection.executemany(query, rows))
        columns = [column.name.lower() for column in phase.parameter_columns]  # asyncpg quotes names
        copy_in = partial(connection.copy_records_to_table, phase.table.lower(), columns=columns)
        return self.operation(lambda rows: copy_in(records=rows))

    def run(self, statement):
        async def executed():
            self.running = asyncio.current_task()
            await self.connection.execute(statement, timeout=self.timeout_s)

        self.wait(executed())

    def cancel(self):
        self.event_loop.call_soon_threadsafe(self.running.cancel)

    def set_timeout(self, milliseconds):
        self.timeout_s = milliseconds / 1000

    def facts(self):
        connection = self.connection
        secured = connection._transport.get_extra_info("ssl_object")
        settings = {
            "autocommit": "off" if connection.is_in_transaction() else "on",
            "tls": "off" if secured is None else "on",
            "client_encoding": connection.get_settings().client_encoding,
            "event_loop": self.loop_class,
        }
        server = server_facts(lambda sql: self.wait(connection.fetchval(sql)), settings)
        return {"driver_version": asyncpg.__version__, **server}

    def code(self, error):
        return getattr(error, "sqlstate", None) or type(error).__name__
