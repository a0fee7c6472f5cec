"""PostgreSQL through psycopg 3."""

import struct
from contextlib import nullcontext

import psycopg
from psycopg import sql as compose
from psycopg.adapt import Loader
from psycopg.pq import Format
from psycopg.types.string import TextBinaryLoader, TextLoader

from core.adapter import Unsupported
from core.operation import Operation
from families.libpq.adapter import LibpqAdapter, begun
from families.postgresql.binary import reader
from families.postgresql.connection import libpq_keywords
from families.psycopg import copy, describe, pipeline, unnest
from families.sql.blocks import block_size, in_blocks
from families.sql.literals import with_literals
from families.sql.placeholders import formatted
from families.text.values import interval

INVALID_OID = 0  # of a type that the driver does not know


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


class OwnTypeBinary(TextBinaryLoader):
    """Of the types that psycopg does not know some have a binary form that is no text."""

    def load(self, data):
        try:
            return super().load(data)
        except UnicodeDecodeError:
            return bytes(data)


def with_loaders(connection):
    """The connection, whose values arrive in the forms that are compared."""
    for name in ("json", "jsonb"):
        connection.adapters.register_loader(name, TextLoader)
    connection.adapters.register_loader("json", TextBinaryLoader)
    connection.adapters.register_loader("jsonb", JsonbBinary)
    connection.adapters.register_loader(INVALID_OID, OwnTypeBinary)  # types of the user's own: enums
    connection.adapters.register_loader("interval", IntervalText)
    connection.adapters.register_loader("interval", IntervalBinary)
    return connection


class Adapter(LibpqAdapter):
    errors = (psycopg.Error,)
    bulk_ways = ("copy", "executemany", "unnest")

    def connect(self):
        wanted = self.options.get("implementation", psycopg.pq.__impl__)
        if wanted != psycopg.pq.__impl__:  # chosen by PSYCOPG_IMPL when it is imported
            raise Unsupported(f"psycopg was imported as {psycopg.pq.__impl__}, not as {wanted}")
        super().connect()

    def log_in(self):
        return with_loaders(psycopg.connect(**libpq_keywords(self.options), autocommit=not self.shipped))

    def adopt(self, connection):
        super().adopt(with_loaders(connection))

    @property
    def binary(self):
        return self.options.get("format") == "binary"

    @property
    def keep(self):
        """Whether a statement is prepared; shipped: the driver does by itself once one was executed five times."""
        return None if self.shipped else self.options.get("statement") == "prepared"

    def prepare(self, phase, parameters):
        operation = self.operation(phase, parameters)
        if self.binary:
            operation.readers = [reader(column) for column in phase.columns]
        return operation

    def operation(self, phase, parameters):
        connection, binary = self.connection, self.binary
        statement = self.options.get("statement")
        if phase.kind == "connect":
            return Operation(
                lambda opened: opened.execute(phase.sql, binary=binary),
                connect=self.log_in,
                close=psycopg.Connection.close,
            )
        arguments = parameters
        if parameters is not None and statement == "text":

            def literal(value):
                return compose.Literal(value).as_string(connection)

            arguments = [with_literals(phase.sql, row, literal) for row in parameters]
        if self.options.get("fetch") == "copy" and phase.delivers:
            return Operation(copy.rows_out(connection, phase, binary), arguments or [phase.sql])
        bound = parameters is not None and statement != "text"
        query = formatted(phase.sql) if bound else phase.sql
        keep = self.keep
        result, _, size = self.options.get("result", "whole").partition(":")
        if result == "cursor" and phase.delivers:
            return Operation(self.through_cursor(query, bound, int(size)), arguments)
        execute = connection.cursor(binary=binary).execute
        if bound:
            work = Operation(lambda row: execute(query, row, prepare=keep), arguments)
        elif parameters is not None:
            work = Operation(lambda text: execute(text, prepare=False), arguments)
        else:
            work = Operation(lambda _: execute(query, prepare=keep))
        size = block_size(self.options)
        if size and phase.delivers:
            work.execute = in_blocks(work.execute, size)
        elif parameters is not None and phase.delivers:
            work.pipelined = pipeline.executed(connection, binary, query if bound else None, keep)
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

    def bulk(self, phase, way):
        connection = self.connection
        if way == "executemany":
            return self.executemany(phase, connection.transaction)
        transaction = connection.transaction if self.shipped else nullcontext  # a statement by itself is one
        if way == "unnest":
            return Operation(unnest.rows_in(connection, phase, self.keep, transaction))
        return Operation(copy.rows_in(connection, phase, self.binary, transaction))

    def describe(self, sql):
        return describe.columns(self.connection, sql)

    def run(self, statement):
        self.connection.execute(statement, prepare=False)  # however often: it is outside the clock
        if self.shipped:
            self.connection.commit()

    def cancel(self):
        self.connection.cancel_safe()

    def facts(self):
        connection = self.connection
        settings = {"prepare_threshold": connection.prepare_threshold, "client_encoding": connection.info.encoding}
        return self.facts_of_server(connection.pgconn.ssl_in_use, settings) | {
            "driver_version": psycopg.__version__,
            "libraries": {"libpq": str(psycopg.pq.version()), "implementation": psycopg.pq.__impl__},
        }

    def code(self, error):
        return error.sqlstate or type(error).__name__
