"""PostgreSQL through asyncpg: binary results, on an event loop."""

import asyncio
from functools import partial
from time import perf_counter_ns

import asyncpg
from rowpath_runner.adapter import literal, with_literals
from rowpath_runner.postgresql import SHOWN, address, numbered, tls
from rowpath_runner.tasks import AsyncAdapter

SSL = {"off": {"ssl": False}, "on": {"ssl": "require"}, "default": {}}


def from_interval(parts):
    """(months, days, nanoseconds): asyncpg's own timedelta has no months."""
    months, days, microseconds = parts
    return months, days, microseconds * 1000


def to_interval(parts):
    months, days, nanoseconds = parts
    return months, days, nanoseconds // 1000


class Adapter(AsyncAdapter):
    errors = (asyncpg.PostgresError, asyncpg.InterfaceError)
    bulk_ways = ("copy", "executemany")
    running = timeout_s = None

    def connect(self):
        self.connection = self.wait(self.log_in())

    async def log_in(self):
        options = self.options
        # With none kept each execution prepares anew, also of what `prepare` gave.
        keeps = options.get("statement") == "prepared" or options.get("profile") == "shipped"
        connection = await asyncpg.connect(
            **address(options),
            **SSL[tls(options)],
            **({} if keeps else {"statement_cache_size": 0}),
            database=options["database"],
            server_settings={"TimeZone": "UTC"},
        )
        await connection.set_type_codec(
            "interval", schema="pg_catalog", format="tuple", encoder=to_interval, decoder=from_interval
        )
        return connection

    def server_pid(self):
        return self.connection.get_server_pid()

    def prepare(self, phase, parameters):
        connection = self.connection
        query = numbered(phase.sql) if phase.parameter_columns else phase.sql  # a ? may be an operator
        if phase.kind == "connect":
            return self.work(lambda opened: opened.fetch(query), connect=self.log_in, close=asyncpg.Connection.close)
        execute = connection.fetch if phase.columns else connection.execute
        statement, prepare_ns = self.options.get("statement"), 0
        result, _, size = self.options.get("result", "whole").partition(":")
        in_server = result == "cursor" and phase.columns
        if parameters is not None and statement == "text":
            texts = [with_literals(phase.sql, row, literal) for row in parameters]
            if in_server:
                return self.work(lambda text: connection.cursor(text, prefetch=int(size)), texts, each=True)
            return self.work(execute, texts)
        if statement == "prepared" and self.options.get("profile") != "shipped" and (parameters or phase.columns):
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
            return self.work(lambda row: cursor(*row), parameters, each=True, prepare_ns=prepare_ns)
        return self.work(lambda row: execute(*row), parameters, prepare_ns=prepare_ns)

    def transaction(self, phase):
        in_server = phase.columns and self.options.get("result", "").startswith("cursor")
        if not phase.transaction and not in_server:
            return None
        execute = self.connection.execute
        return partial(execute, "BEGIN"), partial(execute, "COMMIT"), partial(execute, "ROLLBACK")

    def bulk(self, phase, way):
        connection = self.connection
        if way == "executemany":  # it is one transaction by itself
            query = numbered(phase.sql)
            return self.work(lambda rows: connection.executemany(query, rows))
        columns = [column.name.lower() for column in phase.parameter_columns]  # asyncpg quotes names
        copy_in = partial(connection.copy_records_to_table, phase.table.lower(), columns=columns)
        return self.work(lambda rows: copy_in(records=rows))

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
        settings = {name: self.wait(connection.fetchval(f"SHOW {name}")) for name in SHOWN}
        secured = connection._transport.get_extra_info("ssl_object")
        settings |= {
            "autocommit": "off" if connection.is_in_transaction() else "on",
            "tls": "off" if secured is None else "on",
            "client_encoding": connection.get_settings().client_encoding,
            "event_loop": type(self.event_loop).__name__,
        }
        return {
            "driver_version": asyncpg.__version__,
            "engine_version": settings["server_version"],
            "build": self.wait(connection.fetchval("SELECT version()")),
            "settings": settings,
        }

    def code(self, error):
        return getattr(error, "sqlstate", None) or type(error).__name__
