"""PostgreSQL through psycopg 3."""

import struct
from contextlib import nullcontext

import psycopg
from psycopg import sql as compose
from psycopg.adapt import Loader
from psycopg.pq import Format
from psycopg.types.string import TextBinaryLoader, TextLoader
from rowpath_runner import describe_postgresql
from rowpath_runner.adapter import formatted, interval, with_literals
from rowpath_runner.blocks import block_size, in_blocks
from rowpath_runner.loop import Work
from rowpath_runner.postgresql import SHOWN, LibpqAdapter, begun, copy_command, libpq_keywords, numbered

INVALID_OID = 0  # of a type that the driver does not know
# PostgreSQL's types as binary COPY must be told them; character types and JSON have the same bytes as text.
TYPES = {
    "decimal": "numeric",
    "float32": "float4",
    "float64": "float8",
    "boolean": "bool",
    "binary": "bytea",
    "date": "date",
    "time": "time",
    "timestamp": "timestamp",
    "timestamptz": "timestamptz",
    "uuid": "uuid",
    "array": "int4[]",
}
INTEGERS = {16: "int2", 32: "int4", 64: "int8"}


def type_name(column):
    return INTEGERS[column.bits] if column.type == "integer" else TYPES.get(column.type, "text")


def result_types(connection, sql):
    """The OIDs of a query's columns; it is prepared and not executed."""
    connection.pgconn.prepare(b"", sql.encode())
    described = connection.pgconn.describe_prepared(b"")
    return [described.ftype(index) for index in range(described.nfields)]


class IntervalText(Loader):
    """(months, days, nanoseconds): psycopg's own timedelta has no months."""

    def load(self, data):
        return interval(bytes(data).decode())


class IntervalBinary(Loader):
    format = Format.BINARY

    def load(self, data):
        microseconds, days, months = struct.unpack("!qii", data)
        return months, days, microseconds * 1000


class JsonbBinary(TextBinaryLoader):
    def load(self, data):
        return super().load(data[1:])  # after a version byte


class Adapter(LibpqAdapter):
    errors = (psycopg.Error,)
    bulk_ways = ("copy", "executemany")

    def log_in(self):
        connection = psycopg.connect(**libpq_keywords(self.options), autocommit=not self.shipped)
        for name in ("json", "jsonb"):
            connection.adapters.register_loader(name, TextLoader)
        connection.adapters.register_loader("json", TextBinaryLoader)
        connection.adapters.register_loader("jsonb", JsonbBinary)
        connection.adapters.register_loader(INVALID_OID, TextBinaryLoader)  # types of the user's own: enums
        connection.adapters.register_loader("interval", IntervalText)
        connection.adapters.register_loader("interval", IntervalBinary)
        return connection

    @property
    def binary(self):
        return self.options.get("format") == "binary"

    def prepare(self, phase, parameters):
        connection, binary = self.connection, self.binary
        statement = self.options.get("statement")
        if phase.kind == "connect":
            return Work(
                lambda opened: opened.execute(phase.sql, binary=binary),
                connect=self.log_in,
                close=psycopg.Connection.close,
            )
        arguments = parameters
        if parameters is not None and statement == "text":

            def literal(value):
                return compose.Literal(value).as_string(connection)

            arguments = [with_literals(phase.sql, row, literal) for row in parameters]
        if self.options.get("fetch") == "copy" and phase.columns:
            return Work(self.through_copy(phase), arguments or [phase.sql])
        bound = parameters is not None and statement != "text"
        query = formatted(phase.sql) if bound else phase.sql
        # Shipped: the driver prepares by itself once a statement was executed five times.
        keep = None if self.shipped else statement == "prepared"
        result, _, size = self.options.get("result", "whole").partition(":")
        if result == "cursor" and phase.columns:
            return Work(self.through_cursor(query, bound, int(size)), arguments)
        execute = connection.cursor(binary=binary).execute
        if bound:
            work = Work(lambda row: execute(query, row, prepare=keep), arguments)
        elif parameters is not None:
            work = Work(lambda text: execute(text, prepare=False), arguments)
        else:
            work = Work(lambda _: execute(query, prepare=keep))
        size = block_size(self.options)
        if size and phase.columns:
            work.execute = in_blocks(work.execute, size)
        return work

    def through_cursor(self, query, bound, size):
        """One transaction per operation, its rows `size` a round trip through a cursor in the server."""
        connection, binary = self.connection, self.binary

        def rows(argument):
            with connection.transaction(), connection.cursor(name="rows", binary=binary) as cursor:
                cursor.itersize = size
                if bound:
                    cursor.execute(query, argument)
                else:
                    cursor.execute(argument or query)
                yield
                yield from cursor

        return begun(rows)  # BEGIN and DECLARE

    def through_copy(self, phase):
        """The rows of COPY (query) TO STDOUT, parsed by psycopg as the types that the query has."""
        cursor = self.connection.cursor()
        form = "binary" if self.binary else "text"
        types = result_types(self.connection, numbered(phase.sql) if phase.parameter_columns else phase.sql)

        def rows(query):
            with cursor.copy(f"COPY ({query}\n) TO STDOUT (FORMAT {form})") as copy:
                copy.set_types(types)
                yield
                yield from copy.rows()

        return begun(rows)

    def bulk(self, phase, way):
        connection = self.connection
        cursor = connection.cursor()
        if way == "executemany":
            query = formatted(phase.sql)

            def executemany(rows):
                with connection.transaction():
                    cursor.executemany(query, rows)

            return Work(executemany)
        types = [type_name(column) for column in phase.parameter_columns] if self.binary else None
        command = copy_command(phase, "binary" if types else "text")
        transaction = connection.transaction if self.shipped else nullcontext  # a COPY alone is one

        def copy_in(rows):
            with transaction(), cursor.copy(command) as copy:
                if types:
                    copy.set_types(types)
                for row in rows:
                    copy.write_row(row)

        return Work(copy_in)

    def describe(self, sql):
        return describe_postgresql.columns(self.connection, sql)

    def run(self, statement):
        self.connection.execute(statement)
        if self.shipped:
            self.connection.commit()

    def cancel(self):
        self.connection.cancel_safe()

    def facts(self):
        connection, info = self.connection, self.connection.info
        settings = {name: connection.execute(f"SHOW {name}").fetchone()[0] for name in SHOWN}
        settings |= {
            "autocommit": "on" if connection.autocommit else "off",
            "tls": "on" if connection.pgconn.ssl_in_use else "off",
            "prepare_threshold": connection.prepare_threshold,
            "client_encoding": info.encoding,
        }
        build = connection.execute("SELECT version()").fetchone()[0]
        if self.shipped:
            connection.commit()
        return {
            "driver_version": psycopg.__version__,
            "engine_version": settings["server_version"],
            "build": build,
            "libraries": {"libpq": str(psycopg.pq.version()), "implementation": psycopg.pq.__impl__},
            "settings": settings,
        }

    def code(self, error):
        return error.sqlstate or type(error).__name__
