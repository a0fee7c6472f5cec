"""PostgreSQL through psycopg 3."""

from contextlib import nullcontext
from functools import partial

import psycopg

from core.adapter import Unsupported
from core.operation import Operation
from families.libpq.adapter import LibpqAdapter, begun
from families.postgresql.binary import reader
from families.postgresql.connection import libpq_keywords
from families.psycopg import copy, describe, pipeline, unnest
from families.psycopg.rows import row_factory
from families.psycopg.statement import Statement, check_implementation, driver_facts, keep_of, settings_of
from families.psycopg.tasks import TasksAdapter
from families.psycopg.values import with_loaders
from families.sql.blocks import block_size, in_blocks
from families.sql.rows import reads


class Adapter(LibpqAdapter):
    errors = (psycopg.Error,)
    bulk_ways = ("copy", "executemany", "unnest")

    @classmethod
    def of(cls, options):
        return (TasksAdapter if options.get("concurrency") == "tasks" else cls)(options)

    def connect(self):
        check_implementation(self.options)
        super().connect()

    def log_in(self):
        return with_loaders(psycopg.connect(**libpq_keywords(self.options), autocommit=not self.shipped))

    def adopt(self, connection):
        super().adopt(with_loaders(connection))

    @property
    def binary(self):
        return self.options.get("format") == "binary"

    def prepare(self, phase, parameters):
        operation = self.operation(phase, parameters)
        operation.reads = reads(self.options, phase)
        if self.binary:
            operation.readers = [reader(column) for column in phase.columns]
        return operation

    def operation(self, phase, parameters):
        connection, binary = self.connection, self.binary
        if phase.kind == "connect":
            return Operation(
                lambda opened: opened.execute(phase.sql, binary=binary),
                connect=self.log_in,
                close=psycopg.Connection.close,
            )
        statement = Statement(self.options, phase, parameters, connection)
        form = row_factory(self.options, phase)
        if self.options.get("fetch") == "copy" and phase.delivers:
            if form:
                raise Unsupported("COPY hands over tuples")
            return Operation(copy.rows_out(connection, phase, binary), statement.arguments or [phase.sql])
        open_cursor = partial(connection.cursor, binary=binary, **form)
        result, _, size = self.options.get("result", "whole").partition(":")
        if result == "cursor" and phase.delivers:
            return Operation(self.through_cursor(statement, open_cursor, int(size)), statement.arguments)
        work = Operation(statement.through(open_cursor().execute), statement.arguments)
        size = block_size(self.options)
        if size and phase.delivers:
            work.execute = in_blocks(work.execute, size)
        elif parameters is not None and phase.delivers:
            query = statement.query if statement.bound else None
            work.pipelined = pipeline.executed(connection, open_cursor, query, statement.keep)
        return work

    def through_cursor(self, statement, open_cursor, size):
        """One transaction per operation, its rows `size` a round trip through a cursor in the server."""
        connection = self.connection

        def rows(argument):
            with connection.transaction(), open_cursor(name="rows") as cursor:
                cursor.itersize = size
                if statement.bound:
                    cursor.execute(statement.query, argument)
                else:
                    cursor.execute(argument or statement.query)
                yield
                yield from cursor

        return begun(rows)  # BEGIN and DECLARE

    def bulk(self, phase, way):
        connection = self.connection
        if way == "executemany":
            return self.executemany(phase, connection.transaction)
        transaction = connection.transaction if self.shipped else nullcontext  # a statement by itself is one
        if way == "unnest":
            return Operation(unnest.rows_in(connection, phase, keep_of(self.options), transaction))
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
        return self.facts_of_server(connection.pgconn.ssl_in_use, settings_of(connection)) | driver_facts()

    def code(self, error):
        return error.sqlstate or type(error).__name__
