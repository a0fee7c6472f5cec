"""PostgreSQL through psycopg 3."""

import struct

import psycopg
from psycopg import sql as compose
from psycopg.adapt import Loader
from psycopg.pq import Format
from psycopg.types.string import TextBinaryLoader, TextLoader
from rowpath_runner.adapter import Adapter as Base
from rowpath_runner.adapter import interval, split_placeholders, with_literals
from rowpath_runner.loop import Work


class IntervalText(Loader):
    """(months, days, nanoseconds): psycopg's own timedelta has no months."""

    def load(self, data):
        return interval(bytes(data).decode())


class IntervalBinary(Loader):
    format = Format.BINARY

    def load(self, data):
        microseconds, days, months = struct.unpack("!qii", data)
        return months, days, microseconds * 1000


class Adapter(Base):
    errors = (psycopg.Error,)

    def connect(self):
        self.shipped = self.options.get("profile") == "shipped"
        self.connection = self.another()

    def another(self):
        options = self.options
        unix = options.get("transport") == "unix"
        connection = psycopg.connect(
            host=options["socket_dir"] if unix else options["host"],
            port=options["port"],
            user=options["user"],
            password=options.get("password"),
            dbname=options["database"],
            sslmode="disable" if options.get("tls", "off") == "off" else "require",
            gssencmode="disable",
            client_encoding="UTF8",
            options="-c TimeZone=UTC -c IntervalStyle=iso_8601",
            autocommit=not self.shipped,
        )
        for name in ("json", "jsonb"):
            connection.adapters.register_loader(name, TextLoader)
        connection.adapters.register_loader("json", TextBinaryLoader)
        connection.adapters.register_loader("interval", IntervalText)
        connection.adapters.register_loader("interval", IntervalBinary)
        return connection

    def server_pid(self):
        return self.connection.info.backend_pid

    def prepare(self, phase, parameters):
        connection = self.connection
        binary = self.options.get("format") == "binary"
        statement = self.options.get("statement")
        if phase.kind == "connect":
            return Work(
                lambda opened: opened.execute(phase.sql, binary=binary),
                connect=self.another,
                close=psycopg.Connection.close,
            )
        arguments = parameters
        if parameters is not None and statement == "text":

            def literal(value):
                return compose.Literal(value).as_string(connection)

            arguments = [with_literals(phase.sql, row, literal) for row in parameters]
        bound = parameters is not None and statement != "text"
        query = "%s".join(part.replace("%", "%%") for part in split_placeholders(phase.sql)) if bound else phase.sql
        # Shipped: the driver prepares by itself once a statement was executed five times.
        keep = None if self.shipped else statement == "prepared"
        result, _, size = self.options.get("result", "whole").partition(":")
        if result == "cursor" and phase.columns:
            return Work(self.through_cursor(query, bound, binary, int(size)), arguments)
        execute = connection.cursor(binary=binary).execute
        if bound:
            return Work(lambda row: execute(query, row, prepare=keep), arguments)
        if parameters is not None:
            return Work(lambda text: execute(text, prepare=False), arguments)
        return Work(lambda _: execute(query, prepare=keep))

    def through_cursor(self, query, bound, binary, size):
        """One transaction per operation, its rows `size` a round trip through a cursor in the server."""
        connection = self.connection

        def execute(argument):
            steps = rows(argument)
            next(steps)  # BEGIN and DECLARE, so that what executing takes is seen apart from fetching
            return steps

        def rows(argument):
            with connection.transaction(), connection.cursor(name="rows", binary=binary) as cursor:
                cursor.itersize = size
                if bound:
                    cursor.execute(query, argument)
                else:
                    cursor.execute(argument or query)
                yield
                yield from cursor

        return execute

    def transaction(self, phase):
        if phase.columns and self.options.get("result", "").startswith("cursor"):
            return None  # the cursor has one of its own
        if self.shipped:  # the driver begins one by itself, and it is ours to end it
            return int, self.connection.commit, self.connection.rollback
        return super().transaction(phase)

    def run(self, statement):
        self.connection.execute(statement)
        if self.shipped:
            self.connection.commit()

    def facts(self):
        connection, info = self.connection, self.connection.info
        shown = ("server_version", "TimeZone", "fsync", "synchronous_commit", "default_transaction_isolation")
        settings = {name: connection.execute(f"SHOW {name}").fetchone()[0] for name in shown}
        settings |= {
            "autocommit": "on" if connection.autocommit else "off",
            "tls": "on" if connection.pgconn.ssl_in_use else "off",
            "prepare_threshold": connection.prepare_threshold,
            "client_encoding": info.encoding,
        }
        if self.shipped:
            connection.commit()
        return {
            "driver_version": psycopg.__version__,
            "engine_version": settings["server_version"],
            "build": connection.execute("SELECT version()").fetchone()[0],
            "libraries": {"libpq": str(psycopg.pq.version()), "implementation": psycopg.pq.__impl__},
            "settings": settings,
        }

    def close(self):
        self.connection.close()

    def code(self, error):
        return error.sqlstate or type(error).__name__
